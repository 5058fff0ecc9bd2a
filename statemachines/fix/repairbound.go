package fix

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// roomyEvents are how many events of a history a loop may fill by default: the others are for
// retries, and for what comes before and after.
const roomyEvents = 23_000

// usualItems are for how many items of a Map a bound leaves room.
const usualItems = 10

// usualRounds are for how many rounds of an outer loop a bound leaves room, where the definition
// does not say how many there are.
const usualRounds = 10

// choiceEvents are those of a Choice.
const choiceEvents = 2

// usualWait is what a trial gives a Wait that a placeholder sets.
const usualWait = 30 * time.Second

// bound are the edits that end a loop whose job does not end, the smallest first.
func (c *checked) bound(l *lint.Loop, r *repairer) []candidate {
	if l.Retries {
		return c.limitRetries(l, r)
	}
	// The numbers that let a job run longer come first: they do where no error is retried in each turn.
	lost := []int{0}
	if retries := c.retriesOfLap(l); retries > 0 {
		lost = append(lost, retries)
	}
	var failures, all []candidate
	for _, retries := range lost {
		failures = append(failures, c.boundFailures(l, r, retries)...)
		all = append(all, c.boundOf(l, r, retries)...)
	}
	return append(failures, all...)
}

// boundOf are the edits for turns in which retries take so many events.
func (c *checked) boundOf(l *lint.Loop, r *repairer, retries int) []candidate {
	if len(l.Waits) == 0 || l.Turn.Events == 0 {
		return nil
	}
	b := c.newBound(l)
	b.retries = retries
	events, room := b.lapEvents(), r.all.roomOf(l.Poll.Name)
	turns := room.events / events
	b.fail = c.newName(l.Poll.Name + " timed out")
	base := candidate{frame: []trial.Kind{{Task: l.Poll.Name, Sort: trial.Never}}, class: Sure, mended: endsByItself, excuses: pollsOn}
	base.counts = l.Bound.Running == nil || l.Bound.Running.Kind == lint.Unbounded
	if l.Flow != &c.machine.Flow {
		base.class = Offered // its Fail ends what runs beside it
	}
	most := r.options.MaxWait
	switch {
	case most > 0 || room.events == roomyEvents: // the number is the user's, or the history's
	case room.pool > 0 && b.canCountInCommon():
		b.step, b.pool = events, room.pool
		turns = b.pool / events
		if room.pool < roomyEvents {
			base.also = room.String()
		}
	default:
		base.class, base.also = Offered, room.String() // the others may need less
	}
	if l.Bound.Idle != "" && most == 0 {
		base.class, base.also = Offered, l.Bound.Idle+": if that is its bound, mend it instead"
	}
	if choice, count := b.brokenCount(); l.Bound.Idle == "" && count != "" && most == 0 {
		base.class = Offered
		base.also = fmt.Sprintf("%q compares %s, and that does not bound the loop: if it is meant to, mend it instead", choice, count)
	}
	if b.pollsSeveral() {
		base.class, base.also = Offered, "the loop polls one job after another, and all of them share this bound"
	}
	switch {
	case most == 0 && r.lacksRoom(b):
		return nil
	case !b.countsTime():
		return b.deadlines(base, turns, r)
	case most > 0:
		turns = max(1, int((most+b.wait-1)/b.wait))
		if room.items > 0 {
			base.also = itemsThatFill(roomyEvents / events / turns)
		}
	}
	if b.timed = turns; most == 0 && b.pool == 0 {
		b.timed = room.events / (longestLap(l) + retries)
	}
	return b.counts(base, turns, r)
}

