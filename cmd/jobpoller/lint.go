package main

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
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// lintOptions are the flags of "jobpoller lint".
type lintOptions struct {
	express     bool
	off         []string
	errorsOnly  bool
	output      string
	rules       bool
	loops       bool
	substitutes []string
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
		About: "what AWS takes and then fails on, such as a variable that nothing assigns or a Choice without Default",
	}
	return append([]lint.Rule{suspicious}, lint.Rules()...)
}

// fileFinding is a finding with its file.
type fileFinding struct {
	lint.Finding

	File string
}

func (f fileFinding) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(f.Finding)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	if members["file"], err = json.Marshal(f.File); err != nil {
		return nil, err
	}
	return json.Marshal(members)
}

func newLintCommand() *cobra.Command {
	var o lintOptions
	c := &cobra.Command{
		Use:   "lint definition.asl.json...",
		Short: "Check state machine definitions",
		Long: `Lint reports all that is wrong in state machine definitions, with the place of
each problem: first what AWS would refuse (severity ERROR), then what deploys and
goes wrong (severity WARNING), above all in poll loops. "-" reads standard input.

Rules of the second kind, for --off:
` + ruleHelp() + `
Exit codes: 0 nothing found, 1 something found, 2 wrong usage.`,
		Example: `  jobpoller lint poller.asl.json
  jobpoller lint -o json statemachines/*.asl.json
  jobpoller lint --off unretried-task --substitute WaitSeconds=30 template.asl.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && !o.rules {
				return usage("lint needs the name of a file, or \"-\" for standard input")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return runLint(c, args, o) },
	}
	f := c.Flags()
	f.BoolVar(&o.express, "express", false, "check as an Express workflow")
	f.StringSliceVar(&o.off, "off", nil, "rules not to check, with commas between them")
	f.BoolVar(&o.errorsOnly, "errors", false, "report only what AWS would refuse")
	f.BoolVar(&o.rules, "rules", false, "list the rules")
	f.BoolVar(&o.loops, "loops", false, "list the poll loops instead: what a turn costs, and how long the history lasts")
	f.StringArrayVar(&o.substitutes, "substitute", nil, "Name=value for a placeholder ${Name}; may be given more than once")
	f.StringVarP(&o.output, "output", "o", "text", "text or json")
	return c
}

func ruleHelp() string {
	var b strings.Builder
	for _, r := range rules() {
		fmt.Fprintf(&b, "  %-16s %s\n", r.Name, r.About)
	}
	return b.String()
}

func runLint(c *cobra.Command, files []string, o lintOptions) error {
	if o.output != "text" && o.output != "json" {
		return usage("--output must be text or json, is %q", o.output)
	}
	var known []string
	for _, r := range rules() {
		known = append(known, r.Name)
	}
	for _, name := range o.off {
		if !slices.Contains(known, name) {
			return usage("--off: there is no rule %q; there are %s", name, strings.Join(known, ", "))
		}
	}
	if o.rules {
		return printRules(c.OutOrStdout(), o.output)
	}
	if o.loops {
		return printLoops(c, files, o)
	}
	found := []fileFinding{}
	var unread []error
	var hints strings.Builder
	for _, name := range files {
		findings, hint, err := lintFile(name, c.InOrStdin(), o)
		if err != nil {
			unread = append(unread, err)
			continue
		}
		if hint != "" {
			fmt.Fprintf(&hints, "%s:%s\n", name, hint)
		}
		for _, f := range findings {
			found = append(found, fileFinding{f, name})
		}
	}
	if err := printFindings(c.OutOrStdout(), o.output, found); err != nil {
		return &exitError{exitFailed, err}
	}
	fmt.Fprint(c.ErrOrStderr(), hints.String())
	if err := errors.Join(unread...); err != nil {
		return usage("%w", err)
	}
	if len(found) > 0 {
		return &exitError{code: exitFailed}
	}
	return nil
}

// lintFile returns what is wrong in a file, and what to do about placeholders if
// they are the reason.
func lintFile(name string, in io.Reader, o lintOptions) (findings []lint.Finding, hint string, err error) {
	template, err := readText(name, in)
	if err != nil {
		return nil, "", err
	}
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
	for _, p := range asl.Validate(text, as) {
		rule := definitionRule
		if p.Severity != diag.Error {
			rule = suspiciousRule
		}
		if p.Severity == diag.Error || !o.errorsOnly && !slices.Contains(o.off, suspiciousRule) {
			findings = append(findings, lint.Finding{Problem: p, Rule: rule})
		}
	}
	m, problems := asl.Parse(text)
	switch {
	case problems != nil:
		hint = placeholderHint(template, values, problems)
	case !o.errorsOnly:
		findings = append(findings, lint.Check(m, lint.Options{Off: o.off, Express: o.express})...)
	}
	return findings, hint, nil
}

func printRules(out io.Writer, format string) error {
	if format == "json" {
		return writeJSON(out, rules())
	}
	_, err := io.WriteString(out, ruleHelp())
	return err
}

// pollLoop is a poll loop of a file. Its JSON members are a contract: see
// docs/json.md.
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
		lasts := "the definition does not say how long it waits"
		if l.WaitSeconds > 0 {
			lasts = fmt.Sprintf("every %gs: the history lasts %.1f hours, a day costs $%.2f", l.WaitSeconds, l.LastSeconds/3600, l.USDPerDay)
		}
		fmt.Fprintf(c.OutOrStdout(), "%s: %s: %d events and %d transitions a turn, %d turns; %s\n",
			l.File, strings.Join(l.States, " > "), l.Events, l.Transitions, l.Turns, lasts)
	}
	return nil
}

func printFindings(out io.Writer, format string, found []fileFinding) error {
	if format == "json" {
		return writeJSON(out, found)
	}
	var b strings.Builder
	for _, f := range found {
		place := f.File
		if f.Line > 0 {
			place += fmt.Sprintf(":%d:%d", f.Line, f.Column)
		}
		p := f.Problem
		p.Line, p.Severity = 0, diag.Error
		fmt.Fprintf(&b, "%s: %s %s: %s\n", place, strings.ToLower(f.Severity.String()), f.Rule, p.String())
		if s := f.Snippet(); s != "" {
			b.WriteString(s + "\n")
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func writeJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
