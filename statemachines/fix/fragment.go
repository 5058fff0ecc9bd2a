package fix

import (
	"cmp"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// object is a JSON object of a definition.
type object = map[string]any

// fragment is the compiled loop that takes the place of another.
type fragment struct {
	*loop

	observed *observed
	maxWait  time.Duration
	prefix   string
	start    string   // the first state
	order    []string // of the states
	states   map[string]object

	success  string // where a success leads
	handler  string // where a failure leads that the loop did not know; empty for a Fail state
	timedOut string // where the end of the time leads; empty for a Fail state
	entered  bool   // whether something needs the input of the loop
}

// The exits that are compiled, before they become states of the machine.
var placeholders = map[pollcore.Status]string{
	pollcore.Succeeded: "(succeeded)", pollcore.Failed: "(failed)", pollcore.TimedOut: "(timed out)",
}

// compile makes the fragment.
func (l *loop) compile(before *observed, o Options) (*fragment, error) {
	f := &fragment{loop: l, observed: before, prefix: l.newPrefix(), maxWait: l.maxWait(o)}
	if err := f.chooseExits(); err != nil {
		return nil, err
	}
	arguments, err := l.arguments()
	if err != nil {
		return nil, err
	}
	call := compile.Call{Operation: l.entry.Operation, Arguments: arguments}
	options := compile.Options{
		Strategy: compile.Variables, MaxWait: f.maxWait, InitialDelay: time.Duration(l.first) * time.Second,
		Prefix: f.prefix, Exits: placeholders, Fit: true, UnmodeledFails: true,
	}
	c, err := compile.Compile(l.entry.Waiter, call, options)
	if err == nil {
		options.Names = f.names(c)
		c, err = compile.Compile(l.entry.Waiter, call, options)
	}
	if err != nil {
		return nil, refuse("it cannot be compiled: %s", err)
	}
	if err := f.read(c); err != nil {
		return nil, err
	}
	f.keepResource()
	return f, f.adapt()
}

// maxWait is how long the new loop waits: as long as the old one did.
func (l *loop) maxWait(o Options) time.Duration {
	most, least := 24*time.Hour, time.Minute
	if o.Express { // leave some of the time to the states around the loop
		most = asl.MaxExpressTime - 30*time.Second
	}
	wait := o.MaxWait
	if wait == 0 {
		wait = min(l.bound.After, most)
	}
	if wait == 0 && l.bound.Kind == lint.ByTimeout {
		wait = time.Duration(l.machine.TimeoutSeconds) * time.Second
	}
	if wait == 0 {
		wait = most
	}
	return max(wait.Truncate(time.Second), least, time.Duration(l.first+1)*time.Second)
}

// newPrefix is what the names of the fragment's variables begin with.
func (l *loop) newPrefix() string {
	var b strings.Builder
	up := false
	for _, r := range l.poll.Name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) || b.Len() == 0 && !unicode.IsLetter(r):
			up = b.Len() > 0
		case b.Len() == 0:
			b.WriteRune(unicode.ToLower(r))
		case up:
			b.WriteRune(unicode.ToUpper(r))
			up = false
		default:
			b.WriteRune(r)
		}
	}
	const longest = 40
	name := []rune(b.String())
	if len(name) == 0 {
		name = []rune("poll")
	}
	return string(name[:min(len(name), longest)])
}

// names give the compiled states the names of those that they replace.
func (f *fragment) names(c *compile.Compiled) map[string]string {
	taken := map[string]bool{}
	for s := range f.machine.All {
		taken[s.Name] = true
	}
	names := map[string]string{}
	for _, s := range c.Machine.States {
		own, ok := strings.CutPrefix(s.Name, f.prefix)
		if !ok {
			continue // an exit
		}
		switch {
		case own == f.entry.Operation.Name:
			names[own] = f.poll.Name
		case own == "Check":
			names[own] = f.choice.Name
		case own == "Wait" && f.wait != nil:
			names[own] = f.wait.Name
		default:
			names[own] = f.newName(parts[own], taken)
		}
	}
	return names
}

