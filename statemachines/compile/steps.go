package compile

// Steps are what an execution takes, without the retries of faults.
type Steps struct {
	// Transitions and Events are those of one poll, Besides those of an execution
	// that succeeds without its polls, and Phase those of going on to another phase:
	// see [Strategy.PhaseEnds].
	Transitions, Events int
	Besides, Phase      struct{ Transitions, Events int }
}

// Steps returns what an execution takes that starts its job, and waits before the first
// poll where that is asked for.
func (s Strategy) Steps(waitsFirst bool) Steps {
	found := s.find()
	if found == nil {
		return Steps{}
	}
	t := found.turn(&plan{})
	if !found.traits().functions {
		t.success = t.success.and(steps{1, 5}) // the start call
	}
	if waitsFirst && !found.traits().collected && !found.traits().told {
		t.success = t.success.and(steps{1, 2})
	}
	out := Steps{Transitions: t.transitions, Events: t.events}
	out.Besides.Transitions, out.Besides.Events = t.success.transitions, t.success.events
	out.Phase.Transitions, out.Phase.Events = t.next.transitions, t.next.events
	return out
}
