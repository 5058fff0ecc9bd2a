package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	htmlreport "github.com/jobpoller/jobpoller/statemachines/report"
)

// reportOptions are the flags of "jobpoller report" and "jobpoller watch".
type reportOptions struct {
	html        string
	definition  string
	substitutes []string
	aws         awsFlags
	quiet       bool
}

func newReportCommand() *cobra.Command {
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
--definition, where the history alone is there.

"jobpoller run --html" writes the page of a run.`,
		Example: `  aws stepfunctions get-execution-history --execution-arn arn:aws:states:... >history.json
  jobpoller report history.json --definition poller.asl.json --html report.html
  jobpoller report arn:aws:states:us-east-1:123456789012:execution:nightly:run-7`,
		Args: oneArgument("a history or the ARN of an execution, such as history.json"),
		RunE: func(c *cobra.Command, args []string) error { return runReport(c, args[0], o) },
	}
	o.addTo(c)
	f := c.Flags()
	f.StringVar(&o.definition, "definition", "", "`FILE` with the definition of the state machine")
	addSubstitutes(f, &o.substitutes)
	completeNothing(c, "substitute")
	return c
}

// addTo gives a command the flags that report and watch share.
func (o *reportOptions) addTo(c *cobra.Command) {
	c.Flags().StringVar(&o.html, "html", "", "write the report as a page to this `FILE`")
	o.aws.addTo(c)
}

// oneArgument is the check of a command with one argument.
func oneArgument(what string) cobra.PositionalArgs { return someArguments(1, 1, what) }

// someArguments is the check of a command with so many arguments.
func someArguments(least, most int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usage("expected %s, found %s", what, plural(len(args), "argument"))
		}
		return nil
	}
}

func runReport(c *cobra.Command, name string, o reportOptions) error {
	if err := checkOutputs([]outputFile{{"html", o.html}}, name, o.definition); err != nil {
		return usage("%w", err)
	}
	e, err := o.execution(c, name)
	if err != nil {
		return err
	}
	if o.definition != "" {
		machine, err := readMachine(c.Context(), o.definition, c.InOrStdin(), o.substitutes)
		if err != nil {
			return err
		}
		e.Machine = machine.StateMachine
		e.Express = e.Express || machine.definition.Type == asl.Express
	}
	return o.write(c, e)
}

// execution reads a history, or fetches it.
func (o *reportOptions) execution(c *cobra.Command, name string) (*history.Execution, error) {
	if isARN(name) {
		record, err := o.record(c.Context(), name)
		if err != nil {
			return nil, err
		}
		if _, err := record.Update(c.Context()); err != nil {
			return nil, recordError(name, err)
		}
		if err := record.Describe(c.Context()); c.Context().Err() != nil {
			return nil, recordError(name, err)
		}
		return readExecution(record)
	}
	if err := o.refuseAWSFlags(c); err != nil {
		return nil, err
	}
	text, err := readText(name, c.InOrStdin())
	if err != nil {
		return nil, err
	}
	e, err := history.Read(text)
	if err != nil {
		return nil, usage("%s: %w", name, err)
	}
	if e.Title == "" && name != stdin {
		e.Title = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	}
	return e, nil
}

// refuseAWSFlags refuses flags about AWS where AWS is not called.
func (o *reportOptions) refuseAWSFlags(c *cobra.Command) error {
	for _, flag := range []string{"region", "profile", "endpoint-url"} {
		if c.Flags().Changed(flag) {
			return usage("--%s needs the ARN of an execution: a file is read without calls of AWS", flag)
		}
	}
	return nil
}

// isARN tells whether an argument is no file.
func isARN(name string) bool { return strings.HasPrefix(name, "arn:") }

// record is the record of an execution at AWS. Its region is that of the ARN, if the
// flags do not name one.
func (o *reportOptions) record(ctx context.Context, arn string) (*stepfunctions.Record, error) {
	parts := strings.Split(arn, ":")
	switch {
	case len(parts) > 5 && parts[2] == "states" && parts[5] == "express":
		return nil, usage("%s: Step Functions keeps no history of Express executions. Pass the file of their log", arn)
	case len(parts) < 8 || parts[2] != "states" || parts[5] != "execution":
		return nil, noExecution(arn)
	}
	if err := o.aws.validate(); err != nil {
		return nil, usage("%w", err)
	}
	flags := o.aws
	if flags.region == "" {
		flags.region = parts[3]
	}
	service, err := models.Load("stepfunctions")
	if err != nil {
		return nil, err
	}
	cfg, err := flags.configuration(ctx, false)
	if err != nil {
		return nil, &exitError{exitUnknown, err}
	}
	return stepfunctions.New(service, awsjob.New(cfg).Call).Record(arn), nil
}

// readExecution is the execution of a record, with notes about what could not be read.
func readExecution(record *stepfunctions.Record) (*history.Execution, error) {
	e, err := record.Execution()
	if err != nil {
		return nil, &exitError{exitUnknown, err}
	}
	for _, lacking := range record.Lacking() {
		e.Notes = append(e.Notes, fmt.Sprintf("without %s: %s",
			strings.TrimPrefix(lacking.Action, "states:"), endReason([]string{lacking.Action}, lacking.Err)))
	}
	return e, nil
}

// executionWanted is the argument of a command about one execution.
const executionWanted = "the ARN of an execution, such as arn:aws:states:us-east-1:123456789012:execution:MACHINE:NAME"

// noExecution is the error of an argument that is not the ARN of an execution.
func noExecution(found string) error {
	if strings.Contains(found, ":stateMachine:") {
		return usage("%s is the ARN of a state machine: pass that of one of its executions", found)
	}
	return usage("expected %s, found %s", executionWanted, found)
}

// recordError is the error of a call about an execution.
func recordError(arn string, err error) error {
	if errors.Is(err, context.Canceled) {
		return &exitError{code: exitInterrupted}
	}
	refused, ok := errors.AsType[*stepfunctions.CallError](err)
	if !ok {
		return &exitError{exitUnknown, err}
	}
	if newCallError(refused.Err).Code == "ExecutionDoesNotExist" {
		return &exitError{exitUnknown, errorf("%s: there is no such execution: check the account and the region. Step Functions keeps executions for 90 days", arn)}
	}
	return &exitError{exitUnknown, fmt.Errorf("%s: %s", terminal.Quote(arn), endReason([]string{refused.Action}, refused.Err))}
}

// write writes the report: the text on standard output, and the page.
func (o *reportOptions) write(c *cobra.Command, e *history.Execution) error {
	colours := terminal.ColoursOf(c.OutOrStdout())
	options := htmlreport.TextOptions{Paint: func(word, text string) string { return string(colours.Paint(styleOf(word), text)) }}
	if display := terminal.DisplayOf(c.OutOrStdout()); display != nil {
		options.Columns = display.Columns()
	}
	terminal.Fprintf(c.OutOrStdout(), "%s", paintVerdicts(terminal.ColoursOf(c.OutOrStdout()), htmlreport.Text(e, options)))
	if o.html == "" {
		return nil
	}
	page, err := htmlreport.HTML(e)
	if err != nil {
		return &exitError{exitFailed, fmt.Errorf("--html: %w", err)}
	}
	return writeFile("html", o.html, page)
}

// endOf is the exit code of an execution.
func endOf(e *history.Execution) error {
	switch {
	case e.Status == history.StatusSucceeded || !e.HasEnded():
		return nil
	case e.Status == history.StatusTimedOut || e.Error == handler.ErrorTimedOut:
		return &exitError{code: exitTimedOut}
	default:
		return &exitError{code: exitFailed}
	}
}
