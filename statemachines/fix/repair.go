package fix

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/source"
	"github.com/jobpoller/jobpoller/statemachines/trial"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// Class says who may make a repair.
type Class string

// The classes.
const (
	// Sure repairs have one candidate, and change only what breaks today.
	Sure Class = "sure"
	// Offered repairs are right if the user says so.
	Offered Class = "offered"
	// Refused findings have no edit that changes nothing else.
	Refused Class = "refused"
)

// Repair is the smallest edit that mends a finding of lint.
type Repair struct {
	Rule  string `json:"rule"`
	State string `json:"state"`
	// Of is what the finding is about, where others have the same rule and state: statuses, a word, or members.
	Of    string `json:"of,omitempty"`
	Class Class  `json:"class"`
	// Also are other findings that the edits mend, as RULE@STATE.
	Also []string `json:"also,omitempty"`
	// Made tells that the text has it.
	Made bool `json:"made"`
	// About is the frame in one line: when anything differs, and how.
	About string `json:"about,omitempty"`
	// Frame are the kinds of answers for which anything may differ.
	Frame []trial.Kind `json:"frame,omitempty"`
	// Edits are what changes.
	Edits []edit.Edit `json:"edits,omitempty"`
	// Before and After are the texts of the file.
	Before []byte `json:"-"`
	After  []byte `json:"-"`
	// Runs are on how many scripts both machines ran.
	Runs int `json:"runs,omitempty"`
	// NotTried says which Tasks beside the edit no run got to.
	NotTried []string `json:"notTried,omitempty"`
	// Reason is why a finding is refused.
	Reason string `json:"reason,omitempty"`

	subject string // what the finding is about, whatever others there are
}

// Name is what a repair is accepted by: RULE@STATE, with :OF behind it where others have the same.
func (r *Repair) Name() string {
	if r.Of == "" {
		return r.place()
	}
	return r.place() + ":" + r.Of
}

// Mends tells whether a repair mends a finding, by its name.
func (r *Repair) Mends(name string) bool { return r.isNamed(name) || slices.Contains(r.Also, name) }

// place is the rule and the state of a repair.
func (r *Repair) place() string { return r.Rule + "@" + r.State }

// isNamed tells whether a name is of the repair alone, or of all those with its rule and state.
func (r *Repair) isNamed(name string) bool {
	return name == r.place() || name == r.place()+":"+r.subject
}

// RepairOptions are which repairs are made.
type RepairOptions struct {
	// Sure makes all sure repairs, and Accept the offered ones of these names.
	Sure   bool
	Accept []string
	// MaxWait is the bound of a loop that has none, and of a callback; 0 for as long as a history lasts, and for a week.
	MaxWait time.Duration
	Express bool
	// Said are the meanings that the user gives to statuses, as lint.Options have them.
	Said map[string]lint.Meaning
	// Models are the APIs of services, as models.Load of pollcore/catalog/models.
	Models typecheck.Models
	// Ignored tells of a definition which findings are no matter for repairs; nil: none.
	Ignored func(d *source.Definition) func(f lint.Finding) bool
}

// mostRounds is how often lint looks again at what repairs made.
const mostRounds = 10

// RepairFile repairs the definition in a file, in place. It returns the new text of the
// file, and for each finding the repair that is made, offered or refused.
func RepairFile(ctx context.Context, file []byte, read edit.Read, o RepairOptions) ([]byte, []Repair, error) {
	r := &repairer{options: o, read: remembered(read)}
	for n := range mostRounds + 1 {
		if n == mostRounds { // what is left is told of the last text
			r.options.Sure, r.options.Accept = false, nil
		}
		next, err := r.round(ctx, file)
		if err != nil {
			return nil, nil, err
		}
		if bytes.Equal(next, file) {
			break
		}
		file = next
	}
	suspicious, err := r.suspicious(file)
	if err != nil {
		return nil, nil, err
	}
	all := slices.Concat(r.made, r.open, suspicious)
	nameSubjects(all)
	return file, all, nil
}

