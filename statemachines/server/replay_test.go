package server_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/server"
	"github.com/jobpoller/jobpoller/statemachines/server/journal"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const (
	syncParent = `{"StartAt":"N","States":{"N":{"Type":"Task","Resource":"arn:aws:states:::states:startExecution.sync:2",
		"Parameters":{"StateMachineArn":"arn:aws:states:eu-west-1:111111111111:stateMachine:slow","Name":"child","Input":{"a":1}},"Next":"W"},"W":{"Type":"Wait","Seconds":60,"End":true}}}`
	work = `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:eu-west-1:111111111111:activity:work","HeartbeatSeconds":900,"End":true}}}`
	call = `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:lambda:eu-west-1:111111111111:function:f",
		"Retry":[{"ErrorEquals":["States.ALL"],"IntervalSeconds":5,"JitterStrategy":"FULL"}],"Next":"W"},"W":{"Type":"Wait","Seconds":30,"End":true}}}`
)

// openJournal opens a server on the journal of a folder, with a clock that stands still.
func openJournal(t *testing.T, folder string) *endpoint {
	t.Helper()
	e, _ := openAndClose(t, folder, 0)
	return e
}

// openAndClose returns what ends the server, too, which keeps so many executions.
func openAndClose(t *testing.T, folder string, keep int) (e *endpoint, end func()) {
	t.Helper()
	j, err := journal.Open(folder, "test")
	require.NoError(t, err)
	return openOn(t, j, j.Close, keep)
}

// openOn opens a server on a journal, which end closes, too.
func openOn(t *testing.T, j server.Journal, closeIt func() error, keep int) (e *endpoint, end func()) {
	t.Helper()
	clock := manual()
	s, err := server.Open(server.Options{Clock: clock, Journal: j, KeepExecutions: keep, Prepare: func(_ server.StartInfo, o *sim.Options) error {
		o.Seed += 7 // as the command does
		o.Handlers = map[string]sim.Handler{"arn:aws:lambda:eu-west-1:111111111111:function:f": func(_ context.Context, call sim.Call) (sim.Reply, error) {
			if call.RetryCount < 2 {
				return sim.Reply{}, &sim.TaskError{Name: "Again", Cause: "c"}
			}
			return sim.Reply{Output: "done", Latency: 2 * time.Second}, nil
		}}
		return nil
	}})
	require.NoError(t, err)
	end = sync.OnceFunc(func() {
		s.Close()
		require.NoError(t, closeIt())
	})
	t.Cleanup(end)
	return &endpoint{s, t, clock}, end
}

// pass lets time pass and all that is due by then.
func (e *endpoint) pass(d time.Duration) {
	e.t.Helper()
	require.NoError(e.t, e.clock.Advance(e.t.Context(), e.clock.Now().Add(d)))
}

// everything is all that clients can see of the server.
func (e *endpoint) everything() string {
	e.t.Helper()
	var all []string
	tell := func(operation string, input object) object {
		_, out := send(e.t, e.Server, operation, text(e.t, input))
		all = append(all, operation+" "+text(e.t, out))
		return out
	}
	for _, a := range tell("ListActivities", object{})["activities"].([]any) {
		tell("DescribeActivity", object{"activityArn": a.(object)["activityArn"]})
		tell("ListTagsForResource", object{"resourceArn": a.(object)["activityArn"]})
	}
	for _, m := range tell("ListStateMachines", object{})["stateMachines"].([]any) {
		machine := object{"stateMachineArn": m.(object)["stateMachineArn"]}
		tell("DescribeStateMachine", machine)
		tell("ListTagsForResource", object{"resourceArn": machine["stateMachineArn"]})
		tell("ListStateMachineVersions", machine)
		aliases, _ := tell("ListStateMachineAliases", machine)["stateMachineAliases"].([]any)
		for _, a := range aliases { // none of one that is deleted
			tell("DescribeStateMachineAlias", object{"stateMachineAliasArn": a.(object)["stateMachineAliasArn"]})
		}
		for _, x := range tell("ListExecutions", machine)["executions"].([]any) {
			execution := object{"executionArn": x.(object)["executionArn"]}
			tell("DescribeExecution", execution)
			tell("DescribeStateMachineForExecution", execution)
			tell("GetExecutionHistory", execution)
			runs, _ := tell("ListMapRuns", execution)["mapRuns"].([]any)
			for _, run := range runs {
				tell("DescribeMapRun", object{"mapRunArn": run.(object)["mapRunArn"]})
			}
		}
	}
	return strings.Join(all, "\n")
}

