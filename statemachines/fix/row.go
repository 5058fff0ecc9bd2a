package fix

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// sortRuns puts runs without failing calls first: the line describes such a run if there is one.
func sortRuns(runs []trial.Run) []trial.Run {
	rank := func(r trial.Run) int { return min(1, len(failingTask(&r))) }
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b trial.Run) int { return cmp.Compare(rank(a), rank(b)) })
	return runs
}

// underScript says in front of how a run ends which answers it got.
func underScript(r *trial.Run) string {
	if r.Script == trial.AllWell {
		return "where " + r.Script
	}
	return "with " + r.Script
}

// failingTask is the Task whose calls fail in a run; empty if none do.
func failingTask(r *trial.Run) string {
	for _, k := range r.Kinds {
		if k.Sort == trial.Fails {
			return k.Task
		}
	}
	return ""
}

// lineOf is what the line about a run begins with.
func (t *candidate) lineOf(r *trial.Run) string {
	switch task := failingTask(r); {
	case task == "" || t.failing == "":
		return t.about
	case t.counts:
		return fmt.Sprintf("%s, or calls of %s that still fail then", t.about, task)
	default:
		return fmt.Sprintf(t.failing, task)
	}
}

// failsAlone tells whether calls that fail for ever are all that shows a bound which ends a job that runs, too: no run
// shows how such a job ends today.
func (t *candidate) failsAlone(report *trial.Report) bool {
	return t.counts && !slices.ContainsFunc(report.Runs, func(r trial.Run) bool { return failingTask(&r) == "" && pollsOn(&r) && t.mended(&r) })
}

// isAbout tells whether the line of a candidate is about a run.
func (t *candidate) isAbout(r *trial.Run) bool { return t.of == nil || r.IsIn(t.of) }

// row says how the first of some runs ends before and after it, with the errors of the others that end as it does.
func (t *candidate) row(about string, runs ...trial.Run) string {
	before := t.describeEnds(runs, func(r *trial.Run) trial.Outcome { return t.endOf(r, r.Before, r.After) })
	after := cmp.Or(t.does, t.describeEnds(runs, func(r *trial.Run) trial.Outcome { return t.endOf(r, r.After, r.Before) }))
	return fmt.Sprintf("%s: %s -> %s", about, before, after)
}

// rowsOfOtherEnds say of statuses of the frame how they ended before, where that is not as in the first of some runs, which a
// line tells of: a status that failed is no other one that succeeded.
func (t *candidate) rowsOfOtherEnds(line string, runs []trial.Run) string {
	if t.does != "" || t.respells || t.wrong != "" || failingTask(&runs[0]) != "" {
		return ""
	}
	told := []string{endedAt(&runs[0])}
	var b strings.Builder
	for i := range runs {
		r := &runs[i]
		alone := !slices.ContainsFunc(r.Kinds, func(k trial.Kind) bool {
			return k.Sort != trial.Status || !(&trial.Run{Kinds: []trial.Kind{k}}).IsIn(t.frame)
		})
		if ends := endedAt(r); len(r.Kinds) > 0 && alone && !slices.Contains(told, ends) {
			told = append(told, ends)
			if row := t.row("", *r); !strings.HasSuffix(line, row) {
				b.WriteString("; status " + r.Kinds[len(r.Kinds)-1].Value + row)
			}
		}
	}
	return b.String()
}

// endedAt is how the first machine of a run ended by the last answer that both got.
func endedAt(r *trial.Run) string {
	switch {
	case breaks(r.Before), r.Before.Asked != r.After.Asked:
		return trial.PollsOn // or it broke, which a repair is for
	default:
		return r.Before.Status
	}
}

// leavesOutCall tells whether a machine that ends by the same answers in the same way no longer makes a call, but for those
// of a Task that is retried less often: it is a step of the user's own on that way.
func leavesOutCall(r *trial.Run, retried string) bool {
	return r.Before.Polls == r.After.Polls && (failsByItself(&trial.Run{After: r.Before}) && failsByItself(r) ||
		r.Before.Status == string(sim.StatusSucceeded) && succeeds(r)) &&
		slices.ContainsFunc(r.Differences, func(d trial.Difference) bool { return isCallLeftOut(d) && d.Task != retried })
}

// isAnsweredBy tells whether a poll of a run answers one of some statuses.
func isAnsweredBy(r *trial.Run, statuses []string) bool {
	return slices.ContainsFunc(r.Kinds, func(k trial.Kind) bool { return slices.Contains(statuses, k.Value) })
}

