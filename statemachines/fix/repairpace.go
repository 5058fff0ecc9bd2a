package fix

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// usualPause is how long a loop without a pause waits between two polls.
const usualPause = 30 * time.Second

// fullEvents are those that a slower loop may fill: a few less than a history has.
const fullEvents = asl.MaxEvents - 100

// pace are the edits by which a loop polls less often: a longer Seconds, or a Wait where it has none. l is nil for a loop
// without a Wait.
func (c *checked) pace(l *lint.Loop, f lint.Finding, o RepairOptions) []candidate {
	s := c.stateAt(f)
	one := candidate{
		class: Offered, paced: true, excuses: fillsHistory, also: "only you know how soon the end of the job must be seen",
		mended: func(r *trial.Run) bool { return r.After.Status != trial.Endless },
	}
	poll, pause := c.hotPoll(l, s), usualPause
	switch {
	case s.Wait == nil:
		if poll == nil {
			return nil
		}
		one.edits = c.pauseBefore(poll, pause)
	case l == nil || l.Poll == nil || nodeAt(c.root, f.Pointer).Kind != jsontree.Number: // a path, an expression, or a time
		return nil
	case f.Rule == lint.HotLoop:
		poll = l.Poll
	default:
		poll = l.Poll
		if pause = c.fittingPause(l); f.Rule == lint.ShortInterval {
			pause = max(pause, lint.ShortestInterval)
		}
		one.excuses, one.mended = pollsOn, func(r *trial.Run) bool { return r.After.Status != trial.PollsOn || r.After.TimesOut }
	}
	if s.Wait != nil {
		if pause == 0 {
			return nil // no number of seconds lets a count of polls be reached
		}
		one.edits = []edit.Edit{{Op: edit.Replace, At: f.Pointer, Value: jsonOf(int64(pause.Seconds()))}}
	}
	one.atOnce = f.Rule == lint.HotLoop && answersAtOnce(poll, o.Models)
	one.about, one.frame = spell(pause)+" between two polls", []trial.Kind{{Task: poll.Name, Sort: trial.Never}}
	return []candidate{one}
}

// fittingPause is the shortest with which the history has room until a time ends the loop; 0 if the definition does not say
// that time, or the loop waits differently.
func (c *checked) fittingPause(l *lint.Loop) time.Duration {
	limit := cmp.Or(time.Duration(c.machine.TimeoutSeconds)*time.Second, l.Bound.Deadline)
	if !waitsAlike(l) {
		return 0
	}
	return time.Duration(math.Ceil(limit.Seconds()*float64(longestLap(l))/fullEvents)) * time.Second
}

// hotPoll is the Task that the loop on which no time passes polls, around a state: that of its table, or the only one that
// each way goes through; nil if there are several.
func (c *checked) hotPoll(l *lint.Loop, s *asl.State) *asl.State {
	tasks := lint.Rush(c.flowOf(s), s)
	switch {
	case l != nil && slices.Contains(tasks, l.Poll):
		return l.Poll
	case len(tasks) == 1:
		return tasks[0]
	default:
		return nil
	}
}

// flowOf is the flow that a state is in.
func (c *checked) flowOf(s *asl.State) *asl.Flow {
	f := &c.machine.Flow
	for f.State(s.Name) != s {
		inner := f.Holder(s).Flows()
		f = inner[slices.IndexFunc(inner, func(inner *asl.Flow) bool { return inner.Holder(s) != nil })]
	}
	return f
}

// pauseBefore leads the ways back to a Task through a Wait. The way into the loop stays, also behind a call that starts the
// job again, and those from a Wait have a pause.
func (c *checked) pauseBefore(poll *asl.State, pause time.Duration) []edit.Edit {
	name := c.newName("Wait before " + poll.Name)
	flow := c.flowOf(poll)
	inside := []*asl.State{poll}
	var edits []edit.Edit
	for i := 0; i < len(inside); i++ {
		s := inside[i]
		for _, way := range s.Transitions() {
			to := flow.State(way.To)
			if to == poll && s.Wait == nil {
				edits = append(edits, edit.Edit{Op: edit.Replace, At: targetPointer(s, way), Value: jsonOf(name)})
			}
			if to != nil && !lint.Changes(to) && !slices.Contains(inside, to) {
				inside = append(inside, to)
			}
		}
	}
	wait := value("Type", "Wait", "Seconds", int64(pause.Seconds()), "Next", poll.Name)
	return append(edits, edit.Edit{Op: edit.Before, At: poll.Position.Pointer, Name: name, Value: wait})
}

// fillsHistory tells of a run that its loop takes no time, or fills the history.
func fillsHistory(r *trial.Run) bool { return r.Before.Status == trial.Endless || pollsOn(r) }

// tellPace is the line of an edit by which the machine ends later; empty if it does not.
func (t *candidate) tellPace(report *trial.Report) string {
	if !t.paced {
		return ""
	}
	var longest *trial.Run
	others := func(r trial.Run) int {
		return len(slices.DeleteFunc(slices.Clone(r.Kinds), func(k trial.Kind) bool { return k.Sort == trial.Never }))
	}
	runs := slices.DeleteFunc(report.Inside(t.frame...), func(r trial.Run) bool { return r.Before.IsBroken() })
	slices.SortStableFunc(runs, func(a, b trial.Run) int { return cmp.Compare(others(a), others(b)) })
	for _, r := range runs {
		if describeEnd(r.Before) != describeEnd(r.After) {
			return t.row(fmt.Sprintf("%s: with %s", t.about, r.Script), r)
		}
		if longest == nil || r.After.Lasts-r.Before.Lasts > longest.After.Lasts-longest.Before.Lasts {
			longest = &r
		}
	}
	if longest == nil || longest.After.Lasts <= longest.Before.Lasts {
		return ""
	}
	b, a := longest.Before, longest.After
	if b.Status == trial.PollsOn { // as far as the run went
		return fmt.Sprintf("%s: with %s, %d polls in %s -> %d in %s", t.about, longest.Script, b.Polls, spell(b.Lasts), a.Polls, spell(a.Lasts))
	}
	return fmt.Sprintf("%s: with %s, the machine %s after %s -> after %s", t.about, longest.Script, describeEnd(b), spell(b.Lasts), spell(a.Lasts))
}

// answersAtOnce tells whether a Task reads from a service. A function, an HTTP API or another machine may itself wait.
func answersAtOnce(s *asl.State, models typecheck.Models) bool {
	op, err := typecheck.FindOperation(s.Task.Resource, models)
	return err == nil && op != nil && op.Service.Key != "lambda" && asl.ParseResource(s.Task.Resource).Pattern == "" && !lint.RepeatsWrite(s)
}

// breaksOnPace tells whether a run shows that the old pace breaks the machine: its history is full at once.
func (t *candidate) breaksOnPace(report *trial.Report) bool {
	return t.atOnce && slices.ContainsFunc(report.Runs, func(r trial.Run) bool {
		return r.Before.Status == trial.Endless && r.After.Status != trial.Endless && r.IsIn(t.frame)
	})
}