// counts are the edits that end a loop by the number of its polls, or by the time that they
// take: so many turns.
func (b *boundEdit) counts(base candidate, turns int, r *repairer) []candidate {
	byTime, limit := base, time.Duration(b.timed)*b.wait
	inTime := b.timed // a poll at the very end of the time comes too late
	if b.isWaitFirst() {
		inTime--
	}
	byTime.about, byTime.failing = notEndedAfter(inTime, limit-b.wait), "calls of %s that still fail after "+spell(limit)
	b.polls = turns
	after := time.Duration(turns) * b.wait
	switch {
	case b.isWaitFirst():
	case r.options.MaxWait > 0: // the first poll takes no time
		b.polls++
	default:
		after -= b.wait
	}
	base.about, base.failing = notEndedAfter(b.polls, after), fmt.Sprintf("calls of %%s that still fail after %s polls", thousands(b.polls))
	if b.beginsBoth() {
		base.about, b.lasts = "a job that has not ended after "+spell(after), after
	}
	if b.variable = b.newVariable("polls"); b.pool > 0 {
		b.variable, base.failing = historyVariable, ""
		base.about = fmt.Sprintf("the loops have used %s of %s events; this loop polls %s times at most",
			thousands(b.pool), thousands(asl.MaxEvents), thousands(b.polls))
	}
	forms := [][]edit.Edit{b.countInFront()}
	if slices.ContainsFunc(b.choices, b.judges) {
		forms = [][]edit.Edit{b.countInChoice(), b.count()}
	}
	all := b.bySize(base, r, forms...)
	if inTime > 0 {
		all = append(b.bySize(byTime, r, b.limit(limit)), all...)
	}
	slices.SortStableFunc(all, smallerFirst)
	return all
}

func notEndedAfter(polls int, after time.Duration) string {
	return fmt.Sprintf("a job that has not ended after %s polls, %s", thousands(polls), spell(after))
}

// newBound reads a loop that has a Wait.
func (c *checked) newBound(l *lint.Loop) *boundEdit {
	b := &boundEdit{checked: c, loop: l, wait: l.Turn.Wait, language: l.Waits[0].QueryLanguage}
	b.findInside()
	if b.choices = l.Choices; len(b.choices) == 0 { // they read no status
		b.choices = slices.DeleteFunc(slices.Clone(l.Flow.States), func(s *asl.State) bool { return s.Choice == nil || !b.inside[s.Name] })
	}
	return b
}

// lapEvents is how many events a turn of the loop takes at most, with its bound.
func (b *boundEdit) lapEvents() int {
	if b.countsTime() && slices.ContainsFunc(b.choices, b.takesRule) {
		return longestLap(b.loop) + b.retries
	}
	return longestLap(b.loop) + b.retries + choiceEvents // a Choice more
}

// lacksRoom tells whether the history has no room for a turn of a loop, in each item of its Map
// if it is in one.
func (r *repairer) lacksRoom(b *boundEdit) bool {
	return r.all.roomOf(b.loop.Poll.Name).events < b.lapEvents()
}

// longestLap is how many events one turn of a loop takes at most.
func longestLap(l *lint.Loop) int {
	events := l.Turn.Events
	for _, lap := range l.Laps {
		events = max(events, lap.Events)
	}
	return events
}

// attemptEvents are those of a call that fails and is made again.
const attemptEvents = 3

// retriesOfLap is how many events the retries of a call take in each turn of one that fails for
// ever, where a Catch leads back.
func (c *checked) retriesOfLap(l *lint.Loop) int {
	b := &boundEdit{checked: c, loop: l}
	b.findInside()
	most := int64(0)
	for _, s := range l.Flow.States {
		if b.inside[s.Name] && slices.ContainsFunc(s.Catch, func(k asl.Catcher) bool { return b.inside[k.Next] }) {
			for _, retrier := range s.Retry {
				most = max(most, min(retrier.MaxAttempts, asl.MaxEvents))
			}
		}
	}
	return int(most) * attemptEvents
}

// pollsOn tells of a run that it polls until its history is full.
func pollsOn(r *trial.Run) bool { return r.Before.Status == trial.PollsOn }

// endsByItself tells that the bound of a loop ends a run, and takes no call away but for those of further laps of a loop
// that runs beside it.
func endsByItself(r *trial.Run) bool {
	lost := slices.ContainsFunc(r.Differences, func(d trial.Difference) bool { return d.What == trial.Calls && !endsLapsBeside(d) })
	return !lost && (r.After.Status == string(sim.StatusTimedOut) || failsByItself(r))
}

// endsLapsBeside tells whether a difference is a call of a further lap that another flow no longer gets to.
func endsLapsBeside(d trial.Difference) bool { return d.Beside && d.Again }

