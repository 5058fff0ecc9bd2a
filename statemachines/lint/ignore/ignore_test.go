package ignore_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/lint/ignore"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

var options = ignore.Options{
	Known: append([]string{"suspicious", ignore.Unused}, ruleNames()...),
	Fixed: map[string]string{"definition": "AWS rejects the definition"},
}

func ruleNames() []string {
	var names []string
	for _, r := range lint.Rules() {
		names = append(names, r.Name)
	}
	return names
}

// read reads the comments of a state machine whose state A has a Comment.
func read(tb testing.TB, comment string) *ignore.Set {
	tb.Helper()
	text := fmt.Sprintf(`{"StartAt": "A", "States": {"A": {"Type": "Succeed", "Comment": %s}}}`, jsontree.Quote(comment))
	d, err := source.LoadOne(tb.Context(), "a.json", source.Options{FS: fstest.MapFS{"a.json": {Data: []byte(text)}}})
	require.NoError(tb, err)
	return ignore.Read(d, options)
}

// The grammar: what a comment ignores, by "RULE (REASON)", and what is wrong with it.
func TestGrammar(t *testing.T) {
	t.Parallel()
	for comment, want := range map[string]string{
		"jobpoller: ignore unbounded-loop, the job always ends (ticket 12)": "unbounded-loop (the job always ends (ticket 12))",
		"jobpoller: ignore unbounded-loop the job always ends":              "unbounded-loop (the job always ends)",
		"jobpoller: ignore unbounded-loop: the job always ends":             "unbounded-loop (the job always ends)",
		"jobpoller: ignore unbounded-loop - the job always ends":            "unbounded-loop (the job always ends)",
		"jobpoller:ignore   unbounded-loop ,the job":                        "unbounded-loop (the job)",
		"Waits. jobpoller: ignore unbounded-loop, it ends":                  "unbounded-loop (it ends)",
		"jobpoller: ignore unbounded-loop, hot-loop: a demo":                "unbounded-loop (a demo) hot-loop (a demo)",
		"jobpoller: ignore unbounded-loop, hot-loop, a demo":                "unbounded-loop (a demo) hot-loop (a demo)",
		"jobpoller: ignore unbounded-loop: suspicious, but it ends":         "unbounded-loop (suspicious, but it ends)",
		"jobpoller: ignore unbounded-loop, suspicious: it ends":             "unbounded-loop (it ends) suspicious (it ends)",
		"jobpoller: ignore unbounded-loop, well-known to end":               "unbounded-loop (well-known to end)",
		"jobpoller: ignore unbounded-loop, a\nmore":                         "unbounded-loop (a)",
		"jobpoller: ignore unbounded-loop, a jobpoller: ignore hot-loop, b": "unbounded-loop (a) hot-loop (b)",

		"jobpoller: see the guide": "", "jobpoller": "", "https://jobpoller: ignore hot-loop, x": "", "xjobpoller: ignore hot-loop": "",

		"jobpoller: ignore unbounded-loop":                `unbounded-loop () unexplained-ignore`,
		"jobpoller: ignore unbounded-loop,":               `unbounded-loop () unexplained-ignore`,
		"jobpoller: ignore":                               `invalid-ignore: the comment names no rule: write "jobpoller: ignore RULE, REASON"`,
		"jobpoller: ignore, hot-loop":                     `invalid-ignore: the comment names no rule: write "jobpoller: ignore RULE, REASON"`,
		"jobpoller: ignore everything, please":            `invalid-ignore: there is no rule "everything"; list them: jobpoller lint --rules`,
		"jobpoller: ignore unbounded-lop, it ends":        `invalid-ignore: there is no rule "unbounded-lop"; list them: jobpoller lint --rules (did you mean "unbounded-loop"?)`,
		"jobpoller: ignore hot-loop, unbounded-lop: ends": `invalid-ignore: there is no rule "unbounded-lop"; list them: jobpoller lint --rules (did you mean "unbounded-loop"?)`,
		"jobpoller: ingore hot-loop, x":                   `invalid-ignore: expected "ignore RULE, REASON" behind "jobpoller:", found "ingore" (did you mean "ignore"?)`,
		"jobpoller: disable hot-loop, x":                  `invalid-ignore: expected "ignore RULE, REASON" behind "jobpoller:", found "disable"`,
		"jobpoller: ignore definition, x":                 `invalid-ignore: definition cannot be ignored: AWS rejects the definition`,
	} {
		set := read(t, comment)
		var got []string
		for rule := range strings.FieldsSeq("unbounded-loop hot-loop suspicious") {
			if i := set.Find(rule, "/States/A/Next"); i != nil {
				got = append(got, fmt.Sprintf("%s (%s)", rule, i.Reason))
			}
		}
		for _, f := range set.Findings(func(string) bool { return true }) {
			text := f.Rule
			if f.Rule == ignore.Invalid {
				f.Line, f.Pointer, f.Severity = 0, "", 0
				text += ": " + f.String()
			}
			got = append(got, text)
		}
		require.Equal(t, want, strings.Join(got, " "), comment)
	}
}

// A comment counts at its part and within, and one that matches nothing is found.
func TestParts(t *testing.T) {
	t.Parallel()
	set := read(t, "jobpoller: ignore unbounded-loop, hot-loop: x")
	require.Nil(t, set.Find("unbounded-loop", "/States/AB"))
	require.Nil(t, set.Find("unbounded-loop", ""))
	require.Nil(t, set.Find("short-interval", "/States/A"))
	require.NotNil(t, set.Find("unbounded-loop", "/States/A"))
	require.NotNil(t, set.Find("unbounded-loop", "/States/A/Choices/0/Next"))
	unused := set.Findings(func(string) bool { return true })
	require.Len(t, unused, 1)
	require.Equal(t, "1:65: /States/A: note: hot-loop finds nothing here: remove it from the comment", unused[0].String())
	require.Empty(t, set.Findings(func(rule string) bool { return rule != "hot-loop" }), "a rule that is not checked finds nothing")
}

// Any comment is read in bounded time, and what is found names rules that there are.
func FuzzComments(f *testing.F) {
	for _, seed := range []string{
		"jobpoller: ignore unbounded-loop, hot-loop: reason", "jobpoller: ignore", "jobpoller:", "jobpoller: ingore hot-loop", "x\njobpoller: ignore a-b,,",
		strings.Repeat("jobpoller: ignore hot-loop,", 99), strings.Repeat("jobpoller:", 99), "jobpoller: ignore hot-loop \xff\u2028 —",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, comment string) {
		set := read(t, comment)
		for _, finding := range set.Findings(func(string) bool { return true }) {
			require.Equal(t, "/States/A", finding.Pointer)
			require.NotContains(t, finding.String(), "\n")
		}
		if i := set.Find("hot-loop", "/States/A"); i != nil {
			require.Contains(t, comment, "hot-loop")
			require.Equal(t, strings.TrimSpace(i.Reason), i.Reason)
		}
	})
}
