package lint

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// takesAll tells whether ErrorEquals takes every error of a call.
func takesAll(names []string) bool {
	return slices.Contains(names, asl.ErrorAll) || slices.Contains(names, asl.ErrorTaskFailed)
}

// meets tells whether an error may be among both.
func meets(a, b []string) bool {
	return takesAll(a) || takesAll(b) || slices.ContainsFunc(a, func(name string) bool { return slices.Contains(b, name) })
}

// takes tells whether names in ErrorEquals take all of some errors.
func takes(names, errors []string) bool {
	all := slices.Contains(names, asl.ErrorAll)
	return all || !slices.ContainsFunc(errors, func(name string) bool {
		failed := name != asl.ErrorAll && name != asl.ErrorTimeout && slices.Contains(names, asl.ErrorTaskFailed)
		return !failed && !slices.Contains(names, name)
	})
}

// takesFaults tells whether the name of an error is that of a throttled call or
// a fault. A name with a ${Name} of a template in it may be one.
func takesFaults(s *asl.State, name string) bool {
	if name == asl.ErrorAll || name == asl.ErrorTaskFailed || strings.Contains(name, "${") {
		return true
	}
	// The time limits of the state itself are no faults of the service.
	class := awserror.ClassifyName(name, "")
	if class.Passes() && (class != awserror.Unclear || !strings.HasPrefix(name, "States.")) {
		return true
	}
	prefix := asl.ParseResource(s.Task.Resource).ErrorPrefix()
	return prefix != "" && name == prefix+"."+prefix+"Exception"
}

// errorOf is the error of a Fail state; empty if it is not known.
func errorOf(s *asl.State) string {
	if s.Fail.Error == nil {
		return ""
	}
	name, _ := s.Fail.Error.Literal.(string)
	return name
}

// mayTake tells whether names in ErrorEquals may take one of some errors: an empty one is not known.
func mayTake(names, errors []string) bool {
	return meets(names, errors) || slices.Contains(errors, "") ||
		slices.ContainsFunc(names, asl.HasPlaceholder)
}

// takesError tells whether a Retry or a Catch of a Task takes one of the errors.
func takesError(s *asl.State, names []string) bool {
	takes := func(of []string) bool {
		return takesAll(of) || slices.ContainsFunc(of, func(name string) bool { return slices.Contains(names, name) || asl.HasPlaceholder(name) })
	}
	return slices.ContainsFunc(s.Retry, func(r asl.Retrier) bool { return r.MaxAttempts > 0 && takes(r.ErrorEquals) }) ||
		slices.ContainsFunc(s.Catch, func(c asl.Catcher) bool { return takes(c.ErrorEquals) })
}
