package compile

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
	"github.com/jobpoller/jobpoller/statemachines"
)

// plan is what a machine does, before it has states: what it calls, when it
// polls, where verdicts lead, and under which names errors arrive. It is worked
// out once, and strategies only read it.
type plan struct {
	timing
	traits
	refusal

	strategy strategy
	waiter   *pollcore.Waiter // with members as SDK integrations spell them
	shapes   *jsontype.Type   // of input and output, spelled so too
	call     Call
	own      *ownTask // nil if a Task of the operation polls
	options  Options
	choice   string // what the history made of the delays
	leaves   bool   // the Lambda functions are not to stop the job, which they could

	rules   []rule  // of responses, in the order of the acceptors
	catches []catch // of errors, in that order
	// unseen are the reasons of acceptors whose errors cannot be told from those
	// that no acceptor matches, with the same verdict.
	unseen []string
	// failing are codes that Step Functions hides and that fail the wait.
	failing []string
	// selection is what the result keeps of a response; nil for all.
	selection *jmespath.Expr
}

// rule is an acceptor of responses.
type rule struct {
	state   pollcore.Verdict
	number  int                   // of the acceptor
	reason  string                // without the message
	matcher *pollcore.PathMatcher // nil: it accepts any response
	input   bool                  // the matcher reads the input, too
	message string                // a path, or empty
	idle    bool                  // without it the wait goes on as well
}

func newPlan(w *pollcore.Waiter, call Call, o Options) (*plan, error) {
	if err := check(w, call, o); err != nil {
		return nil, err
	}
	in, out := call.describe(w, o.Output)
	spell := call.spell
	call.Operation = call.operation()
	problems := slices.DeleteFunc(pollcore.AnalyzeTypes(w, in, out), func(p diag.Problem) bool { return p.Severity == diag.Warning })
	if err := problems.Err(); err != nil {
		return nil, OptionErrors{{"Waiter", fmt.Sprintf("%s does not fit %s: %v", w.Name, call.Operation.Name, err), err}}
	}
	renamed, err := pollcore.RenameMembers(w, in, out, spell)
	if err != nil {
		return nil, err
	}
	if o.JobTo == 0 {
		o.JobTo = o.MaxWait
	}
	p := &plan{
		timing: newTiming(schedule(w, o)), traits: o.Strategy.traits(), strategy: o.Strategy.find(),
		waiter: renamed, call: call, options: o,
		shapes: &jsontype.Type{Kind: jsontype.Object, Members: map[string]*jsontype.Type{
			"input": in.Respell(spell), "output": out.Respell(spell),
		}},
	}
	if call.Task != nil {
		p.own = readTask(call.Task)
	}
	if err := p.readOutput(out); err != nil {
		return nil, err
	}
	if p.functions {
		p.leaveToFunctions()
	} else {
		p.judge()
	}
	p.fit()
	return p, nil
}

// leaveToFunctions leaves judging, starting and stopping to the Lambda functions.
func (p *plan) leaveToFunctions() {
	if p.call.Start != nil {
		p.call.Arguments = p.call.Start.Arguments
	}
	p.leaves = p.call.Stop == nil && p.call.stoppable()
	p.call.Start, p.call.Stop = nil, nil
	if p.options.RunJobFunction == "" {
		p.options.RunJobFunction = statemachines.RunJobFunction
	}
	if p.options.CheckStatusFunction == "" {
		p.options.CheckStatusFunction = statemachines.CheckStatusFunction
	}
}

// judge takes over the acceptors.
func (p *plan) judge() {
	for i, a := range p.waiter.Acceptors {
		p.accept(i+1, a)
	}
	p.settleCatches()
	p.checkFailing()
	p.checkPatterns()
	p.findIdle()
}

func (p *plan) accept(number int, a pollcore.Acceptor) {
	reason := fmt.Sprintf("%s (acceptor %d of %d)", a.Matcher, number, len(p.waiter.Acceptors))
	r := rule{state: a.State, number: number, reason: reason, message: a.Message}
	switch m := a.Matcher; {
	case m.Success != nil && *m.Success:
		r.message = ""
	case m.Success != nil, m.ErrorType != nil:
		p.acceptError(number, a, reason)
		return
	case m.Output != nil:
		r.matcher = m.Output
	default:
		r.matcher, r.input = m.InputOutput, true
	}
	p.rules = append(p.rules, r)
}

// findIdle finds rules that only say to go on where that is what happens
// anyway: those behind which no other rule can match the same response.
func (p *plan) findIdle() {
	excludes := func(a, b rule) bool {
		return b.state == pollcore.Retry || a.matcher != nil && b.matcher != nil && !a.input && !b.input && a.matcher.Path == b.matcher.Path &&
			a.matcher.Comparator == pollcore.StringEquals && b.matcher.Comparator == pollcore.StringEquals && a.matcher.Expected != b.matcher.Expected
	}
	for i := range p.rules {
		r := &p.rules[i]
		r.idle = r.state == pollcore.Retry && !slices.ContainsFunc(p.rules[i+1:], func(later rule) bool { return !excludes(*r, later) })
	}
}

// readOutput reads Options.Output, what the result keeps of a response, and spells
// it as SDK integrations do.
func (p *plan) readOutput(out *jsontype.Type) error {
	if p.options.Output == "" {
		return nil
	}
	var c checks
	e, err := jmespath.Parse(p.options.Output)
	if err != nil {
		c.wrong("Output", "is not valid: %w", err)
		return c.err()
	}
	for _, f := range e.Check(out).Findings {
		if f.Severity < diag.Warning {
			c.wrong("Output", "does not fit %s: %w", p.call.Operation.Name, diag.Problems{f}.Err())
			return c.err()
		}
	}
	if p.selection, err = e.Rename(out, func(_ *jsontype.Type, name string) string { return p.call.spell(name) }); err != nil {
		c.wrong("Output", "cannot be spelled as SDK integrations do: %w", err)
	}
	return c.err()
}

// notFinished is the reason of a time-out, as far as it is known beforehand.
func (p *plan) notFinished() string { return fmt.Sprintf("not finished after %s", p.options.MaxWait) }

// retriesErrors tells whether the wait goes on after some errors.
func (p *plan) retriesErrors() bool {
	return slices.ContainsFunc(p.catches, func(c catch) bool { return c.state == pollcore.Retry })
}

// stop is the operation that stops the job; nil if there is none.
func (p *plan) stop() *catalog.Operation {
	if p.call.Stop == nil {
		return nil
	}
	return p.call.Operation.Service.Operations[p.call.Stop.Operation]
}

// redrivable tells whether a redrive goes on polling: it runs the state that
// failed again, which must not be a Fail state.
func (p *plan) redrivable() bool { return p.resumes && p.options.Exits == nil }

// variable is the name of a variable, without the dollar sign.
func (p *plan) variable(s string) string {
	if p.options.Prefix == "" {
		return s
	}
	return javasdk.Uncapitalize(p.options.Prefix) + javasdk.Capitalize(s)
}

// resource is the SDK integration of the operation.
func resource(op *catalog.Operation) string {
	return "arn:aws:states:::aws-sdk:" + op.Service.ARNName + ":" + javasdk.Uncapitalize(op.Name)
}
