package page_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/server/page"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// fakeWorld shows runs that stand still, and notes what it is asked to do.
type fakeWorld struct {
	mu       sync.Mutex
	clock    page.Clock
	runs     []*page.Detail // newest first
	machines []page.Machine
	done     []string
	answers  map[string]json.RawMessage // of the API, by operation
	read     int                        // times an execution was read
}

func (w *fakeWorld) Runs(yield func(page.Run) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.runs {
		if !yield(d.Run) {
			return
		}
	}
}

func (w *fakeWorld) Run(arn string) (*page.Detail, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.read++
	i := slices.IndexFunc(w.runs, func(d *page.Detail) bool { return d.ARN == arn })
	if i < 0 {
		return nil, false
	}
	return w.runs[i], true
}

func (w *fakeWorld) Version(arn string) (int64, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.runs, func(d *page.Detail) bool { return d.ARN == arn })
	if i < 0 {
		return 0, false
	}
	return w.runs[i].Version, true
}

func (w *fakeWorld) Machines() []page.Machine { return w.machines }

func (w *fakeWorld) Machine(arn string) (*page.Machine, bool) {
	i := slices.IndexFunc(w.machines, func(m page.Machine) bool { return m.ARN == arn })
	if i < 0 {
		return nil, false
	}
	return &w.machines[i], true
}

func (w *fakeWorld) Clock() page.Clock {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clock
}

func (w *fakeWorld) Steer(_ context.Context, s page.Steering) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case s.Rate != nil:
		w.note("rate %g", *s.Rate)
	case s.Next:
		w.note("next")
	default:
		w.note("advance %s", s.Advance)
	}
	return nil
}

func (w *fakeWorld) Skip(arn, state string) error {
	w.note("skip %s of %s", state, arn)
	return nil
}

func (w *fakeWorld) Call(_ context.Context, _, operation string, input any) (json.RawMessage, error) {
	text, err := json.Marshal(input)
	w.note("%s %s", operation, text)
	if w.answers[operation] == nil {
		return nil, errors.New("InvalidName: <b>no</b>")
	}
	return w.answers[operation], err
}

func (w *fakeWorld) Answer(_, state string, output json.RawMessage, errorName, cause string) error {
	w.note("answer %s %s %s %s", state, output, errorName, cause)
	return nil
}

func (w *fakeWorld) note(format string, args ...any) {
	w.done = append(w.done, fmt.Sprintf(format, args...))
}

const (
	prefix  = "arn:aws:states:us-east-1:123456789012:"
	export  = "arn:aws:states:::aws-sdk:dynamodb:describeExport"
	machine = prefix + "stateMachine:nightly"
)

// loop polls an export every 10 seconds.
const loop = `{
  "Comment": "<b>polls</b>",
  "StartAt": "Wait",
  "States": {
    "Wait": {"Type": "Wait", "Seconds": 10, "Next": "Get"},
    "Get": {"Type": "Task", "Resource": "` + export + `", "Arguments": {"ExportArn": "e"}, "Next": "Done?",
      "Output": {"status": "{% $states.result.ExportDescription.ExportStatus %}"}, "Assign": {"status": "{% $states.result.ExportDescription.ExportStatus %}"}},
    "Done?": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input.status = 'COMPLETED' %}", "Next": "Ready"}], "Default": "Wait"},
    "Ready": {"Type": "Succeed"}
  },
  "QueryLanguage": "JSONata"
}`

// answers says that the export runs, so many times.
func answers(running int) sim.Handler {
	return func(_ context.Context, call sim.Call) (sim.Reply, error) {
		status := "IN_PROGRESS"
		if running--; running < 0 {
			status = "COMPLETED"
		}
		out := map[string]any{"ExportStatus": status}
		if status == "COMPLETED" {
			out["EndTime"] = call.Time.Add(-4 * time.Second).Format(time.RFC3339)
		}
		return sim.Reply{Output: map[string]any{"ExportDescription": out}, Latency: time.Second}, nil
	}
}

// runLoop is a run whose export is seen running so many times.
func runLoop(t *testing.T, name string, start time.Time, running int) *page.Detail {
	t.Helper()
	m, err := asl.Parse([]byte(loop))
	require.NoError(t, err)
	r, err := sim.Run(t.Context(), m, []byte(`{"table": "Orders"}`), sim.Options{
		Handlers: map[string]sim.Handler{export: answers(running)}, Clock: sim.NewVirtualClock(start),
	})
	require.NoError(t, err)
	e := history.FromRun(m, r)
	e.Identify(prefix + "execution:nightly:" + name)
	return &page.Detail{
		Run:     page.Run{ARN: e.ARN, Name: name, Machine: "nightly", MachineARN: machine, Status: e.Status, Start: e.Start, Stop: e.Stop},
		History: e, Definition: loop, Version: int64(len(e.Events)),
	}
}

// cutAt makes a run that is in the wait after so many polls.
func cutAt(d *page.Detail, polls int) (running *page.Detail, now time.Time) {
	e := *d.History
	n := 0
	for i := range e.Events {
		if e.Events[i].Type == "WaitStateEntered" {
			if n++; n > polls {
				e.Events = e.Events[:i+1]
				break
			}
		}
	}
	entered := e.Events[len(e.Events)-1]
	now = entered.Time.Add(3 * time.Second)
	e.Status, e.Stop, e.Output, e.Edges, e.Transitions = history.StatusRunning, now, "", nil, 1+3*polls
	out := *d
	out.History, out.Version, out.Status, out.Stop = &e, int64(len(e.Events)), e.Status, time.Time{}
	out.Places = []page.Place{{
		State: "Wait", Type: asl.TypeWait, Entered: entered.Time, Until: entered.Time.Add(10 * time.Second), Input: entered.Input, Variables: `{"status":"IN_PROGRESS"}`,
	}}
	return &out, now
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// newWorld has one run that polls, and a night of runs before it.
func newWorld(t *testing.T) *fakeWorld {
	t.Helper()
	w := &fakeWorld{
		machines: []page.Machine{{ARN: machine, Name: "nightly", Definition: loop, Created: start}},
		answers: map[string]json.RawMessage{
			"StartExecution": json.RawMessage(`{"executionArn": "` + prefix + `execution:nightly:new"}`), "StopExecution": json.RawMessage(`{}`),
			"RedriveExecution": json.RawMessage(`{}`), "SendTaskSuccess": json.RawMessage(`{}`), "SendTaskFailure": json.RawMessage(`{}`), "SendTaskHeartbeat": json.RawMessage(`{}`),
			"TestState":                json.RawMessage(`{"status": "SUCCEEDED", "output": "{\"a\": 1}"}`),
			"ListStateMachineVersions": json.RawMessage(`{"stateMachineVersions": [{"stateMachineVersionArn": "` + machine + `:2", "creationDate": 1767225600}]}`),
		},
	}
	for i := range 8 {
		w.runs = append(w.runs, runLoop(t, fmt.Sprintf("night-%d", i), start.Add(time.Duration(i)*time.Hour), 3+i*7%5))
	}
	running, now := cutAt(runLoop(t, "tonight", start.Add(24*time.Hour), 9), 6)
	w.runs = append(w.runs, running)
	slices.Reverse(w.runs)
	w.clock = page.Clock{Now: now, Next: running.Places[0].Until, Rate: 1}
	return w
}
