package simulate_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// asked is an input of the poll of an entry, with a text for each member.
func asked(e *catalog.Entry, name string) map[string]any {
	input := map[string]any{}
	if e.Operation.Input == nil {
		return input
	}
	input = required(e.Operation.Input, "").(map[string]any)
	for _, m := range e.Operation.Input.Members {
		text := m.Shape.Type == catalog.String && m.Shape.Enum == nil
		texts := m.Shape.Type == catalog.List && m.Shape.Element.Shape.Type == catalog.String && m.Shape.Element.Shape.Enum == nil
		switch {
		case m.Name == "NextToken" || m.Name == "nextToken" || m.Name == "Marker" || m.Name == "marker":
		case text:
			input[javasdk.MemberName(m.Name)] = name
		case texts && m.Required:
			input[javasdk.MemberName(m.Name)] = []any{name}
		}
	}
	return input
}

// endless are the waiters that no answer of the model lets end, or go on.
var endless = map[string]string{
	"appconfig:EnvironmentReadyForDeployment": "the model spells the status READY_FOR_DEPLOYMENT, which the waiter never takes",
	"ec2:ConversionTaskDeleted":               "the model has no status deleted",
	"ecs:DaemonActive":                        "the model has no status of a daemon that is being made",
	"ecs:DaemonTaskDefinitionActive":          "the model has no status of a definition that is being made",
}

// Every waiter of the catalogue can be simulated: its answers repeat what the request asks for, and
// the machine that is compiled of it ends when the job does, as the waiter says. What is deleted
// was there for ever, and elastic clusters had no id.
func TestEveryWaiterEnds(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	var repeated atomic.Int64
	t.Cleanup(func() { require.Greater(t, repeated.Load(), int64(100)) })
	for _, s := range list {
		for _, listed := range s.Entries {
			if listed.Kind == catalog.AWSJob {
				continue // TestEveryJobEndsInEachStatus
			}
			t.Run(s.Key+" "+listed.Name, func(t *testing.T) {
				t.Parallel()
				e, err := catalog.Lookup(s.Key, listed.Name)
				require.NoError(t, err)
				if n := requireWaits(t, e); n > 0 {
					repeated.Add(1)
				}
			})
		}
	}
}

// requireWaits runs the loop of an entry, and returns how many members of answers repeat the
// request.
func requireWaits(t *testing.T, e *catalog.Entry) (repeated int) {
	t.Helper()
	const name = "thing-of-today-0123456789"
	c, err := compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{
		Strategy: compile.Variables, MaxWait: 20 * time.Minute, MinDelay: 30 * time.Second, MaxDelay: 30 * time.Second, UnmodeledFails: true,
		CausePatterns: patternsOf(e),
	})
	require.NoError(t, err, e.FullName())
	o := simulate.Options{Models: models.Load, Specs: []simulate.Spec{{Spread: mock.Exactly(5 * time.Minute)}}, Polls: map[string]*catalog.Entry{}}
	for s := range c.Machine.All {
		if s.Task != nil {
			o.Polls[s.Name] = e
		}
	}
	plan, err := simulate.New(c.Machine, o)
	require.NoError(t, err)
	if why := endless[e.FullName()]; why != "" {
		require.NotEmpty(t, plan.Endless, why)
		return 0
	}
	require.Empty(t, plan.Endless)
	mocks, err := plan.Mocks()
	require.NoError(t, err)
	options := sim.Options{Models: models.Load, Seed: 1}
	require.NoError(t, mocks.Apply(c.Machine, "", &options))
	for state, handler := range options.StateHandlers {
		options.StateHandlers[state] = func(ctx context.Context, call sim.Call) (sim.Reply, error) {
			reply, err := handler(ctx, call)
			repeated += requireRepeats(t, call.Arguments, reply.Output)
			return reply, err
		}
	}
	text, err := json.Marshal(asked(e, name))
	require.NoError(t, err)
	r, err := sim.Run(t.Context(), c.Machine, text, options)
	require.NoError(t, err)
	require.Equal(t, sim.StatusSucceeded, r.Status, "%s: %s", r.Error, r.Cause)
	require.GreaterOrEqual(t, r.Duration(), 5*time.Minute)
	return repeated
}

// patternsOf are the texts of errors of which Step Functions hides the code, where nobody knows what
// AWS writes.
func patternsOf(e *catalog.Entry) map[string]string {
	patterns := map[string]string{}
	for _, a := range e.Waiter.Acceptors {
		code := a.Matcher.ErrorType
		if code == nil || a.State == pollcore.Failure ||
			slices.ContainsFunc(e.Operation.Errors, func(declared catalog.Error) bool { return declared.Shape == *code || declared.Code == *code }) ||
			slices.ContainsFunc(e.Operation.Causes(), func(known catalog.KnownCause) bool { return known.Code == *code }) {
			continue
		}
		patterns[*code] = "simulated: " + *code
	}
	return patterns
}

// requireRepeats asks that members of an answer which have the name of an argument have its value.
func requireRepeats(t *testing.T, arguments, answer any) (repeated int) {
	t.Helper()
	given, _ := arguments.(map[string]any)
	given = maps.Clone(given)
	var walk func(value any)
	walk = func(value any) {
		switch v := value.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for name, member := range v {
				text, isText := member.(string)
				want, wanted := given[name].(string)
				if isText && wanted {
					require.Equal(t, want, text, name)
					repeated++
					delete(given, name) // parts of the thing may have ids of their own
				}
			}
			for _, member := range v {
				walk(member)
			}
		}
	}
	walk(answer)
	return repeated
}
