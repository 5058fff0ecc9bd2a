package control_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/server/control"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

var start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// endpoint is a control endpoint of a world whose clock stands.
type endpoint struct {
	t     *testing.T
	world *sim.World
	ring  *control.Ring
	url   string
	named map[string][]string
	lost  atomic.Int64
}

func newEndpoint(t *testing.T) *endpoint {
	t.Helper()
	clock, err := sim.NewClock(start, 0)
	require.NoError(t, err)
	e := &endpoint{t: t, ring: control.NewRing(), named: map[string][]string{}}
	e.world = sim.NewWorld(sim.WorldOptions{Clock: clock, OnEvent: func(x *sim.Execution, event *sim.Event) { e.ring.Add(x.ARN(), event.ID) }})
	server := httptest.NewServer(control.New("/_jobpoller/", control.Options{
		World: e.world, Clock: control.NewClock(clock), Ring: e.ring, Version: "v1", Operations: 37,
		Find:    func(name string) []string { return e.named[name] },
		Dropped: func() int { return 3 },
		Lost:    func(events int64) { e.lost.Add(events) },
	}))
	t.Cleanup(func() {
		e.ring.Close()
		server.Close()
		e.world.Close()
	})
	e.url = server.URL + "/_jobpoller/"
	return e
}

func (e *endpoint) start(name string) *sim.Execution {
	e.t.Helper()
	m, err := asl.Parse([]byte(hourly))
	require.NoError(e.t, err)
	x, err := e.world.Start(m, []byte("{}"), sim.Options{Execution: name})
	require.NoError(e.t, err)
	e.named[name] = append(e.named[name], x.ARN())
	return x
}

// send sends JSON, or asks where there is none.
func (e *endpoint) send(path, body string) (status int, answer map[string]any) {
	e.t.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	r, err := http.NewRequestWithContext(e.t.Context(), method, e.url+path, strings.NewReader(body))
	require.NoError(e.t, err)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	require.NoError(e.t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(e.t, err)
	require.NoError(e.t, response.Body.Close())
	require.Equal(e.t, "application/json", response.Header.Get("Content-Type"), "%s", text)
	require.NoError(e.t, json.Unmarshal(text, &answer))
	return response.StatusCode, answer
}

const hourly = `{"StartAt": "Hour", "States": {"Hour": {"Type": "Wait", "Seconds": 3600, "Next": "Day"}, "Day": {"Type": "Wait", "Seconds": 86400, "End": true}}}`

// A client steps through a day of waits.
func TestClock(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	x := e.start("run")
	status, state := e.send("clock", `{"advance": "59m"}`)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, map[string]any{
		"now": "2026-01-01T00:59:00Z", "mode": "manual", "factor": 0.0, "nextEvent": "2026-01-01T01:00:00Z", "calls": 0.0, "tokens": 0.0,
	}, state)
	_, state = e.send("clock", `{"nextEvent": true}`)
	require.Equal(t, "2026-01-01T01:00:00Z", state["now"])
	require.Equal(t, "2026-01-02T01:00:00Z", state["nextEvent"])
	_, state = e.send("clock", `{"to": "2026-01-02T02:00:00Z"}`)
	require.Equal(t, "2026-01-02T02:00:00Z", state["now"])
	require.Nil(t, state["nextEvent"])
	require.Equal(t, sim.StatusSucceeded, x.Status())

	status, state = e.send("clock", `{"nextEvent": true}`)
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, state["error"], "no timer waits")
	for _, step := range []struct{ change, mode string }{
		{`{"pause": false}`, "real"},
		{`{"factor": 60}`, "x60"},
		{`{"pause": true}`, "manual"},
		{`{"pause": true}`, "manual"},
		{`{"pause": false}`, "x60"},
		{`{"virtual": true}`, "virtual"},
		{`{"pause": true}`, "manual"},
		{`{"pause": false}`, "virtual"},
		{`{"factor": 0}`, "manual"},
	} {
		status, state = e.send("clock", step.change)
		require.Equal(t, http.StatusOK, status, "%s: %v", step.change, state)
		require.Equal(t, step.mode, state["mode"], step.change)
	}
	_, state = e.send("clock", "")
	require.Equal(t, "manual", state["mode"])
}

