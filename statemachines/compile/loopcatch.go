package compile

import (
	"slices"

	"github.com/jobpoller/jobpoller/pollcore"
)

// catchersInLoop are the catchers of the Task that polls, in JSONPath.
func (l *loopStates) catchersInLoop(again string) []object {
	catcher := func(names []string, next string, assign object) object {
		assign[l.variable("attempt")+".$"] = "States.MathAdd($" + l.variable("attempt") + ", 1)"
		return object{"ErrorEquals": names, "ResultPath": "$.error", "Assign": assign, "Next": next}
	}
	unclaimed := func(reason string) object {
		if reason == "" {
			reason = "unexpected error"
		}
		return object{l.variable("reason") + ".$": "States.Format('" + intrinsicText(reason) + ": {}: {}', $.Error, $.Cause)"}
	}
	var all []object
	for _, c := range l.catches {
		if len(c.names) > 0 {
			all = append(all, catcher(c.names, l.afterInLoop(c.state, again), object{l.variable("reason"): c.reason}))
		}
	}
	if names := l.ambiguous(); names != nil {
		all = append(all, catcher(names, l.name("CheckError"), unclaimed(l.reasonWithoutMatch())))
	} else if l.unseen != nil {
		all = append(all, catcher([]string{l.call.Operation.Service.UnmodeledErrorName()}, l.name("Failed"), unclaimed(l.reasonWithoutMatch())))
	}
	return append(all, catcher([]string{"States.ALL"}, l.name("Failed"), unclaimed("")))
}

func (l *loopStates) afterInLoop(v pollcore.Verdict, again string) string {
	return map[pollcore.Verdict]string{pollcore.Success: l.name(l.successOnError()), pollcore.Failure: l.name("Failed"), pollcore.Retry: again}[v]
}

// lookAtErrorInLoop is the state CheckError in JSONPath.
func (l *loopStates) lookAtErrorInLoop(again string) states {
	if l.ambiguous() == nil {
		return nil
	}
	is := func(field, comparison, value string) []object {
		path := "$.error." + field
		return []object{{"Variable": path, "IsPresent": true}, {"Variable": path, "IsString": true}, {"Variable": path, comparison: value}}
	}
	named := func(g glob) []object {
		return append(is("Error", "StringEquals", l.call.Operation.Service.UnmodeledErrorName()), is("Cause", "StringMatches", g.stringMatches())...)
	}
	var choices []object
	choose := func(and []object, c catch) {
		choice := object{"And": and, "Next": l.afterInLoop(c.state, again)}
		if c.state != pollcore.Retry {
			choice["Assign"] = object{l.variable("reason"): c.reason}
		}
		choices = append(choices, choice)
	}
	for _, c := range l.catches {
		switch {
		case c.any:
			choose(is("Error", "StringMatches", l.call.Operation.Service.ErrorPrefix+".*"), c)
		case c.cause != nil:
			choose(named(c.cause), c)
		}
	}
	for _, g := range unnamedFaults {
		choose(named(g), catch{state: pollcore.Retry})
	}
	return states{{l.name("CheckError"), object{"Type": "Choice", "Choices": choices, "Default": l.name("Failed")}}}
}

// successOnError is the end to which an error leads: there is no output then.
func (l *loopStates) successOnError() string {
	if slices.ContainsFunc(l.rules, func(r rule) bool { return r.state == pollcore.Success }) {
		return "SucceededOnError"
	}
	return "Succeeded"
}
