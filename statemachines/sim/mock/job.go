package mock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Job simulates an asynchronous job of a service, so that a poll loop needs no
// script: it runs for a time on the clock of the run and then has its final
// status. Start, Describe and Stop are the handlers of its three calls. If
// nothing starts it, it starts with the first call of Describe, under whatever
// id is asked for. It is safe for concurrent use once it is in use.
type Job struct {
	// Runs is how long the job runs.
	Runs time.Duration
	// Answer is what the calls answer, as JSON values; nil for an empty object.
	// The status and the id are put into it.
	Answer map[string]any
	// Status is the path of the status in the answer, such as
	// "ExportDescription.ExportStatus".
	Status string
	// Running and Ends are the status while the job runs and after; Stopped is
	// that of a job that was stopped, Ends if it is empty.
	Running, Ends, Stopped string
	// ID is the path of the job's id in the answer, and IDArgument the name of the
	// argument of Describe and Stop that it comes back in; the last part of ID
	// if it is empty. Without an ID there is one job at a time.
	ID, IDArgument string

	mu      sync.Mutex
	runs    map[string]*jobRun
	last    string // id of the job started last
	started int    // jobs that Start started
}

// jobRun is a job that was started.
type jobRun struct {
	started, stopped time.Time
}

// Check tells what is wrong with the description of the job.
func (j *Job) Check() error {
	var problems []error
	report := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if j.Runs < 0 {
		report("a job cannot run for %v", j.Runs)
	}
	if j.Status == "" {
		report("a job needs the path of its status")
	}
	if j.Running == "" || j.Ends == "" {
		report("a job needs the status while it runs and the one that it ends with")
	}
	for _, path := range []string{j.Status, j.ID} {
		if path != "" && slices.Contains(strings.Split(path, "."), "") {
			report("path %q: expected names with dots between them", path)
		}
	}
	return errors.Join(problems...)
}

// Start is the handler of the call that starts the job. Its answer is that of
// Describe.
func (j *Job) Start(_ context.Context, call sim.Call) (sim.Reply, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.started++
	id := "job-" + strconv.Itoa(j.started)
	return j.answer(id, j.begin(id, call.Time), call.Time), nil
}

// Describe is the handler of the call that tells how the job is.
func (j *Job) Describe(_ context.Context, call sim.Call) (sim.Reply, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	id, run, err := j.find(call)
	if err != nil {
		return sim.Reply{}, err
	}
	return j.answer(id, run, call.Time), nil
}

// Stop is the handler of the call that stops the job.
func (j *Job) Stop(_ context.Context, call sim.Call) (sim.Reply, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	id, run, err := j.find(call)
	if err != nil {
		return sim.Reply{}, err
	}
	if run.stopped.IsZero() && call.Time.Sub(run.started) < j.Runs {
		run.stopped = call.Time
	}
	return j.answer(id, run, call.Time), nil
}

// Started returns how many jobs were started, by Start or by Describe.
func (j *Job) Started() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.runs)
}

func (j *Job) begin(id string, now time.Time) *jobRun {
	if j.runs == nil {
		j.runs = map[string]*jobRun{}
	}
	run := &jobRun{started: now}
	j.runs[id], j.last = run, id
	return run
}

// find returns the job that a call is about.
func (j *Job) find(call sim.Call) (string, *jobRun, error) {
	id, err := j.idOf(call)
	if err != nil {
		return "", nil, err
	}
	run := j.runs[id]
	switch {
	case run != nil:
		return id, run, nil
	case j.started > 0:
		return "", nil, notFound(call, id)
	default:
		return id, j.begin(id, call.Time), nil
	}
}

// idOf is the id in the arguments of a call.
func (j *Job) idOf(call sim.Call) (string, error) {
	if j.ID == "" {
		return j.last, nil
	}
	name := j.IDArgument
	if name == "" {
		name = j.ID[strings.LastIndexByte(j.ID, '.')+1:]
	}
	arguments, _ := call.Arguments.(map[string]any)
	switch id := arguments[name].(type) {
	case string:
		return id, nil
	case json.Number:
		return string(id), nil
	default:
		return "", fmt.Errorf("state %q: %s needs the argument %q, the id of the job; it has %s",
			call.State, call.Resource, name, strings.Join(slices.Sorted(maps.Keys(arguments)), ", "))
	}
}

// notFound is how a service says that it knows no job of that id.
func notFound(call sim.Call, id string) error {
	prefix := asl.ParseResource(call.Resource).ErrorPrefix()
	if prefix == "" {
		return fmt.Errorf("state %q: %s: no job %q was started", call.State, call.Resource, id)
	}
	return &sim.TaskError{
		Name: prefix + ".ResourceNotFoundException", Cause: fmt.Sprintf("There is no job %s (Service: %s, Status Code: 400)", id, prefix),
	}
}

// answer is what the service says of the job at a time.
func (j *Job) answer(id string, run *jobRun, now time.Time) sim.Reply {
	status := j.Running
	switch {
	case !run.stopped.IsZero():
		if status = j.Stopped; status == "" {
			status = j.Ends
		}
	case now.Sub(run.started) >= j.Runs:
		status = j.Ends
	}
	answer := with(j.Answer, j.Status, status)
	if j.ID != "" {
		answer = with(answer, j.ID, id)
	}
	return sim.Reply{Output: answer}
}

// with returns a copy of the object with the text at the path.
func with(object map[string]any, path, text string) map[string]any {
	out := maps.Clone(object)
	if out == nil {
		out = map[string]any{}
	}
	name, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		out[name] = text
		return out
	}
	inner, _ := out[name].(map[string]any)
	out[name] = with(inner, rest, text)
	return out
}
