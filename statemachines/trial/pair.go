package trial

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// pair is two machines to compare.
type pair struct {
	options       Options
	before, after *subject
	texts         map[string]string // the states of the first machine, and of the second
	newTexts      map[string]string
	changed       map[string]bool     // states, by name
	near          map[string]bool     // those in the loops that changes are in or next to, and on the way there
	exits         map[string]bool     // the first behind them
	cut           *cut                // nil: scripts run in the whole machines
	tasks         []string            // to vary, by their role
	loops         map[string][]string // the states of the loop that each is in
	restarts      map[Kind]bool       // ends of a job after which the machine polls another
	whole         bool                // the machine as a whole changed
	demands       *typecheck.Demands
	newDemands    *typecheck.Demands // of the second machine
	words         *words             // that either machine compares with
	report        *Report
}

func newPair(before, after *asl.StateMachine, o Options) (*pair, error) {
	if o.Known == nil {
		o.Known = &Known{}
	}
	if err := o.Known.learn(o.Models, before, after); err != nil {
		return nil, err
	}
	old, now := o.Known.machines[before], o.Known.machines[after]
	before, after = old.machine, now.machine
	p := &pair{
		options: o, demands: old.demands, newDemands: now.demands, report: &Report{}, changed: map[string]bool{}, near: map[string]bool{}, exits: map[string]bool{},
		loops: map[string][]string{}, restarts: map[Kind]bool{},
	}
	p.findChanges(old.texts, now.texts)
	if err := p.answerTasks(old, now); err != nil {
		return nil, err
	}
	p.whole = before.TimeoutSeconds != after.TimeoutSeconds // a run may be cut off anywhere
	p.nameRoles()
	p.chooseTasks()
	if err := p.varyTasks(p.tasks); err != nil {
		return nil, err
	}
	p.cut = p.newCut()
	return p, nil
}

// A placeholder that stands where a number does, or a time that limits another.
var (
	numberPlace = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`("(?:\w*Seconds|MaxAttempts|MaxConcurrency|BackoffRate|Numeric\w+)":\s*)"\$\{[^}"]+\}"`)
	})
	limitPlace = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`("TimeoutSeconds":\s*)"\$\{[^}"]+\}"`) })
)

// runnable puts a value in the place of each placeholder: a number where one stands, and
// else its name.
func runnable(m *asl.StateMachine) (*asl.StateMachine, error) {
	if len(m.Placeholders) == 0 {
		return m, nil
	}
	text := limitPlace().ReplaceAll(asl.Print(m), []byte(`${1}86400`))
	text = numberPlace().ReplaceAll(text, []byte(`${1}30`))
	text = functionPlace().ReplaceAll(text, []byte(`${1}"arn:aws:lambda:us-east-1:123456789012:function:${2}"`))
	values := map[string]string{}
	for _, p := range asl.FindPlaceholders(text) {
		values[p.Name] = valueOf(p.Name)
	}
	return asl.Parse(asl.Substitute(text, values))
}

// valueOf is what stands for a placeholder in a text.
func valueOf(name string) string {
	switch name {
	case "AWS::Partition":
		return "aws"
	case "AWS::Region":
		return "us-east-1"
	case "AWS::AccountId":
		return "123456789012"
	default:
		return notWord().ReplaceAllString(name, "-")
	}
}

