package mock

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
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
//
// Paths are names with dots between them and indices: "Tasks[0].LastStatus".
type Job struct {
	// Runs is how long the job runs, and Spread draws it for each job if it is not
	// zero.
	Runs   time.Duration
	Spread Spread
	// Courses are those of the jobs that a state of the name starts, where they
	// differ from Spread and Ends.
	Courses map[string]Course
	// Throttled is the share of the calls of Describe, from 0 to 1, that fail as
	// the service does when it is called too often.
	Throttled float64
	// Seed is that of all that is drawn. Config.Apply takes it from the run.
	Seed uint64
	// Answer is what Describe and Stop answer; nil for an empty object. The
	// status and the id are put into it. Answers has what is answered instead
	// while the job has a status: any value, such as a text that is the status itself.
	Answer  map[string]any
	Answers map[string]any
	// Status is the path of the status in the answer, such as
	// "ExportDescription.ExportStatus". It may be empty if Answers has every
	// status: then the statuses are names that no answer shows.
	Status string
	// StartTime and EndTime are the paths of the times at which the job started and
	// ended, in the answer; empty for none. An answer has no end before the job has
	// ended, and no item of a list for the sake of a time.
	StartTime, EndTime string
	// EpochTimes is set if they are numbers of milliseconds since 1970, as Batch has
	// them, and not RFC 3339 texts.
	EpochTimes bool
	// Exists tells that the resource exists before the job: until the start call, Describe answers
	// with Before, or with Ends if it is empty.
	Exists bool
	Before string
	// Running and Ends are the status while the job runs and after; Stopped is
	// that of a job that was stopped, Ends if it is empty.
	Running, Ends, Stopped string
	// Raises are the errors that Describe ends with while the job has a status, by it: what is
	// deleted is not found in the end.
	Raises map[string]Raised
	// Echoes are the members of the answer that repeat what Describe asks for, as Echo takes them.
	Echoes map[string]string
	// StartEchoes are the paths of the answer of Start that repeat its arguments, and DescribeEchoes
	// those of the answers of Describe that repeat the arguments of Start.
	StartEchoes, DescribeEchoes map[string]string
	// Fails are the ends with which a ".sync" Task fails.
	Fails []string
	// Part is the path of what a ".sync" Task returns in the answer of Describe; the
	// whole answer if it is empty.
	Part string
	// ID is the path of the job's id in the answer, and IDArgument the path of
	// the id in the arguments of Describe and Stop; the last name of ID, or else
	// of StartID, if it is empty. Without ID and StartID there is one job at a
	// time.
	// StopIDArgument is that in the arguments of Stop, where it is another.
	ID, IDArgument, StopIDArgument string
	// IDs is what ids are like: {n} stands for the number of the job, and the
	// default is "job-{n}".
	IDs string
	// StartAnswer is what Start answers, and StartID the path of the id in it:
	// Glue's StartJobRun answers with {"JobRunId": id}. Without both Start
	// answers as Describe does. StartIDArgument is the path of the id in the
	// arguments of Start, where the caller chooses it. With both an id that the caller
	// leaves out is made.
	StartAnswer     map[string]any
	StartID         string
	StartIDArgument string
	// StartNameArgument is the path of a name in the arguments of Start, by which the
	// job is found, too, and Name that of it in the answer of Describe.
	StartNameArgument, Name string
	// StopAnswer is what Stop answers; nil if it answers as Describe does.
	StopAnswer map[string]any
	// NotFound is the name of the error of a call that asks for an id that was
	// not started. If it is empty, it is what the service fails with; for a
	// service whose answer is not known such a call ends the run.
	NotFound string

	mu      sync.Mutex
	runs    map[string]*jobRun
	names   map[string]string // ids, by the names of callers
	last    string            // id of the job started last
	started int               // jobs that Start started
	random  *rand.Rand
	said    answered // the last answer to a poll: most polls get it again
}

// answered is an answer, and what it depends on.
type answered struct {
	id, status string
	run        *jobRun
	ended      bool
	answer     any
}

// Raised is an error, as Step Functions shows it.
type Raised struct{ Error, Cause string }

// Course is how long a job runs, and how it ends.
type Course struct {
	Spread Spread
	Ends   string
	// Running is its status meanwhile, Job.Running if it is empty, and Answer what the call
	// that starts it answers, Job.StartAnswer if it is nil.
	Running string
	Answer  map[string]any
}

// jobRun is a job that was started.
type jobRun struct {
	started, stopped time.Time
	runs             time.Duration
	running, ends    string
	name             string // of its caller; empty for none
	asked            any    // the arguments of the call that started it; nil if none did
}

