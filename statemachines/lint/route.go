package lint

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

const (
	// maxSteps is how many states are followed for one value, and maxAfter how many
	// behind the loop: what is farther away is not known.
	maxSteps = 200
	maxAfter = 3
	// maxBack is how many states are followed on the ways back to the poll.
	maxBack = 12
)

// router follows answers of a poll through its loop.
type router struct {
	types  *typecheck.Checker
	poll   *asl.State
	inner  *loop // the smallest loop around the poll
	starts func(*asl.State) bool
	ways   *ways
	bounds *bounds // nil for a loop in a Retry
	never  map[hop]bool
	// usual are what the poll asks for after each lap of a job that runs: see asksOther.
	usual map[string]bool
	// byName tells that nobody knows what the poll asks for: what another call of the loop gives it may be about the same job.
	byName bool
	single *single // see reading
	work   *work   // that is left; nil where all is followed
	// turns are the counts of the smallest loop around the poll: see goesOnAtBound.
	turns counters
	// seeks tells that somebody asks whether a Choice looks at a status; looked is the answer.
	seeks, looked bool
}

// route is one way that an answer may take.
type route struct {
	path   []string   // from behind the poll to where it ends
	hops   []hop      // from the poll on, as far as it is followed
	chosen []decision // of the Choices on it
	tasks  []string   // that do work on it, in the loop
	leaf   *asl.State // behind the loop; nil where it polls on or no rule takes the answer
	ends   End
	// outputs are what the flow gives at its end, if that is known.
	outputs []typecheck.Env
	late    bool  // taken only when a bound of the loop is reached
	lateBy  []hop // the Choices that look at the bound, unless the poll itself does
	mixed   bool  // a Choice on it mixes a bound with the status: see mixes
	pages   bool  // asks for the next page of an answer

	fails   bool       // a field of a state on it selects nothing: then the state fails
	instead bool       // it is taken where a state fails
	failed  *asl.State // that fails: nil if none does
	failing string     // the JSON pointer of its field
	raises  bool       // an expression of it raises an error, and does not just give nothing
	caught  bool       // by a catcher of that state
	lost    bool       // the poll fails when it is made again, by what its call reads
}

// decision is what a Choice did; taken is nil if no rule took the answer.
type decision struct {
	choice *asl.State
	taken  *asl.Transition
}

// follow returns the ways that an answer may take; nil if there are too many.
func (r *router) follow(answer typecheck.Value) []route {
	return r.followFrom(r.types.Input(r.poll), answer)
}

// followFrom returns the ways that an answer may take to a poll in an environment; nil if there are too many.
func (r *router) followFrom(env typecheck.Env, answer typecheck.Value) []route {
	if !r.work.spend(1) {
		return nil
	}
	w := &walk{router: r, on: map[string]bool{}}
	w.step(r.poll, r.single.enter(env), answer, route{})
	if w.steps > maxSteps {
		return nil
	}
	for i := range w.found {
		if back := &w.found[i]; back.ends == PollsOn && !back.pages && r.asksOther(back.hops) {
			back.askOther(r.poll, back.hops)
		}
	}
	return w.found // none if no answer can be so
}

// looksAt tells whether a Choice on the way of an answer looks at its status, which is otherValue.
func (r *router) looksAt(answer typecheck.Value) bool {
	r.seeks, r.looked = true, false
	r.follow(answer)
	r.seeks = false
	return r.looked
}

// asksOther tells whether some hops lead back to the poll to ask for another job. What is computed
// anew in each lap of a job that runs is the same job, unless it goes on from lap to lap.
func (r *router) asksOther(hops []hop) bool {
	if r.bounds == nil || len(hops) == 0 {
		return false
	}
	back, again := traceAsked(r.poll, hops)
	switch {
	case again || back.own:
		return false
	case r.byName:
		return back.another && !r.usual[back.text]
	default:
		return back.moves || !r.usual[back.text]
	}
}

// asksMoved tells whether the poll asks, behind some hops, for what another call gives it: it may be of another job.
func asksMoved(poll *asl.State, hops []hop) bool {
	back, _ := traceAsked(poll, hops)
	return back.moves
}

// askOther ends a way at the poll that asks for another job behind some hops: the next one, or one that
// they start.
func (way *route) askOther(poll *asl.State, hops []hop) {
	way.ends = NextJob
	if asked, _ := traceAsked(poll, hops); asked.start != nil {
		way.leaf, way.ends = asked.start, StartsAgain
	}
}

