package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/diag"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	waiterlint "github.com/jobpoller/jobpoller/pollcore/catalog/lint"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// lintOptions are the flags of "jobpoller lint".
type lintOptions struct {
	express     bool
	only, off   []string
	errorsOnly  bool
	output      string
	rules       bool
	loops       bool
	substitutes []string
	// integrations are those that AWS added after this program was made.
	integrations []string

	service, operation string // that the waiters poll
}

// The rules about a definition: that it is right, and that nothing in it is
// suspicious, such as a variable that nothing assigns.
const (
	definitionRule = "definition"
	suspiciousRule = "suspicious"
)

// rules are those that can be left out.
func rules() []lint.Rule {
	suspicious := lint.Rule{
		Name:  suspiciousRule,
		About: "it deploys and then fails, such as a variable that nothing assigns or a Choice without Default",
	}
	return append([]lint.Rule{suspicious}, lint.Rules()...)
}

func newLintCommand() *cobra.Command {
	var o lintOptions
	c := &cobra.Command{
		Use:   "lint FILE...",
		Short: "Check state machine definitions and waiters",
		Long: `Lint checks definitions of state machines and waiters. It reports each finding
with its place in the file. "-" reads standard input.

Findings:
  ERROR    AWS rejects the definition, or no program can read the waiter
  DANGER   it deploys but cannot work
  WARNING  it deploys and can go wrong
  NOTE     worth knowing

A file with waiters has the Smithy form or botocore's: one waiter, several by
name, a waiters-2.json, a Smithy model, or a request of the Lambda functions. Lint
checks paths, values and errors against the operation that the waiter polls. Where
the file does not name the operation, pass --service and --operation.

Rules for --rule and --off:
` + ruleHelp() + `
Exit codes: 0 nothing found, or notes alone; 1 something found; 2 wrong usage.`,
		Example: `  jobpoller lint poller.asl.json
  jobpoller lint -o json statemachines/*.asl.json
  jobpoller lint --off unretried-task --substitute WaitSeconds=30 template.asl.json
  jobpoller lint waiter.json --service dynamodb --operation DescribeExport
  jobpoller lint waiters-2.json --service rds`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && !o.rules {
				return usage("lint needs a file, or \"-\" for standard input")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return runLint(c, args, o) },
	}
	f := c.Flags()
	f.BoolVar(&o.express, "express", false, "check definitions as Express workflows")
	f.StringSliceVar(&o.only, "rule", nil, "check only these rules, separated by commas")
	f.StringSliceVar(&o.off, "off", nil, "leave out these rules, separated by commas")
	f.BoolVar(&o.errorsOnly, "errors", false, "report only ERROR and DANGER")
	f.BoolVar(&o.rules, "rules", false, "list the rules")
	f.BoolVar(&o.loops, "loops", false, "list the poll loops: what a turn costs and how long the history lasts")
	addSubstitutes(f, &o.substitutes)
	f.StringArrayVar(&o.integrations, "integration", nil,
		"SERVICE:ACTION of an integration that is newer than this program, such as dynamodb:query; repeatable")
	f.StringVar(&o.service, "service", "", "service that the waiters poll, as the AWS CLI calls it")
	f.StringVar(&o.operation, "operation", "", "operation that the waiters poll, such as DescribeExport")
	must(c.RegisterFlagCompletionFunc("service", func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return completeService(typed), cobra.ShellCompDirectiveNoFileComp
	}))
	completeWords(c, "rule", ruleNames()...)
	completeWords(c, "off", ruleNames()...)
	completeNothing(c, "substitute", "integration", "operation")
	addOutput(c, &o.output)
	return c
}

// listedRule is a rule and what it is a rule of. Its JSON members are a
// contract: see docs/reference/json.md.
type listedRule struct {
	Name  string `json:"name"`
	About string `json:"about"`
	Of    string `json:"of"` // definition or waiter
}

func listedRules() []listedRule {
	var all []listedRule
	for _, r := range rules() {
		all = append(all, listedRule{r.Name, r.About, "definition"})
	}
	for _, r := range waiterlint.Rules() {
		all = append(all, listedRule{r.Name, r.About, "waiter"})
	}
	return all
}

func ruleNames() []string {
	var names []string
	for _, r := range listedRules() {
		names = append(names, r.Name)
	}
	return names
}

func ruleHelp() string {
	var b strings.Builder
	of := ""
	for _, r := range listedRules() {
		if r.Of != of {
			of = r.Of
			terminal.Fprintf(&b, "Of a %s:\n", of)
		}
		terminal.Fprintf(&b, "  %-16s %s\n", r.Name, r.About)
	}
	return b.String()
}

// validate reports what is wrong with the flags, all at once.
func (o *lintOptions) validate(changed func(flag string) bool) error {
	problems := []error{checkOutput(o.output)}
	report := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if o.service != "" {
		if _, err := catalog.AWS.Service(o.service); err != nil {
			problems = append(problems, notFound(err, o.service, ""))
		}
	}
	if o.operation != "" && o.service == "" {
		report("--operation %s needs --service", o.operation)
	}
	for _, name := range o.integrations {
		if service, action, _ := strings.Cut(name, ":"); service == "" || service == "arn" || action == "" {
			report("--integration must be SERVICE:ACTION, the end of a Resource such as arn:aws:states:::dynamodb:query, is %q", name)
		}
	}
	problems = append(problems, meaningless(changed, []meaning{
		{[]string{"loops", "express", "substitute", "integration"}, o.service == "", "is for definitions, and --service is for waiters: remove one of them"},
		{[]string{"rule", "off", "errors", "express"}, !o.loops, "is not for --loops, which checks nothing: remove one of them"},
	})...)
	known := ruleNames()
	for _, flag := range []struct {
		name  string
		rules []string
	}{{"rule", o.only}, {"off", o.off}} {
		for _, name := range flag.rules {
			if !slices.Contains(known, name) {
				report("--%s: there is no rule %q%s; list them: jobpoller lint --rules", flag.name, name, diag.DidYouMean(name, known))
			}
		}
	}
	return errors.Join(problems...)
}

