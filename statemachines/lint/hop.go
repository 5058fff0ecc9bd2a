package lint

import (
	"cmp"
	"slices"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// hop is a state, and the way that is taken out of it.
type hop struct {
	state *asl.State
	way   asl.Transition
}

// origin is the formula that makes an operand behind the hop from the operands before it.
func (h hop) origin(o operand) formula {
	assign, output := h.templates()
	switch {
	case o.variable != "":
		if t := memberOf(assign, o.variable); t != nil {
			return h.assigning().template(t, o.steps)
		}
		return copyOf(o)
	case h.state.QueryLanguage == asl.JSONata:
		switch {
		case output != nil:
			return scope{state: h.state}.template(output, o.steps)
		case hasResult(h.state) && h.way.Kind != asl.TransitionCatch:
			return resultOf(h.state, o.steps)
		case h.way.Kind == asl.TransitionCatch:
			return formula{text: "error"}
		}
		return copyOf(o)
	}
	return h.output(o)
}

// templates are Assign and Output of the way.
func (h hop) templates() (assign, output *asl.Template) {
	switch s := h.state; {
	case h.way.Kind == asl.TransitionCatch:
		return s.Catch[h.way.Rule].Assign, s.Catch[h.way.Rule].Output
	case h.way.Kind == asl.TransitionRule && s.Choice != nil:
		return s.Choice.Rules[h.way.Rule].Assign, s.Choice.Rules[h.way.Rule].Output
	default:
		return s.Assign, s.Output
	}
}

// assigning is where Assign is read.
func (h hop) assigning() scope {
	s := scope{state: h.state}
	if h.state.QueryLanguage != asl.JSONata {
		s.doc = stepsFrom(h.state.InputPath)
		s.onResult = hasResult(h.state)
	}
	return s
}

// output is how a part of the output of a state of JSONPath is computed.
func (h hop) output(o operand) formula {
	s := h.state
	in := stepsFrom(s.InputPath)
	if h.way.Kind == asl.TransitionCatch {
		return placed(s.Catch[h.way.Rule].ResultPath, o, func([]string) formula { return formula{text: "error"} })
	}
	out := stepsFrom(s.OutputPath)
	o = operand{steps: slices.Concat(out, o.steps)}
	switch {
	case s.Type == asl.TypePass:
		return placed(s.ResultPath, o, func(steps []string) formula {
			switch {
			case s.Parameters != nil:
				return scope{state: s, doc: in}.template(s.Parameters, steps)
			case s.Pass.HasResult:
				return scope{}.template(&asl.Template{Literal: s.Pass.Result}, steps)
			case s.InputPath == nil:
				return formula{text: "{}"}
			default:
				return scope{state: s}.path(s.InputPath).part(steps)
			}
		})
	case hasResult(s):
		return placed(s.ResultPath, o, func(steps []string) formula {
			if s.ResultSelector != nil {
				return scope{state: s, onResult: true}.template(s.ResultSelector, steps)
			}
			return resultOf(s, steps)
		})
	default:
		return copyOf(operand{steps: slices.Concat(in, o.steps)})
	}
}

// placed is how a part of the output is computed whose result is put at a path of the input.
func placed(path *jsonpath.Path, o operand, result func(steps []string) formula) formula {
	if path == nil {
		return copyOf(o)
	}
	at := stepsFrom(path)
	switch n := len(at); {
	case len(o.steps) >= n && slices.Equal(o.steps[:n], at):
		return result(o.steps[n:])
	default:
		return copyOf(o)
	}
}

func stepsFrom(p *jsonpath.Path) []string {
	if p == nil {
		return nil
	}
	steps, _ := stepsOf(p)
	return steps
}

// hasResult tells whether the output of a state is a result of its own.
func hasResult(s *asl.State) bool { return s.Task != nil || len(s.Flows()) > 0 }

// memberOf is a member of a template that is an object; nil if there is none.
func memberOf(t *asl.Template, name string) *asl.Template {
	if t == nil {
		return nil
	}
	if object, ok := t.Literal.(map[string]any); ok {
		if value, has := object[name]; has {
			return &asl.Template{Literal: value}
		}
	}
	return findMember(t, name)
}

// trace is what an operand behind some hops was before them.
type trace struct {
	text string
	from []operand
	// moves tells that each round gives another value: it counts on from the round before, or is
	// the result of a call.
	moves bool
	// counted tells that it is the number before, and some more: it is about the same thing.
	counted bool
	// called tells that a call gives it: it may be the job, or a token to ask with.
	called bool
	// own tells that it is what the poll asked for before, which its answer repeats.
	own bool
	// start is the Task that started the job whose id it is; nil if the catalogue knows of none.
	start *asl.State
}

// traceBack follows an operand back to where the first of some hops is entered, which is a poll.
func traceBack(hops []hop, o operand) trace {
	for i, h := range slices.Backward(hops) {
		f := h.origin(o)
		switch {
		case f.copies:
			o = f.operands[0]
			continue
		case i == 0 && f.call:
			return trace{text: f.text, own: true} // the answer of the poll names the job that it asked for
		}
		t := trace{text: f.text, moves: f.call}
		if f.call && h.state.Task != nil && findStarted(asl.ParseResource(h.state.Task.Resource)) != nil {
			t.start = h.state
		}
		for _, part := range f.operands {
			before := traceBack(hops[:i], part)
			t.text, t.from, t.moves = t.text+" "+before.text, append(t.from, before.from...), t.moves || before.moves
			t.start, t.counted = cmp.Or(t.start, before.start), t.counted || before.counted
			t.called = t.called || before.called
		}
		t.called = t.called || f.call
		t.counted = (t.counted || f.counts) && !f.picks && !f.call
		t.moves = t.moves || f.counts && slices.ContainsFunc(t.from, o.overlaps)
		return t
	}
	return trace{text: o.String(), from: []operand{o}}
}

// asked is what a poll asks for when some hops have led from it back to it.
type asked struct {
	trace

	// another tells that a part of it is another one than before, other than a count. certain tells that it is about another
	// job: each part is another one, or one that no call gives.
	another, certain bool
}

// traceAsked says which job a poll asks for when some hops have led from it back to it, by the
// operands of its last call. Arguments for the pages of an answer name no job.
func traceAsked(poll *asl.State, hops []hop) (back asked, asksAgain bool) {
	t := argumentsOf(poll)
	if t == nil {
		return asked{}, true
	}
	f, before := formula{}, ""
	back.own = true
	in := stepsFrom(poll.InputPath)
	here := scope{state: poll, doc: in}
	if len(t.Object) == 0 {
		f = f.with(here.template(t, nil))
	}
	for _, m := range t.Object {
		if !pageToken().MatchString(m.Name) {
			f = f.with(here.template(m.Value, nil))
		}
	}
	each, some := len(f.operands) > 0, false
	for _, o := range f.operands {
		one := traceBack(hops, o)
		another := one.text != o.String() && !one.counted
		each, some = each && another, some || another && !one.called
		back.another = back.another || another
		back.text, back.moves, before = back.text+" "+one.text, back.moves || one.moves, before+" "+o.String()
		back.own, back.start = back.own && (one.own || one.text == o.String()), cmp.Or(back.start, one.start)
	}
	picked := f.picks && back.moves
	back.another, back.certain = back.another || picked, each || some || picked
	return back, back.text == before
}
