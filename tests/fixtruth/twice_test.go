package fixtruth_test

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
	"github.com/jobpoller/jobpoller/tests/fixtruth"
	"github.com/jobpoller/jobpoller/tests/race"
)

var twice = flag.Int("twice", race.Of(6, 2), "how many machines with several faults are repaired twice")

// TestRepairedTwice repairs machines with two to five faults as --write does, and once more. The second time changes nothing
// and has nothing to make, and lint finds nothing any more that the first time mended.
func TestRepairedTwice(t *testing.T) {
	t.Parallel()
	repaired, made := 0, 0
	for s := *seed; repaired < *twice; s++ {
		d := fixtruth.DrawFaulty(s)
		if len(d.Faults) < 2 || !has(append(slices.Clone(d.Forms), d.Faults...), *only) {
			require.Less(t, s, *seed+1_000_000, "too few machines have %q", *only)
			continue
		}
		repaired++
		o := fix.RepairOptions{Sure: true, Express: d.Express, Said: saidOf(d), Models: models.Load}
		read := reader(t.Context())
		once, first, err := fix.RepairFile(t.Context(), d.Text, read, o)
		require.NoError(t, err, "seed %d: %v", s, d.Faults)
		again, second, err := fix.RepairFile(t.Context(), once, read, o)
		require.NoError(t, err, "seed %d: %v", s, d.Faults)
		require.Equal(t, string(once), string(again), "seed %d: the second time changes more: %v", s, d.Faults)
		for _, r := range second {
			require.NotEqual(t, fix.Sure, r.Class, "seed %d: %s is left to make", s, r.Name())
		}
		m, findings := check(t, once, o)
		for _, r := range first {
			if !r.Made {
				continue
			}
			made++
			require.Equal(t, fix.Sure, r.Class, "seed %d: %s", s, r.Name())
			for _, f := range findings {
				at := m.StateAt(f.Pointer)
				require.False(t, at != nil && f.Rule == r.Rule && at.Name == r.State && tells(&r, f.Subjects), "seed %d: %s is mended, and lint still finds it: %s", s, r.Name(), f.Message)
			}
		}
	}
	t.Logf("%d machines, %d repairs made", repaired, made)
	require.Positive(t, made, "no repair is made")
}

// tells tells whether the line of a repair is about all subjects of a finding.
func tells(r *fix.Repair, subjects []string) bool {
	return !slices.ContainsFunc(subjects, func(subject string) bool { return !strings.Contains(r.About, subject) })
}

// check is what lint finds in a text.
func check(t *testing.T, text []byte, o fix.RepairOptions) (*asl.StateMachine, []lint.Finding) {
	t.Helper()
	d, err := reader(t.Context())(text)
	require.NoError(t, err)
	m, err := d.Parse()
	require.NoError(t, err)
	types, err := typecheck.New(m, typecheck.Options{Models: o.Models})
	require.NoError(t, err)
	return m, lint.Check(m, lint.Options{Express: o.Express, Said: o.Said, Types: types})
}
