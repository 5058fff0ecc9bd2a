package localrun

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// HistoryFile is where the history of a run of a name is kept, for a redrive.
func (o *Options) HistoryFile() string {
	return filepath.Join(o.Records.Data, "runs", o.Name+".json")
}

// execute runs the machine, or goes on with the run of the name before. An error that
// ends the run on its way comes with the result so far.
func (o *Options) execute(ctx context.Context, m *source.Machine, input []byte, options sim.Options) (*sim.Result, error) {
	if !o.Redrive {
		return sim.Run(ctx, m.StateMachine, input, options)
	}
	failed, err := o.replay(ctx, m, options)
	if err != nil {
		return nil, err
	}
	result, err := sim.Redrive(ctx, m.StateMachine, failed, options)
	if result == nil {
		return nil, kit.Usage("--redrive: %w", err)
	}
	return result, err
}

// keepHistory keeps the history of a run where there is a folder for it.
func (o *Options) keepHistory(result *sim.Result) error {
	if o.Records.Data == "" || !o.Named {
		return nil
	}
	text := sim.AppendHistory(nil, result.Events, sim.EventFormat{})
	if err := os.MkdirAll(filepath.Dir(o.HistoryFile()), 0o700); err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	// A run that is killed here leaves the whole history, or the one before.
	written := o.HistoryFile() + ".new"
	if err := kit.WriteFile("data", written, text); err != nil {
		return err
	}
	if err := os.Rename(written, o.HistoryFile()); err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	return nil
}

// readRun reads the run before.
func (o *Options) readRun() (*history.Execution, error) {
	info, err := os.Stat(o.HistoryFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil, kit.Usage("--redrive: %s keeps no run %q that ended", o.Records.Data, o.Name)
	}
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file: remove it, and run again without --redrive", o.HistoryFile()) // reading it might never end
	}
	if err != nil {
		return nil, kit.Usage("--redrive: %w", err)
	}
	text, err := os.ReadFile(o.HistoryFile())
	if err != nil {
		return nil, kit.Usage("--redrive: %w", err)
	}
	before, err := history.Read(text)
	if err == nil && before.Events[0].Type != string(sim.ExecutionStarted) {
		err = fmt.Errorf("the history begins with %s, expected %s: the file is damaged", before.Events[0].Type, sim.ExecutionStarted)
	}
	if err != nil {
		return nil, kit.Usage("--redrive: %s: %w", o.HistoryFile(), err)
	}
	return before, nil
}

// NewClock is the clock of the run. A virtual one goes on where the run before
// stopped.
func (o *Options) NewClock() (*sim.Clock, error) {
	switch {
	case !o.Virtual:
		return sim.NewRealClock(), nil
	case !o.Redrive:
		return sim.NewVirtualClock(sim.DefaultStart()), nil
	}
	before, err := o.readRun()
	if err != nil {
		return nil, err
	}
	return sim.NewVirtualClock(before.Stop), nil
}

// replay brings the run before back as its history tells it: in virtual time, with the
// recorded answers at their times.
func (o *Options) replay(ctx context.Context, m *source.Machine, options sim.Options) (*sim.Result, error) {
	before, err := o.readRun()
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(before.Events, func(e history.Event) bool { return e.Type == string(sim.MapRunStarted) }) {
		return nil, kit.Usage("--redrive: the run before entered a distributed Map, and the history that is kept has no child executions: " +
			"run it again without --redrive")
	}
	r := newRecording(before)
	options.Handlers, options.StateHandlers, options.OnEvent, options.OnWait = maps.Clone(options.Handlers), nil, nil, nil
	for s := range m.All {
		if s.Task != nil {
			if options.Handlers == nil {
				options.Handlers = map[string]sim.Handler{}
			}
			options.Handlers[s.Task.Resource] = r.answer
		}
	}
	var result *sim.Result
	for i, part := range r.parts {
		options.Clock = sim.NewVirtualClock(part[0].Time)
		r.clock = options.Clock
		partly, cancel := context.WithCancel(ctx)
		r.cancel = cancel
		options.OnEvent = nil
		if end := part[len(part)-1]; end.Type == string(sim.ExecutionAborted) {
			options.OnEvent = abortAfter(options.Clock, end.Time.Sub(part[0].Time), len(part)-1, cancel)
		}
		if i == 0 {
			result, err = sim.Run(partly, m.StateMachine, []byte(before.Input), options)
		} else {
			result, err = sim.Redrive(partly, m.StateMachine, result, options)
		}
		cancel()
		if err != nil {
			return nil, kit.Usage("--redrive: the run before cannot be brought back: %w", err)
		}
	}
	return result, r.compare(result)
}