func runLint(c *cobra.Command, files []string, o lintOptions) error {
	if err := o.validate(c.Flags().Changed); err != nil {
		return usage("%w", err)
	}
	switch {
	case o.rules:
		return printRules(c.OutOrStdout(), o.output)
	case o.loops:
		return printLoops(c, files, o)
	}
	found := []finding{}
	var unread []error
	var hints strings.Builder
	for _, name := range files {
		findings, hint, err := lintFile(name, c.InOrStdin(), o)
		if err != nil {
			unread = append(unread, err)
			continue
		}
		if hint != "" {
			terminal.Fprintf(&hints, "%s:%s\n", name, hint)
		}
		found = append(found, findings...)
	}
	if err := printFindings(c.OutOrStdout(), o.output, found); err != nil {
		return &exitError{exitFailed, err}
	}
	terminal.Fprintf(c.ErrOrStderr(), "%s", terminal.Lines(hints.String()))
	if err := errors.Join(unread...); err != nil {
		return usage("%w", err)
	}
	if slices.ContainsFunc(found, func(f finding) bool { return f.problem.Severity != diag.Note }) {
		return &exitError{code: exitFailed}
	}
	return nil
}

// lintFile returns the findings of a file, and what to do about placeholders if they
// are the reason.
func lintFile(name string, in io.Reader, o lintOptions) (found []finding, hint terminal.Lines, err error) {
	text, err := readText(name, in)
	if err != nil {
		return nil, "", err
	}
	if o.service != "" || waiterlint.IsWaiters(text) {
		found, err = lintWaiters(name, text, o)
		return found, "", err
	}
	return lintDefinition(name, text, o)
}

// lintDefinition returns the findings of a definition, and a hint as lintFile does.
func lintDefinition(name string, template []byte, o lintOptions) (found []finding, hint terminal.Lines, err error) {
	values, err := substitutions(o.substitutes).values()
	if err != nil {
		return nil, "", err
	}
	text, err := substituted(name, template, values)
	if err != nil {
		return nil, "", err
	}
	as := asl.Standard
	if o.express {
		as = asl.Express
	}
	report := func(f lint.Finding) {
		if f.Rule == definitionRule || len(o.only) == 0 || slices.Contains(o.only, f.Rule) {
			found = append(found, finding{file: name, rule: f.Rule, problem: f.Problem, body: f})
		}
	}
	for _, p := range asl.Validate(text, as, o.integrations...) {
		rule := definitionRule
		if p.Severity != diag.Error {
			rule = suspiciousRule
		}
		if p.Severity == diag.Error || !o.errorsOnly && !slices.Contains(o.off, suspiciousRule) {
			report(lint.Finding{Problem: p, Rule: rule})
		}
	}
	m, problems := asl.Parse(text, o.integrations...)
	switch {
	case problems != nil && isRequest(text):
		return nil, "", usage("%s is a request of the Lambda functions without a waiter, not a definition. To run its job: jobpoller run --input %s", name, name)
	case problems != nil:
		hint = placeholderHint(template, values, problems)
	case !o.errorsOnly:
		for _, f := range lint.Check(m, lint.Options{Off: o.off, Express: o.express}) {
			report(f)
		}
	}
	return found, hint, nil
}

func printRules(out io.Writer, format string) error {
	if format == "json" {
		return writeJSON(out, listedRules())
	}
	_, err := io.WriteString(out, ruleHelp())
	return err
}

// pollLoop is a poll loop of a file. Its JSON members are a contract: see
// docs/reference/json.md.
type pollLoop struct {
	File        string   `json:"file"`
	States      []string `json:"states"`
	WaitSeconds float64  `json:"waitSeconds"`
	Events      int      `json:"events"`
	Transitions int      `json:"transitions"`
	Turns       int      `json:"turnsInHistory"`
	LastSeconds float64  `json:"secondsInHistory"`
	USDPerDay   float64  `json:"costUSDPerDay"`
}

// printLoops lists the poll loops of the files.
func printLoops(c *cobra.Command, files []string, o lintOptions) error {
	found := []pollLoop{}
	for _, name := range files {
		machine, err := readMachine(name, c.InOrStdin(), o.substitutes)
		if err != nil {
			return err
		}
		for _, t := range lint.PollLoops(machine) {
			found = append(found, pollLoop{
				File: name, States: t.States, WaitSeconds: t.Wait.Seconds(), Events: t.Events, Transitions: t.Transitions,
				Turns: t.Turns(), LastSeconds: t.Lasts().Seconds(), USDPerDay: math.Round(t.DollarsPerDay()*1e4) / 1e4,
			})
		}
	}
	if o.output == "json" {
		return writeJSON(c.OutOrStdout(), found)
	}
	for _, l := range found {
		lasts := "its delay is not in the definition"
		if l.WaitSeconds > 0 {
			lasts = fmt.Sprintf("a turn every %gs: the history lasts %.1f hours, a day costs $%.2f", l.WaitSeconds, l.LastSeconds/3600, l.USDPerDay)
		}
		terminal.Fprintf(c.OutOrStdout(), "%s: %s: %d events and %d transitions a turn, %d turns; %s\n",
			l.File, strings.Join(l.States, " > "), l.Events, l.Transitions, l.Turns, lasts)
	}
	return nil
}

func writeJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
