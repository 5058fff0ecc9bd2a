//go:build e2e

package elasticmq_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/elasticmq"
)

// A message that the function has not done comes again, and after some tries it is in the
// dead-letter queue.
func TestE2EMapping(t *testing.T) {
	t.Parallel()
	server, err := elasticmq.Start(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	client := elasticmq.Client{Endpoint: server.URL(), AccessKey: "test"}
	dead, deadARN, err := client.CreateQueue(t.Context(), "dead", nil)
	require.NoError(t, err)
	queue, arn, err := client.CreateQueue(t.Context(), "waits", map[string]string{
		"VisibilityTimeout": "1", "RedrivePolicy": `{"deadLetterTargetArn": "` + deadARN + `", "maxReceiveCount": 2}`,
	})
	require.NoError(t, err)

	type entry struct {
		ID           string `json:"Id"`
		MessageBody  string `json:"MessageBody"`
		DelaySeconds int    `json:"DelaySeconds"`
	}
	sent := time.Now()
	require.NoError(t, client.Call(t.Context(), "SendMessageBatch", map[string]any{"QueueUrl": queue, "Entries": []entry{
		{"1", "good", 0}, {"2", "late", 2}, {"3", "fails once", 0}, {"4", "fails always", 0}, {"5", "panics once", 0},
	}}, nil))
	require.ErrorContains(t, client.Call(t.Context(), "SendMessage", map[string]any{"QueueUrl": queue, "MessageBody": "x", "DelaySeconds": 901}, nil), "InvalidParameterValue")

	var mu sync.Mutex
	delivered := map[string][]time.Duration{}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	mapping := &elasticmq.Mapping{
		Client: client, QueueURL: queue, QueueARN: arn, BatchSize: 20, Window: 100 * time.Millisecond, Concurrency: 2, ReportFailures: true,
		Invoke: func(_ context.Context, _ int, payload []byte) ([]byte, error) {
			var event struct {
				Records []struct {
					MessageID      string `json:"messageId"`
					Body           string `json:"body"`
					EventSource    string `json:"eventSource"`
					EventSourceARN string `json:"eventSourceARN"`
				} `json:"Records"`
			}
			if err := json.Unmarshal(payload, &event); err != nil {
				return nil, err
			}
			mu.Lock()
			defer mu.Unlock()
			failures := []map[string]string{}
			panics := false
			for _, r := range event.Records {
				delivered[r.Body] = append(delivered[r.Body], time.Since(sent))
				first := len(delivered[r.Body]) == 1
				panics = panics || r.Body == "panics once" && first
				if r.Body == "fails always" || r.Body == "fails once" && first {
					failures = append(failures, map[string]string{"itemIdentifier": r.MessageID})
				}
				if r.EventSource != "aws:sqs" || r.EventSourceARN != arn {
					return nil, errors.New(string(payload))
				}
			}
			if panics {
				return nil, errors.New("panic")
			}
			return json.Marshal(map[string]any{"batchItemFailures": failures})
		},
	}
	go func() { done <- mapping.Run(ctx) }()
	require.Eventually(t, func() bool {
		visible, delayed, received, err := client.Count(ctx, queue)
		return err == nil && visible+delayed+received == 0
	}, time.Minute, 100*time.Millisecond, "the messages stay")
	stop()
	require.NoError(t, <-done)
	visible, _, _, err := client.Count(t.Context(), dead)
	require.NoError(t, err)
	require.Equal(t, 1, visible)
	require.Len(t, delivered, 5)
	require.Len(t, delivered["late"], 1)
	require.GreaterOrEqual(t, delivered["late"][0], 2*time.Second)
	require.Len(t, delivered["fails once"], 2)
	require.Len(t, delivered["fails always"], 2)
	require.Len(t, delivered["panics once"], 2)
	require.NoError(t, server.Close())
}
