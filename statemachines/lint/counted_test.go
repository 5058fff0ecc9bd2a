package lint_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/tests/race"
)

// counted is a loop that counts its polls.
type counted struct {
	start, step, limit float64
	compare            string // of JSONata, such as ">="
	place              string // of the count; see countedPlaces
	beside             string // another rule of the Choice; see besideCount
	poll               string // see countedPolls
}

// countedPlaces are where a loop may count, and in which order it goes through its states.
var countedPlaces = map[string]struct {
	jsonata bool
	at      string
	order   []string
}{
	"a Pass behind the Choice":           {false, "Add", []string{"Get", "Done?", "Add", "Wait"}},
	"a Pass before the poll":             {false, "Add", []string{"Wait", "Add", "Get", "Done?"}},
	"a Pass between poll and Choice":     {false, "Add", []string{"Get", "Add", "Done?", "Wait"}},
	"the Wait behind the poll":           {false, "Wait", []string{"Get", "Done?", "Wait"}},
	"the Wait before the poll":           {false, "Wait", []string{"Wait", "Get", "Done?"}},
	"the poll":                           {false, "Get", []string{"Wait", "Get", "Done?"}},
	"the Choice":                         {false, "Done?", []string{"Wait", "Get", "Done?"}},
	"the Wait behind the poll (JSONata)": {true, "Wait", []string{"Get", "Done?", "Wait"}},
	"the poll (JSONata)":                 {true, "Get", []string{"Wait", "Get", "Done?"}},
	"the Choice (JSONata)":               {true, "Done?", []string{"Get", "Done?", "Wait"}},
}

// besideCount are rules that no status decides, in JSONPath and JSONata.
var besideCount = map[string][2]string{
	"none":        {"", ""},
	"a presence":  {`{"Variable": "$.d.StopDate", "IsPresent": true, "Next": "Ko"},`, `{"Condition": "{% $exists($d.StopDate) %}", "Next": "Ko"},`},
	"a text":      {`{"Variable": "$.d.TEXT", "StringEquals": "odd", "Next": "Ko"},`, `{"Condition": "{% $d.TEXT = 'odd' %}", "Next": "Ko"},`},
	"a way round": {`{"Variable": "$.d.TEXT", "StringEquals": "odd", "Next": "Late?"},`, `{"Condition": "{% $d.TEXT = 'odd' %}", "Next": "Late?"},`},
}

// countedPolls have the resource of a poll, the member that the Choice looks at, and another text of the answer.
var countedPolls = map[string][3]string{
	"of a job":          {"arn:aws:states:::aws-sdk:sfn:describeExecution", "Status", "Name"},
	"of nothing judged": {"arn:aws:states:::aws-sdk:s3:headObject", "StorageClass", "ContentType"},
}

var numericOperators = map[string]string{
	"=": "NumericEquals", ">": "NumericGreaterThan", ">=": "NumericGreaterThanEquals", "<": "NumericLessThan", "<=": "NumericLessThanEquals",
}

