package importer

import (
	"errors"
	"slices"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// checkCall reports arguments of a call that do not fit its input, or what is
// known of the call that started the job.
func (j *tableJob) checkCall(pointer string, arguments map[string]string, call, start *catalog.Operation) {
	var members []string
	if call.Input != nil {
		for _, m := range call.Input.Members {
			members = append(members, m.Name)
			if _, given := arguments[m.Name]; m.Required && !m.Token && !given {
				j.report(pointer, "%s needs the argument %s", call.Name, m.Name)
			}
		}
	}
	known := &pollcore.Shape{Kind: pollcore.KindObject, Members: map[string]*pollcore.Shape{
		"input": start.Input.Described(), "output": start.Output.Described(),
	}}
	for _, name := range sorted(arguments) {
		at := pointer + "/" + name
		member := call.Input.Member(name)
		if member == nil {
			j.suggest(at, name, members, "the input of %s has no member %q", call.Name, name)
			continue
		}
		gives, ok := j.checkExpression(at, arguments[name], known)
		if wants := member.Shape.Described(); ok && !fits(gives, wants) {
			j.report(at, "%s is %s, and the expression gives %s", name, pollcore.ValueType{Kind: wants.Kind}, pollcore.ValueType{Kind: gives.Kind})
		}
	}
}

// fits tells whether a value of a type can be a value of a shape, as far as
// that is known.
func fits(gives pollcore.ValueType, wants *pollcore.Shape) bool {
	if gives.Kind == pollcore.KindUnknown || wants.Kind == pollcore.KindUnknown {
		return true
	}
	if gives.Kind != wants.Kind {
		return false
	}
	return gives.Elem == nil || wants.Elem == nil || fits(*gives.Elem, wants.Elem)
}

// checkExpression reports what is wrong in an expression on a value of a shape,
// and returns the type of its result if nothing is.
func (j *tableJob) checkExpression(pointer, text string, of *pollcore.Shape) (pollcore.ValueType, bool) {
	expr, err := jmespath.Parse(text)
	if err != nil {
		message := err.Error()
		if problems, ok := errors.AsType[pollcore.Problems](err); ok {
			message = problems.Brief()
		}
		j.report(pointer, "%s", message)
		return pollcore.ValueType{}, false
	}
	reading := expr.Check(of)
	for _, f := range reading.Findings {
		p := j.node.Nearest(j.node.Pointer+"/"+pointer).Problem("column %d: %s", f.Column, f.Message)
		p.Suggestion = f.Suggestion
		j.table.Report(p)
	}
	return reading.Type, len(reading.Findings) == 0
}

// checkStatus reports a status that the describe call does not have, and values
// that are not all those of its enum.
func (j *tableJob) checkStatus(describe *catalog.Operation) {
	output := describe.Output.Described()
	if j.job.Message != "" {
		if t, ok := j.checkExpression("message", j.job.Message, output); ok && t.Kind != pollcore.KindString && t.Kind != pollcore.KindUnknown {
			j.report("message", "the message must be a string, and the expression gives %s", t)
		}
	}
	t, ok := j.checkExpression("status", j.job.Status, output)
	if !ok {
		return
	}
	if t.Kind != pollcore.KindString {
		j.report("status", "the status must be a string, and the expression gives %s", t)
		return
	}
	values := t.Values()
	if j.job.Documented != (len(values) == 0) {
		j.report("documented", "documented must be %t: the model lists %d values of %s", len(values) == 0, len(values), j.job.Status)
	}
	if len(values) == 0 {
		return
	}
	all := slices.Concat(j.job.Success, j.job.Failure, j.job.Running)
	for name, set := range map[string][]string{"success": j.job.Success, "failure": j.job.Failure, "running": j.job.Running} {
		for _, value := range set {
			if !slices.Contains(values, value) {
				j.suggest(name, value, values, "%s never is %q", j.job.Status, value)
			}
		}
	}
	for _, value := range values {
		if !slices.Contains(all, value) {
			j.report("", "%s can be %q, which is in none of success, failure and running", j.job.Status, value)
		}
	}
}

// checkAcceptors reports acceptors that do not fit the describe call.
func (j *tableJob) checkAcceptors(describe *catalog.Operation) {
	text := jsontree.Compact(map[string]any{"acceptors": j.job.Acceptors, "minDelay": j.job.MinDelay, "maxDelay": j.job.MaxDelay})
	w, err := pollcore.ParseWaiter(j.job.Waiter, text)
	problems, known := errors.AsType[pollcore.Problems](err)
	switch {
	case err == nil:
		problems = pollcore.AnalyzeShapes(w, describe.Input.Described(), describe.Output.Described())
	case !known:
		j.report("acceptors", "%s", err)
	}
	for _, p := range problems {
		at := j.node.Nearest(j.node.Pointer+p.Pointer).Problem("%s", p.Message)
		at.Suggestion = p.Suggestion
		j.table.Report(at)
	}
}
