package page_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/server/page"
)

// patch is a part that a stream sent.
type patch struct {
	ID   string `json:"id"`
	HTML string `json:"html"`
	In   string `json:"in"`
}

// stream reads the patches of a page until a version.
type stream struct {
	t     *testing.T
	lines *bufio.Scanner
	end   func()
}

func openStream(t *testing.T, w page.World, reference, lastEvent string) *stream {
	t.Helper()
	server := httptest.NewServer(newPage(w))
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path+reference, nil)
	require.NoError(t, err)
	if lastEvent != "" {
		r.Header.Set("Last-Event-ID", lastEvent)
	}
	answer, err := http.DefaultClient.Do(r) //nolint:bodyclose // when the test ends
	require.NoError(t, err)
	require.Equal(t, "text/event-stream", answer.Header.Get("Content-Type"))
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 8<<20)
	s := &stream{t, lines, func() {
		cancel()
		require.NoError(t, answer.Body.Close())
		server.Close()
	}}
	t.Cleanup(s.end)
	return s
}

// next returns the patches up to the next version, and the version.
func (s *stream) next() (all []patch, version string) {
	s.t.Helper()
	event := ""
	for s.lines.Scan() {
		name, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch {
		case name == "id":
			version = value
		case name == "event":
			event = value
		case name == "data" && event == "patch":
			var p patch
			require.NoError(s.t, json.Unmarshal([]byte(value), &p))
			all = append(all, p)
		case name == "data" && event == "version":
			return all, version
		}
	}
	require.NoError(s.t, s.lines.Err())
	require.Fail(s.t, "the stream ended")
	return nil, ""
}

func ids(all []patch) []string {
	var names []string
	for _, p := range all {
		names = append(names, p.ID)
	}
	return names
}

// A stream sends the parts that changed, whole, and the version that the reader has
// then.
func TestStream(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	running := w.runs[0]
	s := openStream(t, w, run(running.ARN)+"/live?after="+fmt.Sprint(running.Version), "")

	full := runLoop(t, "tonight", start.Add(24*time.Hour), 9)
	later, now := cutAt(full, 8)
	w.mu.Lock()
	w.runs[0], w.clock.Now = later, now
	w.mu.Unlock()
	all, version := s.next()
	require.Equal(t, fmt.Sprint(later.Version), version)
	require.Contains(t, ids(all), "part-timeline")
	require.Contains(t, ids(all), "part-events1")
	require.NotContains(t, ids(all), "state", "it runs as before")
	require.NotContains(t, ids(all), "part-data")
	for _, p := range all {
		if p.ID == "part-timeline" {
			require.Equal(t, 8, strings.Count(p.HTML, `<use href="#retry" x=`))
		}
	}

	w.mu.Lock()
	w.runs[0] = full
	w.mu.Unlock()
	all, _ = s.next()
	require.Contains(t, ids(all), "state")
	require.Contains(t, ids(all), "strategies")
}

// A reader that comes back is sent what it lacks; the tables of events that it has are
// not sent again.
func TestStreamGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := longRun(t, 2_500, 20)
	w.runs[0] = d
	for last, want := range map[string][]string{"": {"part-events1", "part-events2", "part-events3"}, "1500": {"part-events2", "part-events3"}} {
		all, version := openStream(t, w, run(d.ARN)+"/live", last).next()
		require.Equal(t, fmt.Sprint(d.Version), version)
		var tables []string
		for _, p := range all {
			if p.In == "events" {
				tables = append(tables, p.ID)
			}
		}
		require.Equal(t, want, tables)
	}
}

// The page of an execution that has ended costs nothing but the time: that of a redrive
// is drawn again.
func TestStreamOfAnEndedRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ended := w.runs[1]
	s := openStream(t, w, run(ended.ARN)+"/live", "")
	all, _ := s.next()
	require.Contains(t, ids(all), "part-timeline")
	w.mu.Lock()
	read := w.read
	w.clock.Now = w.clock.Now.Add(time.Hour)
	w.mu.Unlock()
	all, version := s.next()
	require.Equal(t, []string{"clock"}, ids(all))
	require.Equal(t, fmt.Sprint(ended.Version), version)
	w.mu.Lock()
	require.Equal(t, read, w.read)
	redriven := *ended
	redriven.Status, redriven.Version = history.StatusRunning, ended.Version+1
	w.runs[1] = &redriven
	w.mu.Unlock()
	all, _ = s.next()
	require.Contains(t, ids(all), "state")
}

// A list that comes back has a new list, whatever it had.
func TestListGoesOn(t *testing.T) {
	t.Parallel()
	for _, last := range []string{"", "0", "1", "7"} {
		all, version := openStream(t, newWorld(t), "live", last).next()
		require.Equal(t, []string{"clock", "list"}, ids(all))
		require.NotEqual(t, last, version)
	}
}

