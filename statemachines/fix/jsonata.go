package fix

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// pollArguments are those of the poll, in JSONata over the input of the loop.
func (l *loop) pollArguments() (map[string]any, error) {
	document, err := l.findEntered("$states.input")
	if err != nil {
		return nil, err
	}
	return l.argumentsOf(l.poll, document)
}

// argumentsOf are those of a call, in JSONata over the input of its Task.
func (l *loop) argumentsOf(s *asl.State, document string) (map[string]any, error) {
	var arguments map[string]any
	if s.QueryLanguage == asl.JSONata {
		if json.Unmarshal(l.node(s).Get("Arguments").Raw(), &arguments) != nil {
			return nil, refuse("the arguments of %q are an expression", s.Name)
		}
		return arguments, nil
	}
	document, err := translatePath(s.InputPath, document)
	if err != nil {
		return nil, err
	}
	value, err := translateFields(s.Parameters, document)
	arguments, _ = value.(map[string]any)
	return arguments, err
}

// findEntered is the JSONata of the input of the first poll, by that of the loop: a Wait before it
// may select a part.
func (l *loop) findEntered(input string) (string, error) {
	document := input
	for _, s := range l.firstWaits() {
		if s.QueryLanguage != asl.JSONPath {
			continue
		}
		for _, p := range []*jsonpath.Path{s.InputPath, s.OutputPath} {
			var err error
			if document, err = translatePath(p, document); err != nil {
				return "", err
			}
		}
	}
	return document, nil
}

// inputVariable holds the input of the first poll.
func (f *fragment) inputVariable() string { return f.prefix + "Input" }

// loopInput is JSONata for the input of the first poll of the old loop. result is the
// answer of the poll, empty where there is none.
func (f *fragment) loopInput(result string) (string, error) {
	f.entered = true
	if f.starter != nil {
		return f.findLoopInput(result)
	}
	return "$" + f.inputVariable(), nil
}

// respell writes the JSON of a state of the old loop for the new one: what was the
// input of the poll is in a variable, and its result is at another place.
func (f *fragment) respell(raw []byte, result string) (any, error) {
	return replaceNames(raw, map[string]func() (string, error){
		"$states.input":  func() (string, error) { return f.loopInput(result) },
		"$states.result": func() (string, error) { return result, nil },
	})
}

// replaceNames puts expressions in the place of names in JSON, all at once: an
// expression may have another of the names in it.
func replaceNames(raw []byte, with map[string]func() (string, error)) (any, error) {
	var pairs []string
	for name, write := range with {
		if !bytes.Contains(raw, []byte(name)) {
			continue
		}
		text, err := write()
		if err != nil {
			return nil, err
		}
		quoted := mustJSON(text)
		pairs = append(pairs, name, string(quoted[1:len(quoted)-1]))
	}
	var value any
	err := json.Unmarshal([]byte(strings.NewReplacer(pairs...).Replace(string(raw))), &value)
	return value, err
}

// document is the data with which the poll of the old loop ended, by its result.
func (f *fragment) document(result string) (any, error) {
	if f.poll.QueryLanguage == asl.JSONata {
		if n := f.node(f.poll).Get("Output"); n != nil {
			return f.respell(n.Raw(), result)
		}
		return expression(result), nil
	}
	var err error
	input := ""
	if f.poll.ResultPath == nil || !f.poll.ResultPath.Root() {
		if input, err = f.loopInput(result); err != nil {
			return nil, err
		}
	}
	if result, err = f.selectResult(result); err != nil {
		return nil, err
	}
	text, err := mergeAt(f.poll.ResultPath, input, result)
	if err != nil {
		return nil, err
	}
	for _, p := range []*jsonpath.Path{f.poll.OutputPath, f.choice.InputPath, f.choice.OutputPath} {
		if text, err = translatePath(p, text); err != nil {
			return nil, err
		}
	}
	return expression(text), nil
}

// selectResult is JSONata for what ResultSelector makes of a result.
func (f *fragment) selectResult(result string) (string, error) {
	if f.poll.ResultSelector == nil {
		return result, nil
	}
	return translate(f.poll.ResultSelector, result)
}

// exitData is the data with which the old loop left for a state, and the variables
// that its Choice set there.
func (f *fragment) exitData(document any, exit string) (output, assign any, err error) {
	way, err := f.wayTo(exit)
	if err != nil || way == nil {
		return document, nil, err
	}
	if f.poll.QueryLanguage == asl.JSONPath {
		output = document
		if way.assign == nil {
			return output, nil, nil
		}
		assign, err = translateFields(way.assign, express(document))
		return output, assign, err
	}
	quoted := mustJSON(express(document))
	read := func(n *jsontree.Node) (any, error) {
		var value any
		err := json.Unmarshal(bytes.ReplaceAll(n.Raw(), []byte("$states.input"), quoted[1:len(quoted)-1]), &value)
		return value, err
	}
	output = document
	if n := way.node.Get("Output"); n != nil {
		if output, err = read(n); err != nil {
			return nil, nil, err
		}
	}
	if n := way.node.Get("Assign"); n != nil {
		assign, err = read(n)
	}
	return output, assign, err
}

