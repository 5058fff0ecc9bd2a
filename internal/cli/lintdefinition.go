package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/diag"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// lintDefinition returns the findings of a definition, and a hint as lintFile does.
// It asks AWS only about a definition in which it finds no ERROR.
func lintDefinition(ctx context.Context, name string, template []byte, o lintOptions) (found []finding, hint terminal.Lines, err error) {
	values, err := substitutions(o.substitutes).values()
	if err != nil {
		return nil, "", err
	}
	text, err := substitute(name, template, values)
	if err != nil {
		return nil, "", err
	}
	as := asl.Standard
	if o.express {
		as = asl.Express
	}
	report := func(f lint.Finding) {
		if f.Rule == definitionRule || f.Rule == awsRule || len(o.only) == 0 || slices.Contains(o.only, f.Rule) {
			found = append(found, finding{file: name, rule: f.Rule, problem: f.Problem, body: f})
		}
	}
	for _, p := range asl.Validate(text, as, o.integrations...) {
		rule := definitionRule
		if p.Severity != diag.Error {
			rule = suspiciousRule
		}
		if p.Severity == diag.Error || !slices.Contains(o.off, suspiciousRule) {
			report(lint.Finding{Problem: p, Rule: rule})
		}
	}
	m, problems := asl.Parse(text, o.integrations...)
	switch {
	case problems != nil && isRequest(text):
		return nil, "", usage("%s is a request of the Lambda functions without a waiter, not a definition. To run its job: jobpoller run --input %s", name, name)
	case problems != nil:
		hint = placeholderHint(template, values, problems)
	default:
		options := lint.Options{Off: o.off, Express: o.express}
		for _, f := range lint.Check(m, options) {
			report(f)
		}
		o.tables.add(name, m, options)
		if hint, err = untold(name, m); err != nil || o.opinion == nil {
			break
		}
		if len(m.Placeholders) > 0 {
			return found, hint + "\nAWS was not asked: pass values for the placeholders: --substitute NAME=VALUE", nil
		}
		for _, p := range o.opinion.validate(ctx, text, as) {
			report(lint.Finding{Problem: p, Rule: awsRule})
		}
	}
	return found, hint, err
}

// untold is a hint for a machine with a poll loop of which run --simulate has to be
// told some Tasks: a line, or nothing.
func untold(file string, m *asl.StateMachine) (terminal.Lines, error) {
	if len(lint.Loops(m, lint.Options{})) == 0 {
		return "", nil
	}
	unknown, err := simulate.UnknownOf(m, models.Load)
	if err != nil || len(unknown) == 0 {
		return "", err
	}
	names := make([]string, len(unknown))
	for i, t := range unknown {
		names[i] = t.State
	}
	return terminal.Lines(terminal.Sprintf(" to simulate it, give the answers of %s: %s. Write a file to fill in: jobpoller mocks init %s",
		plural(len(names), "Task"), strings.Join(names, ", "), file)), nil
}
