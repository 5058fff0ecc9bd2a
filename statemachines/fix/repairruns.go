package fix

import (
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// tellRuns is the line of an edit that other ends show; empty if there are none. It is an error if a run
// differs that the edit is not about.
func (c *checked) tellRuns(tried *candidate, report *trial.Report) (about string, err error) {
	var shown []trial.Run
	for _, run := range sortRuns(report.Outside()) {
		switch inside := run.IsIn(tried.frame) || tried.excuses != nil && tried.excuses(&run) || tried.blinded && (c.endsAsJob(&run) || c.endsAsWritten(&run)); {
		case !inside:
			return "", fmt.Errorf("the smallest edit changes more: %s, %s", underScript(&run), run.Differences[0])
		case !tried.mended(&run) && isBeside(&run) && !run.After.IsBroken(): // by a rule of the machine, which rowsBeside tells
		case tried.running == nil && leavesOutCall(&run, tried.retried) && !isAnsweredBy(&run, tried.misspelt):
			return "", fmt.Errorf("the smallest edit changes more: with %s, %s", run.Script, run.Differences[slices.IndexFunc(run.Differences, isCallLeftOut)])
		case !tried.mended(&run) && !tried.endsAsRunning(&run, report):
			return "", notMended(&run)
		case !isBeside(&run) && tried.isAbout(&run) && describeEnd(run.Before) != describeEnd(run.After):
			shown = append(shown, run)
		}
	}
	if shown == nil {
		return "", nil
	}
	line := tried.row(tried.lineOf(&shown[0]), shown...)
	return line + tried.rowsOfOtherEnds(line, shown), nil
}

// tellEarlier is the line of an edit by which the machine ends as before, but earlier; empty if it does not.
func (t *candidate) tellEarlier(report *trial.Report) string {
	for _, run := range report.Inside(t.frame...) {
		b, a := run.Before, run.After
		if !t.isAbout(&run) || isBeside(&run) || a.Polls >= b.Polls || describeEnd(a) != describeEnd(b) || !t.mended(&run) {
			continue
		}
		from, to := b.Polls, a.Polls
		if a.Asked < b.Asked { // other loops poll, too
			from, to = b.Asked, a.Asked
		}
		return fmt.Sprintf("%s: %s after poll %d -> after poll %d", t.about, describeEnd(b), from, to)
	}
	return ""
}

// checkEvery is the error of a run that must be mended, and is not.
func (t *candidate) checkEvery(report *trial.Report) error {
	for i := range report.Runs {
		r := &report.Runs[i]
		last := trial.Run{Kinds: r.Kinds[max(0, len(r.Kinds)-1):]}
		if t.every && last.IsIn(t.of) && !t.mended(r) && !t.endsAsRunning(r, report) && !isBeside(r) {
			return notMended(r)
		}
	}
	return nil
}

// endsAsRunning tells whether a run ends at the poll, and in the way, in which it ends with another status of a job that
// runs: a bound that the input sets may end it at once.
func (t *candidate) endsAsRunning(r *trial.Run, report *trial.Report) bool {
	return len(r.Kinds) > 0 && failsByItself(r) && slices.ContainsFunc(report.Runs, func(other trial.Run) bool {
		if len(other.Kinds) != len(r.Kinds) || other.After != r.After {
			return false
		}
		last := other.Kinds[len(other.Kinds)-1]
		return last.Task == r.Kinds[len(r.Kinds)-1].Task && slices.Contains(t.running, last.Value)
	})
}

// checkBounded is the error of a job that goes on past the bound which ends other jobs that go on.
func (t *candidate) checkBounded(report *trial.Report) error {
	stays := func(is func(*trial.Run) bool) int {
		return slices.IndexFunc(report.Runs, func(r trial.Run) bool {
			return slices.ContainsFunc(r.Kinds, func(k trial.Kind) bool { return k.Sort == trial.Never }) && is(&r)
		})
	}
	past := stays(func(r *trial.Run) bool {
		return t.isAbout(r) && r.After.Status == trial.PollsOn && r.Before.Status != trial.PollsOn
	})
	ends := stays(func(r *trial.Run) bool { return r.After.Asked > 1 && failsByItself(r) })
	if t.running == nil || past < 0 || ends < 0 {
		return nil
	}
	return fmt.Errorf("the smallest edit does not mend it: with %s, the machine polls on for ever with it, and with %s it %s",
		report.Runs[past].Script, report.Runs[ends].Script, describeEnd(report.Runs[ends].After))
}

// notMended is the error of a run that an edit does not mend.
func notMended(r *trial.Run) error {
	before, after := describeEnd(r.Before), describeEnd(r.After)
	if before == after {
		return fmt.Errorf("the smallest edit does not mend it: %s, the machine still %s", underScript(r), after)
	}
	return fmt.Errorf("the smallest edit does not mend it: %s, the machine %s today, and %s with the edit", underScript(r), before, after)
}

// idleError is of an edit with which a run differs that has no answer of the frame.
func idleError(report *trial.Report, frame []trial.Kind) error {
	if runs := report.Outside(frame...); len(runs) > 0 {
		return fmt.Errorf("the smallest edit changes more: %s, %s", underScript(&runs[0]), runs[0].Differences[0])
	}
	return nil
}
