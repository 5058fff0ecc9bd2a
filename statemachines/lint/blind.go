package lint

import (
	"regexp"
	"slices"
	"sync"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// succeedsBlind tells whether the states behind a route end the execution as a success, and none can see the status.
func (r *reading) succeedsBlind(way route) bool {
	if succeeds(r.Flow, way.leaf.Name) {
		return true
	}
	hops := r.toEnd(way)
	from := slices.IndexFunc(hops, func(h hop) bool { return h.state == way.leaf })
	for i := max(0, from); i < len(hops); i++ {
		switch s := hops[i].state; {
		case raises(s), s.Type != asl.TypePass && s.Type != asl.TypeSucceed && !r.deliversBlind(hops[:i], s):
			return false
		case s.Type == asl.TypeSucceed, s.End:
			return true
		}
	}
	return false
}

// deliversBlind tells whether a Task hands on values that are not of the job's end, such as a message to a topic: it
// succeeds whatever the status is.
func (r *reading) deliversBlind(hops []hop, s *asl.State) bool {
	if s.Task == nil {
		return false
	}
	call, t := asl.ParseResource(s.Task.Resource), argumentsOf(s)
	if call.Pattern != "" || !deliveryName().MatchString(call.Action) || t == nil {
		return false
	}
	f := scope{state: s, doc: stepsFrom(s.InputPath)}.template(t, nil)
	return !f.opaque && !slices.ContainsFunc(f.operands, func(o operand) bool { return r.readsEnd(hops, o) })
}

// deliveryName matches an operation that hands on what its arguments have.
var deliveryName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:publish|send|put)(?:[A-Z]|$)`) })
