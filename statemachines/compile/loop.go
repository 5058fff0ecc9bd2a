package compile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Loop is a loop of Task, Choice and Wait in JSONPath, with a fixed delay
// and a number of calls. It takes waiters that compare members with strings
// or booleans.
const Loop Strategy = "loop"

type loop struct{}

func (loop) traits() traits {
	return traits{summary: "Task, Choice and Wait in JSONPath, one delay. Takes waiters that compare members.", language: asl.JSONPath, delays: even}
}

func (loop) take(d *draft) { (&loopStates{draft: d}).judge() }

func (loop) turn(p *plan) turn {
	t := turn{steps{3, 9}, steps{3, 8}, steps{1, 4}, steps{}}
	if p.selection != nil { // Succeeded looks whether it is there
		t.most, t.success = t.most.and(steps{1, 2}), t.success.and(steps{1, 2})
	}
	return t
}

func (loop) polls(p *plan) int { return p.calls() }

// states writes a loop whose data is {"arguments": …, "output": …}, so that the
// arguments outlive the calls.
func (loop) states(d *draft) states {
	l := &loopStates{draft: d}
	l.tests = l.judge()
	describe, check, wait, again := l.name(l.call.Operation.Name), l.name("Check"), l.name("Wait"), l.name("CallsLeft")
	attempt := "$" + l.variable("attempt")
	l.chooseMembers()
	all := l.beginLoop(describe)

	task := object{
		"Type": "Task", "Resource": resource(l.call.Operation), "ResultPath": "$.output", "TimeoutSeconds": callTimeout,
		"Assign": object{l.variable("attempt") + ".$": "States.MathAdd(" + attempt + ", 1)"},
		"Retry":  l.faults(l.call.Operation), "Catch": l.catchersInLoop(again), "Next": check,
	}
	switch {
	case l.call.SelfFeeding:
		delete(task, "ResultPath")
		task["Parameters"] = l.call.Arguments
	case l.call.Start != nil:
		task["Parameters"] = l.parameters(l.call.Operation, l.call.Start.Describe)
	default:
		task["Parameters"] = pathsOf(l.inputMembers(), "$.arguments")
	}
	all = append(all, state{describe, task}, state{check, l.checkInLoop(wait)})
	all = append(all, l.lookAtErrorInLoop(again)...)
	if l.ambiguous() != nil || l.retriesErrors() {
		all = append(all, state{again, object{
			"Type": "Choice", "Choices": l.onward(nil, wait),
			"Assign": l.lateAndSeen("{}: {}", "$.error.Error, $.error.Cause"), "Default": l.timeout(),
		}})
	}
	pause := object{"Type": "Wait", "Seconds": l.low, "Next": describe}
	if l.planned != nil { // JSONPath has no minimum
		pause["QueryLanguage"], pause["Seconds"] = "JSONata", expression(l.selectDelay())
	}
	all = append(all, state{wait, pause})
	if l.call.Stop != nil {
		op := l.stop()
		all = append(all, state{l.timeout(), object{
			"Type": "Task", "Resource": resource(op), "Parameters": l.parameters(op, l.call.Stop.Arguments), "ResultPath": nil,
			"TimeoutSeconds": callTimeout, "Retry": l.faults(op),
			"Catch": []object{{"ErrorEquals": []string{"States.ALL"}, "ResultPath": nil, "Next": l.name("TimedOut")}},
			"Next":  l.name("TimedOut"),
		}})
	}
	return append(all, l.loopEnds()...)
}

// loopStates writes states in JSONPath.
type loopStates struct {
	*draft

	tests []tested
}

// tested is a rule in JSONPath.
type tested struct {
	rule

	test object // of a Choice
	path string // of the message, or empty
}

// judge writes the rules that are not idle.
func (l *loopStates) judge() []tested {
	var all []tested
	for _, r := range l.rules {
		t, err := l.test(r)
		if err != nil {
			l.refuseAcceptor(r.number, "acceptor %d: %s", r.number, err)
			continue
		}
		if !r.idle {
			all = append(all, t)
		}
	}
	return all
}

func (l *loopStates) test(r rule) (tested, error) {
	t := tested{rule: r}
	var err error
	switch {
	case r.matcher == nil:
		t.test = object{"Variable": l.output(), "IsPresent": true}
	case r.input:
		return t, errors.New("a Choice rule in JSONPath cannot compare input and output")
	default:
		t.test, err = l.memberTest(r.matcher)
	}
	if err == nil && r.message != "" {
		t.path, err = l.member(r.message)
	}
	return t, err
}

