package lint

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/source"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// pollLoop is a poll loop of a file. Its JSON members are a contract: see
// docs/reference/json.md.
type pollLoop struct {
	File        string     `json:"file"`
	Machine     string     `json:"stateMachine,omitempty"` // of a template
	Weight      int        `json:"weight,omitempty"`       // of a version: its share of the alias, in percent
	Severity    string     `json:"severity,omitempty"`
	States      []string   `json:"states"`
	Pointer     string     `json:"pointer"`
	Operation   string     `json:"operation,omitempty"`
	Target      string     `json:"target,omitempty"`
	Entry       string     `json:"entry,omitempty"`
	Derived     string     `json:"derived,omitempty"`
	Start       string     `json:"start,omitempty"`
	StatusPath  string     `json:"statusPath,omitempty"`
	Together    bool       `json:"together,omitempty"`
	RetriedBy   []string   `json:"retriedBy,omitempty"`
	Rows        []loopRow  `json:"rows,omitempty"`
	Unjudged    string     `json:"unjudged,omitempty"`
	Errors      []errorRow `json:"errors,omitempty"`
	Retries     bool       `json:"retries,omitempty"`
	Bound       loopBound  `json:"bound"`
	Rules       []string   `json:"rules,omitempty"`
	WaitSeconds float64    `json:"waitSeconds"`
	Longest     float64    `json:"longestWaitSeconds,omitempty"`
	Shortest    float64    `json:"shortestWaitSeconds,omitempty"`
	Events      int        `json:"events"`
	Transitions int        `json:"transitions"`
	Turns       int        `json:"turnsInHistory"`
	LastSeconds float64    `json:"secondsInHistory"`
	USDPerDay   float64    `json:"costUSDPerDay"`
}

// loopRow is what a loop does with values of the status.
type loopRow struct {
	Values        []string       `json:"values"` // empty: any other
	Meaning       string         `json:"meaning"`
	MeaningBy     lint.Teller    `json:"meaningBy,omitempty"`
	Either        []lint.Meaning `json:"either,omitempty"`
	Compared      bool           `json:"compared,omitempty"`
	Change        bool           `json:"change,omitempty"`
	Later         bool           `json:"later,omitempty"`
	Meanwhile     bool           `json:"meanwhile,omitempty"`
	Held          bool           `json:"held,omitempty"`
	Usable        bool           `json:"usable,omitempty"`
	Mixed         bool           `json:"mixed,omitempty"`
	Kind          string         `json:"kind,omitempty"`
	OtherKind     bool           `json:"otherKind,omitempty"`
	Apart         bool           `json:"apart,omitempty"`
	Partial       bool           `json:"partial,omitempty"`
	Member        string         `json:"member,omitempty"`
	MemberValues  []string       `json:"memberValues,omitempty"`
	MemberMeaning lint.Meaning   `json:"memberMeaning,omitempty"`
	Routes        []string       `json:"routes"`
	Ends          string         `json:"ends"`
	Forks         []loopFork     `json:"forks,omitempty"`
	Whole         *wholeEnd      `json:"whole,omitempty"`
	Split         bool           `json:"split,omitempty"`
	Restarts      bool           `json:"restarts,omitempty"`
	Last          string         `json:"last,omitempty"`
	FailsAt       string         `json:"failsAt,omitempty"`
	FailsAlike    bool           `json:"failsAlike,omitempty"`
	Error         string         `json:"error,omitempty"`
	Lacks         bool           `json:"lacks,omitempty"`
	Raises        bool           `json:"raises,omitempty"`
	Retried       bool           `json:"retried,omitempty"`
	Rule          string         `json:"rule,omitempty"`
	Severity      string         `json:"severity,omitempty"`
}

// loopFork is one of several ways that values lead.
type loopFork struct {
	Route string    `json:"route"`
	Ends  string    `json:"ends"`
	Whole *wholeEnd `json:"whole,omitempty"`
}

// wholeEnd is how the whole execution ends where the end of a route does not say it.
type wholeEnd struct {
	Ends   string   `json:"ends"`
	By     string   `json:"by"`
	Branch []string `json:"branch,omitempty"`
}

