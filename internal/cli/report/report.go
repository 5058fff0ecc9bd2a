// Package report is "jobpoller report": what became of executions.
package report

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	htmlreport "github.com/jobpoller/jobpoller/statemachines/report"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// reportOptions are the flags of "jobpoller report".
type reportOptions struct {
	html        string
	definition  string
	substitutes []string
	statuses    []string
	said        map[string]lint.Meaning
	aws         kit.AwsFlags
	follow      bool
	quiet       bool
}

// New is "jobpoller report".
func New() *cobra.Command {
	var o reportOptions
	c := &cobra.Command{
		Use:   "report HISTORY.json|EXECUTION_ARN",
		Short: "Show what an execution did: its polls, its cost, every state",
		Long: `Report shows an execution as text, and with --html as a page: the polls of each
job on one time line, with the status history and how late the end was seen; what the
execution cost; and what happened, with equal turns of loops folded.

HISTORY.json is one of these, and "-" is standard input:
  - the output of "aws stepfunctions get-execution-history", or what boto3 returned, written
    with json.dumps(history, default=str)
  - a file of "jobpoller run --history", or the output of "run -o jsonl"
  - the log of an Express workflow, as lines or as "aws logs filter-log-events" prints it
The outputs of "aws stepfunctions describe-execution" and
"describe-state-machine-for-execution" may follow in the same file.

With an EXECUTION_ARN the command CALLS AWS with your credentials:
GetExecutionHistory, DescribeExecution and DescribeStateMachineForExecution. It
changes nothing.

The picture of the state machine and the tables of its loops need the definition:
--definition, where the history alone is there: a file, or an ARN, for which the
command calls AWS, too.

--follow waits until the execution of the ARN ends: it shows the state that the
execution is in and what its polls see, as one live line on a terminal, else as a
line where something changes. It asks for the history every 2 to 15 seconds, and less
often while AWS throttles or the network fails. Without permission to describe, it
goes on without the definition. Ctrl-C ends the command, and the execution goes on.

"jobpoller run --html" writes the page of a run.

Exit codes: 0 reported, 2 wrong usage, 4 could not ask AWS. With --follow, also 1 the
execution failed or was stopped, 3 it timed out, 130 interrupted.`,
		Example: `  aws stepfunctions get-execution-history --execution-arn arn:aws:states:... >history.json
  jobpoller report history.json --definition poller.asl.json --html report.html
  jobpoller report arn:aws:states:us-east-1:123456789012:execution:nightly:run-7
  jobpoller report "$ARN" --follow --html report.html`,
		Args: kit.OneArgument("a history or the ARN of an execution, such as history.json"),
		RunE: func(c *cobra.Command, args []string) error { return runReport(c, args[0], o) },
	}
	o.addTo(c)
	f := c.Flags()
	f.BoolVar(&o.follow, "follow", false, "show where the execution of the ARN stands until it ends, then report")
	f.StringVar(&o.definition, "definition", "", "`FILE` with the definition of the state machine, or the ARN that AWS has it by")
	kit.AddSubstitutes(f, &o.substitutes)
	kit.AddStatuses(f, &o.statuses)
	kit.CompleteNothing(c, "substitute", "status")
	return c
}

// addTo gives a command the flags that report and watch share.
func (o *reportOptions) addTo(c *cobra.Command) {
	c.Flags().StringVar(&o.html, "html", "", "`FILE` for the report as a page")
	c.Flags().BoolVarP(&o.quiet, "quiet", "q", false, "show no progress of --follow")
	o.aws.AddTo(c)
}

func runReport(c *cobra.Command, name string, o reportOptions) error {
	if err := kit.CheckOutputs([]kit.OutputFile{{Flag: "html", Name: o.html}}, name, o.definition); err != nil {
		return kit.Usage("%w", err)
	}
	if o.quiet && !o.follow {
		return kit.Usage("--quiet needs --follow: nothing else shows progress")
	}
	if len(o.statuses) > 0 && o.definition == "" && !source.IsARN(name) {
		return kit.Usage("--status needs --definition: the tables of loops are those of the definition")
	}
	var err error
	if o.said, err = kit.ReadStatuses(o.statuses); err != nil {
		return kit.Usage("%w", err)
	}
	var machine *source.Machine
	if o.definition != "" { // before an hour of following
		if machine, err = kit.ReadMachine(c.Context(), o.definition, c.InOrStdin(), o.substitutes, &o.aws); err != nil {
			return err
		}
	}
	read := o.execution
	if o.follow {
		read = o.followExecution
	}
	e, err := read(c, name)
	if err != nil {
		return err
	}
	if machine != nil {
		e.Machine = machine.StateMachine
		e.Express = e.Express || machine.Definition.Type == asl.Express
	}
	if e.Machine != nil {
		if err := kit.WarnUnusedStatusesOf(c, e.Machine, e.Express, o.said); err != nil {
			return err
		}
		file := name
		if machine != nil {
			file = machine.Definition.File
		}
		if o.said, err = kit.SaidOf(file, o.said); err != nil {
			return err
		}
	}
	if err := o.write(c, e); err != nil || !o.follow {
		return err
	}
	return endOf(e)
}

