package lint_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/tests/race"
)

// polledLoop is a loop on a job that never ends, and what is around it.
type polledLoop struct {
	jsonata bool
	order   []string // of the states of a turn
	enters  string   // the state of the turn that the flow comes to first
	wait    int      // seconds of the loop's Wait
	first   int      // seconds of a Wait in front of the loop; 0 for none
	before  []string // the types of the states in front of that
	bound   string   // see bounds
	limit   int      // polls or seconds of the bound
	around  string   // "Parallel", "Map", "Distributed", "both" or nothing
	form    deadline // of the bound "deadline"
	polls   string   // the operation
	fails   bool     // each call, and a Catch leads it past the bound
	extra   string   // a state more in each turn: "Pass", "Choice", "Lambda", "Map", "Parallel" or nothing
}

// deadline is a form of a deadline: what the machine sets at the start, of so many seconds, and what it compares then.
type deadline struct {
	sets, compares string
	never          bool // it does not come
}

var deadlines = []deadline{
	{"$millis() + %d000", "$millis() >= $until", false},
	{"$millis() + %d000", "$until <= $millis()", false},
	{"$millis() + %d000", "$not($millis() < $until)", false},
	{"$millis() + %d000", "$until / 1000 <= $millis() / 1000", false},
	{"$millis() / 1000 + %d", "$millis() / 1000 >= $until", false},
	{"$fromMillis($millis() + %d000)", "$now() >= $until", false},
	{"$fromMillis($millis() + %d000)", "$millis() >= $toMillis($until)", false},
	{"$millis() + 0 * %d", "$millis() - $until >= %d000", false},
	{"$millis() + %d000", "$until <= $millis() / 1000", true},
	{"$millis() * 1000 + %d", "$millis() >= $until", true},
	{"$millis() + %d000 + 400 * 86400000", "$millis() > $until", true},
}

// drawLoop draws a loop.
func drawLoop(r *rand.Rand) polledLoop {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	l := polledLoop{jsonata: r.IntN(2) > 0, wait: 1 + r.IntN(90), extra: pick("", "", "", "Pass", "Choice", "Lambda", "Parallel")}
	l.order = []string{"Get", "Done?", "Wait"}
	if l.extra != "" {
		l.order = slices.Insert(l.order, r.IntN(len(l.order)+1), "Extra")
	}
	if l.enters = pick(l.order...); r.IntN(2) > 0 {
		l.first = 1 + r.IntN(5000)
	}
	for range r.IntN(4) {
		l.before = append(l.before, pick("Pass", "Task", "Wait", "Choice", "Parallel"))
	}
	l.bound, l.around = pick("", "", "count", "TimeoutSeconds", "timer"), pick("", "", "", "Parallel", "Map", "both")
	if l.jsonata && r.IntN(3) == 0 {
		l.bound, l.form = "deadline", deadlines[r.IntN(len(deadlines))]
	}
	if l.polls = "sfn:describeExecution"; l.extra != "Lambda" && r.IntN(4) == 0 {
		l.polls = "apptest:getTestRun" // which the catalogue lacks: a function beside it may poll, too
	}
	if l.bound == "count" && r.IntN(3) == 0 {
		l.bound = "while"
	}
	switch l.bound {
	case "count", "while":
		l.limit = 2 + r.IntN(3500)
	case "deadline", "TimeoutSeconds", "timer":
		l.limit = 1 + r.IntN(l.wait*3500)
	}
	l.fails = l.polls == "sfn:describeExecution" && !l.form.never && (l.bound == "count" || l.bound == "deadline") && r.IntN(4) == 0
	return l
}

const (
	anyParallel = `"Type": "Parallel", "Branches": [{"StartAt": %[1]q, "States": {%[1]q: {"Type": "Pass", "End": true}}}, {"StartAt": "%[2]s", "States": {"%[2]s": {"Type": "Succeed"}}}]`
	anyFunction = `"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", %s: {"FunctionName": "f"}`
)

// state is a state of a type that does nothing.
func (l polledLoop) state(name, kind, next string) string {
	arguments, keep := `"Parameters"`, `, "ResultPath": null`
	if l.jsonata {
		arguments, keep = `"Arguments"`, `, "Output": "{% $states.input %}"`
	}
	var text string
	switch kind {
	case "Task", "Lambda":
		text = fmt.Sprintf(anyFunction, arguments) + keep
	case "Wait":
		text = `"Type": "Wait", "Seconds": 77`
	case "Choice":
		rule := `{"Variable": "$$.Execution.Name", "IsPresent": false, "Next": %q}`
		if l.jsonata {
			rule = `{"Condition": "{%% $states.context.Execution.Name = '' %%}", "Next": %q}`
		}
		return fmt.Sprintf(`%q: {"Type": "Choice", "Choices": [`+rule+`], "Default": %q}`, name, next, next)
	case "Parallel":
		text = fmt.Sprintf(anyParallel, name+"1", name+"2") + keep
	default:
		text = `"Type": "Pass"`
	}
	return fmt.Sprintf(`%q: {%s, "Next": %q}`, name, text, next)
}

