package compile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jmespath/tojsonata"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// first is the call that takes the input of the machine, and what the caller
// gives it instead.
func (p *plan) first() (op *catalog.Operation, given map[string]any, token string) {
	if s := p.call.Start; s != nil {
		return s.Operation, s.Arguments, s.Token
	}
	return p.call.Operation, p.call.Arguments, ""
}

// inputMembers are the members of the first call, as SDK integrations spell them: those
// that the caller gives, or else those that the operation or a later call
// requires. A state in
// JSONPath names each member that it passes on, and fails on a path that leads
// nowhere, so it cannot pass on what an input may lack.
func (p *plan) inputMembers() []string {
	op, given, token := p.first()
	var names []string
	if given != nil {
		for name := range given {
			names = append(names, strings.TrimSuffix(name, ".$"))
		}
	} else {
		names, _ = membersOf(op, token)
		names = append(names, p.laterMembers()...)
	}
	if token != "" && !slices.Contains(names, javasdk.MemberName(token)) {
		names = append(names, javasdk.MemberName(token)) // the machine makes one
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// laterMembers are the members of the start call's input from which later calls make
// arguments that they require.
func (p *plan) laterMembers() []string {
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
		add(p.stop(), s.Arguments)
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
func (p *plan) optional() []string {
	op, given, token := p.first()
	if p.language != asl.JSONPath || given != nil {
		return nil
	}
	passed := p.inputMembers()
	_, optional := membersOf(op, token)
	return slices.DeleteFunc(optional, func(name string) bool { return slices.Contains(passed, name) })
}

// startShapes are what expressions over the start call read.
func (c Call) startShapes() *jsontype.Type {
	return &jsontype.Type{Kind: jsontype.Object, Members: map[string]*jsontype.Type{
		"input": c.Start.Operation.Input.Describe().Respell(javasdk.MemberName), "output": c.Start.Operation.Output.Describe().Respell(javasdk.MemberName),
	}}
}

// fromStart parses an expression over the start call, in PascalCase.
func (d *draft) fromStart(member, expression string) *jmespath.Expr {
	e, err := jmespath.Parse(expression)
	if err == nil {
		shapes := &jsontype.Type{Kind: jsontype.Object, Members: map[string]*jsontype.Type{
			"input": d.call.Start.Operation.Input.Describe(), "output": d.call.Start.Operation.Output.Describe(),
		}}
		e, err = e.Rename(shapes, func(owner *jsontype.Type, name string) string {
			if owner == shapes {
				return name
			}
			return javasdk.MemberName(name)
		})
	}
	if err != nil {
		d.refuse("argument %s: %s", member, err)
		return nil
	}
	return e
}

// argumentsFromStart is JSONata for the arguments of an operation that the start call
// determines, where its result is at hand.
func (d *draft) argumentsFromStart(op *catalog.Operation, arguments map[string]string) string {
	shapes := d.call.startShapes()
	request := "$" + d.variable("request")
	parts := make([]string, 0, len(arguments))
	for _, member := range slices.Sorted(maps.Keys(arguments)) {
		e := d.fromStart(member, arguments[member])
		if e == nil {
			continue
		}
		var shape *jsontype.Type
		if input := op.Input.Describe(); input != nil {
			shape = input.Members[member]
		}
		value, err := tojsonata.Translate(e, inputOutput, shapes).Argument(shape, func(_ *jsontype.Type, name string) string { return javasdk.MemberName(name) })
		if err != nil {
			d.refuse("argument %s: %s", member, err)
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
func (d *draft) startName() string {
	name := d.call.Start.Operation.Name
	if name == d.call.Operation.Name {
		name = "Start" + name
	}
	return d.name(name)
}

// callTimeout is how long a call may take, in seconds.
const callTimeout = 60
