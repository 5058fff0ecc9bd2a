package catalogimport

import (
	"errors"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// checkCall reports arguments of a call that do not fit its input, or what is
// known of the call that started the job.
func (j *tableJob) checkCall(pointer string, arguments map[string]string, call *catalog.Operation, known *jsontype.Type) {
	if call.Input != nil {
		for _, m := range call.Input.Members {
			if _, given := arguments[m.Name]; m.Required && !m.Token && !given {
				j.report(pointer, "%s needs the argument %s", call.Name, m.Name)
			}
		}
	}
	for _, name := range namesOf(arguments) {
		j.checkArgument(pointer, name, arguments[name], call, known)
	}
}

// checkArgument reports an argument of a call that does not fit its input, or what is
// known.
func (j *tableJob) checkArgument(pointer, name, expression string, call *catalog.Operation, known *jsontype.Type) {
	at := pointer + "/" + name
	member := call.Input.Member(name)
	if member == nil {
		var members []string
		if call.Input != nil {
			for _, m := range call.Input.Members {
				members = append(members, m.Name)
			}
		}
		j.suggest(at, name, members, "the input of %s has no member %q", call.Name, name)
		return
	}
	gives, ok := j.checkExpression(at, expression, known)
	if wants := member.Shape.Describe(); ok && !fits(gives, wants) {
		given, wanted := typeName(gives.Kind, nil), typeName(wants.Kind, nil)
		if gives.Elem != nil && wants.Elem != nil {
			given, wanted = typeName(gives.Kind, &gives.Elem.Kind), typeName(wants.Kind, &wants.Elem.Kind)
		}
		j.report(at, "%s is %s, and the expression gives %s", name, wanted, given)
	}
}

// typeName is what a message calls a type, and what it holds.
func typeName(kind jsontype.Kind, elem *jsontype.Kind) string {
	name := kind.Noun()
	if elem != nil {
		name += " of " + elem.String() + "s"
	}
	return name
}

// fits tells whether a value of a type can be a value of a shape, as far as
// that is known.
func fits(gives, wants *jsontype.Type) bool {
	if gives.Kind == jsontype.Unknown || wants.Kind == jsontype.Unknown {
		return true
	}
	if gives.Kind != wants.Kind {
		return false
	}
	return gives.Elem == nil || wants.Elem == nil || fits(gives.Elem, wants.Elem)
}

// checkExpression reports what is wrong in an expression on a value of a shape,
// and returns the type of its result if nothing is.
func (j *tableJob) checkExpression(pointer, text string, of *jsontype.Type) (*jsontype.Type, bool) {
	expr, err := jmespath.Parse(text)
	if err != nil {
		message := err.Error()
		if problems, ok := errors.AsType[diag.Problems](err); ok {
			message = problems.Brief()
		}
		j.report(pointer, "%s", message)
		return nil, false
	}
	reading := expr.Check(of)
	for _, f := range reading.Findings {
		p := j.node.Nearest(j.node.Pointer()+"/"+pointer).Problem("column %d: %s", f.Column, f.Message)
		p.Suggestion = f.Suggestion
		j.table.Report(p)
	}
	return reading.Type, len(reading.Findings) == 0
}

// checkStatus reports a status that the describe call does not have, and values
// that are not all those of its enum.
func (j *tableJob) checkStatus(describe *catalog.Operation) {
	output := describe.Output.Describe()
	if j.job.Message != "" {
		if t, ok := j.checkExpression("message", j.job.Message, output); ok && t.Kind != jsontype.String && t.Kind != jsontype.Unknown {
			j.report("message", "the message must be a string, and the expression gives %s", t)
		}
	}
	t, ok := j.checkExpression("status", j.job.Status, output)
	if !ok {
		return
	}
	if t.Kind != jsontype.String {
		j.report("status", "the status must be a string, and the expression gives %s", t)
		return
	}
	values := t.Enum()
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

// checkWaiter reports a waiter that the job cannot have, or what in its
// acceptors does not fit the describe call.
func (j *tableJob) checkWaiter(describe *catalog.Operation) {
	w, err := j.job.NewWaiter()
	problems, known := errors.AsType[diag.Problems](err)
	if err == nil && len(j.job.Acceptors) > 0 {
		problems = pollcore.AnalyzeTypes(w, describe.Input.Describe(), describe.Output.Describe())
		j.checkValues(w, describe)
	} else if err != nil && !known {
		j.report("waiter", "%s", err)
	}
	for _, p := range problems {
		at := j.node.Get("waiter")
		if strings.HasPrefix(p.Pointer, "/acceptors") {
			if len(j.job.Acceptors) == 0 {
				continue // they are made from the status, which is checked for itself
			}
			at = j.node.Nearest(j.node.Pointer() + p.Pointer)
		}
		problem := at.Problem("%s", p.Message)
		problem.Suggestion = p.Suggestion
		j.table.Report(problem)
	}
}

// checkValues reports values of an enum that no acceptor names, though others of
// it are.
func (j *tableJob) checkValues(w *pollcore.Waiter, describe *catalog.Operation) {
	named, values := map[string][]string{}, map[string][]string{} // by path
	for _, r := range pollcore.Readings(w, describe.Input.Describe(), describe.Output.Describe()) {
		matcher := w.Acceptors[r.Acceptor].Matcher
		of := matcher.Output
		if of == nil {
			of = matcher.InputOutput
		}
		named[of.Path] = append(named[of.Path], of.Expected)
		values[of.Path] = r.Type.Enum()
		if r.Type.Elem != nil {
			values[of.Path] = r.Type.Elem.Enum()
		}
	}
	for _, path := range namesOf(values) {
		for _, value := range values[path] {
			if !slices.Contains(named[path], value) {
				j.report("acceptors", "%s can be %q, which no acceptor tells", path, value)
			}
		}
	}
}
