package compile

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore"
)

// loop are the states of the strategy Loop. Its data is {"arguments": …,
// "output": …}, so that the arguments outlive the calls.
func (p *poller) loop() states {
	describe, check, wait, again := p.name(p.call.Operation.Name), p.name("Check"), p.name("Wait"), p.name("CallsLeft")
	attempt := "$" + p.variable("attempt")
	p.chooseMembers()
	all := p.beginLoop(describe)

	task := object{
		"Type": "Task", "Resource": resource(p.call.Operation), "ResultPath": "$.output", "TimeoutSeconds": callTimeout,
		"Assign": object{p.variable("attempt") + ".$": "States.MathAdd(" + attempt + ", 1)"},
		"Retry":  p.faults(p.call.Operation), "Catch": p.catchersInLoop(again), "Next": check,
	}
	switch {
	case p.call.SelfFeeding:
		delete(task, "ResultPath")
		task["Parameters"] = p.call.Arguments
	case p.call.Start != nil:
		task["Parameters"] = p.parameters(p.call.Operation, p.call.Start.Describe)
	default:
		task["Parameters"] = pathsOf(p.passed(), "$.arguments")
	}
	all = append(all, state{describe, task}, state{check, p.checkInLoop(wait)})
	all = append(all, p.lookAtErrorInLoop(again)...)
	if p.ambiguous() != nil || p.retriesErrors() {
		all = append(all, state{again, object{
			"Type": "Choice", "Choices": p.onward(nil, wait),
			"Assign": p.lateAndSeen("{}: {}", "$.error.Error, $.error.Cause"), "Default": p.timeout(),
		}})
	}
	all = append(all, state{wait, object{"Type": "Wait", "Seconds": p.low, "Next": describe}})
	if p.call.Stop != nil {
		op := p.call.Operation.Service.Operations[p.call.Stop.Operation]
		all = append(all, state{p.timeout(), object{
			"Type": "Task", "Resource": resource(op), "Parameters": p.parameters(op, p.call.Stop.Arguments), "ResultPath": nil,
			"TimeoutSeconds": callTimeout, "Retry": p.faults(op),
			"Catch": []object{{"ErrorEquals": []string{"States.ALL"}, "ResultPath": nil, "Next": p.name("TimedOut")}},
			"Next":  p.name("TimedOut"),
		}})
	}
	return append(all, p.loopEnds()...)
}

// checkInLoop is the Choice that judges the response.
func (p *poller) checkInLoop(wait string) object {
	reason, timeout := p.variable("reason"), p.timeout()
	var choices []object
	for _, r := range p.rules {
		rule := r.test
		if r.message != "" {
			and := append([]object{{"Variable": r.message, "IsPresent": true}, {"Variable": r.message, "StringGreaterThan": ""}}, rule["And"].([]object)...)
			choices = append(choices, object{
				"And": and, "Next": p.name("Failed"),
				"Assign": object{reason + ".$": fmt.Sprintf("States.Format('%s: {}', %s)", intrinsicText(r.plain), r.message)},
			})
		}
		switch r.state {
		case pollcore.Success:
			rule["Next"], rule["Assign"] = p.name("Succeeded"), object{reason: r.plain}
		case pollcore.Failure:
			rule["Next"], rule["Assign"] = p.name("Failed"), object{reason: r.plain}
		case pollcore.Retry:
			and, ok := rule["And"].([]object)
			if !ok {
				and = []object{maps.Clone(rule)}
			}
			choices = append(choices, p.onward(and, wait)...)
			rule["Next"], rule["Assign"] = timeout, object{reason: p.lateInLoop() + "; seen " + r.plain}
		}
		choices = append(choices, rule)
	}
	choices = append(choices, p.onward(nil, wait)...)
	if present, format, paths := p.observed(); present != nil {
		choices = append(choices, object{"And": present, "Assign": p.lateAndSeen(format, paths), "Next": timeout})
	}
	return object{"Type": "Choice", "Choices": choices, "Assign": object{reason: p.lateInLoop()}, "Default": timeout}
}

// calls is how many calls there are: the first is made at once, and the last
// when the time is over.
func (p *poller) calls() int { return (p.total-p.initial+p.low-1)/p.low + 1 }

// timeout is the state that follows when no call is left.
func (p *poller) timeout() string {
	if p.call.Stop != nil {
		return p.name(p.call.Stop.Operation)
	}
	return p.name("TimedOut")
}

