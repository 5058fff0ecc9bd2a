package mock_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
)

func TestParseSpread(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"12m": "12m", "720": "12m", "1.5": "1.5s", "0s": "0s", "2h": "2h", "2d": "48h", "uniform(5m,30m)": "uniform(5m,30m)", "exp(600)": "exp(10m)", "exponential(10m)": "exp(10m)",
		"lognormal(15m,0.5)": "lognormal(15m,0.5)",
	} {
		s, err := mock.ParseSpread(text)
		require.NoError(t, err, text)
		require.Equal(t, want, s.String())
		again, err := mock.ParseSpread(s.String())
		require.NoError(t, err)
		require.Equal(t, s, again)
	}
	for _, text := range []string{"", "soon", "-1s", "1000000h", "uniform(5m)", "uniform(30m,5m)", "exp(1m,2m)", "lognormal(1m,-1)", "lognormal(1m,NaN)", "normal(1m,2)"} {
		_, err := mock.ParseSpread(text)
		require.Error(t, err, text)
	}
	for text, want := range map[string]float64{"5%": 0.05, "0%": 0, "100%": 1} {
		share, err := mock.ParseShare(text)
		require.NoError(t, err)
		require.InDelta(t, want, share, 1e-9)
	}
	for _, text := range []string{"5", "101%", "-1%", "%", "NaN%"} {
		_, err := mock.ParseShare(text)
		require.Error(t, err, text)
	}
}

// The same seed draws the same times, and they are spread as they say.
func TestSpreadOfJobs(t *testing.T) {
	t.Parallel()
	durations := func(text string, seed uint64) (all []time.Duration) {
		spread, err := mock.ParseSpread(text)
		require.NoError(t, err)
		j := &mock.Job{Spread: spread, Seed: seed, Status: "S", Running: "R", Ends: "E", Fails: []string{"F"}}
		require.NoError(t, j.Check())
		for range 400 {
			reply, err := j.Sync(t.Context(), sim.Call{})
			require.NoError(t, err)
			all = append(all, reply.Latency)
		}
		return all
	}
	mean := func(all []time.Duration) time.Duration {
		var sum time.Duration
		for _, d := range all {
			sum += d
		}
		return sum / time.Duration(len(all))
	}
	for text, want := range map[string]time.Duration{
		"uniform(5m,30m)": 17*time.Minute + 30*time.Second, "exp(10m)": 10 * time.Minute, "lognormal(15m,0.5)": 17 * time.Minute,
	} {
		all := durations(text, 1)
		require.Equal(t, all, durations(text, 1), text)
		require.NotEqual(t, all, durations(text, 2), text)
		require.InDelta(t, want, mean(all), float64(2*time.Minute), text)
	}
	for _, d := range durations("uniform(5m,30m)", 3) {
		require.GreaterOrEqual(t, d, 5*time.Minute)
		require.LessOrEqual(t, d, 30*time.Minute)
	}
}

// Jobs that different states start have courses of their own, and the ids that the
// caller chooses.
func TestCourses(t *testing.T) {
	t.Parallel()
	j := &mock.Job{
		Runs: time.Minute, Status: "S", Running: "R", Ends: "E", StartIDArgument: "Name", IDArgument: "Of",
		Courses:    map[string]mock.Course{"Slow": {Spread: mock.Exactly(time.Hour), Ends: "F"}},
		StopAnswer: map[string]any{"stopped": true}, Throttled: 0,
	}
	require.NoError(t, j.Check())
	now := sim.DefaultStart()
	for _, state := range []string{"Fast", "Slow"} {
		_, err := j.Start(t.Context(), sim.Call{State: state, Time: now, Arguments: map[string]any{"Name": state}})
		require.NoError(t, err)
	}
	at := func(id string, d time.Duration) string {
		reply, err := j.Describe(t.Context(), sim.Call{Time: now.Add(d), Arguments: map[string]any{"Of": id}})
		require.NoError(t, err)
		return fmt.Sprint(reply.Output)
	}
	require.Equal(t, "map[S:R]", at("Fast", 59*time.Second))
	require.Equal(t, "map[S:E]", at("Fast", time.Minute))
	require.Equal(t, "map[S:R]", at("Slow", 59*time.Minute))
	require.Equal(t, "map[S:F]", at("Slow", time.Hour))
	reply, err := j.Stop(t.Context(), sim.Call{Time: now, Arguments: map[string]any{"Of": "Slow"}})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"stopped": true}, reply.Output)
}