// noteUsual notes what the poll asks for after the laps of a job that runs. Where nobody knows which job runs, but some laps
// ask for the same one again, the others may be of a job that has ended, or go on at a bound.
func (r *router) noteUsual(routes []route) {
	laps := map[string]bool{}
	same := false
	for _, way := range routes {
		if way.ends == PollsOn || way.ends == NextJob {
			back, again := traceAsked(r.poll, way.hops)
			laps[back.text] = laps[back.text] || again
			same = same || again
		}
	}
	for text, again := range laps {
		r.usual[text] = r.usual[text] || again || !same || !r.byName
	}
}

type walk struct {
	*router

	steps int
	on    map[string]bool // the states of the path
	found []route
}

// waysOutOf are the ways that may be taken, and apart those after errors.
func (w *walk) waysOutOf(s *asl.State, env typecheck.Env, result typecheck.Value) (ways, catchers []typecheck.Way) {
	for _, way := range w.types.Try(s, env, result) {
		switch {
		case w.never[hop{s, way.Transition}]:
		case way.Kind == asl.TransitionCatch:
			catchers = append(catchers, way)
		default:
			ways = append(ways, way)
		}
	}
	return ways, catchers
}

// step follows the ways out of a state, but for those after errors.
func (w *walk) step(s *asl.State, env typecheck.Env, result typecheck.Value, at route) {
	if w.steps++; w.steps > maxSteps {
		return
	}
	w.looked = w.looked || w.seeks && readsOther(s, env)
	w.on[s.Name] = true
	defer delete(w.on, s.Name)
	ways, catchers := w.waysOutOf(s, env, result)
	if each := w.splitTexts(s, env, ways); each != nil {
		for _, one := range each {
			w.step(s, one, result, at)
		}
		return
	}
	if len(ways) == 0 && s.Choice != nil {
		at.chosen = append(slices.Clip(at.chosen), decision{choice: s})
		at.ends = EndsFailure
		w.found = append(w.found, at)
	}
	if w.isOpenToBound(s, ways) {
		none := at
		none.chosen, none.ends = append(slices.Clip(at.chosen), decision{choice: s}), EndsFailure
		w.found = append(w.found, none)
	}
	fails := slices.ContainsFunc(ways, func(way typecheck.Way) bool { return way.Fails })
	switch {
	case w.bounds == nil && s == w.poll && (fails || w.types.Raises(s, env, result)):
		w.found = append(w.found, route{path: []string{s.Name}, ends: PollsOn})
		at.late = true // a running job leaves the loop only when its time is over
	case fails:
		first := ways[slices.IndexFunc(ways, func(way typecheck.Way) bool { return way.Fails })]
		at.raises, at.failing = first.Raises, first.Failing
		w.fail(s, catchers, at)
	}
	mixed := w.bounds != nil && s.Choice != nil && w.bounds.mixes(s, env, ways)
	for n, way := range ways {
		at := at
		at.fails = at.fails || fails && way.Fails
		if way.End {
			at.leaf, at.ends, at.outputs = s, EndsSuccess, []typecheck.Env{{Input: way.Env.Input}}
			w.found = append(w.found, at)
			continue
		}
		next := at
		if s.Choice != nil {
			next.chosen = append(slices.Clip(at.chosen), decision{s, &way.Transition})
			if w.isLate(s, ways, n, mixed) && !w.isOpenBeside(s, env, at.hops, ways[:n]) {
				next.late, next.lateBy = true, append(slices.Clip(at.lateBy), hop{s, way.Transition})
			}
			next.mixed = at.mixed || mixed
			next.pages = at.pages || turnsPage(s, way.Transition)
		}
		next.path = append(slices.Clip(at.path), way.To)
		next.hops = append(slices.Clip(at.hops), hop{s, way.Transition})
		w.enter(w.poll, way, next)
	}
}

// splitTexts are the environments of a Choice by the texts of a value that a rule of it looks at beside a bound: one text
// may lead there at once, and another only when the bound is reached. It is nil for one environment.
func (w *walk) splitTexts(s *asl.State, env typecheck.Env, ways []typecheck.Way) []typecheck.Env {
	const most = 4 // texts, each of which is followed by itself
	if s.Choice == nil {
		return nil
	}
	late, mixed := false, w.bounds != nil && w.bounds.mixes(s, env, ways)
	for n := range ways {
		late = late || w.isLate(s, ways, n, mixed)
	}
	if !late {
		return nil
	}
	for i := range s.Choice.Rules {
		operands := operandsOfRule(&s.Choice.Rules[i])
		for _, o := range operands {
			words, known := readOperand(env, o).Literals()
			alone := !slices.ContainsFunc(operands, func(other operand) bool { return other.String() != o.String() })
			if !known || len(words) < 2 || len(words) > most || alone || w.bounds.counters[lastName(o.String())] || w.bounds.flags[lastName(o.String())] {
				continue
			}
			each := make([]typecheck.Env, len(words))
			for n, word := range words {
				each[n] = env.Narrow(o.variable, o.path(), word)
				if texts, _ := readOperand(each[n], o).Literals(); len(texts) != 1 { // such as an item far in a list
					return nil
				}
			}
			return each
		}
	}
	return nil
}