// callsLeftOut says which Tasks a failure no longer leads to where the execution succeeded behind them, and no success leads
// to them; empty for none.
func (c *checked) callsLeftOut(report *trial.Report, f lint.Finding) string {
	l := c.loopOf(c.stateAt(f))
	if l == nil || l.Poll == nil {
		return ""
	}
	var left []string
	for i := range report.Runs {
		r := &report.Runs[i]
		if r.Before.Status != string(sim.StatusSucceeded) || r.Before.Polls != r.After.Polls || !failsByItself(r) {
			continue
		}
		for _, d := range r.Differences {
			if isCallLeftOut(d) && !slices.Contains(left, strconv.Quote(d.Task)) && !isBehindSuccess(l, d.Task) {
				left = append(left, strconv.Quote(d.Task))
			}
		}
	}
	if left == nil {
		return ""
	}
	return "; " + strings.Join(left, ", ") + " is not called any more"
}

// isBehindSuccess tells whether a success of a loop may lead to a state.
func isBehindSuccess(l *lint.Loop, name string) bool {
	to := l.Flow.State(name)
	return to == nil || slices.ContainsFunc(l.Rows, func(row lint.Row) bool {
		return row.Meaning == lint.MeansSuccess && slices.ContainsFunc(row.Routes, func(route string) bool {
			return route == name || l.Flow.Leads(l.Flow.State(route), to)
		})
	})
}

func isCallLeftOut(d trial.Difference) bool {
	return d.Task != "" && !d.Beside
}

// endOf is how one of the machines of a run ends by the answer that the line is about.
func (t *candidate) endOf(r *trial.Run, own, other trial.Outcome) trial.Outcome {
	switch {
	case t.goesOn && asksOn(r) && (&trial.Run{Kinds: []trial.Kind{r.Left}}).IsIn(t.frame):
		return endAt(own, other)
	case t.goesOn:
		return endOfAnswer(own, other)
	default:
		return own
	}
}