// A server that is killed at any byte of its journal, and opened again, is what it was
// after the last request that was answered.
func TestOpenAfterAKill(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	e := openJournal(t, folder)
	var machines, executions []string
	var token, failed string
	const alias = "arn:aws:states:eu-west-1:111111111111:stateMachine:slow:live"
	steps := []func(){
		func() {
			e.call("CreateActivity", object{"name": "work", "tags": []object{{"key": "k", "value": "<é>"}}})
		},
		func() {
			for name, definition := range map[string]string{"slow": waitHour, "parent": syncParent, "work": work, "call": call} {
				e.create(name, definition)
			}
			machines = []string{"slow", "parent", "work", "call"}
		},
		func() {
			e.call("PublishStateMachineVersion", object{"stateMachineArn": machineARN("slow"), "description": "one"})
		},
		func() {
			e.call("UpdateStateMachine", object{"stateMachineArn": machineARN("slow"), "definition": failing, "publish": true})
		},
		func() {
			e.call("CreateStateMachineAlias", object{"name": "live", "routingConfiguration": []object{
				{"stateMachineVersionArn": machineARN("slow") + ":1", "weight": 50}, {"stateMachineVersionArn": machineARN("slow") + ":2", "weight": 50},
			}})
		},
		func() {
			for i := range 6 {
				executions = append(executions, e.start(alias, object{"name": fmt.Sprint("a", i)}))
			}
			failed = e.start(machineARN("slow") + ":2")
		},
		func() { executions = append(executions, e.start(machineARN("call"), object{"input": `{"<": 1.50}`})) },
		func() {
			e.call("UpdateStateMachine", object{"stateMachineArn": machineARN("slow"), "definition": waitHour})
		},
		func() { executions = append(executions, e.start(machineARN("parent"))) },
		func() { executions = append(executions, e.start(machineARN("work"))) },
		func() { e.pass(20 * time.Second) },
		func() {
			token = e.call("GetActivityTask", object{"activityArn": "arn:aws:states:eu-west-1:111111111111:activity:work", "workerName": "me"})["taskToken"].(string)
		},
		func() { e.pass(800 * time.Second) },
		func() { e.call("SendTaskHeartbeat", object{"taskToken": token}) },
		func() { e.pass(800 * time.Second) },
		func() { e.call("RedriveExecution", object{"executionArn": failed}) },
		func() {
			e.call("TagResource", object{"resourceArn": machineARN("work"), "tags": []object{{"key": "a", "value": "b"}}})
		},
		func() {
			e.call("StopExecution", object{"executionArn": executions[6], "error": "E", "cause": "no\nmore"})
		},
		func() { e.call("DeleteStateMachine", object{"stateMachineArn": machineARN("work")}) },
		func() { e.call("SendTaskSuccess", object{"taskToken": token, "output": `{"n": 1.50}`}) },
		func() { e.create("work", pass) },
		func() { e.start(machineARN("work")) },
		func() { e.pass(time.Hour) },
		func() { e.pass(time.Hour) },
	}
	file := filepath.Join(folder, "journal.jsonl")
	type state struct {
		size int64
		now  time.Time
		text string
	}
	var states []state
	for _, step := range steps {
		step()
		e.pass(0)
		info, err := os.Stat(file)
		require.NoError(t, err)
		states = append(states, state{info.Size(), e.clock.Now(), e.everything()})
	}
	require.Len(t, machines, 4)
	last := states[len(states)-1].text
	require.Contains(t, last, "TaskSubmitted")
	require.Contains(t, last, "ExecutionRedriven")
	require.NotContains(t, last, `"status":"RUNNING"`)
	whole, err := os.ReadFile(file)
	require.NoError(t, err)

	r := rand.New(rand.NewPCG(1, 2))
	for i, before := range states {
		next := int64(len(whole))
		if i+1 < len(states) {
			next = states[i+1].size
		}
		if next > before.size { // the next request was on its way
			line := int64(bytes.IndexByte(whole[before.size:], '\n'))
			next = before.size + r.Int64N(line+1)
		}
		killed := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(killed, "journal.jsonl"), whole[:next], 0o600))
		again := openJournal(t, killed)
		require.NoError(t, again.clock.Advance(t.Context(), before.now))
		require.Equal(t, before.text, again.everything(), "step %d", i)
		if strings.Contains(before.text, executions[7]) { // whose nested execution was running
			again.pass(2 * time.Hour)
			require.Equal(t, "SUCCEEDED", again.describe(executions[7])["status"], "step %d", i)
		}
	}

	// Wherever it is cut, nothing is torn, and it goes on.
	for range 60 {
		killed := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(killed, "journal.jsonl"), whole[:r.IntN(len(whole)+1)], 0o600))
		again := openJournal(t, killed)
		again.pass(time.Hour)
		all := again.everything()
		require.NotContains(t, all, "does not fit")
		again.create("after", pass)
	}
}

