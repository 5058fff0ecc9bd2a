package sim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// memory is a journal in memory.
type memory struct {
	mu      sync.Mutex
	records [][]byte
}

func (m *memory) Append(record []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records = append(m.records, slices.Clone(record))
	return nil
}

func (m *memory) all() [][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.records)
}

const (
	tokenResource = "arn:aws:states:::sqs:sendMessage.waitForTaskToken"
	activityARN   = "arn:aws:states:us-east-1:123456789012:activity:work"
)

// replayMachines are machines with every kind of input from outside.
var replayMachines = []string{
	`{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true, "Branches": [
		{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "` + describe + `", "Parameters": {"ExportArn": "e"}, "Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 3, "JitterStrategy": "FULL"}], "Next": "AW"},
			"AW": {"Type": "Wait", "Seconds": 3, "Next": "AP"}, "AP": {"Type": "Pass", "End": true}}},
		{"StartAt": "B", "States": {"B": {"Type": "Wait", "Seconds": 2, "Next": "BT"},
			"BT": {"Type": "Task", "Resource": "` + tokenResource + `", "Parameters": {"QueueUrl": "q", "MessageBody.$": "$$.Task.Token"}, "HeartbeatSeconds": 40, "TimeoutSeconds": 90,
				"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "BP"}], "Next": "BP"}, "BP": {"Type": "Pass", "End": true}}}]}}}`,
	`{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "ItemsPath": "$.items", "MaxConcurrency": 2, "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
		"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "` + describe + `", "Parameters": {"ExportArn.$": "$"}, "Retry": [{"ErrorEquals": ["E"], "IntervalSeconds": 2, "MaxAttempts": 2}], "End": true}}}}}}`,
	`{"StartAt": "T", "States": {"T": {"Type": "Task", "Resource": "` + activityARN + `", "TimeoutSeconds": 60, "HeartbeatSeconds": 20,
		"Catch": [{"ErrorEquals": ["States.ALL"], "Next": "W"}], "Next": "W"}, "W": {"Type": "Wait", "Seconds": 5, "Next": "F"}, "F": {"Type": "Fail", "Error": "Mine"}}}`,
}

// replayed is a world with what a test drives it by.
type replayedWorld struct {
	*sim.World

	machines []*asl.StateMachine
	names    []string
}

func (w *replayedWorld) options(number int) sim.Options {
	return sim.Options{Seed: uint64(number), Execution: w.names[number], StateMachine: fmt.Sprintf("m%d", number%len(w.machines)), Handler: flaky, Lenient: true}
}

// flaky answers by its arguments alone.
func flaky(_ context.Context, call sim.Call) (sim.Reply, error) {
	text, err := json.Marshal([]any{call.Context, call.Arguments, call.RetryCount})
	if err != nil {
		return sim.Reply{}, err
	}
	sum := 0
	for _, c := range text {
		sum = sum*31 + int(c)
	}
	sum &= 0xffff
	latency := time.Duration(sum%4) * time.Second
	switch {
	case strings.HasSuffix(call.Resource, ".waitForTaskToken"):
		return sim.Reply{Never: true, Submitted: map[string]any{"MessageId": "m"}, Inside: true}, nil
	case sum%5 == 0:
		return sim.Reply{}, &sim.TaskError{Name: "E", Cause: "c", Latency: latency}
	default:
		return sim.Reply{Output: map[string]any{"sum": sum % 1000}, Latency: latency}, nil
	}
}

func newReplayedWorld(t *testing.T, journal sim.Journal, start time.Time, count int) *replayedWorld {
	t.Helper()
	clock, err := sim.NewClock(start, 0)
	require.NoError(t, err)
	w := &replayedWorld{World: sim.NewWorld(sim.WorldOptions{Clock: clock, Journal: journal})}
	t.Cleanup(w.Close)
	for _, definition := range replayMachines {
		w.machines = append(w.machines, parse(t, definition))
	}
	for number := range count {
		w.names = append(w.names, fmt.Sprintf("x%d", number))
	}
	return w
}