func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	for body, want := range map[string]string{
		`{}`:                                    "expected one of advance",
		`{"advance": "1m", "nextEvent": true}`:  "found 2",
		`{"advance": "soon"}`:                   "expected a time span such as",
		`{"advance": "-1m"}`:                    "expected a time span such as",
		`{"advance": "99999999d"}`:              "expected a time span such as",
		`{"advance": "999999999h"}`:             "expected a time span such as",
		`{"to": "2025-01-01T00:00:00Z"}`:        "the clock is past that",
		`{"to": "9999-01-01T00:00:00Z"}`:        "at most 36500 days",
		`{"to": "tomorrow"}`:                    "expected a JSON object",
		`{"factor": -1}`:                        "factor",
		`{"factor": 1e999}`:                     "expected a JSON object",
		`{"advanse": "1m"}`:                     `unknown member "advanse" (did you mean "advance"?); expected advance, to, nextEvent`,
		`{"Advance": "1m"}`:                     `unknown member "Advance"`,
		`{"nextEvent": true} {}`:                "after top-level value",
		`[]`:                                    "expected a JSON object",
		`{"to": "` + strings.Repeat("x", 1<<20): "expected a JSON object",
	} {
		status, answer := e.send("clock", body)
		require.Equal(t, http.StatusBadRequest, status, "%.40s: %v", body, answer)
		require.Contains(t, answer["error"], want, body)
	}
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.url+"clock", strings.NewReader(`{"nextEvent": true}`))
		require.NoError(t, err)
		r.Header.Set("Content-Type", kind)
		response, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusUnsupportedMediaType, response.StatusCode, kind)
	}
}

func TestSkip(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	x := e.start("run")
	_, state := e.send("clock", `{"advance": "1s"}`)
	require.Equal(t, "2026-01-01T01:00:00Z", state["nextEvent"])
	status, answer := e.send("executions/run/skip", `{"state": "Day"}`)
	require.Equal(t, http.StatusConflict, status, answer)
	status, answer = e.send("executions/run/skip", `{"state": "Hour"}`)
	require.Equal(t, http.StatusOK, status, answer)
	require.Equal(t, x.ARN(), answer["executionArn"])
	_, state = e.send("clock", `{"advance": "1s"}`)
	require.Equal(t, "2026-01-02T00:00:01Z", state["nextEvent"])
	status, _ = e.send("executions/"+x.ARN()+"/skip", `{}`)
	require.Equal(t, http.StatusOK, status)
	_, _ = e.send("clock", `{"advance": "1s"}`)
	require.Equal(t, sim.StatusSucceeded, x.Status())
	x = e.start("again")
	_, _ = e.send("clock", `{"advance": "1s"}`)
	response, err := http.Post(e.url+"executions/"+x.ARN()+"/skip", "", nil)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)

	for path, want := range map[string]int{
		"executions/nobody/skip": 404, "executions/arn:aws:states:us-east-1:123456789012:execution:a:b/skip": 404, "executions/run": 404, "executions/run/skip": 409,
	} {
		status, answer := e.send(path, `{}`)
		require.Equal(t, want, status, "%s: %v", path, answer)
		require.NotEmpty(t, answer["error"])
	}
	e.named["run"] = append(e.named["run"], x.ARN())
	_, answer = e.send("executions/run/skip", `{}`)
	require.Contains(t, answer["error"], "2 executions have the name")
}

func TestHealth(t *testing.T) {
	t.Parallel()
	status, answer := newEndpoint(t).send("health", "")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "ok", answer["status"])
	require.Equal(t, "v1", answer["version"])
	require.InDelta(t, 37, answer["operations"], 0)
	require.InDelta(t, 3, answer["eventsDropped"], 0)
	require.Equal(t, "manual", answer["clock"].(map[string]any)["mode"])
}

// A server whose journal fails says so, and moves no clock.
func TestHealthOfAHaltedWorld(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	e.start("x")
	e.world.Halt(errors.New("the disk is full"))
	status, answer := e.send("health", "")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, "failed", answer["status"])
	require.Equal(t, "the disk is full", answer["error"])
	for path, body := range map[string]string{"clock": `{"virtual": true}`, "executions/x/skip": `{}`} {
		status, answer = e.send(path, body)
		require.Equal(t, http.StatusServiceUnavailable, status, path)
		require.Equal(t, "the server takes no changes any more: the disk is full", answer["error"], path)
	}
}

// stream reads server-sent events.
type stream struct {
	t       *testing.T
	lines   *bufio.Scanner
	release func()
}

func (e *endpoint) stream(query, last string) *stream {
	e.t.Helper()
	ctx, cancel := context.WithCancel(e.t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url+"events"+query, nil)
	require.NoError(e.t, err)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	response, err := http.DefaultClient.Do(r) //nolint:bodyclose // release does
	require.NoError(e.t, err)
	require.Equal(e.t, http.StatusOK, response.StatusCode)
	require.Equal(e.t, "text/event-stream", response.Header.Get("Content-Type"))
	s := &stream{t: e.t, lines: bufio.NewScanner(response.Body), release: func() {
		cancel()
		_ = response.Body.Close()
	}}
	e.t.Cleanup(s.release)
	return s
}

// next is the id and the type of the next event; the type is that of the message for one
// that is no event of a history.
func (s *stream) next() (id, kind string) {
	s.t.Helper()
	name := ""
	for s.lines.Scan() {
		field, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch field {
		case "id":
			id = value
		case "event":
			name = value
		case "data":
			if name != "" {
				return value, name
			}
			var body struct {
				ExecutionARN string `json:"executionArn"`
				Event        struct {
					Type string `json:"type"`
				} `json:"event"`
			}
			require.NoError(s.t, json.Unmarshal([]byte(value), &body))
			require.Contains(s.t, body.ExecutionARN, ":execution:")
			return id, body.Event.Type
		}
	}
	return "", ""
}

