// Package fix is "jobpoller fix": it repairs the poll loops of a definition.
package fix

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// fixOptions are the flags of "jobpoller fix".
type fixOptions struct {
	replace     bool
	accept      []string
	only        []string
	strategy    string
	write       bool
	maxWait     time.Duration
	maxDelay    time.Duration
	delays      kit.DelayFlags // the schedule alone
	simulate    time.Duration
	express     bool
	substitutes []string
	statuses    []string // of which the user says what they mean
	output      string
	aws         kit.AwsFlags
	settings    *kit.Settings // of the config files
}

// compiledFlags are the flags of a compiled loop.
var compiledFlags = []string{"only", "strategy", "max-delay", "schedule", "simulate"}

// New is "jobpoller fix".
func New() *cobra.Command {
	var o fixOptions
	c := &cobra.Command{
		Use:   "fix FILE|ARN",
		Short: "Repair the poll loops of a definition, or replace them",
		Long: `Fix makes the smallest edit that mends what lint finds in a poll loop: in JSON, YAML,
templates and modules of Terraform, in place. It runs the machine before and after on
the same answers: every status, each error of the service, jobs that end late or
never. An edit that changes anything besides the finding is not made. Each repair
says in one line which runs end otherwise, and how, and shows its diff.

--write makes the repairs that are sure. Others depend on what you meant: fix offers
them, and --accept RULE@STATE makes one, with the sure ones. A finding that fix
cannot mend alone stays, with the reason. "-" reads standard input. For a definition
in a string of a template, for cdk.out, and where Terraform computes the text, fix
prints the repairs. So it does for the ARN of a state machine, a version or an
execution: fix CALLS AWS to read the definition, and changes nothing there.

A loop without a bound gets one: --max-wait, or as many polls as its history holds.

--replace puts a compiled loop in the place of yours: one that knows every status,
waits up to a deadline, and retries throttled calls. The states around it stay, with
the data that they read. It prints both loops as tables, what each costs and how
late it is on jobs of many lengths or of --simulate, what changes, and a diff.
A Task that asks a function, an HTTP API or another machine polls on, with the
statuses that the machine compares. --status says what they mean.

A compiled loop waits as long as the old one did, unless --max-wait says otherwise:
24h at most where only a full history ended it, and less than the machine's
TimeoutSeconds. A note says so. Delays grow up to the waiter's longest, at most 1m:
for fewer seconds of lateness and more calls, pass --max-delay. --schedule has all
delays, as "jobpoller plan -o schedule" prints them.

Strategies:
` + kit.StrategyHelp(fix.Strategies()) + `
By default fix takes sync where it can replace the loop and the Task that starts the
job, and variables elsewhere, with a note that says why. The Lambda strategies start
the job themselves: take them for a new machine, with jobpoller compile.

Exit codes: 0 no finding is left to mend; 1 a repair is offered, or a finding or a
loop stays; 2 wrong usage. Statuses that lint does not judge do not count.`,
		Example: `  jobpoller fix poller.asl.json
  jobpoller fix poller.asl.json --write --max-wait 2h
  jobpoller fix poller.asl.json --accept unretried-task@GetStatus
  jobpoller fix poller.asl.json --replace --only GetStatus --write
  jobpoller fix 'main.tf#aws_sfn_state_machine.nightly' --write --max-wait 2h
  jobpoller fix template.yaml#Poller --replace --strategy retry-task --max-delay 10s
  jobpoller plan poller.asl.json --durations past.csv -o schedule >schedule.json
  jobpoller fix poller.asl.json --replace --schedule schedule.json
  jobpoller fix poller.asl.json --replace | git apply
  jobpoller fix arn:aws:states:us-east-1:123456789012:stateMachine:nightly`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return kit.Usage("fix needs one definition, such as: jobpoller fix poller.asl.json")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return runFix(c, args[0], o) },
	}
	o.addTo(c)
	return c
}

