package trial

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Values are the same where they are equal, and by their type where the first machine
// itself gives another one under other circumstances.
func TestSameValues(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	type list = []any
	for name, c := range map[string]struct {
		a, b, again any
		same        bool
	}{
		"equal":                          {1.0, 1.0, 1.0, true},
		"numbers":                        {1.0, 2.0, 1.0, false},
		"volatile numbers":               {1.0, 2.0, 3.0, true},
		"a volatile number and a text":   {1.0, "2", 3.0, false},
		"texts":                          {"a", "b", "a", false},
		"volatile texts":                 {"a", "b", "c", true},
		"a volatile text and a number":   {"a", 1.0, "c", false},
		"an object and a list":           {object{}, list{}, object{}, false},
		"a list and an object":           {list{}, object{}, list{}, false},
		"a member more":                  {object{"a": 1.0}, object{"a": 1.0, "b": 1.0}, object{"a": 1.0}, false},
		"a member less":                  {object{"a": 1.0, "b": 1.0}, object{"a": 1.0}, object{"a": 1.0, "b": 1.0}, false},
		"another member, null":           {object{"a": nil}, object{"b": nil}, object{"a": nil}, false},
		"a member of another value":      {object{"a": 1.0}, object{"a": 2.0}, object{"a": 1.0}, false},
		"a volatile member":              {object{"a": 1.0}, object{"a": 2.0}, object{"a": 3.0}, true},
		"a member beside a volatile one": {object{"a": 1.0, "b": 1.0}, object{"a": 2.0, "b": 2.0}, object{"a": 3.0, "b": 1.0}, false},
		"an item more":                   {list{1.0}, list{1.0, 2.0}, list{1.0}, false},
		"an item less":                   {list{1.0, 2.0}, list{1.0}, list{1.0, 2.0}, false},
		"another item":                   {list{1.0, 2.0}, list{1.0, 3.0}, list{1.0, 2.0}, false},
		"a volatile item":                {list{1.0, 2.0}, list{1.0, 3.0}, list{1.0, 4.0}, true},
		"an item of a volatile length":   {list{1.0}, list{2.0}, list{3.0, 1.0}, false},
		"JSON with spaces":               {`{"a":1}`, `{"a": 1}`, `{"a":1}`, true},
		"JSON with another value":        {`{"a":1}`, `{"a": 2}`, `{"a":1}`, false},
		"JSON with a volatile value":     {`{"a":1}`, `{"a": 2}`, `{"a":3}`, true},
		"JSON and a text, volatile":      {`{"a":1}`, `[`, `{"a":3}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.same, same(c.a, c.b, c.again))
		})
	}
}

// Each thing that a run does is compared by itself.
func TestDiffer(t *testing.T) {
	t.Parallel()
	publish := call{task: "Tell", flow: "", arguments: "it failed"}
	seen := func(calls ...call) *observed {
		o := &observed{calls: calls, polls: map[string][]any{"Look": {"job-1", "job-2"}}}
		o.Status = "SUCCEEDED"
		return o
	}
	with := func(change func(*observed)) *observed {
		o := seen(publish)
		change(o)
		return o
	}
	beside := call{task: "Other", flow: "1", arguments: "x"}
	for name, c := range map[string]struct {
		a, b, again *observed
		what        What
		beside      bool
	}{
		"nothing":                       {a: seen(publish), b: seen(publish)},
		"an end":                        {seen(publish), with(func(o *observed) { o.Status = failed }), nil, End, false},
		"an error":                      {seen(publish), with(func(o *observed) { o.Error = "X" }), nil, Error, false},
		"a cause":                       {seen(publish), with(func(o *observed) { o.cause = "X" }), nil, Cause, false},
		"an output":                     {seen(publish), with(func(o *observed) { o.output = "X" }), nil, Output, false},
		"a poll":                        {seen(publish), with(func(o *observed) { o.polls["Look"] = []any{"job-1", "job-3"} }), nil, Poll, false},
		"a volatile poll":               {a: seen(publish), b: with(func(o *observed) { o.polls["Look"] = []any{"job-1", "job-3"} }), again: with(func(o *observed) { o.polls["Look"] = []any{"job-1", "job-4"} })},
		"a poll after a volatile one":   {seen(publish), with(func(o *observed) { o.polls["Look"] = []any{"job-1", "job-3"} }), with(func(o *observed) { o.polls["Look"] = []any{"job-9"} }), Poll, false},
		"fewer polls":                   {a: seen(publish), b: with(func(o *observed) { o.polls["Look"] = []any{"job-1"} })},
		"a call more":                   {seen(publish), seen(publish, publish), nil, Calls, false},
		"a call less":                   {seen(publish, publish), seen(publish), nil, Calls, false},
		"a call of another Task":        {seen(publish), seen(call{task: "Ask", arguments: "it failed"}), nil, Calls, false},
		"another argument":              {seen(publish), seen(call{task: "Tell", arguments: "oh"}), nil, Calls, false},
		"a volatile argument":           {a: seen(publish), b: seen(call{task: "Tell", arguments: "oh"}), again: seen(call{task: "Tell", arguments: "x"})},
		"a call after a volatile run":   {seen(publish, publish), seen(publish, call{task: "Tell", arguments: "oh"}), seen(call{task: "Tell", arguments: "x"}), Calls, false},
		"a call of another flow":        {seen(publish), seen(publish, beside), nil, Calls, true},
		"a lost call of another flow":   {seen(publish, beside), seen(publish), nil, Calls, true},
		"an attempt that was steady":    {seen(call{task: "Tell", steady: true}), seen(call{task: "Tell"}), nil, Retry, false},
		"an attempt that never was":     {a: seen(call{task: "Tell"}), b: seen(call{task: "Tell"})},
		"an attempt that still is":      {a: seen(call{task: "Tell", steady: true}), b: seen(call{task: "Tell", steady: true})},
		"a steady call of another Task": {seen(call{task: "Tell", steady: true}), seen(call{task: "Ask"}), nil, Calls, false},
		"an attempt that is now steady": {a: seen(call{task: "Tell"}), b: seen(call{task: "Tell", steady: true})},
		"more calls of another flow, as the failure is later": {
			a: with(func(o *observed) { o.Status, o.flow = failed, "" }), b: with(func(o *observed) { o.Status, o.calls = failed, []call{publish, beside} }),
		},
		"fewer calls of another flow before a failure": {
			with(func(o *observed) { o.Status, o.calls = failed, []call{publish, beside} }), with(func(o *observed) { o.Status = failed }), nil, Calls, true,
		},
		"more laps of a loop that polls on": {
			a: with(func(o *observed) { o.Status = PollsOn }), b: with(func(o *observed) { o.Status, o.calls = PollsOn, []call{publish, publish} }),
		},
		"more calls of a run that did not poll on": {seen(publish), with(func(o *observed) { o.Status, o.calls = PollsOn, []call{publish, publish} }), nil, End, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := differ(c.a, c.b, c.again)
			if c.what == "" {
				require.Empty(t, found)
				return
			}
			require.NotEmpty(t, found)
			require.Equal(t, c.what, found[0].What)
			require.Equal(t, c.beside, found[0].Beside)
		})
	}
	polledOn := with(func(o *observed) { o.Status = PollsOn })
	more := with(func(o *observed) { o.Status, o.calls = PollsOn, []call{publish, publish} })
	require.Len(t, differ(seen(publish), more, nil), 2, "the call is told, too, where the first machine ends")
	require.Len(t, differ(with(func(o *observed) { o.calls = []call{publish, publish} }), polledOn, nil), 2)
}

// A difference names the Task that is called no more, and none where its call comes later.
func TestDifferenceNamesTheTaskThatIsLeftOut(t *testing.T) {
	t.Parallel()
	seen := func(tasks ...string) *observed {
		o := &observed{}
		for _, task := range tasks {
			o.calls = append(o.calls, call{task: task})
		}
		o.Status = "SUCCEEDED"
		return o
	}
	for name, c := range map[string]struct {
		before, after *observed
		task          string
	}{
		"the last one":             {seen("Tell", "Clean"), seen("Tell"), "Clean"},
		"the first one":            {seen("Clean", "Tell"), seen("Tell"), "Clean"},
		"another one in its place": {seen("Clean"), seen("Tell"), "Clean"},
		"both the other way round": {seen("Clean", "Tell"), seen("Tell", "Clean"), ""},
		"one more in front":        {seen("Tell"), seen("Clean", "Tell"), ""},
		"one more behind":          {seen("Tell"), seen("Tell", "Clean"), ""},
	} {
		found := differ(c.before, c.after, nil)
		require.Len(t, found, 1, name)
		require.Equal(t, Calls, found[0].What, name)
		require.Equal(t, c.task, found[0].Task, name)
	}
}
