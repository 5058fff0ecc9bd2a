package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// showOptions are the flags of "jobpoller show".
type showOptions struct {
	lookup

	output string
}

func newShowCommand() *cobra.Command {
	var o showOptions
	c := &cobra.Command{
		Use:   "show SERVICE NAME",
		Short: "Show a waiter or a job",
		Long: `Show says what a waiter waits for and how it can be used: its acceptors, of which
the first that matches gives the verdict, its delays and the operation that it
polls; of a job also how it is started, found and stopped. NAME is a waiter's, or
of a job the operation that starts it or the waiter that it yields.

With -o json it prints the waiter alone, in the Smithy form, to start one of your
own from: "jobpoller check --waiter" takes it.

Exit codes: 0 done, 2 wrong usage, such as a name that is not there.`,
		Example: `  jobpoller show dynamodb ExportCompleted
  jobpoller show glue StartJobRun
  jobpoller show ecs ServicesStable -o json >services-stable.json`,
		Args: twoNames,
		RunE: func(c *cobra.Command, args []string) error { return runShow(c, args, o) },
	}
	o.addTo(c, true)
	addOutput(c, &o.output)
	return c
}

func runShow(c *cobra.Command, args []string, o showOptions) error {
	if err := checkOutput(o.output); err != nil {
		return usage("%w", err)
	}
	entry, err := o.entry(args[0], args[1])
	if err != nil {
		return err
	}
	if o.output == "json" {
		err = writeJSON(c.OutOrStdout(), entry.Waiter)
	} else {
		_, err = io.WriteString(c.OutOrStdout(), newSheet(entry, o.folder == "").String())
	}
	if err != nil {
		return &exitError{exitFailed, err}
	}
	return nil
}

// sheet is what show tells of an entry: rows of a word and what it is.
type sheet struct {
	strings.Builder

	entry *catalog.Entry
	last  string // name of the last row
}

func newSheet(e *catalog.Entry, builtIn bool) *sheet {
	s := &sheet{entry: e}
	title := "a waiter of " + e.Service.Name
	if e.Job != nil {
		title = fmt.Sprintf("a job of %s, whose waiter is %s", e.Service.Name, e.Waiter.Name)
	}
	terminal.Fprintf(s, "%s %s: %s\n", e.Service.Key, e.Name, title)
	s.row("polls", e.Operation.Name)
	s.row("", actions(e.Operation))
	s.row("input", inputOf(e.Operation))
	s.acceptors()
	s.running()
	s.delays()
	if e.Waiter.Deprecated {
		s.row("deprecated", "AWS says so")
	}
	if e.Job != nil {
		s.job(e.Job)
	}
	for _, use := range uses(e, builtIn) {
		s.row("use", use)
	}
	return s
}

// row has a name, or none if it goes on with the row before. Of several with
// one name the first has it. Without a text there is no row.
func (s *sheet) row(name, text string) {
	if text == "" {
		return
	}
	shown := name
	if name == s.last {
		shown = ""
	}
	if name != "" {
		s.last = name
	}
	terminal.Fprintf(s, "  %-10s  %s\n", shown, text)
}

// inputOf says what an input of the operation needs, or what it may have.
func inputOf(op *catalog.Operation) string {
	sample := sampleInput(op)
	if op.Input == nil || len(op.Input.Members) == 0 || sample != "{}" {
		return sample
	}
	names := make([]string, len(op.Input.Members))
	for i, m := range op.Input.Members {
		names[i] = m.Name
	}
	return "any of " + strings.Join(names, ", ")
}

func actions(op *catalog.Operation) string {
	if op == nil || len(op.Actions) == 0 {
		return ""
	}
	return "needs " + strings.Join(op.Actions, ", ")
}

func (s *sheet) delays() {
	used, exact := pollcore.NewSchedule(s.entry.Waiter, time.Hour), pollcore.NewSmithySchedule(s.entry.Waiter, time.Hour)
	text := fmt.Sprintf("%s between calls", used.Min)
	if used.Max > used.Min {
		text += fmt.Sprintf(", growing to %s", used.Max)
	}
	if exact.Max > used.Max {
		text += fmt.Sprintf("; with --exact at random up to %s", exact.Max)
	}
	s.row("delay", text)
	if s.entry.TotalWait > 0 {
		s.row("total wait", fmt.Sprintf("yours to choose; the AWS CLI waits %s", s.entry.TotalWait))
	}
}

