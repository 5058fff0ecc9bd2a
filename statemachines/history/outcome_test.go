package history_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
)

var update = flag.Bool("update", false, "write the golden files")

// ending is a run, how its Tasks are answered, and what its states come to.
type ending struct {
	Definition json.RawMessage `json:"definition"`
	Input      json.RawMessage `json:"input"`
	Mocks      json.RawMessage `json:"mocks"`
	// StopAfter is when the execution is stopped, in seconds; 0 if it is not.
	StopAfter int               `json:"stopAfter,omitempty"`
	Outcomes  map[string]string `json:"outcomes"`
	// At are the states at which the execution ended.
	At []string `json:"at"`
}

// run runs a machine in a world, so that it can be stopped.
func (c *ending) run(t *testing.T) (*asl.StateMachine, *sim.Result) {
	t.Helper()
	m, err := asl.Parse(c.Definition)
	require.NoError(t, err)
	mocks, err := mock.Read(c.Mocks)
	require.NoError(t, err)
	clock := sim.NewVirtualClock(sim.DefaultStart())
	o := sim.Options{Clock: clock}
	require.NoError(t, mocks.Apply(m, "", &o))
	if c.StopAfter == 0 {
		r, err := sim.Run(t.Context(), m, c.Input, o)
		require.NoError(t, err)
		return m, r
	}
	clock, err = sim.NewClock(sim.DefaultStart(), 0)
	require.NoError(t, err)
	w := sim.NewWorld(sim.WorldOptions{Clock: clock})
	defer w.Close()
	o.Clock = nil
	e, err := w.Start(m, c.Input, o)
	require.NoError(t, err)
	require.NoError(t, clock.Advance(t.Context(), sim.DefaultStart().Add(time.Duration(c.StopAfter)*time.Second)))
	done := e.Done()
	_, err = e.Stop("Operator", "wrong table")
	require.NoError(t, err)
	<-done
	r := e.Result()
	r.Events = e.Events(0, 0)
	return m, r
}

// eachEnding tests each kind of failed run.
func eachEnding(t *testing.T, test func(t *testing.T, file string, c ending)) {
	t.Helper()
	files, err := filepath.Glob("testdata/outcomes/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var c ending
			require.NoError(t, json.Unmarshal(text, &c))
			test(t, file, c)
		})
	}
}

// outcomes are the words for what came of states.
func outcomes(e *history.Execution) (all map[string]string, at []string) {
	v := e.FindVisits()
	all, at = map[string]string{}, []string{}
	for state, ending := range v.FindEndings() {
		all[state] = string(ending.Outcome) + " | " + ending.Text
	}
	for _, culprit := range v.FindCulprits(e) {
		at = append(at, culprit.State)
	}
	return all, at
}

// Each kind of failed run says which state failed and what came of the others, by the
// run itself and by its history in AWS's form.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	eachEnding(t, func(t *testing.T, file string, c ending) {
		t.Helper()
		m, r := c.run(t)
		got, at := outcomes(history.FromRun(m, r))
		if *update {
			c.Outcomes, c.At = got, at
			text, err := json.MarshalIndent(c, "", "  ")
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(file, append(text, '\n'), 0o600))
		}
		require.Equal(t, c.Outcomes, got, "go test ./statemachines/history -run TestOutcomes -update writes it anew")
		require.Equal(t, c.At, at)

		e, err := history.Read(sim.AppendHistory(nil, r.Events, sim.EventFormat{}))
		require.NoError(t, err)
		if len(r.MapRuns) > 0 { // child executions have histories of their own
			_, at = outcomes(e)
			require.Equal(t, len(c.At) > 0, slices.Equal(at, []string{"Each"}))
			return
		}
		if got, at = outcomes(e); !strings.HasSuffix(file, "caught-without-event.json") { // the definition tells it
			require.Equal(t, c.Outcomes, got, "as AWS tells it, without the definition")
			require.Equal(t, c.At, at)
		}
		e.Machine = m
		got, at = outcomes(e)
		require.Equal(t, c.Outcomes, got, "as AWS tells it, with the definition")
		require.Equal(t, c.At, at)
	})
}

// What waits for its next retry when a state beside it fails has not failed itself.
func TestOutcomesBesideARetry(t *testing.T) {
	t.Parallel()
	inner := `{"StartAt": "Import", "States": {
		"Import": {"Type": "Task", "Resource": "` + work + `", "Next": "Check", "Retry": [{"ErrorEquals": ["Throttled"], "IntervalSeconds": 60}]},
		"Check": {"Type": "Fail", "Error": "Broken"}}}`
	for name, definition := range map[string]string{
		"Map": `{"StartAt": "Each", "States": {"Each": {"Type": "Map", "End": true, "ItemProcessor": ` + inner + `}}}`,
		"Parallel": `{"StartAt": "Each", "States": {"Each": {"Type": "Parallel", "End": true, "Branches": [
			{"StartAt": "First", "States": {"First": {"Type": "Task", "Resource": "` + work + `", "End": true, "Retry": [{"ErrorEquals": ["Throttled"], "IntervalSeconds": 60}]}}},
			{"StartAt": "Check", "States": {"Check": {"Type": "Fail", "Error": "Broken"}}}]}}}`,
	} {
		m, err := asl.Parse([]byte(definition))
		require.NoError(t, err)
		calls := 0
		r, err := sim.Run(t.Context(), m, []byte(`[1, 2]`), sim.Options{Handler: func(context.Context, sim.Call) (sim.Reply, error) {
			if calls++; calls == 1 {
				return sim.Reply{}, &sim.TaskError{Name: "Throttled"}
			}
			return sim.Reply{Output: 1}, nil
		}})
		require.NoError(t, err)
		read, err := history.Read(sim.AppendHistory(nil, r.Events, sim.EventFormat{}))
		require.NoError(t, err)
		for _, e := range []*history.Execution{history.FromRun(m, r), read} {
			_, at := outcomes(e)
			require.Equal(t, []string{"Check"}, at, name)
			waiting := e.FindVisits().All[1]
			require.Equal(t, "aborted, because a state beside it failed", waiting.Describe(), name)
		}
	}
}

