package fix

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// pollArguments are those of the poll, in JSONata over the input of the loop.
func (l *loop) pollArguments() (map[string]any, error) {
	document, err := l.findEntered("$states.input")
	if err != nil {
		return nil, err
	}
	return l.argumentsOf(l.poll, document)
}

// prepareArguments gives the call the arguments of the poll. Where these are one expression, adaptJSONata puts it into the variable
// that has them.
func (f *fragment) prepareArguments(call *compile.Call) (err error) {
	if a := f.poll.Arguments; a == nil || a.Expression == nil {
		call.Arguments, err = f.pollArguments()
		return err
	}
	if err := f.checkEachCall(); err != nil {
		return err
	}
	call.Arguments = object{}
	f.computed, err = f.taskArguments()
	return err
}

// taskArguments are those of the user's own Task, in JSONata over the input of the loop: that input, if it has none.
func (l *loop) taskArguments() (any, error) {
	document, err := l.findEntered("$states.input")
	if err != nil {
		return nil, err
	}
	if l.poll.QueryLanguage == asl.JSONata {
		arguments := l.node(l.poll).Get("Arguments")
		if arguments == nil {
			return expression(document), nil
		}
		return replaceNames(arguments.Raw(), map[string]func() (string, error){"$states.input": func() (string, error) { return document, nil }})
	}
	if document, err = translatePath(l.poll.InputPath, document); err != nil {
		return nil, err
	}
	if l.poll.Parameters == nil {
		return expression(document), nil
	}
	return translateFields(l.poll.Parameters, document)
}

// argumentsOf are those of a call, in JSONata over the input of its Task.
func (l *loop) argumentsOf(s *asl.State, document string) (map[string]any, error) {
	var arguments map[string]any
	if s.QueryLanguage == asl.JSONata {
		if json.Unmarshal(l.node(s).Get("Arguments").Raw(), &arguments) != nil {
			return nil, refuse("%q computes its arguments by one expression, and a .sync Task needs the arguments one by one: write an object of expressions", s.Name)
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
