package fix

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// Change is what the machine does otherwise, for one kind of answer.
type Change struct {
	Kind trial.Kind `json:"answer"`
	// Before and After are how an execution ends.
	Before string `json:"before"`
	After  string `json:"after"`
	// Bare tells that it is so for answers without the members that the service may leave out.
	Bare bool `json:"bare,omitempty"`
}

// tryChange runs both machines on the same answers. It returns what the new loop does
// otherwise, as it should, and refuses any other difference.
func (f *fragment) tryChange(ctx context.Context, before, after *document, o Options) ([]Change, *trial.Report, error) {
	old, err := before.Parse()
	if err != nil {
		return nil, nil, err
	}
	replaced, err := after.Parse()
	if err != nil {
		return nil, nil, err
	}
	report, err := trial.Compare(ctx, old, replaced, trial.Options{
		Models: o.Models, Express: o.Express, Polls: map[string]*catalog.Entry{f.poll.Name: f.entry},
		Running: map[string][]string{f.poll.Name: f.polledOn}, Except: f.exceptCounts(), Items: f.items(), Draw: f.draw,
	})
	if err != nil {
		return nil, nil, refuse("the change cannot be tried: %s", err)
	}
	if why, not := notTried(report, f.poll.Name); not {
		return nil, nil, refuse("nothing shows that a new loop is right: %s", why)
	}
	j := judge{poll: f.poll.Name, handles: f.handlesFailures(), bound: f.bound.After, first: f.waitsBefore(), verdicts: map[string]pollcore.Verdict{}}
	j.beside = f.bound.Kind == lint.ByBranch && f.bound.After == 0
	if f.bound.Kind == lint.ByTime {
		j.lead = f.findLead(o).lasts
	}
	for _, s := range f.observed.seen {
		j.verdicts[s.status] = s.verdict
	}
	if f.starter != nil {
		j.sync = f.starter.Name
	}
	for i := range report.Runs {
		if err := j.read(&report.Runs[i]); err != nil {
			return nil, nil, err
		}
	}
	if j.changes, err = dropBeside(j.changes); err != nil {
		return nil, nil, err
	}
	j.changes = append(j.changes, f.errorsOfStart()...)
	isStatus := func(value string) bool { _, known := j.verdicts[value]; return known }
	return dropAlike(dropLate(j.changes), isStatus), report, nil
}

// handlesFailures tells whether failures lead to a state that may do anything: a Fail state ends the execution.
func (f *fragment) handlesFailures() bool {
	return f.handler != "" && f.flow.State(f.handler).Type != asl.TypeFail
}

// dropBeside leaves out answers with another value of a member that does not tell the status, where the status
// alone changes the same. It refuses others: the old loop tells them apart, and a compiled one does not.
func dropBeside(changes []Change) ([]Change, error) {
	var kept []Change
	for _, c := range changes {
		if c.Kind.Beside == "" {
			kept = append(kept, c)
			continue
		}
		alone := c
		alone.Kind.Beside = ""
		if !slices.Contains(changes, alone) {
			return nil, refuse("with status %s and %s, the execution %s, and with the new loop it %s: a compiled loop looks at the status alone",
				c.Kind.Value, c.Kind.Beside, c.Before, c.After)
		}
	}
	return kept, nil
}

// dropAlike leaves out texts that are no status of the job, and that change as any other text does.
func dropAlike(changes []Change, isStatus func(value string) bool) []Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c Change) bool {
		value := c.Kind.Value
		return value != "" && value != trial.UnknownValue && !isStatus(value) && slices.ContainsFunc(changes, func(o Change) bool {
			return o.Kind.Value == trial.UnknownValue && o.Kind.Sort == c.Kind.Sort && o.Before == c.Before && o.After == c.After
		})
	})
}

// dropLate leaves out jobs that end after the old machine timed out, where a line tells of the job
// that never ends.
func dropLate(changes []Change) []Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c Change) bool {
		return c.Kind.Sort == trial.Status && c.Before == describeEnd(trial.Outcome{Status: string(sim.StatusTimedOut)}) &&
			slices.ContainsFunc(changes, func(o Change) bool { return o.Kind.Sort == trial.Never && o.Kind.Value == c.Kind.Value })
	})
}

// notTried says why no run of either machine got to the poll: both broke before, and alike.
func notTried(report *trial.Report, poll string) (string, bool) {
	for _, why := range report.NotTried {
		if strings.HasPrefix(why, strconv.Quote(poll)+":") {
			return why, true
		}
	}
	return "", false
}

