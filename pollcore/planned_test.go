package pollcore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// drawPlanned draws a schedule that Validate takes.
func drawPlanned(t *rapid.T) pollcore.Planned {
	seconds := func(name string, least int) time.Duration {
		return time.Duration(rapid.IntRange(least, 2000).Draw(t, name)) * time.Second
	}
	p := pollcore.Planned{Delays: []time.Duration{seconds("first", 0)}, Then: seconds("then", 1)}
	for range rapid.IntRange(0, 20).Draw(t, "more") {
		p.Delays = append(p.Delays, seconds("delay", 1))
	}
	if rapid.Bool().Draw(t, "draws") {
		p.Jitter = seconds("jitter", 0)
	}
	return p
}

// Calls are made at the planned times, and one more at the deadline.
func TestPlannedCallsAtItsTimes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlanned(t).Draw(nil)
		total := time.Duration(rapid.IntRange(1, 40_000).Draw(t, "total")) * time.Second
		var want []time.Duration
		at := time.Duration(0)
		for n := 0; at < total; n++ {
			delay := p.Then
			if n < len(p.Delays) {
				delay = p.Delays[n]
			}
			if at += delay; at < total {
				want = append(want, at)
			}
		}
		want = append(want, total)

		s := pollcore.Schedule{
			Total: total, Planned: &p,
			// None of these counts.
			Initial: 7 * time.Second, Min: time.Second, Max: 3 * time.Second,
			Random: func(_, _ time.Duration) time.Duration { panic("a planned delay is not drawn") },
		}
		require.NoError(t, s.Validate())
		for _, counted := range []bool{true, false} {
			var got []time.Duration
			decision := pollcore.Decision{Status: pollcore.Running, Delay: s.First()}
			for elapsed := time.Duration(0); decision.Status == pollcore.Running; {
				elapsed += decision.Delay
				got = append(got, elapsed)
				progress := pollcore.Progress{Elapsed: elapsed}
				if counted {
					progress.Attempts = len(got)
				}
				lo, hi := s.Bounds(progress)
				require.Equal(t, lo, hi)
				decision = s.Next(pollcore.Retry, progress)
				require.LessOrEqual(t, decision.Delay, lo)
			}
			require.Equal(t, pollcore.TimedOut, decision.Status)
			require.Equal(t, want, got, "counted: %t", counted)
		}
	})
}

// Uncounted calls that come early or late by less than half of their delay get the
// delay that follows them in the plan.
func TestPlannedWithoutACountForgivesDrift(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlanned(t).Draw(nil)
		s := pollcore.Schedule{Total: 1000 * time.Hour, Planned: &p}
		at := p.Before(1)
		for n := 1; n <= len(p.Delays)+3; n++ {
			off := func(delay time.Duration) time.Duration {
				return time.Duration(rapid.Int64Range(0, int64(delay)/2-1).Draw(t, "off"))
			}
			late := at + off(p.Before(n+1))
			require.Equal(t, p.Before(n+1), s.Next(pollcore.Retry, pollcore.Progress{Elapsed: late}).Delay)
			require.Equal(t, min(n, len(p.Delays)), p.CallAt(late))
			early := at
			if n > 1 {
				early -= off(p.Before(n))
			}
			require.Equal(t, p.Before(n+1), s.Next(pollcore.Retry, pollcore.Progress{Elapsed: early}).Delay)
			at += p.Before(n + 1)
		}
	})
}

func TestPlannedEndsByAttempts(t *testing.T) {
	t.Parallel()
	s := pollcore.Schedule{Total: time.Hour, MaxAttempts: 3, Planned: &pollcore.Planned{Delays: []time.Duration{0}, Then: time.Minute}}
	require.NoError(t, s.Validate())
	require.Equal(t, pollcore.Running, s.Next(pollcore.Retry, pollcore.Progress{Attempts: 2}).Status)
	require.Equal(t, pollcore.Decision{Status: pollcore.TimedOut, Exhausted: true}, s.Next(pollcore.Retry, pollcore.Progress{Attempts: 3}))
	require.Equal(t, pollcore.Succeeded, s.Next(pollcore.Success, pollcore.Progress{Attempts: 4, Elapsed: 2 * time.Hour}).Status)
}

func TestPlannedJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlanned(t)
		require.NoError(t, p.Validate())
		text, err := json.Marshal(p)
		require.NoError(t, err)
		read, err := pollcore.ParsePlanned(text)
		require.NoError(t, err)
		require.Equal(t, p, read)
	})
	text, err := json.Marshal(pollcore.Planned{Delays: []time.Duration{15 * time.Minute, 45 * time.Second}, Then: time.Minute})
	require.NoError(t, err)
	require.JSONEq(t, `{"delays": [900, 45], "then": 60}`, string(text))
	text, err = json.Marshal(pollcore.Planned{Delays: []time.Duration{0}, Then: time.Minute, Jitter: 30 * time.Second})
	require.NoError(t, err)
	require.JSONEq(t, `{"delays": [0], "then": 60, "jitter": 30}`, string(text))
	var file struct {
		Schedule *pollcore.Planned `json:"schedule"`
	}
	require.NoError(t, json.Unmarshal([]byte(`{"schedule": {"then": 6e1, "delays": [0, 1.0]}}`), &file))
	require.Equal(t, &pollcore.Planned{Delays: []time.Duration{0, time.Second}, Then: time.Minute}, file.Schedule)
}

func TestParsePlannedRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{``, "the text is empty"},
		{`[]`, "expected a planned schedule, found an array"},
		{`{}`, `needs the member "delays"`},
		{`{"delays": [900]}`, `needs the member "then"`},
		{`{"delays": [], "then": 60}`, "1:12: /delays: expected the delay before the first call, and found no delays"},
		{`{"delays": 60, "then": 60}`, "/delays: expected an array, found a number (60)"},
		{`{"delays": [0, 0], "then": 60}`, "1:16: /delays/1: expected a whole number from 1 to 36000000, found a number (0)"},
		{`{"delays": [-1], "then": 0}`, "2 problems"},
		{`{"delays": ["15m"], "then": 60}`, `/delays/0: expected a whole number from 0 to 36000000, found a string ("15m")`},
		{`{"delays": [1.5], "then": 60}`, "found a number (1.5)"},
		{`{"delays": [1e99], "then": 60}`, "found a number (1e99)"},
		{`{"delays": [36000001], "then": 60}`, "found a number (36000001)"},
		{`{"delays": [900], "then": 60, "jitter": -1}`, "/jitter: expected a whole number from 0 to 36000000, found a number (-1)"},
		{`{"delays": [900], "then": 60, "jitter": "1m"}`, `/jitter: expected a whole number from 0 to 36000000, found a string ("1m")`},
		{`{"delays": [900], "then": 60, "jitter": 36000000}`, "1:41: /jitter: expected a first delay of at most 36000000 with the jitter, found 36000900"},
		{`{"delays": [36000000], "then": 60, "jitter": 1}`, "/jitter: expected a first delay of at most 36000000 with the jitter, found 36000001"},
		{`{"delays": [900], "then": 60, "jiter": 36}`, `did you mean "jitter"?`},
		{`{"delay": [900], "then": 60}`, `did you mean "delays"?`},
		{`{"delays": [` + strings.Repeat("1,", 1000) + `1], "then": 60}`, "/delays: expected at most 1000 delays, found 1001"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%.30s", tt.text), func(t *testing.T) {
			t.Parallel()
			_, err := pollcore.ParsePlanned([]byte(tt.text))
			require.ErrorAs(t, err, new(diag.Problems))
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestPlannedValidate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		planned pollcore.Planned
		want    []string
	}{
		{pollcore.Planned{}, []string{"2 problems", "/delays: expected the delay before the first call", "/then: expected whole seconds from 1s to 10000h0m0s, found 0s"}},
		{
			pollcore.Planned{Delays: []time.Duration{-time.Second, 0, 1500 * time.Millisecond}, Then: 10_001 * time.Hour},
			[]string{"4 problems", "/delays/0: expected whole seconds from 0s", "/delays/1: expected whole seconds from 1s", "found 1.5s", "found 10001h0m0s"},
		},
		{
			pollcore.Planned{Delays: []time.Duration{time.Second}, Then: time.Second, Jitter: time.Second / 2},
			[]string{"/jitter: expected whole seconds from 0s to 10000h0m0s, found 500ms"},
		},
		{
			pollcore.Planned{Delays: []time.Duration{time.Second}, Then: time.Second, Jitter: pollcore.MaxPlannedDelay},
			[]string{"/jitter: expected a first delay of at most 10000h0m0s with the jitter, found 10000h0m1s"},
		},
		{pollcore.Planned{Delays: make([]time.Duration, 1001), Then: time.Second}, []string{"/delays: expected at most 1000 delays, found 1001"}},
	}
	for _, tt := range tests {
		for _, err := range []error{tt.planned.Validate(), pollcore.Schedule{Total: time.Hour, Planned: &tt.planned}.Validate()} {
			require.ErrorAs(t, err, new(diag.Problems))
			for _, want := range tt.want {
				require.ErrorContains(t, err, want)
			}
		}
	}
	good := pollcore.Planned{Delays: []time.Duration{0}, Then: time.Second}
	require.NoError(t, good.Validate())
	require.ErrorContains(t, pollcore.Schedule{Total: time.Hour, Mode: pollcore.SmithyExact, Planned: &good}.Validate(), "use it in mode FullWindow")
}

