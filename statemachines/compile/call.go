package compile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jmespath/tojsonata"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Call is what a state machine calls: the operation that it polls and, before
// and after, those that start and stop the job.
type Call struct {
	// Operation is polled.
	Operation *catalog.Operation
	// Arguments are those of the operation, with members as SDK integrations spell
	// them: in PascalCase, and DbInstanceIdentifier for DBInstanceIdentifier. Values may be expressions of the query language
	// of the strategy. Nil means the input of the poller, or what Start says.
	Arguments map[string]any
	// SelfFeeding tells that Arguments are paths that are in the output of the
	// operation as they are in the input of the poller, so that each call takes
	// them from the one before. It is for the strategy Loop.
	SelfFeeding bool
	// Start is called first; nil if the job has been started.
	Start *Start
	// Stop is called when the time is over; nil leaves the job alone.
	Stop *catalog.StopCall
	// Job is the driver of the job, for the strategies with Lambda functions.
	Job string
}

// Start is the call that starts a job.
type Start struct {
	Operation *catalog.Operation
	// Arguments are as in [Call]. Nil means the input of the poller.
	Arguments map[string]any
	// Token is the member that makes the call idempotent, in the model's
	// spelling: a UUID that is made once for all retries, unless the arguments
	// have one. It may be empty.
	Token string
	// Describe are the members of the polled operation's input, each a JMESPath
	// expression over {"input": …, "output": …} of this call, in the model's
	// spelling.
	Describe map[string]string
}

// CallOf returns the call of an entry of the catalogue. A job is started and,
// if it can be, stopped when its time is over.
func CallOf(e *catalog.Entry) Call {
	c := Call{Operation: e.Operation}
	called := []*catalog.Operation{e.Operation}
	if e.Job != nil {
		c.Start = &Start{Operation: e.Service.Operations[e.Name], Token: e.Job.Token, Describe: e.Job.Arguments}
		c.Stop = e.Job.Stop
		called = append(called, c.Start.Operation)
		if c.Stop != nil {
			called = append(called, e.Service.Operations[c.Stop.Operation])
		}
	}
	// What the awsjob drivers can call.
	speaks := slices.ContainsFunc(e.Service.Protocols, func(p catalog.Protocol) bool { return p == catalog.AWSJSON || p == catalog.RESTJSON })
	if speaks && !slices.ContainsFunc(called, func(o *catalog.Operation) bool { return o.Discovered }) {
		c.Job = e.Service.Key + ":" + e.Name
	}
	return c
}

// stoppable tells whether the driver of the job may be able to stop it. Those of
// the catalogue can as it says.
func (c Call) stoppable() bool {
	service := c.Operation.Service
	name, ok := strings.CutPrefix(c.Job, service.Key+":")
	switch {
	case !ok:
		return true
	case service.Jobs[name] != nil:
		return service.Jobs[name].Stop != nil
	default:
		return false
	}
}

// startShapes are what expressions over the start call read.
func (c Call) startShapes() *pollcore.Shape {
	return &pollcore.Shape{Kind: pollcore.KindObject, Members: map[string]*pollcore.Shape{
		"input": c.Start.Operation.Input.Described().Respell(javasdk.MemberName), "output": c.Start.Operation.Output.Described().Respell(javasdk.MemberName),
	}}
}

// fromStart parses an expression over the start call, in PascalCase.
func (p *poller) fromStart(member, expression string) *jmespath.Expr {
	e, err := jmespath.Parse(expression)
	if err == nil {
		shapes := &pollcore.Shape{Kind: pollcore.KindObject, Members: map[string]*pollcore.Shape{
			"input": p.call.Start.Operation.Input.Described(), "output": p.call.Start.Operation.Output.Described(),
		}}
		e, err = e.Rename(shapes, func(owner *pollcore.Shape, name string) string {
			if owner == shapes {
				return name
			}
			return javasdk.MemberName(name)
		})
	}
	if err != nil {
		p.refuse("argument %s: %s", member, err)
		return nil
	}
	return e
}

