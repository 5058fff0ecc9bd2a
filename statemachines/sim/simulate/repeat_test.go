package simulate_test

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// What a call asks for by a member that its answer has, too, the answer repeats: for every operation
// of the catalogue, whether or not it is about a job. A KnowledgeBaseId was the text
// "knowledgeBaseId" in the answer of the call that started the job.
func TestEveryAnswerRepeatsTheRequest(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	var repeated atomic.Int64
	t.Cleanup(func() { require.Greater(t, repeated.Load(), int64(100)) })
	for _, l := range list {
		t.Run(l.Key, func(t *testing.T) {
			t.Parallel()
			service, err := models.Load(l.Key)
			require.NoError(t, err)
			known, err := catalog.AWS().Service(l.Key)
			require.NoError(t, err)
			for name := range known.Operations {
				if op := service.Operations[name]; op != nil && op.Input != nil && op.Output != nil {
					repeated.Add(requireRepeatsAll(t, op))
				}
			}
		})
	}
}

// requireRepeatsAll makes a call with a text for each argument that is one, and requires it of the
// members of the answer that have such a name. It returns how many do.
func requireRepeatsAll(t *testing.T, op *catalog.Operation) (repeated int64) {
	t.Helper()
	const given = "thing-of-today-0123456789"
	arguments := map[string]any{}
	if required, is := required(op.Input, "").(map[string]any); is {
		arguments = required
	}
	for _, argument := range op.Input.Members {
		if argument.Shape.Type == catalog.String && argument.Shape.Enum == nil {
			arguments[javasdk.MemberName(argument.Name)] = given
		}
	}
	call := callState(op.Service, op.Name)
	call["Parameters"] = arguments
	text, err := json.Marshal(map[string]any{"StartAt": "Call", "States": map[string]any{"Call": call, "Loop?": map[string]any{"Type": "Succeed"}}})
	require.NoError(t, err)
	m, err := asl.Parse(text)
	require.NoError(t, err)
	plan, err := simulate.New(m, simulate.Options{Models: models.Load, Specs: []simulate.Spec{{Spread: mock.Exactly(time.Minute)}}})
	require.NoError(t, err)
	mocks, err := plan.Mocks()
	require.NoError(t, err)
	options := sim.Options{Models: models.Load, Seed: 1}
	require.NoError(t, mocks.Apply(m, "", &options))
	handler := options.StateHandlers["Call"]
	if handler == nil {
		return 0 // nobody knows its answer
	}
	reply, err := handler(t.Context(), sim.Call{State: "Call", Resource: m.State("Call").Task.Resource, Arguments: arguments})
	if err != nil {
		return 0 // such as that of what is deleted
	}
	answer, _ := reply.Output.(map[string]any)
	for _, told := range op.Output.Members {
		asked := op.Input.Member(told.Name)
		value, there := answer[javasdk.MemberName(told.Name)].(string)
		if !there || asked == nil || asked.Token || told.Shape.Type != catalog.String || told.Shape.Enum != nil || asked.Shape.Type != catalog.String || asked.Shape.Enum != nil {
			continue
		}
		if isAskedByARN(t, op, told.Name) {
			continue
		}
		require.Equal(t, given, value, "%s:%s %s", op.Service.Key, op.Name, told.Name)
		repeated++
	}
	return repeated
}

// isAskedByARN tells whether a job passes its ARN in a member of the describe call's input that is called a name. The
// answer has the name there.
func isAskedByARN(t *testing.T, op *catalog.Operation, member string) bool {
	t.Helper()
	known, err := catalog.AWS().Service(op.Service.Key)
	require.NoError(t, err)
	for _, job := range known.Jobs {
		if job.Describe == op.Name && strings.HasSuffix(job.Arguments[member], "Arn") && !strings.HasSuffix(member, "Arn") {
			return true
		}
	}
	return false
}