func newWholeEnd(w *lint.Whole) *wholeEnd {
	if w == nil {
		return nil
	}
	return &wholeEnd{string(w.Ends), w.By, w.Branch}
}

// errorRow is what a loop does with errors of its poll.
type errorRow struct {
	Names   []string  `json:"names"`
	Meaning string    `json:"meaning"`
	Routes  []string  `json:"routes"`
	Ends    string    `json:"ends"`
	Whole   *wholeEnd `json:"whole,omitempty"`
}

// loopBound is what ends a loop whose job never ends.
type loopBound struct {
	Kind        string     `json:"kind"`
	Polls       int        `json:"polls,omitempty"`
	Events      int        `json:"events,omitempty"`
	Transitions int        `json:"transitions,omitempty"`
	Seconds     float64    `json:"seconds,omitempty"`
	Deadline    float64    `json:"deadlineSeconds,omitempty"`
	USD         float64    `json:"costUSD,omitempty"`
	AtMost      bool       `json:"atMost,omitempty"`
	Failing     string     `json:"failing,omitempty"`
	Running     *loopBound `json:"running,omitempty"`
	At          []string   `json:"at,omitempty"`
	By          []string   `json:"by,omitempty"`
	Route       string     `json:"route,omitempty"`
	Ends        string     `json:"ends,omitempty"`
	Whole       *wholeEnd  `json:"whole,omitempty"`
	Loops       int        `json:"loops,omitempty"`
	Items       bool       `json:"items,omitempty"`
	Rounds      int        `json:"rounds,omitempty"`
	Shared      bool       `json:"shared,omitempty"`
	Timeout     float64    `json:"timeoutSeconds,omitempty"`
	Beside      *loopBound `json:"beside,omitempty"`
	Error       string     `json:"error,omitempty"`
	FailsAt     string     `json:"failsAt,omitempty"`
	FailsWith   string     `json:"failsWith,omitempty"`
	Again       bool       `json:"again,omitempty"`
	Anew        string     `json:"anew,omitempty"`
	Past        []string   `json:"past,omitempty"`
	Only        []string   `json:"only,omitempty"`
}

// cents rounds a cost to hundredths of a cent.
func cents(usd float64) float64 { return math.Round(usd*1e4) / 1e4 }

func newLoopBound(b *lint.Bound) loopBound {
	out := loopBound{
		string(b.Kind), b.Polls, b.Events, b.Transitions, b.After.Seconds(), b.Deadline.Seconds(), cents(b.USD), b.AtMost,
		b.Failing, nil, b.At, b.By, b.Route, string(b.Ends), newWholeEnd(b.Whole),
		b.Loops, b.Items, b.Rounds, b.Shared, b.Timeout.Seconds(), nil, b.Error, b.FailsAt, b.FailsWith, b.Again, b.Anew, b.Past, b.Only,
	}
	if b.Beside != nil {
		beside := newLoopBound(b.Beside)
		out.Beside = &beside
	}
	if b.Running != nil {
		running := newLoopBound(b.Running)
		out.Running = &running
	}
	return out
}

func newPollLoop(d *source.Definition, l *lint.Loop) pollLoop {
	out := pollLoop{
		File: d.File, Machine: d.ID, Weight: d.Weight, States: l.Turn.States, Operation: l.Operation, Target: l.Target, StatusPath: l.Status,
		Bound:    newLoopBound(&l.Bound),
		Unjudged: l.Unjudged, Together: l.Together, RetriedBy: l.RetriedBy,
		Retries: l.Retries, WaitSeconds: l.Turn.Wait.Seconds(), Longest: l.Turn.Longest.Seconds(), Shortest: l.Turn.Shortest.Seconds(),
		Events: l.Turn.Events, Transitions: l.Turn.Transitions,
		Turns: l.Turns, LastSeconds: l.Lasts.Seconds(), USDPerDay: cents(l.Turn.DollarsPerDay()),
	}
	out.Pointer = l.TurnsAt().Position.Pointer
	if l.Entry != nil {
		out.Entry = l.Entry.FullName()
	}
	if l.Derived != nil {
		out.Derived = l.Derived.FullName()
	}
	if l.Start != nil {
		out.Start = l.Start.Name
	}
	for _, r := range l.Rows {
		out.Rows = append(out.Rows, newLoopRow(&r))
	}
	for _, r := range l.Errors {
		out.Errors = append(out.Errors, errorRow{r.Names, string(r.Meaning), r.Routes, string(r.Ends), newWholeEnd(r.Whole)})
	}
	for _, f := range l.Findings {
		out.Rules = append(out.Rules, f.Rule)
	}
	if worst := worstOf(l); worst < noFinding {
		out.Severity = worst.String()
	}
	return out
}

