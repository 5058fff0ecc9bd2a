package fixtruth_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
	"github.com/jobpoller/jobpoller/tests/fixtruth"
)

// checkLoops is what lint says of a machine.
func checkLoops(t *testing.T, d *fixtruth.Drawn) ([]lint.Finding, []lint.Loop) {
	t.Helper()
	definition, err := reader(t.Context())(d.Text)
	require.NoError(t, err, "seed %d", d.Seed)
	m, err := definition.Parse()
	require.NoError(t, err, "seed %d", d.Seed)
	types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
	require.NoError(t, err, "seed %d", d.Seed)
	return lint.CheckLoops(m, lint.Options{Express: d.Express, Said: saidOf(d), Types: types})
}

// untrueOfIntact is what lint says of a machine without a fault that is not so: rows, bounds, and each error and danger.
func untrueOfIntact(t *testing.T, d *fixtruth.Drawn) []string {
	t.Helper()
	_, untrue := tableOf(t, d)
	findings, _ := checkLoops(t, d)
	for _, f := range findings {
		if f.Severity == diag.Error || f.Severity == diag.Danger {
			untrue = append(untrue, fmt.Sprintf("%s of the twin: %s: %s", f.Severity, f.Pointer, f.Message))
		}
	}
	return untrue
}

// tableOf reads lint's table of a machine. It returns how many rows it has, and what they
// say that the generator does not mean or that no run does.
func tableOf(t *testing.T, d *fixtruth.Drawn) (rows int, untrue []string) {
	t.Helper()
	findings, loops := checkLoops(t, d)
	for _, l := range loops {
		if l.Poll == nil || l.Poll.Task.Resource != d.Poll || len(l.Rows) == 0 {
			continue
		}
		ways, err := d.Ways(t.Context(), l.Poll.Name)
		require.NoError(t, err, "seed %d", d.Seed)
		whole, err := d.WholeWays(t.Context(), l.Poll.Name)
		require.NoError(t, err, "seed %d", d.Seed)
		rows += len(l.Rows)
		for _, r := range l.Rows {
			untrue = append(untrue, untrueOf(d, r, ways, whole, findings)...)
		}
		if !d.Express {
			untrue = append(untrue, untrueBound(t, d, l, ways)...)
		}
	}
	return rows, untrue
}

// untrueOf is what a row says that is not so.
func untrueOf(d *fixtruth.Drawn, r lint.Row, ways, whole map[string]fixtruth.Way, findings []lint.Finding) []string {
	values := r.Values
	if len(values) == 0 {
		values = []string{fixtruth.Any}
	}
	var untrue []string
	for _, v := range values {
		if means := d.Means(v); means != "" && !isMeant(r.Meaning, means) {
			untrue = append(untrue, fmt.Sprintf("%q means %s, not %s", v, means, r.Meaning))
		}
		if way, known := ways[v]; known && !leads(d, r, way, findings) && (len(whole) == 0 || !leads(d, r, whole[v], findings)) {
			untrue = append(untrue, fmt.Sprintf("with %q it %s, and not: %s", v, way, r.Ends))
		}
	}
	return untrue
}

// untrueBound is what the bound of a loop says that is not so. No bound may be of the errors
// that it polls on for.
func untrueBound(t *testing.T, d *fixtruth.Drawn, l lint.Loop, ways map[string]fixtruth.Way) []string {
	t.Helper()
	statuses := slices.Sorted(maps.Keys(ways))
	slices.SortStableFunc(statuses, func(a, b string) int { // a bound may be for jobs that run alone
		return orderOfRunning(d, a) - orderOfRunning(d, b)
	})
	for _, status := range statuses {
		if ways[status] != fixtruth.PollsOn || status == fixtruth.Any {
			continue
		}
		job, service, err := d.Ends(t.Context(), l.Poll.Name, status)
		require.NoError(t, err, "seed %d", d.Seed)
		past := slices.Contains(l.Bound.Past, status)
		if bounded := l.Bound.Kind != lint.Unbounded; bounded && job == past || !bounded && job && service {
			return []string{fmt.Sprintf("a loop whose job stays %s ends by itself: %t, and not: %s %s", status, job, l.Bound.Kind, l.Bound.DescribePast())}
		}
		return nil // it is so for each
	}
	return nil
}

// orderOfRunning is 0 for a status in which the job runs, else 1.
func orderOfRunning(d *fixtruth.Drawn, status string) int {
	if d.Means(status) == "running" {
		return 0
	}
	return 1
}

// isMeant tells whether a meaning is that of the generator, or says nothing.
func isMeant(m lint.Meaning, means string) bool {
	return m == lint.MeansUnknown || m == lint.MeansUnclear || string(m) == means
}

// leads tells whether a row leads where a run got to. An error of the engine is a finding.
func leads(d *fixtruth.Drawn, r lint.Row, way fixtruth.Way, findings []lint.Finding) bool {
	switch {
	case r.Ends == lint.EndsUnknown:
		return true
	case r.Ends == lint.NextJob: // and behind the last one
		return way == fixtruth.PollsOn || way == fixtruth.Succeeds && r.Last != lint.EndsFailure || way == fixtruth.Fails && r.Last == lint.EndsFailure
	case way == fixtruth.Breaks:
		return r.Ends == lint.EndsFailure || slices.ContainsFunc(findings, func(f lint.Finding) bool {
			return f.Severity == diag.Error || f.Severity == diag.Danger || f.Rule == typecheck.AbsentMember
		})
	case r.Ends == lint.StartsAgain: // until the last one
		return way != fixtruth.Succeeds || slices.Contains(d.Forms, "one start after another")
	case way == fixtruth.GoesOn:
		return r.Ends == lint.GoesOn
	case r.Ends == lint.GoesOn:
		return way != fixtruth.PollsOn
	default:
		return map[lint.End]fixtruth.Way{lint.PollsOn: fixtruth.PollsOn, lint.EndsSuccess: fixtruth.Succeeds, lint.EndsFailure: fixtruth.Fails}[r.Ends] == way
	}
}