// suspicious are the warnings of the language on the text that is left. Each says what to do: only the user knows where
// answers lead that no rule takes, for example.
func (r *repairer) suspicious(file []byte) ([]Repair, error) {
	d, err := r.read(file)
	if err != nil {
		return nil, err
	}
	as := asl.Standard
	if r.options.Express || d.Type == asl.Express {
		as = asl.Express
	}
	var all []Repair
	for _, p := range asl.Validate(d.Text, as) {
		f := lint.Finding{Problem: p, Rule: lint.Suspicious}
		if p.Severity != diag.Warning || r.all.ignored != nil && r.all.ignored(f) {
			continue
		}
		state := r.all.machine.StartAt
		if s := r.all.stateAt(f); s != nil {
			state = s.Name
		}
		all = append(all, Repair{Rule: f.Rule, State: state, Class: Refused, Reason: p.Message, Before: file})
	}
	return all, nil
}

// nameSubjects says what the findings of repairs are about that have the same rule and state.
func nameSubjects(all []Repair) {
	for i := range all {
		r := &all[i]
		if slices.ContainsFunc(all, func(other Repair) bool { return other.place() == r.place() && other.subject != r.subject }) {
			r.Of = r.subject
		}
	}
}

// repairer makes the repairs of a file.
type repairer struct {
	options    RepairOptions
	read       edit.Read
	made, open []Repair
	all        *checked // the text that the round began with
	known      trial.Known

	replaceable map[string]bool // whether --replace takes the loops that were tried, by their polls
}

// round makes the repairs that may be made, each on the text that the one before left, and
// finds what else there is.
func (r *repairer) round(ctx context.Context, file []byte) ([]byte, error) {
	all, err := r.load(file)
	if err != nil {
		return nil, err
	}
	all.look(nil)
	r.open, r.all = nil, all
	at := all
	for _, f := range all.findings {
		s := all.stateAt(f)
		if s == nil || !isRepairable(f) || all.ignored != nil && all.ignored(f) {
			continue
		}
		if at != all { // with the loop of the finding
			at.look(all.near(f))
			i := slices.IndexFunc(at.findings, func(g lint.Finding) bool { return g.Rule == f.Rule && g.Pointer == f.Pointer && g.Message == f.Message })
			if i < 0 {
				continue // the next round sees what is left of it
			}
			f = at.findings[i]
		}
		repair, next, err := r.repair(ctx, at, f)
		if err != nil {
			return nil, err
		}
		if repair.Class == Sure && r.options.Sure || repair.Class == Offered && slices.ContainsFunc(r.options.Accept, repair.isNamed) {
			repair.Made = true
			r.made = append(r.made, repair)
			at = next
			continue
		}
		r.addOpen(repair)
	}
	return at.file, nil
}

// addOpen adds a repair that is not made, once: two findings may have the same edits, and the edits of one may mend
// another that has none of its own.
func (r *repairer) addOpen(repair Repair) {
	if repair.Class == Refused {
		if slices.ContainsFunc(r.open, func(known Repair) bool {
			again := known.place() == repair.place() && known.subject == repair.subject && known.Reason == repair.Reason
			return again || slices.Contains(known.Also, repair.place())
		}) {
			return
		}
	} else {
		r.open = slices.DeleteFunc(r.open, func(known Repair) bool { return known.Class == Refused && slices.Contains(repair.Also, known.place()) })
	}
	i := slices.IndexFunc(r.open, func(known Repair) bool {
		return repair.After != nil && bytes.Equal(known.Before, repair.Before) && bytes.Equal(known.After, repair.After)
	})
	if i < 0 {
		r.open = append(r.open, repair)
	} else if repair.Class == Sure && r.open[i].Class == Offered {
		r.open[i] = repair
	}
}

// checked is a text with what lint finds in it.
type checked struct {
	file     []byte
	machine  *asl.StateMachine
	root     *jsontree.Node
	options  lint.Options
	loops    []lint.Loop
	groups   *lint.Groups // of loops, since the first was asked for
	findings []lint.Finding
	replaced []string                  // polls of the loops that compiled ones replace
	ignored  func(f lint.Finding) bool // nil: no finding is
}

// load reads a text.
func (r *repairer) load(file []byte) (*checked, error) {
	d, err := r.read(file)
	if err != nil {
		return nil, err
	}
	m, err := d.Parse()
	if err != nil {
		return nil, &rejectedError{err}
	}
	root, err := d.Root()
	if err != nil {
		return nil, err
	}
	types, err := typecheck.New(m, typecheck.Options{Models: r.options.Models})
	if err != nil {
		return nil, err
	}
	c := &checked{file: file, machine: m, root: root, options: lint.Options{Express: r.options.Express, Types: types, Said: r.options.Said}}
	if r.options.Ignored != nil {
		c.ignored = r.options.Ignored(d)
	}
	return c, nil
}

