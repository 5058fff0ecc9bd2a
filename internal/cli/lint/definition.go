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

// CheckDefinition returns what jobpoller lint finds in a definition with the settings of its file, with --express if it is
// set, and with what --status says of statuses.
func CheckDefinition(ctx context.Context, d *source.Definition, express bool, said map[string]lint.Meaning, s *kit.Settings) ([]Finding, error) {
	found, _, err := checkDefinition(ctx, d, options{express: express, said: said, settings: s})
	found, _ = splitIgnored(found)
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
	j := o.judgeDefinition(d)
	report := func(f lint.Finding) {
		one := Finding{file: cmp.Or(f.File, d.File), machine: d.ID, of: seatOf(d), unread: err != nil, weight: d.Weight, unchecked: unchecked, Rule: f.Rule}
		if _, fixed := kit.FixedRules()[f.Rule]; !fixed {
			if !j.checks(f.Rule) && !unchecked {
				return
			}
			f.Severity = j.severity(f.Rule, f.Severity)
			one.ignored = j.ignores.Find(f.Rule, f.Pointer)
		}
		one.Problem, one.subjects, one.body = f.Problem, f.Subjects, f
		found = append(found, one)
	}
	for _, p := range problems {
		rule := kit.DefinitionRule
		if p.Severity != diag.Error {
			rule = kit.SuspiciousRule
		}
		if p.Severity == diag.Error || !slices.Contains(j.off(), kit.SuspiciousRule) {
			report(lint.Finding{Problem: p, Rule: rule, Subjects: []string{p.Message}})
		}
	}
	if err != nil {
		o.tables.skip(d)
		return found, kit.QuotesHint(d, err), nil
	}
	types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
	if err != nil {
		return nil, "", err
	}
	options := lint.Options{Off: j.off(), Express: as == asl.Express, Types: types, Said: o.settings.Said(d.File, o.said), Rate: j.rate, Region: j.region(d.File)}
	findings, loops := lint.CheckLoops(m, options)
	for _, f := range findings {
		f.Problem = d.Locate(f.Problem)
		report(f)
	}
	for _, f := range j.ignores.Findings(j.checks) {
		report(f)
	}
	o.noteSaid(loops)
	o.tables.add(d, m, options)
	o.ranking.add(d, m, options)
	if o.opinion == nil {
		return found, "", nil
	}
	said, hint, err := o.opinion.of(ctx, d.Name, m, d.Text, as, lint.Loops(m, options))
	for _, p := range said {
		report(lint.Finding{Problem: d.Locate(p), Rule: kit.AWSRule, Subjects: []string{p.Message}})
	}
	return found, hint, err
}
