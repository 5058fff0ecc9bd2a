package history_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/graph"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/report"
)

// drawnStates are the states of a drawing: their classes, and what they say.
var drawnStates = regexp.MustCompile(`<g class="state ([^"]+)"><title>([^<]+)</title>`)

// A timed-out Task was blue, a failing Choice amber and a failed Map teal. In the drawing
// of each kind of failed run exactly the states that came to something have its class and
// its words, and the page and the text begin with the state at which the run ended.
func TestWhatFailedIsShown(t *testing.T) {
	t.Parallel()
	eachEnding(t, func(t *testing.T, _ string, c ending) {
		t.Helper()
		m, r := c.run(t)
		e := history.FromRun(m, r)

		html, err := report.HTML(e, report.Options{})
		require.NoError(t, err)
		visits := e.FindVisits()
		mermaid := graph.New(m, graph.Options{Visits: visits.CountVisits(), Edges: e.Edges, Endings: visits.FindEndings()}).Mermaid()
		for _, match := range drawnStates.FindAllStringSubmatch(string(html), -1) {
			name, said, _ := strings.Cut(match[2], "\n")
			outcome, words, _ := strings.Cut(c.Outcomes[name], " | ")
			if words != "" {
				require.Contains(t, said, words)
				require.Contains(t, mermaid, words)
			}
			for _, class := range []string{"retried", "caught", "aborted", "timed-out", "failed"} {
				require.Equal(t, class == outcome, slices.Contains(strings.Fields(match[1]), class), "%s is %s", name, class)
			}
		}
		plain := report.Text(e, report.TextOptions{Columns: 200})
		for i, state := range c.At {
			if i == 0 || state != c.At[i-1] {
				_, words, _ := strings.Cut(c.Outcomes[state], " | ")
				require.Regexp(t, `<p class="ends (?:bad|warn)" data-s="s\d+"><a href="#s\d+"><b>`+regexp.QuoteMeta(state)+`</b></a> (?:\([^)]+\) )?`+regexp.QuoteMeta(words), string(html))
				require.Regexp(t, `\n  at            `+regexp.QuoteMeta(state)+` (?:\([^)]+\) )?`+regexp.QuoteMeta(words)+`\n`, plain)
			}
		}
		require.Equal(t, len(c.At) > 0, strings.Contains(string(html), `class="ends `))
	})
}
