package history

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/smithy"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// operation is a describe call of the catalogue, and who judges its responses.
type operation struct {
	name string // "athena:GetQueryExecution"
	// entry is nil if several entries poll the operation, and the execution started
	// the job of none.
	entry   *catalog.Entry
	judges  []judge
	sight   sight
	members []string             // of the input that select the job; empty for all
	seen    map[[2]string]answer // by arguments and output
}

// judge is an entry of the catalogue in the spelling of Step Functions.
type judge struct {
	entry *catalog.Entry
	check *pollcore.Check[any, any]
}

// answer is what a response says.
type answer struct {
	verdict        Verdict
	status         string
	started, ended time.Time
}

// readOperation reads the entries of the catalogue that poll an operation; nil if
// there are none. Those whose job the execution started come before the others.
func readOperation(name string, started map[string]bool) *operation {
	service, action, _ := strings.Cut(name, ":")
	listing, err := catalog.AWS().Find(service)
	if err != nil {
		return nil
	}
	var all, own []*catalog.Entry
	for _, e := range listing.Entries {
		if !strings.EqualFold(e.Operation, action) {
			continue
		}
		entry, err := catalog.AWS().Lookup(listing.Key, e.Name)
		if err != nil {
			continue
		}
		all = append(all, entry)
		if entry.Job != nil && started[startName(entry)] {
			own = append(own, entry)
		}
	}
	if len(own) > 0 {
		all = own
	}
	if len(all) == 0 {
		return nil
	}
	op := &operation{name: listing.Key + ":" + all[0].Operation.Name, seen: map[[2]string]answer{}}
	for _, e := range all {
		in, out := e.Operation.Input.Describe(), e.Operation.Output.Describe()
		renamed, err := pollcore.RenameMembers(e.Waiter, in, out, javasdk.MemberName)
		if err != nil {
			return nil
		}
		check, err := pollcore.Compile[any, any](renamed)
		if err != nil {
			return nil
		}
		op.judges = append(op.judges, judge{e, check})
	}
	op.sight = chooseSight(all)
	if len(all) == 1 {
		op.entry = all[0]
	}
	if job := all[0].Job; job != nil {
		for member, argument := range job.Arguments { // others, such as WithoutSettings of DMS, are the same for all jobs
			if catalog.ReadsStartCall(argument) {
				op.members = append(op.members, javasdk.MemberName(member))
			}
		}
		slices.Sort(op.members)
	}
	return op
}

// identify is what tells the arguments of one job from those of another.
func (o *operation) identify(arguments string) string {
	if len(o.members) == 0 {
		return arguments
	}
	var all map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &all) != nil {
		return arguments
	}
	var parts []string
	for _, member := range o.members {
		parts = append(parts, string(all[member]))
	}
	return strings.Join(parts, " ")
}