// rowOfLapsBeside says which Tasks of loops beside it a bound ends; empty for none.
func rowOfLapsBeside(report *trial.Report) string {
	var tasks []string
	for _, r := range report.Runs {
		for _, d := range r.Differences {
			if name := strconv.Quote(d.Task); endsLapsBeside(d) && failsByItself(&r) && !slices.Contains(tasks, name) {
				tasks = append(tasks, name)
			}
		}
	}
	if tasks == nil {
		return ""
	}
	return "; that ends the calls of " + strings.Join(tasks, " and ") + " beside it"
}

// boundEdit makes the edits of a bound.
type boundEdit struct {
	*checked

	loop           *lint.Loop
	choices        []*asl.State    // that leave it
	inside         map[string]bool // states
	timed          int             // turns of TimeoutSeconds, which adds no state
	asked          asked           // which job it polls
	wait           time.Duration   // between two polls
	lasts          time.Duration   // that the polls take at least; 0 where they are said
	polls, retries int             // retries are the events of those in each turn
	step, pool     int             // events of a turn, and of all loops together; 0 where it counts its own polls
	language       asl.QueryLanguage
	variable, fail string
}

// countsTime tells that a number of polls says how long they take: each waits as long.
func (b *boundEdit) countsTime() bool { return waitsAlike(b.loop) }

// waitsAlike tells whether a loop has one Wait, of a known number of seconds.
func waitsAlike(l *lint.Loop) bool {
	return len(l.Waits) == 1 && l.Turn.Wait >= time.Second && l.Steady[l.Waits[0]] > 0
}

// bySize are the candidates of edits, by how many lines of the text change.
func (b *boundEdit) bySize(base candidate, r *repairer, forms ...[]edit.Edit) []candidate {
	var all []candidate
	for _, edits := range forms {
		if edits == nil {
			continue
		}
		edits = b.tellLast(edits, r)
		after, err := edit.Apply(b.file, r.read, edits...)
		if err != nil {
			continue
		}
		base.edits, base.after, base.size = edits, after, changedLines(b.file, after)
		all = append(all, base)
	}
	slices.SortStableFunc(all, smallerFirst)
	return all
}

func smallerFirst(a, b candidate) int { return cmp.Compare(a.size, b.size) }

// changedLines are how many lines a diff takes away and adds.
func changedLines(before, after []byte) int {
	n := -2 // the names of both
	for line := range strings.SplitSeq(Diff("", "", before, after), "\n") {
		if strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") {
			n++
		}
	}
	return n
}

// limit is a TimeoutSeconds of the machine, where the loop is its only long part, comes once for
// one job, and nothing cleans up behind it.
func (b *boundEdit) limit(after time.Duration) []edit.Edit {
	if b.loop.Flow.State(b.machine.StartAt) == nil || b.machine.TimeoutSeconds > 0 || b.machine.OpenTimeout || b.comesBack(nil) || b.pollsSeveral() {
		return nil
	}
	for s := range b.machine.All {
		inside := slices.Contains(b.loop.Turn.States, s.Name) || s == b.loop.Start
		if len(s.Catch) > 0 || len(s.Flows()) > 0 || (s.Task != nil && !sendsMessage(s) || s.Wait != nil) && !inside {
			return nil
		}
	}
	return []edit.Edit{{Op: edit.Behind, At: "/StartAt", Name: "TimeoutSeconds", Value: jsonOf(int64(after.Seconds()))}}
}

// sendsMessage tells whether a Task sends a message, once: it neither lasts nor cleans up.
func sendsMessage(s *asl.State) bool {
	r := asl.ParseResource(s.Task.Resource)
	return r.Pattern == "" && len(s.Retry) == 0 && slices.Contains([]string{"sns", "sqs", "events"}, r.ServiceName())
}

// count counts the polls in the Wait, which may come after the first of them.
func (b *boundEdit) count() []edit.Edit {
	waits := b.polls
	if !b.isWaitFirst() {
		waits--
	}
	return b.countAt(b.loop.Waits[0].Position.Pointer, waits)
}