// look lets lint look at the loops of some states, or at all if they are nil.
func (c *checked) look(states []string) {
	c.options.Only = states
	c.findings, c.loops = lint.CheckLoops(c.machine, c.options)
	c.groups = nil
	slices.SortStableFunc(c.findings, func(a, b lint.Finding) int { return cmp.Compare(orderOf(a.Rule), orderOf(b.Rule)) })
}

// orderOf is the order of repairs in a file: typos, members that may be absent, statuses,
// errors, the pace, bounds.
func orderOf(rule string) int {
	return slices.IndexFunc([]string{
		"-", typecheck.AbsentMember, "status-", lint.StartRace, lint.UnretriedTask, lint.HotLoop, lint.ShortInterval, lint.EventBudget, lint.UnboundedLoop,
	}, func(prefix string) bool { return strings.HasPrefix(rule, prefix) })
}

// stateAt is the state that a finding stands in.
func (c *checked) stateAt(f lint.Finding) *asl.State {
	return c.machine.StateAt(f.Pointer)
}

// loopOf is the loop that a state is in, or the one inside of its loop; nil if it is in none.
func (c *checked) loopOf(s *asl.State) *lint.Loop {
	for i := range c.loops {
		l := &c.loops[i]
		if slices.Contains(l.Turn.States, s.Name) || l.Poll == s || slices.Contains(l.Choices, s) || slices.Contains(l.Waits, s) {
			return l
		}
	}
	for i := range c.loops { // an outer loop has no table
		l := &c.loops[i]
		if l.Poll != nil && l.Flow.State(s.Name) == s && l.Flow.Leads(s, l.Poll) && l.Flow.Leads(l.Poll, s) {
			return l
		}
	}
	return nil
}

// loopFor is the loop whose table has a finding: of several polls in one loop, each has one.
func (c *checked) loopFor(f lint.Finding) *lint.Loop {
	s := c.stateAt(f)
	for i := range c.loops {
		if l := &c.loops[i]; slices.Contains(l.Choices, s) && rowOf(l, f) != nil {
			return l
		}
	}
	return c.loopOf(s)
}

// repair finds the first candidate that changes nothing but what it should, and returns the
// text with it. The error is that of the context.
func (r *repairer) repair(ctx context.Context, c *checked, f lint.Finding) (Repair, *checked, error) {
	out := Repair{Rule: f.Rule, State: c.stateAt(f).Name, Class: Refused, Before: c.file, subject: strings.Join(f.Subjects, ",")}
	var smallest error // why the first candidate is not right
	var first []edit.Edit
	for _, tried := range r.candidates(c, f) {
		after, report, about, err := r.try(ctx, c, f, tried)
		if ctx.Err() != nil {
			return Repair{}, nil, ctx.Err()
		}
		if err != nil {
			if smallest == nil {
				smallest, first = err, tried.edits
			}
			continue
		}
		if tried.asks && slices.ContainsFunc(report.Runs, func(run trial.Run) bool { return succeedsWithout(&run) }) {
			tried.class = Offered // the answer may be of a failure
		}
		if tried.breaksOnPace(report) {
			tried.class = Sure
		}
		if tried.failsAlone(report) {
			tried.class = Offered // a job that runs for as long may succeed today
		}
		if slices.ContainsFunc(report.Runs, failsBeside) {
			tried.class = Offered // the machine takes it for a success on purpose
		}
		out.Class, out.About, out.Frame, out.Edits, out.After = tried.class, about, tried.frame, tried.edits, after.file
		out.Runs, out.NotTried, out.Also = report.Scripts, report.NotTried, c.alsoMended(after, f, tried.edits)
		if status := c.passedFailure(report); status != "" && f.Rule == typecheck.AbsentMember {
			out.Class = Offered
			out.About += "; the execution then succeeds with the status " + status
		}
		if left := c.callsLeftOut(report, f); left != "" {
			out.Class = Offered // nobody is told, it may be
			out.About += left
		}
		if again := c.startsAgainBy(after, f); again != "" {
			out.Class = Offered // each start may cost, and write, once more
			out.About += again
		}
		return out, after, nil
	}
	out.Reason = nameEdit(r.reason(ctx, c, f, smallest), first)
	return out, nil, ctx.Err()
}

