package compile_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// seconds are whole numbers of them.
func seconds(all ...int) []time.Duration {
	durations := make([]time.Duration, len(all))
	for i, n := range all {
		durations[i] = time.Duration(n) * time.Second
	}
	return durations
}

var tableActive = pollcore.MustNew("TableActive", pollcore.Succeed(pollcore.Output("Table.TableStatus").Is("ACTIVE")))

// pollTimes are the times at which a machine polls a job that does not end.
func pollTimes(t *testing.T, m *asl.StateMachine, seed uint64) []time.Duration {
	t.Helper()
	var at []time.Duration
	result, err := sim.Run(t.Context(), m, []byte(`{"TableName": "Orders"}`), sim.Options{Seed: seed, Handlers: map[string]sim.Handler{
		"arn:aws:states:::aws-sdk:dynamodb:describeTable": func(_ context.Context, call sim.Call) (sim.Reply, error) {
			at = append(at, call.Time.Sub(sim.DefaultStart()))
			return sim.Reply{Output: map[string]any{"Table": map[string]any{"TableStatus": "CREATING"}}}, nil
		},
	}})
	require.NoError(t, err)
	require.Equal(t, "JobPoller.TimedOut", result.Error)
	return at
}

// The machines poll when the schedule says. A strategy that has no array of delays
// says what it does instead.
func TestMachinesFollowASchedule(t *testing.T) {
	t.Parallel()
	varied := pollcore.Planned{Delays: seconds(90, 5, 5, 20), Then: 40 * time.Second}
	many := pollcore.Planned{Delays: seconds(10, 9, 9, 20, 10, 30, 34, 50), Then: 100 * time.Second}
	even := pollcore.Planned{Delays: seconds(30, 40, 40), Then: 40 * time.Second}
	tests := []struct {
		strategy compile.Strategy
		planned  pollcore.Planned
		want     []time.Duration
		delay    string // in the definition
		warning  string // "" for none
	}{
		{compile.Variables, varied, seconds(90, 95, 100, 120, 160, 200, 210), "$min([[5, 5, 20, 40][$min([$attempt - 1, 3])], $max([0, ", ""},
		{compile.Loop, varied, seconds(90, 95, 100, 120, 160, 200, 240), `"{% [5, 5, 20, 40][$min([$attempt - 1, 3])] %}"`, ""},
		{compile.RetryTask, varied, seconds(90, 95, 100, 120, 160, 200, 240), `"IntervalSeconds": 5,`, ""},
		{
			compile.RetryTask, many, seconds(10, 19, 28, 48, 58, 90, 122, 172, 272), `"IntervalSeconds": 9,`,
			"every 9s, then every 20s, then every 10s, then every 32s, then every 50s, then every 1m40s, the means of the schedule's delays",
		},
		{compile.Variables, even, seconds(30, 70, 110, 150, 190, 210), "$min([40, $max([0, ", ""},
		{compile.Loop, even, seconds(30, 70, 110, 150, 190, 230), `"Seconds": 40`, ""},
		{compile.RetryTask, even, seconds(30, 70, 110, 150, 190, 230), `"IntervalSeconds": 40`, ""},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.strategy, tt.planned.Delays), func(t *testing.T) {
			t.Parallel()
			c, err := compile.Compile(tableActive, compile.Call{Operation: operation(t, "dynamodb", "DescribeTable")},
				compile.Options{Strategy: tt.strategy, MaxWait: 210 * time.Second, Schedule: &tt.planned})
			require.NoError(t, err)
			require.Equal(t, tt.want, pollTimes(t, c.Machine, 0))
			require.Contains(t, string(asl.Print(c.Machine)), tt.delay)
			require.InDelta(t, len(tt.want), c.Report().Worst.Polls, 1)

			// What Schedule says of the machine is what it does, until the deadline.
			s := c.Schedule()
			at := []time.Duration{s.First()}
			for d := s.Next(pollcore.Retry, pollcore.Progress{Attempts: 1, Elapsed: at[0]}); d.Status == pollcore.Running; {
				at = append(at, at[len(at)-1]+d.Delay)
				d = s.Next(pollcore.Retry, pollcore.Progress{Attempts: len(at), Elapsed: at[len(at)-1]})
			}
			require.Equal(t, tt.want[:len(tt.want)-1], at[:len(at)-1])

			if tt.warning == "" {
				require.Empty(t, c.Warnings)
			} else {
				require.Len(t, c.Warnings, 1)
				require.Contains(t, c.Warnings[0], tt.warning)
			}
		})
	}
}