// parts are what the states of a fragment are called behind the name of the poll.
var parts = map[string]string{
	"Start": "begins", "InitialWait": "waits first", "BeforeDeadline": "has time left", "Wait": "waits", "Failed": "failed", "TimedOut": "timed out",
}

// newName is a name that no state of the machine has.
func (f *fragment) newName(part string, taken map[string]bool) string {
	if part == "" {
		part = "goes on"
	}
	base := []rune(f.poll.Name)
	base = base[:min(len(base), asl.MaxNameLength-len(part)-4)]
	name := string(base) + " " + part
	for n := 2; taken[name]; n++ {
		name = string(base) + " " + part + " " + strconv.Itoa(n)
	}
	taken[name] = true
	return name
}

// read takes the states of the compiled machine apart.
func (f *fragment) read(c *compile.Compiled) error {
	var machine struct {
		States map[string]object `json:"States"`
	}
	if err := json.Unmarshal(asl.Print(c.Machine), &machine); err != nil {
		return err
	}
	f.start, f.states = c.StartAt, map[string]object{}
	for _, s := range c.Machine.States {
		if s.Name == placeholders[pollcore.Succeeded] || s.Name == placeholders[pollcore.Failed] || s.Name == placeholders[pollcore.TimedOut] {
			continue
		}
		f.order = append(f.order, s.Name)
		f.states[s.Name] = machine.States[s.Name]
		if old := f.flow.State(s.Name); old != nil && f.inside[s.Name] && old.Comment != "" {
			f.states[s.Name]["Comment"] = old.Comment
		}
	}
	return nil
}

// chooseExits finds where the new loop leads.
func (f *fragment) chooseExits() error {
	successes, failures := f.observed.exitsOf(pollcore.Success), f.observed.exitsOf(pollcore.Failure)
	if len(successes) == 0 {
		for _, s := range f.observed.seen {
			if s.verdict == pollcore.Success && s.err != "" {
				return refuse("no success of %s leaves the loop: with %s it fails with %s", f.entry.FullName(), s.status, s.err)
			}
		}
		return refuse("no success of %s leaves the loop", f.entry.FullName())
	}
	f.success = successes[0]
	if f.flow.State(f.success).Type == asl.TypeFail {
		return refuse("a success of %s leads to the Fail state %q", f.entry.FullName(), f.success)
	}
	for _, name := range failures {
		if name != f.success && f.flow.State(name).Type != asl.TypeFail && f.handler == "" {
			f.handler = name
		}
	}
	f.timedOut = f.handler
	var others []string
	for _, name := range f.exits {
		if !slices.ContainsFunc(f.observed.seen, func(s seen) bool { return s.exit == name }) {
			others = append(others, name)
		}
	}
	if len(others) == 1 { // too many polls, or too late
		f.timedOut = others[0]
	}
	return nil
}

// arguments are those of the poll, in JSONata over the input of the loop.
func (l *loop) arguments() (map[string]any, error) {
	if l.poll.QueryLanguage == asl.JSONata {
		raw := l.node(l.poll).Get("Arguments")
		var arguments map[string]any
		if raw == nil || json.Unmarshal(raw.Raw(), &arguments) != nil {
			return nil, refuse("the arguments of %q are not an object", l.poll.Name)
		}
		return arguments, nil
	}
	document, err := translatePath(l.poll.InputPath, "$states.input")
	if err != nil || l.poll.Parameters == nil {
		return nil, errors.Join(err, refuse("%q has no Parameters", l.poll.Name))
	}
	arguments := map[string]any{}
	if literal, ok := l.poll.Parameters.Literal.(map[string]any); ok {
		return literal, nil
	}
	for _, m := range l.poll.Parameters.Object {
		if m.Value.Kind == asl.TemplateLiteral {
			arguments[m.Name] = m.Value.Literal
			continue
		}
		value, err := translate(m.Value, document)
		if err != nil {
			return nil, err
		}
		arguments[m.Name] = expression(value)
	}
	return arguments, nil
}

// inputVariable holds the input of the loop.
func (f *fragment) inputVariable() string { return f.prefix + "Input" }

