package fix

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// prepareJSONPath completes a call for states in JSONPath. They carry the data of the
// old loop: the poll keeps its fields, and the rules read its result where that puts
// it.
func (f *fragment) prepareJSONPath(call *compile.Call, options *compile.Options) (adapt func() error, err error) {
	switch {
	case f.poll.QueryLanguage == asl.JSONata:
		return nil, refuse("%q is in JSONata, and the strategy %s is in JSONPath, which cannot say its expressions: take %s or %s",
			f.poll.Name, options.Strategy, compile.Variables, compile.RetryTask)
	case f.openWait != nil:
		return nil, refuse("the loop begins with the Wait %q, whose length the definition does not say: take the strategy %s or %s",
			f.openWait.Name, compile.Variables, compile.RetryTask)
	case len(f.firstWaits()) > 1:
		return nil, refuse("the loop begins with several Wait states, and the strategy %s has one", options.Strategy)
	case f.poll.ResultPath == nil:
		return nil, refuse("%q discards its result, and the strategy %s reads it in the next state", f.poll.Name, options.Strategy)
	}
	call.SelfFeeding, call.Arguments = true, map[string]any{}
	if delay := min(f.turn.Truncate(time.Second), options.MaxWait); delay > 0 {
		options.MinDelay, options.MaxDelay = delay, delay // as before: it has one delay
	}
	return f.adaptJSONPath, nil
}

// ends are the states that a compiled machine ends in.
func (f *fragment) ends() map[pollcore.Status]string {
	return map[pollcore.Status]string{pollcore.Succeeded: f.named["Succeeded"], pollcore.Failed: f.named["Failed"], pollcore.TimedOut: f.named["TimedOut"]}
}

// selections are the fields that select a part of a state's data.
var selections = []string{"InputPath", "OutputPath"}

// pollFields are the fields of the poll that a state in JSONPath keeps.
var pollFields = []string{"InputPath", "Parameters", "ResultSelector", "ResultPath", "OutputPath", "Credentials"}

// adaptJSONPath leads the exits of states in JSONPath into the machine.
func (f *fragment) adaptJSONPath() error {
	poll, choice := f.states[f.poll.Name], f.states[f.choice.Name]
	if err := f.copyFields(poll, f.poll, pollFields...); err != nil {
		return err
	}
	for _, s := range f.firstWaits() {
		if err := f.copyFields(f.states[f.start], s, selections...); err != nil {
			return err
		}
	}
	if f.wait != nil {
		if err := f.copyFields(f.states[f.wait.Name], f.wait, selections...); err != nil {
			return err
		}
	}
	if n := f.node(f.poll).Get("Assign"); n != nil {
		var assign object
		if err := json.Unmarshal(n.Raw(), &assign); err != nil {
			return err
		}
		maps.DeleteFunc(assign, func(name string, _ any) bool { return f.countsInPoll(strings.TrimSuffix(name, ".$")) })
		maps.Copy(poll["Assign"].(object), assign) //nolint:forcetypeassert // it counts the polls
	}
	if err := f.copyFields(choice, f.choice, selections...); err != nil {
		return err
	}
	if err := f.adaptRules(choice); err != nil {
		return err
	}
	f.keepRetry(poll)
	if err := f.catchInJSONPath(poll); err != nil {
		return err
	}
	for _, name := range slices.Clone(f.order) {
		if s := f.states[name]; s["Type"] == string(asl.TypeChoice) && name != f.choice.Name {
			f.readFailure(s)
			if name == f.named["CheckError"] {
				f.failAsBefore(s, f.ends()[pollcore.Failed], "$"+f.prefix+"Failure")
			}
		}
	}
	f.dropUnreached()
	return nil
}

// copyFields gives a state fields of one of the old loop.
func (f *fragment) copyFields(to object, from *asl.State, fields ...string) error {
	node := f.node(from)
	for _, field := range fields {
		delete(to, field)
		n := node.Get(field)
		if n == nil {
			continue
		}
		var value any
		if err := json.Unmarshal(n.Raw(), &value); err != nil {
			return err
		}
		to[field] = value
	}
	return nil
}

// adaptRules lets the Choice read the result where the poll puts it, and lead into
// the machine. A rule that only adds a message to the reason goes if the poll does
// not keep the message.
func (f *fragment) adaptRules(choice object) error {
	var kept []any
	rules, _ := choice["Choices"].([]any)
	for _, item := range rules {
		rule, _ := item.(object)
		assign, _ := rule["Assign"].(object)
		reason, _ := assign[f.prefix+"Reason"].(string)
		described, describes := assign[f.prefix+"Reason.$"].(string)
		if err := f.movePaths(rule); err != nil {
			if describes {
				continue
			}
			return err
		}
		if err := f.leaveRule(rule, "Next", reason+described); err != nil {
			return err
		}
		kept = append(kept, rule)
	}
	choice["Choices"] = kept
	return f.leaveRule(choice, "Default", "")
}

// leaveRule leads a rule, or a default, into the machine.
func (f *fragment) leaveRule(at object, field, reason string) error {
	for status, name := range f.ends() {
		if at[field] != name {
			continue
		}
		exit := f.wayOut(status, acceptorOf(reason))
		if exit == "" {
			return nil
		}
		at[field] = exit
		delete(at, "Assign") // the reason is for Fail states
		way, err := f.wayTo(exit)
		if err != nil || way == nil {
			return err
		}
		return f.assignOf(at, way)
	}
	return nil
}