// countInChoice counts them where the Choice polls on by its Default.
func (b *boundEdit) countInChoice() []edit.Edit {
	for _, s := range slices.Backward(b.choices) {
		if b.inside[s.Choice.Default] && !b.goesOnByRule(s) && s.QueryLanguage == b.language {
			return b.countAt(s.Position.Pointer, b.polls-1)
		}
	}
	return nil
}

// countAt counts in a state, up to a number.
func (b *boundEdit) countAt(pointer string, most int) []edit.Edit {
	first, next, rule := b.counter(most)
	begin, last := b.begin(first), b.last(rule)
	if begin == nil || last == nil {
		return nil
	}
	edits := slices.Concat(begin, []edit.Edit{b.assign(pointer, next)}, last)
	return append(edits, b.failAfterPolls())
}

// counter is what sets a variable, what counts in it, and the rule that looks at it.
func (b *boundEdit) counter(most int) (first, next, rule []byte) {
	step := 1
	if b.pool > 0 {
		step, most = b.step, most*b.step
	}
	if b.language == asl.JSONata {
		return value(b.variable, 0), value(b.variable, fmt.Sprintf("{%% $%s + %d %%}", b.variable, step)),
			value("Condition", fmt.Sprintf("{%% $%s >= %d %%}", b.variable, most), "Next", b.fail)
	}
	return value(b.variable, 0), value(b.variable+".$", fmt.Sprintf("States.MathAdd($%s, %d)", b.variable, step)),
		value("Variable", "$"+b.variable, "NumericGreaterThanEquals", most, "Next", b.fail)
}

func (b *boundEdit) failAfterPolls() edit.Edit {
	if b.pool > 0 {
		return b.failState("the job did not end before the history was nearly full")
	}
	if b.lasts > 0 {
		return b.failState("the job did not end within " + spell(b.lasts))
	}
	return b.failState(fmt.Sprintf("the job did not end within %s polls", thousands(b.polls)))
}

// failState is the Fail that the bound leads to.
func (b *boundEdit) failState(cause string) edit.Edit {
	fail := value("Type", "Fail", "Error", errorName(b.loop, "TimedOut"), "Cause", cause)
	return edit.Edit{Op: edit.Before, At: b.loop.Waits[0].Position.Pointer, Name: b.fail, Value: fail}
}

// last puts the rule that ends the loop behind all that leave it, where each way around
// comes to it.
func (b *boundEdit) last(rule []byte) []edit.Edit {
	choice := func(to string) []byte {
		return b.newState("Type", "Choice", "Choices", json.RawMessage("["+string(rule)+"]"), "Default", to)
	}
	for _, s := range slices.Backward(b.choices) {
		if !b.judges(s) {
			continue
		}
		if b.takesRule(s) {
			return []edit.Edit{{Op: edit.Append, At: s.Position.Pointer + "/Choices", Value: rule}}
		}
		if edits := b.lookAgain(s, choice); edits != nil {
			return edits
		}
	}
	if s := b.meeting(); s != nil && !slices.ContainsFunc(b.choices, b.judges) {
		return b.lookBefore(s, choice)
	}
	return nil
}

// lookAgain leads the ways from a Choice to its loop through another one.
func (b *boundEdit) lookAgain(s *asl.State, choice func(to string) []byte) []edit.Edit {
	var edits []edit.Edit
	again, to := b.newName(b.loop.Poll.Name+" again?"), ""
	for _, way := range s.Transitions() {
		if b.turns(s, way) && (to == "" || way.To == to) {
			to = way.To
			edits = append(edits, edit.Edit{Op: edit.Replace, At: targetPointer(s, way), Value: jsonOf(again)})
		}
	}
	if edits == nil {
		return nil
	}
	return append(edits, edit.Edit{Op: edit.Before, At: b.loop.Waits[0].Position.Pointer, Name: again, Value: choice(to)})
}

// newVariable is a name that no variable of the machine has.
func (c *checked) newVariable(name string) string {
	text := string(asl.Print(c.machine))
	free := name
	for n := 2; strings.Contains(text, "$"+free) || strings.Contains(text, `"`+free); n++ {
		free = fmt.Sprintf("%s%d", name, n)
	}
	return free
}

// thousands writes a number with commas.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
