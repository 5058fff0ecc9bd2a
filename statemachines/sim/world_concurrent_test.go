package sim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// FuzzWorld runs random small machines in a World, many at the same time: each ends with a
// history that is well formed, and that is as Run gives it where nothing happens at the
// same time.
func FuzzWorld(f *testing.F) {
	f.Add([]byte{1, 3, 6, 2, 7, 1, 0, 2, 2, 1, 9, 4, 1, 1, 5, 0, 2, 3, 1, 0}, []byte{2, 0, 7, 3})
	f.Add([]byte{0, 3, 7, 1, 1, 2, 6, 2, 4, 1, 0, 3, 2, 2, 2, 1, 1, 0, 5, 1}, []byte{1, 2, 5})
	f.Add([]byte{1, 2, 4, 1, 0, 1, 90, 7, 1, 2, 3, 2, 1, 1, 3}, []byte{0, 5, 10, 12})
	f.Fuzz(func(t *testing.T, shape, answers []byte) {
		definition := (&generator{bytes: shape}).machine()
		m, err := asl.Parse([]byte(definition))
		if err != nil {
			return // states that nothing leads to
		}
		input := []byte(`{"items": [1, 2, 3], "n": 1}`)
		options := func(name string) sim.Options {
			// One reply for all calls, as those of branches come in any order.
			handlers := (&generator{}).handlers(answers[:min(1, len(answers))])
			for resource, h := range maps.All(handlers) {
				var mu sync.Mutex
				handlers[resource] = func(ctx context.Context, call sim.Call) (sim.Reply, error) {
					mu.Lock()
					defer mu.Unlock()
					reply, err := h(ctx, call)
					reply.Inside = true
					return reply, err
				}
			}
			return sim.Options{Handlers: handlers, MaxEvents: 200, Seed: uint64(len(shape)), Execution: name}
		}
		clock := sim.NewVirtualClock(sim.DefaultStart())
		const many = 4
		w := sim.NewWorld(sim.WorldOptions{Clock: clock, Workers: 2})
		defer w.Close()
		var all [many]*sim.Execution
		for i := range many {
			all[i], err = w.Start(m, input, options(fmt.Sprint(i)))
			require.NoError(t, err)
		}
		for i, e := range all {
			<-e.Done()
			r, err := sim.Run(t.Context(), m, input, func() sim.Options {
				o := options(fmt.Sprint(i))
				o.Clock = sim.NewVirtualClock(e.Start())
				return o
			}())
			require.NoError(t, err)
			wellFormed(t, e.Result())
			if strings.Contains(definition, "Parallel") || strings.Contains(definition, "Map") {
				continue // what branches do at one instant comes in any order
			}
			require.Equal(t, kinds(r.Events), kinds(e.Result().Events), definition)
			require.Equal(t, r.Status, e.Status())
			require.Equal(t, r.Duration(), e.Result().Duration(), definition)
		}
	})
}

// kinds counts the events by what they tell.
func kinds(events []sim.Event) map[string]int {
	all := map[string]int{}
	for _, e := range events {
		all[fmt.Sprintf("%s %s %s", e.Timestamp.UTC().Format(time.RFC3339Nano), e.Type, e.Details().Name)]++
	}
	return all
}

// A machine of one line has the very same history in a World.
func TestWorldHistoryIsThatOfRun(t *testing.T) {
	t.Parallel()
	h := func(_ context.Context, call sim.Call) (sim.Reply, error) {
		if call.RetryCount < 2 {
			return sim.Reply{}, &sim.TaskError{Name: "E", Cause: "c", Latency: time.Second}
		}
		return sim.Reply{Output: map[string]any{"n": 1}, Latency: 90 * time.Second}, nil
	}
	definition := `{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 60, "Next": "S"}, "S": {"Type": "Task", "Resource": "` + describe + `",
		"Parameters": {"ExportArn": "e"}, "Retry": [{"ErrorEquals": ["E"], "JitterStrategy": "FULL"}], "TimeoutSeconds": 100, "End": true}}}`
	o := sim.Options{Handlers: map[string]sim.Handler{describe: h}, Seed: 7}
	m := parse(t, definition)
	r, err := sim.Run(t.Context(), m, nil, o)
	require.NoError(t, err)
	want, err := json.Marshal(r.Events)
	require.NoError(t, err)
	w := newWorld(t, sim.WorldOptions{Clock: sim.NewVirtualClock(sim.DefaultStart())})
	e, err := w.Start(m, nil, o)
	require.NoError(t, err)
	<-e.Done()
	got, err := json.Marshal(e.Result().Events)
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(got))
}