// A schedule that Validate refuses gets an answer, too.
func TestPlannedNextDoesNotPanic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.Custom(func(t *rapid.T) time.Duration { return time.Duration(rapid.Int64().Draw(t, "d") / 4) })
		p := pollcore.Planned{Delays: rapid.SliceOfN(d, 0, 5).Draw(t, "delays"), Then: d.Draw(t, "then"), Jitter: d.Draw(t, "jitter")}
		s := pollcore.Schedule{Total: d.Draw(t, "total"), Planned: &p, Mode: pollcore.Mode(rapid.IntRange(0, 1).Draw(t, "mode"))}
		s.First()
		s.FirstBounds()
		s.Begin()
		decision := s.Next(pollcore.Retry, pollcore.Progress{Attempts: rapid.Int().Draw(t, "attempts"), Elapsed: d.Draw(t, "elapsed")})
		require.Contains(t, []pollcore.Status{pollcore.Running, pollcore.TimedOut}, decision.Status)
	})
}

// Each wait draws once: the first delay is longer, and no other. Whole seconds are drawn
// evenly, both ends included, and the draw does not reach into the schedule.
func TestJitterIsDrawnOnce(t *testing.T) {
	t.Parallel()
	p := pollcore.Planned{Delays: []time.Duration{10 * time.Second, 3 * time.Second}, Then: 5 * time.Second, Jitter: 4 * time.Second}
	s := pollcore.Schedule{Total: time.Hour, Planned: &p}
	lo, hi := s.FirstBounds()
	require.Equal(t, []time.Duration{10 * time.Second, 14 * time.Second}, []time.Duration{lo, hi})
	counts := map[time.Duration]int{}
	const draws = 5000
	for range draws {
		one := s.Begin()
		first := one.First()
		require.Equal(t, first, one.First())
		require.Equal(t, 3*time.Second, one.Next(pollcore.Retry, pollcore.Progress{Attempts: 1, Elapsed: first}).Delay)
		require.Equal(t, 5*time.Second, one.Next(pollcore.Retry, pollcore.Progress{Attempts: 2, Elapsed: first + 3*time.Second}).Delay)
		// By the time alone it is the same.
		require.Equal(t, 3*time.Second, one.Next(pollcore.Retry, pollcore.Progress{Elapsed: first}).Delay)
		require.Equal(t, 5*time.Second, one.Next(pollcore.Retry, pollcore.Progress{Elapsed: first + 3*time.Second}).Delay)
		counts[first]++
	}
	require.Len(t, counts, 5)
	for seconds := 10; seconds <= 14; seconds++ {
		require.InDelta(t, draws/5, counts[time.Duration(seconds)*time.Second], 150, seconds)
	}
	require.Equal(t, 10*time.Second, p.Before(1))
	require.Equal(t, 4*time.Second, p.Jitter)

	// First alone draws each time, from Random, which may draw outside.
	for drawn, want := range map[time.Duration]int{-time.Second: 10, 0: 10, 1400 * time.Millisecond: 11, 1600 * time.Millisecond: 12, time.Hour: 14} {
		s.Random = func(lo, hi time.Duration) time.Duration {
			require.Equal(t, []time.Duration{0, 4 * time.Second}, []time.Duration{lo, hi})
			return drawn
		}
		require.Equal(t, time.Duration(want)*time.Second, s.First())
		require.Equal(t, time.Duration(want)*time.Second, s.Begin().First())
	}
	s.Total, s.Random = 12*time.Second, func(_, hi time.Duration) time.Duration { return hi }
	_, hi = s.FirstBounds()
	require.Equal(t, s.Total, hi)
	require.Equal(t, s.Total, s.First())
	// A schedule that nobody has begun takes the middle.
	p.Delays[1] = 30 * time.Second
	s.Total = time.Hour
	require.Equal(t, 30*time.Second, s.Next(pollcore.Retry, pollcore.Progress{Elapsed: 26 * time.Second}).Delay)
	require.Equal(t, 5*time.Second, s.Next(pollcore.Retry, pollcore.Progress{Elapsed: 28 * time.Second}).Delay)
}

