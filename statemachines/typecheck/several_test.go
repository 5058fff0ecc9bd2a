package typecheck_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// severalJobs is a loop on two jobs whose statuses alone are known.
func severalJobs(t *testing.T, language, choice string, task map[string]any) []string {
	t.Helper()
	look := map[string]any{"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:batch:describeJobs", "Next": "Ask"}
	maps.Copy(look, task)
	text, err := json.Marshal(map[string]any{"QueryLanguage": language, "StartAt": "Look", "States": map[string]any{
		"Look": look, "Ask": map[string]any{"Type": "Choice", "Choices": []any{json.RawMessage(choice)}, "Default": "No"},
		"Yes": map[string]any{"Type": "Succeed"}, "No": map[string]any{"Type": "Succeed"},
	}})
	require.NoError(t, err)
	m, err := asl.Parse(text)
	require.NoError(t, err, string(text))
	c, err := typecheck.New(m, typecheck.Options{Models: catalog.AWS().Service})
	require.NoError(t, err)
	poll := m.State("Look")
	answer := typecheck.WithItems(c.Result(poll), []string{"Jobs"}, 2, func(i int, item typecheck.Value) typecheck.Value {
		return typecheck.Narrow(item, []string{"Status"}, []string{"RUNNING", "FAILED"}[i])
	})
	in := c.Input(poll).WithItems("", []string{"ids"}, 2)
	var got []string
	for _, way := range c.Step(poll, in, answer) {
		ask := m.State("Ask")
		for _, next := range c.Step(ask, way.Env, typecheck.Value{}) {
			got = append(got, next.To)
		}
	}
	return got
}

// Where the items of an answer are known one by one, so is what an expression counts, keeps or finds of them.
func TestExpressionsOverKnownItems(t *testing.T) {
	t.Parallel()
	for condition, want := range map[string][]string{
		"$count($jobs[Status = 'FAILED']) = 1":                                                   {"Yes"},
		"$count($jobs[Status = 'SUCCEEDED']) = 0":                                                {"Yes"},
		"$count($jobs) = $count($states.input.ids)":                                              {"Yes"},
		"$count($jobs.Status) = 2":                                                               {"Yes"},
		"$jobs.Status = ['RUNNING', 'FAILED']":                                                   {"Yes"},
		"$jobs[Status = 'FAILED'].Status = 'FAILED'":                                             {"Yes"},
		"'RUNNING' in $jobs.Status":                                                              {"Yes"},
		"'SUCCEEDED' in $jobs.Status":                                                            {"No"},
		"$join($jobs.Status, ' ') = 'RUNNING FAILED'":                                            {"Yes"},
		"$count($jobs.Status[$ != 'FAILED']) = 1":                                                {"Yes"},
		"$exists($jobs[0].Status[$ = 'RUNNING'])":                                                {"Yes"},
		"$jobs[0].Status[$ = 'RUNNING'] = 'RUNNING'":                                             {"Yes"},
		"$count($jobs.(Status in ['RUNNING'] ? 1)) = 1":                                          {"Yes"},
		"$count($jobs.[Status, Status]) = 4":                                                     {"Yes"},
		"$count($jobs.Container.Environment) = 2":                                                {"Yes", "No"}, // lists of any length
		"$count($jobs[Attempts]) = 1":                                                            {"Yes", "No"}, // a member that may be missing
		"$count($jobs.StatusReason) = 2":                                                         {"Yes", "No"},
		"$count($filter($jobs, function($j) { $j.Status != 'RUNNING' })) = 1":                    {"Yes"},
		"$count($jobs[Status = 'FAILED' and StartedAt > 5]) = 1":                                 {"Yes", "No"},
		"$reduce($map($jobs, function($j) { $j.Status = 'FAILED' }), function($a,$b){$a or $b})": {"Yes"},
	} {
		rule, err := json.Marshal(map[string]any{"Condition": "{% " + condition + " %}", "Next": "Yes"})
		require.NoError(t, err)
		got := severalJobs(t, "JSONata", string(rule), map[string]any{
			"Arguments": map[string]any{"Jobs": "{% $states.input.ids %}"},
			"Assign":    map[string]any{"jobs": "{% $states.result.Jobs %}"}, "Output": "{% $states.input %}",
		})
		require.Equal(t, want, got, condition)
	}
}

// Where the items of an answer are known one by one, so is what a path with a wildcard or a filter selects.
func TestPathsOverKnownItems(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]map[string][]string{
		"$.Jobs[*]":                                            {"2": {"Yes"}},
		"$.Jobs[?(@.Status=='FAILED')]":                        {"1": {"Yes"}, "2": {"No"}},
		"$.Jobs[?(@.Status=='SUCCEEDED')].Status":              {"0": {"Yes"}},
		"$.Jobs[?(!(@.Status=='SUCCEEDED'))].Status":           {"2": {"Yes"}},
		"$.Jobs[?(@.Status!='FAILED' && @.Status!='PENDING')]": {"1": {"Yes"}},
		"$.Jobs[?(@.Status in ['RUNNING','FAILED'])]":          {"2": {"Yes"}},
		"$.Jobs[?(@.Status =~ /F.*/)]":                         {"1": {"Yes"}},
		"$.Jobs[?(@.Nothing)]":                                 {"0": {"Yes"}},
		"$.Jobs[?(@.Status)]":                                  {"2": {"Yes"}},
		"$.Jobs[?(@.StatusReason=='x')]":                       {"0": {"Yes", "No"}},
		"$.Jobs[?(@.Status==$.Jobs[0].Status)]":                {"1": {"Yes", "No"}}, // it reads more than the item
		"$.Jobs[0:1].Status":                                   {"1": {"Yes"}},
		"$..Status":                                            {"2": {"Yes", "No"}},
	} {
		for count, ways := range want {
			rule := `{"Variable": "$.r.n", "NumericEquals": ` + count + `, "Next": "Yes"}`
			got := severalJobs(t, "JSONPath", rule, map[string]any{
				"Parameters":     map[string]any{"Jobs.$": "$.ids"},
				"ResultSelector": map[string]any{"n.$": "States.ArrayLength(" + path + ")"}, "ResultPath": "$.r",
			})
			require.Equal(t, ways, got, path+" "+count)
		}
	}
}

// An array is of so many elements only where there may be one.
func TestWithItems(t *testing.T) {
	t.Parallel()
	same := func(_ int, item typecheck.Value) typecheck.Value { return item }
	v := typecheck.Literal(map[string]any{"a": []any{"x", "y"}, "b": "z"})
	n, known := typecheck.WithItems(v, []string{"a"}, 1, same).Member("a").Len()
	require.True(t, known)
	require.Equal(t, 1, n)
	require.True(t, typecheck.WithItems(v, []string{"a"}, 3, same).IsNothing(), "there is no third")
	require.True(t, typecheck.WithItems(v, []string{"b"}, 1, same).IsNothing())
}