// Start is the handler of the call that starts the job.
func (j *Job) Start(_ context.Context, call sim.Call) (sim.Reply, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	id, run, err := j.launch(call)
	if err != nil {
		return sim.Reply{}, err
	}
	output, err := j.accept(id, run, call)
	return sim.Reply{Output: output}, err
}

// Describe is the handler of the call that tells how the job is.
func (j *Job) Describe(_ context.Context, call sim.Call) (sim.Reply, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.Throttled > 0 && j.draws().Float64() < j.Throttled {
		return sim.Reply{}, throttleCall(call)
	}
	output, err := j.describe(call)
	if err == nil {
		output, err = Echo(output, call.Arguments, j.Echoes)
	}
	return sim.Reply{Output: output}, err
}

// Stop is the handler of the call that stops the job. A job that has ended
// stays as it is.
func (j *Job) Stop(_ context.Context, call sim.Call) (sim.Reply, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	id, run, err := j.find(call, cmp.Or(j.StopIDArgument, j.idArgument()))
	if err != nil {
		return sim.Reply{}, err
	}
	if run.stopped.IsZero() && call.Time.Sub(run.started) < run.runs {
		run.stopped, j.said = call.Time, answered{}
	}
	if j.StopAnswer != nil {
		output, err := copyOf(j.StopAnswer)
		return sim.Reply{Output: output}, err
	}
	return j.reply(id, run, call.Time)
}

// Sync is the handler of a ".sync" Task, which ends with the job: with its
// answer, or with States.TaskFailed and the answer as the cause.
func (j *Job) Sync(_ context.Context, call sim.Call) (sim.Reply, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	id, run, err := j.launch(call)
	if err != nil {
		return sim.Reply{}, err
	}
	submitted, err := j.accept(id, run, call)
	if err != nil {
		return sim.Reply{}, err
	}
	output, err := j.answerAt(id, run, run.started.Add(run.runs))
	if err != nil {
		return sim.Reply{}, err
	}
	if j.Part != "" {
		part, err := parsePath(j.Part)
		if err != nil {
			return sim.Reply{}, err
		}
		output = part.get(output)
	}
	if !slices.Contains(j.Fails, run.ends) {
		return sim.Reply{Output: output, Latency: run.runs, Submitted: submitted}, nil
	}
	cause, err := json.Marshal(output)
	if err != nil {
		return sim.Reply{}, err
	}
	return sim.Reply{}, &sim.TaskError{Name: asl.ErrorTaskFailed, Cause: string(cause), Latency: run.runs, Submitted: submitted}
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
	j.runs, j.names, j.last, j.started, j.random, j.said = nil, nil, "", 0, nil, answered{}
}

// launch starts the job that a call asks for.
func (j *Job) launch(call sim.Call) (string, *jobRun, error) {
	j.started++
	id := strings.ReplaceAll(cmp.Or(j.IDs, "job-{n}"), "{n}", strconv.Itoa(j.started))
	if j.StartIDArgument != "" {
		given, err := argument(call, j.StartIDArgument)
		switch {
		case err == nil:
			id = given
		case j.StartID == "":
			return "", nil, err
		}
	}
	run := j.begin(id, call)
	run.asked = call.Arguments
	if j.StartNameArgument != "" {
		if name, err := argument(call, j.StartNameArgument); err == nil {
			if j.names == nil {
				j.names = map[string]string{}
			}
			run.name, j.names[name] = name, id
		}
	}
	return id, run, nil
}

// accept is what the start call answers.
func (j *Job) accept(id string, run *jobRun, call sim.Call) (any, error) {
	answer := j.StartAnswer
	if own := j.Courses[call.State].Answer; own != nil {
		answer = own
	}
	if answer == nil && j.StartID == "" {
		return j.answerAt(id, run, call.Time)
	}
	output, err := copyOf(answer)
	if err == nil {
		output, err = Echo(output, call.Arguments, j.StartEchoes)
	}
	if err == nil {
		output, err = fillValue(output, put{j.StartID, id})
	}
	return output, err
}

func (j *Job) begin(id string, call sim.Call) *jobRun {
	if j.runs == nil {
		j.runs = map[string]*jobRun{}
	}
	run := &jobRun{started: call.Time, runs: j.Runs, running: j.Running, ends: j.Ends}
	spread := j.Spread
	if course, ok := j.Courses[call.State]; ok {
		run.running, run.ends, spread = cmp.Or(course.Running, run.running), cmp.Or(course.Ends, run.ends), course.Spread
		run.runs = 0
	}
	if spread != (Spread{}) {
		run.runs = spread.draw(j.draws())
	}
	j.runs[id], j.last = run, id
	return run
}