// Executions that are started, stopped, redriven and answered from everywhere end, and
// Close ends what is left.
func TestWorldUnderStress(t *testing.T) {
	t.Parallel()
	w := sim.NewWorld(sim.WorldOptions{Clock: sim.NewVirtualClock(sim.DefaultStart()), Workers: 2})
	definition := `{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true, "Branches": [
		{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "` + function + `", "End": true}}},
		{"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "` + sendMessage + `", "TimeoutSeconds": 30, "Parameters": {"QueueUrl": "q", "MessageBody.$": "$$.Task.Token"}, "End": true}}},
		{"StartAt": "C", "States": {"C": {"Type": "Wait", "Seconds": 20, "End": true}}}]}}}`
	m := parse(t, definition)
	tokens := make(chan string, 10_000)
	var nested atomic.Int64
	var options func(depth int) sim.Options
	options = func(depth int) sim.Options {
		return sim.Options{
			Execution: fmt.Sprint("e", nested.Add(1)),
			Handlers: map[string]sim.Handler{
				function: func(_ context.Context, call sim.Call) (sim.Reply, error) {
					if depth == 0 {
						return sim.Reply{Latency: time.Second}, nil
					}
					e, err := w.Start(m, nil, options(depth-1))
					if err != nil {
						return sim.Reply{}, err
					}
					go func() {
						<-e.Done()
						call.Answer(sim.Reply{}, nil)
					}()
					return sim.Reply{Never: true}, nil
				},
				sendMessage: func(_ context.Context, call sim.Call) (sim.Reply, error) {
					tokens <- call.TaskToken
					return sim.Reply{Never: true, Inside: true}, nil
				},
			},
		}
	}
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			e, err := w.Start(m, nil, options(i%3))
			if err != nil {
				return
			}
			e.Snapshot()
			switch i % 4 {
			case 0:
				_, _ = e.Stop("E", "c")
			case 1:
				_ = w.SendTaskSuccess(<-tokens, []byte(`1`))
			case 2:
				_ = w.SendTaskFailure(<-tokens, "E", "c")
			}
			<-e.Done()
			_, _ = e.Redrive()
			_, _ = e.Stop("", "")
			<-e.Done()
			e.Events(0, 0)
		})
	}
	all.Wait()
	w.Close()
	w.Close()
	_, err := w.Start(m, nil, options(0))
	require.ErrorIs(t, err, sim.ErrWorldClosed)
}

// An answer that comes as the Task times out is either in time or refused.
func TestAnswersRaceTimeouts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := sim.NewWorld(sim.WorldOptions{})
		defer w.Close()
		definition := `{"StartAt": "S", "States": {"S": {"Type": "Task", "Resource": "` + activity + `", "TimeoutSeconds": 5, "End": true}}}`
		m := parse(t, definition)
		for i := range 50 {
			e, err := w.Start(m, nil, sim.Options{Execution: fmt.Sprint(i)})
			require.NoError(t, err)
			token, _, err := w.ActivityTask(t.Context(), activity, "")
			require.NoError(t, err)
			<-time.After(5 * time.Second)
			err = w.SendTaskSuccess(token, []byte(`1`))
			<-e.Done()
			require.Equal(t, err == nil, e.Status() == sim.StatusSucceeded)
		}
	})
}

// What an execution does takes its own time, however late the machine is.
func TestModelledTimeIsExact(t *testing.T) {
	t.Parallel()
	clock, err := sim.NewClock(sim.DefaultStart(), 1_000_000)
	require.NoError(t, err)
	w := newWorld(t, sim.WorldOptions{Clock: clock})
	e := start(t, w, `{"TimeoutSeconds": 601, "StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 60, "Next": "V"}, "V": {"Type": "Choice", "Choices": [{"Variable": "$.end", "IsPresent": true, "Next": "Z"}], "Default": "W"}, "Z": {"Type": "Succeed"}}}`, `{}`, sim.Options{})
	<-e.Done()
	r := e.Result()
	require.Equal(t, sim.StatusTimedOut, r.Status)
	require.Equal(t, 601*time.Second, r.Duration())
	for _, event := range r.Events {
		require.Zero(t, event.Timestamp.Sub(r.Start)%time.Second)
	}
}

// Handlers that panic or fail, and Tasks that nothing runs, fail their own Task only.
func TestWorldBrokenHandlers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sim.WorldOptions{Clock: sim.NewVirtualClock(sim.DefaultStart())})
	for name, tt := range map[string]struct {
		handler sim.Handler
		cause   string
	}{
		"panics": {func(context.Context, sim.Call) (sim.Reply, error) { panic("glass") }, "glass"},
		"fails":  {func(context.Context, sim.Call) (sim.Reply, error) { return sim.Reply{}, context.DeadlineExceeded }, "deadline"},
		"none":   {nil, "Nothing runs the resource"},
	} {
		e := start(t, w, task(`, "Catch": [{"ErrorEquals": ["States.TaskFailed"], "Next": "Z"}]`), `{}`, sim.Options{Execution: name, Handlers: map[string]sim.Handler{describe: tt.handler}})
		<-e.Done()
		text, err := json.Marshal(e.Events(0, 0))
		require.NoError(t, err)
		require.Contains(t, string(text), tt.cause)
	}
}

// Twelve functions of the caller on a clock keep their order, also in a World.
func TestTimersOfAWorld(t *testing.T) {
	t.Parallel()
	clock, err := sim.NewClock(sim.DefaultStart(), 0)
	require.NoError(t, err)
	newWorld(t, sim.WorldOptions{Clock: clock})
	var order []int
	for i := range 12 {
		clock.AfterFunc(time.Duration(12-i)*time.Second, func() { order = append(order, 12-i) })
	}
	require.NoError(t, clock.Advance(t.Context(), at(6)))
	require.Equal(t, []int{1, 2, 3, 4, 5, 6}, order)
	next, ok := clock.Next()
	require.True(t, ok)
	require.Equal(t, at(7), next)
	clock.SetVirtual()
	require.NoError(t, clock.Advance(t.Context(), at(12)))
	require.Len(t, order, 12)
}
