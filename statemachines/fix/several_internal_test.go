package fix

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Each entry of the catalogue that looks at the first item of a list looks at nothing else: a new loop can judge all items.
func TestEachListedEntryCanJudgeSeveralJobs(t *testing.T) {
	t.Parallel()
	first, found := regexp.MustCompile(`^([\w.]+)\[0\]`), 0
	all, err := catalog.AWS().List()
	require.NoError(t, err)
	for _, service := range all {
		for _, listed := range service.Entries {
			e, err := catalog.AWS().Lookup(service.Key, listed.Name)
			require.NoError(t, err)
			for _, a := range e.Waiter.Acceptors {
				if a.Matcher.Output == nil {
					continue
				}
				if m := first.FindStringSubmatch(a.Matcher.Output.Path); m != nil {
					found++
					require.NotNil(t, newPanel(e, m[1]), e.FullName())
				}
			}
		}
	}
	require.Positive(t, found)
}

// The argument that names several jobs is the only list of texts which the poll gives.
func TestAskedList(t *testing.T) {
	t.Parallel()
	text := &catalog.Shape{Type: catalog.String}
	list := func(name string, of *catalog.Shape) catalog.Member {
		return catalog.Member{Name: name, Shape: &catalog.Shape{Type: catalog.List, Element: &catalog.Member{Shape: of}}}
	}
	input := &catalog.Shape{Type: catalog.Structure, Members: catalog.Members{
		list("ids", text), list("names", text), list("fields", &catalog.Shape{Type: catalog.String, Enum: []string{"TAGS"}}), {Name: "cluster", Shape: text},
	}}
	for name, c := range map[string]struct{ given, want string }{
		"one":                {`"Ids.$": "$.ids"`, "ids"},
		"beside what is not": {`"Names": ["a"], "Fields": ["TAGS"], "Cluster": "c"`, "names"},
		"two":                {`"Ids.$": "$.ids", "Names": ["a"]`, ""},
		"none":               {`"Cluster": "c"`, ""},
	} {
		m, err := asl.Parse([]byte(`{"StartAt": "Look", "States": {"Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:ecs:describeTasks",
			"Parameters": {` + c.given + `}, "End": true}}}`))
		require.NoError(t, err, name)
		l := &loop{poll: m.State("Look"), entry: &catalog.Entry{Operation: &catalog.Operation{Input: input}}}
		require.Equal(t, c.want, l.askedList(), name)
		l.entry.Operation.Input = nil
		require.Empty(t, l.askedList(), "%s, of a function", name)
	}
}

// An answer about two jobs is judged as the old loop judged it: by the first, by any, by all, or once all have ended.
func TestVerdictOfSeveralJobs(t *testing.T) {
	t.Parallel()
	const s, f, r = pollcore.Success, pollcore.Failure, pollcore.Retry
	pairs := [][2]pollcore.Verdict{{s, s}, {s, f}, {f, s}, {f, f}, {s, r}, {r, s}, {f, r}, {r, f}, {r, r}}
	for q, want := range map[quorum][]pollcore.Verdict{
		{leastAll, leastAny}:     {s, f, f, f, r, r, f, f, r},
		{leastAll, leastEnded}:   {s, f, f, f, r, r, r, r, r},
		{leastEnded, leastAll}:   {s, s, s, f, r, r, r, r, r},
		{leastAny, leastAll}:     {s, s, s, f, s, s, r, r, r},
		{leastFirst, leastFirst}: {s, s, f, f, s, r, f, r, r},
	} {
		for i, pair := range pairs {
			require.Equal(t, want[i], q.verdict(pair[0], pair[1]), "%v of %v", q, pair)
		}
	}
}

// A poll asks by a value if its arguments have that, and not one whose name only begins alike.
func TestAsksBy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		task string
		want bool
	}{
		"in JSONata":             {`"QueryLanguage": "JSONata", "Arguments": {"Jobs": "{% $states.input.ids %}"}`, true},
		"a longer name":          {`"QueryLanguage": "JSONata", "Arguments": {"Jobs": "{% $states.input.idsToday %}"}`, false},
		"in JSONPath":            {`"Parameters": {"Jobs.$": "$.ids"}`, true},
		"another one":            {`"Parameters": {"Jobs.$": "$.jobs"}`, false},
		"the output":             {`"Parameters": {"Jobs.$": "$.jobs"}, "ResultPath": "$.ids"`, false},
		"without any":            {`"ResultPath": "$.ids"`, false},
		"without any in JSONata": {`"QueryLanguage": "JSONata", "Output": "{% $states.input.ids %}"`, false},
	} {
		text := []byte(`{"StartAt": "Look", "States": {"Look": {"Type": "Task", "Resource": "arn:aws:lambda:us-east-1:123456789012:function:look", ` + c.task + `, "End": true}}}`)
		m, err := asl.Parse(text)
		require.NoError(t, err, name)
		d, err := jsontree.Parse(text)
		require.NoError(t, err, name)
		l := &loop{root: d.Root, poll: m.State("Look")}
		require.Equal(t, c.want, l.asksBy("$states.input.ids"), name)
	}
}
