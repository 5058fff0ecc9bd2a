package fix

import (
	"fmt"
	"slices"
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

// bound are the edits that end a loop whose job does not end.
func (c *checked) bound(l *lint.Loop, o RepairOptions) []candidate {
	wait := l.Turn.Wait
	if wait < time.Second || len(l.Waits) != 1 || l.Turn.Events == 0 || strings.Contains(l.Poll.Position.Pointer, "/Iterator/") ||
		strings.Contains(l.Poll.Position.Pointer, "/ItemProcessor/") {
		return nil
	}
	polls := roomyEvents / l.Turn.Events
	class := Sure
	if o.MaxWait > 0 {
		polls = max(1, int((o.MaxWait+wait-1)/wait))
	}
	b := &boundEdit{checked: c, loop: l, polls: polls, variable: c.newVariable()}
	b.fail = c.newName(l.Poll.Name + " timed out")
	base := candidate{
		frame: []trial.Kind{{Task: l.Poll.Name, Sort: trial.Never}}, class: class,
		about: fmt.Sprintf("a job that has not ended after %d polls, %s", polls, time.Duration(polls)*wait),
		mended: func(r *trial.Run) bool {
			lost := slices.ContainsFunc(r.Differences, func(d trial.Difference) bool { return d.What == trial.Calls })
			return !lost && (r.After.Status == string(sim.StatusTimedOut) || failsByItself(r))
		},
	}
	var all []candidate
	for _, edits := range [][]edit.Edit{b.limit(time.Duration(polls) * wait), b.count()} {
		if edits != nil {
			base.edits = edits
			all = append(all, base)
		}
	}
	return all
}

// boundEdit makes the edits of a bound.
type boundEdit struct {
	*checked

	loop           *lint.Loop
	polls          int
	variable, fail string
}

// limit is a TimeoutSeconds of the machine, where the loop is its only long part and nothing
// cleans up behind it.
func (b *boundEdit) limit(after time.Duration) []edit.Edit {
	if len(b.loops) != 1 || b.loop.Flow.State(b.machine.StartAt) == nil || b.machine.TimeoutSeconds > 0 || b.machine.OpenTimeout {
		return nil
	}
	for s := range b.machine.All {
		inside := slices.Contains(b.loop.Turn.States, s.Name) || s == b.loop.Start
		if len(s.Catch) > 0 || len(s.Flows()) > 0 || s.Task != nil && !inside {
			return nil
		}
	}
	return []edit.Edit{{Op: edit.Behind, At: "/StartAt", Name: "TimeoutSeconds", Value: jsonOf(int64(after.Seconds()))}}
}

// count counts the polls.
func (b *boundEdit) count() []edit.Edit {
	entry := b.entry()
	wait := b.loop.Waits[0]
	if entry == nil || entry.QueryLanguage != wait.QueryLanguage {
		return nil
	}
	last := b.last(wait)
	if last == nil {
		return nil
	}
	next := value(b.variable+".$", "States.MathAdd($"+b.variable+", 1)")
	if wait.QueryLanguage == asl.JSONata {
		next = value(b.variable, "{% $"+b.variable+" + 1 %}")
	}
	edits := []edit.Edit{b.assign(entry, value(b.variable, 0)), b.assign(wait, next)}
	fail := value("Type", "Fail", "Error", errorName(b.loop, "TimedOut"), "Cause", fmt.Sprintf("the job did not end within %d polls", b.polls))
	return append(append(edits, last...), edit.Edit{Op: edit.Before, At: wait.Position.Pointer, Name: b.fail, Value: fail})
}

// assign adds to the Assign of a state.
func (b *boundEdit) assign(s *asl.State, members []byte) edit.Edit {
	node := nodeAt(b.root, s.Position.Pointer)
	if old := node.Get("Assign"); old != nil && len(old.Members) > 0 {
		name, text, _ := strings.Cut(strings.Trim(string(members), "{}"), ": ")
		return edit.Edit{Op: edit.Append, At: s.Position.Pointer + "/Assign", Name: strings.Trim(name, `"`), Value: []byte(text)}
	}
	before := "Next"
	if node.Get(before) == nil {
		before = "Type"
	}
	return edit.Edit{Op: edit.Before, At: s.Position.Pointer + "/" + before, Name: "Assign", Value: members}
}

// entry is the one state that leads into the loop, by its Next alone; nil if there is none.
func (b *boundEdit) entry() *asl.State {
	inside := map[string]bool{}
	for _, name := range b.loop.Turn.States {
		inside[name] = true
	}
	if inside[b.loop.Flow.StartAt] {
		return nil
	}
	var found *asl.State
	for _, s := range b.loop.Flow.States {
		if inside[s.Name] {
			continue
		}
		for _, way := range s.Transitions() {
			if !inside[way.To] {
				continue
			}
			if found != nil || s.Next != way.To || s.Type == asl.TypeChoice {
				return nil
			}
			found = s
		}
	}
	return found
}

// last is the rule that ends the loop, behind all that leave it.
func (b *boundEdit) last(wait *asl.State) []edit.Edit {
	rule := func(next string) []byte {
		if wait.QueryLanguage == asl.JSONata {
			return value("Condition", fmt.Sprintf("{%% $%s >= %d %%}", b.variable, b.polls), "Next", next)
		}
		return value("Variable", "$"+b.variable, "NumericGreaterThanEquals", b.polls, "Next", next)
	}
	inside := map[string]bool{}
	for _, name := range b.loop.Turn.States {
		inside[name] = true
	}
	for _, s := range slices.Backward(b.loop.Choices) {
		if s.QueryLanguage != wait.QueryLanguage {
			continue
		}
		if s.Choice.Default != "" && inside[s.Choice.Default] {
			return []edit.Edit{{Op: edit.Append, At: s.Position.Pointer + "/Choices", Value: rule(b.fail)}}
		}
		var edits []edit.Edit
		again, to := b.newName(b.loop.Poll.Name+" again?"), ""
		for i, r := range s.Choice.Rules {
			if !inside[r.Next] || to != "" && r.Next != to {
				continue
			}
			to = r.Next
			edits = append(edits, edit.Edit{Op: edit.Replace, At: fmt.Sprintf("%s/Choices/%d/Next", s.Position.Pointer, i), Value: jsonOf(again)})
		}
		if edits == nil {
			continue
		}
		choice := value("Type", "Choice", "Choices", jsonRaw("["+string(rule(b.fail))+"]"), "Default", to)
		return append(edits, edit.Edit{Op: edit.Before, At: wait.Position.Pointer, Name: again, Value: choice})
	}
	return nil
}

// newVariable is a name that no variable of the machine has.
func (c *checked) newVariable() string {
	text := string(asl.Print(c.machine))
	free := "polls"
	for n := 2; strings.Contains(text, "$"+free) || strings.Contains(text, `"`+free); n++ {
		free = fmt.Sprintf("polls%d", n)
	}
	return free
}
