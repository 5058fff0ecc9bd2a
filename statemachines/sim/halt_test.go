package sim_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// fullJournal takes so many records, and then none.
type fullJournal struct {
	memory

	left int
}

var errFull = errors.New("no space left")

func (j *fullJournal) Append(record []byte) error {
	if j.left == 0 {
		return errFull
	}
	j.left--
	return j.memory.Append(record)
}

// A World whose journal takes no more stands still: what it shows is what the journal
// holds.
func TestWorldWithAFullJournal(t *testing.T) {
	t.Parallel()
	const definition = `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 60, "Next": "T"},
		"T": {"Type": "Task", "Resource": "` + activityARN + `", "End": true}}}`
	for name, ask := range map[string]func(*sim.World, *sim.Execution) error{
		"start": func(w *sim.World, _ *sim.Execution) error {
			_, err := w.Start(parse(t, definition), nil, sim.Options{Execution: "next"})
			return err
		},
		"stop": func(_ *sim.World, e *sim.Execution) error {
			_, err := e.Stop("E", "C")
			return err
		},
		"skip":   func(_ *sim.World, e *sim.Execution) error { return e.SkipWait("") },
		"clock":  func(w *sim.World, _ *sim.Execution) error { return w.Clock().Advance(t.Context(), at(90)) },
		"factor": func(w *sim.World, _ *sim.Execution) error { return w.Clock().SetFactor(1e6) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock, err := sim.NewClock(sim.DefaultStart(), 0)
			require.NoError(t, err)
			w := newWorld(t, sim.WorldOptions{Clock: clock, Journal: &fullJournal{left: 2}})
			e := start(t, w, definition, `{}`, sim.Options{Execution: "first"})
			require.NoError(t, clock.Advance(t.Context(), at(0)))
			before := e.Snapshot()
			require.ErrorIs(t, ask(w, e), errFull)
			<-w.Done()
			require.ErrorIs(t, w.Err(), errFull)
			require.Equal(t, before, e.Snapshot())

			require.ErrorIs(t, clock.Advance(t.Context(), at(3600)), errFull)
			require.Equal(t, before, e.Snapshot(), "a timer was fired")
			require.Equal(t, at(0), clock.Now())
			_, err = e.Redrive()
			require.ErrorIs(t, err, errFull)
			require.ErrorIs(t, e.SkipWait(""), errFull)
			_, err = w.Start(parse(t, definition), nil, sim.Options{Execution: "last"})
			require.ErrorIs(t, err, errFull)
			_, _, err = w.ActivityTask(t.Context(), activityARN, "")
			require.ErrorIs(t, err, errFull)
			w.Close()
			require.ErrorIs(t, w.Err(), errFull)
		})
	}
}

// A handler whose reply cannot be kept is cancelled or forgotten, and the Task waits as
// before.
func TestReplyWithAFullJournal(t *testing.T) {
	t.Parallel()
	const definition = `{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "` + describe + `", "Parameters": {"ExportArn": "e"}, "End": true}}}`
	w := newWorld(t, sim.WorldOptions{Journal: &fullJournal{left: 2}})
	wait, cancelled := make(chan struct{}), make(chan struct{})
	e := start(t, w, definition, `{}`, sim.Options{Execution: "first", Handler: func(context.Context, sim.Call) (sim.Reply, error) {
		<-wait
		return sim.Reply{Output: map[string]any{}}, nil
	}})
	start(t, w, definition, `{}`, sim.Options{Execution: "second", Handler: func(ctx context.Context, _ sim.Call) (sim.Reply, error) {
		<-ctx.Done()
		close(cancelled)
		return sim.Reply{}, ctx.Err()
	}})
	close(wait)
	<-w.Done()
	<-cancelled
	require.Equal(t, sim.StatusRunning, e.Status())
}

// Nothing follows in a World that is halted, not even what is due at the same instant.
func TestHaltStopsAtOnce(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	halt := make(chan func(error), 1)
	w := sim.NewWorld(sim.WorldOptions{Clock: sim.NewVirtualClock(sim.DefaultStart()), OnEvent: func(_ *sim.Execution, e *sim.Event) {
		if e.Type == "PassStateExited" {
			(<-halt)(broken)
		}
	}})
	halt <- w.Halt
	e := start(t, w, `{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"}, "B": {"Type": "Pass", "Next": "C"}, "C": {"Type": "Succeed"}}}`, ``, sim.Options{})
	<-w.Done()
	w.Close()
	require.Equal(t, broken, w.Err())
	require.Len(t, e.Events(0, 0), 3)
}