// try makes an edit, runs both machines, and checks the new one. The error says why the edit is not right, unless
// the context ends.
func (r *repairer) try(ctx context.Context, c *checked, f lint.Finding, tried candidate) (changed *checked, report *trial.Report, about string, err error) {
	after := tried.after
	if after == nil {
		if after, err = edit.Apply(c.file, r.read, tried.edits...); err != nil {
			return nil, nil, "", &editError{err: err}
		}
	}
	if changed, err = r.load(after); err != nil {
		return nil, nil, "", rejects(err)
	}
	changed.look(c.near(f, tried.edits...))
	if err := newFinding(c, changed, f, tried.edits); err != nil {
		return nil, nil, "", err
	}
	if lost := c.losesRestart(changed, f); lost != "" {
		return nil, nil, "", fmt.Errorf("the smallest edit changes more: with %s, the job is not started again any more", lost)
	}
	if report, err = r.compare(ctx, c, changed, f, &tried); err != nil {
		return nil, nil, "", &editError{"the smallest edit cannot be tried: ", err}
	}
	if slices.Contains(report.NotMet, c.stateAt(f).Name) {
		return nil, nil, "", c.notShown(report, f)
	}
	if tried.idle {
		return changed, report, tried.about, idleError(report, tried.frame)
	}
	about, err = changed.tellRuns(&tried, report)
	if err != nil {
		return nil, nil, "", err
	}
	if err := tried.checkEvery(report); err != nil {
		return nil, nil, "", err
	}
	if err := tried.checkBounded(report); err != nil {
		return nil, nil, "", err
	}
	if f.Rule == lint.StatusPollsOn && about != "" {
		if err := tried.checkPolledOn(report); err != nil {
			return nil, nil, "", err
		}
	}
	about = cmp.Or(about, tried.tellEarlier(report), tried.tellBeside(report), tried.tellPace(report))
	mended := about != ""
	if tried.blinded && !mended {
		about, mended = tried.rowOfData(report)
	}
	if i := slices.IndexFunc(report.Runs, func(run trial.Run) bool { return tried.past != nil && tried.past(&run) }); !mended && i >= 0 {
		about, mended = rowOfPast(tried.about, &report.Runs[i]), true
	}
	about += tried.rowOfWrong(report) + rowsBeside(report, about) + rowOfLapsBeside(report)
	if _, end, ok := strings.Cut(about, " -> "); ok && tried.missing {
		about += changed.rowsOfEnds(report, end)
	}
	if tried.blinded {
		about += changed.rowsOfFailures(report)
	}
	if mended && tried.respells {
		about += changed.rowsOfUnjudged(&tried, report, about)
	}
	if tried.also != "" && !tried.breaksOnPace(report) {
		about += "; " + tried.also
	}
	if !mended {
		return nil, nil, "", c.notShown(report, f)
	}
	return changed, report, about, nil
}

// compare runs both machines.
func (r *repairer) compare(ctx context.Context, c, changed *checked, f lint.Finding, tried *candidate) (*trial.Report, error) {
	options := trial.Options{Models: r.options.Models, Express: r.options.Express, Except: tried.except, Known: &r.known}
	loops := c.loops
	if c.loopOf(c.stateAt(f)) == nil && tried.paced {
		loops = changed.loops // without a Wait it is none
	}
	options.Polls, options.Running = lint.Polled(loops)
	for _, k := range tried.of {
		if runs := options.Running[k.Task]; tried.running != nil && k.Sort == trial.Status && !slices.Contains(runs, k.Value) {
			options.Running[k.Task] = append(runs, k.Value)
		}
	}
	return trial.Compare(ctx, c.machine, changed.machine, options)
}

// value writes a JSON value with its members in the given order.
func value(pairs ...any) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s: ", jsontree.Quote(pairs[i].(string))) //nolint:forcetypeassert // names are texts
		b.Write(jsonOf(pairs[i+1]))
	}
	b.WriteByte('}')
	return b.Bytes()
}

// jsonOf is a value as JSON; text that is JSON stays.
func jsonOf(v any) json.RawMessage {
	switch v := v.(type) {
	case json.RawMessage:
		return v
	case string:
		return jsontree.Quote(v) // as people write ">" and "&"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return []byte("null")
	}
	return text
}
