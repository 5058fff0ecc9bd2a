package lint

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// told says whether the output of a flow tells a failure from a success that goes the same way.
type told string

const (
	toldNothing told = "nothing" // it is computed of nothing by which a failure differs
	toldMaybe   told = "maybe"   // it may be another than after a success
	toldSurely  told = "surely"  // it is another
)

// tells is what the output at the end of a route tells. Where no success ends there, that is nothing.
func (r *reading) tells(way route) told {
	found := false
	for value, routes := range r.routes {
		if means := r.status.meaning(r.judges, value); means != MeansSuccess && means != MeansUnclear {
			continue
		}
		for _, success := range routes {
			switch {
			case way.leaf == nil || success.leaf != way.leaf:
				continue
			case r.givesSame(way, success):
				return toldNothing
			case !differ(way.outputs, success.outputs):
				return toldMaybe
			}
			found = true
		}
	}
	if found {
		return toldSurely
	}
	return toldNothing
}

// tellsCaller is what the execution tells of a row's values by an output of its own making: who starts the
// machine may judge it.
func (r *reading) tellsCaller(row *Row) told {
	if r.outside.inner {
		return toldNothing
	}
	least := toldSurely
	for _, way := range r.routes[row.Values[0]] {
		switch by := r.tells(way); {
		case by == toldNothing, !r.composes(way):
			return toldNothing
		case by == toldMaybe:
			least = toldMaybe
		}
	}
	return least
}

// tellsOutside tells whether the output of an item or a branch is another for a row's values than
// for a success that goes the same way, and something outside can judge it.
func (r *reading) tellsOutside(row *Row) bool {
	judged := r.outside.inner && !r.outside.quiet && !r.outside.dropped
	return judged && slices.ContainsFunc(r.routes[row.Values[0]], func(way route) bool { return r.tells(way) != toldNothing })
}

// composes tells whether the states that a route goes through behind its last Choice make the output,
// and do not just hand on what is there.
func (r *reading) composes(way route) bool {
	if len(way.chosen) == 0 {
		return false
	}
	last := way.chosen[len(way.chosen)-1]
	if rule := last.taken; rule != nil && rule.Kind == asl.TransitionRule && last.choice.Choice.Rules[rule.Rule].Output != nil {
		return true
	}
	behind := way.path[slices.Index(way.path, last.choice.Name)+1:]
	return last.choice.Output != nil || slices.ContainsFunc(behind, func(name string) bool {
		s := r.Flow.State(name)
		return s != nil && (s.Output != nil || s.Parameters != nil || !isWhole(s))
	})
}

// differ tells whether all outputs of one route are known to be others than those of another.
func differ(a, b []typecheck.Env) bool {
	return len(a) > 0 && len(b) > 0 && !slices.ContainsFunc(a, func(one typecheck.Env) bool {
		return slices.ContainsFunc(b, func(other typecheck.Env) bool { return !typecheck.Apart(one.Input, other.Input) })
	})
}

// givesSame tells whether two routes compute the same output, and of nothing by which a failure differs.
func (r *reading) givesSame(a, b route) bool {
	if len(a.outputs) == 0 || !slices.EqualFunc(a.outputs, b.outputs, typecheck.Env.Equal) {
		return false
	}
	one, other := r.toEnd(a), r.toEnd(b)
	return !r.readsEnd(one, operand{}) && !r.readsEnd(other, operand{}) && traceBack(one, operand{}).text == traceBack(other, operand{}).text
}

// toEnd are the hops of a route with those behind the loop, which its one end has.
func (r *reading) toEnd(way route) []hop {
	hops := way.hops
	for s := way.leaf; s != nil && len(hops) <= len(way.hops)+maxAfter+1; s = r.Flow.State(s.Next) {
		if len(hops) == 0 || hops[len(hops)-1].state != s {
			hops = append(slices.Clip(hops), hop{s, asl.Transition{To: s.Next}})
		}
	}
	return hops
}

// readsEnd tells whether an operand may be computed from the status, or from a member that the answer has
// only after a failure or a success. The hops lead from the poll to the operand.
func (r *reading) readsEnd(hops []hop, o operand) bool {
	for i, h := range slices.Backward(hops) {
		if h.holds(o) {
			return true
		}
		f := h.origin(o)
		if f.copies {
			o = f.operands[0]
			continue
		}
		return f.opaque || h.state == r.Poll && slices.ContainsFunc(f.results, r.isOfEnd) ||
			slices.ContainsFunc(f.operands, func(part operand) bool { return r.readsEnd(hops[:i], part) })
	}
	return false
}

// holds tells whether the result of a state of JSONPath is a part of an operand, beside what was there.
func (h hop) holds(o operand) bool {
	s := h.state
	if o.variable != "" || s.QueryLanguage == asl.JSONata || h.way.Kind == asl.TransitionCatch || s.Type != asl.TypePass && !hasResult(s) {
		return false
	}
	at := stepsFrom(s.ResultPath)
	return len(at) > len(o.steps) && slices.Equal(at[:len(o.steps)], o.steps)
}

// isOfEnd tells whether a part of the poll's answer is of the status, or of a member by which a failure differs
// from a success.
func (r *reading) isOfEnd(steps []string) bool {
	read := withoutItems(steps)
	covers := func(path []string) bool {
		path = withoutItems(path)
		n := min(len(read), len(path))
		return slices.EqualFunc(read[:n], path[:n], strings.EqualFold)
	}
	if covers(r.status.steps) {
		return true
	}
	operation := operationNamed(r.Operation)
	if operation == nil || r.ByName {
		return true
	}
	paths := slices.DeleteFunc(operation.Later(), func(path string) bool {
		when := operation.Presence[path]
		return when.Has(pollcore.Success) == when.Has(pollcore.Failure)
	})
	for _, j := range r.judges {
		paths = append(paths, j.secondPaths()...)
		if j.entry != nil && j.entry.Job != nil && j.entry.Job.Message != "" {
			paths = append(paths, j.entry.Job.Message)
		}
	}
	return slices.ContainsFunc(paths, func(path string) bool {
		spelt, _ := spellSteps(operation.Output, path)
		return covers(spelt)
	})
}

// withoutItems are the members of a path, without the items of lists.
func withoutItems(steps []string) []string {
	return slices.DeleteFunc(slices.Clone(steps), func(step string) bool { return strings.Trim(step, "[]0123456789") == "" })
}
