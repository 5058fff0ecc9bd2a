package trial

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Objection is a run that speaks against a change.
type Objection struct {
	Run Run
	Why string
}

func (o Objection) String() string { return fmt.Sprintf("with %s, %s", o.Run.Script, o.Why) }

// Objections are the runs that a change must not have: those that differ outside of the
// frame, and those inside of it that are as broken as before, break in another way, or lose a
// call of another flow.
func (r *Report) Objections(frame ...Kind) []Objection {
	var all []Objection
	for _, run := range r.Outside(frame...) {
		all = append(all, Objection{run, run.Differences[0].String()})
	}
	for _, run := range r.Inside(frame...) {
		if why := run.objection(frame); why != "" {
			all = append(all, Objection{run, why})
		}
	}
	return all
}

// Mended are the runs inside of the frame that differ.
func (r *Report) Mended(frame ...Kind) []Run {
	return slices.DeleteFunc(r.Inside(frame...), func(run Run) bool { return len(run.Differences) == 0 })
}

// objection says what is wrong with a run inside of a frame; empty for nothing.
func (r *Run) objection(frame []Kind) string {
	for _, d := range r.Differences {
		if d.Beside && d.What == Calls && d.After == notMade {
			return d.String()
		}
	}
	stays := r.After.Status == Endless || r.After.Status == PollsOn && r.Before.Status == PollsOn && r.staysIn(frame)
	broken := r.After.IsBroken() && (!r.Before.IsBroken() || slices.ContainsFunc(frame, func(f Kind) bool { return f.Sort != "" && r.IsIn([]Kind{f}) }))
	if stays || broken {
		return fmt.Sprintf("the end was %s, and is %s", r.Before, r.After)
	}
	return ""
}

// staysIn tells whether the frame is about a job that stays as it does in the run. A short run
// may not have got to a bound.
func (r *Run) staysIn(frame []Kind) bool {
	return slices.ContainsFunc(r.Kinds, func(k Kind) bool {
		status := Kind{Task: k.Task, Sort: Status, Value: k.Value}
		return k.Sort == Never && slices.ContainsFunc(frame, func(f Kind) bool { return f.Sort != "" && (!r.short && k.isIn(f) || status.isIn(f)) })
	})
}

// IsBroken tells whether a run ended in an error that the engine has with the definition.
func (o Outcome) IsBroken() bool {
	return o.Status == string(sim.StatusFailed) && IsEngineError(o.Error)
}

// IsEngineError tells whether an error, by its name, is one that the engine has with a definition: no Task fails by it,
// and no time is over.
func IsEngineError(name string) bool {
	return strings.HasPrefix(name, "States.") && name != asl.ErrorTimeout && name != asl.ErrorTaskFailed && !asl.IsOfRequest(name)
}