// judge reads the runs of both machines.
type judge struct {
	poll     string                      // the Task that polls
	sync     string                      // a ".sync" Task that takes its place, which answers at once in a trial
	verdicts map[string]pollcore.Verdict // on the statuses that are known
	handles  bool                        // failures lead to a state of the machine, which may end well
	bound    time.Duration               // how long the old loop waits at most; 0 if that is not known
	first    time.Duration               // how much of bound passes before its first poll
	lead     time.Duration               // until it begins, at most, where its deadline may have been set before; else 0
	beside   bool                        // a branch that fails, at a time that is not known, ends the old loop
	changes  []Change
}

// read declares the differences of a run that a new loop is for, and refuses others.
func (j *judge) read(r *trial.Run) error {
	if j.leavesRunning(r) {
		return refuse("with %s, the new loop succeeds, and the old one polls on", r.Script)
	}
	if len(r.Differences) == 0 {
		if leavesEarlier(r) {
			j.add(r.Left, r)
		}
		return nil
	}
	if breaksAlike(r) || j.endsEarlier(r) {
		return nil
	}
	kind, ok := j.kindOf(r)
	switch {
	case j.sync != "" && (kind == trial.Kind{Task: j.sync, Sort: trial.Fails, Value: asl.ErrorTimeout} || r.Differences[0].What == trial.Poll):
		return nil // its time is that of the wait, and it polls once
	case ok && j.isMended(kind, r):
		if !pollsLonger(r) {
			j.add(kind, r)
		}
		return nil
	}
	return whyRefused(r)
}

// pollsLonger tells whether the old machine is out of time after its last answer, and the new one polls again: its pace
// differs, and what it does with a status does not.
func pollsLonger(r *trial.Run) bool {
	stays := slices.ContainsFunc(r.Kinds, func(k trial.Kind) bool { return k.Sort == trial.Never })
	return !stays && r.Left.Sort == trial.Status && r.Before.Status == string(sim.StatusTimedOut) && r.After.Asked > r.Before.Asked
}

// retried tells of an error of the poll that the new loop asks again.
const retried = "is retried"

// ownErrors begin the errors of Fail states that fix adds.
const ownErrors = "JobPoller."

// whyRefused is the refusal for a run that ends otherwise. It says if the end is a Fail state that fix added.
func whyRefused(r *trial.Run) error {
	before, after := r.Before, r.After
	if before.Status == string(sim.StatusFailed) && strings.HasPrefix(after.Error, ownErrors) && before.Error != after.Error {
		return refuse("%s, the execution fails with %q, and the compiled loop does not lead there: it would end in a new Fail state", underScript(r), before.Error)
	}
	return refuse("%s, %s", underScript(r), r.Differences[0])
}

// add adds what a run does otherwise, once for each kind of answer. A change for whole answers is
// one for bare ones, too.
func (j *judge) add(kind trial.Kind, r *trial.Run) {
	change := Change{Kind: kind, Before: describeEnd(r.Before), After: describeEnd(r.After)}
	change.Bare = slices.ContainsFunc(r.Kinds, func(k trial.Kind) bool { return k.Sort == trial.Bare })
	if kind.Sort == trial.Status || kind.Sort == trial.Items {
		change.After = describeEnd(endOfAnswer(r.After, r.Before))
	}
	later := kind.Sort == trial.Fails && r.After.Asked > r.Before.Asked
	if later && r.Before.Error == kind.Value && r.After.Error != kind.Value && !strings.HasPrefix(r.After.Error, ownErrors) {
		change.After = retried // its end is that of a later answer
	}
	if kind.Sort == trial.Status && r.Left.Sort == trial.Status {
		change.Kind = r.Left // no machine may have got the others
	}
	if kind.Sort == trial.Status && asksOn(r) {
		change.Before, change.After = describeEnd(endAt(r.Before, r.After)), describeEnd(endAt(r.After, r.Before))
	}
	if change.Before == change.After {
		tellApart(&change, r)
	}
	for i, known := range j.changes {
		switch {
		case known.Kind != change.Kind:
		case known.Bare == change.Bare:
			return
		case known.Before == change.Before && known.After == change.After:
			j.changes[i].Bare = false
			return
		}
	}
	j.changes = append(j.changes, change)
}

