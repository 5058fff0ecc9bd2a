package server_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/server"
)

// The token of a page is good for a day, and for the list that it came with.
func TestPageTokens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := startServer(t, manual(), nil)
		m := e.create("a", waitHour)
		e.create("b", waitHour)
		for _, name := range []string{"a", "b"} {
			e.call("CreateActivity", object{"name": name})
			e.start(m, object{"name": name})
		}
		const invalid = "InvalidToken: Invalid Token: 'Invalid token'"
		machines := e.call("ListStateMachines", object{"maxResults": 1})["nextToken"]
		running := e.call("ListExecutions", object{"stateMachineArn": m, "statusFilter": "RUNNING", "maxResults": 1})["nextToken"]
		require.NotEmpty(t, machines)
		require.NotEmpty(t, running)
		require.Equal(t, invalid, e.refused("ListActivities", object{"nextToken": machines}))
		require.Equal(t, invalid, e.refused("ListExecutions", object{"stateMachineArn": m, "nextToken": machines}))
		require.Equal(t, invalid, e.refused("ListExecutions", object{"stateMachineArn": m, "nextToken": running}))
		require.Equal(t, invalid, e.refused("ListStateMachines", object{"nextToken": running}))

		<-time.After(24 * time.Hour)
		require.Len(t, e.call("ListStateMachines", object{"nextToken": machines})["stateMachines"], 1)
		require.Len(t, e.call("ListExecutions", object{"stateMachineArn": m, "statusFilter": "RUNNING", "nextToken": running})["executions"], 1)
		<-time.After(2 * time.Second)
		require.Equal(t, invalid, e.refused("ListStateMachines", object{"nextToken": machines}))
		require.Equal(t, invalid, e.refused("ListExecutions", object{"stateMachineArn": m, "statusFilter": "RUNNING", "nextToken": running}))
	})
}

// request makes a request whose signature is of an account.
func request(ctx context.Context, s http.Handler, account, operation, body string) *httptest.ResponseRecorder {
	q := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(body))
	q.Header.Set("X-Amz-Target", "AWSStepFunctions."+operation)
	q.Header.Set("Authorization", strings.ReplaceAll(signed, "111111111111", account))
	w := httptest.NewRecorder()
	s.ServeHTTP(w, q)
	return w
}

// So many workers may wait for an activity. One that leaves makes room.
func TestActivityWorkers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := startServer(t, manual(), nil)
		of := text(t, object{"activityArn": e.call("CreateActivity", object{"name": "a"})["activityArn"]})
		get := func(ctx context.Context) *httptest.ResponseRecorder {
			return request(ctx, e, "111111111111", "GetActivityTask", of)
		}
		ctx, cancel := context.WithCancel(t.Context())
		for range 1000 {
			go get(ctx)
		}
		synctest.Wait()
		require.Contains(t, get(t.Context()).Body.String(), `"ActivityWorkerLimitExceeded"`)
		cancel()
		synctest.Wait()
		w := get(t.Context()) // waits for the minute that it takes
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	})
}

// A server keeps so many accounts, and refuses others.
func TestAccountsAreBounded(t *testing.T) {
	t.Parallel()
	s := server.New(server.Options{})
	t.Cleanup(s.Close)
	for i := range 10_000 {
		require.Equal(t, http.StatusOK, request(t.Context(), s, fmt.Sprintf("%012d", i), "ListActivities", "{}").Code, i)
	}
	w := request(t.Context(), s, "999999999999", "ListActivities", "{}")
	require.Equal(t, http.StatusBadRequest, w.Code)
	require.Contains(t, w.Body.String(), "ServiceQuotaExceededException")
	require.Equal(t, http.StatusOK, request(t.Context(), s, "000000000007", "ListActivities", "{}").Code)
}

// Refusals do not quote what may be a secret, as those of AWS do not.
func TestSecretsAreNotQuoted(t *testing.T) {
	t.Parallel()
	e := startServer(t, manual(), nil)
	m := e.create("m", waitHour)
	long := strings.Repeat("s3cret", 60_000)
	for _, tt := range []struct {
		operation, member string
		input             object
	}{
		{"StartExecution", "input", object{"stateMachineArn": m, "input": long}},
		{"SendTaskSuccess", "output", object{"taskToken": "x", "output": long}},
		{"SendTaskFailure", "cause", object{"taskToken": "x", "cause": long}},
		{"TestState", "input", object{"definition": pass, "input": long}},
		{"CreateStateMachine", "definition", object{"name": "n", "roleArn": role, "definition": strings.Repeat(long, 5)}},
		{"PublishStateMachineVersion", "description", object{"stateMachineArn": m, "description": long}},
	} {
		refused := e.refused(tt.operation, tt.input)
		refused = refused[:min(len(refused), 200)]
		require.Contains(t, refused, "1 validation error detected: Value at '"+tt.member+"' failed to satisfy constraint: Member must have length", tt.operation)
		require.NotContains(t, refused, "s3cret", tt.operation)
	}
	require.Contains(t, e.refused("StartExecution", object{"stateMachineArn": m, "name": strings.Repeat("n", 81)}), "Value '"+strings.Repeat("n", 81)+"' at 'name'")
}