// functionPlace is a placeholder that is a Task's resource, which people give to functions.
var (
	functionPlace = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`("Resource":\s*)"\$\{([A-Za-z0-9_-]+)[^}"]*\}"`) })
	notWord       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9_-]+`) })
)

// answerTasks makes the answers of both machines. The Tasks that both have get the same.
func (p *pair) answerTasks(old, now *known) error {
	before, after := old.machine, now.machine
	o := simulate.Options{
		Models: p.options.Models, Polls: p.options.Polls, Running: p.options.Running, Items: p.options.Items, Draw: p.options.Draw,
		Readings: map[*asl.StateMachine]*simulate.Reading{before: old.reading, after: now.reading},
	}
	responses, unknown, err := simulate.Responses(before, o, after)
	if err != nil {
		return err
	}
	p.before, p.after = newSubject(old, p.options.Known), newSubject(now, p.options.Known)
	p.before.unknown, p.after.unknown = unknown, unknown
	for s := range before.All {
		if s.Task != nil {
			p.before.callees[s.Name] = newCallee(s, responses[s.Name], o.Models)
		}
	}
	var others []*asl.State
	for s := range after.All {
		if s.Task == nil {
			continue
		}
		if old := p.before.callees[s.Name]; old != nil && old.state.Task.Resource == s.Task.Resource {
			shared := *old
			shared.state = s
			p.after.callees[s.Name] = &shared
			continue
		}
		others = append(others, s)
	}
	if others == nil {
		return nil
	}
	if responses, p.after.unknown, err = simulate.Responses(after, o, before); err != nil {
		return err
	}
	for _, s := range others {
		p.after.callees[s.Name] = newCallee(s, responses[s.Name], o.Models)
	}
	return nil
}

func newSubject(of *known, all *Known) *subject {
	s := &subject{
		machine: of.machine, states: of.states, known: all, texts: of.texts, counters: of.counters,
		readers: map[string]string{}, callees: map[string]*callee{}, roles: map[string]string{},
		answers: map[string]any{}, told: map[toldKey]told{},
	}
	for state := range s.machine.All {
		s.branches = s.branches || len(state.Flows()) > 0
	}
	return s
}

// textsOf are the states of a machine as text, without those of flows inside of them.
func textsOf(machine *jsontree.Node) (map[string]string, error) {
	texts := map[string]string{}
	var add func(flow *jsontree.Node) error
	add = func(flow *jsontree.Node) error {
		for _, s := range flow.Get("States").Members {
			text, flows, err := withoutFlows(s.Value)
			if err != nil {
				return err
			}
			texts[s.Name] = text
			for _, inner := range flows {
				if err := add(inner); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return texts, add(machine)
}

// withoutFlows is a state as text without the flows inside of it, and these.
func withoutFlows(state *jsontree.Node) (text string, flows []*jsontree.Node, err error) {
	members := map[string]json.RawMessage{}
	for _, m := range state.Members {
		switch m.Name {
		case "Branches":
			flows = append(flows, m.Value.Items...)
		case "ItemProcessor", "Iterator":
			flows = append(flows, m.Value)
		default:
			members[m.Name] = m.Value.Raw()
		}
	}
	all, err := json.Marshal(members)
	return string(all), flows, err
}

// findChanges finds the states that differ, or that one machine has alone.
func (p *pair) findChanges(old, now map[string]string) {
	p.texts, p.newTexts = old, now
	for name, text := range old {
		if now[name] != text {
			p.changed[name] = true
		}
	}
	for name := range now {
		if _, there := old[name]; !there {
			p.changed[name] = true
		}
	}
}

// nameRoles gives a Task that is new the role of the one that called the same before.
func (p *pair) nameRoles() {
	for name, c := range p.after.callees {
		if p.before.callees[name] != nil {
			continue
		}
		for _, old := range sortedCallees(p.before) {
			if old.state.Task.Resource == c.state.Task.Resource && p.changed[old.state.Name] {
				p.after.roles[name] = old.state.Name
				break
			}
		}
	}
}

func sortedCallees(s *subject) []*callee {
	var all []*callee
	for state := range s.machine.All {
		if c := s.callees[state.Name]; c != nil {
			all = append(all, c)
		}
	}
	return all
}

// varyTasks makes the answers of Tasks to vary.
func (p *pair) varyTasks(tasks []string) error {
	w := newWords()
	p.words = w
	for _, subject := range []*subject{p.before, p.after} {
		for s := range subject.machine.All {
			if old := p.before.states[s.Name]; subject == p.after && old != nil && !p.changed[s.Name] && old.QueryLanguage == s.QueryLanguage {
				continue // it is read
			}
			w.add(p.options.Known.wordsOf(stateText{subject.texts[s.Name], s.QueryLanguage}))
		}
	}
	named := map[string][]string{} // errors, by role
	for _, s := range []*subject{p.before, p.after} {
		for _, c := range sortedCallees(s) {
			role := s.role(c.state.Name)
			named[role] = append(named[role], c.named()...)
		}
	}
	for _, role := range tasks {
		c := p.callee(role)
		if err := c.vary(w, p.compared(role), named[role], p.options.Models); err != nil {
			return err
		}
	}
	return nil
}

// compared are the parts of a Task's answers that either machine compares.
func (p *pair) compared(role string) []typecheck.Compared {
	var all []typecheck.Compared
	for _, d := range p.demandsOf(role) {
		all = typecheck.UniteCompared(all, d.Compared())
	}
	return all
}

// demandsOf are what each machine demands of a Task's answers.
func (p *pair) demandsOf(role string) []*typecheck.Demand {
	var all []*typecheck.Demand
	if s := p.before.states[role]; s != nil {
		all = append(all, p.demands.Result(s))
	}
	for s := range p.after.machine.All {
		if s.Task != nil && p.after.role(s.Name) == role {
			all = append(all, p.newDemands.Result(s))
		}
	}
	return all
}

// compare runs all scripts on the first input, and those without repeats on the others.
func (p *pair) compare(ctx context.Context) (*Report, error) {
	inputs, err := p.inputs(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.findUsual(ctx, inputs[0]); err != nil {
		return nil, err
	}
	tried, met, newly := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i, input := range inputs {
		if many := p.manyItems(input); i == 0 && many != nil {
			if err := p.tryMany(ctx, many); err != nil {
				return nil, err
			}
		}
		r := &round{pair: p, input: input, repeats: i == 0, leads: map[string]*script{}, again: map[string]bool{}, tried: tried, met: met, newly: newly}
		if err := r.tryAll(ctx); err != nil {
			return nil, err
		}
	}
	for _, name := range p.tasks {
		switch {
		case tried[name]:
		case newly[name]:
			p.report.NotTried = append(p.report.NotTried, fmt.Sprintf("%q: only the new machine gets there", name))
		default:
			p.report.NotTried = append(p.report.NotTried, fmt.Sprintf("%q: no trial run gets there", name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.changed)) {
		if !met[name] {
			p.report.NotMet = append(p.report.NotMet, name)
		}
	}
	return p.report, nil
}

// callee is the Task of a role.
func (p *pair) callee(role string) *callee {
	if c := p.before.callees[role]; c != nil {
		return c
	}
	return p.after.callees[role]
}

// try runs a script in both machines, and where a new bound ends it, the longest jobs that
// end before.
func (p *pair) try(ctx context.Context, s *script, input []byte) (run *Run, a, b *observed, err error) {
	if run, a, b, err = p.run(ctx, s, input); err != nil {
		return nil, nil, nil, err
	}
	if n := len(s.answers); n > 2 && !p.before.branches && s.answers[n-1].ended && run.Before.Status != PollsOn && a.asked > n { // another job began
		p.restarts[s.answers[n-1].kind] = true
	}
	if !s.never || run.After.Status == PollsOn || run.After.Status == run.Before.Status && run.After.Polls == run.Before.Polls {
		return run, a, b, nil
	}
	polls := min(a.asked, b.asked)
	if run.Before.Status == PollsOn {
		polls = b.asked
	}
	for _, long := range p.longest(s, polls) {
		p.report.Of++
		if _, _, _, err := p.run(ctx, long.behind(cmp.Or(s.lead, &script{})), input); err != nil {
			return nil, nil, nil, err
		}
	}
	return run, a, b, nil
}

// run runs a script in both machines, and returns what they did.
func (p *pair) run(ctx context.Context, s *script, input []byte) (run *Run, a, b *observed, err error) {
	if a, b, err = p.playBoth(ctx, s, input); err != nil {
		return nil, nil, nil, err
	}
	if s.mayEndLater(a, b) {
		cut := s.reaches(a)
		if s = s.uncut(); cut {
			if a, b, err = p.playBoth(ctx, s, input); err != nil {
				return nil, nil, nil, err
			}
		}
	}
	if !p.whole { // the time that ends the one, or the history, ends the other too
		for _, o := range [][2]*observed{{a, b}, {b, a}} {
			if o[0].Status == PollsOn && o[1].Status == string(sim.StatusTimedOut) {
				o[1].Status, o[1].TimesOut = PollsOn, o[0].TimesOut
			}
		}
	}
	kinds := s.kinds
	if s.forever && a.Status == PollsOn && kinds[len(kinds)-1].Sort == Status {
		kinds = append(slices.Clip(kinds), kinds[len(kinds)-1].staying(s.task))
	}
	run = &Run{
		Script: s.title, Kinds: kinds, Usual: uniteKinds(a.usual, b.usual), Before: a.Outcome, After: b.Outcome,
		short: s.events > 0,
	}
	run.Before.Asked, run.After.Asked = a.asked, b.asked
	if n := min(a.asked, b.asked); n > 0 {
		last, _ := s.answer(n - 1)
		run.Left = last.kind
	}
	if a != b {
		run.Differences = differ(a.apart(b), b.apart(a), nil)
	}
	if run.Differences != nil {
		again := a
		if run.Differences[0].What != End { // an end is not volatile
			if again, err = p.play(ctx, p.before, s, input, other); err != nil {
				return nil, nil, nil, err
			}
		}
		run.Differences = differ(a.whole(), b.whole(), again.whole())
	}
	p.report.Scripts++
	p.report.Runs = append(p.report.Runs, *run)
	return run, a, b, nil
}

// mayEndLater tells whether a run that is cut short may be about to end: the other one does, or the job never
// ends, and one of the two is cut where its laps are not equal.
func (s *script) mayEndLater(a, b *observed) bool {
	pollsOn := func(o *observed) bool { return o.Status == PollsOn || s.reaches(o) }
	if s.events == 0 || pollsOn(a) != pollsOn(b) {
		return s.events > 0
	}
	return s.never && pollsOn(a) && max(a.events, b.events) >= s.events && min(a.events, b.events) < s.events
}

// reaches tells whether a run goes as far as where the script cuts it.
func (s *script) reaches(o *observed) bool {
	return s.events > 0 && cmp.Or(o.parts.middle, o).events >= s.events
}

// uncut is the script that cuts no run short.
func (s *script) uncut() *script {
	longer := *s
	longer.events = 0
	return &longer
}

// playBoth runs a script in both machines. The second one runs uncut where mayEndLater holds if it is cut: the
// first one ends before, or goes on for ever as is known.
func (p *pair) playBoth(ctx context.Context, s *script, input []byte) (a, b *observed, err error) {
	if a, err = p.play(ctx, p.before, s, input, usual); err != nil || !p.meetsChange(a) {
		return a, a, err
	}
	if alike, err := p.goesOnAlike(ctx, s, input, a); alike || err != nil {
		return a, a, err
	}
	if ends := a.Status != PollsOn; !s.reaches(a) && (ends || s.never && a.events < s.events) {
		s = s.uncut()
	}
	b, err = p.play(ctx, p.after, s, input, usual)
	return a, b, err
}

// meetsChange tells whether a run of the first machine can differ from one of the second: one
// that visits no state that changed does the same in both.
func (p *pair) meetsChange(o *observed) bool {
	old, now := p.before.machine, p.after.machine
	if p.whole || p.before.branches || p.after.branches || old.StartAt != now.StartAt || old.QueryLanguage != now.QueryLanguage {
		return true
	}
	for name := range p.changed {
		if o.visited(name) > 0 {
			return true
		}
	}
	return false
}

func uniteKinds(all, more []Kind) []Kind {
	if slices.Equal(all, more) {
		return all
	}
	for _, k := range more {
		if !slices.Contains(all, k) {
			all = append(all, k)
		}
	}
	return all
}