// An execution draws its first delay, and then polls as the schedule says. Over many the
// draws are even, and the report's means are theirs.
func TestMachinesDrawTheJitterOnce(t *testing.T) {
	t.Parallel()
	const jitter, each = 9, 60
	for _, first := range []int{0, 30} {
		for _, strategy := range []compile.Strategy{compile.Variables, compile.Loop, compile.RetryTask} {
			t.Run(fmt.Sprint(strategy, first), func(t *testing.T) {
				t.Parallel()
				planned := pollcore.Planned{Delays: seconds(first, 5), Then: 25 * time.Second, Jitter: jitter * time.Second}
				options := compile.Options{
					Strategy: strategy, MaxWait: 120 * time.Second, Schedule: &planned, JobFrom: 35 * time.Second, JobTo: 65 * time.Second,
				}
				c, err := compile.Compile(tableActive, compile.Call{Operation: operation(t, "dynamodb", "DescribeTable")}, options)
				require.NoError(t, err)
				require.Contains(t, string(asl.Print(c.Machine)), fmt.Sprintf(`"Seconds": "{%% %d + $floor($random() * 10) %%}"`, first))
				counts, polls, late := map[time.Duration]int{}, 0.0, 0.0
				for seed := range uint64((jitter + 1) * each) {
					at := pollTimes(t, c.Machine, seed)
					counts[at[0]]++
					for i, delay := range seconds(5, 25, 25) {
						require.Equal(t, delay, at[i+1]-at[i])
					}
					require.LessOrEqual(t, float64(len(at)), c.Report().Worst.Polls)
					for end := 35.5; end < 65; end++ {
						n := slices.IndexFunc(at, func(at time.Duration) bool { return at.Seconds() >= end })
						polls += float64(n+1) / 30 / each / (jitter + 1)
						late += (at[n].Seconds() - end) / 30 / each / (jitter + 1)
					}
				}
				require.Len(t, counts, jitter+1)
				for n := range jitter + 1 {
					require.InDelta(t, each, counts[time.Duration(first+n)*time.Second], 30, n)
				}
				report := c.Report()
				require.InEpsilon(t, polls, report.Expected.Polls, 0.02)
				require.InEpsilon(t, late, report.Expected.LatenessSeconds, 0.04)
				s := c.Schedule()
				lo, hi := s.FirstBounds()
				require.Equal(t, []time.Duration{lo, hi}, seconds(first, first+jitter))

				options.JobFrom, options.JobTo = 0, 0
				c, err = compile.Compile(tableActive, compile.Call{Operation: operation(t, "dynamodb", "DescribeTable")}, options)
				require.NoError(t, err)
				require.GreaterOrEqual(t, c.Report().Worst.LatenessSeconds, float64(first+jitter))
			})
		}
	}
}

// A machine that counts its calls ends by so much later, and not by its limit.
func TestTheLimitHasRoomForTheJitter(t *testing.T) {
	t.Parallel()
	limit := func(jitter time.Duration) int {
		c, err := compile.Compile(tableActive, compile.Call{Operation: operation(t, "dynamodb", "DescribeTable")},
			compile.Options{Strategy: compile.Loop, MaxWait: 5 * time.Hour, Schedule: &pollcore.Planned{Delays: seconds(0), Then: time.Hour, Jitter: jitter}})
		require.NoError(t, err)
		return int(c.Machine.TimeoutSeconds)
	}
	require.Equal(t, limit(0)+3*3600, limit(3*time.Hour))
}

func TestScheduleIsRefused(t *testing.T) {
	t.Parallel()
	planned := func(delays ...int) *pollcore.Planned {
		return &pollcore.Planned{Delays: seconds(delays...), Then: time.Minute}
	}
	tests := []struct {
		name    string
		options compile.Options
		want    []string
	}{
		{"not valid", compile.Options{MaxWait: time.Hour, Schedule: &pollcore.Planned{}}, []string{"Schedule is not valid", "found no delays"}},
		{
			"beside other delays",
			compile.Options{MaxWait: time.Hour, Schedule: planned(0), MinDelay: time.Second, MaxDelay: time.Minute, InitialDelay: time.Minute, Fit: true},
			[]string{"MinDelay must be left out", "MaxDelay must be left out", "InitialDelay must be left out", "Fit must be left out"},
		},
		{"begins after the max wait", compile.Options{MaxWait: time.Hour, Schedule: planned(3601)}, []string{"Schedule must have a first delay of at most the max wait, 1h, has 1h0m1s"}},
		{
			"begins after the max wait by its jitter",
			compile.Options{MaxWait: time.Hour, Schedule: &pollcore.Planned{Delays: seconds(3000), Then: time.Minute, Jitter: 601 * time.Second}},
			[]string{"Schedule must have a first delay of at most the max wait, 1h, has 1h0m1s with its jitter"},
		},
		{"more polls than the history has room for", compile.Options{MaxWait: 300 * time.Hour, Schedule: planned(0)}, []string{"give the schedule longer delays"}},
		{"sync", compile.Options{Strategy: compile.SyncTask, MaxWait: time.Hour, Schedule: planned(0)}, []string{"cannot be compiled to sync"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.options.Strategy == "" {
				tt.options.Strategy = compile.Variables
			}
			_, err := compile.Compile(tableActive, compile.Call{Operation: operation(t, "dynamodb", "DescribeTable")}, tt.options)
			for _, want := range tt.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}
