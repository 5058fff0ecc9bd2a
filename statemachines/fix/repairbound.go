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

// choiceEvents are those of a Choice.
const choiceEvents = 2

// bound are the edits that end a loop whose job does not end.
func (c *checked) bound(l *lint.Loop, o RepairOptions) []candidate {
	wait := l.Turn.Wait
	if wait < time.Second || len(l.Waits) != 1 || l.Turn.Events == 0 || strings.Contains(l.Poll.Position.Pointer, "/Iterator/") ||
		strings.Contains(l.Poll.Position.Pointer, "/ItemProcessor/") {
		return nil
	}
	events := l.Turn.Events
	if !slices.ContainsFunc(l.Choices, func(s *asl.State) bool { return slices.Contains(l.Turn.States, s.Choice.Default) }) {
		events += choiceEvents // a Choice more
	}
	polls := roomyEvents / events
	class := Sure
	if o.MaxWait > 0 {
		polls = max(1, int((o.MaxWait+wait-1)/wait))
	}
	b := &boundEdit{checked: c, loop: l, inside: map[string]bool{}, polls: polls, variable: c.newVariable()}
	for _, name := range l.Turn.States {
		b.inside[name] = true
	}
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
	inside         map[string]bool // states
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
	wait := b.loop.Waits[0]
	edits := b.begin(wait.QueryLanguage)
	last := b.last(wait)
	if edits == nil || last == nil {
		return nil
	}
	next := value(b.variable+".$", "States.MathAdd($"+b.variable+", 1)")
	if wait.QueryLanguage == asl.JSONata {
		next = value(b.variable, "{% $"+b.variable+" + 1 %}")
	}
	edits = append(edits, b.assign(wait.Position.Pointer, next))
	fail := value("Type", "Fail", "Error", errorName(b.loop, "TimedOut"), "Cause", fmt.Sprintf("the job did not end within %d polls", b.polls))
	return append(append(edits, last...), edit.Edit{Op: edit.Before, At: wait.Position.Pointer, Name: b.fail, Value: fail})
}

// begin sets the count to 0 on every way into the loop.
func (b *boundEdit) begin(language asl.QueryLanguage) []edit.Edit {
	var edits []edit.Edit
	add := func(pointer string) { edits = append(edits, b.assign(pointer, value(b.variable, 0))) }
	if b.inside[b.loop.Flow.StartAt] {
		return b.beginByPass()
	}
	for _, s := range b.loop.Flow.States {
		for _, way := range s.Transitions() {
			at := s.Position.Pointer
			switch {
			case b.inside[s.Name] || !b.inside[way.To]:
			case s.QueryLanguage != language:
				return nil
			case way.Kind == asl.TransitionCatch:
				add(fmt.Sprintf("%s/Catch/%d", at, way.Rule))
			case way.Kind == asl.TransitionRule:
				add(fmt.Sprintf("%s/Choices/%d", at, way.Rule))
			default: // Next, or a Default, whose Assign is the Choice's
				add(at)
			}
		}
	}
	if len(edits) > 2 { //nolint:mnd // a state of its own is less then
		return b.beginByPass()
	}
	return edits
}

// beginByPass leads every way into the loop through a state that sets the count.
func (b *boundEdit) beginByPass() []edit.Edit {
	var entry string
	var edits []edit.Edit
	name := b.newName("No polls yet")
	lead := func(at, to string) bool {
		if !b.inside[to] {
			return true
		}
		edits = append(edits, edit.Edit{Op: edit.Replace, At: at, Value: jsonOf(name)})
		one := entry == "" || entry == to
		entry = to
		return one
	}
	flow := strings.TrimSuffix(b.loop.Poll.Position.Pointer, "/States/"+escapePointer(b.loop.Poll.Name))
	if !lead(flow+"/StartAt", b.loop.Flow.StartAt) {
		return nil
	}
	for _, s := range b.loop.Flow.States {
		for _, way := range s.Transitions() {
			at := s.Position.Pointer + "/Next"
			switch way.Kind {
			case asl.TransitionCatch:
				at = fmt.Sprintf("%s/Catch/%d/Next", s.Position.Pointer, way.Rule)
			case asl.TransitionRule:
				at = fmt.Sprintf("%s/Choices/%d/Next", s.Position.Pointer, way.Rule)
			case asl.TransitionDefault:
				at = s.Position.Pointer + "/Default"
			}
			if !b.inside[s.Name] && !lead(at, way.To) {
				return nil
			}
		}
	}
	if entry == "" {
		return nil
	}
	pass := value("Type", "Pass", "Assign", jsonRaw(string(value(b.variable, 0))), "Next", entry)
	return append(edits, edit.Edit{Op: edit.Before, At: b.loop.Flow.State(entry).Position.Pointer, Name: name, Value: pass})
}

func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// assign adds to the Assign of a state, a rule or a catcher.
func (b *boundEdit) assign(pointer string, members []byte) edit.Edit {
	node := nodeAt(b.root, pointer)
	if old := node.Get("Assign"); old != nil && len(old.Members) > 0 {
		name, text, _ := strings.Cut(strings.Trim(string(members), "{}"), ": ")
		return edit.Edit{Op: edit.Append, At: pointer + "/Assign", Name: strings.Trim(name, `"`), Value: []byte(text)}
	}
	for _, before := range []string{"Next", "Default"} {
		if node.Get(before) != nil {
			return edit.Edit{Op: edit.Before, At: pointer + "/" + before, Name: "Assign", Value: members}
		}
	}
	return edit.Edit{Op: edit.Append, At: pointer, Name: "Assign", Value: members}
}

// last is the rule that ends the loop, behind all that leave it.
func (b *boundEdit) last(wait *asl.State) []edit.Edit {
	rule := func(next string) []byte {
		if wait.QueryLanguage == asl.JSONata {
			return value("Condition", fmt.Sprintf("{%% $%s >= %d %%}", b.variable, b.polls), "Next", next)
		}
		return value("Variable", "$"+b.variable, "NumericGreaterThanEquals", b.polls, "Next", next)
	}
	for _, s := range slices.Backward(b.loop.Choices) {
		if s.QueryLanguage != wait.QueryLanguage {
			continue
		}
		if s.Choice.Default != "" && b.inside[s.Choice.Default] {
			return []edit.Edit{{Op: edit.Append, At: s.Position.Pointer + "/Choices", Value: rule(b.fail)}}
		}
		var edits []edit.Edit
		again, to := b.newName(b.loop.Poll.Name+" again?"), ""
		for i, r := range s.Choice.Rules {
			if !b.inside[r.Next] || to != "" && r.Next != to {
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