// tellApart says in a change that reads alike on both sides what differs. Where no observable does, both machines
// poll on, and one of them behind the loop.
func tellApart(change *Change, r *trial.Run) {
	const leaves = "leaves the loop, and "
	switch {
	case len(r.Differences) > 0:
		change.After += fmt.Sprintf(", with another %s", r.Differences[0].What)
	case r.After.Asked < r.Before.Asked:
		change.After = leaves + change.After
	default:
		change.Before = leaves + change.Before
	}
}

// breaksAlike tells whether a run ends in errors of the engine in both machines, which have
// other names and texts in the other query language, and does the same before.
func breaksAlike(r *trial.Run) bool {
	return r.Before.IsBroken() && r.After.IsBroken() && !slices.ContainsFunc(r.Differences, func(d trial.Difference) bool {
		return d.What != trial.Error && d.What != trial.Cause
	})
}

// endsEarlier tells whether the new loop leaves with a failure on the way to the end that the old
// one saw: a run that stays at that failure shows what differs.
func (j *judge) endsEarlier(r *trial.Run) bool {
	if isOfItems(r) || slices.ContainsFunc(r.Differences, func(d trial.Difference) bool { return !j.isOfEarlierEnd(d) }) {
		return false
	}
	if r.After.Polls >= r.Before.Polls || r.After.Status == string(sim.StatusSucceeded) && !j.handles {
		return false
	}
	statuses := slices.DeleteFunc(slices.Clone(r.Kinds), func(k trial.Kind) bool { return k.Task != j.poll || k.Sort != trial.Status })
	last := max(0, len(statuses)-1)
	return slices.ContainsFunc(statuses[:last], func(k trial.Kind) bool { return j.verdicts[k.Value] == pollcore.Failure })
}

// isOfItems tells whether a run is about an answer that lists two items.
func isOfItems(r *trial.Run) bool {
	return slices.ContainsFunc(r.Kinds, func(k trial.Kind) bool { return k.Sort == trial.Items })
}

// leavesRunning tells whether the new loop succeeds at an answer of two items, one of which runs,
// for which the old one polls on.
func (j *judge) leavesRunning(r *trial.Run) bool {
	return isOfItems(r) && r.After.Status == string(sim.StatusSucceeded) && r.After.Asked < r.Before.Asked &&
		slices.ContainsFunc(r.Kinds, func(k trial.Kind) bool { return j.verdicts[k.Value] == pollcore.Retry })
}

// isOfEarlierEnd tells whether an end that comes earlier can make a difference: calls behind the loop
// are not made any more, and states that handle failures make others.
func (j *judge) isOfEarlierEnd(d trial.Difference) bool {
	const notMade = "not made"
	switch d.What {
	case trial.Poll, trial.Retry:
		return false
	case trial.Calls:
		return d.After == notMade || j.handles && !d.Beside
	default:
		return true
	}
}

// kindOf is the kind of answer of the poll that a run is about.
func (j *judge) kindOf(r *trial.Run) (trial.Kind, bool) {
	var found trial.Kind
	for _, k := range r.Kinds {
		switch {
		case k.Task != j.poll:
			return k, false
		case found.Sort == trial.Items && k.Sort != trial.Fails:
		case found.Sort == "", found.Sort == trial.Bare, k.Sort == trial.Never, found.Sort == trial.Status && k.Sort == trial.Status, k.Sort == trial.Fails:
			found = k
		}
	}
	return found, found.Sort != "" && found.Sort != trial.Bare
}

// isMended tells whether a run ends otherwise because the old loop was wrong: it polled on,
// ended in an error of the engine, or took one end for another. It has to end as the new
// loop's verdict on the answer says. A run that fails in both machines, or succeeds in both,
// has to do the same.
func (j *judge) isMended(kind trial.Kind, r *trial.Run) bool {
	failed := r.Before.Status == string(sim.StatusFailed)
	same, succeeds, again := r.Before.Status == r.After.Status, r.After.Status == string(sim.StatusSucceeded), r.After.Polls > r.Before.Polls
	switch {
	case kind.Sort == trial.Never && j.verdicts[kind.Value] != pollcore.Success:
		if _, known := j.verdicts[kind.Value]; !known { // the old loop may poll for one job more
			again = again || j.endsAtBound(&r.After)
		}
		return same || !succeeds && (breaks(r.Before) || again && j.mayBe(pollcore.Retry, r)) // it polls on for what it does not know
	case kind.Sort == trial.Fails:
		return failed && (r.Before.Error == kind.Value || !same && again) // nothing caught it, or the call is made again
	case breaks(r.Before), failed && j.endsAtBound(&r.Before), // it polled on to its bound
		j.beside && failed && r.Before.Polls > r.After.Polls:
		return !succeeds || j.handles || j.verdicts[kind.Value] != pollcore.Failure
	case again: // it polls on for what it does not know
		return same || j.mayBe(pollcore.Retry, r)
	case same:
		return kind.Sort == trial.Items && r.Before.Error != r.After.Error
	case succeeds:
		return j.verdicts[kind.Value] == pollcore.Success || kind.Sort == trial.Items && j.mayBe(pollcore.Success, r)
	default:
		return j.mayBe(pollcore.Failure, r)
	}
}

