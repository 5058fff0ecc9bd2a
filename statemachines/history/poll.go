package history

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// Verdict is what a poll came to.
type Verdict string

// The verdicts. CallFailed is a call without a response, and Unknown a response that
// nothing in the catalogue judges, or that its entries judge differently.
const (
	Retry              = Verdict(pollcore.Retry)
	Success            = Verdict(pollcore.Success)
	Failure            = Verdict(pollcore.Failure)
	CallFailed Verdict = "call failed"
	Unknown    Verdict = "unknown"
)

// Poll is one describe call with its verdict.
type Poll struct {
	// At is when it was scheduled, and Answered when it ended.
	At, Answered time.Time
	Verdict      Verdict
	// Status is what the response says of the job, or the name of the error.
	Status, Cause string
	// Visit is the visit of the Task, and Event the place of the event that
	// scheduled the call.
	Visit *Visit
	Event int
}

// Job is a job, or a resource, and what an execution learned of it.
type Job struct {
	// State is the Task that polls it, and Operation what it calls, such as
	// "athena:GetQueryExecution", or the function "jobpoller-checkstatus".
	State, Operation string
	// ID is what the calls ask for, such as the id of a query; empty if that is not
	// clear.
	ID string
	// Entry is what the catalogue knows to wait for; nil if that is not clear.
	Entry *catalog.Entry
	// Strand is that of the visits.
	Strand int64
	Polls  []Poll
	// Started and Ended are the service's times; zero where it does not say. Times of
	// an earlier run of a resource are not taken for those of this job.
	Started, Ended time.Time
	// Deadline is when the poller gives up; zero if that is not known.
	Deadline time.Time

	earliest time.Time // the job cannot have ended before
	starts   int       // start calls in its strand before its end was seen
	ended    bool      // a poll saw the end
	acted    int       // see ActPoll
}

// EndPoll returns the first poll that saw the job's end, or -1.
func (j *Job) EndPoll() int {
	return slices.IndexFunc(j.Polls, func(p Poll) bool { return p.Verdict == Success || p.Verdict == Failure })
}

// ActPoll returns the poll on whose answer the machine acted on the job's end, or -1: a
// loop that does not know a status sees it, and polls on.
func (j *Job) ActPoll() int {
	return max(j.EndPoll(), j.acted)
}

// Lateness is the time from the job's end to the answer on which the machine acted. It is
// exact where the service says when the job ended; else it is at most that long: it counts
// from the poll before the first that saw the end, or from the start of the job if there
// is none. It is not known before the end was seen, and grows while the machine polls on.
func (j *Job) Lateness() (late time.Duration, exact, known bool) {
	late, exact, known = j.DetectionDelay()
	switch {
	case !known:
		return 0, false, false
	case exact:
		return max(0, j.Polls[j.ActPoll()].Answered.Sub(j.Ended)), true, true
	default:
		return late + j.Polls[j.ActPoll()].Answered.Sub(j.Polls[j.EndPoll()].Answered), false, true
	}
}

// DetectionDelay is the time from the job's end to the answer that showed it first, which is
// what a schedule decides. It is exact, or an upper bound, as that of Lateness.
func (j *Job) DetectionDelay() (late time.Duration, exact, known bool) {
	seen := j.EndPoll()
	if seen < 0 {
		return 0, false, false
	}
	at := j.Polls[seen].Answered
	if !j.Ended.IsZero() {
		return max(0, at.Sub(j.Ended)), true, true
	}
	before := j.earliest
	if !j.Started.IsZero() {
		before = j.Started
	}
	for _, p := range j.Polls[:seen] {
		if p.Verdict != CallFailed {
			before = p.At
		}
	}
	return max(0, at.Sub(before)), false, true
}

// Took is how long the job took, from its start to its end. Both bounds are equal where
// the service says when it ended; else the end is at most DetectionDelay before the poll that
// saw it. They are not known before that.
func (j *Job) Took() (least, most time.Duration, known bool) {
	late, exact, known := j.DetectionDelay()
	if !known {
		return 0, 0, false
	}
	start := j.earliest
	if !j.Started.IsZero() {
		start = j.Started
	}
	if exact {
		took := max(0, j.Ended.Sub(start))
		return took, took, true
	}
	most = max(0, j.Polls[j.EndPoll()].Answered.Sub(start))
	return max(0, most-late), most, true
}

// Change is a time at which polls began to see another status.
type Change struct {
	Status  string
	Verdict Verdict
	// First and Last are the polls that saw it, with no other status between them.
	First, Last int
}

