package fix

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// loop is a poll loop that can be replaced.
type loop struct {
	machine *asl.StateMachine
	flow    *asl.Flow
	root    *jsontree.Node       // of the definition
	kept    map[string]keptValue // that stand in it by their names
	plain   *jsontree.Node       // the definition without these names

	operation string // that is polled
	poll      *asl.State
	choice    *asl.State   // the first that looks at the status
	wait      *asl.State   // the first
	states    []*asl.State // all, in the order of the definition
	inside    map[string]bool
	aside     []*asl.State // of the loop, between its Choice and its Wait, that stay
	entry     *catalog.Entry
	waiter    *pollcore.Waiter  // that the new loop is compiled from: the entry's, or one that judges several jobs
	judges    []int             // which acceptor of the entry's waiter each of that waiter is; nil if it is the same
	draw      int               // of the answers of the user's own Task, with which a job that runs polls on
	quorum    string            // how the new loop judges several jobs; empty if an answer is about one
	own       bool              // the user's own Task polls on, as no model has what it returns
	faults    []string          // errors of that Task that pass by themselves
	byName    []lint.Row        // rows whose meaning comes from names, and not from where they lead
	starter   *syncStart        // nil if the start of the job stays
	canSync   bool              // the machine starts the job, whose ".sync" Task is proved
	apart     map[string]bool   // statuses that may leave as a success does: a state behind the loop tells them apart, or they are failures for some jobs alone
	late      []string          // the states behind it that it leads to while the job runs
	otherwise string            // where it leads any status that it does not know, and fails; empty if it does not
	entries   []*asl.State      // where it begins
	known     []typecheck.Env   // what it begins with, by each way to it
	told      map[string]string // texts of answers, by the drawn texts that have to be the same
	// first is how long the loop waits before its first poll, in seconds.
	first int64
	// openWait is the Wait before the first poll whose length the definition does not say; nil if there is none.
	openWait *asl.State
	bound    lint.Bound
	polledOn []string // the statuses for which it asks again
	rows     []lint.Row
	together bool // it looks at several jobs of one answer
	// express tells that it runs in an Express workflow: the machine, or a child execution.
	express, child bool
	turn           time.Duration // that its Wait states take; 0 if that is not known
	turnEvents     int           // of a history
	steady         map[*asl.State]time.Duration
}

// findLoop finds the loop of a Task in a document, and reads it.
func findLoop(ctx context.Context, d *document, poll string, o Options) (*loop, error) {
	m, err := d.Parse()
	if err != nil {
		return nil, err
	}
	find := func(m *asl.StateMachine) (*lint.Loop, error) {
		all := o.pollLoops(m)
		i := slices.IndexFunc(all, func(l lint.Loop) bool { return l.Poll.Name == poll })
		if i < 0 {
			return nil, refuse("the loop changed with another that was replaced")
		}
		return &all[i], nil
	}
	table, err := find(m)
	if err != nil {
		return nil, err
	}
	l := &loop{operation: table.Operation, plain: d.root, express: table.Express, child: table.Express && !o.Express}
	tasks := []*asl.State{table.Poll}
	if o.strategy().Waits() {
		for _, s := range table.Flow.States {
			op, err := startOf(s, *table, o.Models)
			if err != nil {
				return l, err
			}
			if op != nil {
				tasks = append(tasks, s)
			}
		}
	}
	text, kept, err := keepValues(d, tasks, slices.Concat(table.Choices, table.Waits))
	if err != nil {
		return l, err
	}
	l.kept = kept
	if m, err = asl.Parse(text); err != nil {
		return l, err
	}
	if table, err = find(m); err != nil {
		return l, err
	}
	document, err := jsontree.Parse(text)
	if err != nil {
		return l, err
	}
	l.machine, l.root = m, document.Root
	if err := l.read(*table, o); err != nil {
		return l, err
	}
	if err := l.chooseEntry(ctx, *table, o); err != nil {
		return l, err
	}
	l.waiter = l.entry.Waiter
	if !o.strategy().Waits() {
		return l, nil
	}
	if err := l.checkSeveral(o); err != nil {
		return l, err
	}
	return l, l.addStart(*table, o)
}

// isLater tells whether only a later call than that of the loop's job leads to a status, as its table says.
func (l *loop) isLater(status string) bool {
	return slices.ContainsFunc(l.rows, func(r lint.Row) bool { return r.Later && slices.Contains(r.Values, status) })
}

