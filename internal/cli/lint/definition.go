package lint

import (
	"cmp"
	"context"
	"slices"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/source"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// CheckDefinition returns what jobpoller lint finds in a definition, with --express if it is set, and with what --status
// says of statuses.
func CheckDefinition(ctx context.Context, d *source.Definition, express bool, said map[string]lint.Meaning) ([]Finding, error) {
	found, _, err := checkDefinition(ctx, d, options{express: express, said: said})
	return found, err
}

// checkDefinition returns the findings of a definition, and what to do about placeholders if they
// are the reason. It asks AWS only about a definition in which it finds no ERROR.
func checkDefinition(ctx context.Context, d *source.Definition, o options) (found []Finding, hint terminal.Lines, err error) {
	as := asl.Standard
	if o.express || d.Type == asl.Express {
		as = asl.Express
	}
	problems := d.Validate(as, o.integrations...)
	m, err := d.Parse(o.integrations...)
	unchecked := err != nil && !slices.ContainsFunc(problems, func(p diag.Problem) bool { return p.Severity == diag.Error })
	report := func(f lint.Finding) {
		if f.Rule == definitionRule || f.Rule == awsRule || len(o.only) == 0 || unchecked || slices.Contains(o.only, f.Rule) {
			found = append(found, Finding{
				file: cmp.Or(f.File, d.File), machine: d.ID, weight: d.Weight, unchecked: unchecked, Rule: f.Rule, Problem: f.Problem, body: f,
			})
		}
	}
	for _, p := range problems {
		rule := definitionRule
		if p.Severity != diag.Error {
			rule = suspiciousRule
		}
		if p.Severity == diag.Error || !slices.Contains(o.off, suspiciousRule) {
			report(lint.Finding{Problem: p, Rule: rule})
		}
	}
	if err != nil {
		return found, kit.QuotesHint(d, err), nil
	}
	types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
	if err != nil {
		return nil, "", err
	}
	options := lint.Options{Off: o.off, Express: as == asl.Express, Types: types, Said: o.said}
	findings, loops := lint.CheckLoops(m, options)
	for _, f := range findings {
		f.Problem = d.Locate(f.Problem)
		report(f)
	}
	o.noteSaid(loops)
	o.tables.add(headingOf(d), m, options)
	o.ranking.add(d, m, options)
	if o.opinion == nil {
		return found, "", nil
	}
	said, hint, err := o.opinion.of(ctx, d.Name, m, d.Text, as, lint.Loops(m, options))
	for _, p := range said {
		report(lint.Finding{Problem: d.Locate(p), Rule: awsRule})
	}
	return found, hint, err
}
