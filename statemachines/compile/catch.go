package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore"
)

// catch is an acceptor of errors.
type catch struct {
	state pollcore.Verdict
	names []string // of the errors that it accepts by their names
	cause glob     // what the Cause of the service's own exception has, if it accepts that
	any   bool     // it accepts all errors of the service
	plain string   // the reason
	// unmodeled is the code of an error that Step Functions does not pass on; the
	// acceptor accepts nothing then.
	unmodeled string
}

// looks tells whether the name of the error does not decide: a Choice state has
// to look at the error.
func (c catch) looks() bool { return c.any || c.cause != nil }

// acceptError takes over an acceptor of errors.
func (p *poller) acceptError(i int, a pollcore.Acceptor, reason string) {
	c := catch{state: a.State, plain: reason}
	if a.Matcher.ErrorType == nil {
		c.any = true
	} else {
		s, err := p.shown(*a.Matcher.ErrorType, a.State)
		if err != nil {
			p.refuse("acceptor %d: %s", i+1, err)
			return
		}
		if s == nil {
			c.unmodeled = codeOf(*a.Matcher.ErrorType)
		} else {
			c.names, c.cause = s.names, s.cause
		}
	}
	if c.looks() && c.state == pollcore.Retry && p.options.Strategy == RetryTask {
		p.refuse("acceptor %d: %s goes on after errors that only their Cause tells apart, which a Retry block cannot look at", i+1, a.Matcher)
	}
	p.catches = append(p.catches, c)
}

// settleCatches leaves out what an acceptor further up has taken, and refuses
// codes that Step Functions does not pass on. It takes those whose verdict is
// Failure if nothing behind them says otherwise: an error that no acceptor
// matches is a failure, too.
func (p *poller) settleCatches() {
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
			p.unseen = append(p.unseen, c.plain)
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
		p.refuse("the model of %s does not declare %s, and Step Functions calls all such errors %s; "+
			"a pattern of the Cause can tell them apart, or each of them can fail the wait",
			p.call.Operation.Name, strings.Join(p.unmodeled, ", "), serviceException(p.call.Operation.Service))
	}
}

// checkFailing refuses to let errors fail the wait that alone make it succeed.
func (p *poller) checkFailing() {
	if len(p.failing) == 0 || slices.ContainsFunc(p.rules, func(r rule) bool { return r.state == pollcore.Success }) ||
		slices.ContainsFunc(p.catches, func(c catch) bool { return c.state == pollcore.Success }) {
		return
	}
	p.refuse("the wait can succeed by %s alone, whose code Step Functions hides: a pattern of the Cause has to tell it apart", strings.Join(p.failing, ", "))
}

// ambiguous are the errors that the state CheckError looks at; nil if there are
// none.
func (p *poller) ambiguous() []string {
	var names []string
	for _, c := range p.catches {
		if c.any {
			return []string{"States.TaskFailed"} // which matches all but States.Timeout
		}
		if c.cause != nil {
			names = []string{serviceException(p.call.Operation.Service)}
		}
	}
	return names
}

// pollsAfterLook tells whether the loop goes on after some errors that CheckError
// looks at, other than faults.
func (p *poller) pollsAfterLook() bool {
	return slices.ContainsFunc(p.catches, func(c catch) bool { return c.looks() && c.state == pollcore.Retry })
}

// catchers are those of the Task that polls, in JSONata, in the order of the
// acceptors. Errors after which the job is polled again lead to again. A call
// that is not answered in time (States.Timeout), and a role that cannot be
// assumed (States.TaskFailed), say nothing of the job: no acceptor matches them.
func (p *poller) catchers(again string) []object {
	catcher := func(names []string, c catch, next string) object {
		o := object{"ErrorEquals": names, "Output": p.caught(c), "Next": next}
		if p.options.Strategy == Variables && !p.leaves(next) {
			o["Assign"] = p.counted()
		}
		return o
	}
	var all []object
	for _, c := range p.catches {
		if len(c.names) > 0 {
			all = append(all, catcher(c.names, c, p.after(c.state, again)))
		}
	}
	unnamed := catch{state: pollcore.Failure, plain: p.unnamed(), any: p.unseen != nil}
	if names := p.ambiguous(); names != nil {
		all = append(all, catcher(names, unnamed, p.name("CheckError")))
	} else if p.unseen != nil {
		all = append(all, catcher([]string{serviceException(p.call.Operation.Service)}, unnamed, p.exit(pollcore.Failed)))
	}
	return append(all, catcher([]string{"States.ALL"}, catch{state: pollcore.Failure}, p.exit(pollcore.Failed)))
}

// leaves tells whether a state is behind the loop.
func (p *poller) leaves(state string) bool {
	return state == p.exit(pollcore.Succeeded) || state == p.exit(pollcore.Failed)
}

// unnamed is the reason of a failure by an error without a name of its own: it
// may be one that acceptors name. It is empty if they name none.
func (p *poller) unnamed() string {
	if p.unseen == nil {
		return ""
	}
	return strings.Join(append(slices.Clone(p.unseen), "no acceptor matches the error"), ", or ")
}

// after is the state that follows a verdict on an error.
func (p *poller) after(v pollcore.Verdict, again string) string {
	switch v {
	case pollcore.Success:
		return p.exit(pollcore.Succeeded)
	case pollcore.Failure:
		return p.exit(pollcore.Failed)
	default:
		return again
	}
}