// read reads a loop, and refuses one that does more than poll.
func (l *loop) read(table lint.Loop, o Options) error {
	l.flow, l.poll, l.inside, l.bound, l.turn = table.Flow, table.Poll, map[string]bool{}, table.Bound, table.Turn.Wait
	l.turnEvents, l.steady = table.Turn.Events, table.Steady
	l.polledOn, l.rows, l.together = table.PolledOn(), table.Rows, table.Together
	if running := l.bound.Running; running != nil && running.Kind != lint.Unbounded {
		l.bound = *running // a new loop has one deadline, for calls that fail, too
	}
	for _, name := range table.Turn.States {
		l.inside[name] = true
	}
	for _, s := range table.Waits {
		l.inside[s.Name] = true
	}
	l.addChoices(table.Choices)
	for _, s := range l.flow.States {
		if !l.inside[s.Name] {
			continue
		}
		l.states = append(l.states, s)
		switch {
		case s == l.poll:
		case s.Type == asl.TypeChoice:
			if l.choice == nil || !slices.Contains(table.Choices, l.choice) && slices.Contains(table.Choices, s) {
				l.choice = s
			}
		case s.Type == asl.TypeWait:
			l.wait = cmp.Or(l.wait, s)
		case l.onlyCounts(s) || l.countsInData(s):
		case s.Task != nil && l.turnsBack(s):
			l.aside = append(l.aside, s)
		case s.Type == asl.TypePass && (s.Assign != nil || l.changesData(s)):
			return l.refusePass(s)
		default:
			return refuse("the loop does more than poll: %q is a %s", s.Name, s.Type)
		}
	}
	l.states = slices.DeleteFunc(l.states, func(s *asl.State) bool { return l.isAside(s.Name) })
	if l.choice == nil {
		return refuse("no Choice of the loop looks at the status")
	}
	if err := l.takeAside(); err != nil {
		return err
	}
	if err := l.readEntries(); err != nil {
		return err
	}
	if err := l.typeEntries(o); err != nil {
		return err
	}
	if err := l.check(); err != nil {
		return err
	}
	if err := l.checkDeadlines(); err != nil {
		return err
	}
	return l.checkRows()
}

// addChoices adds the Choice states that lead back into the loop. One that only stands
// behind it stays.
func (l *loop) addChoices(choices []*asl.State) {
	for range choices { // one may lead back through another
		for _, s := range choices {
			if slices.ContainsFunc(s.Transitions(), func(way asl.Transition) bool { return l.inside[way.To] }) {
				l.inside[s.Name] = true
			}
		}
	}
}

// compiledArguments and compiledCount are what a compiled loop polls with, in JSONata
// and in JSONPath: a variable, and the number of its attempts.
var (
	compiledArguments = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\$(.*)[aA]rguments$`) })
	compiledCount     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*)[aA]ttempt$`) })
)

// isCompiled tells whether a Task polls in a compiled loop, by the names of the
// variables.
func isCompiled(m *asl.StateMachine, poll *asl.State) bool {
	sets := func(prefix, name string) bool {
		for s := range m.All {
			if s.Assign != nil && slices.ContainsFunc(s.Assign.Object, func(m asl.TemplateMember) bool {
				return strings.EqualFold(m.Name, prefix+name)
			}) {
				return true
			}
		}
		return false
	}
	if a := poll.Arguments; a != nil && a.Expression != nil {
		found := compiledArguments().FindStringSubmatch(a.Expression.String())
		return found != nil && sets(found[1], "deadline")
	}
	if poll.Assign == nil {
		return false
	}
	for _, member := range poll.Assign.Object {
		if found := compiledCount().FindStringSubmatch(member.Name); found != nil && sets(found[1], "countedFrom") && sets(found[1], "calls") {
			return true
		}
	}
	return false
}

// check refuses what cannot be said in a compiled loop.
func (l *loop) check() error {
	for _, s := range l.states {
		switch {
		case s.Type == asl.TypePass || l.onlyCounts(s) || s.Choice != nil && l.onlyCountsBack(s): // what a Pass may do is known
		case s.Type == asl.TypeWait && (s.Assign != nil || s.Output != nil):
			return refuse("%q changes data of the execution", s.Name)
		case s.Choice == nil || l.choices() == 1 && l.setsOnTheWayBack(s) == nil:
		case selectsPart(s):
			return refuse("%q selects a part of its data, and the loop has another Choice", s.Name)
		case s.Assign != nil || s.Output != nil || slices.ContainsFunc(s.Choice.Rules, func(r asl.ChoiceRule) bool { return r.Assign != nil || r.Output != nil }):
			return l.refuseChange(s)
		}
	}
	return nil
}