func machineARN(name string) string {
	return "arn:aws:states:eu-west-1:111111111111:stateMachine:" + name
}

// Executions that are forgotten do not come back, and the journal forgets them, too.
func TestForgottenExecutionsLeaveTheJournal(t *testing.T) {
	t.Parallel()
	const keep = 3
	folder := t.TempDir()
	size := func() int64 {
		info, err := os.Stat(filepath.Join(folder, "journal.jsonl"))
		require.NoError(t, err)
		return info.Size()
	}
	e, end := openAndClose(t, folder, keep)
	machine, waits := e.create("m", call), e.create("w", waitHour)
	waiting := e.start(waits)
	for i := range 20 {
		e.start(machine, object{"name": fmt.Sprint("x", i)})
		e.pass(time.Minute)
	}
	e.pass(0)
	before, now := e.everything(), e.clock.Now()
	require.Equal(t, keep, strings.Count(before, `"status":"SUCCEEDED"`)/2, "in the list and by itself")
	end()
	long := size()

	e, end = openAndClose(t, folder, keep)
	require.Equal(t, now, e.clock.Now().UTC())
	e.pass(0)
	require.Equal(t, before, e.everything())
	require.Less(t, size()*2, long)
	end()
	e, _ = openAndClose(t, folder, keep)
	e.pass(time.Hour)
	require.Equal(t, "SUCCEEDED", e.describe(waiting)["status"])
	again := e.start(machine, object{"name": "x1"})
	e.pass(time.Minute)
	require.Equal(t, "SUCCEEDED", e.describe(again)["status"])
}

// Whatever stands in the file, the server opens or says which record is wrong.
func TestDamagedJournals(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	e, end := openAndClose(t, folder, 0)
	e.call("CreateActivity", object{"name": "work"})
	machines := []string{e.create("slow", waitHour), e.create("parent", syncParent), e.create("work", work), e.create("call", call)}
	for _, machine := range machines {
		e.start(machine, object{"name": "x"})
	}
	e.call("GetActivityTask", object{"activityArn": "arn:aws:states:eu-west-1:111111111111:activity:work"})
	e.call("StopExecution", object{"executionArn": e.start(machines[0])})
	e.pass(time.Minute)
	end()
	whole, err := os.ReadFile(filepath.Join(folder, "journal.jsonl"))
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(3, 4))
	opened := 0
	for i := range 150 {
		lines := bytes.SplitAfter(bytes.Clone(whole), []byte("\n"))
		for range 1 + r.IntN(3) {
			at, other := 1+r.IntN(len(lines)-2), 1+r.IntN(len(lines)-2)
			switch r.IntN(4) {
			case 0:
				lines = append(lines[:at:at], lines[at+1:]...)
			case 1:
				lines[at], lines[other] = lines[other], lines[at]
			case 2:
				lines[at] = append(bytes.Clone(lines[other]), lines[at]...)
			default:
				line := lines[at]
				line[r.IntN(len(line)-1)] = "0192{}\"x,-"[r.IntN(10)]
			}
			if len(lines) < 4 {
				break
			}
		}
		damaged := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(damaged, "journal.jsonl"), bytes.Join(lines, nil), 0o600))
		j, err := journal.Open(damaged, "test")
		require.NoError(t, err)
		s, err := server.Open(server.Options{Clock: manual(), Journal: j})
		if err == nil {
			opened++
			require.NoError(t, s.World().Clock().Advance(t.Context(), sim.DefaultStart().Add(time.Hour)))
			s.Close()
		} else {
			require.ErrorContains(t, err, "journal.jsonl, line ", "%d", i)
		}
		require.NoError(t, j.Close())
	}
	require.Positive(t, opened)
	require.Less(t, opened, 150)
}

