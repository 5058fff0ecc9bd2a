package show

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/nearest"
	"github.com/jobpoller/jobpoller/internal/smithy"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// checkOptions are the flags of "jobpoller check".
type checkOptions struct {
	response, input string
	code            string
	waiter          string
	output          string
}

// NewCheck is "jobpoller check".
func NewCheck() *cobra.Command {
	var o checkOptions
	c := &cobra.Command{
		Use:   "check (SERVICE NAME | --waiter FILE [SERVICE OPERATION]) (--response FILE | --error CODE)",
		Short: "Check one response with a waiter, without calling AWS",
		Long: `Check judges one response of a describe call. It prints the verdict, the acceptor
that gave it, and the value that the acceptor saw. It calls nothing.

The response is JSON, in the form that the AWS CLI prints or that Step Functions
returns. Members that the service's model does not have are warnings. --error
names an error instead of a response, by its code or by its shape. "-" reads
standard input.

--waiter reads a waiter of your own, in the Smithy form that "jobpoller show -o
json" prints. With a service and an operation of it the response is read by the
model; without, it is checked as you wrote it.

Exit codes: 0 success, 1 failure, 2 wrong usage, 3 retry (a wait would go on), 4
an error that the waiter does not expect (a wait would end).`,
		Example: `  jobpoller check dynamodb ExportCompleted --response response.json
  aws ecs describe-services --services web | jobpoller check ecs ServicesStable --response -
  jobpoller check dynamodb TableExists --error ResourceNotFoundException
  jobpoller check --waiter waiter.json --response response.json -o json
  jobpoller check --waiter waiter.json appconfig GetDeployment --response response.json`,
		Args: func(c *cobra.Command, args []string) error {
			if o.waiter == "" {
				return kit.RequireName(c, args)
			}
			if len(args) != 0 && len(args) != 2 {
				return kit.Usage("expected --waiter alone, or with a service and the operation that it polls, such as dynamodb DescribeExport, found %s",
					kit.Plural(len(args), "argument"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return runCheck(c, args, o) },
	}
	f := c.Flags()
	f.StringVar(&o.response, "response", "", "`FILE` with the response of the describe call")
	f.StringVar(&o.code, "error", "", "`CODE` of the error that the describe call returned")
	f.StringVar(&o.input, "input", "", "`FILE` with the input of the describe call, for waiters that compare it (default {})")
	f.StringVar(&o.waiter, "waiter", "", "`FILE` with a waiter of your own")
	kit.CompleteEntriesOr(c, func(args []string) ([]string, bool) { return args, o.waiter != "" })
	kit.CompleteNothing(c, "error")
	kit.AddOutput(c, &o.output)
	return c
}

// judged is what check prints. Its JSON members are a contract: see docs/reference/json.md.
type judged struct {
	Service   string           `json:"service,omitempty"`
	Name      string           `json:"name"`
	Verdict   pollcore.Verdict `json:"verdict"`
	Acceptor  int              `json:"acceptor,omitempty"` // from 1
	Acceptors int              `json:"acceptors"`
	Seen      any              `json:"seen,omitempty"`
	Message   string           `json:"message,omitempty"`
	Reason    string           `json:"reason"`
	Notes     []string         `json:"notes,omitempty"`
	Warnings  diag.Problems    `json:"warnings"`
}

// validate reports what is wrong with the flags, all at once.
func (o *checkOptions) validate() error {
	problems := []error{kit.CheckOutput(o.output)}
	if (o.response == "") == (o.code == "") {
		problems = append(problems, errors.New("check needs --response, a file with the response, or --error, the code of an error: give one of them"))
	}
	fromStdin := slices.DeleteFunc([]string{o.response, o.input, o.waiter}, func(file string) bool { return file != kit.Stdin })
	if len(fromStdin) > 1 {
		problems = append(problems, errors.New("only one of --response, --input and --waiter can be -, the standard input"))
	}
	return errors.Join(problems...)
}

func runCheck(c *cobra.Command, args []string, o checkOptions) error {
	if err := o.validate(); err != nil {
		return kit.Usage("%w", err)
	}
	found := judged{Warnings: diag.Problems{}}
	waiter, operation, reader, err := o.subject(args, c.InOrStdin(), c.ErrOrStderr(), &found)
	if err != nil {
		return err
	}
	check, err := pollcore.Compile[any, any](waiter)
	if err != nil {
		return kit.Usage("%w", err)
	}
	var in, out any
	if in, err = o.read(o.input, c, operation, &found, true); err != nil {
		return err
	}
	if out, err = o.read(o.response, c, operation, &found, false); err != nil {
		return err
	}
	var opErr error
	if o.code != "" {
		opErr, out = kit.NewNamedError(o.code, operation), nil
		o.warnOfError(c, waiter, operation, &found)
	}
	r := check.Check(in, out, opErr)
	reason := check.Reason(r, in, out, opErr)
	switch {
	case r.Acceptor != pollcore.NoAcceptor:
		reason = reader.Explain(reason, r.Verdict, out, opErr)
	case opErr != nil && operation != nil:
		reason = kit.EndReason(operation.Actions, opErr)
	}
	found.take(waiter, r, reason)
	if o.output == "json" {
		err = kit.WriteJSON(c.OutOrStdout(), found)
	} else {
		_, err = io.WriteString(c.OutOrStdout(), found.text())
	}
	if err != nil {
		return kit.WithCode(kit.ExitFailed, err)
	}
	if code := verdictCode(r); code != kit.ExitSucceeded {
		return &kit.ExitError{Code: code}
	}
	return nil
}

// subject is the waiter, the operation that it polls if that is named, and of a waiter
// of the catalogue the reader of its answers.
func (o *checkOptions) subject(args []string, in io.Reader, notes io.Writer, found *judged) (*pollcore.Waiter, *catalog.Operation, kit.JobReader, error) {
	if o.waiter == "" {
		entry, err := kit.LookupAny(args, notes)
		if err != nil {
			return nil, nil, kit.JobReader{}, err
		}
		found.Service, found.Name = entry.Service.Key, entry.Name
		return entry.Waiter, entry.Operation, kit.NewJobReader(entry), nil
	}
	text, err := kit.ReadText(o.waiter, in)
	if err != nil {
		return nil, nil, kit.JobReader{}, err
	}
	found.Name = "waiter"
	if o.waiter != kit.Stdin {
		found.Name = strings.TrimSuffix(filepath.Base(o.waiter), ".json")
	}
	waiter, err := pollcore.ParseWaiter("Waiter", text) // a file's name need not follow the rules of waiters'
	if err != nil {
		return nil, nil, kit.JobReader{}, kit.Usage("%s: %w", o.waiter, err)
	}
	if len(args) == 0 {
		return waiter, nil, kit.JobReader{}, nil
	}
	operation, err := kit.FindOperation(args[0], args[1])
	if err != nil {
		return nil, nil, kit.JobReader{}, err
	}
	found.Service = operation.Service.Key
	return waiter, operation, kit.JobReader{}, nil
}

// read reads the response or the input; without a file there is an empty object.
func (o *checkOptions) read(file string, c *cobra.Command, op *catalog.Operation, found *judged, input bool) (any, error) {
	if file == "" {
		return map[string]any{}, nil
	}
	var shape *catalog.Shape
	if op != nil && input {
		shape = op.Input
	} else if op != nil {
		shape = op.Output
	}
	text, err := kit.ReadText(file, c.InOrStdin())
	if err != nil {
		return nil, err
	}
	value, problems, err := typecheck.FitText(text, shape, input)
	if err != nil {
		return nil, kit.Usage("%s: %w", file, err)
	}
	for i, p := range problems {
		if o.output != "json" {
			terminal.Fprintf(c.ErrOrStderr(), "warning: %s:%s\n", file, p.String())
		}
		problems[i].Severity = diag.Warning
	}
	found.Warnings = append(found.Warnings, problems...)
	return value, nil
}

// warnOfError warns of an error code that looks misspelt: the waiter or the model
// has one with almost the same name. Other unknown codes may exist.
func (o *checkOptions) warnOfError(c *cobra.Command, w *pollcore.Waiter, op *catalog.Operation, found *judged) {
	var names []string
	for _, a := range w.Acceptors {
		if a.Matcher.ErrorType != nil {
			names = append(names, smithy.ShapeName(*a.Matcher.ErrorType))
		}
	}
	if op != nil {
		for _, e := range op.Errors {
			names = append(names, e.Shape)
			if e.Code != "" {
				names = append(names, e.Code)
			}
		}
	}
	code := smithy.ShapeName(o.code)
	near := nearest.Word(code, names)
	if near == "" || slices.Contains(names, code) {
		return
	}
	p := diag.Problem{Severity: diag.Warning, Message: fmt.Sprintf("neither the waiter nor the service's model has an error %q", code), Suggestion: near}
	found.Warnings = append(found.Warnings, p)
	if o.output != "json" {
		p.Severity = diag.Error // the word stands at the front
		terminal.Fprintf(c.ErrOrStderr(), "warning: --error: %s\n", p.String())
	}
}

func (j *judged) take(w *pollcore.Waiter, r pollcore.Result, reason string) {
	j.Verdict, j.Acceptor, j.Acceptors = r.Verdict, r.Acceptor+1, len(w.Acceptors)
	j.Seen, j.Message, j.Reason = r.Seen, r.Message, kit.WithoutSource(reason)
	j.Notes = kit.Texts(r.Notes)
}

func (j *judged) text() string {
	var b strings.Builder
	terminal.Fprintf(&b, "%s: %s\n", j.Verdict, j.Reason)
	for _, note := range j.Notes {
		terminal.Fprintf(&b, "  note: %s\n", note)
	}
	return b.String()
}

// verdictCode is the exit code that tells of a verdict.
func verdictCode(r pollcore.Result) int {
	switch {
	case r.Verdict == pollcore.Success:
		return kit.ExitSucceeded
	case r.Verdict == pollcore.Retry:
		return kit.ExitTimedOut
	case r.Acceptor == pollcore.NoAcceptor:
		return kit.ExitUnknown
	default:
		return kit.ExitFailed
	}
}
