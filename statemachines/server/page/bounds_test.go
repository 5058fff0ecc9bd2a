package page_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/server/page"
)

// An execution in many states, with long data, has a page of some of them, cut.
func TestManyPlaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := *w.runs[0]
	d.Places = nil
	for i := range 25 {
		d.Places = append(d.Places, page.Place{State: fmt.Sprint("State", i), Type: asl.TypeTask, Entered: start, Input: strings.Repeat("x", 5_000)})
	}
	w.runs[0] = &d
	_, text := get(t, newPage(w), run(d.ARN))
	require.Contains(t, text, "in <b>State19</b>")
	require.NotContains(t, text, "in <b>State20</b>")
	require.Contains(t, text, "and 5 more states")
	require.Contains(t, text, "x… (5,000 bytes in all)")
	require.NotContains(t, text, strings.Repeat("x", 4<<10+1))
}

// A definition has lines up to a number.
func TestManyLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.machines[0].Definition = strings.Repeat("\n", 6_000) + loop
	_, text := get(t, newPage(w), "machine/"+url.PathEscape(machine))
	require.Contains(t, text, `id="L5000"`)
	require.NotContains(t, text, `id="L5001"`)
	require.Contains(t, text, "<code>…</code>")
}

// So many pages are live at once; the next one may be when another closes.
func TestManyStreams(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(newPage(newWorld(t)))
	t.Cleanup(server.Close)
	open := func(ctx context.Context) int {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path+"live", nil)
		require.NoError(t, err)
		answer, err := server.Client().Do(r)
		require.NoError(t, err)
		t.Cleanup(func() { _ = answer.Body.Close() })
		return answer.StatusCode
	}
	ctx, leave := context.WithCancel(t.Context())
	for range 64 {
		require.Equal(t, http.StatusOK, open(ctx))
	}
	require.Equal(t, http.StatusServiceUnavailable, open(t.Context()))
	leave()
	require.Eventually(t, func() bool { return open(t.Context()) == http.StatusOK }, 10*time.Second, 10*time.Millisecond)
}

// Nothing else may guess what an answer is, or keep it.
func TestHeaders(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	newPage(newWorld(t)).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
	require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
}

// A page at the root of its server does not lead elsewhere either.
func TestBackFromTheRoot(t *testing.T) {
	t.Parallel()
	p := page.New(page.Options{World: newWorld(t)})
	for back, want := range map[string]string{"/run/x": "/run/x", "///elsewhere.example": "/", "//elsewhere.example": "/", `/\elsewhere.example`: "/", "/\t/elsewhere.example": "/"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/act/next", strings.NewReader(url.Values{"back": {back}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		require.Equal(t, want, w.Header().Get("Location"), back)
	}
}

// The clock goes on with the rate from before its pause, and has a fastest one.
func TestClockOfThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := newPage(w)
	w.clock.Rate = 60
	require.Equal(t, http.StatusSeeOther, post(t, p, "act/pause", nil).Code)
	w.clock.Rate = 0
	_, text := get(t, p, "")
	require.Contains(t, text, `<button name="rate" value="60" title="space">go on</button>`)
	require.Equal(t, http.StatusBadRequest, post(t, p, "act/rate", url.Values{"rate": {"86401"}}).Code)
	require.Equal(t, http.StatusSeeOther, post(t, p, "act/rate", url.Values{"rate": {"86400"}}).Code)
}

// A search finds runs by their state machine; few runs say nothing about durations.
func TestSearchByMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.clock.Now = w.clock.Now.Add(10 * time.Minute) // one still runs
	_, text := get(t, newPage(w), "?search=NIGHTLY")
	require.Contains(t, text, "1 to 9 of 9")
	require.Contains(t, text, "▲")
	w.runs = w.runs[:5]
	_, text = get(t, newPage(w), "?search=nightly")
	require.Contains(t, text, "1 to 5 of 5")
	require.NotContains(t, text, "▲", "4 runs have ended")
}

// The list did not say why executions failed: each has its error, and its cause as a hint.
func TestListSaysErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	failed := w.runs[1]
	failed.History.Error, failed.History.Cause = "States.TaskFailed", `{"ExecutionArn": "arn:inner", "Status": "FAILED", "Error": "QueryFailed"}`
	_, text := get(t, newPage(w), "")
	require.Contains(t, text, `<td data-name="Error" class="bad" title="nested execution arn:inner FAILED: QueryFailed">States.TaskFailed</td>`)
	require.Equal(t, 1, strings.Count(text, "States.TaskFailed"), "the others did not fail")
}

// Only the loop of one job that succeeded within a day is compared, and only what failed
// can be said not to be redrivable.
func TestNothingToCompare(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := func(d *page.Detail) string {
		w.runs[0] = d
		_, text := get(t, newPage(w), run(d.ARN))
		return text
	}
	ended := *w.runs[1]
	ended.Reason = "because"
	text := of(&ended)
	require.Contains(t, text, "The same job with other loops")
	require.NotContains(t, text, "because")
	failed := ended
	failed.Status = history.StatusFailed
	text = of(&failed)
	require.NotContains(t, text, "The same job with other loops")
	require.Contains(t, text, "Not redrivable: because")
	require.NotContains(t, of(runLoop(t, "long", start, 8_000)), "The same job with other loops")
}