// Changes is the history of the status. Calls that failed saw none.
func (j *Job) Changes() []Change {
	var all []Change
	for i, p := range j.Polls {
		if p.Verdict == CallFailed {
			continue
		}
		if n := len(all); n > 0 && all[n-1].Status == p.Status && all[n-1].Verdict == p.Verdict {
			all[n-1].Last = i
			continue
		}
		all = append(all, Change{p.Status, p.Verdict, i, i})
	}
	return all
}

// CallFailure is the calls that failed with one error.
type CallFailure struct {
	Error string
	Cause string // of the first
	Count int
	// First and Last are the first and the last of these polls.
	First, Last int
}

// Failures are the calls that failed, by their errors, in the order in which these
// first came.
func (j *Job) Failures() []CallFailure {
	var all []CallFailure
	byName := map[string]int{}
	for i, p := range j.Polls {
		if p.Verdict != CallFailed {
			continue
		}
		at, known := byName[p.Status]
		if !known {
			at = len(all)
			byName[p.Status] = at
			all = append(all, CallFailure{Error: p.Status, Cause: p.Cause, First: i})
		}
		all[at].Count++
		all[at].Last = i
	}
	return all
}

// FindJobs finds the jobs that the Tasks of an execution poll: those whose describe
// call the catalogue has, if it was called twice or the execution started the job.
func (e *Execution) FindJobs(visits *Visits) []*Job {
	f := &finder{
		names: map[[2]string]string{}, operations: map[string]*operation{}, started: map[string]bool{}, starts: map[start][]*Attempt{},
		jobs: map[string]*Job{}, input: e.Input, begin: e.Start,
	}
	for _, v := range visits.All {
		for i := range v.Attempts {
			f.started[strings.ToLower(f.callName(&v.Attempts[i]))] = true
		}
	}
	last := map[int64][2]*Visit{} // by strand
	for _, v := range visits.All {
		f.before = last[v.Strand]
		last[v.Strand] = [2]*Visit{f.before[1], v}
		for i := range v.Attempts {
			a := &v.Attempts[i]
			f.poll(v, a)
			key := start{v.Strand, strings.ToLower(f.callName(a))}
			f.starts[key] = append(f.starts[key], a)
		}
		for name, value := range v.Assigned {
			f.readDeadline(name, value, v)
		}
	}
	var jobs []*Job
	strands := map[int64][]*Visit{}
	for _, v := range visits.All {
		strands[v.Strand] = append(strands[v.Strand], v)
	}
	for _, j := range f.order {
		f.setDeadline(j)
		j.acted = j.findAct(strands[j.Strand])
		if !j.Deadline.IsZero() || len(j.Polls) > 1 || j.Entry != nil && j.Entry.Job != nil && f.started[startName(j.Entry)] || j.Operation == checkStatus {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// startName is the call that starts a job, in lower case.
func startName(e *catalog.Entry) string { return strings.ToLower(e.Service.Key + ":" + e.Name) }

// finder finds jobs.
type finder struct {
	names      map[[2]string]string // of calls, by service and action
	operations map[string]*operation
	started    map[string]bool // calls that the execution made, in lower case
	starts     map[start][]*Attempt
	jobs       map[string]*Job
	order      []*Job
	deadlines  []deadline
	before     [2]*Visit // in the strand of the visit; nil for none
	input      string
	begin      time.Time // of the execution
}

// start names the calls of an operation in a strand.
type start struct {
	strand int64
	call   string // in lower case
}

// findEarliest is the time before which a job with an id cannot have ended that is
// polled from now on: that of the call that started it. Where the last such call does not name it,
// it is that of the first, and without any that of the execution.
func (f *finder) findEarliest(id string, calls []*Attempt) time.Time {
	if len(calls) == 0 {
		return f.begin
	}
	if last := calls[len(calls)-1]; id != "" && (strings.Contains(last.Output, id) || strings.Contains(last.Parameters, id)) {
		return last.Start
	}
	return calls[0].Start
}

// checkStatus is the function of jobpoller that polls.
const checkStatus = "jobpoller-checkstatus"

func (f *finder) callName(a *Attempt) string {
	key := [2]string{a.Service, a.Action}
	name, known := f.names[key]
	if !known {
		name = callName(a)
		f.names[key] = name
	}
	return name
}

// callName is the operation that a call is of, such as "athena:GetQueryExecution";
// empty if it is of no service of the catalogue.
func callName(a *Attempt) string {
	if strings.Contains(a.Action, ".") { // it ends with its job
		return ""
	}
	service, _ := strings.CutPrefix(a.Service, "aws-sdk:")
	if service == "" || a.Action == "" {
		return ""
	}
	listing, err := catalog.AWS().Find(service)
	if err != nil {
		return ""
	}
	return listing.Key + ":" + strings.ToUpper(a.Action[:1]) + a.Action[1:]
}

// callsCheckStatus tells whether a call is one of check-status.
func callsCheckStatus(a *Attempt) bool {
	if a.Service == "" {
		return strings.Contains(a.Action, ":function:") && lint.NamesCheckStatus(a.Action)
	}
	if a.Service != "lambda" && a.Service != "aws-sdk:lambda" || a.Action != "invoke" {
		return false
	}
	var arguments struct {
		FunctionName string `json:"FunctionName"`
	}
	return json.Unmarshal([]byte(a.Parameters), &arguments) == nil && lint.NamesCheckStatus(arguments.FunctionName)
}

// poll takes in a call, if it is a poll.
func (f *finder) poll(v *Visit, a *Attempt) {
	if a.Open && a.Output == "" && a.Error == "" && a.End.Equal(a.Start) && v.Open {
		return // under way
	}
	p := Poll{At: a.Start, Answered: a.End, Visit: v, Event: a.Event}
	if callsCheckStatus(a) {
		f.pollFunction(v, a, p)
		return
	}
	name := f.callName(a)
	if name == "" {
		return
	}
	op, known := f.operations[name]
	if !known {
		op = readOperation(name, f.started)
		f.operations[name] = op
	}
	if op == nil {
		return
	}
	var starts []*Attempt
	if op.entry != nil {
		starts = f.starts[start{v.Strand, startName(op.entry)}]
	}
	j := f.job(Job{State: v.State, Operation: op.name, ID: op.readID(a.Parameters), Entry: op.entry, Strand: v.Strand}, op.identify(a.Parameters), starts)
	var said answer
	if a.Failed {
		p.Verdict, p.Status, p.Cause = op.judgeError(a.Error), a.Error, a.Cause
	} else {
		said = op.judge(a.Parameters, a.Output)
		p.Verdict, p.Status = said.verdict, said.status
	}
	j.add(p, said.started, said.ended)
}

// job is the job that a Task polls with an identity, behind these start calls. A
// start call after its end was seen makes another job of the same name.
func (f *finder) job(polled Job, identity string, calls []*Attempt) *Job {
	key := jobKey(&polled, polled.State, identity)
	j := f.jobs[key]
	if polling := f.before[0]; j == nil && polling != nil && polling.Error != "" && f.before[1].Type == asl.TypeWait {
		// A Task and a Wait for each delay of a schedule: the Task before has caught its
		// error, and this one polls on.
		if j = f.jobs[jobKey(&polled, polling.State, identity)]; j != nil {
			f.jobs[key] = j
		}
	}
	if j == nil || j.ended && j.starts < len(calls) {
		before := 0
		if j != nil {
			before = j.starts
		}
		j = &polled
		j.earliest = f.findEarliest(j.ID, calls[before:])
		f.jobs[key] = j
		f.order = append(f.order, j)
	}
	if !j.ended {
		j.starts = len(calls)
	}
	return j
}

// jobKey tells a job from others: by the state that polls it, too.
func jobKey(j *Job, state, identity string) string {
	text, _ := json.Marshal([]any{state, j.Strand, j.Operation, identity}) //nolint:errchkjson // texts and a number
	return string(text)
}

// add adds a poll and what its response says of the job's times. A resource shows
// those of its last run: a time before the job can have begun is not the job's, nor
// is one that comes after its end was seen. Services cut times to seconds.
func (j *Job) add(p Poll, started, ended time.Time) {
	j.Polls = append(j.Polls, p)
	if j.ended {
		return
	}
	j.ended = p.Verdict == Success || p.Verdict == Failure
	earliest := j.earliest.Truncate(time.Second)
	if !started.IsZero() && !started.Before(earliest) {
		j.Started = started
	}
	if j.ended && !ended.IsZero() && !ended.Before(earliest) {
		j.Ended = ended
	}
}

// deadline is the value of a variable that holds one.
type deadline struct {
	strand  int64
	loop    string // what the name begins with, in lower case: that of the loop's Task, or nothing
	set, at time.Time
}

// readDeadline reads a variable, if it is the deadline of a loop: milliseconds since
// 1970, or a timestamp.
func (f *finder) readDeadline(name, value string, v *Visit) {
	loop, ok := strings.CutSuffix(strings.ToLower(name), "deadline")
	if !ok {
		return
	}
	var at time.Time
	var number float64
	var text string
	switch {
	case json.Unmarshal([]byte(value), &number) == nil && number > 1e12 && number < mostSeconds*1000:
		at = time.UnixMilli(int64(number)).UTC()
	case json.Unmarshal([]byte(value), &text) == nil:
		at, _ = time.Parse(time.RFC3339Nano, text)
	}
	if !at.IsZero() {
		f.deadlines = append(f.deadlines, deadline{v.Strand, loop, v.End, at})
	}
}

// setDeadline gives a job the deadline that was set last for its loop while it was
// polled.
func (f *finder) setDeadline(j *Job) {
	name := strings.Map(func(r rune) rune { // as names of variables are
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, j.State)
	last := j.Polls[len(j.Polls)-1].At
	for _, d := range f.deadlines {
		if d.strand == j.Strand && strings.HasPrefix(name, d.loop) && d.at.After(j.Polls[0].At) && !d.set.After(last) {
			j.Deadline = d.at
		}
	}
}

// pollFunction takes in a call of check-status.
func (f *finder) pollFunction(v *Visit, a *Attempt, p Poll) {
	j := f.job(Job{State: v.State, Operation: checkStatus, Strand: v.Strand}, "", nil)
	var answer functionAnswer
	if a.Failed {
		p.Status, p.Cause = a.Error, a.Cause
		name := verdictName(a.Error)
		p.Verdict = map[string]Verdict{"Running": Retry, "Failed": Failure, "TimedOut": Failure}[name]
		p.Verdict = cmp.Or(p.Verdict, CallFailed)
		if p.Verdict != CallFailed {
			p.Status = strings.ToUpper(name)
		}
	} else {
		answer = readFunctionAnswer(a.Output)
		p.Status = answer.Status
		p.Verdict = map[string]Verdict{
			string(pollcore.Running): Retry, string(pollcore.Succeeded): Success, string(pollcore.Failed): Failure, string(pollcore.TimedOut): Failure,
		}[answer.Status]
		p.Verdict = cmp.Or(p.Verdict, Unknown)
	}
	if name := answer.Job.Name; name != "" && j.Entry == nil {
		if named, err := catalog.AWS().Resolve(name); err == nil && named.Entry != nil {
			j.Entry = named.Entry
		}
	}
	var started, ended time.Time
	if j.Entry != nil && answer.Output != nil {
		var status string
		status, started, ended = newSight(j.Entry).read(answer.Output)
		p.Status = cmp.Or(status, p.Status)
	}
	if !answer.StartedAt.IsZero() {
		j.earliest = answer.StartedAt
	}
	if limit := maxWait(f.input); limit > 0 && !answer.StartedAt.IsZero() {
		j.Deadline = answer.StartedAt.Add(limit)
	}
	j.add(p, started, ended)
}

// verdictName is what an error of check-status says of the job, such as "Running". The
// delay may follow, as in JobPoller.Running.45.
func verdictName(failure string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(failure, "JobPoller."), ".")
	return name
}

// saysRunning tells whether the error of a function may say that the job still runs.
func saysRunning(failure string) bool { return failure != "" && verdictName(failure) == "Running" }

// functionAnswer is what check-status returns.
type functionAnswer struct {
	Status    string    `json:"status"`
	StartedAt time.Time `json:"startedAt"`
	Job       struct {
		Name string `json:"name"`
	} `json:"job"`
	Output any `json:"output"`
}

// readFunctionAnswer reads the output of a Task that invokes check-status.
func readFunctionAnswer(output string) functionAnswer {
	var wrapped struct {
		Payload json.RawMessage `json:"Payload"`
	}
	text := []byte(output)
	if json.Unmarshal(text, &wrapped) == nil && len(wrapped.Payload) > 0 {
		text = wrapped.Payload
	}
	var answer functionAnswer
	if json.Unmarshal(text, &answer) != nil {
		return functionAnswer{}
	}
	return answer
}

// maxWait is what a request of the Lambda functions says of its time; 0 if the input
// is no such request.
func maxWait(input string) time.Duration {
	var request struct {
		MaxWaitSeconds float64 `json:"maxWaitSeconds"`
	}
	const most = 366 * 24 * 3600
	if json.Unmarshal([]byte(input), &request) != nil || request.MaxWaitSeconds <= 0 || request.MaxWaitSeconds > most {
		return 0
	}
	return time.Duration(request.MaxWaitSeconds * float64(time.Second))
}