// readID is what the arguments ask for, as text.
func (o *operation) readID(arguments string) string {
	var all map[string]any
	if len(o.members) == 0 || json.Unmarshal([]byte(arguments), &all) != nil {
		return ""
	}
	var parts []string
	for _, member := range o.members {
		if text := idText(all[member]); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}

// idText is the ids in an argument: a text, those of a list, or the values of filters.
func idText(argument any) string {
	switch v := argument.(type) {
	case []any:
		var all []string
		for _, item := range v {
			if text := idText(item); text != "" && len(all) < mostTexts {
				all = append(all, text)
			}
		}
		return strings.Join(all, ", ")
	case map[string]any:
		return idText(v["Values"])
	}
	return valueText(argument)
}

// mostAnswers is how many responses are kept, so that equal ones are read once.
const mostAnswers = 4096

// judge judges a response.
func (o *operation) judge(arguments, output string) answer {
	key := [2]string{arguments, output}
	if a, known := o.seen[key]; known {
		return a
	}
	a := answer{verdict: Unknown}
	var in, out any
	if json.Unmarshal([]byte(output), &out) == nil {
		_ = json.Unmarshal([]byte(arguments), &in)
		a.verdict = o.agree(Unknown, func(j judge) Verdict { return Verdict(j.check.Check(in, out, nil).Verdict) })
		a.status, a.started, a.ended = o.sight.read(out)
	}
	if len(o.seen) >= mostAnswers {
		clear(o.seen)
	}
	o.seen[key] = a
	return a
}

// agree is the verdict of every judge; without judges, or where they differ, it is
// the other.
func (o *operation) agree(other Verdict, verdictOf func(judge) Verdict) Verdict {
	verdict := other
	for i, j := range o.judges {
		own := verdictOf(j)
		if i > 0 && own != verdict {
			return other
		}
		verdict = own
	}
	return verdict
}

// judgeError judges a call that failed: an error that an acceptor of every judge
// matches has its verdict.
func (o *operation) judgeError(name string) Verdict {
	_, code, _ := strings.Cut(name, ".")
	return o.agree(CallFailed, func(j judge) Verdict {
		for _, a := range j.entry.Waiter.Acceptors {
			m := a.Matcher
			if m.Success != nil && !*m.Success || m.ErrorType != nil && namesError(j.entry, *m.ErrorType, code) {
				return Verdict(a.State)
			}
		}
		return CallFailed
	})
}

// namesError tells whether the name of an error in a waiter stands for one with the
// code that Step Functions shows.
func namesError(e *catalog.Entry, name, code string) bool {
	return name == code || javasdk.ExceptionName(e.Service.Name, shapeOf(e, name)) == code
}

// shapeOf is the shape of an error that a waiter names by its shape or code.
func shapeOf(e *catalog.Entry, name string) string {
	name = smithy.ShapeName(name)
	for _, declared := range e.Operation.Errors {
		if declared.Code == name && declared.Shape != "" {
			return declared.Shape
		}
	}
	return name
}

// sight is where a response has what is worth seeing, in the spelling of Step
// Functions.
type sight struct {
	status, start, end path
}

func newSight(e *catalog.Entry) sight {
	var s sight
	if e.Job != nil {
		s.status, s.start, s.end = newPath(e.Job.Status), newPath(e.Job.StartTime), newPath(e.Job.EndTime)
	}
	if len(s.status) > 0 {
		return s
	}
	compared := map[string]int{} // acceptors by their paths: that of the status has most
	most := 0
	for _, a := range e.Waiter.Acceptors {
		m := a.Matcher.Output
		if m == nil {
			continue
		}
		if compared[m.Path]++; compared[m.Path] > most && newPath(m.Path) != nil {
			most, s.status = compared[m.Path], newPath(m.Path)
		}
	}
	return s
}

// chooseSight is the sight of a job, which has paths of times, or else of the first
// entry that matches a status: InstanceExists, say, counts the reservations alone.
func chooseSight(entries []*catalog.Entry) sight {
	if i := slices.IndexFunc(entries, func(e *catalog.Entry) bool { return e.Job != nil }); i >= 0 {
		return newSight(entries[i])
	}
	for _, e := range entries {
		if s := newSight(e); len(s.status) > 0 {
			return s
		}
	}
	return sight{}
}

// read reads a response.
func (s sight) read(response any) (status string, started, ended time.Time) {
	status = s.status.text(response)
	started, _ = parseTime(s.start.text(response))
	ended, _ = parseTime(s.end.text(response))
	return status, started, ended
}

// path are the members that lead to a value; "[]" stands for the items of a list.
type path []string

// newPath reads a path of members and items; nil if it is none.
func newPath(text string) path {
	if text == "" || strings.ContainsAny(text, "(){}'`\"|&@<>=!?*") {
		return nil
	}
	var p path
	for step := range strings.SplitSeq(text, ".") {
		name, list, isList := strings.Cut(step, "[")
		p = append(p, javasdk.MemberName(name))
		if isList {
			p = append(p, "["+list)
		}
	}
	return p
}

// mostTexts is how many values of a list are shown.
const mostTexts = 4

// text is the value at the path; of the items of a list each value once.
func (p path) text(value any) string {
	if len(p) == 0 {
		return valueText(value)
	}
	step, rest := p[0], p[1:]
	switch v := value.(type) {
	case map[string]any:
		if member, ok := v[step]; ok {
			return rest.text(member)
		}
	case []any:
		index, err := strconv.Atoi(strings.Trim(step, "[]"))
		if err == nil {
			if index >= 0 && index < len(v) {
				return rest.text(v[index])
			}
			return ""
		}
		var all []string
		for _, item := range v {
			if text := rest.text(item); text != "" && !slices.Contains(all, text) && len(all) < mostTexts {
				all = append(all, text)
			}
		}
		return strings.Join(all, ", ")
	}
	return ""
}

// valueText is a scalar as text.
func valueText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}
