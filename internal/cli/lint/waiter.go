package lint

import (
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	waiterlint "github.com/jobpoller/jobpoller/pollcore/catalog/lint"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

// lintWaiters returns the findings of the waiters of a file.
func lintWaiters(name string, text []byte, o options) ([]Finding, error) {
	j := o.judgeOf(name)
	findings, err := waiterlint.File(text, waiterlint.FileOptions{
		Options: waiterlint.Options{Only: o.only, Off: j.off()}, Operations: models.Operation,
		Service: o.service, Operation: o.operation,
	})
	if err != nil {
		return nil, kit.Usage("%s: %w", name, err)
	}
	var found []Finding
	for _, f := range findings {
		f.Severity = j.severity(f.Rule, f.Severity)
		found = append(found, Finding{file: name, Rule: f.Rule, Problem: f.Problem, subjects: []string{f.Message}, body: f})
	}
	return found, nil
}
