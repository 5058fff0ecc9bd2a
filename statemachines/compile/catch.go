package compile

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore"
)

// catch is an acceptor of errors.
type catch struct {
	state  pollcore.Verdict
	names  []string // of the errors that it accepts by their names
	cause  glob     // what the Cause of the service's own exception has, if it accepts that
	any    bool     // it accepts all errors of the service
	reason string
	// unmodeled is the code of an error that Step Functions does not pass on; the
	// acceptor accepts nothing then.
	unmodeled string
}

// looks tells whether the name of the error does not decide: a Choice state has
// to look at the error.
func (c catch) looks() bool { return c.any || c.cause != nil }

// acceptError takes over an acceptor of errors.
func (p *plan) acceptError(number int, a pollcore.Acceptor, reason string) {
	c := catch{state: a.State, reason: reason, any: a.Matcher.ErrorType == nil}
	if c.any && p.own != nil {
		p.refuseAcceptor(number, "acceptor %d: %s takes any error of a Task: name the errors, as ASL does", number, a.Matcher)
	}
	if !c.any {
		s, err := p.findError(*a.Matcher.ErrorType, a.State)
		switch {
		case err != nil:
			p.refuseAcceptor(number, "acceptor %d: %s", number, err)
			return
		case s == nil:
			c.unmodeled = codeOf(*a.Matcher.ErrorType)
		default:
			c.names, c.cause = s.names, s.cause
		}
	}
	if c.looks() && c.state == pollcore.Retry && p.retryBlock {
		p.refuseAcceptor(number, "acceptor %d: %s must go on after errors that only their Cause tells apart, and a Retry block cannot read a Cause",
			number, a.Matcher)
	}
	p.catches = append(p.catches, c)
}

// settleCatches leaves out what an acceptor further up has taken, and refuses
// codes that Step Functions does not pass on. It takes those whose verdict is
// Failure if nothing behind them says otherwise: an error that no acceptor
// matches is a failure, too.
func (p *plan) settleCatches() {
	decides := false // an acceptor behind this one, on errors without a name
	for _, c := range slices.Backward(p.catches) {
		decides = decides || (c.looks() || c.unmodeled != "") && c.state != pollcore.Failure
		switch {
		case c.unmodeled == "":
		case decides && p.options.UnmodeledFails:
			if !slices.Contains(p.failing, c.unmodeled) {
				p.failing = append(p.failing, c.unmodeled)
			}
		case decides:
			if !slices.Contains(p.unmodeled, c.unmodeled) {
				p.unmodeled = append(p.unmodeled, c.unmodeled)
			}
		default:
			p.unseen = append(p.unseen, c.reason)
		}
	}
	slices.Reverse(p.unmodeled)
	slices.Reverse(p.unseen)
	taken := map[string]bool{}
	var kept []catch
	for _, c := range p.catches {
		c.names = slices.DeleteFunc(slices.Clone(c.names), func(name string) bool { return taken[name] })
		for _, name := range c.names {
			taken[name] = true
		}
		if len(c.names) > 0 || c.looks() {
			kept = append(kept, c)
		}
		if c.any {
			break // there is nothing left
		}
	}
	p.catches = kept
	if len(p.unmodeled) > 0 {
		p.refuse("the model of %s does not declare %s, and Step Functions gives all undeclared errors the name %s; "+
			"give a pattern of the Cause for each, or let each fail the wait",
			p.call.Operation.Name, strings.Join(p.unmodeled, ", "), p.call.Operation.Service.UnmodeledErrorName())
	}
}

// checkFailing refuses to let errors fail the wait that alone make it succeed.
func (p *plan) checkFailing() {
	if len(p.failing) == 0 || slices.ContainsFunc(p.rules, func(r rule) bool { return r.state == pollcore.Success }) ||
		slices.ContainsFunc(p.catches, func(c catch) bool { return c.state == pollcore.Success }) {
		return
	}
	p.refuse("only %s makes the wait succeed, and Step Functions hides its code: give a pattern of its Cause", strings.Join(p.failing, ", "))
}

// ambiguous are the errors that the state CheckError looks at; nil if there are
// none.
func (p *plan) ambiguous() []string {
	var names []string
	for _, c := range p.catches {
		if c.any {
			return []string{"States.TaskFailed"} // which matches all but States.Timeout
		}
		if c.cause != nil {
			names = []string{p.call.Operation.Service.UnmodeledErrorName()}
		}
	}
	return names
}

// pollsAfterLook tells whether the loop goes on after some errors that CheckError
// looks at, other than faults.
func (p *plan) pollsAfterLook() bool {
	return slices.ContainsFunc(p.catches, func(c catch) bool { return c.looks() && c.state == pollcore.Retry })
}

// reasonWithoutMatch is the reason of a failure by an error without a name of its own: it
// may be one that acceptors name. It is empty if they name none.
func (p *plan) reasonWithoutMatch() string {
	if p.unseen == nil {
		return ""
	}
	return strings.Join(append(slices.Clone(p.unseen), "an unexpected error"), ", or ")
}

// unnamedFaults are what the Cause of the service's own exception has if that
// is a fault of the service or a throttled call. CloudFormation and others
// throttle with status 400 and this message:
// https://repost.aws/knowledge-center/cloudformation-rate-exceeded-error.
var unnamedFaults = []glob{{"Status Code: 5"}, {"Status Code: 429"}, {"Rate exceeded"}}
