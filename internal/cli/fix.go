package cli

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// fixOptions are the flags of "jobpoller fix".
type fixOptions struct {
	only     []string
	write    bool
	maxWait  time.Duration
	simulate time.Duration
	output   string
}

func newFixCommand() *cobra.Command {
	var o fixOptions
	c := &cobra.Command{
		Use:   "fix FILE",
		Short: "Replace hand-written poll loops by compiled ones",
		Long: `Fix replaces the poll loops of a definition in JSON or YAML, inline in a template of
YAML, too. A loop on an operation of the catalogue becomes one that knows every
status, waits up to a deadline, and retries throttled calls. The states around it
stay, with the data that they read. Fix tries both loops with every status of the
job, and leaves a loop alone if a success would lead elsewhere or with other data.

It prints both loops as tables, what each costs on a job of the time of --simulate,
and a unified diff. It changes the file with --write alone. Of a definition in a
string of a template, and of cdk.out, it prints the change. "-" reads standard input.

A loop waits as long as the old one did, unless --max-wait says otherwise.

Exit codes: 0 every poll loop is replaced, or there is none; 1 a loop stays;
2 wrong usage.`,
		Example: `  jobpoller fix poller.asl.json
  jobpoller fix poller.asl.json --only GetStatus --max-wait 2h --write
  jobpoller fix poller.asl.json | patch -p0`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("fix needs one definition, such as: jobpoller fix poller.asl.json")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return runFix(c, args[0], o) },
	}
	f := c.Flags()
	f.StringArrayVar(&o.only, "only", nil, "replace only the loop of this `TASK`, which polls; repeatable")
	f.BoolVar(&o.write, "write", false, "change the file")
	addDuration(f, &o.maxWait, "max-wait", 0, "how long new loops wait: 2h, 90s, or 300 for seconds; default as long as the old ones")
	addDuration(f, &o.simulate, "simulate", 12*time.Minute, "how long the job lasts on which the loops are compared")
	addOutput(c, &o.output)
	completeNothing(c, "only", "max-wait", "simulate")
	return c
}

// fixed is the result of fix. Its JSON members are a contract: see
// docs/reference/json.md.
type fixed struct {
	File    string     `json:"file"`
	Written bool       `json:"written"`
	Loops   []fix.Loop `json:"loops"`
	Diff    string     `json:"diff"`
}

func runFix(c *cobra.Command, name string, o fixOptions) error {
	if err := checkOutput(o.output); err != nil {
		return usage("%w", err)
	}
	if o.write && name == stdin {
		return usage("--write needs a file: - is the standard input")
	}
	d, err := source.LoadOne(name, source.Options{Stdin: c.InOrStdin()})
	if err != nil {
		return usage("%w", sourceError(err))
	}
	before, err := parseMachine(d)
	if err != nil {
		return err
	}
	for _, task := range o.only {
		if !slices.ContainsFunc(lint.Loops(before.StateMachine, lint.Options{}), func(l lint.Loop) bool { return l.Poll != nil && l.Poll.Name == task }) {
			return usage("--only %s: no poll loop of %s has this Task", task, name)
		}
	}
	e, err := o.edit(c.Context(), name, d)
	if err != nil {
		return err
	}
	loops, after := e.loops, e.after
	out := fixed{File: d.File, Loops: loops, Diff: fix.Diff(d.Name, d.Name, e.before, after)}
	if o.write && out.Diff != "" {
		if err := replaceFile(d.File, after); err != nil {
			return &exitError{exitFailed, err}
		}
		out.Written = true
	}
	if o.output == "json" {
		err = writeJSON(c.OutOrStdout(), out)
	} else {
		err = out.print(c, before.StateMachine, e.machine, o.simulate)
	}
	if err != nil {
		return &exitError{exitFailed, err}
	}
	if slices.ContainsFunc(loops, func(l fix.Loop) bool { return l.Refused != "" }) {
		return &exitError{code: exitFailed}
	}
	return nil
}

// edited is a text before and after, with the machine that it then has.
type edited struct {
	before, after []byte
	loops         []fix.Loop
	machine       *asl.StateMachine
}

