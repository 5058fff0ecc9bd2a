package fix

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// sample is an input, and variables, with what states read.
type sample struct {
	document  map[string]any
	variables map[string]any
	within    []string // members that a path of the state begins in
}

// sample has what the states of the loop read, and a member that none reads.
func (l *loop) sample() *sample {
	s := &sample{document: map[string]any{"unread": sampleOf("unread")}, variables: map[string]any{}}
	for _, state := range l.states {
		if state != l.poll {
			s.state(state)
		}
	}
	for _, wait := range l.firstWaits() {
		s.enter(wait.InputPath)
		s.enter(wait.OutputPath)
	}
	s.enter(l.poll.InputPath)
	s.state(l.poll)
	return s
}

// enter lets the paths that follow begin at a path.
func (s *sample) enter(p *jsonpath.Path) {
	s.path(p, nil)
	if p != nil && !p.Context() && p.Variable() == "" {
		s.within = append(s.within, namesOf(p)...)
	}
}

// tell puts texts in the place of others.
func (s *sample) tell(texts map[string]string) {
	var walk func(value any) any
	walk = func(value any) any {
		switch v := value.(type) {
		case string:
			if text, ok := texts[v]; ok {
				return text
			}
		case []any:
			for i, item := range v {
				v[i] = walk(item)
			}
		case map[string]any:
			for name, member := range v {
				v[name] = walk(member)
			}
		}
		return value
	}
	walk(s.document)
	walk(s.variables)
}

// sampleOf is a text that no other member has.
func sampleOf(names ...string) string { return "sample-" + strings.Join(names, "-") }

var (
	readInput = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\$states\.(?:input|context\.Execution\.Input)((?:\.\w+)*)`)
	})
	readVariable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$([\p{L}_][\p{L}\p{N}_]*)((?:\.\w+)*)(\()?`) })
)

// state adds what a state reads.
func (s *sample) state(state *asl.State) {
	read := []*asl.Template{state.Parameters, state.Arguments, state.Output}
	if state.QueryLanguage == asl.JSONata { // in JSONPath it reads the result
		read = append(read, state.Assign)
	}
	if state.Task != nil {
		read = append(read, state.Task.Credentials)
	}
	for _, t := range read {
		s.template(t)
	}
	if w := state.Wait; w != nil {
		for _, scalar := range []*asl.Scalar{w.Seconds} {
			if scalar != nil && scalar.Path != nil {
				s.path(scalar.Path, 30)
			}
		}
	}
	for _, name := range state.Variables() {
		if s.variables[name] == nil {
			s.variables[name] = sampleOf(name)
		}
	}
}

func (s *sample) template(t *asl.Template) {
	if t == nil {
		return
	}
	switch {
	case t.Path != nil:
		s.path(t.Path, sampleOf(namesOf(t.Path)...))
	case t.Intrinsic != nil:
		for _, p := range t.Intrinsic.Paths() {
			s.path(p, sampleOf(namesOf(p)...))
		}
	case t.Expression != nil:
		s.expression(t.Expression.String())
	}
	for _, m := range t.Object {
		s.template(m.Value)
	}
	for _, item := range t.Array {
		s.template(item)
	}
}

// path adds a value where a path reads; nil is an object.
func (s *sample) path(p *jsonpath.Path, value any) {
	if p == nil {
		return
	}
	names := namesOf(p)
	switch {
	case p.Context():
		if len(names) > 2 && names[0] == "Execution" && names[1] == "Input" {
			put(s.document, names[2:], value)
		}
	case p.Variable() != "":
		put(s.variables, append([]string{p.Variable()}, names...), value)
	case len(names) > 0:
		put(s.document, slices.Concat(s.within, names), value)
	}
}

// namesOf are the members that a path leads through, "[]" for the items of a list, up
// to where it may lead several ways.
func namesOf(p *jsonpath.Path) []string {
	var names []string
	for _, step := range p.Steps() {
		switch {
		case step.Deep:
			return names
		case step.Kind == jsonpath.StepIndex:
			names = append(names, "[]")
		case step.Kind == jsonpath.StepName:
			names = append(names, step.Names[0])
		default:
			return names
		}
	}
	return names
}

func (s *sample) expression(text string) {
	for _, match := range readInput().FindAllStringSubmatch(text, -1) {
		if match[1] != "" {
			names := strings.Split(match[1][1:], ".")
			put(s.document, names, sampleOf(names...))
		}
	}
	for _, match := range readVariable().FindAllStringSubmatch(text, -1) {
		if match[1] != "states" && match[3] == "" && match[2] != "" {
			names := append([]string{match[1]}, strings.Split(match[2][1:], ".")...)
			put(s.variables, names, sampleOf(names...))
		}
	}
}

// put sets a value in a document, unless something is there.
func put(in map[string]any, names []string, value any) {
	name, rest := names[0], names[1:]
	list := len(rest) > 0 && rest[0] == "[]"
	if list {
		rest = rest[1:]
	}
	child, _ := in[name].(map[string]any)
	if items, ok := in[name].([]any); ok {
		child, _ = items[0].(map[string]any)
	}
	switch {
	case len(rest) == 0 && in[name] != nil:
		return
	case len(rest) == 0 && value == nil:
		in[name] = map[string]any{}
		return
	case len(rest) == 0:
		in[name] = value
		if list {
			in[name] = []any{value}
		}
		return
	case child == nil:
		child = map[string]any{}
	}
	in[name] = child
	if list {
		in[name] = []any{child}
	}
	put(child, rest, value)
}