// verdictOnError is the status and the reason where an error has the verdict. A
// catch without a reason accepts nothing.
func (p *poller) verdictOnError(c catch, failure string) (pollcore.Status, phrase) {
	named := failure + ".Error & ': ' & " + failure + ".Cause"
	switch {
	case c.state == pollcore.Retry:
		return pollcore.TimedOut, phrase{p.notFinished() + "; seen ", named}
	case c.plain == "":
		return pollcore.Failed, phrase{"no acceptor matches the error: ", named}
	case c.any:
		return statusOf[c.state], phrase{c.plain + ": ", failure + ".Cause"}
	default:
		return statusOf[c.state], phrase{text: c.plain}
	}
}

// lookAtError is the state that looks at errors whose names do not decide, in
// JSONata. Its input is the result where no acceptor matches.
func (p *poller) lookAtError(again string) states {
	if p.ambiguous() == nil {
		return nil
	}
	const failure = "$states.input.error"
	named := failure + ".Error = " + text(serviceException(p.call.Operation.Service))
	prefix := p.call.Operation.Service.ErrorPrefix + "."
	cause := "$string(" + failure + ".Cause)"
	var choices []object
	choose := func(condition string, c catch) {
		status, reason := p.verdictOnError(c, failure)
		choices = append(choices, object{
			"Condition": expression(condition), "Next": p.after(c.state, again),
			"Output": expression(fmt.Sprintf("$merge([$states.input, {'status': %s, 'reason': %s}])", text(string(status)), reason.jsonata())),
		})
	}
	for _, c := range p.catches {
		switch {
		case c.any:
			choose(fmt.Sprintf("$substring(%s.Error, 0, %d) = %s", failure, len(prefix), text(prefix)), c)
		case c.cause != nil:
			choose(named+" and "+c.cause.jsonata(cause), c)
		}
	}
	if again != "" {
		var faults []string
		for _, g := range unnamedFaults {
			faults = append(faults, g.jsonata(cause))
		}
		choose(named+" and ("+strings.Join(faults, " or ")+")", catch{state: pollcore.Retry})
	}
	return states{{p.name("CheckError"), object{
		"Type": "Choice", "Choices": choices, "Output": expression("$states.input"), "Default": p.exit(pollcore.Failed),
	}}}
}

// catchersInLoop are the catchers of the Task that polls, in JSONPath.
func (p *poller) catchersInLoop(again string) []object {
	catcher := func(names []string, next string, assign object) object {
		assign[p.variable("attempt")+".$"] = "States.MathAdd($" + p.variable("attempt") + ", 1)"
		return object{"ErrorEquals": names, "ResultPath": "$.error", "Assign": assign, "Next": next}
	}
	unclaimed := func(reason string) object {
		if reason == "" {
			reason = "no acceptor matches the error"
		}
		return object{p.variable("reason") + ".$": "States.Format('" + intrinsicText(reason) + ": {}: {}', $.Error, $.Cause)"}
	}
	var all []object
	for _, c := range p.catches {
		if len(c.names) > 0 {
			all = append(all, catcher(c.names, p.afterInLoop(c.state, again), object{p.variable("reason"): c.plain}))
		}
	}
	if names := p.ambiguous(); names != nil {
		all = append(all, catcher(names, p.name("CheckError"), unclaimed(p.unnamed())))
	} else if p.unseen != nil {
		all = append(all, catcher([]string{serviceException(p.call.Operation.Service)}, p.name("Failed"), unclaimed(p.unnamed())))
	}
	return append(all, catcher([]string{"States.ALL"}, p.name("Failed"), unclaimed("")))
}

func (p *poller) afterInLoop(v pollcore.Verdict, again string) string {
	return map[pollcore.Verdict]string{pollcore.Success: p.name(p.successOnError()), pollcore.Failure: p.name("Failed"), pollcore.Retry: again}[v]
}

// lookAtErrorInLoop is the state CheckError in JSONPath.
func (p *poller) lookAtErrorInLoop(again string) states {
	if p.ambiguous() == nil {
		return nil
	}
	is := func(field, comparison, value string) []object {
		path := "$.error." + field
		return []object{{"Variable": path, "IsPresent": true}, {"Variable": path, "IsString": true}, {"Variable": path, comparison: value}}
	}
	named := func(g glob) []object {
		return append(is("Error", "StringEquals", serviceException(p.call.Operation.Service)), is("Cause", "StringMatches", g.stringMatches())...)
	}
	var choices []object
	choose := func(and []object, c catch) {
		choice := object{"And": and, "Next": p.afterInLoop(c.state, again)}
		if c.state != pollcore.Retry {
			choice["Assign"] = object{p.variable("reason"): c.plain}
		}
		choices = append(choices, choice)
	}
	for _, c := range p.catches {
		switch {
		case c.any:
			choose(is("Error", "StringMatches", p.call.Operation.Service.ErrorPrefix+".*"), c)
		case c.cause != nil:
			choose(named(c.cause), c)
		}
	}
	for _, g := range unnamedFaults {
		choose(named(g), catch{state: pollcore.Retry})
	}
	return states{{p.name("CheckError"), object{"Type": "Choice", "Choices": choices, "Default": p.name("Failed")}}}
}

// unnamedFaults are what the Cause of the service's own exception has if that
// is a fault of the service or a throttled call. CloudFormation and others
// throttle with status 400 and this message:
// https://repost.aws/knowledge-center/cloudformation-rate-exceeded-error.
var unnamedFaults = []glob{{"Status Code: 5"}, {"Status Code: 429"}, {"Rate exceeded"}}
