package server_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/server/journal"
)

// fullDisk is a journal on a disk that may be full: then half of a record is written.
type fullDisk struct {
	*journal.Journal

	file string
	full atomic.Bool
}

func (d *fullDisk) Append(record []byte) error {
	if !d.full.Load() {
		return d.Journal.Append(record)
	}
	file, err := os.OpenFile(d.file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = file.Write(record[:len(record)/2])
	return errors.Join(syscall.ENOSPC, err, file.Close())
}

// changeScene is a server with something of everything that a request can change.
type changeScene struct {
	*endpoint

	waits, failed, mapRun, token string
}

const workARN = "arn:aws:states:eu-west-1:111111111111:activity:work"

func newChangeScene(e *endpoint) *changeScene {
	s := &changeScene{endpoint: e}
	e.call("CreateActivity", object{"name": "work", "tags": []object{{"key": "a", "value": "1"}}})
	slow := e.create("slow", waitHour, object{"publish": true, "tags": []object{{"key": "a", "value": "1"}}})
	e.call("UpdateStateMachine", object{"stateMachineArn": slow, "definition": failing, "publish": true})
	e.call("CreateStateMachineAlias", object{"name": "live", "routingConfiguration": []object{{"stateMachineVersionArn": slow + ":1", "weight": 100}}})
	s.waits = e.start(slow + ":live")
	s.failed = e.start(slow, object{"name": "failed"})
	worker := e.create("work", work)
	e.start(worker, object{"name": "taken"})
	e.pass(time.Second)
	s.token = e.call("GetActivityTask", object{"activityArn": workARN})["taskToken"].(string)
	e.start(worker, object{"name": "waits"})
	each := e.start(e.create("each", eachWaits), object{"input": "[1,3,5,7]"})
	e.pass(time.Second)
	s.mapRun = e.call("ListMapRuns", object{"executionArn": each})["mapRuns"].([]any)[0].(object)["mapRunArn"].(string)
	return s
}

// changing are the requests that change something.
var changing = []struct {
	name, operation string
	input           func(*changeScene) object
	later           bool // it is seen only when time has passed
}{
	{name: "activity", operation: "CreateActivity", input: func(*changeScene) object {
		return object{"name": "more", "tags": []object{{"key": "k", "value": "v"}}}
	}},
	{name: "no activity", operation: "DeleteActivity", input: func(*changeScene) object { return object{"activityArn": workARN} }},
	{name: "tag of an activity", operation: "TagResource", input: func(*changeScene) object {
		return object{"resourceArn": workARN, "tags": []object{{"key": "a", "value": "2"}, {"key": "b", "value": "<é>"}}}
	}},
	{name: "tag", operation: "TagResource", input: func(*changeScene) object {
		return object{"resourceArn": machineARN("slow"), "tags": []object{{"key": "b", "value": ""}}}
	}},
	{name: "no tag", operation: "UntagResource", input: func(*changeScene) object {
		return object{"resourceArn": machineARN("slow"), "tagKeys": []string{"a"}}
	}},
	{name: "state machine", operation: "CreateStateMachine", input: func(*changeScene) object {
		return object{"name": "new", "definition": pass, "roleArn": role, "publish": true, "versionDescription": "first"}
	}},
	{name: "update", operation: "UpdateStateMachine", input: func(*changeScene) object {
		return object{"stateMachineArn": machineARN("slow"), "definition": pass}
	}},
	{name: "update and version", operation: "UpdateStateMachine", input: func(*changeScene) object {
		return object{"stateMachineArn": machineARN("slow"), "roleArn": role + "2", "publish": true, "versionDescription": "third"}
	}},
	{name: "no state machine", operation: "DeleteStateMachine", input: func(*changeScene) object {
		return object{"stateMachineArn": machineARN("slow")}
	}},
	{name: "version", operation: "PublishStateMachineVersion", input: func(*changeScene) object {
		return object{"stateMachineArn": machineARN("work"), "description": "first"}
	}},
	{name: "no version", operation: "DeleteStateMachineVersion", input: func(*changeScene) object {
		return object{"stateMachineVersionArn": machineARN("slow") + ":2"}
	}},
	{name: "alias", operation: "CreateStateMachineAlias", input: func(*changeScene) object {
		return object{"name": "next", "routingConfiguration": []object{{"stateMachineVersionArn": machineARN("slow") + ":2", "weight": 100}}}
	}},
	{name: "route", operation: "UpdateStateMachineAlias", input: func(*changeScene) object {
		return object{"stateMachineAliasArn": machineARN("slow") + ":live", "description": "d", "routingConfiguration": []object{
			{"stateMachineVersionArn": machineARN("slow") + ":1", "weight": 30}, {"stateMachineVersionArn": machineARN("slow") + ":2", "weight": 70},
		}}
	}},
	{name: "no alias", operation: "DeleteStateMachineAlias", input: func(*changeScene) object {
		return object{"stateMachineAliasArn": machineARN("slow") + ":live"}
	}},
	{name: "start", operation: "StartExecution", input: func(*changeScene) object {
		return object{"stateMachineArn": machineARN("slow") + ":live", "name": "more", "input": `{"n": 1.50}`, "traceHeader": "Root=1"}
	}},
	{name: "stop", operation: "StopExecution", input: func(s *changeScene) object {
		return object{"executionArn": s.waits, "error": "E", "cause": "no\nmore"}
	}},
	{name: "redrive", operation: "RedriveExecution", input: func(s *changeScene) object { return object{"executionArn": s.failed} }},
	{name: "task", operation: "GetActivityTask", input: func(*changeScene) object {
		return object{"activityArn": workARN, "workerName": "me"}
	}},
	{name: "success", operation: "SendTaskSuccess", input: func(s *changeScene) object {
		return object{"taskToken": s.token, "output": `{"n": 1.50}`}
	}},
	{name: "failure", operation: "SendTaskFailure", input: func(s *changeScene) object {
		return object{"taskToken": s.token, "error": "E", "cause": "<C>"}
	}},
	{name: "heartbeat", operation: "SendTaskHeartbeat", later: true, input: func(s *changeScene) object { return object{"taskToken": s.token} }},
	{name: "Map Run", operation: "UpdateMapRun", input: func(s *changeScene) object {
		return object{"mapRunArn": s.mapRun, "maxConcurrency": 3, "toleratedFailureCount": 2, "toleratedFailurePercentage": 25}
	}},
}

// Every request that changes something is there after a restart, and goes on as without
// one.
func TestChangesSurviveARestart(t *testing.T) {
	t.Parallel()
	for _, tt := range changing {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			s := newChangeScene(openJournal(t, folder))
			s.pass(8 * time.Second)
			before := s.everything()
			s.call(tt.operation, tt.input(s))
			s.pass(0)
			after := s.everything()
			if !tt.later {
				require.NotEqual(t, before, after)
			}
			again := reopen(t, folder)
			require.Equal(t, after, again.everything())
			s.pass(895 * time.Second) // some seconds before the worker is too late if it has sent a heartbeat
			again.pass(895 * time.Second)
			later := s.everything()
			require.NotEqual(t, after, later)
			require.Equal(t, later, again.everything())
			if tt.later {
				require.NotContains(t, history(later, "taken"), "ActivityTimedOut")
			}
		})
	}
}

