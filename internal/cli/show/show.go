// Package show is "jobpoller show", "list" and "check": what the catalogue knows of jobs.
package show

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

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/cli/wait"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// showOptions are the flags of "jobpoller show".
type showOptions struct {
	output string
}

// New is "jobpoller show".
func New() *cobra.Command {
	var o showOptions
	c := &cobra.Command{
		Use:   "show SERVICE [NAME]",
		Short: "Show what a waiter or a job waits for and how to use it",
		Long: `Show prints a waiter or a job: which operation it polls, which responses mean
success or failure, the delays, and where you can use it. Of a job it also prints
how to start, find and stop it. A derived job follows from the model of its service
alone, and nobody has reviewed it: "jobpoller list --derived" lists them.

NAME is the name of a waiter, or the operation that starts a job. SERVICE:NAME
means the same, in every command. Without NAME, show lists the waiters and jobs of
the service.

With -o json it prints the waiter alone, in the Smithy form. Start your own from
it: "jobpoller check --waiter" and "jobpoller compile" read it.

Exit codes: 0 succeeded, 2 wrong usage, such as an unknown name.`,
		Example: `  jobpoller show athena
  jobpoller show dynamodb ExportCompleted
  jobpoller show kendra CreateIndex
  jobpoller show ecs ServicesStable -o json >services-stable.json`,
		Args: func(c *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				return kit.Usage("show needs a service, such as: jobpoller show athena")
			case 1:
				return nil
			default:
				return kit.RequireName(c, args)
			}
		},
		RunE: func(c *cobra.Command, args []string) error {
			if !kit.HasName(args) {
				return runList(c, args, listOptions{output: o.output})
			}
			return runShow(c, args, o)
		},
	}
	kit.CompleteEntries(c, true)
	kit.AddOutput(c, &o.output)
	return c
}

func runShow(c *cobra.Command, args []string, o showOptions) error {
	if err := kit.CheckOutput(o.output); err != nil {
		return kit.Usage("%w", err)
	}
	entry, err := kit.LookupAny(args, io.Discard) // the sheet says what is derived
	if err != nil {
		return err
	}
	if o.output == "json" {
		err = kit.WriteJSON(c.OutOrStdout(), entry.Waiter)
	} else {
		_, err = io.WriteString(c.OutOrStdout(), newSheet(entry).String())
	}
	if err != nil {
		return kit.WithCode(kit.ExitFailed, err)
	}
	return nil
}

// sheet is what show prints of an entry: rows of a word and what it means.
type sheet struct {
	strings.Builder

	entry *catalog.Entry
	last  string // name of the last row
}

func newSheet(e *catalog.Entry) *sheet {
	s := &sheet{entry: e}
	title := "a waiter of " + e.Service.Name
	switch {
	case e.Kind == catalog.Derived:
		title = fmt.Sprintf("a derived job of %s, whose waiter is %s", e.Service.Name, e.Waiter.Name)
	case e.Job != nil:
		title = fmt.Sprintf("a job of %s, whose waiter is %s", e.Service.Name, e.Waiter.Name)
	}
	terminal.Fprintf(s, "%s %s: %s\n", e.Service.Key, e.Name, title)
	if e.Kind == catalog.Derived {
		s.row("derived", "from the names in the service's model alone: nobody has reviewed it")
	}
	s.row("polls", e.Operation.Name)
	s.row("", actions(e.Operation))
	s.row("input", kit.InputOf(e.Operation))
	s.acceptors()
	s.added()
	s.running()
	s.delays()
	if e.Waiter.Deprecated {
		s.row("deprecated", "by AWS")
	}
	if e.Job != nil {
		s.job(e.Job)
	}
	for _, use := range uses(e) {
		s.row("use", use)
	}
	return s
}

// row adds a row. A row without a name continues the row before, and so does one of
// the same name. Without a text there is no row.
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

func actions(op *catalog.Operation) string {
	if op == nil || len(op.Actions) == 0 {
		return ""
	}
	return "needs " + strings.Join(op.Actions, ", ")
}

func (s *sheet) delays() {
	used := pollcore.NewSchedule(s.entry.Waiter, time.Hour)
	text := kit.ShortDuration(used.Min)
	if used.Max > used.Min {
		text += ", growing to " + kit.ShortDuration(used.Max)
	}
	s.row("delay", text)
	of := wait.NewPace(used)
	s.row("", fmt.Sprintf("about %s in %s; %s", kit.Plural(of.Polls, "poll"), kit.ShortDuration(used.Total), of.Late()))
	if s.entry.TotalWait > 0 {
		s.row("max wait", fmt.Sprintf("1h unless you say; the AWS CLI waits %s", kit.ShortDuration(s.entry.TotalWait)))
	}
}

