package asl

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

var types = []string{
	string(TypeTask), string(TypeWait), string(TypeChoice), string(TypePass), string(TypeSucceed), string(TypeFail),
	string(TypeParallel), string(TypeMap),
}

func (p *parser) readState(m jsontree.Member) *State {
	s := &State{Name: m.Name, Position: p.position(m.Value.Pointer(), m.Offset), variables: map[string]bool{}, node: m.Value, offset: m.Offset}
	p.machine.places[s.Position.Pointer] = s
	o := p.open(m.Value, "a state")
	if o == nil {
		return s
	}
	o.require("Type")
	n := o.ofKind("Type", jsontree.String)
	if n == nil || p.leaveHollow(n, "the type of a state") {
		return s
	}
	if !slices.Contains(types, n.Text) {
		p.add(n.Problem("unknown state type %q; expected one of %s", n.Text, strings.Join(types, ", ")).Suggest(n.Text, types...))
		return s
	}
	s.Type = Type(n.Text)
	o.what = "a " + n.Text + " state"
	s.Comment = o.text("Comment")
	hollow := len(p.hollow)
	if s.QueryLanguage = p.queryLanguage(o, p.machine.QueryLanguage); len(p.hollow) > hollow {
		return s
	}
	if s.QueryLanguage == JSONPath && p.machine.QueryLanguage == JSONata {
		p.add(o.get("QueryLanguage").Problem("a state cannot use JSONPath if the state machine uses JSONata; " +
			"remove \"QueryLanguage\" at the top and set it in the states that use JSONata"))
	}
	language, outer := p.language, p.state
	p.language, p.state = s.QueryLanguage, s
	p.fields(s, o)
	o.close()
	p.language, p.state = language, outer
	return s
}

// works tells whether states of the type do work that can fail.
func (t Type) works() bool { return t == TypeTask || t == TypeParallel || t == TypeMap }

// fields reads what a state of its type and query language has.
func (p *parser) fields(s *State, o *object) {
	if p.language == JSONPath {
		p.jsonPathFields(s, o)
	} else if s.Type == TypeTask || s.Type == TypeParallel {
		s.Arguments = o.template("Arguments")
	}
	if s.Type.works() {
		p.extra = "result"
	}
	if p.language == JSONata && s.Type != TypeFail {
		s.Output = o.template("Output")
	}
	if s.Type != TypeSucceed && s.Type != TypeFail {
		s.Assign = o.assign()
	}
	p.extra = ""
	if s.Type.works() {
		p.recovery(s, o)
	}
	p.detail(s, o)
	if s.Type != TypeChoice && s.Type != TypeSucceed && s.Type != TypeFail {
		p.transition(s, o)
	}
}

func (p *parser) jsonPathFields(s *State, o *object) {
	if s.Type != TypeFail {
		s.InputPath = o.selection("InputPath", anyPath)
		s.OutputPath = o.selection("OutputPath", anyPath)
	}
	if s.Type == TypeTask || s.Type == TypeParallel || s.Type == TypePass {
		s.Parameters = o.template("Parameters")
	}
	if s.Type.works() {
		s.ResultSelector = o.template("ResultSelector")
	}
	if s.Type.works() || s.Type == TypePass {
		s.ResultPath = o.selection("ResultPath", documentPath)
	}
}

func (p *parser) detail(s *State, o *object) {
	switch s.Type {
	case TypeTask:
		s.Task = p.task(o)
	case TypeWait:
		s.Wait = p.wait(o)
	case TypePass:
		s.Pass = p.pass(o)
	case TypeChoice:
		s.Choice = p.choice(o)
	case TypeFail:
		s.Fail = p.fail(o)
	case TypeParallel:
		s.Parallel = p.parallel(o)
	case TypeMap:
		s.Map = p.mapping(o)
	case TypeSucceed:
	}
}

// transition reads Next or End.
func (p *parser) transition(s *State, o *object) {
	s.Next = o.target("Next", false)
	open := false // whether a placeholder says it
	if n := o.ofKind("End", jsontree.Bool); n != nil {
		s.End = n.Text == "true"
	} else {
		open = o.has("End")
		s.End = open && !o.has("Next")
	}
	switch {
	case o.has("Next") && s.End:
		p.add(o.node.Problem("state %q has both \"Next\" and \"End\"; keep one", s.Name))
	case !o.has("Next") && !s.End && !open:
		p.add(o.node.Problem("state %q needs \"Next\" or \"End\": true", s.Name))
	}
}

func (p *parser) wait(o *object) *Wait {
	fields := []string{"Seconds", "Timestamp", "SecondsPath", "TimestampPath"}
	if p.language == JSONata {
		fields = fields[:2]
	}
	var found []string
	for _, name := range fields {
		if o.get(name) != nil {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		seen := "none"
		if len(found) > 0 {
			seen = strings.Join(found, ", ")
		}
		p.add(o.node.Problem("a Wait state needs exactly one of %s, found %s", strings.Join(fields, ", "), seen))
	}
	w := &Wait{Seconds: o.whole("Seconds", 0, MaxSeconds)}
	w.Timestamp = o.scalar("Timestamp", anyPath, func(n *jsontree.Node) any {
		if n.Kind != jsontree.String {
			p.add(n.Problem("\"Timestamp\" must be a string, found %s", n.Describe()))
			return nil
		}
		t, _ := p.timestamp(n)
		return t
	})
	return w
}

func (p *parser) pass(o *object) *Pass {
	s := &Pass{}
	if p.language == JSONata {
		return s
	}
	if n := o.get("Result"); n != nil {
		s.HasResult, s.Result = true, n.Value()
		if o.has("Parameters") {
			p.warn(n.Problem("\"Result\" hides \"Parameters\"; keep one"))
		}
	}
	return s
}

func (p *parser) fail(o *object) *Fail {
	return &Fail{Error: o.textScalar("Error"), Cause: o.textScalar("Cause")}
}
