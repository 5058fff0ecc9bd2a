package asl

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/diag"
	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// MaxDefinitionBytes is the largest definition that AWS takes.
const MaxDefinitionBytes = 1 << 20

// maxNameLength is the longest state name, in characters.
const maxNameLength = 80

// stateFields is every field that some type of state has: one of them in the
// wrong place is not a misspelling.
var stateFields = []string{
	"Type", "Comment", "QueryLanguage", "InputPath", "OutputPath", "Next", "End", "Resource", "Parameters", "ResultSelector",
	"ResultPath", "Retry", "Catch", "TimeoutSeconds", "TimeoutSecondsPath", "HeartbeatSeconds", "HeartbeatSecondsPath",
	"Seconds", "Timestamp", "SecondsPath", "TimestampPath", "Choices", "Default", "Result", "Error", "Cause", "ErrorPath",
	"CausePath", "StartAt", "States", "Branches", "ItemProcessor", "Iterator", "Arguments", "Output", "Assign", "Credentials",
}

var types = []string{"Task", "Wait", "Choice", "Pass", "Succeed", "Fail", "Parallel", "Map"}

// parser collects the problems of one definition.
type parser struct {
	text     []byte
	problems diag.Problems
	// references are the values that name a state, checked once all states
	// are known.
	references []*jsontree.Node
	// counted is the byte up to which line and column are counted, from 0.
	counted, line, column int
}

// Parse reads a state machine definition. Its error is a Problems with
// everything that is wrong.
func Parse(text []byte) (*StateMachine, error) {
	if len(text) > MaxDefinitionBytes {
		return nil, diag.Problems{diag.At(text, MaxDefinitionBytes, "",
			fmt.Sprintf("a definition has at most %d bytes, found %d", MaxDefinitionBytes, len(text)))}
	}
	doc, err := jsontree.Parse(text)
	if err != nil {
		return nil, err
	}
	p := &parser{text: text}
	m := p.machine(doc.Root)
	if err := p.problems.Err(); err != nil {
		return nil, err
	}
	return m, nil
}

func (p *parser) add(problem diag.Problem) { p.problems = append(p.problems, problem) }

func (p *parser) target(n *jsontree.Node) { p.references = append(p.references, n) }

func (p *parser) machine(n *jsontree.Node) *StateMachine {
	o := p.open(n, "a state machine definition")
	if o == nil {
		return nil
	}
	m := &StateMachine{Comment: o.text("Comment"), QueryLanguage: JSONPath}
	if v := o.typed("Version", jsontree.String); v != nil {
		if m.Version = v.Text; v.Text != "1.0" {
			p.add(v.Problem("expected the version \"1.0\", found %s", v.Describe()))
		}
	}
	p.queryLanguage(o)
	m.TimeoutSeconds = o.integer("TimeoutSeconds", 1, MaxSeconds, 0)
	m.Flow = p.flow(o)
	o.close()
	return m
}

func (p *parser) queryLanguage(o *object) {
	n := o.typed("QueryLanguage", jsontree.String)
	switch {
	case n == nil || n.Text == string(JSONPath):
	case n.Text == "JSONata":
		p.add(n.Problem("query language JSONata is not supported; use JSONPath"))
	default:
		p.add(n.Problem("expected the query language \"JSONPath\", found %s", n.Describe()).Suggest(n.Text, "JSONPath", "JSONata"))
	}
}

// flow reads StartAt and States and checks the graph.
func (p *parser) flow(o *object) Flow {
	f := Flow{StartAt: o.target("StartAt", true), index: map[string]*State{}}
	o.require("States")
	n := o.typed("States", jsontree.Object)
	if n == nil {
		p.references = nil
		return f
	}
	if len(n.Members) == 0 {
		p.add(n.Problem("\"States\" has to hold at least one state"))
	}
	for _, m := range n.Members {
		if length := utf8.RuneCountInString(m.Name); length == 0 || length > maxNameLength {
			p.add(n.MemberProblem(m, "a state name has 1 to %d characters, found %d", maxNameLength, length))
		}
		s := p.state(m)
		f.States = append(f.States, s)
		f.index[s.Name] = s
	}
	p.checkTargets(&f)
	p.checkReachable(&f, n)
	return f
}