// draws is what is random in the answers of the job.
func (j *Job) draws() *rand.Rand {
	if j.random == nil {
		j.random = rand.New(rand.NewPCG(j.Seed, 0)) //nolint:gosec // repeatable by design
	}
	return j.random
}

// find returns the job that a call is about, whose id is at a path of its arguments.
func (j *Job) find(call sim.Call, at string) (string, *jobRun, error) {
	id := j.last
	if j.hasIDs() {
		var err error
		if id, err = argument(call, at); err != nil {
			return "", nil, err
		}
	}
	run, err := j.findID(call, &id)
	return id, run, err
}

// findID returns the job of an id, or of the name that a caller gave it: then the id is that of
// the job.
func (j *Job) findID(call sim.Call, id *string) (*jobRun, error) {
	if known, ok := j.names[*id]; ok {
		*id = known
	}
	run := j.runs[*id]
	switch {
	case run != nil:
		return run, nil
	case j.started > 0:
		return nil, noSuchJob(call, *id, j.NotFound)
	default:
		run = j.begin(*id, call)
		if j.Exists {
			run.runs, run.ends = 0, cmp.Or(j.Before, run.ends)
		}
		return run, nil
	}
}

// argument is the id at a path of the arguments.
func argument(call sim.Call, at string) (string, error) {
	p, err := parsePath(at)
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
		there := "it has no arguments"
		if len(arguments) > 0 {
			there = "its arguments are: " + strings.Join(slices.Sorted(maps.Keys(arguments)), ", ")
		}
		return "", fmt.Errorf("state %q: %s needs the argument %q, the id of the job; %s", call.State, call.Resource, at, there)
	}
}

// reply is what the service says of the job at a time.
func (j *Job) reply(id string, run *jobRun, now time.Time) (sim.Reply, error) {
	output, err := j.answerAt(id, run, now)
	return sim.Reply{Output: output}, err
}

// answerAt is what the service says of a job at a time, with the times of the job.
func (j *Job) answerAt(id string, run *jobRun, now time.Time) (any, error) {
	end := run.end()
	said := answered{id: id, status: j.statusAt(run, now), run: run, ended: !now.Before(end)}
	if last := j.said; last.run == run && last.id == id && last.status == said.status && last.ended == said.ended {
		return copyOf(last.answer)
	}
	output, err := j.answer(id, said.status)
	if err == nil {
		output, err = Echo(output, run.asked, j.DescribeEchoes)
	}
	if at, _ := parsePath(j.Name); err == nil && at != nil && run.name != "" {
		output, err = at.set(output, run.name)
	}
	if err == nil {
		output, err = j.putTime(output, j.StartTime, run.started)
	}
	if err == nil && said.ended {
		output, err = j.putTime(output, j.EndTime, end)
	}
	if err != nil {
		return nil, err
	}
	said.answer = output
	j.said = said
	return copyOf(output)
}

// end is when the job ends, or has ended.
func (r *jobRun) end() time.Time {
	if !r.stopped.IsZero() {
		return r.stopped
	}
	return r.started.Add(r.runs)
}

// putTime puts a time into an answer, as SDK integrations write it.
func (j *Job) putTime(answer any, at string, t time.Time) (any, error) {
	if at == "" {
		return answer, nil
	}
	p, err := parsePath(at)
	if err != nil || !p.hasItems(answer) {
		return answer, err
	}
	if j.EpochTimes {
		return p.set(answer, json.Number(strconv.FormatInt(t.UnixMilli(), 10)))
	}
	return p.set(answer, t.UTC().Format("2006-01-02T15:04:05.999Z07:00"))
}

// statusAt is the status of a job at a time.
func (j *Job) statusAt(run *jobRun, now time.Time) string {
	switch {
	case !run.stopped.IsZero():
		return cmp.Or(j.Stopped, run.ends)
	case now.Sub(run.started) >= run.runs:
		return run.ends
	default:
		return run.running
	}
}

// answer is what the service says of a job that has the status.
func (j *Job) answer(id, status string) (any, error) {
	var answer any = j.Answer
	if own, ok := j.Answers[status]; ok {
		answer = own
	}
	return fill(answer, put{j.Status, status}, put{j.ID, id})
}

// put is a text for a place in an answer; nothing if the path is empty.
type put struct{ path, text string }

// fill returns a copy of an answer with texts put in.
func fill(answer any, puts ...put) (any, error) {
	value, err := copyOf(answer)
	if err != nil {
		return nil, fmt.Errorf("the answer of a job: %w", err)
	}
	return fillValue(value, puts...)
}

// fillValue puts texts into a value.
func fillValue(value any, puts ...put) (_ any, err error) {
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
