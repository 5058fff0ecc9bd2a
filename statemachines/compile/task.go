package compile

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// TaskName is the state of Call.Task, before Options.Prefix and Options.Names.
const TaskName = "Poll"

// ownTask is what polls in the place of an operation.
type ownTask struct {
	fields    object // but for those below
	arguments any    // nil for the input of the machine
	retry     []any
	catch     []any
}

// longestCall is how long a Lambda function may run, in seconds.
const longestCall = 15 * 60

// mayHave are the fields of a Task of the caller's own.
var mayHave = []string{"Type", "Comment", "Resource", "Arguments", "Credentials", "TimeoutSeconds", "HeartbeatSeconds", "Retry", "Catch"}

// CheckTask says what is wrong with a Task of the caller's own, whatever polls with it.
func CheckTask(task map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(task)) {
		if !slices.Contains(mayHave, name) {
			return fmt.Errorf("has the field %s: it may have %s. It is in JSONata, and the waiter reads the result as the call returns it",
				name, strings.Join(mayHave[1:], ", "))
		}
	}
	if kind, given := task["Type"]; given && kind != "Task" {
		return fmt.Errorf("must be of the Type Task, is of %v", kind)
	}
	resource, isText := task["Resource"].(string)
	if !isText || resource == "" {
		return errors.New("must have a Resource, the ARN of a function or of an integration, such as arn:aws:states:::lambda:invoke")
	}
	state := maps.Clone(object(task))
	delete(state, "Catch") // leads to states that only a whole machine has
	state["Type"], state["Arguments"], state["End"] = "Task", "{% $states.input %}", true
	text, err := json.Marshal(object{"QueryLanguage": asl.JSONata, "StartAt": TaskName, "States": object{TaskName: state}})
	if err != nil {
		return err
	}
	_, err = asl.Parse(text)
	if problems, ok := errors.AsType[diag.Problems](err); ok && len(problems) > 0 {
		return fmt.Errorf("is not valid: %s: %s", strings.TrimPrefix(problems[0].Pointer, "/States/"+TaskName), problems[0].Message)
	}
	arguments, isObject := task["Arguments"].(map[string]any)
	if r := asl.ParseResource(resource); r.Service == "lambda" && !r.Direct && isObject {
		if name, _ := arguments["FunctionName"].(string); name == "" {
			return errors.New("must have a FunctionName in its Arguments, a text")
		}
	}
	return err
}

// readTask reads the fields of the caller's own Task.
func readTask(fields object) *ownTask {
	t := &ownTask{fields: maps.Clone(fields)}
	t.arguments = t.fields["Arguments"]
	t.retry, _ = listOf(t.fields["Retry"])
	t.catch, _ = listOf(t.fields["Catch"])
	for _, field := range []string{"Type", "Arguments", "Retry", "Catch"} {
		delete(t.fields, field)
	}
	return t
}

// listOf is a list of objects of any type as one of JSON; false for anything else. What is left out is an empty one.
func listOf(list any) (items []any, ok bool) {
	text, err := json.Marshal(list)
	if err != nil || json.Unmarshal(text, &items) != nil {
		return nil, false
	}
	return items, !slices.ContainsFunc(items, func(item any) bool { _, isObject := item.(map[string]any); return !isObject })
}

// operation is what polls: the caller's, or a name for what no model has.
func (c Call) operation() *catalog.Operation {
	if c.Operation != nil || c.Task == nil {
		return c.Operation
	}
	resource, _ := c.Task["Resource"].(string)
	r := asl.ParseResource(resource)
	return &catalog.Operation{Name: TaskName, Service: &catalog.Service{Name: resource, ErrorPrefix: r.ErrorPrefix()}}
}

// describe are the shapes of the operation that polls. The result of a Task has the members that the
// waiter reads: nobody else knows them.
func (c Call) describe(w *pollcore.Waiter, output string) (in, out *jsontype.Type) {
	if c.Task != nil && c.Operation == nil {
		return &jsontype.Type{Kind: jsontype.Unknown}, readBy(w, output)
	}
	op := c.operation()
	return op.Input.Describe(), op.Output.Describe()
}

// readBy is the type of a result that a waiter, and another path if it is not empty, read: objects where
// all paths lead through members alone, and else anything.
func readBy(w *pollcore.Waiter, output string) *jsontype.Type {
	root := &jsontype.Type{Kind: jsontype.Object}
	plain := read(root, output, jsontype.Unknown)
	for _, a := range w.Acceptors {
		plain = plain && a.Matcher.InputOutput == nil && read(root, a.Message, jsontype.String)
		if m := a.Matcher.Output; m != nil {
			kind := jsontype.String
			if m.Comparator == pollcore.BooleanEquals {
				kind = jsontype.Boolean
			}
			plain = plain && read(root, m.Path, kind)
		}
	}
	if !plain {
		return &jsontype.Type{Kind: jsontype.Unknown}
	}
	return root
}

// read adds what a path reads to an object. It is false for a path that does not lead through members alone, or
// reads what another takes for something else.
func read(root *jsontype.Type, path string, kind jsontype.Kind) bool {
	e, err := jmespath.Parse(path)
	if path == "" || err != nil { // which is the acceptor's own problem
		return true
	}
	names, plain := e.Names()
	at := root
	for _, name := range names {
		if at.Kind != jsontype.Object {
			return false
		}
		if at.Members == nil {
			at.Members = map[string]*jsontype.Type{}
		}
		if at.Members[name] == nil {
			at.Members[name] = &jsontype.Type{Kind: jsontype.Object}
		}
		at = at.Members[name]
	}
	if !plain || at.Members != nil || at.Kind != jsontype.Object && at.Kind != kind {
		return false
	}
	at.Kind = kind
	return true
}

// spell spells a member as the result of the poll has it.
func (c Call) spell(name string) string {
	if c.Task != nil && c.Operation == nil {
		return name
	}
	return javasdk.MemberName(name)
}

// resource is what the Task calls.
func (t *ownTask) resource() string {
	resource, _ := t.fields["Resource"].(string)
	return resource
}

// function is the Lambda function that the Task calls; empty if it calls none, or the run gives all arguments.
func (t *ownTask) function() string {
	r := asl.ParseResource(t.resource())
	switch arguments, _ := t.arguments.(map[string]any); {
	case r.Service != "lambda":
		return ""
	case r.Direct:
		return t.resource()
	default:
		name, _ := arguments["FunctionName"].(string)
		return name
	}
}

// timeout is how long a call may take that does not say so, in seconds: as long as AWS lets it.
func (t *ownTask) timeout() int {
	if asl.ParseResource(t.resource()).Service == "lambda" {
		return longestCall
	}
	return callTimeout
}

// findOwnError finds how an error of the caller's own Task is shown: by the name that ASL has for it.
func (p *plan) findOwnError(name string) (*shown, error) {
	if p.options.CausePatterns[name] != "" {
		return nil, fmt.Errorf("the error %s of a Task needs no pattern of a Cause: it is named as Step Functions names it", name)
	}
	return &shown{names: []string{name}}, nil
}