// assignOf gives a rule the variables that the old one set.
func (f *fragment) assignOf(at object, old *way) error {
	n := old.node.Get("Assign")
	if n == nil {
		return nil
	}
	var assign object
	err := json.Unmarshal(n.Raw(), &assign)
	at["Assign"] = assign
	return err
}

// answerPath finds paths into the answer in a text.
var answerPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[^$])\$((?:\.\w+)+)`) })

// movePaths writes the paths into the answer as paths into the data that the poll
// leaves.
func (f *fragment) movePaths(rule object) error {
	var failed error
	move := func(text string) string {
		return answerPath().ReplaceAllStringFunc(text, func(found string) string {
			parts := answerPath().FindStringSubmatch(found)
			path, err := f.movePath(strings.Split(parts[2][1:], "."))
			if err != nil {
				failed = err
			}
			return parts[1] + path
		})
	}
	rewrite(rule, func(name, text string) string {
		if name == "Variable" || strings.HasSuffix(name, ".$") {
			return move(text)
		}
		return text
	})
	return failed
}

// movePath is the path of a member of the answer in the data that the poll leaves.
func (f *fragment) movePath(names []string) (string, error) {
	at := names
	if f.poll.ResultSelector != nil {
		if at = findSelected(f.poll.ResultSelector, names); at == nil {
			return "", refuse("the ResultSelector of %q drops %s, which the strategy loop reads", f.poll.Name, strings.Join(names, "."))
		}
	}
	var all []string
	for _, step := range f.poll.ResultPath.Steps() {
		all = append(all, step.Names...)
	}
	all = append(all, at...)
	for _, p := range []*jsonpath.Path{f.poll.OutputPath, f.choice.InputPath} {
		for _, step := range p.Steps() {
			next := min(1, len(all))
			if !slices.Equal(step.Names, all[:next]) {
				return "", refuse("%q selects data without its result, which the strategy loop reads", f.poll.Name)
			}
			all = all[next:]
		}
	}
	return strings.Join(append([]string{"$"}, all...), "."), nil
}

// findSelected is where a template of ResultSelector puts a member; nil if it does
// not.
func findSelected(t *asl.Template, names []string) []string {
	for _, m := range t.Object {
		if found := findSelected(m.Value, names); found != nil {
			return append([]string{m.Name}, found...)
		}
		p := m.Value.Path
		if p == nil || p.Context() || p.Variable() != "" {
			continue
		}
		if read := namesOf(p); len(read) == len(p.Steps()) && len(read) <= len(names) && slices.Equal(read, names[:len(read)]) {
			return append([]string{m.Name}, names[len(read):]...)
		}
	}
	return nil
}

// catchInJSONPath gives the poll the catchers of the old one in the place of the one
// for all errors. Its own keep the error in a variable, so that the data stay.
func (f *fragment) catchInJSONPath(poll object) error {
	var kept []any
	for _, c := range catchers(poll) {
		names, _ := c["ErrorEquals"].([]any)
		if len(names) == 1 && names[0] == asl.ErrorAll && c["Next"] == f.ends()[pollcore.Failed] {
			continue
		}
		if f.states[nameIn(c["Next"])]["End"] == true {
			return refuse("%s succeeds by an error, which gives the states after the loop no data", f.about())
		}
		c["ResultPath"] = nil
		c["Assign"].(object)[f.prefix+"Failure.$"] = "$" //nolint:forcetypeassert // it counts the polls
		f.failByError(c, "Next", f.ends()[pollcore.Failed], "$"+f.prefix+"Failure")
		kept = append(kept, c)
	}
	raw := f.node(f.poll).Get("Catch")
	for i, c := range f.poll.Catch {
		if f.inside[c.Next] {
			continue // the new loop retries, and polls on
		}
		var catcher any
		if err := json.Unmarshal(raw.Items[i].Raw(), &catcher); err != nil {
			return err
		}
		kept = append(kept, catcher)
	}
	delete(poll, "Catch")
	if len(kept) > 0 {
		poll["Catch"] = kept
	}
	return nil
}

// nameIn is the name of a state in a field.
func nameIn(value any) string {
	s, _ := value.(string)
	return s
}

// readFailure lets a state that looks at an error read it from its variable.
func (f *fragment) readFailure(s object) {
	rewrite(s, func(_, text string) string { return strings.ReplaceAll(text, "$.error.", "$"+f.prefix+"Failure.") })
}

// rewrite changes the texts in an object, by the names of their members.
func rewrite(o object, change func(name, text string) string) {
	for name, member := range o {
		switch v := member.(type) {
		case string:
			o[name] = change(name, v)
		case object:
			rewrite(v, change)
		case []any:
			for _, item := range v {
				if inner, ok := item.(object); ok {
					rewrite(inner, change)
				}
			}
		}
	}
}

// dropUnreached removes states that nothing leads to any more.
func (f *fragment) dropUnreached() {
	reached := map[string]bool{f.start: true}
	queue := []string{f.start}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		for _, next := range leadsTo(f.states[name]) {
			if f.states[next] != nil && !reached[next] {
				reached[next] = true
				queue = append(queue, next)
			}
		}
	}
	f.order = slices.DeleteFunc(f.order, func(name string) bool { return !reached[name] })
	maps.DeleteFunc(f.states, func(name string, _ object) bool { return !reached[name] })
}

// leadsTo are the states that a state leads to.
func leadsTo(s object) []string {
	names := []string{nameIn(s["Next"]), nameIn(s["Default"])}
	for _, field := range []string{"Choices", "Catch"} {
		list, _ := s[field].([]any)
		for _, item := range list {
			inner, _ := item.(object)
			names = append(names, leadsTo(inner)...)
		}
	}
	return names
}
