package sim

import (
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// states are the steps of all types of state.
type states struct{}

func (states) enter(s *strand, since time.Time) {
	s.retryCount, s.retries, s.inner, s.attempt, s.token = 0, nil, nil, nil, ""
	s.enteredTime = since
	s.before = s.last
	s.record(entered[s.state.Type], Details{Name: s.state.Name, Input: s.input})
	s.entered = s.last
	if !s.alive() {
		return
	}
	s.inside = true
	s.x.visit(s.state)
	s.x.run.steps.work(s)
}

func (states) work(s *strand) {
	s.x.run.current = s
	s.failState(runState(s))
}

// runState does what the state is for, and returns its failure.
func runState(s *strand) *failure {
	switch s.state.Type {
	case asl.TypeTask:
		return s.runTask()
	case asl.TypeWait:
		return s.runWait()
	case asl.TypeChoice:
		return s.runChoice()
	case asl.TypePass:
		return s.runPass()
	case asl.TypeSucceed:
		return s.runSucceed()
	case asl.TypeFail:
		return s.runFail()
	case asl.TypeParallel:
		return s.runParallel()
	default:
		return s.runMap()
	}
}