// describeEnds says how the first of some runs ends. Where it fails by an error of the machine's own, each of the line's
// statuses may have another one.
func (t *candidate) describeEnds(runs []trial.Run, of func(*trial.Run) trial.Outcome) string {
	first := of(&runs[0])
	if first.Status != string(sim.StatusFailed) || first.IsBroken() || first.Error == "" {
		return describeEnd(first)
	}
	names := []string{first.Error}
	for i := range runs {
		r := &runs[i]
		end, last := of(r), trial.Run{Kinds: r.Kinds[max(0, len(r.Kinds)-1):]}
		if last.IsIn(t.frame) && failingTask(r) == "" && end.Status == first.Status && !end.IsBroken() && !slices.Contains(names, end.Error) {
			names = append(names, end.Error)
		}
	}
	if len(names) == 1 {
		return describeEnd(first)
	}
	return "fails " + strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// rowOfPast says that a run does not break by what is mended, and breaks by another member that its answer
// lacks, in the same state or behind it.
func rowOfPast(about string, r *trial.Run) string {
	return fmt.Sprintf("%s: %s -> does not fail by that any more; if the answer lacks another member, too, it still %s",
		about, describeEnd(r.Before), describeEnd(r.After))
}

// mostShown is how much of a cause or an output a line shows.
const mostShown = 120

// rowOfData says what a machine tells otherwise where each run ends as before: the cause of a
// failure, the output, or a call.
func (t *candidate) rowOfData(report *trial.Report) (about string, ok bool) {
	short := func(text string) string {
		if all := []rune(text); len(all) > mostShown {
			return string(all[:mostShown]) + "..."
		}
		return text
	}
	runs := report.Outside()
	i := slices.IndexFunc(runs, func(r trial.Run) bool { return !breaks(r.Before) && !breaks(r.After) })
	if i < 0 {
		return "", false
	}
	d := runs[i].Differences[0]
	return fmt.Sprintf("%s: with %s, the %s %s -> %s", t.about, runs[i].Script, d.What, short(d.Before), short(d.After)), true
}

// rowOfWrong says how runs with the wrong word end, if they end otherwise than before.
func (t *candidate) rowOfWrong(report *trial.Report) string {
	for _, run := range report.Outside() {
		is := func(k trial.Kind) bool { return k.Sort == trial.Status && k.Value == t.wrong }
		elsewhere := !is(run.Left) // the machines part at another answer
		if t.wrong != "" && slices.ContainsFunc(run.Kinds, is) && !elsewhere && describeEnd(run.Before) != describeEnd(run.After) {
			later := *t
			later.does, later.goesOn = "", true
			return "; " + later.row("status "+t.wrong, run)
		}
	}
	return ""
}

// succeedsWithout tells whether an answer at which a run broke makes it succeed.
func succeedsWithout(r *trial.Run) bool {
	return r.Before.IsBroken() && succeeds(r) && r.After.Polls == r.Before.Polls
}

// rowsOfEnds say how runs end that broke at an answer without a member: at that answer, or later.
// The first such answer ends as the line says already.
func (c *checked) rowsOfEnds(report *trial.Report, end string) string {
	type row struct{ status, end string }
	var lacking, later []row
	for i := range report.Runs {
		r := &report.Runs[i]
		status, alone := lastStatus(r)
		if status == "" || !r.Before.IsBroken() || r.After.IsBroken() || r.After.Status == trial.PollsOn {
			continue
		}
		ends := row{status, describeEnd(r.After)}
		switch {
		case r.After.Polls == r.Before.Polls && ends.end != end:
			lacking = append(lacking, ends)
		case r.After.Polls != r.Before.Polls && alone && c.isEndOfJob(status): // else a later answer ends it
			later = append(later, ends)
		}
	}
	later = slices.DeleteFunc(later, func(r row) bool { return slices.Contains(lacking, r) })
	var b strings.Builder
	write := func(rows []row, before, after string) {
		statuses := map[string][]string{} // by ends
		for _, r := range rows {
			if !slices.Contains(statuses[r.end], r.status) {
				statuses[r.end] = append(statuses[r.end], r.status)
			}
		}
		for _, end := range slices.Sorted(maps.Keys(statuses)) {
			fmt.Fprintf(&b, "; %s%s%s -> %s", before, strings.Join(statuses[end], " or "), after, end)
		}
	}
	write(lacking, "", " without the member")
	write(later, "a job that ends ", "")
	return b.String()
}

// endsAsJob tells whether a run ends as its job, and ended otherwise before: it succeeds where all
// goes well, and fails by itself where the job does.
func (c *checked) endsAsJob(r *trial.Run) bool {
	goesWell := succeeds(r) && (r.Before.Status != r.After.Status || r.Before.Polls != r.After.Polls)
	if len(r.Kinds) == 0 {
		return goesWell
	}
	switch last := r.Kinds[len(r.Kinds)-1]; {
	case slices.ContainsFunc(r.Kinds, func(k trial.Kind) bool { return k.Sort == trial.Silent || k.Sort == trial.Items }):
		return false
	case last.Sort == trial.Never:
		return !succeeds(r) && !r.After.IsBroken()
	case last.Sort == trial.Fails:
		return goesWell || r.After.Status == string(sim.StatusFailed) && r.After.Error == last.Value
	case c.means(last, lint.MeansFailure):
		return failsByItself(r)
	case c.means(last, lint.MeansSuccess):
		return goesWell
	default: // the machine says what it is
		return !r.After.IsBroken()
	}
}

// rowsOfFailures say how runs end whose jobs fail or never end, where they ended otherwise.
func (c *checked) rowsOfFailures(report *trial.Report) string {
	jobs := map[string][]string{} // by ends
	for i := range report.Runs {
		r := &report.Runs[i]
		before, after := describeEnd(r.Before), describeEnd(r.After)
		if before == after || len(r.Kinds) == 0 {
			continue
		}
		var job string
		switch last := r.Kinds[len(r.Kinds)-1]; {
		case last.Sort == trial.Status && c.means(last, lint.MeansFailure) && (failsByItself(r) || !c.endsAsWritten(r)): // else its bound is over before
			job = "status " + last.Value
		case last.Sort == trial.Never:
			job = "a job that stays " + last.Value
		default:
			continue
		}
		if ends := before + " -> " + after; !slices.Contains(jobs[ends], job) {
			jobs[ends] = append(jobs[ends], job)
		}
	}
	var b strings.Builder
	for _, ends := range slices.Sorted(maps.Keys(jobs)) {
		fmt.Fprintf(&b, "; %s: %s", strings.Join(jobs[ends], ", "), ends)
	}
	return b.String()
}

// lastStatus is the status of the last answer of a run that is not the usual one, and whether
// nothing else is named of that; empty if it is not known, or if an answer has two.
func lastStatus(r *trial.Run) (status string, alone bool) {
	if slices.ContainsFunc(r.Kinds, func(k trial.Kind) bool { return k.Sort == trial.Items }) {
		return "", false
	}
	for _, k := range slices.Backward(r.Kinds) {
		if k.Sort == trial.Status && !strings.Contains(k.Value, trial.UnknownValue) && !strings.Contains(k.Value, " absent") {
			members := strings.Split(k.Value, ", ")
			slices.SortFunc(members, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
			return members[0][strings.LastIndex(members[0], " ")+1:], len(members) == 1
		}
	}
	return "", false
}

// isEndOfJob tells whether a job that has a status has ended. One status may be of several ends,
// such as STOPPED-failure.
func (c *checked) isEndOfJob(status string) bool {
	return slices.ContainsFunc(c.loops, func(l lint.Loop) bool {
		return slices.ContainsFunc(l.Rows, func(r lint.Row) bool {
			return r.Meaning != lint.MeansUnknown && !isGoing(r.Meaning) && slices.ContainsFunc(r.Values, func(v string) bool {
				return status == v || strings.HasPrefix(status, v+"-")
			})
		})
	})
}
