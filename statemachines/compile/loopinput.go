package compile

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// startInLoop is the state that starts the job, in JSONPath.
func (p *poller) startInLoop(next string) state {
	op := p.call.Start.Operation
	return state{p.startName(), retried(object{
		"Type": "Task", "Resource": resource(op), "Parameters": pathsOf(p.passed(), "$.request"), "ResultPath": "$.started", "TimeoutSeconds": callTimeout,
		"Catch": []object{{
			"ErrorEquals": []string{"States.ALL"}, "ResultPath": "$.error", "Next": p.name("Failed"),
			"Assign": object{p.variable("reason") + ".$": "States.Format('the job could not be started: {}: {}', $.Error, $.Cause)"},
		}},
		"Next": next,
	}, p.startFaults())}
}

// first is the call that takes the input of the machine, and what the caller
// gives it instead.
func (p *poller) first() (op *catalog.Operation, given map[string]any, token string) {
	if s := p.call.Start; s != nil {
		return s.Operation, s.Arguments, s.Token
	}
	return p.call.Operation, p.call.Arguments, ""
}

// passed are the members of the first call, as SDK integrations spell them: those
// that the caller gives, or else those that the operation or a later call
// requires. A state in
// JSONPath names each member that it passes on, and fails on a path that leads
// nowhere, so it cannot pass on what an input may lack.
func (p *poller) passed() []string {
	op, given, token := p.first()
	var names []string
	if given != nil {
		for name := range given {
			names = append(names, strings.TrimSuffix(name, ".$"))
		}
	} else {
		names, _ = membersOf(op, token)
		names = append(names, p.neededLater()...)
	}
	if token != "" && !slices.Contains(names, javasdk.MemberName(token)) {
		names = append(names, javasdk.MemberName(token)) // the machine makes one
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// neededLater are the members of the start call's input of which later calls make
// arguments that they require.
func (p *poller) neededLater() []string {
	if p.call.Start == nil {
		return nil
	}
	var names []string
	add := func(op *catalog.Operation, arguments map[string]string) {
		required, _ := membersOf(op, "")
		for member, expression := range arguments {
			e, err := jmespath.Parse(expression)
			if err != nil || !slices.Contains(required, javasdk.MemberName(member)) {
				continue // an error is that of the argument
			}
			for _, name := range inputsOf(e) {
				names = append(names, javasdk.MemberName(name))
			}
		}
	}
	add(p.call.Operation, p.call.Start.Describe)
	if s := p.call.Stop; s != nil {
		add(p.call.Operation.Service.Operations[s.Operation], s.Arguments)
	}
	return names
}

// inputsOf are the members that an expression reads of the start call's input.
func inputsOf(e *jmespath.Expr) []string {
	var names []string
	for _, path := range e.Paths() {
		if len(path) > 1 && path[0] == "input" {
			names = append(names, path[1])
		}
	}
	return names
}

// membersOf are the members of an operation's input but for the token.
func membersOf(op *catalog.Operation, token string) (required, optional []string) {
	if op.Input == nil {
		return nil, nil
	}
	for _, m := range op.Input.Members {
		switch {
		case m.Name == token:
		case m.Required:
			required = append(required, javasdk.MemberName(m.Name))
		default:
			optional = append(optional, javasdk.MemberName(m.Name))
		}
	}
	return required, optional
}

// optional are the members that an input may have and the machine does not pass
// on, because neither the caller nor the operation's model says that it has them.
func (p *poller) optional() []string {
	op, given, token := p.first()
	if p.options.Strategy != Loop || given != nil {
		return nil
	}
	passed := p.passed()
	_, optional := membersOf(op, token)
	return slices.DeleteFunc(optional, func(name string) bool { return slices.Contains(passed, name) })
}

// chooseMembers refuses an input of which nothing is known to be there: a machine
// that passed on nothing would ask for other resources than its input names.
func (p *poller) chooseMembers() {
	op, given, token := p.first()
	passed := slices.DeleteFunc(p.passed(), func(name string) bool { return name == javasdk.MemberName(token) })
	if optional := p.optional(); given == nil && len(passed) == 0 && optional != nil {
		p.optionalOnly = optional
		p.refuse("%s requires no member, so the arguments must name the members of the input to pass on: some of %s",
			op.Name, strings.Join(optional, ", "))
	}
}

// pathsOf are the Parameters that pass on members of the data at a path.
func pathsOf(members []string, path string) object {
	made := object{}
	for _, name := range members {
		made[name+".$"] = path + "." + name
	}
	return made
}

// parameters are arguments that the start call determines, in JSONPath. One that
// is made of a member which the start call does not get is left out.
func (p *poller) parameters(op *catalog.Operation, arguments map[string]string) object {
	made, passed := object{}, p.passed()
	required, _ := membersOf(op, "")
	for member, expression := range arguments {
		e := p.fromStart(member, expression)
		if e == nil {
			continue
		}
		lacks := slices.DeleteFunc(inputsOf(e), func(name string) bool { return slices.Contains(passed, name) })
		if len(lacks) > 0 {
			if slices.Contains(required, javasdk.MemberName(member)) {
				p.refuse("%s needs %s, which is made of %s: the arguments of %s must have it", op.Name, member, lacks[0], p.call.Start.Operation.Name)
			}
			continue
		}
		if len(e.Paths()) == 0 {
			program, _ := e.Compile(nil)
			value, err := program.Eval(nil)
			if err != nil {
				p.refuse("argument %s: %s", member, err)
			}
			made[javasdk.MemberName(member)] = value
			continue
		}
		path, err := fromData(e.String())
		if err != nil {
			p.refuse("argument %s: %s", member, err)
		}
		made[javasdk.MemberName(member)+".$"] = path
	}
	return made
}

// fromData writes a path over {"input": …, "output": …} of the start call, or a
// list of one, as JSONPath on the data of the loop.
func fromData(text string) (string, error) {
	if inner, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(inner, "]") {
		path, err := fromData(strings.TrimSuffix(inner, "]"))
		return "States.Array(" + path + ")", err
	}
	path, err := pathOf(text)
	if err != nil {
		return "", err
	}
	return strings.NewReplacer("$.input.", "$.request.", "$.output.", "$.started.").Replace(path), nil
}