// endsAtBound tells whether the old loop lasted as long as its bound lets it in a run.
func (j *judge) endsAtBound(o *trial.Outcome) bool {
	before := o.First - j.first // the loop began
	if j.lead > 0 {
		before = min(before, j.lead)
	}
	return j.bound > 0 && o.Lasts-before >= j.bound
}

// mayBe tells whether an answer of a run has a verdict, or one that another member tells.
func (j *judge) mayBe(verdict pollcore.Verdict, r *trial.Run) bool {
	return slices.ContainsFunc(r.Kinds, func(k trial.Kind) bool {
		of, known := j.verdicts[k.Value]
		return k.Sort == trial.Status && (!known || of == verdict)
	})
}

// breaks tells whether a run polled on, or ended in an error of the engine.
func breaks(o trial.Outcome) bool {
	switch o.Status {
	case trial.PollsOn, trial.Endless, string(sim.StatusTimedOut):
		return true
	default:
		return o.IsBroken()
	}
}

// checkPolledOn refuses the repair of a status that polls on where no run polls on with it: the machine leaves the loop today,
// and the edit would change another end than the one that lint reports.
func (t *candidate) checkPolledOn(report *trial.Report) error {
	inside := report.Inside(t.frame...)
	if len(inside) == 0 || slices.ContainsFunc(inside, polledOn) {
		return nil
	}
	r := &inside[0]
	return fmt.Errorf("no trial run polls on as lint says: with %s, the machine %s at poll %d today: look where that leads, and edit it by hand",
		r.Script, describeEnd(r.Before), r.Before.Polls)
}

// polledOn tells whether the old machine asked again where the new one leaves, or asks for ever.
func polledOn(r trial.Run) bool {
	b, a := r.Before, r.After
	return b.Status == trial.PollsOn || b.Status == trial.Endless || b.Status == string(sim.StatusTimedOut) || b.Polls > a.Polls || b.Asked > a.Asked
}

// endOfAnswer is how a machine ends by an answer: one that succeeds after more polls than the
// other makes polls on for it, and its end is of a later answer.
func endOfAnswer(o, other trial.Outcome) trial.Outcome {
	if o.Status == string(sim.StatusSucceeded) && o.Polls > other.Polls {
		o.Status, o.TimesOut = trial.PollsOn, false
	}
	return o
}

// leavesEarlier tells whether one machine ends at a status where the other asks again, and both end alike: the
// next answer leads there, too.
func leavesEarlier(r *trial.Run) bool {
	return asksOn(r) && !slices.ContainsFunc(r.Kinds, func(k trial.Kind) bool { return k.Sort != trial.Status })
}

// asksOn tells whether one machine ends at a status after which the other asks again.
func asksOn(r *trial.Run) bool { return r.Left.Sort == trial.Status && r.Before.Asked != r.After.Asked }

// endAt is how a machine ends by the last answer that both got.
func endAt(o, other trial.Outcome) trial.Outcome {
	if o.Asked > other.Asked {
		o.Status = trial.PollsOn
	}
	return o
}

// describeEnd says how an execution ends, for people.
func describeEnd(o trial.Outcome) string {
	switch o.Status {
	case trial.PollsOn:
		if o.TimesOut {
			return "polls on until TimeoutSeconds"
		}
		return "polls on"
	case trial.Endless:
		return "polls on without a wait"
	case string(sim.StatusSucceeded):
		return "succeeds"
	case string(sim.StatusTimedOut):
		return "times out"
	default:
		return strings.TrimSpace(fmt.Sprintf("fails %s", o.Error))
	}
}