// refuseChange says why a loop stays with a Choice that changes data.
func (l *loop) refuseChange(s *asl.State) error {
	if name, reader := l.readOf(l.setsOnTheWayBack(s)); name != "" {
		return refuse("%q sets $%s where it polls on, and %q reads that: count in a variable that the Choices of the loop alone read", s.Name, name, reader)
	}
	return refuse("%q changes data of the execution", s.Name)
}

// selectsPart tells whether a state in JSONPath takes, or passes on, a part of its data alone.
func selectsPart(s *asl.State) bool {
	whole := func(p *jsonpath.Path) bool { return p != nil && p.Root() }
	return s.QueryLanguage == asl.JSONPath && (!whole(s.InputPath) || !whole(s.OutputPath))
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

// readEntries finds how the loop is entered: before its Wait, or before its poll.
func (l *loop) readEntries() error {
	if l.inside[l.flow.StartAt] {
		l.entries = append(l.entries, l.flow.State(l.flow.StartAt))
	}
	for _, s := range l.flow.States {
		for _, way := range s.Transitions() {
			if to := l.flow.State(way.To); !l.staysIn(s.Name) && l.inside[way.To] && !slices.Contains(l.entries, to) {
				l.entries = append(l.entries, to)
			}
		}
	}
	waits := len(l.entries) > 0
	for _, s := range l.entries {
		switch {
		case s.Choice != nil:
			return l.refuseChoice(s)
		case l.behindCount(s).Type != asl.TypeWait:
			waits = false
		case len(l.entries) > 1 && selectsPart(s):
			return refuse("%q selects a part of its data, and the loop begins elsewhere, too", s.Name)
		}
	}
	if waits {
		l.readFirst(l.firstWaits()[0])
	}
	return nil
}

// readFirst reads how long the Wait before the first poll takes.
func (l *loop) readFirst(wait *asl.State) {
	if first, steady := l.steady[wait]; steady {
		l.first = int64(first / time.Second)
		return
	}
	l.first, l.openWait = 1, wait
}

// refuseChoice says why a loop that begins at a Choice stays.
func (l *loop) refuseChoice(s *asl.State) error {
	for _, task := range l.flow.States {
		if task.Task != nil && task.Task.Resource == l.poll.Task.Resource && !l.inside[task.Name] && l.flow.Leads(task, s) {
			return refuse("the loop begins at the Choice %q, with the answer of %q: lead from there to %q", s.Name, task.Name, l.poll.Name)
		}
	}
	for _, before := range l.flow.States {
		leads := slices.ContainsFunc(before.Transitions(), func(way asl.Transition) bool { return way.To == s.Name })
		if leads && !l.inside[before.Name] && !l.leadsBefore(s) {
			return refuse("%q leads back into the loop at the Choice %q, and a compiled loop waits for one job: put the jobs in a Map, with a loop for each",
				before.Name, s.Name)
		}
	}
	return refuse("the loop begins at the Choice %q, and a compiled loop begins with a poll or a Wait: lead to %q first", s.Name, l.poll.Name)
}

// leadsBefore tells whether the flow leads to a state of the loop before the first poll.
func (l *loop) leadsBefore(s *asl.State) bool {
	seen := map[string]bool{l.poll.Name: true}
	for left := []string{l.flow.StartAt}; len(left) > 0; left = left[1:] {
		if left[0] == s.Name {
			return true
		}
		if seen[left[0]] {
			continue
		}
		seen[left[0]] = true
		for _, way := range l.flow.State(left[0]).Transitions() {
			left = append(left, way.To)
		}
	}
	return false
}

// firstWaits are the Wait states before the first poll.
func (l *loop) firstWaits() []*asl.State {
	var all []*asl.State
	for s := l.behindCount(l.begins()); s != nil && s.Type == asl.TypeWait && !slices.Contains(all, s); s = l.behindCount(l.flow.State(s.Next)) {
		all = append(all, s)
	}
	return all
}

// waitsBefore is how long the loop waits before its first poll, as far as the definition says.
func (l *loop) waitsBefore() time.Duration {
	if l.first == 0 {
		return 0
	}
	var total time.Duration
	for _, s := range l.firstWaits() {
		total += l.steady[s]
	}
	return total
}

// node is the JSON of a state.
func (l *loop) node(s *asl.State) *jsontree.Node { return nodeAt(l.root, s.Position.Pointer) }

// flowPointer names what the loop's flow is in: the machine, a branch or a processor.
func (l *loop) flowPointer() string {
	pointer := l.poll.Position.Pointer
	return pointer[:strings.LastIndex(pointer, "/States/")]
}
