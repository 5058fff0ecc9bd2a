package compile

import (
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// catchers are those of the Task that polls, in JSONata, in the order of the
// acceptors. Errors after which the job is polled again lead to again. A call
// that is not answered in time (States.Timeout), and a role that cannot be
// assumed (States.TaskFailed), say nothing of the job: no acceptor matches them.
func (j *jsonata) catchers(again string) []object {
	catcher := func(names []string, c catch, next string) object {
		o := object{"ErrorEquals": names, "Output": j.errorResult(c), "Next": next}
		if j.counts && !j.isBehind(next) {
			o["Assign"] = j.countCall()
		}
		return o
	}
	var all []object
	for _, c := range j.catches {
		if len(c.names) > 0 {
			all = append(all, catcher(c.names, c, j.after(c.state, again)))
		}
	}
	unnamed := catch{state: pollcore.Failure, reason: j.reasonWithoutMatch(), any: j.unseen != nil}
	if names := j.ambiguous(); names != nil {
		all = append(all, catcher(names, unnamed, j.name("CheckError")))
	} else if j.unseen != nil {
		all = append(all, catcher([]string{j.call.Operation.Service.UnmodeledErrorName()}, unnamed, j.exit(pollcore.Failed)))
	}
	if j.own != nil {
		for _, c := range j.own.catch {
			all = append(all, object(c.(map[string]any)))
		}
		if isNamed(j.own.catch, asl.ErrorAll) {
			return all
		}
	}
	return append(all, catcher([]string{"States.ALL"}, catch{state: pollcore.Failure}, j.exit(pollcore.Failed)))
}

// isBehind tells whether a state is behind the loop.
func (j *jsonata) isBehind(state string) bool {
	return state == j.exit(pollcore.Succeeded) || state == j.exit(pollcore.Failed)
}

// after is the state that follows a verdict on an error.
func (j *jsonata) after(v pollcore.Verdict, again string) string {
	switch v {
	case pollcore.Success:
		return j.exit(pollcore.Succeeded)
	case pollcore.Failure:
		return j.exit(pollcore.Failed)
	default:
		return again
	}
}

// lookAtError is the state that looks at errors whose names do not decide, in
// JSONata. Its input is the result where no acceptor matches.
func (j *jsonata) lookAtError(again string) states {
	if j.ambiguous() == nil {
		return nil
	}
	const failure = "$states.input.error"
	named := failure + ".Error = " + text(j.call.Operation.Service.UnmodeledErrorName())
	prefix := j.call.Operation.Service.ErrorPrefix + "."
	cause := "$string(" + failure + ".Cause)"
	var choices []object
	choose := func(condition string, c catch) {
		status, reason := j.verdictOnError(c, failure)
		choices = append(choices, object{
			"Condition": expression(condition), "Next": j.after(c.state, again),
			"Output": expression(fmt.Sprintf("$merge([$states.input, {'status': %s, 'reason': %s}])", text(string(status)), reason.jsonata())),
		})
	}
	for _, c := range j.catches {
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
	return states{{j.name("CheckError"), object{
		"Type": "Choice", "Choices": choices, "Output": expression("$states.input"), "Default": j.exit(pollcore.Failed),
	}}}
}
