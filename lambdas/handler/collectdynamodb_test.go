//go:build e2e

package handler_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/dynalite"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/handler/anystore"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/dynamostore/direct"
)

// cloud is SQS, Step Functions and Athena: it notes the inputs of calls by operation.
type cloud struct {
	mu      sync.Mutex
	calls   map[string][]map[string]any
	status  string // of all queries
	started int
}

func (c *cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var in map[string]any
	if err := json.Unmarshal(text, &in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	c.calls[operation] = append(c.calls[operation], in)
	execution := func(id any) map[string]any {
		return map[string]any{"QueryExecutionId": id, "Status": map[string]any{"State": c.status, "CompletionDateTime": 1795167000.0}}
	}
	var out any
	switch operation {
	case "SendMessageBatch":
		var sent []any
		for _, e := range in["Entries"].([]any) {
			sent = append(sent, map[string]any{"Id": e.(map[string]any)["Id"]})
		}
		out = map[string]any{"Successful": sent}
	case "StartQueryExecution":
		c.started++
		out = map[string]any{"QueryExecutionId": "query-" + string(rune('0'+c.started))}
	case "GetQueryExecution":
		out = map[string]any{"QueryExecution": execution(in["QueryExecutionId"])}
	case "BatchGetQueryExecution":
		var found []any
		for _, id := range in["QueryExecutionIds"].([]any) {
			found = append(found, execution(id))
		}
		out = map[string]any{"QueryExecutions": found}
	default:
		out = map[string]any{}
	}
	_ = json.NewEncoder(w).Encode(out)
}

func (c *cloud) take(operation string) []map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := c.calls[operation]
	delete(c.calls, operation)
	return calls
}

// The functions of the environment: records in DynamoDB, messages in SQS, answers for Step
// Functions, jobs of the catalogue that are described together and have events.
func TestE2ECollector(t *testing.T) { //nolint:paralleltest // it sets the environment
	services := &cloud{calls: map[string][]map[string]any{}, status: "RUNNING"}
	server := httptest.NewServer(services)
	defer server.Close()
	setEnvironment(t, map[string]string{
		handler.EnvTable: "records", handler.EnvPrefix: t.Name(), "AWS_ENDPOINT_URL_DYNAMODB": tables(t).URL(),
		"AWS_ENDPOINT_URL": server.URL, handler.EnvQueueURL: server.URL + "/123456789012/waits",
	})
	p, err := handler.FromEnvironment(anystore.Open, awsjob.Catalogue)
	require.NoError(t, err)
	withTransactions := p.Config // which the server alone does not have
	withTransactions.Store, err = direct.New(tables(t).Config(dynalite.ClientOptions{}), "records", t.Name())
	require.NoError(t, err)
	p, err = handler.New(withTransactions)
	require.NoError(t, err)
	w := &collectWorld{world: &world{Handler: p}}
	var bodies []string
	for _, n := range []string{"1", "2"} {
		_, err := p.RunJob(t.Context(), json.RawMessage(w.event(try{
			execution: n, token: "T" + n,
			request: `{"job": "athena:StartQueryExecution", "arguments": {"QueryString": "SELECT 1"}, "maxWaitSeconds": 3600}`,
		})))
		require.NoError(t, err)
		sent := services.take("SendMessageBatch")
		require.Len(t, sent, 1)
		entry := sent[0]["Entries"].([]any)[0].(map[string]any)
		require.Zero(t, entry["DelaySeconds"])
		bodies = append(bodies, entry["MessageBody"].(string))
	}
	batch := func() json.RawMessage {
		text, err := json.Marshal(map[string]any{"Records": []any{
			map[string]any{"messageId": "a", "body": bodies[0]}, map[string]any{"messageId": "b", "body": bodies[1]},
		}})
		require.NoError(t, err)
		return text
	}
	collected, err := p.Collect(t.Context(), batch())
	require.NoError(t, err)
	require.JSONEq(t, `{"batchItemFailures": []}`, jsonOf(t, collected))
	require.Len(t, services.take("BatchGetQueryExecution"), 1)
	require.Empty(t, services.take("GetQueryExecution"))
	require.Len(t, services.take("SendMessageBatch"), 1, "one call sends both messages")
	stored, err := p.Store.Load(t.Context(), try{execution: "1"}.key())
	require.NoError(t, err)
	require.Equal(t, 2, stored.Record.Callback.Number)
	require.Equal(t, []string{"athena:StartQueryExecution/query-1"}, stored.Record.Callback.JobIDs)

	services.mu.Lock()
	services.status = "SUCCEEDED"
	services.mu.Unlock()
	_, err = p.Collect(t.Context(), json.RawMessage(`{
		"source": "aws.athena", "detail-type": "Athena Query State Change", "detail": {"currentState": "SUCCEEDED", "queryExecutionId": "query-1"}
	}`))
	require.NoError(t, err)
	answers := services.take("SendTaskSuccess")
	require.Len(t, answers, 1)
	require.Equal(t, "T1", answers[0]["taskToken"])
	require.Contains(t, answers[0]["output"], `"lateSeconds":`)
	require.Contains(t, answers[0]["output"], `"QueryExecutionId":"query-1"`)
	require.Empty(t, services.take("SendMessageBatch"))
	stored, err = p.Store.Load(t.Context(), try{execution: "1"}.key())
	require.NoError(t, err)
	require.Equal(t, startrecord.StatusSucceeded, stored.Record.Status)
	require.Empty(t, stored.Record.Callback.TaskToken)
}

func TestE2EQueueOfTheEnvironment(t *testing.T) { //nolint:paralleltest // it sets the environment
	setEnvironment(t, map[string]string{handler.EnvTable: "records", handler.EnvQueueURL: "https://sqs.eu-west-1.amazonaws.com/123456789012/waits"})
	_, err := handler.FromEnvironment(anystore.Open, makes(newFake(), nil))
	require.ErrorContains(t, err, "environment variable JOBPOLLER_QUEUE_URL: ")
	require.ErrorContains(t, err, "is not a queue of the endpoint https://sqs.us-east-1.amazonaws.com")
}
