package fix_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/tests/race"
)

// A loop with a fixed delay is half a delay late in the mean, also where the delay divides
// 12 minutes: jobs of one length made it look punctual.
func TestLatenessOfManyJobs(t *testing.T) {
	t.Parallel()
	for _, seconds := range race.OneIn(4, []int{5, 10, 30, 60}) {
		t.Run(fmt.Sprint(seconds), func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(machine("", "", "", ""), `"Seconds": 5`, fmt.Sprintf(`"Seconds": %d`, seconds), 1)
			_, loops := apply(t, text, fix.Options{Strategy: compile.Variables})
			require.Empty(t, loops[0].Refused)
			require.Len(t, loops[0].Jobs, 7)
			require.IsIncreasing(t, loops[0].Jobs)
			succeeded := loops[0].Trials[0]
			require.InDelta(t, 0.5, succeeded.Before.Late.Seconds()/float64(seconds), 0.25)
			require.Greater(t, succeeded.After.Late, time.Second)
			var jobs struct {
				JobSeconds []float64 `json:"jobSeconds"`
			}
			written, err := json.Marshal(loops[0])
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(written, &jobs))
			require.Len(t, jobs.JobSeconds, 7)
		})
	}
}

// The jobs end while both loops wait, and within a schedule: the means are of the same end.
func TestJobsEndInTime(t *testing.T) {
	t.Parallel()
	now := &pollcore.Planned{Delays: []time.Duration{0, 10 * time.Minute}, Then: time.Minute}
	limited := strings.Replace(machine("", "", "", ""), `"StartAt"`, `"TimeoutSeconds": 150, "StartAt"`, 1)
	planned := &pollcore.Planned{Delays: []time.Duration{10 * time.Minute, 20 * time.Second, 20 * time.Second}, Then: time.Minute}
	for name, c := range map[string]struct {
		text     string
		options  fix.Options
		from, to time.Duration
		jobs     int
	}{
		"no bound":         {machine("", "", "", ""), fix.Options{}, time.Minute, time.Hour, 7},
		"a max wait":       {machine("", "", "", ""), fix.Options{MaxWait: 10 * time.Minute}, 30 * time.Second, 5 * time.Minute, 7},
		"a short max wait": {machine("", "", "", ""), fix.Options{MaxWait: time.Minute}, 3 * time.Second, 30 * time.Second, 7},
		"a limit":          {limited, fix.Options{}, 5 * time.Second, 75 * time.Second, 7},
		"a schedule":       {machine("", "", "", ""), fix.Options{Schedule: planned}, 10 * time.Minute, 12 * time.Minute, 7},
		"polls at once":    {machine("", "", "", ""), fix.Options{Schedule: now}, time.Second, 10 * time.Minute, 7},
		"a length":         {machine("", "", "", ""), fix.Options{JobRuns: 12 * time.Minute}, 12 * time.Minute, 12 * time.Minute, 1},
	} {
		if !race.Takes(name, 12) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, loops := apply(t, c.text, c.options)
			require.Empty(t, loops[0].Refused)
			jobs := loops[0].Jobs
			require.Len(t, jobs, c.jobs)
			require.GreaterOrEqual(t, jobs[0], c.from)
			require.LessOrEqual(t, jobs[len(jobs)-1], c.to)
			require.Greater(t, 2*jobs[len(jobs)-1], c.to, "the spread is used")
			for _, trial := range loops[0].Trials[:2] {
				require.Equal(t, map[string]string{"SUCCEEDED": "Report", "FAILED": "Failed"}[trial.Status], trial.Before.Exit)
				require.Equal(t, trial.Before.Exit, trial.After.Exit)
			}
		})
	}
}

// The means are over the jobs that both loops see: the first one that is too long for one of them
// ends the list. A status with which the old loop polls on has no exit there.
func TestExitsOfManyJobs(t *testing.T) {
	t.Parallel()
	late := &pollcore.Planned{Delays: []time.Duration{300 * time.Second, 10 * time.Second, 10 * time.Second, 10 * time.Second, 250 * time.Second}, Then: 10 * time.Second}
	limited := strings.NewReplacer(`"StartAt"`, `"TimeoutSeconds": 600, "StartAt"`, `"Seconds": 5`, `"Seconds": 60`).Replace(machine("", "", "", ""))
	_, loops := apply(t, limited, fix.Options{Schedule: late, MaxWait: time.Hour})
	require.Empty(t, loops[0].Refused)
	jobs := loops[0].Jobs
	require.Less(t, len(jobs), 7)
	require.Less(t, jobs[len(jobs)-1], 9*time.Minute, "the last poll before the limit")
	for _, trial := range loops[0].Trials {
		require.Equal(t, map[string]string{"SUCCEEDED": "Report", "FAILED": "Failed"}[trial.Status], trial.Before.Exit)
		require.Equal(t, map[string]string{"SUCCEEDED": "Report", "FAILED": "Failed", "CANCELLED": "Failed"}[trial.Status], trial.After.Exit)
	}
}
