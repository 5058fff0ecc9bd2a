package simulate_test

import (
	"strings"
	"testing"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// Where all is found, the list of what was not is there, and empty: with what the model requires alone, too.
func TestListsOfWhatWasNotFoundAreEmpty(t *testing.T) {
	t.Parallel()
	for resource, want := range map[string]string{
		"ecs:describeTasks":        `"Failures": []`,
		"codebuild:batchGetBuilds": `"BuildsNotFound": []`,
	} {
		m, err := asl.Parse([]byte(`{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:` + resource +
			`", "Parameters": {"Tasks.$": "$.ids", "Ids.$": "$.ids"}, "ResultPath": "$.r", "Next": "B"}, "B": {"Type": "Pass", "InputPath": "$.r.` + strings.Trim(strings.SplitN(want, ":", 2)[0], `"`) +
			`[0].Reason", "End": true}}}`))
		if err != nil {
			t.Fatal(err)
		}
		for _, bare := range []bool{false, true} {
			plan, err := simulate.New(m, simulate.Options{Specs: []simulate.Spec{{Bare: bare}}, Models: models.Load})
			if err != nil {
				t.Fatal(err)
			}
			if text, err := plan.JSON(); err != nil || !strings.Contains(string(text), want) {
				t.Errorf("%s, bare %t: %v, no %s in %s", resource, bare, err, want, text)
			}
		}
	}
}