// addTo gives the command its flags.
func (o *fixOptions) addTo(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&o.replace, "replace", false, "put compiled loops in the place of hand-written ones")
	f.StringArrayVar(&o.accept, "accept", nil, "`RULE@STATE`[:OF] of an offered repair: change the file by it, and by the sure ones; repeatable")
	f.StringArrayVar(&o.only, "only", nil, "`TASK` that polls, to replace its loop alone; repeatable")
	f.StringVar(&o.strategy, "strategy", "", kit.OrList(fixStrategies())+"; default sync where possible, else variables")
	f.BoolVar(&o.write, "write", false, "change the file by the sure repairs, or by the compiled loops")
	kit.AddDuration(f, &o.maxWait, "max-wait", 0,
		"bound of a loop or callback that has none, and of a compiled loop: 90s, 2h, 10d, or 300 for seconds")
	kit.AddDuration(f, &o.maxDelay, "max-delay", 0, "longest delay between polls, instead of the waiter's, which counts up to 1m")
	o.delays.AddSchedule(f)
	kit.AddDuration(f, &o.simulate, "simulate", 0, "how long the job lasts on which the loops are compared, instead of many lengths")
	f.BoolVar(&o.express, "express", false, "fix the definition as an Express workflow")
	for _, name := range compiledFlags {
		kit.SetGroup(c, name, kit.WithReplace)
	}
	kit.Must(c.MarkFlagFilename("schedule", "json"))
	kit.AddSubstitutes(f, &o.substitutes)
	o.aws.AddForARN(c)
	kit.AddStatuses(f, &o.statuses)
	kit.AddOutput(c, &o.output)
	kit.CompleteWords(c, "strategy", fixStrategies()...)
	kit.CompleteNothing(c, "only", "accept", "max-wait", "max-delay", "simulate", "substitute", "status")
}

// readSchedule reads the file of --schedule.
func (o *fixOptions) readSchedule(c *cobra.Command, name string, strategy compile.Strategy) error {
	switch {
	case o.delays.File == "":
		return nil
	case c.Flags().Changed("max-delay"):
		return kit.Usage("--schedule has all delays: leave --max-delay out")
	case o.strategy != "" && !fix.TakesSchedule(strategy):
		return kit.Usage("--schedule: the strategy %s takes none; take %s or %s", strategy, compile.Variables, compile.RetryTask)
	case name == kit.Stdin && o.delays.File == kit.Stdin:
		return kit.Usage("only one file can be the standard input")
	}
	return o.delays.ReadSchedule(c.InOrStdin())
}

// writeFlag is the flag by which the user asked for a change of the file.
func (o *fixOptions) writeFlag() string {
	if o.write {
		return "--write"
	}
	return "--accept"
}

// fixStrategies are the names of the strategies that fix takes.
func fixStrategies() []string { return kit.StrategyNames(fix.Strategies()) }

// fixed is the result of fix. Its JSON members are a contract: see
// docs/reference/json.md.
type fixed struct {
	File string `json:"file"`
	// Resource is the logical ID of the state machine in a template.
	Resource string     `json:"resource,omitempty"`
	Written  bool       `json:"written"`
	Loops    []fix.Loop `json:"loops"`
	Diff     string     `json:"diff"`
}

