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

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Job simulates an asynchronous job of a service, so that a poll loop needs no
// script: it runs for a time on the clock of the run and then has its final
// status. Start, Describe and Stop are the handlers of its three calls. If
// nothing starts it, it starts with the first call of Describe, under whatever
// id is asked for. It is safe for concurrent use once it is in use.
//
// Paths are names with dots between them and indices: "Tasks[0].LastStatus".
type Job struct {
	// Runs is how long the job runs.
	Runs time.Duration
	// Answer is what Describe and Stop answer; nil for an empty object. The
	// status and the id are put into it.
	Answer map[string]any
	// Status is the path of the status in the answer, such as
	// "ExportDescription.ExportStatus".
	Status string
	// Running and Ends are the status while the job runs and after; Stopped is
	// that of a job that was stopped, Ends if it is empty.
	Running, Ends, Stopped string
	// ID is the path of the job's id in the answer, and IDArgument the path of
	// the id in the arguments of Describe and Stop; the last name of ID, or else
	// of StartID, if it is empty. Without ID and StartID there is one job at a
	// time.
	ID, IDArgument string
	// StartAnswer is what Start answers, and StartID the path of the id in it:
	// Glue's StartJobRun answers with {"JobRunId": id}. Without both Start
	// answers as Describe does.
	StartAnswer map[string]any
	StartID     string
	// NotFound is the name of the error of a call that asks for an id that was
	// not started. If it is empty, it is what the service fails with; for a
	// service of which that is not known such a call ends the run.
	NotFound string

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
	for _, text := range []string{j.Status, j.ID, j.IDArgument, j.StartID} {
		if text == "" {
			continue
		}
		if _, err := parsePath(text); err != nil {
			problems = append(problems, err)
		}
	}
	if len(problems) == 0 {
		problems = append(problems, j.checkAnswers())
	}
	return errors.Join(problems...)
}

// Start is the handler of the call that starts the job.
func (j *Job) Start(_ context.Context, call sim.Call) (sim.Reply, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.started++
	id := "job-" + strconv.Itoa(j.started)
	run := j.begin(id, call.Time)
	if j.StartAnswer == nil && j.StartID == "" {
		return j.answer(id, run, call.Time)
	}
	output, err := fill(j.StartAnswer, put{j.StartID, id})
	return sim.Reply{Output: output}, err
}

// Describe is the handler of the call that tells how the job is.
func (j *Job) Describe(_ context.Context, call sim.Call) (sim.Reply, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	id, run, err := j.find(call)
	if err != nil {
		return sim.Reply{}, err
	}
	return j.answer(id, run, call.Time)
}

// Stop is the handler of the call that stops the job. A job that has ended
// stays as it is.
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
	return j.answer(id, run, call.Time)
}

// Starts returns how many jobs were started, by Start or by Describe.
func (j *Job) Starts() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.runs)
}

// Reset forgets the jobs that were started, for a run on a new clock.
func (j *Job) Reset() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.runs, j.last, j.started = nil, "", 0
}

// checkAnswers tells whether the status and the id fit into the answers.
func (j *Job) checkAnswers() error {
	if j.hasIDs() && j.idArgument() == "" {
		return errors.New("a job with an id needs the name of the argument that the id comes back in")
	}
	const id = "id"
	answer, err := fill(j.Answer, put{j.Status, j.Running}, put{j.ID, id})
	if err != nil {
		return err
	}
	if status, _ := parsePath(j.Status); status.get(answer) != j.Running {
		return fmt.Errorf("the id at %q takes the place of the status at %q", j.ID, j.Status)
	}
	_, err = fill(j.StartAnswer, put{j.StartID, id})
	return err
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
		return "", nil, noSuchJob(call, id, j.NotFound)
	default:
		return id, j.begin(id, call.Time), nil
	}
}

func (j *Job) hasIDs() bool { return j.ID != "" || j.StartID != "" }

// idArgument is the path of the id in the arguments.
func (j *Job) idArgument() string {
	if j.IDArgument != "" {
		return j.IDArgument
	}
	for _, text := range []string{j.ID, j.StartID} {
		if p, err := parsePath(text); err == nil && text != "" {
			return p.last()
		}
	}
	return ""
}

// idOf is the id in the arguments of a call.
func (j *Job) idOf(call sim.Call) (string, error) {
	if !j.hasIDs() {
		return j.last, nil
	}
	p, err := parsePath(j.idArgument())
	if err != nil {
		return "", err
	}
	switch id := p.get(call.Arguments).(type) {
	case string:
		return id, nil
	case json.Number:
		return string(id), nil
	default:
		arguments, _ := call.Arguments.(map[string]any)
		return "", fmt.Errorf("state %q: %s needs the argument %q, the id of the job; its arguments are: %s",
			call.State, call.Resource, j.idArgument(), strings.Join(slices.Sorted(maps.Keys(arguments)), ", "))
	}
}

// answer is what the service says of the job at a time.
func (j *Job) answer(id string, run *jobRun, now time.Time) (sim.Reply, error) {
	status := j.Running
	switch {
	case !run.stopped.IsZero():
		if status = j.Stopped; status == "" {
			status = j.Ends
		}
	case now.Sub(run.started) >= j.Runs:
		status = j.Ends
	}
	output, err := fill(j.Answer, put{j.Status, status}, put{j.ID, id})
	return sim.Reply{Output: output}, err
}

// put is a text for a place in an answer; nothing if the path is empty.
type put struct{ path, text string }

// fill returns a copy of an answer with texts put in.
func fill(answer map[string]any, puts ...put) (any, error) {
	value, err := copyOf(answer)
	for _, at := range puts {
		if err != nil || at.path == "" {
			continue
		}
		var p path
		if p, err = parsePath(at.path); err == nil {
			value, err = p.set(value, at.text)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the answer of a job: %w", err)
	}
	if value == nil {
		value = map[string]any{}
	}
	return value, nil
}
