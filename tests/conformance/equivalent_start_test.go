package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/jmespath-community/go-jmespath"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/tests/responses"
)

// starter is the service of a job that the machine starts, and stops when its time
// is over. Values have the model's member names.
type starter struct {
	entry         *catalog.Entry
	input, output map[string]any // of the start call
	started       []map[string]any
	stopped       []map[string]any
	described     []map[string]any
}

// readByJob are the places in the input and the output of the start call that
// the other calls are made of.
var readByJob = regexp.MustCompile(`\b(input|output)((?:\.\w+|\[\d*\])+)`)

// newStarter makes a start call which has all that the other calls read.
func newStarter(e *catalog.Entry) (*starter, error) {
	start := e.Service.Operations[e.Name]
	s := &starter{entry: e, input: map[string]any{}, output: map[string]any{}}
	expressions := []map[string]string{e.Job.Arguments}
	if e.Job.Stop != nil {
		expressions = append(expressions, e.Job.Stop.Arguments)
	}
	for _, arguments := range expressions {
		for _, expression := range arguments {
			for _, found := range readByJob.FindAllStringSubmatch(expression, -1) {
				root, shape := s.input, start.Input
				if found[1] == "output" {
					root, shape = s.output, start.Output
				}
				path := strings.Split(strings.TrimPrefix(regexp.MustCompile(`\[\d*\]`).ReplaceAllString(found[2], ""), "."), ".")
				if found[1] == "input" && path[0] == e.Job.Token {
					continue // the machine makes one
				}
				if err := put(root, shape, path, found[0]); err != nil {
					return nil, fmt.Errorf("%s: %w", found[0], err)
				}
			}
		}
	}
	return s, nil
}

// put sets the value at a path into a structure; lists get one element.
func put(object map[string]any, s *catalog.Shape, path []string, value string) error {
	m := s.Member(path[0])
	if m == nil {
		return fmt.Errorf("there is no member %s", path[0])
	}
	shape, list := m.Shape, false
	if shape.Type == catalog.List {
		shape, list = shape.Element.Shape, true
	}
	var inner any
	if len(path) > 1 {
		child, _ := object[path[0]].(map[string]any)
		if l, ok := object[path[0]].([]any); ok {
			child, _ = l[0].(map[string]any)
		}
		if child == nil {
			child = map[string]any{}
		}
		if err := put(child, shape, path[1:], value); err != nil {
			return err
		}
		inner = child
	} else if inner = sampleOf(shape, value); inner == nil {
		return fmt.Errorf("%s is neither a string nor an object of strings", path[0])
	}
	if list {
		inner = []any{inner}
	}
	object[path[0]] = inner
	return nil
}

// sampleOf is a string, or an object of strings.
func sampleOf(s *catalog.Shape, value string) any {
	switch s.Type {
	case catalog.String:
		return value
	case catalog.Structure:
		object := map[string]any{}
		for _, m := range s.Members {
			if m.Shape.Type == catalog.String {
				object[m.Name] = value
			}
		}
		return object
	default:
		return nil
	}
}

// handlers answer the calls that start and stop the job.
func (s *starter) handlers() map[string]sim.Handler {
	all := map[string]sim.Handler{}
	answer := func(name string, calls *[]map[string]any, output any) {
		o := s.entry.Service.Operations[name]
		all[integration(o)] = func(_ context.Context, call sim.Call) (sim.Reply, error) {
			arguments, ok := call.Arguments.(map[string]any)
			if !ok {
				return sim.Reply{}, errors.New("arguments are no object")
			}
			*calls = append(*calls, arguments)
			return sim.Reply{Output: responses.Integration(o.Output, output)}, nil
		}
	}
	answer(s.entry.Name, &s.started, s.output)
	if s.entry.Job.Stop != nil {
		answer(s.entry.Job.Stop.Operation, &s.stopped, map[string]any{})
	}
	return all
}

// differences says in what the calls are not those of the job.
func (s *starter) differences(status pollcore.Status) []string {
	var all []string
	differ := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if len(s.started) != 1 {
		differ("the job was started %d times", len(s.started))
		return all
	}
	job := s.entry.Job
	start := s.entry.Service.Operations[s.entry.Name]
	want, _ := responses.Integration(start.Input, s.input).(map[string]any)
	input := maps.Clone(s.input)
	if job.Token != "" {
		input[job.Token] = s.started[0][spelled(job.Token)]
		want[spelled(job.Token)] = input[job.Token]
		if token, _ := input[job.Token].(string); len(token) != len("00000000-0000-4000-8000-000000000000") {
			differ("the token is %v", input[job.Token])
		}
	}
	if !equalJSON(s.started[0], want) {
		differ("the job was started with %v, want %v", s.started[0], want)
	}
	same := func(what string, o *catalog.Operation, expressions map[string]string, calls []map[string]any) {
		arguments := map[string]any{}
		for member, expression := range expressions {
			value, err := jmespath.Search(expression, map[string]any{"input": input, "output": s.output})
			if err != nil {
				differ("%s: %s", expression, err)
			}
			arguments[member] = value
		}
		want := responses.Integration(o.Input, arguments)
		for _, call := range calls {
			if !equalJSON(call, want) {
				differ("it %s with %v, want %v", what, call, want)
			}
		}
	}
	same("describes", s.entry.Operation, job.Arguments, s.described)
	if job.Stop != nil {
		if stops := status == pollcore.TimedOut; stops != (len(s.stopped) == 1) || len(s.stopped) > 1 {
			differ("%s, and the job is stopped %d times", status, len(s.stopped))
		}
		same("stops", s.entry.Service.Operations[job.Stop.Operation], job.Stop.Arguments, s.stopped)
	}
	return all
}

// pollInput is the input of a machine that polls a job which has been started: that
// of the sequence and what the operation requires. Where it requires nothing, the
// input has its first member, which is optional.
func pollInput(o *catalog.Operation, given any) map[string]any {
	input, _ := responses.Integration(o.Input, given).(map[string]any)
	if input == nil {
		input = map[string]any{}
	}
	if o.Input == nil {
		return input
	}
	optional := optionalFirst(o)
	for _, m := range o.Input.Members {
		if name := spelled(m.Name); input[name] == nil && (m.Required || m.Name == optional) {
			input[name] = "the " + m.Name
			if m.Shape.Type == catalog.List {
				input[name] = []any{"the " + m.Name}
			}
		}
	}
	return input
}

// optionalFirst is the first member of an operation's input that requires none; empty
// if it requires any or has none.
func optionalFirst(o *catalog.Operation) string {
	if o.Input == nil || len(o.Input.Members) == 0 || slices.ContainsFunc(o.Input.Members, func(m catalog.Member) bool { return m.Required }) {
		return ""
	}
	return o.Input.Members[0].Name
}

// equalJSON compares as JSON, to which 1 and 1.0 are one number.
func equalJSON(a, b any) bool {
	first, err := json.Marshal(a)
	second, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(first, second)
}

func spelled(member string) string { return strings.ToUpper(member[:1]) + member[1:] }

// integration is the resource of an SDK integration.
func integration(o *catalog.Operation) string {
	return "arn:aws:states:::aws-sdk:" + o.Service.ARNName + ":" + strings.ToLower(o.Name[:1]) + o.Name[1:]
}
