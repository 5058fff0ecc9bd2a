package cli

import waiterlint "github.com/jobpoller/jobpoller/pollcore/catalog/lint"

// lintWaiters returns the findings of the waiters of a file.
func lintWaiters(name string, text []byte, o lintOptions) ([]finding, error) {
	findings, err := waiterlint.File(text, waiterlint.FileOptions{
		Options: waiterlint.Options{Only: o.only, Off: o.off}, Service: o.service, Operation: o.operation,
	})
	if err != nil {
		return nil, usage("%s: %w", name, err)
	}
	var found []finding
	for _, f := range findings {
		found = append(found, finding{file: name, rule: f.Rule, problem: f.Problem, body: f})
	}
	return found, nil
}
