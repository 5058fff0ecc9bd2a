package tests_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

var reportedJobs = flag.Int("jobs", 40, "how many pairs of jobs to run for each report")

// What a compiled machine reports is what it takes: the means of jobs that end at
// any time are those expected, and no job takes more than the worst.
func TestReportIsWhatRunsTake(t *testing.T) {
	t.Parallel()
	entry, err := catalog.Lookup("dynamodb", "ExportCompleted")
	require.NoError(t, err)
	for name, o := range map[string]compile.Options{
		"the waiter's delays":         {MaxWait: 40 * time.Minute, JobTo: 40 * time.Minute},
		"delays that differ little":   {MaxWait: 10*time.Minute + time.Second, MinDelay: 20 * time.Second, MaxDelay: 30 * time.Second, JobTo: 10 * time.Minute},
		"a wait before a fixed delay": {MaxWait: 2 * time.Hour, InitialDelay: shortest, MinDelay: every, MaxDelay: every, JobFrom: 10 * time.Minute, JobTo: longest},
	} {
		for _, strategy := range everyStrategy {
			t.Run(name+"/"+string(strategy), func(t *testing.T) {
				t.Parallel()
				o := o
				o.Strategy = strategy
				compiled, err := compile.Compile(entry.Waiter, compile.CallOf(entry), o)
				require.NoError(t, err)
				worst, expected := compiled.Report().Worst, compiled.Report().Expected
				var calls, transitions, events, late means
				jobs := *reportedJobs
				draw := rand.New(rand.NewPCG(2, 2))
				for i := range jobs {
					runs := make([]measured, 2)
					for k := range runs {
						lasts := o.JobFrom + time.Duration((float64(i)+draw.Float64())/float64(jobs)*float64(o.JobTo-o.JobFrom))
						m := measureOne(t, entry.Waiter, compiled.Machine, `{"ExportArn": "arn:export"}`, lasts, uint64(2*i+k))
						require.LessOrEqual(t, m.calls, worst.Polls)
						require.LessOrEqual(t, m.transitions, worst.Transitions)
						require.LessOrEqual(t, m.events, worst.Events)
						require.LessOrEqual(t, m.late, worst.LatenessSeconds)
						runs[k] = m
					}
					calls.add(runs[0].calls, runs[1].calls)
					transitions.add(runs[0].transitions, runs[1].transitions)
					events.add(runs[0].events, runs[1].events)
					late.add(runs[0].late, runs[1].late)
				}
				calls.require(t, expected.Polls)
				transitions.require(t, expected.Transitions)
				events.require(t, expected.Events)
				late.require(t, expected.LatenessSeconds)
			})
		}
	}
}

// means is the mean of runs that come in pairs: of jobs that end at about the
// same time.
type means struct{ runs, sum, squares float64 }

func (m *means) add(a, b float64) {
	m.runs += 2
	m.sum += a + b
	m.squares += (a - b) * (a - b)
}

// require compares the mean with what is expected: within four standard errors,
// and one part in a thousand for what is rounded.
func (m *means) require(t *testing.T, expected float64) {
	t.Helper()
	variance := m.squares / m.runs // half of that of a difference, over half as many pairs
	require.InDelta(t, expected, m.sum/m.runs, 4*math.Sqrt(variance/m.runs)+expected/1000)
}