func (w *replayedWorld) restore(o *sim.Options) (*asl.StateMachine, error) {
	o.Handler = flaky
	var machine int
	_, err := fmt.Sscanf(o.StateMachine, "m%d", &machine)
	return w.machines[machine], err
}

func (w *replayedWorld) replay(t *testing.T, records [][]byte) {
	t.Helper()
	for _, record := range records {
		err := w.Replay(record, w.restore)
		require.NoError(t, err, string(record))
	}
	w.Resume()
}

// histories are all that can be seen of the executions.
func (w *replayedWorld) histories() map[string]string {
	out := map[string]string{}
	for number, name := range w.names {
		o := w.options(number)
		x := w.Execution(sim.ExecutionARN(o))
		if x == nil {
			continue
		}
		s := x.Snapshot()
		out[name] = fmt.Sprintf("%s %s %s %d %d %s\n%s", s.Status, s.Output, s.Error, s.Transitions, s.RedriveCount, s.Start.UTC(), sim.AppendHistory(nil, x.Events(0, 0), sim.EventFormat{Indent: " "}))
		if result := x.Result(); result != nil {
			for _, run := range result.MapRuns {
				for _, child := range run.Executions {
					if child != nil {
						out[name] += "\n" + child.ExecutionARN + string(sim.AppendHistory(nil, child.Events, sim.EventFormat{}))
					}
				}
			}
		}
	}
	return out
}

// drive does a random thing from outside.
func (w *replayedWorld) drive(t *testing.T, r *rand.Rand, started *int) {
	t.Helper()
	var arn string
	if *started > 0 {
		arn = sim.ExecutionARN(w.options(r.IntN(*started)))
	}
	token := func() string {
		if x := w.Execution(arn); x != nil {
			for _, place := range x.Snapshot().Current {
				if place.Token != "" {
					return place.Token
				}
			}
		}
		return ""
	}
	switch r.IntN(9) {
	case 0, 1:
		if *started < len(w.names) {
			o := w.options(*started)
			_, err := w.Start(w.machines[*started%len(w.machines)], fmt.Appendf(nil, `{"items": [1, 2, %d], "a": "<é>"}`, *started), o)
			require.NoError(t, err)
			*started++
		}
	case 2:
		_ = w.SendTaskSuccess(token(), []byte(`{"a": 1.50}`))
	case 3:
		_ = w.SendTaskFailure(token(), "E", "c")
	case 4:
		_ = w.SendTaskHeartbeat(token())
	case 5:
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err := w.ActivityTask(ctx, activityARN, "me")
		require.NoError(t, err)
	case 6:
		if x := w.Execution(arn); x != nil && r.IntN(4) == 0 {
			_, err := x.Stop("Stopped", "by the test")
			require.NoError(t, err)
		}
	case 7:
		if x := w.Execution(arn); x != nil {
			_, _ = x.Redrive()
			_ = x.SkipWait("")
		}
	}
	w.settle(t, time.Duration(r.IntN(4))*time.Second)
}

// settle lets time pass, and all that is due.
func (w *replayedWorld) settle(t *testing.T, d time.Duration) {
	t.Helper()
	require.NoError(t, w.Clock().Advance(t.Context(), w.Clock().Now().Add(d)))
}

// A World that is made again from its journal is the same, wherever it was killed, and
// goes on the same way.
func TestReplay(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			const count = 6
			r := rand.New(rand.NewPCG(seed, 3))
			journal := &memory{}
			before := newReplayedWorld(t, journal, sim.DefaultStart(), count)
			started := 0
			for range 60 {
				before.drive(t, r, &started)
			}
			records := journal.all()
			want := before.histories()

			after := newReplayedWorld(t, nil, sim.DefaultStart(), count)
			after.replay(t, records)
			require.NoError(t, after.Clock().Advance(t.Context(), before.Clock().Now()))
			require.Equal(t, want, after.histories())

			// Killed at any record: what is recorded is there, and nothing is aborted.
			for range 10 {
				cut := r.IntN(len(records) + 1)
				killed := newReplayedWorld(t, &memory{}, sim.DefaultStart(), count)
				killed.replay(t, records[:cut])
				killed.settle(t, time.Hour)
				for name, history := range killed.histories() {
					require.NotContains(t, history, "does not fit", name)
				}
			}
		})
	}
}

