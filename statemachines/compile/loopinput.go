package compile

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// startInLoop is the state that starts the job, in JSONPath.
func (l *loopStates) startInLoop(next string) state {
	op := l.call.Start.Operation
	return state{l.startName(), withRetry(object{
		"Type": "Task", "Resource": resource(op), "Parameters": pathsOf(l.inputMembers(), "$.request"), "ResultPath": "$.started", "TimeoutSeconds": callTimeout,
		"Catch": []object{{
			"ErrorEquals": []string{"States.ALL"}, "ResultPath": "$.error", "Next": l.name("Failed"),
			"Assign": object{l.variable("reason") + ".$": "States.Format('the job could not be started: {}: {}', $.Error, $.Cause)"},
		}},
		"Next": next,
	}, l.startFaults())}
}

// chooseMembers refuses an input without required members: a machine
// that passed on nothing would ask for other resources than its input names.
func (l *loopStates) chooseMembers() {
	op, given, token := l.first()
	passed := slices.DeleteFunc(l.inputMembers(), func(name string) bool { return name == javasdk.MemberName(token) })
	if optional := l.optional(); given == nil && len(passed) == 0 && optional != nil {
		l.unsure = optional
		l.refuse("%s has no required members: name in the arguments the members of the input to pass on, some of %s",
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
func (l *loopStates) parameters(op *catalog.Operation, arguments map[string]string) object {
	made, passed := object{}, l.inputMembers()
	required, _ := membersOf(op, "")
	for member, expression := range arguments {
		e := l.fromStart(member, expression)
		if e == nil {
			continue
		}
		lacks := slices.DeleteFunc(inputsOf(e), func(name string) bool { return slices.Contains(passed, name) })
		if len(lacks) > 0 {
			if slices.Contains(required, javasdk.MemberName(member)) {
				l.refuse("%s needs %s, which comes from %s: add that to the arguments of %s", op.Name, member, lacks[0], l.call.Start.Operation.Name)
			}
			continue
		}
		if len(e.Paths()) == 0 {
			program, _ := e.Compile(nil)
			value, err := program.Eval(nil)
			if err != nil {
				l.refuse("argument %s: %s", member, err)
			}
			made[javasdk.MemberName(member)] = value
			continue
		}
		path, err := fromData(e.String())
		if err != nil {
			l.refuse("argument %s: %s", member, err)
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
