package fix

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
)

// begin sets the variable on every way into the loop.
func (b *boundEdit) begin(first []byte) []edit.Edit {
	var edits []edit.Edit
	add := func(pointer string) { edits = append(edits, b.assign(pointer, first)) }
	if b.pool > 0 {
		return b.beginCommon(first)
	}
	if b.inside[b.loop.Flow.StartAt] {
		return b.beginByPass(first)
	}
	for _, s := range b.loop.Flow.States {
		for _, way := range s.Transitions() {
			at := s.Position.Pointer
			switch {
			case !b.inside[way.To] || b.turns(s, way):
			case s.QueryLanguage != b.language:
				return b.beginByPass(first)
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
		return b.beginByPass(first)
	}
	return edits
}

// beginByPass leads every way into the loop through a state that sets the variable: one for each
// state that the loop begins at.
func (b *boundEdit) beginByPass(first []byte) []edit.Edit {
	var leads, states []edit.Edit
	names := map[string]string{} // of these states, by where they lead
	lead := func(at, to string) {
		if !b.inside[to] {
			return
		}
		if names[to] == "" {
			names[to] = b.newName("No polls yet")
			if len(names) > 1 {
				names[to] = b.newName("No polls yet before " + to)
			}
			pass := b.newState("Type", "Pass", "Assign", json.RawMessage(first), "Next", to)
			states = append(states, edit.Edit{Op: edit.Before, At: b.loop.Flow.State(to).Position.Pointer, Name: names[to], Value: pass})
		}
		leads = append(leads, edit.Edit{Op: edit.Replace, At: at, Value: jsonOf(names[to])})
	}
	flow := strings.TrimSuffix(b.loop.Poll.Position.Pointer, "/States/"+escapePointer(b.loop.Poll.Name))
	lead(flow+"/StartAt", b.loop.Flow.StartAt)
	for _, s := range b.loop.Flow.States {
		for _, way := range s.Transitions() {
			if !b.turns(s, way) {
				lead(targetPointer(s, way), way.To)
			}
		}
	}
	return append(leads, states...)
}

// newState writes a state in the language of the loop.
func (b *boundEdit) newState(members ...any) []byte {
	if b.language != b.machine.QueryLanguage {
		members = append([]any{"QueryLanguage", string(b.language)}, members...)
	}
	return value(members...)
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

// canCountInCommon tells whether the variable of all loops is free, or theirs.
func (b *boundEdit) canCountInCommon() bool {
	return b.beginsCommon() || !bytes.Contains(b.file, []byte(historyVariable))
}

// beginsCommon tells whether the first state of the machine sets that variable.
func (b *boundEdit) beginsCommon() bool {
	start := b.machine.State(b.machine.StartAt)
	set := nodeAt(b.root, start.Position.Pointer).Get("Assign")
	return start.Type == asl.TypePass && set != nil && set.Get(historyVariable) != nil
}

// beginCommon sets it, once.
func (b *boundEdit) beginCommon(first []byte) []edit.Edit {
	if b.beginsCommon() {
		return []edit.Edit{}
	}
	name, start := b.newName("No polls yet"), b.machine.State(b.machine.StartAt)
	pass := value("Type", "Pass", "Assign", json.RawMessage(first), "Next", start.Name)
	return []edit.Edit{
		{Op: edit.Replace, At: "/StartAt", Value: jsonOf(name)},
		{Op: edit.Before, At: start.Position.Pointer, Name: name, Value: pass},
	}
}