// edit replaces the loops of a definition: in its file, if that has it as a value in
// JSON or YAML, else in the definition as it is read out of there.
func (o *fixOptions) edit(ctx context.Context, name string, d *source.Definition) (*edited, error) {
	options := fix.Options{Only: o.only, MaxWait: o.maxWait, JobRuns: o.simulate, Models: models.Load}
	e := &edited{before: d.Text}
	inFile := name != stdin && (d.Form == source.FormFile || d.YAML && d.Form == source.FormInline)
	if inFile {
		var err error
		if e.before, err = os.ReadFile(d.File); err != nil {
			return nil, usage("%w", err)
		}
	}
	var err error
	switch {
	case inFile && d.YAML:
		read := func(file []byte) (*source.Definition, error) {
			return source.LoadOne(name, source.Options{FS: overlay{d.File, file}})
		}
		if e.after, e.loops, err = fix.ApplyYAML(ctx, e.before, read, options); err != nil {
			break
		}
		if d, err = read(e.after); err == nil {
			e.machine, err = d.Parse()
		}
		return e, err
	case !inFile && o.write:
		return nil, usage("--write: fix cannot change %s, because the definition is not a value of JSON or YAML there. Without --write it prints the change", name)
	}
	if e.after, e.loops, err = fix.Apply(ctx, e.before, options); err != nil {
		return nil, usage("%s: %w", name, err)
	}
	e.machine, err = asl.Parse(e.after)
	return e, err
}

// overlay is the disk, with another text in one file.
type overlay struct {
	name string
	text []byte
}

// Open implements fs.FS.
func (overlay) Open(name string) (fs.File, error) { return os.Open(name) } //nolint:gosec // the user names it

// ReadFile implements fs.ReadFileFS.
func (o overlay) ReadFile(name string) ([]byte, error) {
	if name == o.name {
		return o.text, nil
	}
	return os.ReadFile(name) //nolint:gosec // the user names it
}

// print writes the loops and the diff for people.
func (f *fixed) print(c *cobra.Command, before, after *asl.StateMachine, runs time.Duration) error {
	var b strings.Builder
	for _, l := range f.Loops {
		if l.Refused != "" {
			terminal.Fprintf(&b, "%s stays: %s\n\n", l.Poll, l.Refused)
			continue
		}
		terminal.Fprintf(&b, "%sbecomes the loop of %s, for %s at most:\n%s\n%s\n", terminal.Lines(tableOf(before, l.Poll)), l.Entry, shortDuration(l.MaxWait),
			terminal.Lines(tableOf(after, l.Poll)), terminal.Lines(trialTable(l.Trials, runs)))
	}
	if len(f.Loops) == 0 {
		b.WriteString("no loop polls an operation that the catalogue knows\n")
	}
	b.WriteString(terminal.Sprintf("%s", terminal.Lines(f.Diff)))
	_, err := c.OutOrStdout().Write([]byte(b.String()))
	return err
}

// tableOf is the table of the loop of a Task.
func tableOf(m *asl.StateMachine, poll string) string {
	for _, l := range lint.Loops(m, lint.Options{}) {
		if l.Poll != nil && l.Poll.Name == poll {
			return l.String()
		}
	}
	return ""
}

// trialTable compares two loops on jobs that last for a time.
func trialTable(trials []fix.Trial, runs time.Duration) string {
	var b strings.Builder
	terminal.Fprintf(&b, "on a job of %s:\n", shortDuration(runs))
	rows := [][]string{{"", "ends after", "late", "calls", "transitions", "cost", "leads to"}}
	for _, t := range trials {
		rows = append(rows, trialRow(t.Status+" before", t.Before), trialRow("after", t.After))
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-len([]rune(cell)))
			switch i {
			case 0:
				if cell == "after" {
					b.WriteString("  " + space + cell)
				} else {
					b.WriteString("  " + cell + space)
				}
			case len(row) - 1:
				b.WriteString("  " + cell)
			default:
				b.WriteString("  " + space + cell)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func trialRow(name string, m fix.Measure) []string {
	late, exit := "-", "nowhere: "+m.Error
	if m.Exit != "" {
		late, exit = shortDuration(m.Late.Round(time.Second)), m.Exit
	}
	return []string{
		name, shortDuration(m.Lasts.Round(time.Second)), late, fmt.Sprint(m.Calls), fmt.Sprint(m.Transitions), fmt.Sprintf("$%.4f", m.USD), exit,
	}
}