// enter follows a way into a state.
func (w *walk) enter(poll *asl.State, way typecheck.Way, at route) {
	s := w.inner.flow.State(way.To)
	switch {
	case s == poll:
		w.pollAgain(way, at)
		return
	case s.Type == asl.TypeWait && s.Next == poll.Name:
		at.path = append(slices.Clip(at.path), s.Next) // whatever goes through it
		at.hops = append(slices.Clip(at.hops), hop{s, asl.Transition{To: s.Next}})
		w.pollAgain(way, at)
		return
	case w.on[s.Name]:
		at.ends = EndsUnknown // it turns without a poll
	case s.Type == asl.TypeFail:
		at.leaf, at.ends = s, EndsFailure
	case s.Type == asl.TypeSucceed || s.End && s.Type == asl.TypePass || s.End && s.Type == asl.TypeWait:
		at.leaf, at.ends, at.outputs = s, EndsSuccess, w.outputs(s, way.Env, maxAfter)
	case s.Type == asl.TypePass || s.Type == asl.TypeChoice || s.Type == asl.TypeWait:
		w.step(s, way.Env, typecheck.Value{}, at)
		return
	case w.inner.inside[s.Name] && !w.starts(s):
		at.tasks = append(slices.Clip(at.tasks), s.Name)
		w.step(s, way.Env, w.types.Result(s), at)
		return
	default:
		w.leave(s, way.Env, at)
		return
	}
	w.found = append(w.found, at)
}

// fail adds what happens to a path where a state of it fails, as a field selects nothing: the
// way of the catcher that takes the error, or the end of the execution.
func (w *walk) fail(s *asl.State, catchers []typecheck.Way, at route) {
	at.instead, at.failed = true, s
	if s.QueryLanguage == asl.JSONata {
		for _, way := range catchers {
			if slices.ContainsFunc(s.Catch[way.Rule].ErrorEquals, func(name string) bool { return slices.Contains(takesFailedExpressions, name) }) {
				at.path, at.caught = append(slices.Clip(at.path), way.To), true
				at.hops = append(slices.Clip(at.hops), hop{s, way.Transition})
				w.enter(w.poll, way, at)
				return
			}
		}
	}
	at.ends = EndsFailure
	w.found = append(w.found, at)
}

// leave adds what happens to a path that leaves the smallest loop around the poll for a state: it
// comes back, or the execution ends.
func (w *walk) leave(s *asl.State, env typecheck.Env, at route) {
	at.leaf, at.outputs = s, w.outputs(s, env, maxAfter)
	back := comeback{walk: w, left: maxBack}
	back.follow(s, env, at.hops)
	switch {
	case back.leaves || len(back.polls) > 0 && back.starts:
		i := slices.IndexFunc(back.polls, w.asksOther)
		if i < 0 {
			break
		}
		next := at
		next.askOther(w.poll, back.polls[i])
		w.found = append(w.found, next)
	case back.starts:
		at.ends = StartsAgain
		w.found = append(w.found, at)
		return
	case len(back.polls) > 0:
		at.leaf, at.tasks, at.ends = nil, append(slices.Clip(at.tasks), s.Name), PollsOn
		for _, hops := range back.polls {
			at.hops = hops
			w.found = append(w.found, at)
		}
		return
	}
	if at.ends = w.ways.end(s); at.ends == GoesOn && !w.starts(s) {
		left := maxAfter
		at.ends = w.outcome(s, env, &left)
	}
	w.found = append(w.found, at)
}

// comeback are the ways from a state outside of the smallest loop around the poll that lead back
// to the poll.
type comeback struct {
	*walk

	left   int     // states that are followed yet
	polls  [][]hop // to the poll itself
	starts bool    // to where the job is started, and from there to the poll
	leaves bool    // or elsewhere
}

// follow follows the ways out of a state, but for those after errors.
func (b *comeback) follow(s *asl.State, env typecheck.Env, hops []hop) {
	switch b.left--; {
	case b.bounds == nil || !b.bounds.loop.inside[s.Name] || b.left < 0:
		b.leaves = true
		return
	case s == b.poll:
		b.polls = append(b.polls, hops)
		return
	case b.walk.starts(s):
		b.starts = true
		return
	}
	for _, way := range b.types.Step(s, env, b.types.Result(s)) {
		switch {
		case way.Kind == asl.TransitionCatch:
		case way.End:
			b.leaves = true
		default:
			b.follow(b.inner.flow.State(way.To), way.Env, append(slices.Clip(hops), hop{s, way.Transition}))
		}
	}
}

