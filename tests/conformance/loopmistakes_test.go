package conformance_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// leastFound is how many of a hundred seeded mistakes lint has to find.
const leastFound = 95

// runLoopMistakes seeds mistakes in loops on known operations: of AWS's samples, of
// the shipped definitions, and of those that compile makes of jobs. A case is a
// mistake: two routes of a Choice that change places, or a rule that is dropped, so
// that a value that the catalogue knows goes another way. It passes if lint has a
// new finding about a status.
func runLoopMistakes(t *testing.T, folder string) result {
	t.Helper()
	r := result{failures: map[string]string{}}
	seed := func(name string, m *asl.StateMachine) {
		seedMistakes(t, &r, name, m)
	}
	for name, m := range machinesIn(t, folder) {
		seed(name, m)
	}
	for _, name := range statemachines.Names() {
		text, err := statemachines.Definition(name)
		require.NoError(t, err)
		m, err := asl.Parse(text)
		require.NoError(t, err)
		seed(name, m)
	}
	for _, e := range entries(t) {
		if e.Kind != catalog.AWSJob {
			continue
		}
		for _, s := range []compile.Strategy{compile.Variables} {
			made, err := compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{Strategy: s, MaxWait: 30 * time.Minute, Fit: true})
			if _, refused := errors.AsType[*compile.NotCompiledError](err); refused {
				continue
			}
			require.NoError(t, err)
			seed(e.FullName()+" as "+string(s), made.Machine)
		}
	}
	require.Greater(t, r.total, 500)
	missed := len(r.failures)
	require.GreaterOrEqual(t, (r.total-missed)*100, leastFound*r.total, "%d of %d are not found: %v", missed, r.total, r.failures)
	r.headline = fmt.Sprintf("%d of %d seeded mistakes found", r.total-missed, r.total)
	return r
}

// seedMistakes seeds the Choices of the tables of a machine.
func seedMistakes(t *testing.T, r *result, name string, m *asl.StateMachine) {
	t.Helper()
	known := statusFindings(m)
	for _, l := range lint.Loops(m, lint.Options{}) {
		if len(l.Rows) == 0 || len(l.Choices) != 1 {
			continue
		}
		choice := l.Choices[0].Position.Pointer
		for n, broken := range breakChoice(t, asl.Print(m), choice, &l) {
			again, err := asl.Parse(broken.definition)
			if err != nil {
				continue // a state that nothing leads to any more
			}
			r.total++
			if broken.asked && !slices.ContainsFunc(statusFindings(again), func(f string) bool { return !slices.Contains(known, f) }) {
				r.failures[fmt.Sprintf("%s %s mistake %d", name, choice, n)] = "not found"
			}
		}
	}
}

func statusFindings(m *asl.StateMachine) []string {
	var out []string
	for _, f := range lint.Check(m, lint.Options{}) {
		if strings.HasPrefix(f.Rule, "status-") || f.Rule == lint.LoopingDefault {
			out = append(out, f.Rule+" "+f.Message)
		}
	}
	return out
}

// brokenChoice is a definition with one mistake in a Choice.
type brokenChoice struct {
	definition []byte
	asked      bool // lint has to find it: more than what only somebody else's call brings polls on
}

// breakChoice returns definitions with one mistake in a Choice.
func breakChoice(t *testing.T, definition []byte, pointer string, l *lint.Loop) []brokenChoice {
	t.Helper()
	var out []brokenChoice
	try := func(change func(choice map[string]any)) {
		var root map[string]any
		require.NoError(t, json.Unmarshal(definition, &root))
		choice := at(root, pointer)
		before, simple := routesOf(choice, l)
		change(choice)
		after, _ := routesOf(choice, l)
		wrong := seedDifferences(before, after, l)
		if !simple || len(wrong) == 0 {
			return
		}
		text, err := json.Marshal(root)
		require.NoError(t, err)
		asked := slices.ContainsFunc(wrong, func(value string) bool { return !comesMeanwhile(l, value) || after[value] != l.Waits[0].Name })
		out = append(out, brokenChoice{text, asked})
	}
	var root map[string]any
	require.NoError(t, json.Unmarshal(definition, &root))
	rules := len(at(root, pointer)["Choices"].([]any))
	for i := range rules {
		if rules > 1 {
			try(func(choice map[string]any) { choice["Choices"] = slices.Delete(choice["Choices"].([]any), i, i+1) })
		}
		for j := i + 1; j <= rules; j++ {
			try(func(choice map[string]any) {
				all := choice["Choices"].([]any)
				one := all[i].(map[string]any)
				if j == rules {
					if choice["Default"] != nil {
						one["Next"], choice["Default"] = choice["Default"], one["Next"]
					}
					return
				}
				other := all[j].(map[string]any)
				one["Next"], other["Next"] = other["Next"], one["Next"]
			})
		}
	}
	return out
}

