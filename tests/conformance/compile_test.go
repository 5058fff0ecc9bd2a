package conformance_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

var update = flag.Bool("update", false, "write testdata anew")

var compileSuites = []suite{
	{name: "compile", cases: 3966, run: runCompile, differences: map[string]string{
		"ecs TasksStopped as variables": "AWS's waiter does not look at exit codes, and lint says so of each loop that does not",
	}},
}

var allStrategies = []compile.Strategy{
	compile.LambdaLoop, compile.LambdaRetry, compile.LambdaEvents, compile.Loop, compile.Variables, compile.RetryTask,
}

type refusal struct {
	reason string
	text   *regexp.Regexp
}

// refusals are the reasons for which a strategy does not take a waiter, by how
// their messages read.
var refusals = []refusal{
	{"an error without a name of its own in Step Functions", regexp.MustCompile(`does not declare|is not in the model of`)},
	{"an error that only its Cause tells apart, which a Retry block cannot look at", regexp.MustCompile(`a Retry block cannot read a Cause`)},
	{"a comparison of the elements of a list, in JSONPath", regexp.MustCompile(`compares the elements of a list`)},
	{"a path of more than members, in JSONPath", regexp.MustCompile(`read only single members`)},
	{"a comparison of input and output, in JSONPath", regexp.MustCompile(`cannot compare input and output`)},
	{"no required member, and no word of which to pass on, in JSONPath", regexp.MustCompile(`has no required members`)},
	{"no driver for the job", regexp.MustCompile(`need the name of a job that has a driver`)},
}

const refusedFile = "testdata/compile/refused.txt"

// runCompile compiles every entry of the catalogue by every strategy. A case
// passes if the definition is valid, printed and read again too, and lint finds
// nothing in it, or if the strategy refuses the waiter for a known reason; and if
// that is what the catalogue says of the entry.
func runCompile(t *testing.T, _ string) result {
	t.Helper()
	r := result{failures: map[string]string{}}
	refused := map[string][]string{} // entries, by strategy and reason
	compiled := map[compile.Strategy]int{}
	all := entries(t)
	for _, s := range allStrategies {
		for _, e := range all {
			r.total++
			name := e.Service.Key + " " + e.Name
			reasons, problems := compileOne(e, s)
			if takes := len(problems)+len(reasons) == 0; takes != taken[s](e) {
				problems = append(problems, fmt.Sprintf("compiled: %t, but the catalogue says %t %v", takes, !takes, reasons))
			}
			switch {
			case len(problems) > 0:
				r.failures[fmt.Sprintf("%s as %s", name, s)] = strings.Join(problems, "; ")
			case len(reasons) > 0:
				key := fmt.Sprintf("%s: %s", s, strings.Join(reasons, ", and "))
				refused[key] = append(refused[key], name)
			default:
				compiled[s]++
			}
		}
	}
	var lines []string
	sum := 0
	for _, s := range allStrategies {
		r.notes = append(r.notes, fmt.Sprintf("%s: %d", s, compiled[s]))
		sum += compiled[s]
	}
	r.headline = fmt.Sprintf("%d of %d strategies x %d waiters compiled, validated", sum, len(allStrategies), len(all))
	for _, key := range slices.Sorted(maps.Keys(refused)) {
		r.notes = append(r.notes, fmt.Sprintf("%d refused by %s", len(refused[key]), key))
		lines = append(lines, key)
		for _, name := range refused[key] {
			lines = append(lines, "  "+name)
		}
	}
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		require.NoError(t, os.WriteFile(refusedFile, []byte(got), 0o600))
	}
	want, err := os.ReadFile(refusedFile)
	require.NoError(t, err, "go test ./tests/conformance -update writes it")
	require.Equal(t, string(want), got, "what is refused; go test ./tests/conformance -update writes it anew")
	return r
}

// compileOne returns why the strategy refuses the entry, or what is wrong with
// what it makes of it.
func compileOne(e *catalog.Entry, s compile.Strategy) (reasons, problems []string) {
	o := compile.Options{Strategy: s, MaxWait: 30 * time.Minute, Fit: true}
	compiled, err := compile.Compile(e.Waiter, compile.CallOf(e), o)
	if refused, ok := errors.AsType[*compile.NotCompiledError](err); ok {
		return reasonsOf(refused)
	}
	if err != nil {
		return nil, []string{err.Error()}
	}
	again, err := asl.Parse(asl.Print(compiled.Machine))
	if err != nil {
		return nil, []string{err.Error()}
	}
	problems = append(problems, withoutArguments(again)...)
	polls := lint.Options{Off: []string{lint.PollNeedless}} // which somebody has asked for
	for _, finding := range lint.Check(again, polls) {
		problems = append(problems, fmt.Sprintf("%s: %s", finding.Rule, finding.Message))
	}
	return nil, problems
}

// withoutArguments are the Tasks that AWS refuses when a state machine is created:
// those of an integration that have neither Parameters nor Arguments.
func withoutArguments(m *asl.StateMachine) []string {
	var problems []string
	for _, s := range m.States {
		if s.Type == "Task" && s.Parameters == nil && s.Arguments == nil {
			problems = append(problems, s.Name+" has neither Parameters nor Arguments")
		}
	}
	return problems
}

// reasonsOf finds the reasons of a refusal.
func reasonsOf(refused *compile.NotCompiledError) (reasons, problems []string) {
	for _, text := range refused.Reasons {
		n := slices.IndexFunc(refusals, func(r refusal) bool { return r.text.MatchString(text) })
		if n < 0 {
			return nil, []string{"refused for no known reason: " + text}
		}
		if !slices.Contains(reasons, refusals[n].reason) {
			reasons = append(reasons, refusals[n].reason)
		}
	}
	slices.Sort(reasons)
	return reasons, nil
}