// checkInLoop is the Choice that judges the response.
func (l *loopStates) checkInLoop(wait string) object {
	reason, timeout := l.variable("reason"), l.timeout()
	var choices []object
	for _, r := range l.tests {
		rule := maps.Clone(r.test)
		if r.path != "" {
			and := append([]object{{"Variable": r.path, "IsPresent": true}, {"Variable": r.path, "StringGreaterThan": ""}}, rule["And"].([]object)...)
			choices = append(choices, object{
				"And": and, "Next": l.name("Failed"),
				"Assign": object{reason + ".$": fmt.Sprintf("States.Format('%s: {}', %s)", intrinsicText(r.reason), r.path)},
			})
		}
		switch r.state {
		case pollcore.Success:
			rule["Next"], rule["Assign"] = l.name("Succeeded"), object{reason: r.reason}
		case pollcore.Failure:
			rule["Next"], rule["Assign"] = l.name("Failed"), object{reason: r.reason}
		case pollcore.Retry:
			and, ok := rule["And"].([]object)
			if !ok {
				and = []object{maps.Clone(rule)}
			}
			choices = append(choices, l.onward(and, wait)...)
			rule["Next"], rule["Assign"] = timeout, object{reason: l.lateInLoop() + ": " + r.reason}
		}
		choices = append(choices, rule)
	}
	choices = append(choices, l.onward(nil, wait)...)
	if present, format, paths := l.lastValues(); present != nil {
		choices = append(choices, object{"And": present, "Assign": l.lateAndSeen(format, paths), "Next": timeout})
	}
	return object{"Type": "Choice", "Choices": choices, "Assign": object{reason: l.lateInLoop()}, "Default": timeout}
}

// timeout is the state that follows when no call is left.
func (l *loopStates) timeout() string {
	if l.call.Stop != nil {
		return l.name(l.call.Stop.Operation)
	}
	return l.name("TimedOut")
}

// onward are the rules that go on, under conditions, while there are calls left. A
// redrive runs the state again that failed or was stopped, and the calls count
// anew from the first that comes after it: RedriveTime is there, and later than
// the time that they have counted from.
func (l *loopStates) onward(and []object, wait string) []object {
	const redriveTime = "$$.Execution.RedriveTime"
	attempt, from := "$"+l.variable("attempt"), l.variable("countedFrom")
	redriven := []object{
		{"Variable": redriveTime, "IsPresent": true},
		{"Variable": redriveTime, "TimestampGreaterThanPath": "$" + from},
	}
	left := object{"Variable": attempt, "NumericLessThanPath": "$" + l.variable("calls")}
	if and != nil {
		left = object{"And": append(slices.Clone(and), maps.Clone(left))}
	}
	left["Next"] = wait
	rules := []object{left}
	if l.calls() > 1 {
		rules = append([]object{{"And": slices.Concat(and, redriven), "Next": wait, "Assign": object{
			from + ".$":                redriveTime,
			l.variable("calls") + ".$": fmt.Sprintf("States.MathAdd(%s, %d)", attempt, l.calls()-1),
		}}}, left)
	}
	return rules
}

// counting is what the first state assigns.
func (l *loopStates) counting() object {
	const entered = "$$.State.EnteredTime"
	return object{
		l.variable("startedAt") + ".$": entered, l.variable("countedFrom") + ".$": entered,
		l.variable("attempt"): 0, l.variable("calls"): l.calls(),
	}
}

// lateInLoop is the reason of a time-out.
func (l *loopStates) lateInLoop() string {
	return fmt.Sprintf("not finished after %d calls in %s", l.calls(), l.options.MaxWait)
}

// lateAndSeen assigns that reason, with what was seen.
func (l *loopStates) lateAndSeen(format, paths string) object {
	return object{l.variable("reason") + ".$": fmt.Sprintf("States.Format('%s: %s', %s)", intrinsicText(l.lateInLoop()), format, paths)}
}

// lastValues are the conditions that all members are there which the acceptors
// look at, and what States.Format says of them: it fails where one is missing.
func (l *loopStates) lastValues() (present []object, format, paths string) {
	var formats, members []string
	for _, a := range l.waiter.Acceptors {
		m := a.Matcher.Output
		if m == nil {
			continue
		}
		is, path, err := l.typeTest(m)
		if err != nil || slices.Contains(members, path) {
			continue // an error is the acceptor's own problem
		}
		present, members, formats = append(present, is...), append(members, path), append(formats, intrinsicText(m.Path)+" = {}")
	}
	return present, strings.Join(formats, ", "), strings.Join(members, ", ")
}