// onward are the rules that go on, under conditions, while there are calls left. A
// redrive runs the state again that failed or was stopped, and the calls count
// anew from the first that comes after it: RedriveTime is there, and later than
// the time that they have counted from.
func (p *poller) onward(and []object, wait string) []object {
	const redriveTime = "$$.Execution.RedriveTime"
	attempt, from := "$"+p.variable("attempt"), p.variable("countedFrom")
	redriven := []object{
		{"Variable": redriveTime, "IsPresent": true},
		{"Variable": redriveTime, "TimestampGreaterThanPath": "$" + from},
	}
	left := object{"Variable": attempt, "NumericLessThanPath": "$" + p.variable("calls")}
	if and != nil {
		left = object{"And": append(slices.Clone(and), maps.Clone(left))}
	}
	left["Next"] = wait
	rules := []object{left}
	if p.calls() > 1 {
		rules = append([]object{{"And": slices.Concat(and, redriven), "Next": wait, "Assign": object{
			from + ".$":                redriveTime,
			p.variable("calls") + ".$": fmt.Sprintf("States.MathAdd(%s, %d)", attempt, p.calls()-1),
		}}}, left)
	}
	return rules
}

// counting is what the first state assigns.
func (p *poller) counting() object {
	const entered = "$$.State.EnteredTime"
	return object{
		p.variable("startedAt") + ".$": entered, p.variable("countedFrom") + ".$": entered,
		p.variable("attempt"): 0, p.variable("calls"): p.calls(),
	}
}

// lateInLoop is the reason of a time-out.
func (p *poller) lateInLoop() string {
	return fmt.Sprintf("not finished after %d calls in %s", p.calls(), p.options.MaxWait)
}

// lateAndSeen assigns that reason, with what was seen.
func (p *poller) lateAndSeen(format, paths string) object {
	return object{p.variable("reason") + ".$": fmt.Sprintf("States.Format('%s; seen %s', %s)", intrinsicText(p.lateInLoop()), format, paths)}
}

// observed are the conditions that all members are there which the acceptors
// look at, and what States.Format says of them: it fails where one is missing.
func (p *poller) observed() (present []object, format, paths string) {
	var formats, members []string
	for _, a := range p.waiter.Acceptors {
		m := a.Matcher.Output
		if m == nil {
			continue
		}
		is, path, err := p.typed(m)
		if err != nil || slices.Contains(members, path) {
			continue // an error is the acceptor's own problem
		}
		present, members, formats = append(present, is...), append(members, path), append(formats, intrinsicText(m.Path)+" = {}")
	}
	return present, strings.Join(formats, ", "), strings.Join(members, ", ")
}

// successOnError is the end to which an error leads: there is no output then.
func (p *poller) successOnError() string {
	if slices.ContainsFunc(p.rules, func(r rule) bool { return r.state == pollcore.Success }) {
		return "SucceededOnError"
	}
	return "Succeeded"
}

// loopEnds are the ends of the machine, or the states that make the result for
// the exits of a fragment.
func (p *poller) loopEnds() states {
	reason := "$" + p.variable("reason")
	result := func(status pollcore.Status, member, path string) object {
		r := object{"status": status, "reason.$": reason, "attempt.$": "$" + p.variable("attempt"), "startedAt.$": "$" + p.variable("startedAt")}
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
		{pollcore.Succeeded, "Succeeded", "", "output", p.selected()},
		{pollcore.Failed, "Failed", "JobPoller.Failed", "", ""},
		{pollcore.TimedOut, "TimedOut", "JobPoller.TimedOut", "", ""},
	}
	if slices.ContainsFunc(p.catches, func(c catch) bool { return c.state == pollcore.Success }) {
		ends = slices.Insert(ends, 1, ends[0])
		ends[1].name, ends[1].member, ends[1].path = p.successOnError(), "error", "$.error"
		if ends[0].name == ends[1].name {
			ends = ends[1:]
		}
	}
	for _, end := range ends {
		fields := result(end.status, end.member, end.path)
		switch {
		case p.options.Exits != nil:
			fields["Next"] = p.options.Exits[end.status]
		case end.code != "":
			// JSONPath cannot cut a text.
			fields = object{"Type": "Fail", "QueryLanguage": "JSONata", "Error": end.code, "Cause": cause(reason)}
		default:
			fields["End"] = true
		}
		name := end.name
		if p.selection != nil && end.member == "output" {
			without := maps.Clone(fields)
			without["Parameters"] = result(end.status, "", "")["Parameters"]
			name = "SucceededWithOutput"
			all = append(all, state{p.name(end.name), object{
				"Type": "Choice", "Choices": []object{{"Variable": end.path, "IsPresent": true, "Next": p.name(name)}}, "Default": p.name("SucceededWithoutOutput"),
			}}, state{p.name("SucceededWithoutOutput"), without})
		}
		all = append(all, state{p.name(name), fields})
	}
	return all
}