// job tells how the job is started, found and stopped.
func (s *sheet) job(j *catalog.Job) {
	operations := s.entry.Service.Operations
	s.row("start", s.entry.Name)
	s.row("", actions(operations[s.entry.Name]))
	for _, d := range j.Dependent {
		s.row("", fmt.Sprintf("and %s on %s", d.Action, d.Resource))
	}
	if j.Token != "" {
		s.row("token", j.Token+" makes the start idempotent")
	}
	for _, member := range slices.Sorted(maps.Keys(j.Arguments)) {
		s.row("describe", fmt.Sprintf("%s = %s", member, j.Arguments[member]))
	}
	if j.Stop == nil {
		s.row("stop", "there is no call for it")
	} else {
		s.row("stop", j.Stop.Operation)
		s.row("", actions(operations[j.Stop.Operation]))
		for _, member := range slices.Sorted(maps.Keys(j.Stop.Arguments)) {
			s.row("", fmt.Sprintf("%s = %s", member, j.Stop.Arguments[member]))
		}
	}
	if j.Sync != "" {
		s.row("sync", "arn:aws:states:::"+j.Sync)
	}
	s.row("note", j.Note)
}

// acceptors is a table of the acceptors, of which the first that matches counts,
// and of what follows from a call that none matches.
func (s *sheet) acceptors() {
	rows := [][4]string{{"#", "state", "when", "message"}}
	for i, a := range s.entry.Waiter.Acceptors {
		rows = append(rows, [4]string{strconv.Itoa(i + 1), string(a.State), a.Matcher.String(), a.Message})
	}
	if !s.takesAll(true) {
		rows = append(rows, [4]string{"-", "retry", "any other response", ""})
	}
	if !s.takesAll(false) {
		rows = append(rows, [4]string{"-", "failure", "any other error", ""})
	}
	numbers, whens, messages := 1, 0, false
	for _, r := range rows[1:] {
		numbers, whens, messages = max(numbers, len(r[0])), max(whens, len(r[2])), messages || r[3] != ""
	}
	for _, r := range rows {
		if !messages {
			r[3] = ""
		}
		s.row("acceptors", strings.TrimRight(fmt.Sprintf("%*s  %-7s  %-*s  %s", numbers, r[0], r[1], whens, r[2], r[3]), " "))
	}
}

// takesAll tells whether an acceptor matches every response, or every error.
func (s *sheet) takesAll(success bool) bool {
	return slices.ContainsFunc(s.entry.Waiter.Acceptors, func(a pollcore.Acceptor) bool {
		return a.Matcher.Success != nil && *a.Matcher.Success == success
	})
}

// running tells which values of an enum that the waiter compares end nothing.
func (s *sheet) running() {
	e := s.entry
	ends := map[string][]string{} // by path
	for _, a := range e.Waiter.Acceptors {
		if m := cmp.Or(a.Matcher.Output, a.Matcher.InputOutput); m != nil && a.State != pollcore.Retry {
			ends[m.Path] = append(ends[m.Path], m.Expected)
		}
	}
	told := map[string]bool{}
	for _, r := range pollcore.Readings(e.Waiter, e.Operation.Input.Described(), e.Operation.Output.Described()) {
		m := e.Waiter.Acceptors[r.Acceptor].Matcher
		path := cmp.Or(m.Output, m.InputOutput).Path
		values := r.Type.Values()
		if r.Type.Elem != nil {
			values = r.Type.Elem.Values()
		}
		if e.Job != nil && path == e.Job.Status && len(values) == 0 {
			values = e.Job.Running
		}
		values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return slices.Contains(ends[path], v) })
		if !told[path] && len(values) > 0 {
			s.row("running", fmt.Sprintf("%s: %s", path, strings.Join(values, ", ")))
		}
		told[path] = true
	}
}