// abortAfter ends a run when a time has passed, and not before so many events: several
// may have the time of the end.
func abortAfter(clock *sim.Clock, after time.Duration, events int, cancel func()) func(sim.Event) {
	seen, due := 0, false
	try := func() {
		if due && seen >= events {
			cancel()
		}
	}
	clock.AfterFunc(after, func() { due = true; try() })
	return func(sim.Event) { seen++; try() }
}

// recording is the history of a run, with what its Tasks were answered.
type recording struct {
	parts  [][]history.Event          // between redrives
	calls  map[string][]history.Event // how the calls of each state ended, in order; without a type if they did not
	submit map[int64]string           // what requests were answered, by the number of the event that ended the call
	clock  *sim.Clock
	cancel func()
}

func newRecording(e *history.Execution) *recording {
	r := &recording{calls: map[string][]history.Event{}, submit: map[int64]string{}}
	states := map[int64]string{} // by event
	ends := map[int64]int64{}    // of a call by the event that scheduled it
	scheduled := map[int64]int64{}
	submitted := map[int64]string{}
	begin := 0
	for i, event := range e.Events {
		states[event.ID] = states[event.Previous]
		if strings.HasSuffix(event.Type, "StateEntered") {
			states[event.ID] = event.Name
		}
		switch {
		case event.Type == string(sim.ExecutionRedriven):
			r.parts = append(r.parts, e.Events[begin:i])
			begin = i
		case strings.HasSuffix(event.Type, "Scheduled"):
			scheduled[event.ID] = event.ID
		case scheduled[event.Previous] != 0:
			call := scheduled[event.Previous]
			scheduled[event.ID] = call
			if event.Type == string(sim.TaskSubmitted) {
				submitted[call] = event.Output
			} else if !strings.HasSuffix(event.Type, "Started") {
				ends[call] = event.ID
				delete(scheduled, event.ID)
			}
		}
	}
	r.parts = append(r.parts, e.Events[begin:])
	byID := map[int64]history.Event{}
	for _, event := range e.Events {
		byID[event.ID] = event
	}
	for _, event := range e.Events {
		if strings.HasSuffix(event.Type, "Scheduled") {
			end := byID[ends[event.ID]] // the zero event for a call that had not ended
			r.calls[states[event.ID]] = append(r.calls[states[event.ID]], end)
			r.submit[end.ID] = submitted[event.ID]
		}
	}
	return r
}

// answer answers a call as it was answered.
func (r *recording) answer(_ context.Context, call sim.Call) (sim.Reply, error) {
	left := r.calls[call.State]
	if len(left) == 0 {
		return sim.Reply{}, fmt.Errorf("state %q: the history has no such call", call.State)
	}
	end := left[0]
	r.calls[call.State] = left[1:]
	submitted, err := decodeText(r.submit[end.ID])
	if err != nil {
		return sim.Reply{}, err
	}
	latency := max(0, end.Time.Sub(r.clock.Now()))
	switch {
	case end.Type == "": // the run was interrupted
		r.cancel()
		return sim.Reply{Never: true, Submitted: submitted}, nil
	case strings.HasSuffix(end.Type, "TimedOut"), strings.HasSuffix(end.Type, "Failed"):
		return sim.Reply{}, &sim.TaskError{Name: end.Error, Cause: end.Cause, Latency: latency, Submitted: submitted}
	}
	output, err := decodeText(end.Output)
	return sim.Reply{Output: output, Latency: latency, Submitted: submitted}, err
}

// decodeText decodes JSON text, with the digits of its numbers.
func decodeText(text string) (value any, err error) {
	if text == "" {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	return value, d.Decode(&value)
}

// compare refuses a run that did not go as its history says: the definition has
// changed since.
func (r *recording) compare(result *sim.Result) error {
	var recorded []history.Event
	for _, part := range r.parts {
		recorded = append(recorded, part...)
	}
	for i, event := range recorded {
		if i >= len(result.Events) || string(result.Events[i].Type) != event.Type || result.Events[i].Details().Name != event.Name {
			return kit.Usage("--redrive: event %d of the run before, %s %s, does not come again: the definition or the flags have changed since",
				event.ID, event.Type, event.Name)
		}
	}
	if len(result.Events) != len(recorded) {
		return kit.Usage("--redrive: the run before does not end as it did: the definition or the flags have changed since")
	}
	return nil
}

// redriveProblem is what is wrong with the flags about a redrive.
func (o *Options) redriveProblem() error {
	if o.Redrive && (o.Name == "" || o.Records.Data == "") {
		return errors.New("--redrive goes on with a run that --name and --data have kept: pass both, as in " +
			"jobpoller run poller.asl.json --name nightly --data runs --redrive")
	}
	return nil
}
