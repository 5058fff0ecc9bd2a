package pastjobs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/plan"
	"github.com/jobpoller/jobpoller/statemachines/history"
)

// jsonJobs reads jobs out of JSON: durations, objects with times wherever they stand,
// histories, what jobpoller prints, and what its functions log.
type jsonJobs struct {
	*Jobs

	// start and end are the members in which a service lists the times of the job.
	start, end string
	// job is the job of the metrics that count: the one that is named, or else the
	// first.
	job   string
	named bool
	// kept are the lines of --keep.
	kept []*KeptExecution
}

// readJSON reads JSON values, one after the other.
func (p *Jobs) readJSON(text []byte, e *catalog.Entry) error {
	r := &jsonJobs{Jobs: p}
	if e != nil {
		r.job, r.named = e.FullName(), true
	}
	if e != nil && e.Job != nil {
		r.start, r.end = lastMember(e.Job.StartTime), lastMember(e.Job.EndTime)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	var last map[string]any // object
	for {
		at := decoder.InputOffset()
		var raw json.RawMessage
		switch err := decoder.Decode(&raw); {
		case errors.Is(err, io.EOF):
			if err := r.addKept(); err != nil {
				return err
			}
			if len(p.Ended) == 0 && len(p.Left) == 0 {
				return noJobs(last)
			}
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("line %d: the text is cut off: it ends in the middle of a JSON value", lineAt(text, int64(len(text))))
		case err != nil:
			if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
				at = min(syntax.Offset, int64(len(text)))
			}
			return fmt.Errorf("line %d: %w", lineAt(text, at), err)
		}
		var value any
		number := json.NewDecoder(bytes.NewReader(raw))
		number.UseNumber()
		if err := number.Decode(&value); err != nil {
			return fmt.Errorf("line %d: %w", lineAt(text, at), err)
		}
		if object, ok := value.(map[string]any); ok {
			last = object
		}
		if err := r.read(value, raw, ""); err != nil {
			skipped := len(text[at:]) - len(bytes.TrimLeft(text[at:], " \t\r\n,"))
			return fmt.Errorf("the value at line %d: %w", lineAt(text, at+int64(skipped)), err)
		}
	}
}

func lineAt(text []byte, offset int64) int { return 1 + bytes.Count(text[:offset], []byte("\n")) }

// noJobs says what there is instead of jobs.
func noJobs(object map[string]any) error {
	names := slices.Sorted(maps.Keys(object))
	for _, name := range names {
		if list, isList := object[name].([]any); isList && len(list) == 0 {
			return fmt.Errorf("it has no durations: its list %s is empty", terminal.Excerpt(name))
		}
	}
	return fmt.Errorf("it has no durations: expected numbers of seconds, or objects with the members start and end, found %s", orNothing(names))
}

// orNothing names a few members.
func orNothing(names []string) string {
	const most = 5
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > most:
		names = append(names[:most:most], "...")
	}
	return terminal.Excerpt("an object with " + strings.Join(names, ", "))
}