// A redrive goes on with each Map and Parallel around what failed.
func TestOutcomesOfANestedRedrive(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Each", "States": {"Each": {"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "Both", "States": {
		"Both": {"Type": "Parallel", "End": true, "Branches": [{"StartAt": "Import", "States": {"Import": {"Type": "Task", "Resource": "` + work + `", "End": true}}}]}}}}}}`))
	require.NoError(t, err)
	fails := true
	o := sim.Options{Handler: func(context.Context, sim.Call) (sim.Reply, error) {
		if fails {
			return sim.Reply{}, &sim.TaskError{Name: "Broken", Latency: time.Second}
		}
		return sim.Reply{Output: 1, Latency: time.Second}, nil
	}}
	r, err := sim.Run(t.Context(), m, []byte(`[1]`), o)
	require.NoError(t, err)
	r, err = sim.Redrive(t.Context(), m, r, o)
	require.NoError(t, err)
	got, at := outcomes(history.FromRun(m, r))
	require.Equal(t, map[string]string{"Each": "failed | failed: Broken", "Both": "failed | failed: Broken", "Import": "failed | failed: Broken"}, got)
	require.Equal(t, []string{"Import"}, at)
	fails = false
	r, err = sim.Redrive(t.Context(), m, r, o)
	require.NoError(t, err)
	e := history.FromRun(m, r)
	got, _ = outcomes(e)
	require.Equal(t, map[string]string{"Each": "retried | retried", "Both": "retried | retried", "Import": "retried | retried: Broken"}, got)
	require.Equal(t, map[string]int{"Each": 1, "Both": 1, "Import": 3}, e.FindVisits().CountVisits())
}

// What a redrive went on with has been retried, and a Parallel goes on with the branch
// that failed.
func TestOutcomesOfARedrive(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Both", "States": {"Both": {"Type": "Parallel", "Branches": [
		{"StartAt": "Import", "States": {"Import": {"Type": "Task", "Resource": "` + work + `", "End": true}}},
		{"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 60, "End": true}}}], "Next": "Report"},
		"Report": {"Type": "Task", "Resource": "` + work + `", "End": true}}}`))
	require.NoError(t, err)
	calls := map[string]int{}
	o := sim.Options{Handlers: map[string]sim.Handler{work: func(_ context.Context, call sim.Call) (sim.Reply, error) {
		if calls[call.State]++; calls[call.State] == 1 {
			return sim.Reply{}, &sim.TaskError{Name: "Broken", Latency: time.Second}
		}
		return sim.Reply{Output: 1, Latency: time.Second}, nil
	}}}
	r, err := sim.Run(t.Context(), m, nil, o)
	require.NoError(t, err)
	for _, want := range []struct {
		outcomes map[string]string
		at       []string
		visits   map[string]int
	}{
		{map[string]string{"Import": "failed | failed: Broken", "Both": "failed | failed: Broken", "Wait": "aborted | aborted, because a state beside it failed"}, []string{"Import"}, map[string]int{"Both": 1, "Import": 1, "Wait": 1}},
		{map[string]string{"Import": "retried | retried: Broken", "Both": "retried | retried", "Wait": "retried | retried", "Report": "failed | failed: Broken"}, []string{"Report"}, map[string]int{"Both": 1, "Import": 2, "Wait": 2, "Report": 1}},
		{map[string]string{"Import": "retried | retried: Broken", "Both": "retried | retried", "Wait": "retried | retried", "Report": "retried | retried: Broken"}, []string{}, map[string]int{"Both": 1, "Import": 2, "Wait": 2, "Report": 2}},
	} {
		read, err := history.Read(sim.AppendHistory(nil, r.Events, sim.EventFormat{}))
		require.NoError(t, err)
		for _, e := range []*history.Execution{history.FromRun(m, r), read} {
			got, at := outcomes(e)
			require.Equal(t, want.outcomes, got)
			require.Equal(t, want.at, at)
			require.Equal(t, want.visits, e.FindVisits().CountVisits())
		}
		if r.Status != sim.StatusSucceeded {
			r, err = sim.Redrive(t.Context(), m, r, o)
			require.NoError(t, err)
		}
	}
}