func newLoopRow(r *lint.Row) loopRow {
	row := loopRow{
		Values: r.Values, Meaning: string(r.Meaning), MeaningBy: r.By, Either: r.Either, Compared: r.Compared,
		Later: r.Later, Meanwhile: r.Meanwhile, Held: r.Held, Usable: r.Usable, Mixed: r.Mixed,
		Kind: r.Kind, OtherKind: r.OtherKind,
		Change: r.Change, Apart: r.Apart, Partial: r.Partial, Member: r.Member, MemberValues: r.Seconds, MemberMeaning: r.SecondsMean,
		Routes: r.Routes, Ends: string(r.Ends), Whole: newWholeEnd(r.Whole), Split: r.Split, Restarts: r.Restarts, Last: string(r.Last),
		FailsAt: r.FailsAt, FailsAlike: r.FailsAlike, Error: r.Error, Lacks: r.Lacks, Raises: r.Raises, Retried: r.Retried, Rule: r.Rule,
	}
	for _, f := range r.Forks {
		row.Forks = append(row.Forks, loopFork{f.Route, string(f.Ends), newWholeEnd(f.Whole)})
	}
	if r.Rule != "" {
		row.Severity = r.Severity.String()
	}
	if row.Values == nil {
		row.Values = []string{}
	}
	if row.Routes == nil {
		row.Routes = []string{}
	}
	return row
}

// printLoops prints the poll loops of the files as tables, or what changed in them.
func printLoops(c *cobra.Command, names []string, o options) error {
	if o.account {
		return printRankedLoops(c, o)
	}
	now, err := o.namesNow(c, names)
	if err != nil {
		return err
	}
	all, unread := readLoops(c, now, &o)
	if c.Context().Err() != nil {
		return c.Context().Err()
	}
	kit.WarnUnusedStatuses(c, o.unused)
	if o.diff == "" {
		if err := writeLoops(c, o.output, all.found(), all); err != nil {
			return err
		}
		return unread
	}
	d, err := o.openDiff(c, names)
	if err != nil {
		return err
	}
	before := o.atBase(d.tree)
	was, _ := readLoops(c, names, &before) // what could not be read was not there
	was.unreadAll(nil)                     // a file that the commit does not have is new
	was.rename(d.tree)
	if err := d.close(c.Context()); err != nil {
		return err
	}
	d.warnOfModules(c, all.files())
	if err := writeChanges(c, o.output, o.diff, compareLoops(was, all)); err != nil {
		return err
	}
	return unread
}

// readLoops reads the poll loops of the files.
func readLoops(c *cobra.Command, names []string, o *options) (all *loopTables, unread error) {
	all = newLoopTables()
	from, err := o.from(c)
	if err != nil {
		return all, err
	}
	from.Passed = all.pass
	definitions, err := o.settings.Load(c.Context(), names, from)
	all.unreadAll(err)
	var problems []error
	if err != nil {
		problems = append(problems, kit.SourceError(err))
	}
	for _, d := range definitions {
		m, err := kit.ParseMachine(d)
		if err != nil {
			problems = append(problems, err)
			all.skip(d)
			continue
		}
		types, err := typecheck.New(m.StateMachine, typecheck.Options{Models: models.Load})
		if err != nil {
			return all, kit.WithCode(kit.ExitFailed, err)
		}
		j := o.judgeDefinition(m.Definition)
		loops := lint.Loops(m.StateMachine, lint.Options{
			Express: o.express || m.Definition.Type == asl.Express, Types: types, Said: o.settings.Said(m.Definition.File, o.said), Off: j.off(), Rate: j.rate,
			Region: j.region(m.Definition.File),
		})
		all.addLoops(m.Definition, loops)
		o.noteSaid(loops)
	}
	return all, errors.Join(problems...)
}