// flow is the flow that has the loop.
func (l polledLoop) flow() string {
	var states []string
	names := []string{"Begin"}
	for i := range l.before {
		names = append(names, fmt.Sprintf("Before%d", i))
	}
	if l.first > 0 {
		names = append(names, "First")
	}
	names = append(names, l.enters)
	begin := `"Type": "Pass", "Assign": {"n": 0, "d": {"Status": "RUNNING"}}`
	if l.bound == "deadline" {
		begin = fmt.Sprintf(`"Type": "Pass", "Assign": {"n": 0, "d": {"Status": "RUNNING"}, "until": "{%% %s %%}"}`, fmt.Sprintf(l.form.sets, l.limit))
	}
	states = append(states, fmt.Sprintf(`"Begin": {%s, "Next": %q}`, begin, names[1]))
	for i, kind := range l.before {
		states = append(states, l.state(names[i+1], kind, names[i+2]))
	}
	if l.first > 0 {
		states = append(states, fmt.Sprintf(`"First": {"Type": "Wait", "Seconds": %d, "Next": %q}`, l.first, l.enters))
	}
	next := func(name string) string { return l.order[(slices.Index(l.order, name)+1)%len(l.order)] }
	if l.extra != "" {
		states = append(states, l.state("Extra", l.extra, next("Extra")))
	}
	call, wait := `"Parameters": {"ExecutionArn": "e"}, "ResultPath": null, "Assign": {"d.$": "$"}`, `"Assign": {"n.$": "States.MathAdd($n, 1)"}`
	rules := `{"Variable": "$d.Status", "StringEquals": "SUCCEEDED", "Next": "Ok"}, {"Variable": "$d.Status", "StringEquals": "FAILED", "Next": "Ko"}`
	late := fmt.Sprintf(`, {"Variable": "$n", "NumericGreaterThanEquals": %d, "Next": "Late"}`, l.limit)
	if l.jsonata {
		call, wait = `"Arguments": {"ExecutionArn": "e"}, "Assign": {"d": "{% $states.result %}"}`, `"Assign": {"n": "{% $n + 1 %}"}`
		rules = `{"Condition": "{% $d.Status = 'SUCCEEDED' %}", "Next": "Ok"}, {"Condition": "{% $d.Status = 'FAILED' %}", "Next": "Ko"}`
		late = fmt.Sprintf(`, {"Condition": "{%% $n >= %d %%}", "Next": "Late"}`, l.limit)
	}
	catch, other := "", next("Done?")
	if l.fails {
		catch = fmt.Sprintf(`"Catch": [{"ErrorEquals": ["States.ALL"], "Next": %q}], `, next("Done?")) // past the bound
	}
	switch l.bound {
	case "deadline":
		compares := l.form.compares
		if strings.Contains(compares, "%") {
			compares = fmt.Sprintf(compares, l.limit)
		}
		late = fmt.Sprintf(`, {"Condition": "{%% %s %%}", "Next": "Late"}`, compares)
	case "while":
		keep := fmt.Sprintf(`{"And": [{"Variable": "$d.Status", "StringEquals": "RUNNING"}, {"Variable": "$n", "NumericLessThan": %d}], "Next": %q}, `, l.limit, next("Done?"))
		late = `, {"Variable": "$d.Status", "StringEquals": "RUNNING", "Next": "Late"}`
		if l.jsonata {
			keep = fmt.Sprintf(`{"Condition": "{%% $d.Status = 'RUNNING' and $n < %d %%}", "Next": %q}, `, l.limit, next("Done?"))
			late = `, {"Condition": "{% $d.Status = 'RUNNING' %}", "Next": "Late"}`
		}
		rules, other = keep+rules, "Ko"
	case "count":
	default:
		late = ""
	}
	states = append(states,
		fmt.Sprintf(`"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:%s", %s, "Retry": [{"ErrorEquals": ["States.TaskFailed"]}], %s"Next": %q}`,
			l.polls, call, catch, next("Get")),
		fmt.Sprintf(`"Done?": {"Type": "Choice", "Choices": [%s%s], "Default": %q}`, rules, late, other),
		fmt.Sprintf(`"Wait": {"Type": "Wait", "Seconds": %d, %s, "Next": %q}`, l.wait, wait, next("Wait")),
		`"Ok": {"Type": "Succeed"}, "Ko": {"Type": "Fail"}`)
	if late != "" {
		states = append(states, `"Late": {"Type": "Fail", "Error": "Late"}`)
	}
	return `"StartAt": "Begin", "States": {` + strings.Join(states, ",\n") + `}`
}