// reopen opens a server on a copy of the journal.
func reopen(t *testing.T, folder string) *endpoint {
	t.Helper()
	whole, err := os.ReadFile(filepath.Join(folder, "journal.jsonl"))
	require.NoError(t, err)
	other := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(other, "journal.jsonl"), whole, 0o600))
	e := openJournal(t, other)
	e.pass(0)
	return e
}

// history is the line of everything with the history of an execution of the state machine
// work.
func history(everything, name string) string {
	_, rest, _ := strings.Cut(everything, `execution:work:`+name+`"`)
	_, rest, _ = strings.Cut(rest, "GetExecutionHistory")
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

// On a full disk a request that would change something is refused, and changes nothing,
// and the torn half of its record does not hurt the next start of the server.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, tt := range changing {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			j, err := journal.Open(folder, "test")
			require.NoError(t, err)
			disk := &fullDisk{Journal: j, file: filepath.Join(folder, "journal.jsonl")}
			e, end := openOn(t, disk, j.Close, 0)
			s := newChangeScene(e)
			s.pass(8 * time.Second)
			before, now := s.everything(), s.clock.Now()
			disk.full.Store(true)
			status, out := send(t, s.Server, tt.operation, text(t, tt.input(s)))
			require.Equal(t, http.StatusServiceUnavailable, status)
			require.Equal(t, object{
				"__type":  "ServiceUnavailable",
				"message": "The server takes no changes any more: no space left on device. Start it again when that is mended.",
			}, out)
			require.Equal(t, before, s.everything())
			require.ErrorIs(t, s.clock.Advance(t.Context(), now.Add(time.Hour)), syscall.ENOSPC)
			require.Equal(t, before, s.everything())
			require.Equal(t, now, s.clock.Now())
			status, _ = send(t, s.Server, "CreateActivity", `{"name": "later"}`)
			require.Equal(t, http.StatusServiceUnavailable, status)

			end()
			s.endpoint = openJournal(t, folder)
			require.Equal(t, now, s.clock.Now().UTC())
			s.pass(0)
			require.Equal(t, before, s.everything())
			s.call(tt.operation, tt.input(s))
			s.pass(0)
			after := s.everything()
			require.Equal(t, after, reopen(t, folder).everything())
		})
	}
}