// lastMember is the name at the end of a path: StartedOn of JobRun.StartedOn.
func lastMember(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// read reads a value and all within it. raw is its text where it stands by itself.
func (r *jsonJobs) read(value any, raw []byte, path string) error {
	wrap := func(err error) error {
		if err != nil && path != "" {
			return fmt.Errorf("%s: %w", terminal.Excerpt(path), err)
		}
		return err
	}
	switch v := value.(type) {
	case []any:
		for i, item := range v {
			if err := r.read(item, nil, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	case map[string]any:
		return r.readObject(v, raw, path, wrap)
	case json.Number, string:
		if strings.HasSuffix(path, "]") || path == "" { // else a member with another meaning
			d, err := parseTaken(fmt.Sprint(v))
			if err == nil {
				err = r.add(d, d)
			}
			return wrap(err)
		}
	}
	return nil
}

// readObject reads an object by what it is.
func (r *jsonJobs) readObject(object map[string]any, raw []byte, path string, wrap func(error) error) error {
	_, isHistory := object["events"].([]any)
	switch {
	case object["_aws"] != nil:
		return wrap(r.readMetric(object))
	case isLog(object):
		return wrap(r.readLog(object))
	case isHistory: // "run -o json" has the number of events
		return wrap(r.readHistory(object, raw))
	case object["executionArn"] != nil && object["jobs"] != nil:
		return wrap(r.readKept(object))
	case object["elapsedSeconds"] != nil && object["startedAt"] != nil:
		return wrap(r.readResult(object))
	case object["elapsedSeconds"] != nil && object["status"] != nil && object["waits"] == nil:
		return wrap(r.readWait(object))
	}
	cells, found := r.cells(object)
	switch {
	case found[startColumn] && found[endColumn], found[durationColumn], found[fromColumn] && found[toColumn]:
		return wrap(r.addCells(cells))
	case found[startColumn] && path != "":
		r.Leave(notEnded)
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		within := name
		if path != "" {
			within = path + "." + name
		}
		switch inner := object[name].(type) {
		case map[string]any:
			if err := r.read(inner, nil, within); err != nil {
				return err
			}
		case []any:
			if err := r.readList(inner, within); err != nil {
				return err
			}
		}
	}
	return nil
}

// readList reads the objects of a list in an object. Its numbers and texts mean something
// else, but for a list of durations.
func (r *jsonJobs) readList(list []any, path string) error {
	isDurations := strings.HasPrefix(strings.ToLower(lastMember(path)), "duration")
	for i, item := range list {
		_, isObject := item.(map[string]any)
		_, isList := item.([]any)
		if !isObject && !isList && !isDurations {
			continue
		}
		if err := r.read(item, nil, fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	return nil
}

// cells are the members of an object that say something of a job.
func (r *jsonJobs) cells(object map[string]any) (cells map[column]string, found map[column]bool) {
	cells, found = map[column]string{}, map[column]bool{}
	own := r.start != "" && r.end != "" && object[r.start] != nil
	names, start := slices.Sorted(maps.Keys(object)), ""
	for _, name := range names {
		c := columnOf(name)
		if own { // the catalogue knows better
			c = map[string]column{r.start: startColumn, r.end: endColumn}[name]
		}
		if c == noColumn || found[c] {
			continue
		}
		switch v := object[name].(type) {
		case string, json.Number:
			cells[c], found[c] = fmt.Sprint(v), true
			if c == startColumn {
				start = name
			}
		}
	}
	if taken := slices.IndexFunc(names, takenEarlier().MatchString); taken >= 0 && start != "" && !own && r.job == "" {
		r.Hint = fmt.Sprintf("the start is %s, though there is %s: name the service and the job, so that the time counts from where the service took it",
			start, names[taken])
	}
	return cells, found
}

// takenEarlier are members that say when a service took a job which then waited.
var takenEarlier = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(created?(at|on|time|date)|creation(time|date|datetime)|queued(at|on|time)?)$`)
})

// addCells takes in an object with times or a duration.
func (r *jsonJobs) addCells(cells map[column]string) error {
	heading := slices.Sorted(maps.Keys(cells))
	before := len(r.Ended)
	if err := r.addRow(heading, func(i int) string { return cells[heading[i]] }); err != nil {
		return err
	}
	if late, err := parseTaken(cells[lateColumn]); err == nil && len(r.Ended) > before {
		r.Ended[before].Late = &late
	}
	return nil
}

// readHistory reads the jobs of an execution.
func (r *jsonJobs) readHistory(object map[string]any, raw []byte) error {
	if raw == nil {
		var err error
		if raw, err = json.Marshal(object); err != nil {
			return err
		}
	}
	e, err := history.Read(raw)
	if err != nil {
		return err
	}
	return r.addExecution(e)
}

// pollsNothing is why an execution does not count.
const pollsNothing = "of executions that poll no job of the catalogue"

// addExecution takes in the jobs of an execution whose end it saw: exactly where the
// service says when they ran, else within the polls around the end.
func (p *Jobs) addExecution(e *history.Execution) error {
	jobs := e.FindJobs(e.FindVisits())
	if len(jobs) == 0 {
		p.Leave(pollsNothing)
	}
	for _, j := range jobs {
		if p.leaveOther(j.State) {
			continue
		}
		if err := p.addPolled(j); err != nil {
			return err
		}
	}
	return nil
}

func (p *Jobs) addPolled(j *history.Job) error {
	late, exact, known := j.DetectionDelay()
	if !known {
		p.Leave(notEnded)
		return nil
	}
	least, most, _ := j.Took()
	out := Job{Sample: plan.Sample{From: least, To: most}}
	if exact {
		out.Late = &late
	}
	return p.addJob(out)
}

// readKept reads a line of --keep.
func (r *jsonJobs) readKept(object map[string]any) error {
	k := &KeptExecution{}
	if err := decodeInto(object, k); err != nil {
		return err
	}
	r.kept = append(r.kept, k)
	return k.addTo(&Jobs{})
}

// addKept takes in the lines of --keep: of an execution the last, for a redrive adds to
// what it says, and two commands at once write it twice.
func (r *jsonJobs) addKept() error {
	last := map[string]*KeptExecution{}
	for _, k := range r.kept {
		last[k.ARN] = k
	}
	r.Executions = map[string]time.Time{}
	for _, k := range r.kept {
		if last[k.ARN] != k {
			continue
		}
		if err := k.addTo(r.Jobs); err != nil {
			return err
		}
		r.Executions[k.ARN] = k.Start
	}
	return nil
}

// readResult reads what the Lambda functions return.
func (r *jsonJobs) readResult(object map[string]any) error {
	var result struct {
		Status         pollcore.Status `json:"status"`
		ElapsedSeconds float64         `json:"elapsedSeconds"`
		LateSeconds    *float64        `json:"lateSeconds"`
	}
	if err := decodeInto(object, &result); err != nil {
		return err
	}
	switch {
	case result.Status != pollcore.Succeeded && result.Status != pollcore.Failed:
		r.Leave(notEnded)
		return nil
	case result.LateSeconds == nil:
		r.Leave("whose end nobody knows: their results have no lateSeconds")
		return nil
	}
	late := Seconds(*result.LateSeconds)
	took := max(0, Seconds(result.ElapsedSeconds)-late)
	return r.addJob(Job{Sample: plan.Sample{From: took, To: took}, Late: &late})
}

// readWait reads what wait, start and run print with -o json.
func (r *jsonJobs) readWait(object map[string]any) error {
	var report struct {
		Status         string       `json:"status"`
		Service        string       `json:"service"`
		Name           string       `json:"name"`
		Output         any          `json:"output"`
		ElapsedSeconds float64      `json:"elapsedSeconds"`
		Statuses       []seenStatus `json:"statuses"`
	}
	if err := decodeInto(object, &report); err != nil {
		return err
	}
	if report.Status != string(pollcore.Succeeded) && report.Status != string(pollcore.Failed) {
		r.Leave(notEnded)
		return nil
	}
	if start, end, ok := jobTimes(report.Service, report.Name, report.Output); ok {
		return r.addTimes(start, end)
	}
	elapsed := Seconds(report.ElapsedSeconds)
	return r.add(lastOpen(report.Statuses, elapsed), elapsed)
}

// seenStatus is a status that a job had, until the last poll that saw it.
type seenStatus struct {
	UntilSeconds float64 `json:"untilSeconds"`
}

// lastOpen is when a poll last saw that a job had not ended, whose end was seen so long
// after the beginning. The last status is that of the end.
func lastOpen(statuses []seenStatus, seen time.Duration) time.Duration {
	if len(statuses) < 2 { //nolint:mnd // as said
		return 0
	}
	return min(seen, Seconds(statuses[len(statuses)-2].UntilSeconds))
}

// jobTimes are the service's own times of a job, in the answer of its describe call.
func jobTimes(service, name string, output any) (start, end time.Time, ok bool) {
	e, err := catalog.AWS().Lookup(service, name)
	if err != nil || e.Job == nil || e.Job.StartTime == "" || e.Job.EndTime == "" {
		return start, end, false
	}
	read := func(path string) (time.Time, bool) {
		expr, err := jmespath.Parse(path)
		if err != nil {
			return time.Time{}, false
		}
		program, _ := expr.Compile(nil) // of any JSON there is nothing to find
		value, err := program.Eval(output)
		if err != nil || value == nil {
			return time.Time{}, false
		}
		at, err := parseMoment(fmt.Sprint(value))
		return at, err == nil
	}
	start, hasStart := read(e.Job.StartTime)
	end, hasEnd := read(e.Job.EndTime)
	return start, end, hasStart && hasEnd
}

func decodeInto(object map[string]any, to any) error {
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}