func (p *parser) checkTargets(f *Flow) {
	names := slices.Collect(maps.Keys(f.index))
	slices.Sort(names)
	for _, n := range p.references {
		if f.index[n.Text] == nil {
			p.add(n.Problem("there is no state %q", n.Text).Suggest(n.Text, names...))
		}
	}
	p.references = nil
}

// checkReachable reports the states that no edge leads to. It needs every
// state's edges, so it leaves a flow alone that has a state it cannot read.
func (p *parser) checkReachable(f *Flow, states *jsontree.Node) {
	start := f.State(f.StartAt)
	if start == nil || slices.ContainsFunc(f.States, func(s *State) bool { return s.Type == "" }) {
		return
	}
	reached := map[*State]bool{start: true}
	for queue := []*State{start}; len(queue) > 0; queue = queue[1:] {
		queue[0].targets(func(name string) {
			if s := f.State(name); s != nil && !reached[s] {
				reached[s] = true
				queue = append(queue, s)
			}
		})
	}
	for i, s := range f.States {
		if !reached[s] {
			p.add(states.MemberProblem(states.Members[i], "state %q cannot be reached from %q", s.Name, f.StartAt))
		}
	}
}

// position returns the place of a byte of the text. Places are asked for in
// the order of the text, so each is counted from the one before.
func (p *parser) position(pointer string, offset int) Position {
	if offset < p.counted {
		p.counted, p.line, p.column = 0, 0, 0
	}
	passed := p.text[p.counted:offset]
	if i := bytes.LastIndexByte(passed, '\n'); i >= 0 {
		p.line += bytes.Count(passed, []byte{'\n'})
		p.column, passed = 0, passed[i+1:]
	}
	p.column += utf8.RuneCount(passed)
	p.counted = offset
	return Position{Pointer: pointer, Line: p.line + 1, Column: p.column + 1}
}

func (p *parser) state(m jsontree.Member) *State {
	s := &State{Name: m.Name, Position: p.position(m.Value.Pointer, m.Offset)}
	o := p.open(m.Value, "a state")
	if o == nil {
		return s
	}
	o.require("Type")
	n := o.typed("Type", jsontree.String)
	if n == nil {
		return s
	}
	if n.Text == "Parallel" || n.Text == "Map" {
		p.add(n.Problem("states of type %s are not supported", n.Text))
		return s
	}
	if !slices.Contains(types, n.Text) {
		p.add(n.Problem("unknown state type %q, expected one of %s", n.Text, strings.Join(types, ", ")).Suggest(n.Text, types...))
		return s
	}
	s.Type = Type(n.Text)
	o.what = "a " + n.Text + " state"
	s.Comment = o.text("Comment")
	p.queryLanguage(o)
	o.unsupported("Assign", "variables")
	o.unsupported("Arguments", "JSONata fields")
	o.unsupported("Output", "JSONata fields")
	p.detail(s, o)
	o.close()
	return s
}

func (p *parser) detail(s *State, o *object) {
	if s.Type != TypeFail {
		s.InputPath = o.selection("InputPath", anyPath)
		s.OutputPath = o.selection("OutputPath", anyPath)
	}
	switch s.Type {
	case TypeTask:
		s.Task = p.task(o)
		p.transition(s, o)
	case TypeWait:
		s.Wait = p.wait(o)
		p.transition(s, o)
	case TypePass:
		s.Pass = p.pass(o)
		p.transition(s, o)
	case TypeChoice:
		s.Choice = p.choice(o)
	case TypeFail:
		s.Fail = p.fail(o)
	case TypeSucceed:
	}
}

// transition reads Next or End.
func (p *parser) transition(s *State, o *object) {
	s.Next = o.target("Next", false)
	if n := o.typed("End", jsontree.Bool); n != nil {
		if s.End = n.Text == "true"; !s.End {
			p.add(n.Problem("\"End\" has to be true; leave it out to go on with \"Next\""))
		}
	}
	switch {
	case o.has("Next") && o.has("End"):
		p.add(o.node.Problem("state %q has both \"Next\" and \"End\"; keep one", s.Name))
	case !o.has("Next") && !o.has("End"):
		p.add(o.node.Problem("state %q needs \"Next\" or \"End\"", s.Name))
	}
}