// madeFromStart is JSONata for the arguments of an operation that the start call
// determines, where its result is at hand.
func (p *poller) madeFromStart(op *catalog.Operation, arguments map[string]string) string {
	shapes := p.call.startShapes()
	request := "$" + p.variable("request")
	parts := make([]string, 0, len(arguments))
	for _, member := range slices.Sorted(maps.Keys(arguments)) {
		e := p.fromStart(member, arguments[member])
		if e == nil {
			continue
		}
		var shape *pollcore.Shape
		if input := op.Input.Described(); input != nil {
			shape = input.Members[member]
		}
		value, err := tojsonata.Translate(e, inputOutput, shapes).Argument(shape, func(_ *pollcore.Shape, name string) string { return javasdk.MemberName(name) })
		if err != nil {
			p.refuse("argument %s: %s", member, err)
			continue
		}
		parts = append(parts, text(javasdk.MemberName(member))+": "+unbound(value, request, "$states.result"))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// inputOutput is the variable of what expressions over a call read.
const inputOutput = "$inputOutput"

// unbound names the input and the output of a call where an expression reads
// them by a path, and else binds both.
func unbound(expression, input, output string) string {
	direct := strings.NewReplacer(inputOutput+".input.", input+".", inputOutput+".output.", output+".").Replace(expression)
	if !strings.Contains(direct, inputOutput) {
		return direct
	}
	return fmt.Sprintf("(%s := {'input': %s, 'output': %s}; %s)", inputOutput, input, output, expression)
}

// startName is the name of the state that starts the job.
func (p *poller) startName() string {
	name := p.call.Start.Operation.Name
	if name == p.call.Operation.Name {
		name = "Start" + name
	}
	return p.name(name)
}

// startArguments are what the start call gets, in JSONata: with a token that is made once
// for all its retries, unless it has one.
func (p *poller) startArguments() any {
	s := p.call.Start
	token := javasdk.MemberName(s.Token)
	switch {
	case s.Arguments == nil && token != "":
		return expression(fmt.Sprintf("$merge([{%s: $uuid()}, %s])", text(token), machineInput))
	case s.Arguments == nil:
		return expression(machineInput)
	case token == "" || s.Arguments[token] != nil:
		return s.Arguments
	}
	withToken := maps.Clone(s.Arguments)
	withToken[token] = expression("$uuid()")
	return withToken
}

// startTask is the state that starts the job, in JSONata.
func (p *poller) startTask(next string) state {
	s := p.call.Start
	assign := object{p.variable("arguments"): expression(p.madeFromStart(p.call.Operation, s.Describe))}
	if p.call.Stop != nil {
		stop := p.call.Operation.Service.Operations[p.call.Stop.Operation]
		assign[p.variable("stop")] = expression(p.madeFromStart(stop, p.call.Stop.Arguments))
	}
	failed := object{
		"status": "FAILED", "attempt": 0,
		"reason": expression("'the job could not be started: ' & $states.errorOutput.Error & ': ' & $states.errorOutput.Cause"),
		"error":  expression("$states.errorOutput"),
	}
	return state{p.startName(), retried(object{
		"Type": "Task", "Resource": resource(s.Operation), "Arguments": expression("$" + p.variable("request")), "TimeoutSeconds": callTimeout,
		"Assign": assign, "Output": object{},
		"Catch": []object{{"ErrorEquals": []string{"States.ALL"}, "Output": failed, "Next": p.exit(pollcore.Failed)}},
		"Next":  next,
	}, p.startFaults())}
}

// stopTask is the state that stops the job, in JSONata. The poller has timed
// out whether or not it can be stopped.
func (p *poller) stopTask() states {
	if p.call.Stop == nil {
		return nil
	}
	op := p.call.Operation.Service.Operations[p.call.Stop.Operation]
	keep, next := expression("$states.input"), p.exit(pollcore.TimedOut)
	return states{{p.name(op.Name), object{
		"Type": "Task", "Resource": resource(op), "Arguments": expression("$" + p.variable("stop")), "TimeoutSeconds": callTimeout,
		"Output": keep, "Retry": p.faults(op),
		"Catch": []object{{"ErrorEquals": []string{"States.ALL"}, "Output": keep, "Next": next}},
		"Next":  next,
	}}}
}

// callTimeout is how long a call may take, in seconds.
const callTimeout = 60