// job prints how to start, find and stop the job.
func (s *sheet) job(j *catalog.Job) {
	operations := s.entry.Service.Operations
	s.row("start", s.entry.Name)
	s.row("", actions(operations[s.entry.Name]))
	for _, d := range j.Dependent {
		s.row("", fmt.Sprintf("and %s on %s", d.Action, d.Resource))
	}
	switch j.Protection() {
	case catalog.ByToken:
		if s.entry.Kind == catalog.Derived {
			s.row("token", j.Token+", as the model marks it")
			break
		}
		s.row("token", fmt.Sprintf("%s makes the start call idempotent for %s", j.Token, kit.ShortDuration(j.Window())))
	case catalog.ByNaturalKey:
		s.row("name", fmt.Sprintf("the Lambda functions choose %s, and find the job by it", j.NaturalKey.Member))
	case catalog.Unprotected:
		if s.entry.Kind == catalog.Derived {
			s.row("token", "none that the model marks")
			break
		}
		s.row("token", "none: the Lambda functions do not repeat a start call that may have started the job")
	}
	for _, member := range slices.Sorted(maps.Keys(j.Arguments)) {
		s.row("describe", fmt.Sprintf("%s = %s", member, j.Arguments[member]))
	}
	switch {
	case s.entry.Kind == catalog.Derived: // nobody has looked for a stop call
	case j.Stop == nil:
		s.row("stop", "AWS has no stop call")
	default:
		s.row("stop", j.Stop.Operation)
		s.row("", actions(operations[j.Stop.Operation]))
		for _, member := range slices.Sorted(maps.Keys(j.Stop.Arguments)) {
			s.row("", fmt.Sprintf("%s = %s", member, j.Stop.Arguments[member]))
		}
	}
	s.signals(j)
	s.row("note", j.Note)
}

// signals prints what can tell of the end of the job, and what describes many jobs.
func (s *sheet) signals(j *catalog.Job) {
	if j.Sync != "" {
		s.row("tells you", "the Task arn:aws:states:::"+j.Sync)
	}
	if e := j.Event; e != nil {
		s.row("tells you", fmt.Sprintf(`the event "%s" of %s (%s)`, strings.Join(e.DetailTypes, `" or "`), e.Source, e.Delivery))
		if e.Switch != "" {
			s.row("", fmt.Sprintf("if the start call has %s = true", e.Switch))
		}
		s.row("", e.Note)
	}
	if j.Topic != "" {
		s.row("tells you", "the SNS topic in "+j.Topic)
	}
	if b := j.Batch; b != nil {
		s.row("batch", fmt.Sprintf("%s describes up to %d at once", b.Operation, b.Max))
	}
	if j.List != nil {
		for _, op := range s.entry.ListCalls() {
			s.row("past jobs", op.Name)
			s.row("", actions(op))
		}
	}
}

// acceptors is a table of the acceptors, and of what a call without a match means.
// The first acceptor that matches decides.
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

// added prints which acceptors AWS's own waiter does not have, and which words of AWS's
// they follow.
func (s *sheet) added() {
	next := len(s.entry.Published().Acceptors) + 1
	for _, end := range s.entry.Ends {
		last := next + len(end.Values) - 1
		numbers := strconv.Itoa(next)
		if last > next {
			numbers += "-" + strconv.Itoa(last)
		}
		s.row("added", fmt.Sprintf("%s: not in AWS's waiter, which polls on; source: %s", numbers, end.Source))
		next = last + 1
	}
}

// running prints the values of a status that end nothing. Of a waiter of AWS's nobody says
// that the job runs then.
func (s *sheet) running() {
	e := s.entry
	name := "running"
	if e.Job == nil || e.Kind == catalog.Derived {
		name = "polls on"
	}
	ends := map[string][]string{} // by path
	for _, a := range e.Waiter.Acceptors {
		if m := cmp.Or(a.Matcher.Output, a.Matcher.InputOutput); m != nil && a.State != pollcore.Retry {
			ends[m.Path] = append(ends[m.Path], m.Expected)
		}
	}
	told := map[string]bool{}
	for _, r := range pollcore.Readings(e.Waiter, e.Operation.Input.Describe(), e.Operation.Output.Describe()) {
		m := e.Waiter.Acceptors[r.Acceptor].Matcher
		path := cmp.Or(m.Output, m.InputOutput).Path
		values := r.Type.Enum()
		if r.Type.Elem != nil {
			values = r.Type.Elem.Enum()
		}
		if e.Job != nil && path == e.Job.Status && len(values) == 0 {
			values = e.Job.Running
		}
		values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return slices.Contains(ends[path], v) })
		if !told[path] && len(values) > 0 {
			s.row(name, fmt.Sprintf("%s: %s", path, strings.Join(values, ", ")))
		}
		told[path] = true
	}
}