// selected is the JSONPath of what the result has as its output.
func (p *poller) selected() string {
	if p.selection == nil {
		return p.output()
	}
	path, err := p.member(p.selection.String())
	if err != nil {
		p.refuse("Output: %s", err)
	}
	return path
}

// beginLoop are the states before the first call.
func (p *poller) beginLoop(first string) states {
	var all states
	if p.initial > 0 {
		all = states{{p.name("InitialWait"), object{"Type": "Wait", "Seconds": p.initial, "Next": first}}}
		first = all[0].name
	}
	kept, given := "arguments", p.call.Arguments
	if s := p.call.Start; s != nil {
		kept, given = "request", s.Arguments
		all = append(states{p.startInLoop(first)}, all...)
		first = all[0].name
	}
	if p.call.SelfFeeding {
		return append(states{{p.name("Start"), object{
			"Type":   "Pass",
			"Assign": p.counting(),
			"Next":   first,
		}}}, all...)
	}
	data := object{kept + ".$": "$"}
	if given != nil {
		data = object{kept: given}
	}
	if s := p.call.Start; s != nil && s.Token != "" {
		token := fmt.Sprintf(`States.StringToJson(States.Format('\{"%s":"{}"\}', States.UUID()))`, javasdk.MemberName(s.Token))
		if given == nil {
			data = object{kept + ".$": "States.JsonMerge(" + token + ", $, false)"}
		} else if member := javasdk.MemberName(s.Token); given[member] == nil && given[member+".$"] == nil {
			given = maps.Clone(given)
			given[member+".$"] = "States.UUID()"
			data = object{kept: given}
		}
	}
	return append(states{{p.name("Start"), object{
		"Type": "Pass", "Parameters": data,
		"Assign": p.counting(),
		"Next":   first,
	}}}, all...)
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// dotted writes a comparison as a Choice rule of JSONPath, if its path is one
// of members alone.
func (p *poller) dotted(m *pollcore.PathMatcher) (object, error) {
	is, path, err := p.typed(m)
	if err != nil {
		return nil, err
	}
	equals := object{"Variable": path, "StringEquals": m.Expected}
	if m.Comparator == pollcore.BooleanEquals {
		expected, err := strconv.ParseBool(m.Expected)
		if err != nil {
			return nil, err
		}
		equals = object{"Variable": path, "BooleanEquals": expected}
	}
	return object{"And": append(is, equals)}, nil
}

// typed is the condition that there is a value of the type that is compared, and
// its path.
func (p *poller) typed(m *pollcore.PathMatcher) (is []object, path string, err error) {
	if path, err = p.member(m.Path); err != nil {
		return nil, "", err
	}
	kind := "IsString"
	switch m.Comparator {
	case pollcore.StringEquals:
	case pollcore.BooleanEquals:
		kind = "IsBoolean"
	default:
		return nil, "", fmt.Errorf("%s compares the elements of a list, which a Choice rule of JSONPath cannot", m.Path)
	}
	return []object{{"Variable": path, "IsPresent": true}, {"Variable": path, kind: true}}, path, nil
}

// intrinsicText writes a string in an intrinsic function.
func intrinsicText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "'", `\'`, "{", `\{`, "}", `\}`).Replace(s)
}

// output is the JSONPath of what the operation gave.
func (p *poller) output() string {
	if p.call.SelfFeeding {
		return "$"
	}
	return "$.output"
}

// member writes a JMESPath expression as a path of JSONPath into the output, if
// it is one of members alone.
func (p *poller) member(text string) (string, error) {
	path, err := pathOf(text)
	if err != nil {
		return "", err
	}
	return p.output() + strings.TrimPrefix(path, "$"), nil
}

// pathOf writes a JMESPath expression as JSONPath, if it names members alone.
func pathOf(text string) (string, error) {
	e, err := jmespath.Parse(text)
	if err != nil {
		return "", err
	}
	names, ok := e.Names()
	if !ok {
		return "", fmt.Errorf("JSONPath reads only single members such as A.B here, found %s", text)
	}
	for _, name := range names {
		if !plainName.MatchString(name) {
			return "", fmt.Errorf("%s has the member %q, which a path of JSONPath cannot name", text, name)
		}
	}
	return "$." + strings.Join(names, "."), nil
}
