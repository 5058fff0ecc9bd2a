package fix

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// loop is a poll loop that can be replaced.
type loop struct {
	machine *asl.StateMachine
	flow    *asl.Flow
	root    *jsontree.Node // of the definition
	poll    *asl.State
	choice  *asl.State   // the first that looks at the status
	wait    *asl.State   // the first
	states  []*asl.State // all, in the order of the definition
	inside  map[string]bool
	exits   []string // the states behind it, in order
	entry   *catalog.Entry
	// first is how long the loop waits before its first poll, in seconds.
	first int64
	bound lint.Bound
	turn  time.Duration // that its Wait states take; 0 if that is not known
}

// readLoop reads a loop, and refuses one that does more than poll.
func readLoop(m *asl.StateMachine, text []byte, table lint.Loop) (*loop, error) {
	document, err := jsontree.Parse(text)
	if err != nil {
		return nil, err
	}
	l := &loop{machine: m, flow: table.Flow, root: document.Root, poll: table.Poll, inside: map[string]bool{}, bound: table.Bound, turn: table.Turn.Wait}
	for _, name := range table.Turn.States {
		l.inside[name] = true
	}
	for _, s := range slices.Concat(table.Choices, table.Waits) {
		l.inside[s.Name] = true
	}
	if !l.inside[l.poll.Name] {
		return nil, refuse("the Task does not stand in one loop")
	}
	for _, s := range l.flow.States {
		if !l.inside[s.Name] {
			continue
		}
		l.states = append(l.states, s)
		switch {
		case s == l.poll:
		case s.Type == asl.TypeChoice:
			l.choice = cmp.Or(l.choice, s)
		case s.Type == asl.TypeWait:
			l.wait = cmp.Or(l.wait, s)
		default:
			return nil, refuse("the loop does more than poll: %q is a %s", s.Name, s.Type)
		}
	}
	if l.choice == nil {
		return nil, refuse("no Choice of the loop looks at the status")
	}
	if err := l.check(); err != nil {
		return nil, err
	}
	l.findExits()
	if l.entry, err = l.chooseEntry(table); err != nil {
		return nil, err
	}
	return l, l.readEntries()
}

// check refuses what cannot be said in a compiled loop.
func (l *loop) check() error {
	for _, s := range l.states {
		path := func(p *jsonpath.Path) bool { return s.QueryLanguage == asl.JSONPath && (p == nil || !p.Root()) }
		switch {
		case s != l.poll && path(s.InputPath), s.Choice == nil && path(s.OutputPath):
			return refuse("%q selects a part of its data with InputPath or OutputPath", s.Name)
		case s.Choice != nil && path(s.OutputPath) && (s.OutputPath == nil || s != l.choice || l.choices() > 1):
			return refuse("%q selects a part of its data with OutputPath", s.Name)
		case s != l.poll && (s.Assign != nil || s.Output != nil):
			return refuse("%q changes data of the execution", s.Name)
		case s == l.poll && s.QueryLanguage == asl.JSONPath && s.Assign != nil:
			return refuse("%q sets variables in JSONPath", s.Name)
		case s.Choice != nil && slices.ContainsFunc(s.Choice.Rules, func(r asl.ChoiceRule) bool { return r.Assign != nil || r.Output != nil }):
			return refuse("a rule of %q changes data of the execution", s.Name)
		case s.Task != nil && s.Task.Credentials != nil:
			return refuse("%q has Credentials", s.Name)
		}
	}
	return nil
}

// choices is how many Choice states the loop has.
func (l *loop) choices() int {
	n := 0
	for _, s := range l.states {
		if s.Choice != nil {
			n++
		}
	}
	return n
}

// findExits finds the states behind the loop.
func (l *loop) findExits() {
	for _, s := range l.states {
		for _, way := range s.Transitions() {
			if !l.inside[way.To] && way.Kind != asl.TransitionCatch && !slices.Contains(l.exits, way.To) {
				l.exits = append(l.exits, way.To)
			}
		}
	}
}

// readEntries finds how the loop is entered: before its Wait, or before its poll.
func (l *loop) readEntries() error {
	var targets []string
	if l.inside[l.flow.StartAt] {
		targets = append(targets, l.flow.StartAt)
	}
	for _, s := range l.flow.States {
		for _, way := range s.Transitions() {
			if !l.inside[s.Name] && l.inside[way.To] {
				targets = append(targets, way.To)
			}
		}
	}
	waits := len(targets) > 0
	for _, name := range targets {
		switch s := l.flow.State(name); {
		case s.Type == asl.TypeChoice:
			return refuse("the loop begins at the Choice %q, with a status that something else has found", name)
		case s.Type != asl.TypeWait:
			waits = false
		}
	}
	if waits && l.wait.Wait.Seconds != nil {
		l.first, _ = l.wait.Wait.Seconds.Literal.(int64)
	}
	return nil
}

// chooseEntry finds what the loop waits for: what the table says, or the one waiter
// of the operation whose successes all leave the loop.
func (l *loop) chooseEntry(table lint.Loop) (*catalog.Entry, error) {
	if table.Entry != nil {
		return table.Entry, nil
	}
	service, operation, _ := strings.Cut(table.Operation, ":")
	listing, err := catalog.AWS().Find(service)
	if err != nil {
		return nil, refuse("the catalogue does not know %s", table.Operation)
	}
	leaves := func(value string) bool {
		for _, r := range table.Rows {
			if slices.Contains(r.Values, value) {
				return r.Ends != lint.PollsOn && r.Ends != lint.EndsUnknown && r.Ends != lint.EndsFailure
			}
		}
		return false
	}
	var found []*catalog.Entry
	for _, listed := range listing.Entries {
		if listed.Operation != operation {
			continue
		}
		e, err := catalog.Lookup(listing.Key, listed.Name)
		if err != nil {
			return nil, err
		}
		successes := 0
		for _, a := range e.Waiter.Acceptors {
			if a.State != pollcore.Success || a.Matcher.Output == nil {
				continue
			}
			if !leaves(a.Matcher.Output.Expected) {
				successes = -1
				break
			}
			successes++
		}
		if successes > 0 {
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		names := make([]string, len(found))
		for i, e := range found {
			names[i] = e.Name
		}
		return nil, refuse("the catalogue knows %d waiters of %s that the loop may mean (%s)", len(found), table.Operation, strings.Join(names, ", "))
	}
	return found[0], nil
}

// node is the JSON of a state.
func (l *loop) node(s *asl.State) *jsontree.Node {
	n := l.root
	for step := range strings.SplitSeq(strings.TrimPrefix(s.Position.Pointer, "/"), "/") {
		n = n.Child(strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
	}
	return n
}
