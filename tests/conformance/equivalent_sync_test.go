package conformance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/tests/responses"
)

var signalSuites = []suite{
	{name: "signals", cases: 8*jobsEach + collectedJobs*collectedEach, times: sequences, run: runSignals},
}

// runSignals runs the machines that are told of the end of their jobs.
func runSignals(t *testing.T, _ string) result {
	t.Helper()
	var sync result
	var events *collectedRuns
	t.Run("signals", func(t *testing.T) {
		t.Run("sync", func(t *testing.T) {
			t.Parallel()
			sync = runSync(t)
		})
		t.Run("events", func(t *testing.T) {
			t.Parallel()
			events = runEvents(t)
		})
	})
	maps.Copy(sync.failures, events.failures)
	sync.total += events.total
	sync.notes = append(sync.notes, fmt.Sprintf("events of %d runs: %v", events.total, events.ways))
	return sync
}

// jobsEach are the sequences of each job.
const jobsEach = 60

// recorded is what a ".sync" Task was recorded to say of a job, and the arguments that
// find the job again. A job that is not here is found by the arguments of its start.
var recorded = map[string]struct{ says, asks map[string]any }{
	"ecs:runTask.sync": {
		map[string]any{"TaskArn": "arn:task", "ClusterArn": "arn:cluster", "LastStatus": "STOPPED"},
		map[string]any{"Cluster": "arn:cluster", "Tasks": []any{"arn:task"}},
	},
	"states:startExecution.sync:2": {
		map[string]any{"ExecutionArn": "arn:execution", "Status": "SUCCEEDED"},
		map[string]any{"ExecutionArn": "arn:execution"},
	},
}

// runSync has pollcore.Wait and the machine with the ".sync" Task of each job meet the
// same service: Step Functions ends the Task with success or failure, in time, before
// the service says so, or never.
func runSync(t *testing.T) result {
	t.Helper()
	r := result{failures: map[string]string{}}
	ways := map[string]int{}
	for _, e := range entries(t) {
		if e.Job == nil || e.Job.Sync == "" || e.Job.SyncUnknown != "" {
			continue
		}
		name := e.Service.Key + " " + e.Name
		sequencer, err := responses.NewSequencer(e, *seed)
		require.NoError(t, err, name)
		check, err := pollcore.Compile[any, any](e.Waiter)
		require.NoError(t, err, name)
		for n := range jobsEach * *sequences {
			o := compile.Options{MaxWait: 20 * pollcore.NewSchedule(e.Waiter, time.Hour).Max}
			m := &syncMachine{machine: machine{
				entry: e, strategy: strategy{name: compile.SyncTask}, options: o, call: compile.CallOf(e), compiled: map[bool]*compile.Compiled{}, starts: true,
			}}
			_, read := recorded[e.Job.Sync]
			if read {
				m.call.Stop = nil // it needs the job's id
			}
			q, err := sequencer.Make(n, *seed, o.MaxWait)
			require.NoError(t, err, name)
			m.draw(q, fmt.Sprintf("%s, sync %d", name, n))
			synctest.Test(t, func(t *testing.T) {
				w := &wait{check: check, sequence: q, options: o}
				own, ran := w.run(t), m.run(t, q, *seed+uint64(n))
				problems := slices.Concat(wrong(w, own), m.differences(own, ran))
				r.total++
				ways[m.way]++
				if len(problems) > 0 {
					r.failures[fmt.Sprintf("%s %d: %s, %s, %s", name, n, ran.form, m.way, q.Name)] = strings.Join(problems, "; ")
				}
			})
		}
	}
	r.notes = append(r.notes, fmt.Sprintf("seed %d: Tasks %v", *seed, ways))
	return r
}

// syncMachine is a job with its ".sync" Task.
type syncMachine struct {
	machine

	form  form
	fails bool // the Task ends with the error
	ends  time.Duration
	way   string
}

// draw makes a sequence one of time, and decides what becomes of the Task.
func (m *syncMachine) draw(q *responses.Sequence, purpose string) {
	draw := drawFor(purpose)
	forms := m.strategy.forms()
	m.form, m.fails = forms[draw.IntN(len(forms))], draw.IntN(2) == 0
	if q.Want.State != pollcore.Retry && !q.Timed {
		q.Answers = q.Answers[:q.Polls]
	}
	if len(q.Answers) == 1 && q.Want.State == pollcore.Retry {
		q.Answers = append(q.Answers, q.Answers[0])
	}
	total := m.options.MaxWait
	q.Timed, q.Endless, q.End = true, false, time.Duration(draw.Int64N(int64(total-time.Minute))).Round(time.Second)
	if len(q.Answers) == 1 {
		q.End = 0
	}
	m.ends, m.way = q.End, "end in time"
	switch {
	case q.Want.State == pollcore.Retry || draw.IntN(8) == 0 && len(q.Answers) > 1:
		q.End = 2 * total
		m.ends, m.way = q.End, "never end"
	case draw.IntN(4) == 0 && q.End > time.Minute:
		m.ends, m.way = q.End-time.Minute, "end early"
	}
	if m.fails && m.way != "never end" {
		m.way += " with an error"
	}
}

