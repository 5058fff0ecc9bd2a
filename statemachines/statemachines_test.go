package statemachines_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const invoke = "arn:aws:states:::lambda:invoke"

// What the shipped definition's Comment says of its functions.
const (
	functionTimeout = 30 * time.Second
	leaseMargin     = 5 * time.Second
)

// loops are the definitions that are written by hand.
var loops = []string{"lambda-loop", "lambda-loop-count"}

func loop(t *testing.T, name string) *asl.StateMachine {
	t.Helper()
	text, err := statemachines.Definition(name)
	require.NoError(t, err)
	m, err := asl.Parse(text)
	require.NoError(t, err)
	return m
}

func TestLambdaPoller(t *testing.T) {
	t.Parallel()
	text, err := statemachines.Definition("lambda-loop")
	require.NoError(t, err)
	require.Equal(t, string(text), statemachines.LambdaPoller())
}

func TestShippedDefinitionsParse(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.asl.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		_, err = asl.Parse(text)
		require.NoError(t, err, file)
	}
}

// script plays the two functions: RunJob and CheckStatus answer with the
// statuses in turn; an entry with a dot is an error name.
type script struct {
	runJob, checkStatus []string
	calls               []string
}

func (s *script) functions() map[string]sim.LambdaFunction {
	play := func(name string, answers *[]string) sim.LambdaFunction {
		return func(_ context.Context, payload []byte) ([]byte, error) {
			type contextObject struct {
				Execution map[string]any `json:"Execution"`
				State     map[string]any `json:"State"`
			}
			var event struct {
				contextObject                // itself, or with an input
				Context       *contextObject `json:"Context"`
			}
			if err := json.Unmarshal(payload, &event); err != nil {
				return nil, err
			}
			sent := event.contextObject
			if event.Context != nil {
				sent = *event.Context
			}
			if sent.Execution["Id"] == nil || sent.State["Name"] != name {
				return nil, fmt.Errorf("payload has not the context object: %s", payload)
			}
			answer := (*answers)[0]
			if len(*answers) > 1 {
				*answers = (*answers)[1:]
			}
			s.calls = append(s.calls, name)
			if strings.Contains(answer, ".") {
				return nil, &sim.FunctionError{Type: answer, Message: "scripted"}
			}
			return json.Marshal(map[string]any{"status": answer, "waitSeconds": 7, "reason": "scripted " + answer})
		}
	}
	return map[string]sim.LambdaFunction{
		statemachines.RunJobFunction:      play("RunJob", &s.runJob),
		statemachines.CheckStatusFunction: play("CheckStatus", &s.checkStatus),
	}
}

// run runs a definition; waits of the input are those that the functions say.
func (s *script) run(t *testing.T, name string) *sim.Result {
	t.Helper()
	input := `{"job":"x"}`
	if name == "lambda-loop-count" {
		input = `{"job":"x","waitSeconds":7,"maxWaitCount":200}`
	}
	result, err := sim.Run(t.Context(), loop(t, name), []byte(input), sim.Options{
		Handlers: map[string]sim.Handler{invoke: sim.LambdaInvoke(s.functions())},
	})
	require.NoError(t, err)
	return result
}

func TestLambdaLoopVerdicts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		checkStatus []string
		status      sim.Status
		error       string
		cause       string
		checks      int
	}{
		{"succeeds", []string{"RUNNING", "RUNNING", "SUCCEEDED"}, sim.StatusSucceeded, "", "", 3},
		{"fails", []string{"FAILED"}, sim.StatusFailed, "JobPoller.Failed", "scripted FAILED", 1},
		{"times out", []string{"RUNNING", "TIMED_OUT"}, sim.StatusFailed, "JobPoller.TimedOut", "scripted TIMED_OUT", 2},
		{"breaks the contract", []string{"DONE"}, sim.StatusFailed, "JobPoller.UnexpectedStatus", "another version of the function", 1},
	}
	for _, tt := range tests {
		for _, definition := range loops {
			t.Run(tt.name+"/"+definition, func(t *testing.T) {
				t.Parallel()
				s := &script{runJob: []string{"RUNNING"}, checkStatus: tt.checkStatus}
				result := s.run(t, definition)
				require.Equal(t, tt.status, result.Status)
				require.Equal(t, tt.error, result.Error)
				require.Contains(t, result.Cause, tt.cause)
				waits := tt.checks
				if definition == "lambda-loop-count" {
					waits++ // the one that RunJob asks for comes on top
				}
				require.Equal(t, time.Duration(7*waits)*time.Second, result.Duration())
			})
		}
	}
}

func TestLambdaLoopRetries(t *testing.T) {
	t.Parallel()
	transient := []string{
		"Lambda.ClientExecutionTimeoutException", "Lambda.ServiceException", "Lambda.AWSLambdaException", "Lambda.SdkClientException",
		"Lambda.TooManyRequestsException", "Lambda.Unknown", "Sandbox.Timedout", "Runtime.ExitError", "States.Timeout",
		"JobPoller.ServiceUnavailable", "JobPoller.StoreUnavailable",
	}
	for _, definition := range loops {
		for _, name := range transient {
			t.Run(definition+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := &script{runJob: []string{name, "RUNNING"}, checkStatus: []string{name, "SUCCEEDED"}}
				result := s.run(t, definition)
				require.Equal(t, sim.StatusSucceeded, result.Status, result.Cause)
				require.Equal(t, []string{"RunJob", "RunJob", "CheckStatus", "CheckStatus"}, s.calls)
			})
		}
		for _, name := range []string{
			"JobPoller.InvalidRequest", "JobPoller.UnknownJob", "JobPoller.Conflict", "JobPoller.Configuration",
			"JobPoller.JobStartUnknown", "JobPoller.Failed",
		} {
			t.Run(definition+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := &script{runJob: []string{name}, checkStatus: []string{"SUCCEEDED"}}
				result := s.run(t, definition)
				require.Equal(t, name, result.Error)
				require.Equal(t, []string{"RunJob"}, s.calls, "trying again does not help")
			})
		}
	}
}

// A RunJob that died holds its lease for its whole time limit and the margin;
// the retries last longer, whatever the jitter.
func TestLambdaLoopOutlastsALease(t *testing.T) {
	t.Parallel()
	for _, definition := range loops {
		s := &script{runJob: []string{"JobPoller.JobStartInProgress"}, checkStatus: []string{"SUCCEEDED"}}
		result := s.run(t, definition)
		require.Equal(t, "JobPoller.JobStartInProgress", result.Error)
		require.Greater(t, result.Duration(), functionTimeout+leaseMargin+2*time.Second, "a lease is exact to a second at both ends")
	}
}

// The cost that the documentation states: 3 transitions and 9 events a poll.
func TestLambdaLoopCostOfAPoll(t *testing.T) {
	t.Parallel()
	for _, definition := range loops {
		polls := func(n int) *sim.Result {
			s := &script{runJob: []string{"RUNNING"}, checkStatus: append(slices.Repeat([]string{"RUNNING"}, n), "SUCCEEDED")}
			return s.run(t, definition)
		}
		few, many := polls(10), polls(110)
		require.Equal(t, 3*100, many.Transitions-few.Transitions)
		require.Len(t, many.Events, len(few.Events)+9*100)
	}
}
