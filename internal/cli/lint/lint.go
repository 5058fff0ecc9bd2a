// Package lint is "jobpoller lint": it checks definitions and waiters.
package lint

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/settings"
	"github.com/jobpoller/jobpoller/internal/terminal"
	waiterlint "github.com/jobpoller/jobpoller/pollcore/catalog/lint"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/lint/ignore"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

const lintHelp = `Lint checks definitions of state machines and waiters. It reports each finding
with its place in the file.

A FILE is a definition in JSON or YAML, or a file with any number of them (one of
them: template.yaml#LogicalId): a template of SAM, CloudFormation or the CDK, a
serverless.yml, a plan or state of Terraform (terraform show -json), an answer of AWS
(describe-state-machine, get-template), or any JSON or YAML that has a "definition".
A folder with such files, a glob, and "-" for standard input work, too. A template
gives its values and types. What only AWS can fill in stays unknown and gives no
finding. Of a file that must be rendered first, lint names the command.

With an ARN lint CALLS AWS with your credentials, and changes nothing there. It reads
the definition of a state machine or a version, those of the versions that an alias
leads to, or the one that an execution runs.

--account reads all state machines of the account in the configured region, or in
each --region. It describes ten a second, and ranks all poll loops: the most
dangerous first, then those that cost most. --keep FILE keeps what AWS has said, so
that the same command goes on where it was stopped. A command after a finished one
begins anew, and so does one 24 hours later. The file is yours alone to read (mode
0600), and has no definition that a key of yours encrypts. The calls need
states:ListStateMachines and states:DescribeStateMachine, and kms:Decrypt for such
keys.

A module of Terraform is read as it is written, with the modules that it calls: name
a .tf file, a folder, or one machine: main.tf#aws_sfn_state_machine.nightly. Findings
stand in the heredoc, the jsonencode or the file that has the text. Variables have
their defaults, or --substitute NAME=VALUE.

Findings:
  ERROR    AWS rejects the definition, or no program can read the waiter
  DANGER   it deploys but cannot work
  WARNING  it deploys and can go wrong
  NOTE     worth knowing

A definition that lint cannot check has a finding for any --severity and --rule.

A file with waiters has the Smithy form or botocore's: one waiter, several by
name, a waiters-2.json, a Smithy model, or a request of the Lambda functions. Lint
checks paths, values and errors against the operation that the waiter polls. Where
the file does not name the operation, pass --service and --operation.

Of a loop that asks a Lambda function, an HTTP Task, a nested execution or an
operation without a waiter or job, the table has the statuses that the machine
compares. Their names alone say what they mean ("success by name"), and a finding is
at most a WARNING. --status says it instead, and counts as what the catalogue says.

--rules lists the rules, for --rule and --off. A file .jobpoller.yaml turns them off
or gives them another severity, by patterns of paths, and has values of placeholders
and meanings of statuses (docs/reference/config.md); --show-config prints what counts
for a file. A comment ignores a finding: jobpoller: ignore unbounded-loop, REASON.

--diff BASE compares with the files at BASE, a branch, tag or commit of git: at the
commit where your branch left it. Lint then reports only findings that are new, and
only loops that changed: what was (-) and what is (+). A finding that has moved is
not new, nor is one in a file that git has under another name now. The settings and
the baseline of today count for both; a file that moved has those of its new place.

-o github writes annotations of GitHub Actions, -o sarif a SARIF log for code
scanning.

Exit codes: 0 nothing found, or notes alone; 1 something found; 2 wrong usage;
4 could not ask AWS; 130 interrupted.`

// New is "jobpoller lint".
func New() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "lint FILE|ARN...",
		Short: "Check state machine definitions and waiters",
		Long:  lintHelp,
		Example: `  jobpoller lint poller.asl.json
  jobpoller lint template.yaml
  jobpoller lint serverless.yml
  aws stepfunctions describe-state-machine --state-machine-arn ARN | jobpoller lint -
  jobpoller lint 'infra/main.tf#aws_sfn_state_machine.nightly' --substitute stage=prod
  jobpoller lint -o json statemachines/ cdk.out
  jobpoller lint --status 'done=success,error=failure' poller.asl.json
  jobpoller lint --show-config poller.asl.json
  jobpoller lint --off unretried-task --substitute WaitSeconds=30 template.asl.json
  jobpoller lint waiter.json --service dynamodb --operation DescribeExport
  jobpoller lint waiters-2.json --service rds
  jobpoller lint --severity danger -o github statemachines/*.asl.json
  jobpoller lint --baseline lint.json --update-baseline statemachines/*.asl.json
  jobpoller lint --diff origin/main statemachines/
  jobpoller lint --diff origin/main --loops statemachines/
  jobpoller lint arn:aws:states:us-east-1:123456789012:stateMachine:nightly
  jobpoller lint --account --region us-east-1 --region eu-west-1 --keep account.jsonl`,
		Args: func(_ *cobra.Command, args []string) error { return o.needName(args) },
		RunE: func(c *cobra.Command, args []string) error { return runLint(c, args, o) },
	}
	o.addTo(c)
	return c
}