func runFix(c *cobra.Command, name string, o fixOptions) error {
	o.settings = kit.NewSettings()
	if err := kit.CheckOutput(o.output); err != nil {
		return kit.Usage("%w", err)
	}
	if err := o.aws.CheckForARN(name); err != nil {
		return err
	}
	switch {
	case (o.write || len(o.accept) > 0) && name == kit.Stdin:
		return kit.Usage("%s needs a file: - is the standard input", o.writeFlag())
	case !o.replace:
		return runRepair(c, name, o)
	case len(o.accept) > 0:
		return kit.Usage("--accept makes a repair, and --replace a compiled loop: pass one of them")
	}
	strategy := compile.Strategy(o.strategy)
	switch {
	case strategy.UsesFunctions():
		return kit.Usage("--strategy %s: its Lambda functions start the job, which your machine starts itself; take %s", o.strategy, kit.OrList(fixStrategies()))
	case o.strategy != "" && !strategy.Valid():
		return kit.Usage("--strategy must be %s, is %q%s", kit.OrList(fixStrategies()), o.strategy, nearest.DidYouMean(o.strategy, fixStrategies()))
	}
	if c.Flags().Changed("max-delay") {
		switch {
		case o.maxDelay < time.Second || o.maxDelay%time.Second != 0:
			return kit.Usage("--max-delay must be whole seconds, at least 1s, is %s", kit.ShortDuration(o.maxDelay))
		case strategy.Language() == asl.JSONPath:
			return kit.Usage("--max-delay: the strategy %s keeps the delay of your loop; take %s", strategy, compile.Variables)
		}
	}
	if err := o.readSchedule(c, name, strategy); err != nil {
		return err
	}
	e, err := o.edit(c, name)
	if err != nil {
		return err
	}
	if len(e.loops) == 0 {
		e.untaken = fix.Untaken(e.StateMachine, fix.Options{Express: o.express || e.Definition.Type == asl.Express})
	}
	out := fixed{
		File: e.Definition.File, Resource: e.Definition.ID, Loops: append([]fix.Loop{}, e.loops...), // an array also of none
		Diff: diffOf(e.Definition.File, o.staysInFile(e.Definition), e.text, e.after),
	}
	if o.write {
		if out.Written, err = e.write(e.after); err != nil {
			return err
		}
	}
	if o.output == "json" {
		err = kit.WriteJSON(c.OutOrStdout(), out)
	} else {
		err = e.print(c, out.Diff)
	}
	if err != nil {
		return kit.WithCode(kit.ExitFailed, err)
	}
	if slices.ContainsFunc(e.loops, func(l fix.Loop) bool { return l.Refused != "" }) {
		return &kit.ExitError{Code: kit.ExitFailed}
	}
	return nil
}

// diffOf is what becomes of a file, as git apply and patch -p1 take it in the working folder. With
// a reason why the file stays, it is of a text that no file has. A file elsewhere has its whole
// name: without its first folder, ../x would be the x of the working folder.
func diffOf(file, stays string, before, after []byte) string {
	if file == kit.Stdin {
		return fix.Diff(file, file, before, after)
	}
	name := kit.RelativeName(".", file)
	if elsewhere := !filepath.IsLocal(filepath.FromSlash(name)); stays != "" || elsewhere {
		if whole, err := filepath.Abs(file); err == nil && elsewhere {
			file = whole
		}
		return fix.Diff(file, file, before, after)
	}
	if strings.Contains(name, " ") {
		name += "\t" // where the name ends
	}
	return fix.Diff("a/"+name, "b/"+name, before, after)
}

// write changes the file of a definition, if its text changed.
func (e *edited) write(after []byte) (written bool, err error) {
	if bytes.Equal(e.text, after) {
		return false, nil
	}
	if now, err := os.ReadFile(e.Definition.File); err != nil || !bytes.Equal(now, e.text) {
		return false, kit.WithCode(kit.ExitFailed, cmp.Or(err, fmt.Errorf("%s has changed while fix read it: run fix again", e.Definition.File)))
	}
	if err := kit.ReplaceFile(e.Definition.File, after); err != nil {
		return false, kit.WithCode(kit.ExitFailed, err)
	}
	return true, nil
}

// edited is a definition whose loops are replaced.
type edited struct {
	*source.Machine // before

	text, after []byte            // of its file; nil if the file stays
	fixed       *asl.StateMachine // after
	loops       []fix.Loop
	untaken     []string // why no loop is one to replace
}

// open reads a definition and the text of its file. read reads the definition out of
// another text of the file.
func (o *fixOptions) open(c *cobra.Command, name string) (e *edited, read func(file []byte) (*source.Definition, error), err error) {
	values, err := kit.Substitutions(o.substitutes).Values()
	if err != nil {
		return nil, nil, err
	}
	in := c.InOrStdin()
	var text []byte
	if name == kit.Stdin {
		if text, err = kit.ReadText(name, in); err != nil {
			return nil, nil, err
		}
		in = bytes.NewReader(text)
	}
	d, err := o.settings.LoadOne(c.Context(), name, source.Options{Values: values, Stdin: in, Fetch: o.aws.Fetch})
	if err != nil {
		return nil, nil, kit.SourceError(err)
	}
	m, err := kit.ParseMachine(d)
	if err != nil {
		return nil, nil, err
	}
	if d.Form == source.FormDeployed {
		return &edited{Machine: m, text: d.Text}, readApart(c, d), nil
	}
	if name != kit.Stdin {
		if text, err = os.ReadFile(d.File); err != nil {
			return nil, nil, kit.Usage("%w", err)
		}
	}
	read = o.reader(c, name, d.File, values)
	return &edited{Machine: m, text: text}, read, nil
}