func (w *walk) outcome(s *asl.State, env typecheck.Env, left *int) End {
	if end := w.ways.end(s); end != GoesOn {
		return end
	}
	if *left--; *left < 0 || s == w.poll {
		return GoesOn
	}
	var end End
	for _, way := range w.types.Step(s, env, w.types.Result(s)) {
		if way.Kind == asl.TransitionCatch {
			continue
		}
		if way.End {
			return EndsSuccess // and there is no other
		}
		next := w.outcome(w.inner.flow.State(way.To), way.Env, left)
		if end != "" && next != end {
			return GoesOn
		}
		end = next
	}
	if end == "" {
		return EndsFailure // no rule of a Choice holds
	}
	return end
}

// endOf is where all routes of a value end; empty for none.
func endOf(routes []route) End {
	if len(routes) == 0 {
		return ""
	}
	end := routes[0].ends
	for _, r := range routes {
		if r.ends == end {
			continue
		}
		if (r.ends == NextJob || end == NextJob) && isJudged(r.ends) && isJudged(end) {
			end = NextJob // until there is no other
			continue
		}
		if r.ends == PollsOn || end == PollsOn || r.ends == EndsUnknown || end == EndsUnknown {
			return EndsUnknown
		}
		if (r.ends == StartsAgain || r.ends == EndsFailure) && (end == StartsAgain || end == EndsFailure) {
			end = StartsAgain // until the starts are counted
			continue
		}
		end = GoesOn
	}
	return end
}

// endsIn tells whether one of some routes has an end.
func endsIn(routes []route, end End) bool {
	return slices.ContainsFunc(routes, func(way route) bool { return way.ends == end })
}

// mayPollOn tells whether one of some routes leads back to the poll.
func mayPollOn(routes []route) bool {
	return endsIn(routes, PollsOn)
}

// pathsOf are the states on some routes, as a text.
func pathsOf(routes []route) string {
	var b strings.Builder
	for _, r := range routes {
		b.WriteString(strings.Join(r.path, "\x00") + "\x01")
	}
	return b.String()
}

// isJudged tells whether an end is of a lap that comes to its end: it does not poll the same job on.
func isJudged(end End) bool { return end != PollsOn && end != EndsUnknown && end != StartsAgain }

// outputs are what a flow gives from a state on; nil if that is not known.
func (w *walk) outputs(s *asl.State, env typecheck.Env, left int) []typecheck.Env {
	if left < 0 {
		return nil
	}
	var all []typecheck.Env
	for _, way := range w.types.Step(s, env, w.types.Result(s)) {
		switch {
		case way.Kind == asl.TransitionCatch:
		case way.End:
			all = append(all, typecheck.Env{Input: way.Env.Input})
		default:
			next := w.inner.flow.State(way.To)
			if next.Type == asl.TypeFail {
				continue
			}
			more := w.outputs(next, way.Env, left-1)
			if more == nil {
				return nil
			}
			all = append(all, more...)
		}
	}
	return all
}

// pollAgain ends a route at the poll. Where the input that it brings has no longer what the call reads, the poll fails.
func (w *walk) pollAgain(way typecheck.Way, at route) {
	at.ends = PollsOn
	if w.bounds != nil {
		env := way.Env
		if s := w.inner.flow.State(way.To); s != w.poll { // the Wait in front of it
			env = w.types.Step(s, env, typecheck.Value{})[0].Env
		}
		ways := w.types.Try(w.poll, env, w.types.Result(w.poll))
		i := slices.IndexFunc(ways, func(again typecheck.Way) bool { return again.Fails && isOfCall(w.poll, again.Failing) })
		if i >= 0 {
			lost := at
			lost.lost, lost.raises, lost.failing = true, ways[i].Raises, ways[i].Failing
			w.fail(w.poll, slices.DeleteFunc(ways, func(again typecheck.Way) bool { return again.Kind != asl.TransitionCatch }), lost)
			at.fails = true
		}
	}
	w.found = append(w.found, at)
}

// newRouter is what follows answers of a poll.
func (c *checker) newRouter(r *reading) *router {
	starts := func(s *asl.State) bool {
		return s.Task != nil && slices.ContainsFunc(r.judges, func(j *judge) bool { return c.startsJob(s, j) || c.makes(s, r, j) })
	}
	return &router{
		usual: map[string]bool{}, byName: r.ByName, single: r.single, types: c.types, poll: r.Poll, inner: r.inner, bounds: r.bounds,
		ways: c.waysOf(r.Flow), starts: starts,
	}
}
