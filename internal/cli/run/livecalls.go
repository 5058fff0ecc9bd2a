package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/servicetask"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// liveCalls are the calls of services and functions that a run makes. Nothing keeps
// them from a second effect if the run starts again, so those that may change
// something are kept in a file while the run lasts. A run that was killed leaves it.
type liveCalls struct {
	file string // empty: kept nowhere
	now  func() time.Time

	mu      sync.Mutex
	out     *os.File
	states  map[string]bool // that have called
	started []liveCall      // jobs that run on after their Task
	misfits map[string]bool
}

// liveCall is a call that may have changed something. It has nothing of its arguments.
type liveCall struct {
	Time  time.Time `json:"time"`
	State string    `json:"state"`
	Call  string    `json:"call"` // athena:startQueryExecution, or a function
}

func (c liveCall) String() string {
	return fmt.Sprintf("%s of %q at %s", c.Call, c.State, c.Time.Format(time.RFC3339))
}

// newLiveCalls prepares for the calls of a run. It refuses a run of a name that was
// cut off.
func newLiveCalls(o *runOptions, now func() time.Time) (*liveCalls, error) {
	c := &liveCalls{now: now, states: map[string]bool{}, misfits: map[string]bool{}}
	if o.Records.Data == "" || !o.Named || o.usesMocks() {
		return c, nil
	}
	c.file = filepath.Join(filepath.Dir(o.HistoryFile()), o.Name+".calls")
	text, err := os.ReadFile(c.file)
	if errors.Is(err, os.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, kit.Usage("--data: %w", err)
	}
	return nil, kit.Usage("the run %q of %s did not end: it was killed, or it still runs. It may have started jobs with these calls:\n%s"+
		"Look at these jobs first. To start the definition again, with new jobs, pass another --name", o.Name, o.Records.Data, terminal.Lines(listCalls(text)))
}

// listCalls shows the calls that a file keeps.
func listCalls(text []byte) string {
	const most = 10
	var b strings.Builder
	lines := slices.Collect(strings.Lines(string(text)))
	for i, line := range lines {
		var call liveCall
		if i == most {
			terminal.Fprintf(&b, "  and %d more\n", len(lines)-most)
			break
		}
		if json.Unmarshal([]byte(line), &call) == nil { // a line may be cut off: its call was not sent
			terminal.Fprintf(&b, "  %s\n", call)
		}
	}
	return b.String()
}

// of lets a handler make calls of a resource.
func (l *liveCalls) of(resource string, handler sim.Handler) (sim.Handler, error) {
	op, err := servicetask.Operation(resource)
	if err != nil {
		return nil, err
	}
	if op == nil {
		return handler, nil
	}
	name, startsJob := answers.CallName(resource), false
	if asl.ParseResource(resource).Pattern == "" { // else the Task stops its job
		entry, err := catalog.Lookup(op.Service.Key, op.Name)
		startsJob = err == nil && entry.Job != nil
	}
	return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
		made, err := l.begin(call.State, name, !op.Reads())
		if err != nil {
			return sim.Reply{}, err
		}
		reply, err := handler(ctx, call)
		if startsJob && (err == nil || ctx.Err() != nil) {
			l.mu.Lock()
			l.started = append(l.started, made)
			l.mu.Unlock()
		}
		return reply, err
	}, nil
}

// begin notes a call before it is sent.
func (l *liveCalls) begin(state, name string, changes bool) (liveCall, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	made := liveCall{l.now().UTC().Truncate(time.Second), state, name}
	if l.file != "" && changes {
		if err := l.keep(made); err != nil {
			return made, kit.WithCode(kit.ExitFailed, fmt.Errorf("--data: the call %s is not sent, for it cannot be kept: %w", made, err))
		}
	}
	l.states[state] = true
	return made, nil
}

// keep writes a call to the file, and to the disk. Another run of the name may have
// created the file since this one began: then nothing is sent.
func (l *liveCalls) keep(call liveCall) (err error) {
	if l.out == nil {
		const folderMode, mode = 0o700, 0o600
		if err := os.MkdirAll(filepath.Dir(l.file), folderMode); err != nil {
			return err
		}
		if l.out, err = os.OpenFile(l.file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode); err != nil {
			l.out = nil
			return err
		}
	}
	if err := json.NewEncoder(l.out).Encode(call); err != nil {
		return err
	}
	return l.out.Sync()
}

// end forgets the calls of a run that ended, whose history is kept.
func (l *liveCalls) end() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out == nil {
		return nil
	}
	err := errors.Join(l.out.Close(), os.Remove(l.file))
	l.out = nil
	return err
}

// breakOff is the error of a run that broke off: wrong usage only if nothing was called.
func (l *liveCalls) breakOff(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if code, ok := kit.CodeOf(err); ok && code == kit.ExitUsage && len(l.states) > 0 {
		return kit.WithCode(kit.ExitFailed, err)
	}
	return err
}

// warn tells which jobs may run on after a run that was cut off.
func (l *liveCalls) warn(out io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, call := range l.started {
		terminal.Fprintf(out, "warning: the job of %s may run on\n", call)
	}
}

// itemIndex is an index in a path.
var itemIndex = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[\d+\]`) })

// pass tells whether a result that does not fit the model came from a call: the service
// is right, and the model is old. It returns what it has not returned for another item.
func (l *liveCalls) pass(misfit *sim.ModelError) (problems []string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.states[misfit.State] {
		return nil, false
	}
	for _, problem := range misfit.Problems {
		path, _, _ := strings.Cut(problem, ": ")
		if key := misfit.Resource + " " + itemIndex().ReplaceAllString(path, ""); !l.misfits[key] {
			l.misfits[key] = true
			problems = append(problems, problem)
		}
	}
	return problems, true
}
