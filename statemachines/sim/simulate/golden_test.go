package simulate_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

var update = flag.Bool("update", false, "write the golden file of plans")

// callState is a Task that calls an operation of a service.
func callState(s *catalog.Service, operation string) map[string]any {
	action := strings.ToLower(operation[:1]) + operation[1:]
	return map[string]any{"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:" + s.ARNName + ":" + action, "Parameters": map[string]any{}, "Next": "Loop?"}
}

// The plans of all jobs, and of some resources, are those that somebody has read: which
// member is the id, what ids are like, what is answered while the job runs and when it
// has ended or was stopped.
func TestPlansOfEveryEntry(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	var golden bytes.Buffer
	for _, s := range list {
		for _, listed := range s.Entries {
			e, err := catalog.Lookup(s.Key, listed.Name)
			require.NoError(t, err)
			states := map[string]any{"Describe": callState(e.Service, e.Operation.Name)}
			begin := "Describe"
			if e.Job != nil {
				states["Start"], begin = callState(e.Service, e.Name), "Start"
				if e.Job.Stop != nil {
					states["Stop"] = callState(e.Service, e.Job.Stop.Operation)
				}
			} else if len(s.Entries) > 3 { // a sample of the resources
				continue
			}
			next := []any{map[string]any{"Variable": "$.Tags[0].Arn", "IsPresent": true, "Next": "Describe"}}
			if states["Stop"] != nil {
				next = append(next, map[string]any{"Variable": "$.NextToken.CreationTime", "IsPresent": true, "Next": "Stop"})
			}
			states["Loop?"] = map[string]any{"Type": "Choice", "Default": "End", "Choices": next}
			states["End"] = map[string]any{"Type": "Succeed"}
			text, err := json.Marshal(map[string]any{"StartAt": begin, "States": states})
			require.NoError(t, err)
			m, err := asl.Parse(text)
			require.NoError(t, err, e.FullName())
			plan, err := simulate.New(m, simulate.Options{
				Models: models.Load, Times: true, Specs: []simulate.Spec{{Spread: mock.Exactly(time.Minute)}}, Polls: map[string]*catalog.Entry{"Describe": e},
			})
			require.NoError(t, err, e.FullName())
			mocks, err := plan.JSON()
			require.NoError(t, err)
			golden.WriteString(e.FullName() + " ")
			require.NoError(t, json.Compact(&golden, mocks))
			golden.WriteByte('\n')
		}
	}
	const file = "testdata/plans.golden"
	if *update {
		require.NoError(t, os.WriteFile(file, golden.Bytes(), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, strings.Split(string(want), "\n"), strings.Split(golden.String(), "\n"))
}