func (m *syncMachine) run(t *testing.T, q *responses.Sequence, seed uint64) *run {
	t.Helper()
	p := &player{Sequence: q}
	r := &run{player: p, form: m.form}
	job, o := m.entry.Job, m.entry.Operation
	var err error
	r.starter, err = newStarter(m.entry)
	require.NoError(t, err)
	handlers := r.starter.handlers()
	said, read := recorded[job.Sync]
	handlers["arn:aws:states:::"+job.Sync] = func(_ context.Context, call sim.Call) (sim.Reply, error) {
		arguments, _ := call.Arguments.(map[string]any)
		r.starter.started = append(r.starter.started, arguments)
		says := said.says
		if !read {
			says = map[string]any{"Unknown": "to everybody"}
		}
		if m.fails {
			cause, err := json.Marshal(says)
			require.NoError(t, err)
			return sim.Reply{}, &sim.TaskError{Name: asl.ErrorTaskFailed, Cause: string(cause), Latency: m.ends, Submitted: map[string]any{}}
		}
		return sim.Reply{Output: maps.Clone(says), Latency: m.ends, Submitted: map[string]any{}}, nil
	}
	handlers[integration(o)] = func(_ context.Context, call sim.Call) (sim.Reply, error) {
		arguments, _ := call.Arguments.(map[string]any)
		r.starter.described = append(r.starter.described, arguments)
		return p.answer(o, call.Time.Add(q.Latency).Sub(sim.DefaultStart()))
	}
	r.compiled, err = m.compile(m.form)
	require.NoError(t, err)
	definition := r.compiled.Machine
	if m.form != whole {
		definition = host(t, r.compiled, m.form)
	}
	input, err := json.Marshal(responses.Integration(o.Service.Operations[m.entry.Name].Input, r.starter.input))
	require.NoError(t, err)
	r.result, err = sim.Run(t.Context(), definition, input, sim.Options{Seed: seed, Clock: sim.NewVirtualClock(sim.DefaultStart()), Handlers: handlers})
	require.NoError(t, err)
	r.attempts, r.elapsed = p.polls, r.result.Duration()
	m.read(t, r, m.form != whole)
	return r
}

// differences says in what the machine is not what it promises.
func (m *syncMachine) differences(own, r *run) []string {
	var all []string
	differ := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if r.status != own.status {
		differ("%s (%s), but pollcore.Wait says %s (%s)", r.status, r.reason, own.status, own.reason)
		return all
	}
	m.compareEnds(differ, own, r)
	want := responses.Integration(m.entry.Service.Operations[m.entry.Name].Input, r.starter.input)
	if len(r.starter.started) != 1 || !equalJSON(r.starter.started[0], want) {
		differ("the job was started with %v, want once with %v", r.starter.started, want)
	}
	said, read := recorded[m.entry.Job.Sync]
	asks := said.asks
	if !read {
		asks = m.asksByStart(r.starter)
	}
	for _, asked := range r.starter.described {
		if !equalJSON(asked, asks) {
			differ("it describes %v, want %v", asked, asks)
		}
	}
	stops := 0
	if r.status == pollcore.TimedOut && m.call.Stop != nil {
		stops = 1
	}
	if len(r.starter.stopped) != stops {
		differ("it stops %d times, want %d", len(r.starter.stopped), stops)
	}
	describes := r.player.polls
	if m.ends == r.player.End && describes > 1 || m.ends > m.options.MaxWait && read && describes > 0 {
		differ("it describes the job %d times", describes)
	}
	if m.ends == r.player.End {
		m.compareReport(differ, &wait{sequence: r.player.Sequence, options: m.options}, r)
	}
	return all
}

// asksByStart are the arguments of the describe call that are those of the start.
func (m *syncMachine) asksByStart(s *starter) map[string]any {
	asks := map[string]any{}
	for member, expression := range m.entry.Job.Arguments {
		asks[spelled(member)] = s.input[strings.TrimPrefix(expression, "input.")]
	}
	return asks
}

// Every job with a ".sync" Task is taken, or the catalogue says why not; and what is
// recorded here is needed.
func TestSyncTakesWhatIsKnown(t *testing.T) {
	t.Parallel()
	needed := map[string]bool{}
	for _, e := range entries(t) {
		if e.Job == nil || e.Job.Sync == "" {
			continue
		}
		call := compile.CallOf(e)
		if catalog.ReadsStartOutput(e.Job.Arguments) {
			call.Stop = nil
		}
		_, err := compile.Compile(e.Waiter, call, compile.Options{Strategy: compile.SyncTask, MaxWait: time.Hour})
		if e.Job.SyncUnknown == "" {
			require.NoError(t, err, e.Job.Sync)
			needed[e.Job.Sync] = e.Job.SyncArguments != nil
		} else {
			require.ErrorIs(t, err, compile.ErrNotCompiled, e.Job.Sync)
			require.ErrorContains(t, err, e.Job.SyncUnknown)
		}
	}
	for integration := range recorded {
		require.True(t, needed[integration], integration)
	}
}