// reader reads a definition out of another text of its file.
func (o *fixOptions) reader(c *cobra.Command, name, file string, values map[string]string) func(text []byte) (*source.Definition, error) {
	return func(text []byte) (*source.Definition, error) {
		left := maps.Clone(values)
		for {
			d, err := o.settings.LoadOne(c.Context(), name, source.Options{Values: left, FS: overlay{file, text}, Stdin: bytes.NewReader(text)})
			unused, ok := errors.AsType[*source.ValueError](err)
			if !ok {
				return d, err
			}
			delete(left, unused.Name) // it was for the loop that is gone
		}
	}
}

// edit replaces the loops of a definition: in its file, if that has it as a value,
// else in the definition as it is read out of there.
func (o *fixOptions) edit(c *cobra.Command, name string) (*edited, error) {
	e, read, err := o.open(c, name)
	if err != nil {
		return nil, err
	}
	d := e.Definition
	said, err := kit.ReadStatuses(o.statuses)
	if err != nil {
		return nil, kit.Usage("%w", err)
	}
	if err := kit.WarnUnusedStatusesOf(c, e.StateMachine, o.express || d.Type == asl.Express, said); err != nil {
		return nil, err
	}
	said = o.settings.Said(d.File, said)
	options := fix.Options{
		Only: o.only, Strategy: compile.Strategy(o.strategy), MaxWait: o.maxWait, MaxDelay: o.maxDelay, Schedule: o.delays.Schedule,
		JobRuns: o.simulate, Models: models.Load, Express: o.express || d.Type == asl.Express, Said: said,
	}
	for _, task := range o.only {
		if !slices.ContainsFunc(lint.Loops(e.StateMachine, lint.Options{}), func(l lint.Loop) bool { return l.Poll != nil && l.Poll.Name == task }) {
			return nil, kit.Usage("--only %s: no poll loop of %s has this Task", task, name)
		}
	}
	reason := o.staysInFile(d)
	if reason != "" && o.write {
		return nil, kit.Usage("--write: fix does not change %s: %s. Without --write it prints the new states", name, reason)
	}
	if reason != "" && d.Form != source.FormDeployed {
		e.text = nil
		return e, o.editText(c, name, e, options)
	}
	if e.after, e.loops, err = fix.ApplyFile(c.Context(), e.text, read, options); err != nil {
		return nil, kit.Usage("%s: %w", name, err)
	}
	after, err := read(e.after)
	if err != nil {
		return nil, err
	}
	e.fixed, err = after.Parse()
	return e, err
}

// computedReason is why a definition of a Terraform module has no place to be changed at.
const computedReason = "Terraform puts the definition together there"

// staysInFile says why the file of a definition is not changed; empty if it is.
func (o *fixOptions) staysInFile(d *source.Definition) string {
	switch {
	case d.Form == source.FormDeployed:
		return "it is deployed, so the change belongs where it is defined"
	case isSynthesized(d):
		return "cdk synth makes it, so the change belongs into the app"
	case d.Copied:
		return "it is an answer of AWS, or a plan or state of a tool, so the change belongs into what the definition comes from"
	case d.Form == source.FormTerraform && o.replace:
		return computedReason
	case d.Form == source.FormTerraform:
		return ""
	case d.Form != source.FormFile && d.Form != source.FormInline:
		return "the definition is a text in a string there"
	default:
		return ""
	}
}

// isSynthesized tells whether cdk synth makes the file of a definition.
func isSynthesized(d *source.Definition) bool {
	return slices.ContainsFunc([]string{d.File, d.Template}, func(name string) bool {
		return slices.Contains(strings.Split(filepath.ToSlash(name), "/"), "cdk.out")
	})
}