// text is the definition of the loop.
func (c counted) text() string {
	place, poll, beside := countedPlaces[c.place], countedPolls[c.poll], besideCount[c.beside]
	variable, add := "$n", fmt.Sprintf(`"n.$": "States.MathAdd($n, %g)"`, c.step)
	if place.at == "Add" {
		variable, add = "$.c.n", fmt.Sprintf(`"n.$": "States.MathAdd($.c.n, %g)"`, c.step)
	}
	late := fmt.Sprintf(`{"Variable": %q, %q: %g, "Next": "Late"}`, variable, numericOperators[c.compare], c.limit)
	done, others := fmt.Sprintf(`{"Variable": "$.d.%[1]s", "StringEquals": "SUCCEEDED", "Next": "Ok"}, {"Variable": "$.d.%[1]s", "StringEquals": "FAILED", "Next": "Ko"}`, poll[1]), beside[0]
	call, result, language := `"Parameters": {"ExecutionArn": "e"}, "ResultPath": "$.d"`, "", asl.JSONPath
	if place.jsonata {
		add, language = fmt.Sprintf(`"n": "{%% $n + %g %%}"`, c.step), asl.JSONata
		late = fmt.Sprintf(`{"Condition": "{%% $n %s %g %%}", "Next": "Late"}`, c.compare, c.limit)
		done, others = fmt.Sprintf(`{"Condition": "{%% $d.%[1]s = 'SUCCEEDED' %%}", "Next": "Ok"}, {"Condition": "{%% $d.%[1]s = 'FAILED' %%}", "Next": "Ko"}`, poll[1]), beside[1]
		call, result = `"Arguments": {"ExecutionArn": "e"}`, `"d": "{% $states.result %}"`
	}
	assign := func(state string, also ...string) string {
		if place.at == state {
			also = append(also, add)
		}
		if also = slices.DeleteFunc(also, func(s string) bool { return s == "" }); len(also) == 0 {
			return ""
		}
		return `"Assign": {` + strings.Join(also, ", ") + "}, "
	}
	next := func(state string) string {
		return place.order[(slices.Index(place.order, state)+1)%len(place.order)]
	}
	others = strings.ReplaceAll(others, "TEXT", poll[2])
	again := ""
	if c.beside == "a way round" { // a Choice more, which looks at the count by itself
		again = fmt.Sprintf(`"Late?": {"Type": "Choice", "Choices": [%s], %s"Default": %q},`, late, assign("Done?"), next("Done?"))
	}
	return fmt.Sprintf(`{"QueryLanguage": %q, "StartAt": "Begin", "States": {
		"Begin": {"Type": "Pass", %s, "Next": %q},
		"Get": {"Type": "Task", "Resource": %q, %s, %s"Retry": [{"ErrorEquals": ["States.TaskFailed"]}], "Next": %q},
		"Done?": {"Type": "Choice", "Choices": [%s, %s %s], %s"Default": %q},
		%s %s
		"Wait": {"Type": "Wait", "Seconds": 60, %s"Next": %q},
		"Ok": {"Type": "Succeed"}, "Ko": {"Type": "Fail"}, "Late": {"Type": "Fail", "Error": "Late"}}}`,
		language, c.begin(), place.order[0], poll[0], call, assign("Get", result), next("Get"), done, others, late, assign("Done?"), next("Done?"),
		again, c.pass(next), assign("Wait"), next("Wait"))
}

// begin sets the count.
func (c counted) begin() string {
	if countedPlaces[c.place].at == "Add" {
		return fmt.Sprintf(`"Result": {"n": %g}, "ResultPath": "$.c"`, c.start)
	}
	return fmt.Sprintf(`"Assign": {"n": %g}`, c.start)
}

// pass is the Pass that counts, if one does.
func (c counted) pass(next func(string) string) string {
	if countedPlaces[c.place].at != "Add" {
		return ""
	}
	return fmt.Sprintf(`"Add": {"Type": "Pass", "Parameters": {"n.$": "States.MathAdd($.c.n, %g)"}, "ResultPath": "$.c", "Next": %q},`, c.step, next("Add"))
}

