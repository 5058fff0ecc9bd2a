package report_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/report"
)

// draw is the picture of an execution, which is XML and needs nothing but itself.
func draw(t *testing.T, e *history.Execution) string {
	t.Helper()
	svg := string(report.SVG(e))
	ids := map[string]bool{}
	var links []string
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		require.NotContains(t, []string{"script", "image", "a", "foreignObject"}, start.Name.Local)
		for _, a := range start.Attr {
			switch a.Name.Local {
			case "id":
				ids[a.Value] = true
			case "href":
				links = append(links, a.Value)
			}
		}
	}
	for _, link := range links {
		require.True(t, ids[strings.TrimPrefix(link, "#")], link)
	}
	require.Equal(t, 1, strings.Count(svg, "http:"), "but its name space")
	return svg
}

// The picture of a loop that polls on: when the status changed, how many polls saw
// each, and one band for those that are too close to tell apart.
func TestSVG(t *testing.T) {
	t.Parallel()
	svg := draw(t, pollsOn(t))
	for _, fact := range []string{
		">FAILED after 3h51m25s<", ">GetStatus polls athena:GetQueryExecution<", ">RUNNING: 143 polls<", ">CANCELLED: 2,634 polls<",
		">polled 2,633 times more after that, for 3h39m25s<", ">CANCELLED +12m, at most 3h39m30s late<", ">1h<", ">3h<",
		`class="band m-retry" x="0.036%"`, `class="band m-failure" x="5.1855%" y="8" width="94.8145%"`,
	} {
		requireHas(t, svg, fact)
	}
	require.Equal(t, 2, strings.Count(svg, "<rect class=\"band"))
	require.Equal(t, 2, strings.Count(svg, `<use href="#retry"`), "one in the legend and one in the ribbon")
	require.NotContains(t, svg, ">RUNNING</text>", "the name is wider than the stage")
	require.Less(t, len(svg), 8<<10)
}

// Polls that stand apart have a mark each, and stages with room have their names.
func TestSVGOfAShortRun(t *testing.T) {
	t.Parallel()
	m, r := run(t, loop, `{"items": []}`, answers("IN_PROGRESS", "IN_PROGRESS", "E", "COMPLETED"))
	svg := draw(t, history.FromRun(m, r))
	for fact, n := range map[string]int{
		`<use href="#retry" x=`: 2, `<use href="#failed" x=`: 1, `<use href="#success" x=`: 1, "<rect class=\"band": 0,
		">IN_PROGRESS</text>": 1, ">IN_PROGRESS: 2 polls<": 1, ">COMPLETED: 1 poll<": 1, ">E: 1 call<": 1, ">1 call failed<": 1,
		`class="line good"`: 1, `class="line warn"`: 1,
	} {
		require.Equal(t, n, strings.Count(svg, fact), fact)
	}
}

// Whatever the history, the picture is small and no more than a picture.
func TestSVGIsBounded(t *testing.T) {
	t.Parallel()
	e := long(t, 60, 20)
	require.Less(t, len(draw(t, e)), 200<<10)
	for i := range e.Events {
		event := &e.Events[i]
		if event.Type == "TaskStateEntered" || event.Type == "TaskStateExited" {
			event.Name = `<script>alert("&` + "\x00\u202e"
		}
	}
	draw(t, e)
	for i := range e.Events {
		e.Events[i].Output = fmt.Sprintf(`{"QueryExecution": {"Status": {"State": %q}}}`, []string{"QUEUED", "RUNNING"}[i/180%2])
	}
	require.Contains(t, draw(t, e), " more changes<")
	require.NotContains(t, draw(t, &history.Execution{Status: `<b>`, Machine: &asl.StateMachine{}}), "<b>")
}