// editText replaces loops in the text of a definition that stays in its file. The new
// states name what the template gives as it does, unless a loop cannot be read so.
func (o *fixOptions) editText(c *cobra.Command, name string, e *edited, options fix.Options) error {
	text := e.Definition.Text
	if named, err := source.LoadOne(c.Context(), name, source.Options{Unresolved: true}); err == nil {
		_, loops, err := fix.Apply(c.Context(), named.Text, options)
		if err == nil && !slices.ContainsFunc(loops, func(l fix.Loop) bool { return l.Refused != "" }) {
			text = named.Text
		}
	}
	after, loops, err := fix.Apply(c.Context(), text, options)
	if err != nil {
		return kit.Usage("%s: %w", name, err)
	}
	e.loops = loops
	e.fixed, err = asl.Parse(after)
	return err
}

// overlay is the disk, with another text in one file.
type overlay struct {
	name string
	text []byte
}

// Open implements fs.FS.
func (o overlay) Open(name string) (fs.File, error) {
	f, err := os.Open(name) //nolint:gosec // the user names it
	if err != nil || name != o.name {
		return f, err
	}
	return &replaced{f, bytes.NewReader(o.text)}, nil
}

// replaced is a file with another text.
type replaced struct {
	fs.File

	text *bytes.Reader
}

func (r *replaced) Read(p []byte) (int, error) { return r.text.Read(p) }

// print writes the loops, and the diff or the new states, for people.
func (e *edited) print(c *cobra.Command, diff string) error {
	b := wrapper{columns: terminal.ColumnsOf(c.OutOrStdout())}
	for _, l := range e.loops {
		if l.Refused != "" {
			b.wrap("%s stays: %s", l.Poll, l.Refused)
			b.text.WriteString("\n")
			continue
		}
		terminal.Fprintf(&b.text, "%sbecomes the loop of %s, for %s at most:\n%s", terminal.Lines(tableOf(e.StateMachine, l.Poll)),
			cmp.Or(l.Entry, strconv.Quote(l.Poll)), kit.ShortDuration(l.MaxWait), terminal.Lines(newTable(e.fixed, l)))
		for _, note := range l.Notes {
			b.wrap("note: %s", note)
		}
		if service, job, _ := strings.Cut(l.Entry, ":"); l.Strategy.Waits() {
			terminal.Fprintf(&b.text, "note: the role needs more permissions: jobpoller compile %s %s --start --strategy %s --no-stop --max-wait %s --iam\n",
				service, job, l.Strategy, kit.ShortDuration(l.MaxWait))
		}
		terminal.Fprintf(&b.text, "\n%s\n", terminal.Lines(trialTable(l.Trials, l.Jobs)))
		b.wrapChanges(l)
		if e.text == nil {
			e.printFragment(&b.text, l)
		}
	}
	for _, reason := range e.untaken {
		b.wrap("nothing to replace: %s", reason)
	}
	if len(e.loops) == 0 && len(e.untaken) == 0 {
		b.text.WriteString("no hand-written loop polls an operation that the catalogue knows\n")
	}
	b.text.WriteString(terminal.Sprintf("%s", terminal.Lines(diff)))
	_, err := c.OutOrStdout().Write([]byte(b.text.String()))
	return err
}

// printFragment writes the states of a loop, and where they go.
func (e *edited) printFragment(b *strings.Builder, l fix.Loop) {
	var members bytes.Buffer
	if json.Indent(&members, l.Fragment.Members, "", "  ") != nil {
		return // it is JSON
	}
	for s := range e.All {
		if s.Name == l.Poll {
			terminal.Fprintf(b, "in %s, line %d, put these states into %s:\n", e.Definition.Name, e.Definition.LocatePosition(s.Position).Line, l.Fragment.States)
		}
	}
	terminal.Fprintf(b, "%s\n", terminal.Lines(members.String()))
	terminal.Fprintf(b, "in the place of: %s\n", strings.Join(l.Fragment.Replaces, ", "))
	leads := l.Fragment.Leads
	if l.Fragment.Begins {
		leads = append([]string{"StartAt"}, leads...)
	}
	terminal.Fprintf(b, "and lead to %s from: %s\n\n", l.Fragment.StartAt, strings.Join(leads, ", "))
}