func TestWaitFollowsAPlan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var at []time.Duration
		op := func(context.Context, *struct{}) (*struct{}, error) {
			at = append(at, time.Since(start))
			return &struct{}{}, nil
		}
		never := pollcore.MustNew("Never", pollcore.Succeed(pollcore.ErrorType("Never")))
		plan := pollcore.Planned{Delays: []time.Duration{90 * time.Second, 5 * time.Second, 10 * time.Second}, Then: 20 * time.Second}
		_, err := pollcore.Wait(t.Context(), never, &struct{}{}, 130*time.Second, op, pollcore.Follow(plan))
		require.ErrorIs(t, err, pollcore.ErrTimedOut)
		require.Equal(t, []time.Duration{90 * time.Second, 95 * time.Second, 105 * time.Second, 125 * time.Second, 130 * time.Second}, at)
		for _, drawn := range []time.Duration{0, 7 * time.Second, 20 * time.Second} {
			start, at = time.Now(), nil
			plan.Jitter = 20 * time.Second
			_, err = pollcore.Wait(t.Context(), never, &struct{}{}, 130*time.Second, op, pollcore.Follow(plan),
				pollcore.Jitter(func(_, _ time.Duration) time.Duration { return drawn }))
			require.ErrorIs(t, err, pollcore.ErrTimedOut)
			want := []time.Duration{90*time.Second + drawn, 95*time.Second + drawn, 105*time.Second + drawn, 125*time.Second + drawn, 130 * time.Second}
			if drawn >= 5*time.Second {
				want = append(want[:3], want[4])
			}
			require.Equal(t, want, at)
		}
		_, err = pollcore.Wait(t.Context(), never, &struct{}{}, time.Minute, op, pollcore.Follow(pollcore.Planned{}))
		require.ErrorContains(t, err, "found no delays")
	})
}