// loopEnds are the ends of the machine, or the states that make the result for
// the exits of a fragment.
func (l *loopStates) loopEnds() states {
	reason := "$" + l.variable("reason")
	result := func(status pollcore.Status, member, path string) object {
		r := object{"status": status, "reason.$": reason, "attempt.$": "$" + l.variable("attempt"), "startedAt.$": "$" + l.variable("startedAt")}
		if member != "" {
			r[member+".$"] = path
		}
		return object{"Type": "Pass", "Parameters": r}
	}
	var all states
	ends := []struct {
		status       pollcore.Status
		name, code   string
		member, path string
	}{
		{pollcore.Succeeded, "Succeeded", "", "output", l.outputPath()},
		{pollcore.Failed, "Failed", "JobPoller.Failed", "", ""},
		{pollcore.TimedOut, "TimedOut", "JobPoller.TimedOut", "", ""},
	}
	if slices.ContainsFunc(l.catches, func(c catch) bool { return c.state == pollcore.Success }) {
		ends = slices.Insert(ends, 1, ends[0])
		ends[1].name, ends[1].member, ends[1].path = l.successOnError(), "error", "$.error"
		if ends[0].name == ends[1].name {
			ends = ends[1:]
		}
	}
	for _, end := range ends {
		fields := result(end.status, end.member, end.path)
		switch {
		case l.options.Exits != nil:
			fields["Next"] = l.options.Exits[end.status]
		case end.code != "":
			// JSONPath cannot cut a text.
			fields = object{"Type": "Fail", "QueryLanguage": "JSONata", "Error": end.code, "Cause": cause(reason)}
		default:
			fields["End"] = true
		}
		name := end.name
		if l.selection != nil && end.member == "output" {
			without := maps.Clone(fields)
			without["Parameters"] = result(end.status, "", "")["Parameters"]
			name = "SucceededWithOutput"
			all = append(all, state{l.name(end.name), object{
				"Type": "Choice", "Choices": []object{{"Variable": end.path, "IsPresent": true, "Next": l.name(name)}}, "Default": l.name("SucceededWithoutOutput"),
			}}, state{l.name("SucceededWithoutOutput"), without})
		}
		all = append(all, state{l.name(name), fields})
	}
	return all
}

// outputPath is the JSONPath that selects the output of the result.
func (l *loopStates) outputPath() string {
	if l.selection == nil {
		return l.output()
	}
	path, err := l.member(l.selection.String())
	if err != nil {
		l.refuse("Output: %s", err)
	}
	return path
}

// beginLoop are the states before the first call.
func (l *loopStates) beginLoop(first string) states {
	var all states
	if l.waitsFirst() {
		wait := object{"Type": "Wait", "Seconds": l.firstDelay(), "Next": first}
		if l.jitter > 0 {
			wait["QueryLanguage"] = "JSONata"
		}
		all = states{{l.name("InitialWait"), wait}}
		first = all[0].name
	}
	kept, given := "arguments", l.call.Arguments
	if s := l.call.Start; s != nil {
		kept, given = "request", s.Arguments
		all = append(states{l.startInLoop(first)}, all...)
		first = all[0].name
	}
	if l.call.SelfFeeding {
		return append(states{{l.name("Start"), object{
			"Type":   "Pass",
			"Assign": l.counting(),
			"Next":   first,
		}}}, all...)
	}
	data := object{kept + ".$": "$"}
	if given != nil {
		data = object{kept: given}
	}
	if s := l.call.Start; s != nil && s.Token != "" {
		token := fmt.Sprintf(`States.StringToJson(States.Format('\{"%s":"{}"\}', States.UUID()))`, javasdk.MemberName(s.Token))
		if given == nil {
			data = object{kept + ".$": "States.JsonMerge(" + token + ", $, false)"}
		} else if member := javasdk.MemberName(s.Token); given[member] == nil && given[member+".$"] == nil {
			given = maps.Clone(given)
			given[member+".$"] = "States.UUID()"
			data = object{kept: given}
		}
	}
	return append(states{{l.name("Start"), object{
		"Type": "Pass", "Parameters": data,
		"Assign": l.counting(),
		"Next":   first,
	}}}, all...)
}