// Executions that ran at the same time, on a clock that moves, are the same when they
// are made again one by one.
func TestReplayOfManyAtOnce(t *testing.T) {
	t.Parallel()
	const count = 60
	fast, err := sim.NewClock(sim.DefaultStart(), 20_000)
	require.NoError(t, err)
	for name, clock := range map[string]*sim.Clock{"virtual": sim.NewVirtualClock(sim.DefaultStart()), "fast": fast} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			journal := &memory{}
			w := newReplayedWorld(t, nil, sim.DefaultStart(), count)
			w.World = sim.NewWorld(sim.WorldOptions{Clock: clock, Journal: journal, Workers: 4})
			t.Cleanup(w.Close)
			w.machines = w.machines[:2] // no activity, which nobody would take
			answers := func(ctx context.Context, call sim.Call) (sim.Reply, error) {
				reply, err := flaky(ctx, call)
				if reply.Never {
					go call.Answer(sim.Reply{Output: "answered"}, nil)
				}
				return reply, err
			}
			var all []*sim.Execution
			for number := range count {
				o := w.options(number)
				o.Handler = answers
				x, err := w.Start(w.machines[number%len(w.machines)], []byte(`{"items": [1, 2, 3, 4, 5]}`), o)
				require.NoError(t, err)
				all = append(all, x)
			}
			for _, x := range all {
				<-x.Done()
			}
			want := w.histories()
			after := newReplayedWorld(t, nil, sim.DefaultStart(), count)
			after.machines = after.machines[:2]
			after.replay(t, journal.all())
			require.NoError(t, after.Clock().Advance(t.Context(), clock.Now()))
			for name, history := range after.histories() {
				require.Equal(t, want[name], history)
			}
		})
	}
}

// An end that clients have seen stays, although a call was in flight then: its handler is
// not called again.
func TestReplayOfAnEndWithACallInFlight(t *testing.T) {
	t.Parallel()
	fast, err := sim.NewClock(sim.DefaultStart(), 1000)
	require.NoError(t, err)
	journal := &memory{}
	w := newReplayedWorld(t, nil, sim.DefaultStart(), 2)
	w.World = sim.NewWorld(sim.WorldOptions{Clock: fast, Journal: journal})
	t.Cleanup(w.Close)
	o := w.options(1) // the Map Run
	o.Handler = func(ctx context.Context, call sim.Call) (sim.Reply, error) {
		if fmt.Sprint(call.Arguments) == "map[ExportArn:1]" {
			return sim.Reply{}, &sim.TaskError{Name: "Fatal", Latency: 10 * time.Second}
		}
		<-ctx.Done()
		return sim.Reply{}, ctx.Err()
	}
	x, err := w.Start(w.machines[1], []byte(`{"items": [1, 2]}`), o)
	require.NoError(t, err)
	<-x.Done()
	want := w.histories()
	require.Contains(t, want["x1"], "ExecutionAborted")

	after := newReplayedWorld(t, nil, sim.DefaultStart(), 2)
	for _, record := range journal.all() {
		err := after.Replay(record, func(o *sim.Options) (*asl.StateMachine, error) {
			o.Handler = func(context.Context, sim.Call) (sim.Reply, error) {
				t.Error("the handler is called again")
				return sim.Reply{}, nil
			}
			return after.machines[1], nil
		})
		require.NoError(t, err)
	}
	after.Resume()
	after.settle(t, time.Hour)
	require.Equal(t, want, after.histories())
}
