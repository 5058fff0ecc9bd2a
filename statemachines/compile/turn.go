package compile

// steps are transitions and events.
type steps struct{ transitions, events int }

func (s steps) and(more steps) steps {
	return steps{s.transitions + more.transitions, s.events + more.events}
}

// turn is the cost of one poll, and of an execution without its polls: at most, and
// if it succeeds. Next is that of going on to another phase, which most has for all and
// success for none.
type turn struct {
	steps
	most, success, next steps
}

// turn is that of the strategy, with what the plan adds.
func (p *plan) turn() turn {
	t := p.strategy.turn(p)
	wait, task := steps{1, 2}, steps{1, 5}
	if p.pollsAfterLook() { // CheckError
		t.steps = t.and(steps{1, 2})
	}
	if p.waitsFirst() && !p.collected { // the collector waits too
		t.most, t.success = t.most.and(wait), t.success.and(wait)
	}
	if p.call.Start != nil {
		t.most, t.success = t.most.and(task), t.success.and(task)
	}
	if p.call.Stop != nil {
		t.most = t.most.and(task)
	}
	return t
}