// needName refuses a command that names nothing to check.
func (o *options) needName(args []string) error {
	if len(args) == 0 && !o.rules && !o.account {
		return kit.Usage("lint needs a file, the ARN of a state machine, \"-\" for standard input, or --account")
	}
	return nil
}

// addTo gives the command its flags.
func (o *options) addTo(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&o.express, "express", false, "check definitions as Express workflows")
	f.StringSliceVar(&o.only, "rule", nil, "`RULES` to check alone, separated by commas")
	f.StringSliceVar(&o.off, "off", nil, "`RULES` to leave out, separated by commas")
	f.StringVar(&o.severity, "severity", "note", "`SEVERITY` of the least findings to report: "+kit.OrList(severityNames()))
	f.BoolVar(&o.showConfig, "show-config", false, "print the settings of the files, and where each stands: "+settings.Name+" or a flag")
	f.StringVar(&o.baseline, "baseline", "", "`FILE` with findings that are known: lint reports the others")
	f.BoolVar(&o.update, "update-baseline", false, "write what lint finds to the file of --baseline")
	f.StringVar(&o.diff, "diff", "", "`BASE`, a branch, tag or commit of git: report only findings that are new since, and only loops that changed")
	f.BoolVar(&o.askAWS, "aws", false, "also ASK AWS: send the definitions to ValidateStateMachineDefinition, with your credentials")
	kit.SetOwn(c, "aws")
	f.BoolVar(&o.testStates, "test-states", false, "also have AWS test each state of a simulated run, and each row of the loops' tables, "+
		"with TestState; Tasks call nothing (with --aws)")
	f.StringVar(&o.inputFile, "input", "", "`INPUT` of the simulated run, instead of one that is drawn: JSON, a file, or - (with --test-states)")
	f.BoolVar(&o.account, "account", false, "lint all state machines of the AWS account: this CALLS AWS, and changes nothing there")
	f.StringArrayVar(&o.regions, "region", nil, "`REGION` of AWS, instead of the configured one; repeatable with --account")
	f.StringVar(&o.keep, "keep", "", "`FILE` that keeps what --account has read, to go on after it was stopped")
	o.aws.AddWithoutRegion(c)
	kit.SetOwn(c, "account")
	kit.CompleteWords(c, "severity", severityNames()...)
	f.BoolVar(&o.rules, "rules", false, "list the rules")
	f.BoolVar(&o.loops, "loops", false, "print only the tables of the poll loops: what each status does, what ends the loop, what it costs")
	kit.AddSubstitutes(f, &o.substitutes)
	f.StringArrayVar(&o.integrations, "integration", nil,
		"`SERVICE:ACTION` of an integration that is newer than this program, such as dynamodb:query; repeatable")
	kit.AddStatuses(f, &o.statuses)
	f.StringVar(&o.service, "service", "", "`SERVICE` that the waiters poll, as the AWS CLI calls it")
	f.StringVar(&o.operation, "operation", "", "`OPERATION` that the waiters poll, such as DescribeExport")
	kit.Must(c.RegisterFlagCompletionFunc("service", func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return kit.CompleteService(typed), cobra.ShellCompDirectiveNoFileComp
	}))
	kit.Must(c.RegisterFlagCompletionFunc("operation", func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return kit.CompleteOperation([]string{o.service}, typed), cobra.ShellCompDirectiveNoFileComp
	}))
	kit.CompleteWords(c, "rule", kit.RuleNames()...)
	kit.CompleteWords(c, "off", kit.RuleNames()...)
	kit.CompleteNothing(c, "substitute", "integration", "region", "status", "diff")
	kit.AddOutput(c, &o.output, lintFormats...)
}

func runLint(c *cobra.Command, names []string, o options) error {
	if err := o.validate(names, c.Flags().Changed); err != nil {
		return kit.Usage("%w", err)
	}
	switch {
	case o.inputFile == kit.Stdin && slices.Contains(names, kit.Stdin):
		return kit.Usage("only one of the definition and --input can be -, the standard input")
	case o.rules:
		return printRules(c.OutOrStdout(), o.output)
	}
	o.settings = kit.NewSettings()
	if o.showConfig {
		return printSettings(c, names, &o)
	}
	if o.loops {
		return printLoops(c, names, o)
	}
	if err := o.openOpinion(c, names); err != nil {
		return err
	}
	switch {
	case o.output != "text" || len(o.only) > 0 || o.severity != "note" || o.baseline != "":
	case o.account:
		o.ranking = &ranking{}
	default:
		o.tables = newLoopTables()
	}
	now, err := o.namesNow(c, names)
	if err != nil {
		return err
	}
	read, unread := o.lintAll(c, now)
	if err := c.Context().Err(); err != nil {
		return err
	}
	if unread != nil && o.update {
		return unread // a baseline of some files would lose the findings of the others
	}
	kit.WarnUnusedStatuses(c, o.unused)
	read.incomplete = unread != nil
	o.tables.unreadAll(unread)
	r, err := o.newReport(c, names, read)
	if err != nil {
		return err
	}
	if err := r.print(c, o.output); err != nil {
		return kit.WithCode(kit.ExitFailed, err)
	}
	if (o.output == "text" || o.output == "github") && (unread == nil || len(read.files) > 0) {
		terminal.Fprintf(c.ErrOrStderr(), "%s\n", r.summary(read))
	}
	if unread != nil {
		return unread
	}
	if o.opinion != nil && o.opinion.failure != nil {
		return kit.WithCode(kit.ExitUnknown, fmt.Errorf("lint --aws: %w", o.opinion.failure))
	}
	if slices.ContainsFunc(r.found, func(f Finding) bool { return f.Problem.Severity != diag.Note }) {
		return &kit.ExitError{Code: kit.ExitFailed}
	}
	return nil
}