// way is a rule of the old Choice, or its Default.
type way struct {
	node   *jsontree.Node // which has the Output and the Assign
	assign *asl.Template
}

// wayTo is how the first Choice left for a state; nil if another one does, and none of them
// changes data then.
func (f *fragment) wayTo(exit string) (*way, error) {
	var found *way
	text := func(w *way, field string) string {
		if n := w.node.Get(field); n != nil {
			return string(n.Raw())
		}
		return ""
	}
	add := func(w *way) error {
		if found != nil && (text(found, "Output") != text(w, "Output") || text(found, "Assign") != text(w, "Assign")) {
			return refuse("the rules of %q leave for %q with different data", f.choice.Name, exit)
		}
		found = w
		return nil
	}
	node := f.node(f.choice)
	for i, rule := range f.choice.Choice.Rules {
		if rule.Next == exit {
			if err := add(&way{node.Get("Choices").Items[i], rule.Assign}); err != nil {
				return nil, err
			}
		}
	}
	if f.choice.Choice.Default == exit {
		if err := add(&way{node, f.choice.Assign}); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// adaptJSONata leads the exits of states in JSONata into the machine, with the data
// that the states there read. result is where the response of the poll is.
func (f *fragment) adaptJSONata(result string) error {
	document, err := f.document(result)
	if err != nil {
		return err
	}
	if f.starter != nil {
		if err := f.adaptStart(); err != nil {
			return err
		}
	}
	for _, name := range slices.Clone(f.order) {
		s := f.states[name]
		choices, _ := s["Choices"].([]any)
		for _, rule := range choices {
			if err := f.leave(rule.(object), "Next", document); err != nil {
				return err
			}
		}
		if name == f.choice.Name {
			if err := f.leave(s, "Default", document); err != nil {
				return err
			}
		}
		if name == f.poll.Name {
			if err := f.adaptPoll(s); err != nil {
				return err
			}
		}
		for _, at := range append(catchers(s), s) {
			if err := f.fail(at); err != nil {
				return err
			}
		}
	}
	first, _ := f.states[f.start]["Assign"].(object)
	if f.entered {
		input, err := f.findEntered("$states.input")
		if err != nil {
			return err
		}
		first[f.inputVariable()] = expression(input)
	}
	if name := f.prefix + "StartedAt"; !strings.Contains(string(mustJSON(f.states)), "$"+name) {
		delete(first, name)
	}
	return nil
}

// leave leads a rule, or a default, that knows the answer.
func (f *fragment) leave(at object, field string, document any) error {
	for status, name := range placeholders {
		if at[field] != name {
			continue
		}
		output, _ := at["Output"].(object)
		reason, _ := output["reason"].(string)
		exit := f.wayOut(status, acceptorOf(reason))
		if exit == "" {
			f.leadToFail(at, field, status)
			return nil
		}
		data, assign, err := f.exitData(document, exit)
		if err != nil {
			return err
		}
		at[field], at["Output"] = exit, data
		if assign != nil {
			at["Assign"] = assign
		}
	}
	return nil
}

// fail leads what does not know the answer to Fail states.
func (f *fragment) fail(at object) error {
	for _, field := range []string{"Next", "Default"} {
		switch at[field] {
		case placeholders[pollcore.Succeeded]:
			return refuse("%s succeeds by an error, which gives the states after the loop no data", f.entry.FullName())
		case placeholders[pollcore.Failed]:
			f.leadToFail(at, field, pollcore.Failed)
		case placeholders[pollcore.TimedOut]:
			f.leadToFail(at, field, pollcore.TimedOut)
		}
	}
	return nil
}

// leadToFail leads to a new Fail state, which needs the reason alone.
func (f *fragment) leadToFail(at object, field string, status pollcore.Status) {
	if output, ok := at["Output"].(object); ok {
		at["Output"] = object{"reason": output["reason"]}
	}
	if f.added[status] == "" {
		part, code := "failed", "JobPoller.Failed"
		if status == pollcore.TimedOut {
			part, code = "timed out", "JobPoller.TimedOut"
		}
		f.added[status] = f.addFail(f.poll.Name, part, code, "{% $states.input.reason %}")
	}
	at[field] = f.added[status]
}

// addFail adds a Fail state, and returns its name.
func (f *fragment) addFail(subject, part, code, cause string) string {
	taken := map[string]bool{}
	for s := range f.machine.All {
		taken[s.Name] = true
	}
	for name := range f.states {
		taken[name] = true
	}
	name := f.newName(subject, part, taken)
	f.order = append(f.order, name)
	f.states[name] = object{"QueryLanguage": "JSONata", "Type": "Fail", "Error": code, "Cause": cause}
	return name
}

// adaptPoll gives the poll the variables and the catchers of the old one.
func (f *fragment) adaptPoll(s object) error {
	assign, err := f.pollAssign()
	if err != nil {
		return err
	}
	if f.poll.Task.Credentials != nil {
		if err := f.adaptCredentials(s); err != nil {
			return err
		}
	}
	if len(assign) > 0 {
		own, _ := s["Assign"].(object)
		if own == nil {
			own = object{}
		}
		maps.Copy(own, assign)
		s["Assign"] = own
	}
	f.keepRetry(s)
	return f.adaptCatch(s)
}

// adaptCredentials gives the poll the role of the old one.
func (f *fragment) adaptCredentials(s object) error {
	var err error
	if f.poll.QueryLanguage == asl.JSONata {
		s["Credentials"], err = f.respell(f.node(f.poll).Get("Credentials").Raw(), "")
		return err
	}
	document, err := translatePath(f.poll.InputPath, "$"+f.inputVariable())
	if err != nil {
		return err
	}
	f.entered = true
	s["Credentials"], err = translateFields(f.poll.Task.Credentials, document)
	return err
}

// pollAssign is what the old poll assigned.
func (f *fragment) pollAssign() (object, error) {
	n := f.node(f.poll).Get("Assign")
	if n == nil {
		return nil, nil //nolint:nilnil // nothing
	}
	for _, m := range n.Members {
		name := variableOf(m)
		if f.countsInPoll(name) {
			continue
		}
		if output := f.node(f.poll).Get("Output"); output != nil && readsVariable(output.Raw(), name) {
			return nil, refuse("the Output of %q reads the variable %q, which its Assign sets anew", f.poll.Name, name)
		}
		if readsVariable(n.Raw(), name) {
			return nil, refuse("%q makes the variable %q of itself in each turn, and other states read it", f.poll.Name, name)
		}
	}
	var value any
	var err error
	if f.poll.QueryLanguage == asl.JSONata {
		value, err = f.respell(n.Raw(), "$states.result")
	} else {
		var result string
		if result, err = f.selectResult("$states.result"); err == nil {
			value, err = translateFields(f.poll.Assign, result)
		}
	}
	assign, _ := value.(object)
	maps.DeleteFunc(assign, func(name string, _ any) bool { return f.countsInPoll(name) })
	return assign, err
}

// readsVariable tells whether the JSON of a part of a state reads a variable.
func readsVariable(raw []byte, name string) bool {
	for _, found := range variable().FindAllSubmatch(raw, -1) {
		if found[0][0] == '$' && string(found[1]) == name {
			return true
		}
	}
	return false
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
func (f *fragment) adaptCatch(s object) error {
	var kept []any
	for _, c := range catchers(s) {
		names, _ := c["ErrorEquals"].([]any)
		if len(names) == 1 && names[0] == asl.ErrorAll && c["Next"] == placeholders[pollcore.Failed] {
			continue
		}
		kept = append(kept, c)
	}
	for i, c := range f.poll.Catch {
		if f.inside[c.Next] {
			continue // the new loop retries, and polls on
		}
		catcher, err := f.translateCatcher(c, f.poll, f.node(f.poll).Get("Catch").Items[i])
		if err != nil {
			return err
		}
		kept = append(kept, catcher)
	}
	delete(s, "Catch")
	if len(kept) > 0 {
		s["Catch"] = kept
	}
	return nil
}

// translateCatcher writes a catcher of a Task of the old loop in JSONata.
func (f *fragment) translateCatcher(c asl.Catcher, task *asl.State, node *jsontree.Node) (object, error) {
	catcher := object{"ErrorEquals": c.ErrorEquals, "Next": c.Next}
	if c.Comment != "" {
		catcher["Comment"] = c.Comment
	}
	input := func() (string, error) {
		if f.starter != nil && task == f.starter.State {
			f.entered = true
			return "$" + f.inputVariable(), nil
		}
		return f.loopInput("")
	}
	if task.QueryLanguage == asl.JSONata {
		for _, field := range []string{"Output", "Assign"} {
			n := node.Get(field)
			if n == nil {
				continue
			}
			value, err := replaceNames(n.Raw(), map[string]func() (string, error){"$states.input": input})
			if err != nil {
				return nil, err
			}
			catcher[field] = value
		}
		return catcher, nil
	}
	if c.Assign != nil {
		assign, err := translateFields(c.Assign, "$states.errorOutput")
		if err != nil {
			return nil, err
		}
		catcher["Assign"] = assign
	}
	document := ""
	if c.ResultPath == nil || !c.ResultPath.Root() {
		var err error
		if document, err = input(); err != nil {
			return nil, err
		}
	}
	output, err := mergeAt(c.ResultPath, document, "$states.errorOutput")
	if err != nil {
		return nil, err
	}
	if output, err = translatePath(task.OutputPath, output); err != nil {
		return nil, err
	}
	catcher["Output"] = expression(output)
	return catcher, nil
}