// execution reads a history, or fetches it.
func (o *reportOptions) execution(c *cobra.Command, name string) (*history.Execution, error) {
	if source.IsARN(name) {
		record, err := o.record(c.Context(), name)
		if err != nil {
			return nil, err
		}
		if _, err := record.Update(c.Context()); err != nil {
			return nil, kit.RecordError(name, err)
		}
		if err := record.Describe(c.Context()); c.Context().Err() != nil {
			return nil, kit.RecordError(name, err)
		}
		return readExecution(record)
	}
	if err := o.refuseAWSFlags(c); err != nil {
		return nil, err
	}
	text, err := kit.ReadText(name, c.InOrStdin())
	if err != nil {
		return nil, err
	}
	e, err := history.Read(text)
	if err != nil {
		return nil, kit.Usage("%s: %w", name, err)
	}
	if e.Title == "" && name != kit.Stdin {
		e.Title = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	}
	return e, nil
}

// refuseAWSFlags refuses flags about AWS where AWS is not called.
func (o *reportOptions) refuseAWSFlags(c *cobra.Command) error {
	if source.IsARN(o.definition) {
		return nil
	}
	for _, flag := range []string{"region", "profile", "endpoint-url"} {
		if c.Flags().Changed(flag) {
			return kit.Usage("--%s needs the ARN of an execution: a file is read without calls of AWS", flag)
		}
	}
	return nil
}

// record is the record of an execution at AWS. Its region is that of the ARN, if the
// flags do not name one.
func (o *reportOptions) record(ctx context.Context, arn string) (*stepfunctions.Record, error) {
	parts := strings.Split(arn, ":")
	switch {
	case len(parts) > 5 && parts[2] == "states" && parts[5] == "express":
		return nil, kit.Usage("%s: Step Functions keeps no history of Express executions. Pass the file of their log", arn)
	case len(parts) < 8 || parts[2] != "states" || parts[5] != "execution":
		return nil, kit.NoExecution(arn)
	}
	if err := o.aws.Validate(); err != nil {
		return nil, kit.Usage("%w", err)
	}
	flags := o.aws
	if flags.Region == "" {
		flags.Region = parts[3]
	}
	service, err := models.Load("stepfunctions")
	if err != nil {
		return nil, err
	}
	cfg, err := flags.Configuration(ctx, false)
	if err != nil {
		return nil, kit.WithCode(kit.ExitUnknown, err)
	}
	return stepfunctions.New(service, awsjob.New(cfg).Call).Record(arn), nil
}

// readExecution is the execution of a record, with notes about what could not be read.
func readExecution(record *stepfunctions.Record) (*history.Execution, error) {
	e, err := record.Execution()
	if err != nil {
		return nil, kit.WithCode(kit.ExitUnknown, err)
	}
	for _, lacking := range record.Lacking() {
		e.Notes = append(e.Notes, fmt.Sprintf("without %s: %s",
			strings.TrimPrefix(lacking.Action, "states:"), kit.EndReason([]string{lacking.Action}, lacking.Err)))
	}
	return e, nil
}

// write writes the report: the text on standard output, and the page.
func (o *reportOptions) write(c *cobra.Command, e *history.Execution) error {
	colours := terminal.ColoursOf(c.OutOrStdout())
	read := htmlreport.Options{Said: o.said}
	options := htmlreport.TextOptions{Options: read, Paint: func(word, text string) string { return string(colours.Paint(kit.StyleOf(word), text)) }}
	if display := terminal.DisplayOf(c.OutOrStdout()); display != nil {
		options.Columns = display.Columns()
	}
	terminal.Fprintf(c.OutOrStdout(), "%s", kit.PaintVerdicts(terminal.ColoursOf(c.OutOrStdout()), htmlreport.Text(e, options)))
	if o.html == "" {
		return nil
	}
	page, err := htmlreport.HTML(e, read)
	if err != nil {
		return kit.WithCode(kit.ExitFailed, fmt.Errorf("--html: %w", err))
	}
	return kit.WriteFile("html", o.html, page)
}

// endOf is the exit code of an execution.
func endOf(e *history.Execution) error {
	switch {
	case e.Status == history.StatusSucceeded || !e.HasEnded():
		return nil
	case e.Status == history.StatusTimedOut || e.Error == handler.ErrorTimedOut:
		return &kit.ExitError{Code: kit.ExitTimedOut}
	default:
		return &kit.ExitError{Code: kit.ExitFailed}
	}
}