// A list reads so many events at once, those of child executions too.
func TestListReadsNotTooMuch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := *w.runs[1]
	e := *one.History
	child := *one.History
	child.Events = make([]history.Event, 9_990)
	e.Children = []*history.Execution{&child}
	w.runs = nil
	for i := range 40 {
		d := one
		d.ARN, d.History = fmt.Sprint(one.ARN, i), &e
		w.runs = append(w.runs, &d)
	}
	get(t, newPage(w), "")
	require.Equal(t, 10, w.read)
}

// longRun is a run of so many events that polls on.
func longRun(t testing.TB, events, size int) *page.Detail {
	t.Helper()
	e := &history.Execution{Title: "long", Status: history.StatusRunning, Start: start, ARN: prefix + "execution:nightly:long"}
	m, err := asl.Parse([]byte(loop))
	require.NoError(t, err)
	e.Machine = m
	at := start
	add := func(kind string, event history.Event) {
		event.ID, event.Previous, event.Type, event.Time = int64(len(e.Events)+1), int64(len(e.Events)), kind, at
		event.Index, event.Length = -1, -1
		e.Events = append(e.Events, event)
	}
	add("ExecutionStarted", history.Event{})
	filler := strings.Repeat("x", size)
	for turn := 0; len(e.Events) < events; turn++ {
		data := fmt.Sprintf(`{"turn": %d, "filler": %q}`, turn, filler)
		add("WaitStateEntered", history.Event{Name: "Wait", Input: data})
		at = at.Add(10 * time.Second)
		add("WaitStateExited", history.Event{Name: "Wait", Output: data})
		add("TaskStateEntered", history.Event{Name: "Get", Input: data})
		add("TaskScheduled", history.Event{ResourceType: "aws-sdk:dynamodb", Resource: "describeExport", Parameters: `{"ExportArn":"e"}`})
		at = at.Add(time.Second)
		add("TaskSucceeded", history.Event{Output: `{"ExportDescription":{"ExportStatus":"IN_PROGRESS"}}`})
		add("TaskStateExited", history.Event{Name: "Get", Output: `{"status": "IN_PROGRESS"}`, Assigned: map[string]string{"polls": fmt.Sprint(turn)}})
		add("ChoiceStateEntered", history.Event{Name: "Done?", Input: `{"status": "IN_PROGRESS"}`})
		add("ChoiceStateExited", history.Event{Name: "Done?", Output: `{"status": "IN_PROGRESS"}`})
	}
	e.Events = e.Events[:events]
	e.Stop = at
	return &page.Detail{
		Run:     page.Run{ARN: e.ARN, Name: "long", Machine: "nightly", MachineARN: machine, Status: e.Status, Start: e.Start},
		History: e, Definition: loop, Version: int64(len(e.Events)),
	}
}

// A run of 25,000 events has a page of a size that a browser takes, with every event
// and a mark for each poll, whatever its data are.
func TestLongRun(t *testing.T) {
	t.Parallel()
	for _, size := range []int{20, asl.MaxPayloadBytes / 64} {
		w := newWorld(t)
		d := longRun(t, asl.MaxEvents, size)
		w.runs[0], w.clock.Now = d, d.History.Stop
		_, text := get(t, newPage(w), run(d.ARN))
		require.Less(t, len(text), 5<<20)
		require.Equal(t, asl.MaxEvents, strings.Count(text, "<tr id=e"))
		require.Equal(t, asl.MaxEvents/8, strings.Count(text, `<use href="#retry" x=`))
	}
}

// A page of a list of many runs is bounded, and says how many there are.
func TestManyRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := w.runs[len(w.runs)-1]
	for len(w.runs) < 100_000 {
		w.runs = append(w.runs, one)
	}
	p := newPage(w)
	_, text := get(t, p, "?skip=99950")
	require.Contains(t, text, "99951 to 100000 of 100000, newest first")
	require.Less(t, len(text), 100<<10)
	_, text = get(t, p, "?search=TONIGHT")
	require.Contains(t, text, "1 to 1 of 1, newest first")
	_, text = get(t, p, "?status=FAILED")
	require.Contains(t, text, "No execution matches.")
}

// BenchmarkPage compares the page of 25,000 events with the lines of the same history:
// how many times as long it takes to make.
func BenchmarkPage(b *testing.B) {
	w := &fakeWorld{machines: []page.Machine{{ARN: machine, Name: "nightly", Definition: loop}}}
	d := longRun(b, asl.MaxEvents, 20)
	w.runs, w.clock.Now = []*page.Detail{d}, d.History.Stop
	p := newPage(w)
	plain := time.Duration(0)
	for b.Loop() {
		begun := time.Now()
		_, err := json.Marshal(d.History.Events) //nolint:musttag // any JSON of that size
		plain += time.Since(begun)
		require.NoError(b, err)
		p.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(b.Context(), http.MethodGet, path+run(d.ARN), nil))
	}
	b.ReportMetric(float64(b.Elapsed())/float64(plain)-1, "times-JSON")
}