// An execution that was redriven counts once among those that are kept.
func TestKeptExecutionsAfterARedrive(t *testing.T) {
	t.Parallel()
	e, _ := openAndClose(t, t.TempDir(), 2)
	machine := e.create("m", failing)
	x := e.start(machine)
	e.pass(0)
	for range 3 {
		e.call("RedriveExecution", object{"executionArn": x})
		e.pass(time.Second)
	}
	e.refused("RedriveExecution", object{"executionArn": e.start(e.create("w", waitHour))})
	other := e.start(machine)
	e.pass(0)
	require.InDelta(t, 3, e.describe(x)["redriveCount"], 0)
	require.Equal(t, "FAILED", e.describe(other)["status"])
	e.start(machine)
	e.pass(0)
	require.Contains(t, e.refused("DescribeExecution", object{"executionArn": x}), "ExecutionDoesNotExist", "the oldest is forgotten")
	require.Equal(t, "FAILED", e.describe(other)["status"])
}

// The work of opening a journal grows with the journal, and not with its square.
func TestOpenIsLinear(t *testing.T) { //nolint:paralleltest // it counts allocations
	allocations := func(machines int) float64 {
		folder := t.TempDir()
		e, end := openAndClose(t, folder, 0)
		for i := range machines {
			e.create(fmt.Sprint("m", i), pass)
		}
		end()
		return testing.AllocsPerRun(1, func() {
			_, end := openAndClose(t, folder, 0)
			end()
		})
	}
	none, some := allocations(1), allocations(200)
	require.Less(t, allocations(800)-none, 5*(some-none))
}

func BenchmarkOpen(b *testing.B) {
	for _, machines := range []int{500, 2000, 8000} {
		b.Run(fmt.Sprint(machines), func(b *testing.B) {
			folder := b.TempDir()
			open := func() (*server.Server, *journal.Journal) {
				j, err := journal.Open(folder, "test")
				require.NoError(b, err)
				s, err := server.Open(server.Options{Journal: j})
				require.NoError(b, err)
				return s, j
			}
			s, j := open()
			for i := range machines {
				send(b, s, "CreateStateMachine", text(b, object{"name": fmt.Sprint("m", i), "definition": pass, "roleArn": role}))
			}
			s.Close()
			require.NoError(b, j.Close())
			for b.Loop() {
				s, j := open()
				s.Close()
				require.NoError(b, j.Close())
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(machines), "us/record")
		})
	}
}

// Servers that get the same requests draw the same versions of an alias.
func TestAliasesRepeat(t *testing.T) {
	t.Parallel()
	draw := func() (versions []any) {
		e := startServer(t, manual(), nil)
		m := e.create("m", pass, object{"publish": true})
		e.call("UpdateStateMachine", object{"stateMachineArn": m, "definition": failing, "publish": true})
		live := e.call("CreateStateMachineAlias", object{"name": "live", "routingConfiguration": []object{
			{"stateMachineVersionArn": m + ":1", "weight": 50}, {"stateMachineVersionArn": m + ":2", "weight": 50},
		}})["stateMachineAliasArn"].(string)
		for range 20 {
			versions = append(versions, e.describe(e.start(live))["stateMachineVersionArn"])
		}
		return versions
	}
	first := draw()
	require.Contains(t, first, machineARN("m")+":1")
	require.Contains(t, first, machineARN("m")+":2")
	require.Equal(t, first, draw())
}

// What is changed on a state machine that is deleted while it runs does not keep the
// server from opening, and one of its name may come after it.
func TestDeletedStateMachines(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	e, end := openAndClose(t, folder, 0)
	m := e.create("m", waitHour, object{"publish": true})
	e.call("CreateStateMachineAlias", object{"name": "live", "routingConfiguration": []object{{"stateMachineVersionArn": m + ":1", "weight": 100}}})
	x := e.start(m)
	e.call("DeleteStateMachine", object{"stateMachineArn": m})
	e.call("TagResource", object{"resourceArn": m, "tags": []object{{"key": "a", "value": "b"}}})
	e.call("DeleteStateMachineAlias", object{"stateMachineAliasArn": m + ":live"})
	e.pass(time.Second)
	before := e.everything()
	require.Contains(t, before, `"status":"DELETING"`)
	end()

	e, end = openAndClose(t, folder, 0)
	e.pass(0)
	require.Equal(t, before, e.everything())
	e.call("StopExecution", object{"executionArn": x})
	e.pass(0)
	e.create("m", pass)
	before = e.everything()
	require.NotContains(t, before, "DELETING")
	end()

	e, _ = openAndClose(t, folder, 0)
	e.pass(0)
	require.Equal(t, before, e.everything())
	require.Equal(t, "ABORTED", e.describe(x)["status"])
}