// printRankedLoops prints the poll loops of the account in the order of their ranking.
func printRankedLoops(c *cobra.Command, o options) error {
	var r ranking
	var problems []error
	a, err := sweepAccount(c, &o, func(d *source.Definition) error {
		m, err := kit.ParseMachine(d)
		if err != nil {
			problems = append(problems, err)
			return nil
		}
		j := o.judgeDefinition(d)
		r.add(d, m.StateMachine, lint.Options{
			Express: d.Type == asl.Express, Said: o.settings.Said(d.File, nil), Off: j.off(), Rate: j.rate, Region: j.region(d.File),
		})
		return nil
	})
	if c.Context().Err() != nil {
		return c.Context().Err()
	}
	r.sort()
	found := []pollLoop{}
	tables := newLoopTables()
	for _, one := range r.loops {
		found = append(found, one.out)
		tables.addNamed(one.name, one.definition, []lint.Loop{one.loop})
	}
	if err := writeLoops(c, o.output, found, tables); err != nil {
		return err
	}
	if err == nil {
		err = a.incomplete()
	}
	return errors.Join(append(problems, err)...)
}

// writeLoops writes loops as JSON, or as tables.
func writeLoops(c *cobra.Command, output string, found []pollLoop, tables *loopTables) error {
	if output == "json" {
		if err := kit.WriteJSON(c.OutOrStdout(), found); err != nil {
			return kit.WithCode(kit.ExitFailed, err)
		}
		return nil
	}
	terminal.Fprintf(c.OutOrStdout(), "%s", kit.PaintVerdicts(terminal.ColoursOf(c.OutOrStdout()), tables.String()))
	return nil
}

// headingOf names a definition above its tables: with the share of a version.
func headingOf(d *source.Definition) string {
	if d.Weight > 0 {
		return fmt.Sprintf("%s (%d %% of the alias)", d.Name, d.Weight)
	}
	return d.Name
}

// loopTables are the tables of loops to print, by the state machines that have
// them.
type loopTables struct {
	machines   []machineLoops
	skipped    []*source.Definition     // which cannot be parsed
	passed     map[string]bool          // files without a definition
	incomplete bool                     // other files could not be read
	module     func(file string) string // the submodule of a file that the commit has otherwise; nil: there is no commit
}

func newLoopTables() *loopTables { return &loopTables{passed: map[string]bool{}} }

// machineLoops are the loops of a state machine.
type machineLoops struct {
	name       string
	definition *source.Definition
	loops      []lint.Loop
}

// String returns the tables, under the names of the state machines if there are
// several.
func (t *loopTables) String() string {
	if t == nil {
		return ""
	}
	var b strings.Builder
	for _, m := range t.machines {
		for i := range m.loops {
			if b.Len() > 0 {
				b.WriteString("\n")
			}
			if len(t.machines) > 1 {
				terminal.Fprintf(&b, "%s\n", m.name)
			}
			b.WriteString(m.loops[i].String())
		}
	}
	return b.String()
}

// found are the loops as JSON has them.
func (t *loopTables) found() []pollLoop {
	all := []pollLoop{}
	for _, m := range t.machines {
		for i := range m.loops {
			all = append(all, newPollLoop(m.definition, &m.loops[i]))
		}
	}
	return all
}

// add adds the loops of a machine whose operations are known. A nil
// loopTables takes none.
func (t *loopTables) add(d *source.Definition, m *asl.StateMachine, o lint.Options) {
	if t == nil {
		return
	}
	var known []lint.Loop
	for _, l := range lint.Loops(m, o) {
		if len(l.Rows) > 0 || l.Unjudged != "" {
			known = append(known, l)
		}
	}
	t.addLoops(d, known)
}

func (t *loopTables) addLoops(d *source.Definition, loops []lint.Loop) {
	t.addNamed(headingOf(d), d, loops)
}

func (t *loopTables) addNamed(name string, d *source.Definition, loops []lint.Loop) {
	t.machines = append(t.machines, machineLoops{name, d, loops})
}
