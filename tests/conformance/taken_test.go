package conformance_test

import (
	"regexp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/tests/responses"
)

// taken says which entries a strategy has to take, from the catalogue and the
// drivers alone: not from what Compile says. It takes all others, too, or not.
var taken = map[compile.Strategy]func(e *catalog.Entry) bool{
	compile.LambdaLoop:   hasDriver,
	compile.LambdaRetry:  hasDriver,
	compile.LambdaEvents: hasDriver,
	compile.Variables:    func(e *catalog.Entry) bool { return !lossy(e) },
	compile.Loop:         func(e *catalog.Entry) bool { return !lossy(e) && dotted(e) && inputKnown(e) },
	compile.RetryTask:    func(e *catalog.Entry) bool { return !lossy(e) && !retriesByCause(e) },
}

// hasDriver tells whether the Lambda functions can run the job, or poll for it.
func hasDriver(e *catalog.Entry) bool {
	_, err := awsjob.NewDriver(aws.Config{Region: "us-east-1"}, catalog.AWS(), e.Service.Key+":"+e.Name)
	return err == nil
}

// lossy tells whether two errors that Step Functions does not tell apart have
// different verdicts: those with a code that the model does not declare, and any
// other that it does not declare.
func lossy(e *catalog.Entry) bool {
	verdict := func(code string) pollcore.Verdict {
		for _, a := range e.Waiter.Acceptors {
			m := a.Matcher
			if m.Success != nil && !*m.Success || m.ErrorType != nil && code != "" && *m.ErrorType == code {
				return a.State
			}
		}
		return pollcore.Failure
	}
	for _, a := range e.Waiter.Acceptors {
		if t := a.Matcher.ErrorType; t != nil && !declares(e, *t) && !seen(e, *t) && verdict(*t) != verdict("") {
			return true
		}
	}
	return false
}

// seen tells whether a message of the error is known, which its Cause has.
func seen(e *catalog.Entry, code string) bool {
	return slices.ContainsFunc(e.Operation.Causes(), func(c catalog.KnownCause) bool { return c.Code == code })
}

// declares tells whether the model has the error: by its shape, or by the HTTP
// status of an answer that names none.
func declares(e *catalog.Entry, code string) bool {
	return slices.ContainsFunc(e.Operation.Errors, func(x catalog.Error) bool { return x.Shape == code || x.Code == code })
}

// retriesByCause tells whether the poll goes on after an error that has the name
// of all that have none, so that only its Cause tells it apart: a Retry block sees
// names alone.
func retriesByCause(e *catalog.Entry) bool {
	prefix := e.Service.ErrorPrefix
	return slices.ContainsFunc(e.Waiter.Acceptors, func(a pollcore.Acceptor) bool {
		t := a.Matcher.ErrorType
		return a.State == pollcore.Retry && t != nil && responses.IntegrationError(e.Operation, *t) == prefix+"."+prefix+"Exception"
	})
}

var (
	members  = regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$`)
	argument = regexp.MustCompile("^((input|output)(\\.\\w+)+|\\[(input|output)(\\.\\w+)+\\]|'[^']*'|`[^`]*`)$")
)

// dotted tells whether all that an entry reads are members: of the response, and
// of the start call for the arguments of the others.
func dotted(e *catalog.Entry) bool {
	for _, a := range e.Waiter.Acceptors {
		p := a.Matcher.Output
		switch {
		case a.Matcher.InputOutput != nil, a.Message != "" && !members.MatchString(a.Message):
			return false
		case p == nil:
		case !members.MatchString(p.Path), p.Comparator != pollcore.StringEquals && p.Comparator != pollcore.BooleanEquals:
			return false
		}
	}
	if e.Job == nil {
		return true
	}
	expressions := []map[string]string{e.Job.Arguments}
	if e.Job.Stop != nil {
		expressions = append(expressions, e.Job.Stop.Arguments)
	}
	for _, arguments := range expressions {
		for _, expression := range arguments {
			if !argument.MatchString(expression) {
				return false
			}
		}
	}
	return true
}

// inputKnown tells whether something is known to be in the input of the first call,
// or that has none.
func inputKnown(e *catalog.Entry) bool {
	first := e.Operation
	if e.Job != nil {
		first = e.Service.Operations[e.Name]
	}
	if first.Input == nil {
		return true
	}
	members := slices.DeleteFunc(slices.Clone(first.Input.Members), func(m catalog.Member) bool { return e.Job != nil && m.Name == e.Job.Token })
	return len(members) == 0 || slices.ContainsFunc(members, func(m catalog.Member) bool { return m.Required })
}