// at is the object that a pointer leads to.
func at(root map[string]any, pointer string) map[string]any {
	var value any = root
	for step := range strings.SplitSeq(pointer[1:], "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			var i int
			_, _ = fmt.Sscan(step, &i)
			value = v[i]
		}
	}
	return value.(map[string]any)
}

// routesOf is where a Choice sends the values of a table, by a reading of its own: a
// rule is a list of texts that a value may be, or takes everything while there is
// time. It is not simple if a rule is anything else.
func routesOf(choice map[string]any, l *lint.Loop) (routes map[string]string, simple bool) {
	routes, simple = map[string]string{}, true
	for _, row := range l.Rows {
		for _, value := range row.Values {
			next, _ := choice["Default"].(string)
			for _, rule := range choice["Choices"].([]any) {
				texts, all, ok := textsOf(rule.(map[string]any))
				simple = simple && ok
				if all || slices.Contains(texts, value) {
					next = rule.(map[string]any)["Next"].(string)
					break
				}
			}
			routes[value] = next
		}
	}
	return routes, simple
}

var (
	inTime    = regexp.MustCompile(`\(?(.*?)\)? and \$millis\(\) < .*|\$millis\(\) < .*`)
	equalText = regexp.MustCompile(`^\$[\w.]+ (?:= ('[^']*'|"[^"]*")|in \[(.*)\])$`)
	quotation = regexp.MustCompile(`'[^']*'|"[^"]*"`)
)

// textsOf are the texts that a rule takes.
func textsOf(rule map[string]any) (texts []string, all, ok bool) {
	if condition, _ := rule["Condition"].(string); condition != "" {
		condition = strings.TrimSuffix(strings.TrimPrefix(condition, "{% "), " %}")
		if m := inTime.FindStringSubmatch(condition); m != nil && m[0] == condition {
			if condition = m[1]; condition == "" {
				return nil, true, true
			}
		}
		for part := range strings.SplitSeq(condition, " or ") {
			m := equalText.FindStringSubmatch(strings.Trim(part, "()"))
			if m == nil {
				return nil, false, false
			}
			for _, text := range quotation.FindAllString(m[1]+m[2], -1) {
				texts = append(texts, text[1:len(text)-1])
			}
		}
		return texts, false, true
	}
	if or, _ := rule["Or"].([]any); or != nil {
		for _, part := range or {
			more, _, ok := textsOf(part.(map[string]any))
			if !ok {
				return nil, false, false
			}
			texts = append(texts, more...)
		}
		return texts, false, true
	}
	text, ok := rule["StringEquals"].(string)
	return []string{text}, false, ok
}

// seedDifferences are the values that the catalogue knows and that go to a state of another
// kind: one where the loop polls on, one that fails, or any other.
func seedDifferences(before, after map[string]string, l *lint.Loop) (found []string) {
	kinds := map[string]string{}
	for _, row := range l.Rows {
		for _, next := range row.Routes {
			switch row.Ends {
			case lint.PollsOn, lint.EndsFailure:
				kinds[next] = string(row.Ends)
			default:
				kinds[next] = "leaves"
			}
		}
	}
	for _, row := range l.Rows {
		if slices.Contains([]lint.Meaning{lint.MeansUnknown, lint.MeansEnding, lint.MeansUnclear}, row.Meaning) || row.Rule != "" {
			continue // either way may be right
		}
		for _, value := range row.Values {
			from, to := kinds[before[value]], kinds[after[value]]
			if from != "" && to != "" && from != to {
				found = append(found, value)
			}
		}
	}
	return found
}

// comesMeanwhile tells whether only somebody else's call leads to a value.
func comesMeanwhile(l *lint.Loop, value string) bool {
	if l.Entry == nil {
		return false
	}
	passing, _ := l.Entry.Passing(value)
	return passing == catalog.PassingMeanwhile
}
