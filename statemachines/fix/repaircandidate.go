package fix

import (
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// candidate is an edit that may mend a finding.
type candidate struct {
	edits []edit.Edit
	after []byte // the text with them; nil before they are made
	frame []trial.Kind
	about string
	// failing is what the line begins with where calls that fail poll on; empty for about.
	failing string
	// counts tells that what ends calls that fail ends a job that runs, too.
	counts bool
	// does is what a run does after it; empty for how the run ends. also is what else differs.
	does, also string
	// running are the other statuses with which the loop polls on, of a line about those of a job that runs; else nil.
	running []string
	// missing tells that the line is about answers that lack a member, and what ends they lead to.
	missing bool
	// asks tells that a Choice leads on where the member is not there.
	asks bool
	// goesOn tells that a run which ends later polls on for the answer: its end is of another.
	goesOn bool
	// of are the kinds of the frame that the line is about; nil for all. Of the wrong word, which
	// no rule takes any more, the line tells, too.
	of    []trial.Kind
	wrong string
	// misspelt are words that no service says. A call that only they lead to is never made, so an edit may leave it out.
	misspelt []string
	// mended tells whether a run with an answer of the frame ends as it should, and past that
	// one which still breaks does so behind what is mended.
	mended, past func(r *trial.Run) bool
	// every tells that each run whose last answer the line is about must end so, also one that ends
	// as before.
	every bool
	class Class
	// paced tells that the edit changes how often a loop polls: runs may end as before, later.
	// atOnce tells that the loop makes calls that take no time, without a pause.
	paced, atOnce bool
	// excuses tells of a run without an answer of the frame whether it may differ, too.
	excuses func(r *trial.Run) bool
	// idle tells that no run outside of the frame may differ: the word does nothing.
	idle bool
	// retried is a Task that is retried less often than before; empty for none.
	retried string
	// respells tells that a right word takes the place of a wrong one.
	respells bool
	// blinded tells that the machine could not see what the edit shows it: a run may end as its
	// job does, now.
	blinded bool
	except  []trial.Member // that may differ in any run
	size    int            // lines of the diff, where it orders candidates
}

// isExcused tells whether a run breaks today: it polls on, or ends in an error of the engine.
func isExcused(r *trial.Run) bool {
	b := r.Before
	return b.Status == trial.PollsOn || b.Status == trial.Endless || b.Status == string(sim.StatusTimedOut) || isReserved(b.Error)
}

// isReserved tells whether an error, by its name, is one of Step Functions' own, and not of a call.
func isReserved(name string) bool {
	return strings.HasPrefix(name, "States.") && !asl.IsOfRequest(name)
}

// candidates are the edits that may mend a finding, the smallest first.
func (r *repairer) candidates(c *checked, f lint.Finding) []candidate {
	s := c.stateAt(f)
	if s == nil {
		return nil
	}
	l := c.loopFor(f)
	switch {
	case f.Suggestion != "" && l != nil && l.Poll != nil && c.isSynonym(f):
		return append(c.correctStatus(f, l), c.correct(f)...)
	case f.Suggestion != "":
		return c.correct(f)
	case f.Rule == lint.UnretriedTask:
		return c.retry(s, r.options)
	case f.Rule == typecheck.AbsentMember:
		return c.readAbsent(f)
	case f.Rule == lint.CallbackTimeout:
		return c.limitCallback(s, r.options)
	case f.Rule == lint.RepeatedStart:
		return c.startOnce(s, f, r.options)
	case f.Rule == lint.HiddenFailure:
		return c.showFailures(s, f)
	case f.Rule == lint.IdleRetrier:
		return c.raiseAttempts(s, f, r.options)
	case f.Rule == lint.HotLoop, f.Rule == lint.ShortInterval:
		return c.pace(l, f, r.options)
	case l == nil || l.Poll == nil:
		return nil
	case l.Together && strings.HasPrefix(f.Rule, "status-"): // a rule for one status would lead the other jobs, too
		return nil
	case f.Rule == typecheck.UnreachableRule:
		return c.swapRules(f, l)
	case isOfSecond(l, f):
		return c.tellSecond(rowOf(l, f), l)
	case f.Rule == lint.StatusUnclear:
		return c.tellUnclear(f, l, r.options)
	case strings.HasPrefix(f.Rule, "status-"):
		return c.nameStatuses(f, l)
	case f.Rule == typecheck.EnumValue:
		return c.correctStatus(f, l)
	case f.Rule == lint.StartRace:
		return c.awaitStart(l)
	case f.Rule == lint.UnboundedLoop:
		return c.bound(l, r)
	case f.Rule == lint.EventBudget:
		return append(c.pace(l, f, r.options), c.lowerCounts(l, r)...)
	default:
		return nil
	}
}