// linted is what lint read, and found there.
type linted struct {
	found []Finding
	files []string
	has   map[string]bool // files
	homes readHomes
	thing string // what files are called
	// incomplete tells that a file could not be read.
	incomplete bool
	passed     int // files of folders and globs that have no definition
	// Of an account: what was passed over, and which ARN is no state machine's any more.
	passedText string
	isGone     func(arn string) bool
}

func (l *linted) read(name string) {
	if !l.has[name] {
		l.has[name] = true
		l.files = append(l.files, name)
	}
}

func (l *linted) readDefinition(d *source.Definition, names []string) {
	l.read(d.File)
	l.homes.add(d, names)
}

// isUnread tells whether lint could not read what a finding of the commit is in.
func (l *linted) isUnread(f Finding) bool {
	if slices.ContainsFunc(l.found, func(now Finding) bool { return now.unread && now.of.mayHold(f.of) }) {
		return true
	}
	place := f.entry(homeFile)
	return l.incomplete && !l.homes.has(place.File, place.Pointer) && isThere(place.File)
}

// tellPassed says how many files are something else.
func (l *linted) tellPassed() string {
	switch l.passed {
	case 0:
		return l.passedText
	case 1:
		return "; passed over 1 file without a definition"
	default:
		return fmt.Sprintf("; passed over %d files without a definition", l.passed)
	}
}

// lintAll lints the account, or what the names give.
func (o *options) lintAll(c *cobra.Command, names []string) (*linted, error) {
	if o.account {
		return lintAccount(c, *o)
	}
	return lintFiles(c, names, *o)
}

// lintFiles reads the files that the names match.
func lintFiles(c *cobra.Command, names []string, o options) (l *linted, unread error) {
	l = &linted{found: []Finding{}, has: map[string]bool{}, homes: readHomes{}, thing: "file"}
	if len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return !source.IsARN(name) }) {
		l.thing = "state machine"
	}
	from, err := o.from(c)
	if err != nil {
		return l, err
	}
	var problems []error
	from.Skip = func(name string, text []byte) bool {
		if o.service == "" && !waiterlint.IsWaiters(text) {
			return false
		}
		findings, err := lintWaiters(name, text, o)
		if l.found = append(l.found, findings...); err == nil {
			l.read(name)
			l.homes.put(name, "", false)
		}
		problems = append(problems, err)
		return true
	}
	from.Passed = func(name string) {
		l.passed++
		o.tables.pass(name)
	}
	definitions, err := o.settings.Load(c.Context(), names, from)
	if err != nil {
		problems = append(problems, kit.SourceError(err))
	}
	var strays ignore.Strays
	seen := map[string]bool{} // one that several names give counts once
	for _, d := range definitions {
		key := kit.RelativeName(".", d.Template) + "#" + kit.RelativeName(".", d.File) + "#" + d.ID
		if c.Context().Err() != nil || seen[key] {
			continue // the caller asks whether the command was interrupted
		}
		seen[key] = true
		findings, hint, err := checkDefinition(c.Context(), d, o)
		if l.found = append(l.found, findings...); err == nil {
			l.readDefinition(d, names)
		}
		strays.Add(d, !isNamed(d, names))
		problems = append(problems, err)
		if hint != "" && o.files == nil {
			terminal.Fprintf(c.ErrOrStderr(), "%s:%s\n", d.Name, hint)
		}
	}
	l.found = append(l.found, o.strayFindings(&strays)...)
	if err := errors.Join(problems...); err != nil {
		return l, kit.SourceError(err)
	}
	return l, nil
}

// strayFindings are those of comments that are about no state machine.
func (o *options) strayFindings(strays *ignore.Strays) (found []Finding) {
	for _, f := range strays.Findings(kit.IgnoreOptions()) {
		file := f.File
		f.File = ""
		if j := o.judgeOf(file); j.checks(f.Rule) {
			f.Severity = j.severity(f.Rule, f.Severity)
			found = append(found, Finding{file: file, Rule: f.Rule, Problem: f.Problem, body: f})
		}
	}
	return found
}
