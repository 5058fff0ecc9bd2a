package fixtruth_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/tests/fixtruth"
	"github.com/jobpoller/jobpoller/tests/race"
)

// promised is what the row of a bound says: how many polls, or how long.
var promised = regexp.MustCompile(`has not ended after (?:([\d,]+) polls, )?(\w+)`)

// longestPause is the longest Wait of a drawn loop.
const longestPause = 45 * time.Second

// polls is how many polls a row leaves a job at least.
func polls(t *testing.T, row string) int {
	t.Helper()
	m := promised.FindStringSubmatch(row)
	require.NotNil(t, m, row)
	if m[1] != "" {
		n, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
		require.NoError(t, err)
		return n
	}
	lasts, err := time.ParseDuration(m[2])
	require.NoError(t, err)
	return int(lasts / longestPause)
}

// outerLoop is the seed of a machine with an outer loop, for which fix is sure of a bound.
const outerLoop = 752

// A bound that fix is sure of leaves each job what its row says: each that the machine starts
// again, and each of several.
func TestBoundsKeepTheirPromise(t *testing.T) {
	t.Parallel()
	require.Contains(t, fixtruth.Draw(outerLoop).Forms, "nested loops")
	require.Positive(t, keepPromises(t, outerLoop))
	for s, tried := uint64(0), 0; tried < race.Of(12, 1); s++ {
		require.Less(t, s, uint64(20_000))
		tried += keepPromises(t, s)
	}
}

// keepPromises tries the bounds that fix is sure of in a machine, and returns how many it tried.
func keepPromises(t *testing.T, seed uint64) (tried int) {
	t.Helper()
	d := fixtruth.Draw(seed)
	if !slices.Contains(d.Faults, "no bound") || d.Express {
		return 0
	}
	_, repairs, err := fix.RepairFile(t.Context(), d.Text, reader(t.Context()), fix.RepairOptions{MaxWait: maxWait, Models: models.Load})
	require.NoError(t, err)
	for _, r := range repairs {
		if r.Rule != lint.UnboundedLoop || r.Class != fix.Sure || !promised.MatchString(r.About) {
			continue
		}
		kept, ran, err := d.Keeps(t.Context(), r.After, polls(t, r.About))
		require.NoError(t, err)
		if ran {
			tried++
			require.True(t, kept, "seed %d: %v, %v: %s\n%s", d.Seed, d.Forms, d.Faults, r.About, r.After)
		}
	}
	return tried
}