func TestEvents(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	e.start("before")
	_, _ = e.send("clock", `{"advance": "1s"}`) // two events
	all := e.stream("", "")
	e.start("run")
	_, _ = e.send("clock", `{"advance": "2h"}`)
	var got []string
	for range 6 { // two of the new one, and two of each
		_, kind := all.next()
		got = append(got, kind)
	}
	require.Equal(t, []string{"ExecutionStarted", "WaitStateEntered"}, got[:2])
	require.ElementsMatch(t, []string{"WaitStateExited", "WaitStateEntered", "WaitStateExited", "WaitStateEntered"}, got[2:])

	one := e.stream("?execution=run", "")
	id, kind := one.next()
	require.Equal(t, "1 ExecutionStarted", id+" "+kind)
	one = e.stream("?execution=run", "3")
	id, kind = one.next()
	require.Equal(t, "4 WaitStateEntered", id+" "+kind)
	_, _ = e.send("clock", `{"advance": "1d"}`)
	_, kind = one.next()
	require.Equal(t, "WaitStateExited", kind)

	again := e.stream("", "2")
	id, kind = again.next()
	require.Equal(t, "3 ExecutionStarted", id+" "+kind)
	elder := e.stream("", "90000") // it has followed a server that ended
	e.start("later")
	_, _ = e.send("clock", `{"advance": "1s"}`)
	_, kind = elder.next()
	require.Equal(t, "ExecutionStarted", kind)
	e.ring.Close()
	for kind != "" {
		_, kind = again.next()
	}
}

// A client that was away too long learns how much it has missed.
func TestLostEvents(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	x := e.start("run")
	_, _ = e.send("clock", `{"advance": "1s"}`)
	for range 10_000 {
		e.ring.Add(x.ARN(), 1)
	}
	s := e.stream("", "0")
	text, kind := s.next()
	require.Equal(t, "lost", kind)
	require.JSONEq(t, `{"events": 2}`, text)
	id, kind := s.next()
	require.Equal(t, "3 ExecutionStarted", id+" "+kind)
	require.EqualValues(t, 2, e.lost.Load(), "the log knows, too")
}

// A client learns of events that the Ring was not told of, and of those of executions that
// were forgotten before it came to them.
func TestForgottenEvents(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	gone, stays := e.start("gone"), e.start("stays")
	_, _ = e.send("clock", `{"advance": "1s"}`)
	_, err := gone.Stop("", "")
	require.NoError(t, err)
	require.True(t, e.world.Forget(gone.ARN()))
	e.ring.Lose(40)
	e.ring.Lose(2)
	e.ring.Add(stays.ARN(), 1)
	s := e.stream("", "0")
	lost, kept := 0, 0
	for lost+kept < 3+42+3 {
		text, kind := s.next()
		if kind != "lost" {
			kept++
			continue
		}
		var told struct {
			Events int `json:"events"`
		}
		require.NoError(t, json.Unmarshal([]byte(text), &told))
		lost += told.Events
	}
	require.Equal(t, []int{3 + 42, 3}, []int{lost, kept})
	require.EqualValues(t, lost, e.lost.Load())
}

// An execution that keeps its last events alone says how many there were before.
func TestEventsThatAreNotKept(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	m, err := asl.Parse([]byte(hourly))
	require.NoError(t, err)
	x, err := e.world.Start(m, []byte("{}"), sim.Options{Execution: "run", KeepEvents: 1})
	require.NoError(t, err)
	_, _ = e.send("clock", `{"advance": "1s"}`)
	_, err = x.Stop("", "")
	require.NoError(t, err)
	s := e.stream("?execution="+x.ARN(), "")
	text, kind := s.next()
	require.Equal(t, "lost", kind)
	require.JSONEq(t, `{"events": 2}`, text)
	id, kind := s.next()
	require.Equal(t, "3 ExecutionAborted", id+" "+kind)
}

// deadlines is an answer's writer that keeps the deadlines of its writes.
type deadlines struct {
	httptest.ResponseRecorder

	set []time.Time
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.set = append(d.set, at)
	return nil
}

// A client that reads nothing does not keep a stream for good.
func TestStreamsHaveDeadlines(t *testing.T) {
	t.Parallel()
	handler := control.New("/", control.Options{Ring: control.NewRing()})
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // after the first write
	w := &deadlines{ResponseRecorder: *httptest.NewRecorder()}
	handler.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/events", nil))
	require.Equal(t, ": events\n\n", w.Body.String())
	require.Len(t, w.set, 1)
	require.WithinDuration(t, time.Now().Add(30*time.Second), w.set[0], 10*time.Second)
}

func TestRefusedStreams(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t)
	status, answer := e.send("events?execution=nobody", "")
	require.Equal(t, http.StatusNotFound, status, answer)
	for range 64 {
		e.stream("", "")
	}
	status, answer = e.send("events", "")
	require.Equal(t, http.StatusServiceUnavailable, status, answer)
}