// respell writes the JSON of a state of the old loop for the new one: what was the
// input of the poll is in a variable, and its result is the input of the Choice.
func (f *fragment) respell(raw []byte, result string) (any, error) {
	text := strings.ReplaceAll(string(raw), "$states.input", "$"+f.inputVariable())
	text = strings.ReplaceAll(text, "$states.result", result)
	f.entered = f.entered || text != string(raw)
	var value any
	return value, json.Unmarshal([]byte(text), &value)
}

// document is the data with which the old loop left, and the variables that it set.
func (f *fragment) document() (output, assign any, err error) {
	if f.poll.QueryLanguage == asl.JSONata {
		node := f.node(f.poll)
		output = expression("$states.input")
		if n := node.Get("Output"); n != nil {
			if output, err = f.respell(n.Raw(), "$states.input"); err != nil {
				return nil, nil, err
			}
		}
		if n := node.Get("Assign"); n != nil {
			assign, err = f.respell(n.Raw(), "$states.input")
		}
		return output, assign, err
	}
	result := "$states.input"
	if f.poll.ResultSelector != nil {
		if result, err = translate(f.poll.ResultSelector, "$states.input"); err != nil {
			return nil, nil, err
		}
	}
	text, err := mergeAt(f.poll.ResultPath, "$"+f.inputVariable(), result)
	f.entered = f.entered || f.poll.ResultPath == nil || !f.poll.ResultPath.Root()
	if err == nil && f.choice.OutputPath != nil && !f.choice.OutputPath.Root() {
		text, err = translatePath(f.choice.OutputPath, "("+text+")")
	}
	return expression(text), nil, err
}

