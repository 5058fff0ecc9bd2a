package plan

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/pastjobs"
	"github.com/jobpoller/jobpoller/statemachines/sfntest"
)

// startLoop starts the project's own server, which runs executions in virtual time, with
// a machine that polls.
func startLoop(t *testing.T) (s *sfntest.Server, machine *string) {
	t.Helper()
	s = sfntest.Start(t)
	text, err := os.ReadFile("../../../docs/example/athena/loop.asl.json")
	require.NoError(t, err)
	created, err := s.Client.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{
		Name: aws.String("loop"), RoleArn: aws.String("arn:aws:iam::123456789012:role/r"), Definition: aws.String(string(text)),
	})
	require.NoError(t, err)
	return s, created.StateMachineArn
}

func queryAnswer(state string) any {
	return map[string]any{"QueryExecution": map[string]any{"QueryExecutionId": "q", "Status": map[string]any{"State": state}}}
}

// runLoop runs an execution that sees the end of its job with so many polls.
func runLoop(t *testing.T, s *sfntest.Server, machine *string, polls int) {
	t.Helper()
	s.On("RunQuery").Return(map[string]any{"QueryExecutionId": "q"})
	if polls > 1 {
		s.On("GetStatus").Return(queryAnswer("RUNNING")).Times(polls - 1)
	}
	s.On("GetStatus").Return(queryAnswer("SUCCEEDED")).Times(1)
	started, err := s.Client.StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: machine, Input: aws.String(`{"sql": "x"}`)})
	require.NoError(t, err)
	s.Wait(*started.ExecutionArn)
}

// planOfServer plans of a server; nil and the message where it has no durations.
func planOfServer(t *testing.T, s *sfntest.Server, args ...string) (*planReport, string) {
	t.Helper()
	client := roundTripper(func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		s.Handler.ServeHTTP(w, r)
		answer := w.Result()
		answer.Request = r
		return answer, nil
	})
	var out, errs bytes.Buffer
	code := runCommand(awssettings.WithClient(t.Context(), client), append([]string{"plan", "-o", "json"}, args...), &out, &errs)
	if code == kit.ExitUsage {
		return nil, errs.String()
	}
	require.Zero(t, code, errs.String())
	p := &planReport{}
	require.NoError(t, json.Unmarshal(out.Bytes(), p))
	return p, ""
}

// The jobs of the server's executions end between the polls of their histories.
func TestPlanFromTheServer(t *testing.T) {
	t.Parallel()
	s, machine := startLoop(t)
	for polls := 1; polls <= 21; polls++ {
		runLoop(t, s, machine, polls)
	}
	p, errs := planOfServer(t, s, "--from-executions", *machine)
	require.NotNil(t, p, errs)
	require.Equal(t, 21, p.Durations.Count)
	require.Equal(t, 21, p.Durations.Intervals, "Athena's times are not in these answers")
	require.InDelta(t, 11*5, p.Durations.P50Seconds, 5, "the poll 11 of 21, every 5 seconds")
	require.Equal(t, "athena", p.Service)
	require.Equal(t, 5*time.Second, p.Schedules[0].Schedule.Then, "of the machine's definition")
}

// A redrive adds to a history that was kept: it is read again.
func TestPlanReadsRedrivenExecutionsAgain(t *testing.T) {
	t.Parallel()
	s, machine := startLoop(t)
	runLoop(t, s, machine, 3)
	s.On("RunQuery").Return(map[string]any{"QueryExecutionId": "q"})
	s.On("GetStatus").Return(queryAnswer("RUNNING")).Times(1)
	s.On("GetStatus").Fail("Athena.AmazonAthenaException", "broken")
	stopped, err := s.Client.StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: machine, Input: aws.String(`{"sql": "x"}`)})
	require.NoError(t, err)
	require.Equal(t, types.ExecutionStatusFailed, s.Wait(*stopped.ExecutionArn).Status)

	dir := t.TempDir()
	file, one := filepath.Join(dir, "past.jsonl"), filepath.Join(dir, "one.jsonl")
	read := func(arn, keep string) *planReport {
		p, errs := planOfServer(t, s, "--from-executions", arn, "--keep", keep)
		if p == nil {
			require.Contains(t, errs, "1 job without an end")
		}
		return p
	}
	lines := func(name string) int {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		return bytes.Count(text, []byte("\n"))
	}
	p := read(*machine, file)
	require.Equal(t, 1, p.Durations.Count)
	require.Contains(t, p.Notes, "left out: 1 job without an end")
	for range 2 {
		require.Nil(t, read(*stopped.ExecutionArn, one))
	}
	require.Equal(t, 1, lines(one))
	s.On("GetStatus").Return(queryAnswer("SUCCEEDED"))
	_, err = s.Client.RedriveExecution(t.Context(), &sfn.RedriveExecutionInput{ExecutionArn: stopped.ExecutionArn})
	require.NoError(t, err)
	require.Equal(t, types.ExecutionStatusSucceeded, s.Wait(*stopped.ExecutionArn).Status)
	p = read(*machine, file)
	require.Equal(t, 2, p.Durations.Count)
	require.NotContains(t, p.Notes, "left out: 1 job without an end")
	require.Equal(t, 3, lines(file), "the other execution is not read again")
	require.Equal(t, 2, read(*machine, file).Durations.Count)
	require.Equal(t, 3, lines(file))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	known, err := pastjobs.Parse(text, nil, "")
	require.NoError(t, err)
	require.Len(t, known.Ended, 2)
	require.Empty(t, known.Left, "the last line of an execution counts")
	require.Equal(t, 1, read(*stopped.ExecutionArn, one).Durations.Count)
	require.Equal(t, 2, lines(one))
}