// requireTrue runs the loop, and requires that lint says how many polls end it.
func (c counted) requireTrue(t *testing.T) {
	t.Helper()
	m, err := asl.Parse([]byte(c.text()))
	require.NoError(t, err, c.text())
	ran, err := sim.Run(t.Context(), m, []byte("{}"), sim.Options{Handler: func(context.Context, sim.Call) (sim.Reply, error) {
		return sim.Reply{Output: map[string]any{"Status": "RUNNING", "Name": "even", "ContentType": "even", "StorageClass": "RUNNING"}}, nil
	}})
	require.NoError(t, err)
	findings, loops := lint.CheckLoops(m, lint.Options{})
	require.Len(t, loops, 1)
	bound, rules := loops[0].Bound, []string{}
	for _, f := range findings {
		rules = append(rules, f.Rule)
	}
	if ran.Calls["Get"] == 1 { // it never turns
		require.LessOrEqual(t, bound.Polls, 1, "%+v", c)
		return
	}
	if ran.Error == "Late" {
		require.Equal(t, lint.ByCount, bound.Kind, "%+v polls %d times", c, ran.Calls["Get"])
		require.Equal(t, ran.Calls["Get"], bound.Polls, "%+v", c)
		require.NotContains(t, rules, lint.UnboundedLoop, "%+v", c)
		require.NotContains(t, rules, lint.EventBudget, "%+v", c)
		return
	}
	require.Len(t, ran.Events, asl.MaxEvents, "%+v %s", c, ran.Cause)
	require.Equal(t, lint.Unbounded, bound.Kind, "%+v", c)
	require.Equal(t, bound.Late, slices.Contains(rules, lint.EventBudget), "%+v", c)
	require.NotEqual(t, bound.Late, slices.Contains(rules, lint.UnboundedLoop), "%+v", c)
}

// How many polls a count allows is what a run of the machine shows, wherever it counts,
// from whatever number and step, and with whatever rule beside.
func TestCountedPollsAreThoseOfARun(t *testing.T) {
	t.Parallel()
	var all []counted
	places, besides, polls := slices.Sorted(maps.Keys(countedPlaces)), slices.Sorted(maps.Keys(besideCount)), slices.Sorted(maps.Keys(countedPolls))
	for _, start := range []float64{0, 15, 20, 21} {
		for _, step := range []float64{1, 7, -1} {
			for _, compare := range slices.Sorted(maps.Keys(numericOperators)) {
				n := len(all) // each pair of place and rule comes with some count
				all = append(all, counted{start, step, 20, compare, places[n%len(places)], besides[(n+n/len(places))%len(besides)], polls[n/3%len(polls)]})
			}
		}
	}
	for _, place := range places {
		for _, beside := range besides {
			all = append(all, counted{3, 2, 17, ">", place, beside, "of a job"})
		}
	}
	for _, c := range race.OneIn(6, all) {
		c.requireTrue(t)
	}
}

// The numbers of the count may be large.
func TestLargeCountsAreThoseOfARun(t *testing.T) {
	t.Parallel()
	for _, c := range []counted{
		{0, 1, 500, ">", "a Pass behind the Choice", "none", "of a job"},
		{0, 1, 1000, ">", "a Pass behind the Choice", "a presence", "of a job"},
		{1500, 1, 2000, ">", "a Pass behind the Choice", "none", "of a job"},
		{2001, 1, 2000, "=", "a Pass behind the Choice", "none", "of a job"},
		{0, 1, 2089, ">=", "the Wait behind the poll", "none", "of a job"},
		{41, 1, 40, "=", "the poll (JSONata)", "none", "of a job"},
		{0, 1, 3000, ">=", "the Wait behind the poll (JSONata)", "none", "of a job"},
		{0, 60, 120000, ">=", "the Wait before the poll", "a presence", "of nothing judged"},
		{0, 1, 4000, ">=", "the poll", "none", "of nothing judged"},
	} {
		c.requireTrue(t)
	}
}

// From a number of the input nobody can tell how many polls there will be.
func TestCountFromTheInputIsNotKnown(t *testing.T) {
	t.Parallel()
	c := counted{0, 1, 20, ">=", "a Pass behind the Choice", "none", "of a job"}
	text := strings.Replace(c.text(), `"Result": {"n": 0}`, `"Parameters": {"n.$": "$.first"}`, 1)
	m, err := asl.Parse([]byte(text))
	require.NoError(t, err)
	at, by := []string{"Done?"}, []string{"$.c.n"}
	require.Equal(t, lint.Bound{Kind: lint.ByOther, At: at, By: by, Route: "Late", Ends: lint.EndsFailure}, lint.Loops(m, lint.Options{})[0].Bound)
}
