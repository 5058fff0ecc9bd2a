package lint

import (
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// job is what is known of a job by the answer of a poll: the value of its status first.
type job []known

// known is a text at a place of the answer, as Step Functions spells it.
type known struct {
	steps []string
	text  string
}

// narrowJob is an answer with what is known of a job, and with what the flags of the status say then: a whole one, or
// what it has behind some steps.
func (r *reading) narrowJob(answer typecheck.Value, s *status, of job, before []string) typecheck.Value {
	if before == nil {
		answer = r.single.answer(answer)
	}
	for _, k := range of {
		switch steps, below := cutSteps(k.steps, before); {
		case below && s.literals != nil && slices.Equal(steps, s.steps):
			answer = s.put(answer, k.text)
		case below:
			answer = typecheck.Narrow(answer, steps, k.text)
		}
	}
	for _, f := range r.flags {
		steps, below := cutSteps(f.steps, before)
		if !below {
			continue
		}
		switch s.meaning(r.judges, of[0].text) {
		case MeansRunning, MeansEnding:
			answer = typecheck.NarrowTruth(answer, steps, f.before)
		case MeansSuccess, MeansFailure, MeansUnclear:
			answer = typecheck.NarrowTruth(answer, steps, f.after)
		case MeansUnknown:
		}
	}
	return answer
}

// cutSteps are steps without the first of them.
func cutSteps(steps, before []string) (rest []string, found bool) {
	if len(steps) < len(before) || !slices.Equal(steps[:len(before)], before) {
		return nil, false
	}
	return steps[len(before):], true
}
