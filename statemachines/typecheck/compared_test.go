package typecheck_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// What states compare of an answer is found behind variables, outputs and defaults for what is absent.
func TestCompared(t *testing.T) {
	t.Parallel()
	const machine = `{"StartAt": "Look", "States": {
		"Look": {"Type": "Task", "QueryLanguage": "JSONata", "Resource": "arn:aws:states:::aws-sdk:batch:describeJobs", "Arguments": {"Jobs": ["j"]},
			"Assign": {"why": "{% $exists($states.result.Jobs[0].StatusReason) ? $states.result.Jobs[0].StatusReason : '' %}"},
			"Output": {"job": "{% $states.result.Jobs[0] %}", "name": "{% $states.result.Jobs[0].JobName %}"}, "Next": "Done?"},
		"Done?": {"Type": "Choice", "QueryLanguage": "JSONata", "Default": "End", "Choices": [{"Condition": "{% $contains($why, /^Host/) %}", "Next": "End"},
			{"Condition": "{% $states.input.job.Status = 'FAILED' or $states.input.job.Container.ExitCode > 2 %}", "Next": "End"},
			{"Condition": "{% $states.input.job.IsTerminated = true %}", "Next": "Path"}]},
		"Path": {"Type": "Choice", "Default": "End", "Choices": [{"Variable": "$.job.Container.Reason", "StringMatches": "*Memory*", "Next": "End"},
			{"Variable": "$.job.Container.Reason", "StringMatches": "Full\\*", "Next": "End"}]},
		"End": {"Type": "Succeed"}}}`
	m, err := asl.Parse([]byte(machine))
	require.NoError(t, err)
	demands, err := typecheck.FindDemands(m.State("Look"), m, models.Load)
	require.NoError(t, err)
	found := map[string]typecheck.Compared{}
	for _, c := range demands.Result(m.State("Look")).Compared() {
		found[c.Path] = c
	}
	at := func(path string, c typecheck.Compared) typecheck.Compared {
		c.Path, c.Steps = path, strings.Split(strings.ReplaceAll(path, "[0]", ".0"), ".")
		return c
	}
	require.Equal(t, map[string]typecheck.Compared{
		"Jobs[0].StatusReason":       at("Jobs[0].StatusReason", typecheck.Compared{Patterns: []string{"/^Host/"}, Asked: true}),
		"Jobs[0].Status":             at("Jobs[0].Status", typecheck.Compared{Texts: []string{"FAILED"}}),
		"Jobs[0].Container.ExitCode": at("Jobs[0].Container.ExitCode", typecheck.Compared{Numbers: []float64{2}}),
		"Jobs[0].Container.Reason":   at("Jobs[0].Container.Reason", typecheck.Compared{Patterns: []string{"*Memory*"}, Texts: []string{"Full*"}}),
		"Jobs[0].IsTerminated":       at("Jobs[0].IsTerminated", typecheck.Compared{Flag: true}),
	}, found)
}

// Two machines may compare the same part with different values.
func TestUniteCompared(t *testing.T) {
	t.Parallel()
	one := []typecheck.Compared{{Path: "a", Texts: []string{"X"}, Patterns: []string{"x*"}}, {Path: "b", Numbers: []float64{1}}}
	two := []typecheck.Compared{{Path: "a", Texts: []string{"W", "X"}, Flag: true}, {Path: "c", Patterns: []string{""}}}
	require.Equal(t, []typecheck.Compared{
		{Path: "a", Texts: []string{"W", "X"}, Patterns: []string{"x*"}, Flag: true}, {Path: "b", Numbers: []float64{1}}, {Path: "c", Patterns: []string{""}},
	}, typecheck.UniteCompared(one, two))
	require.Equal(t, []string{"X"}, one[0].Texts)
}