// text is the definition.
func (l polledLoop) text() string {
	language, timeout := asl.JSONPath, ""
	if l.jsonata {
		language = asl.JSONata
	}
	if l.bound == "TimeoutSeconds" {
		timeout = fmt.Sprintf(`"TimeoutSeconds": %d, `, l.limit)
	}
	flow, around := l.flow(), l.around
	if l.bound == "timer" {
		around = "Parallel"
	}
	items := `"Items": [1]`
	if !l.jsonata {
		items = `"ItemsPath": "$.items"`
	}
	parallel := func(flow string) string {
		beside := `{"StartAt": "Beside", "States": {"Beside": {"Type": "Pass", "Next": "Beside2"}, "Beside2": {"Type": "Succeed"}}}`
		if l.bound == "timer" {
			beside = fmt.Sprintf(`{"StartAt": "Timer", "States": {"Timer": {"Type": "Wait", "Seconds": %d, "Next": "Over"}, "Over": {"Type": "Fail", "Error": "Over"}}}`, l.limit)
		}
		return fmt.Sprintf(`"StartAt": "Start", "States": {"Start": {"Type": "Wait", "Seconds": 50, "Next": "Both"},
			"Both": {"Type": "Parallel", "Branches": [{%s}, %s], "End": true}}`, flow, beside)
	}
	each := func(flow string) string {
		return fmt.Sprintf(`"StartAt": "Start0", "States": {"Start0": {"Type": "Pass", "Next": "Each"}, "Each": {"Type": "Map", %s, "ItemProcessor": {%s}, "End": true}}`, items, flow)
	}
	switch around {
	case "Parallel":
		flow = parallel(flow)
	case "Map":
		flow = each(flow)
	case "both":
		flow = each(parallel(flow))
	}
	return fmt.Sprintf(`{"QueryLanguage": %q, %s%s}`, language, timeout, flow)
}

// requireTrue runs the loop, and requires that lint says how many polls end it, and after which time.
func (l polledLoop) requireTrue(t *testing.T) {
	t.Helper()
	m, err := asl.Parse([]byte(l.text()))
	require.NoError(t, err, l.text())
	ran, err := sim.Run(t.Context(), m, []byte(`{"items": [1]}`), sim.Options{Handler: func(_ context.Context, call sim.Call) (sim.Reply, error) {
		if l.fails && call.State == "Get" {
			return sim.Reply{}, &sim.TaskError{Name: "E"}
		}
		return sim.Reply{Output: map[string]any{"Status": "RUNNING"}}, nil
	}})
	require.NoError(t, err, l.text())
	loops := lint.Loops(m, lint.Options{})
	require.Len(t, loops, 1)
	bound, why := loops[0].Bound, fmt.Sprintf("%+v\n%s\n%s %s", l, loops[0].String(), ran.Error, ran.Cause)
	polls := ran.Calls["Get"]
	if polls < 2 {
		return
	}
	kind := map[string]lint.BoundKind{"": lint.Unbounded, "count": lint.ByCount, "while": lint.ByCount, "deadline": lint.ByTime, "TimeoutSeconds": lint.ByTimeout, "timer": lint.ByBranch}[l.bound]
	if l.form.never {
		require.NotEqual(t, "Late", ran.Error, why)
	}
	if len(ran.Events) == asl.MaxEvents && ran.Error == "States.Runtime" {
		kind = lint.Unbounded
	}
	require.Equal(t, kind, bound.Kind, why)
	if bound.AtMost {
		if l.fails { // retries are calls, too, and the history may be full in the last visit
			polls = ran.Visits["Get"] - 1
		}
		require.GreaterOrEqual(t, bound.Polls, polls, why)
		return
	}
	if !l.fails {
		require.Equal(t, polls, bound.Polls, why)
		visits := 0
		for _, name := range append([]string{"Extra1", "Extra2"}, l.order...) {
			visits += ran.Visits[name]
		}
		inside := map[string]float64{"Parallel": 2}[l.extra] // the history may be full there
		require.InDelta(t, visits, bound.Transitions, inside, why)
	}
	require.Equal(t, ran.Stop.Sub(ran.Start).Truncate(time.Second), bound.After.Truncate(time.Second), why)
}

// What lint says of the end of a loop is what a run of the machine shows, whatever comes before it, beside it
// and in each of its turns.
func TestBoundsAreThoseOfARun(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for i := range race.Of(150, 20) {
		l := drawLoop(r)
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			l.requireTrue(t)
		})
	}
}