// acceptorNumber finds which acceptor a rule is of, in the reason that it gives.
var acceptorNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\(acceptor (\d+) of \d+\)`) })

// valueOf is the value of the status that a rule of the new Choice is for; empty if
// it is for none alone.
func (f *fragment) valueOf(rule object) string {
	output, _ := rule["Output"].(object)
	reason, _ := output["reason"].(string)
	match := acceptorNumber().FindStringSubmatch(reason)
	if match == nil {
		return ""
	}
	n, err := strconv.Atoi(match[1])
	if err != nil || n < 1 || n > len(f.entry.Waiter.Acceptors) {
		return ""
	}
	if m := f.entry.Waiter.Acceptors[n-1].Matcher.Output; m != nil && m.Comparator != pollcore.BooleanEquals {
		return m.Expected
	}
	return ""
}

// adapt leads the exits of the fragment into the machine, with the data that the
// states there read.
func (f *fragment) adapt() error {
	output, assign, err := f.document()
	if err != nil {
		return err
	}
	a := &adapter{fragment: f, output: output, assign: assign, taken: map[string]bool{}, ends: map[string]string{}}
	for s := range f.machine.All {
		a.taken[s.Name] = true
	}
	for name := range f.states {
		a.taken[name] = true
	}
	for _, name := range slices.Clone(f.order) {
		s := f.states[name]
		choices, _ := s["Choices"].([]any)
		for _, rule := range choices {
			a.leave(rule.(object), "Next")
		}
		if name == f.choice.Name {
			a.leave(s, "Default")
		}
		if err := f.adaptCatch(s, name == f.poll.Name); err != nil {
			return err
		}
		for _, at := range append(catchers(s), s) {
			if err := a.fail(at); err != nil {
				return err
			}
		}
	}
	first, _ := f.states[f.start]["Assign"].(object)
	if f.entered {
		first[f.inputVariable()] = "{% $states.input %}"
	}
	if name := f.prefix + "StartedAt"; !strings.Contains(string(mustJSON(f.states)), "$"+name) {
		delete(first, name)
	}
	return nil
}

// adapter leads the exits of a fragment.
type adapter struct {
	*fragment

	output, assign any               // of what leaves for a state of the machine
	taken          map[string]bool   // names of states
	ends           map[string]string // Fail states that were added
}

// leave leads a rule, or a default, that knows the answer.
func (a *adapter) leave(at object, field string) {
	switch at[field] {
	case placeholders[pollcore.Succeeded]:
		a.lead(at, field, cmp.Or(a.exitOf(a.valueOf(at), pollcore.Success), a.success))
	case placeholders[pollcore.Failed]:
		exit := a.exitOf(a.valueOf(at), pollcore.Failure)
		if exit == a.success {
			exit = "" // it was taken for a success
		}
		if exit = cmp.Or(exit, a.handler); exit != "" {
			a.lead(at, field, exit)
		} else {
			a.leadToFail(at, field, "failed", "JobPoller.Failed")
		}
	case placeholders[pollcore.TimedOut]:
		if a.timedOut != "" {
			a.lead(at, field, a.timedOut)
		} else {
			a.leadToFail(at, field, "timed out", "JobPoller.TimedOut")
		}
	}
}

// fail leads what does not know the answer to Fail states.
func (a *adapter) fail(at object) error {
	for _, field := range []string{"Next", "Default"} {
		switch at[field] {
		case placeholders[pollcore.Succeeded]:
			return refuse("%s succeeds by an error, which gives the states after the loop no data", a.entry.FullName())
		case placeholders[pollcore.Failed]:
			a.leadToFail(at, field, "failed", "JobPoller.Failed")
		case placeholders[pollcore.TimedOut]:
			a.leadToFail(at, field, "timed out", "JobPoller.TimedOut")
		}
	}
	return nil
}

// lead leads to a state of the machine, with the data of the old loop.
func (a *adapter) lead(at object, field, to string) {
	at[field], at["Output"] = to, a.output
	if a.assign != nil {
		at["Assign"] = a.assign
	}
}

// leadToFail leads to a new Fail state, which needs the reason alone.
func (a *adapter) leadToFail(at object, field, part, code string) {
	if output, ok := at["Output"].(object); ok {
		at["Output"] = object{"reason": output["reason"]}
	}
	if a.ends[part] == "" {
		name := a.newName(part, a.taken)
		a.ends[part], a.order = name, append(a.order, name)
		a.states[name] = object{"QueryLanguage": "JSONata", "Type": "Fail", "Error": code, "Cause": "{% $states.input.reason %}"}
	}
	at[field] = a.ends[part]
}

// exitOf is where the old loop left with a value of the status; empty if it did not.
func (f *fragment) exitOf(value string, verdict pollcore.Verdict) string {
	for _, s := range f.observed.seen {
		if s.status == value && s.verdict == verdict {
			return s.exit
		}
	}
	return ""
}

// catchers are those of a state.
func catchers(s object) []object {
	var all []object
	list, _ := s["Catch"].([]any)
	for _, item := range list {
		all = append(all, item.(object))
	}
	return all
}

// adaptCatch gives the poll the catchers of the old one in the place of the one for
// all errors: without any, an error that is not retried fails the execution, as it
// did.
func (f *fragment) adaptCatch(s object, poll bool) error {
	if !poll {
		return nil
	}
	var kept []any
	for _, c := range catchers(s) {
		names, _ := c["ErrorEquals"].([]any)
		if len(names) == 1 && names[0] == asl.ErrorAll && c["Next"] == placeholders[pollcore.Failed] {
			continue
		}
		kept = append(kept, c)
	}
	raw := f.node(f.poll).Get("Catch")
	for i, c := range f.poll.Catch {
		if f.inside[c.Next] {
			continue // the new loop retries, and polls on
		}
		catcher := object{"ErrorEquals": c.ErrorEquals, "Next": c.Next}
		if c.Comment != "" {
			catcher["Comment"] = c.Comment
		}
		if f.poll.QueryLanguage == asl.JSONata {
			for _, field := range []string{"Output", "Assign"} {
				n := raw.Items[i].Get(field)
				if n == nil {
					continue
				}
				value, err := f.respell(n.Raw(), "$states.result")
				if err != nil {
					return err
				}
				catcher[field] = value
			}
			kept = append(kept, catcher)
			continue
		}
		if c.Assign != nil {
			return refuse("a catcher of %q sets variables in JSONPath", f.poll.Name)
		}
		output, err := mergeAt(c.ResultPath, "$"+f.inputVariable(), "$states.errorOutput")
		if err != nil {
			return err
		}
		f.entered = f.entered || c.ResultPath == nil || !c.ResultPath.Root()
		catcher["Output"] = expression(output)
		kept = append(kept, catcher)
	}
	delete(s, "Catch")
	if len(kept) > 0 {
		s["Catch"] = kept
	}
	return nil
}
