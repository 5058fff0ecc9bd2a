package handler_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// wire is an HTTP client that answers the calls of operations.
type wire struct {
	answer func(operation string, body map[string]any) (status int, text string)
	sent   []*http.Request
	bodies []map[string]any
}

var errNotAnswered = errors.New("nobody answers")

func (w *wire) Do(r *http.Request) (*http.Response, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var body map[string]any
	if err := json.Unmarshal(text, &body); err != nil {
		return nil, err
	}
	w.sent, w.bodies = append(w.sent, r), append(w.bodies, body)
	if w.answer == nil {
		return nil, errNotAnswered
	}
	status, answer := w.answer(r.Header.Get("X-Amz-Target"), body)
	return &http.Response{StatusCode: status, Request: r, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer))}, nil
}

func wired(w *wire, region string) aws.Config {
	return aws.Config{
		Region: region, HTTPClient: w,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	}
}

const testQueue = "https://sqs.eu-west-1.amazonaws.com/123456789012/waits"

func ids(body map[string]any) (all []string) {
	entries, _ := body["Entries"].([]any)
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		id, _ := entry["Id"].(string)
		all = append(all, id)
	}
	return all
}

// Messages are sent by tens, and each has the answer that SQS gives for it.
func TestSQSSend(t *testing.T) {
	t.Parallel()
	w := &wire{answer: func(_ string, body map[string]any) (int, string) {
		var sent, refused []map[string]any
		for _, id := range ids(body) {
			switch id {
			case "1":
				refused = append(refused, map[string]any{"Id": id, "Code": "InvalidParameterValue", "Message": "no", "SenderFault": true})
			case "2":
				refused = append(refused, map[string]any{"Id": id, "Code": "InternalError", "SenderFault": false})
			case "3": // not told of
			default:
				sent = append(sent, map[string]any{"Id": id, "MessageId": "m"})
			}
		}
		text, err := json.Marshal(map[string]any{"Successful": append(sent, map[string]any{"Id": "77"}), "Failed": refused})
		require.NoError(t, err)
		return http.StatusOK, string(text)
	}}
	queue, err := handler.NewSQSQueue(wired(w, "eu-west-1"), testQueue)
	require.NoError(t, err)
	messages := slices.Repeat([]handler.Message{{Body: "a"}, {Body: "b", Delay: 15 * time.Minute}}, 6)
	errs := queue.Send(t.Context(), messages)
	require.Len(t, errs, 12)
	for i, err := range errs {
		switch i {
		case 1, 11:
			require.ErrorContains(t, err, "InvalidParameterValue")
			require.False(t, goerror.Passes(err))
			require.Equal(t, handler.ErrorConfiguration, handler.QueueError(err).Name)
		case 2, 3:
			require.Error(t, err)
			require.True(t, goerror.Passes(err))
			require.Equal(t, handler.ErrorServiceUnavailable, handler.QueueError(err).Name)
		default:
			require.NoError(t, err, i)
		}
	}
	require.Len(t, w.sent, 2)
	require.Equal(t, "https://sqs.eu-west-1.amazonaws.com/", w.sent[0].URL.String())
	require.Equal(t, "AmazonSQS.SendMessageBatch", w.sent[0].Header.Get("X-Amz-Target"))
	require.Contains(t, w.sent[0].Header.Get("Authorization"), "/eu-west-1/sqs/aws4_request")
	require.Equal(t, map[string]any{
		"QueueUrl": testQueue,
		"Entries": []any{
			map[string]any{"Id": "0", "MessageBody": "a", "DelaySeconds": 0.0}, map[string]any{"Id": "1", "MessageBody": "b", "DelaySeconds": 900.0},
		},
	}, w.bodies[1])

	w.sent = nil
	long := handler.Message{Body: strings.Repeat("x", 600<<10)}
	require.Len(t, queue.Send(t.Context(), []handler.Message{long, long, {Body: strings.Repeat("x", 2<<20)}}), 3)
	require.Len(t, w.sent, 3, "no call is longer than SQS takes")
}

// An error of the call is that of each of its messages.
func TestSQSSendFails(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status int
		text   string
		tries  int
		want   string
	}{
		"gone":      {400, `{"__type": "com.amazonaws.sqs#QueueDoesNotExist", "message": "no such queue"}`, 1, handler.ErrorConfiguration},
		"denied":    {403, `{"__type": "AccessDeniedException"}`, 1, handler.ErrorConfiguration},
		"throttled": {400, `{"__type": "com.amazonaws.sqs#RequestThrottled"}`, 3, handler.ErrorServiceUnavailable},
		"fault":     {503, `<html>`, 3, handler.ErrorServiceUnavailable},
		"no JSON":   {200, `<html>`, 1, handler.ErrorServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &wire{answer: func(string, map[string]any) (int, string) { return tt.status, tt.text }}
				queue, err := handler.NewSQSQueue(wired(w, "eu-west-1"), testQueue)
				require.NoError(t, err)
				for _, err := range queue.Send(t.Context(), []handler.Message{{Body: "a"}, {Body: "b"}}) {
					require.Error(t, err)
					require.Equal(t, tt.want, handler.QueueError(err).Name, "%v", err)
				}
				require.Len(t, w.sent, tt.tries)
			})
		})
	}
}

// The endpoints are those of the rules in the SDK's client of SQS, version 1.52.9.
func TestSQSEndpoints(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		region   string
		settings endpointSettings
		want     string
	}{
		{"eu-west-1", endpointSettings{}, "https://sqs.eu-west-1.amazonaws.com"},
		{"eu-west-1", endpointSettings{fips: true}, "https://sqs-fips.eu-west-1.amazonaws.com"},
		{"eu-west-1", endpointSettings{dualStack: true}, "https://sqs.eu-west-1.api.aws"},
		{"eu-west-1", endpointSettings{true, true}, "https://sqs-fips.eu-west-1.api.aws"},
		{"us-gov-east-1", endpointSettings{fips: true}, "https://sqs.us-gov-east-1.amazonaws.com"},
		{"us-gov-east-1", endpointSettings{dualStack: true}, "https://sqs.us-gov-east-1.api.aws"},
		{"us-gov-east-1", endpointSettings{true, true}, "https://sqs-fips.us-gov-east-1.api.aws"},
		{"cn-north-1", endpointSettings{}, "https://sqs.cn-north-1.amazonaws.com.cn"},
	} {
		w := &wire{}
		cfg := wired(w, tt.region)
		cfg.ConfigSources = []any{tt.settings}
		cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
		suffix := ""
		if tt.region == "cn-north-1" {
			suffix = ".cn"
		}
		queue, err := handler.NewSQSQueue(cfg, "https://sqs."+tt.region+".amazonaws.com"+suffix+"/123456789012/waits")
		require.NoError(t, err)
		require.Error(t, queue.Send(t.Context(), []handler.Message{{}})[0])
		require.Equal(t, tt.want+"/", w.sent[0].URL.String())
	}
	cfg := wired(&wire{}, "eu-west-1")
	cfg.ConfigSources, cfg.BaseEndpoint = []any{endpointSettings{fips: true}}, aws.String("https://example.com")
	_, err := handler.NewSQSQueue(cfg, testQueue)
	require.ErrorContains(t, err, "leave out the one or the other")
}

// The URL of a queue is checked, though calls go to the endpoint of the configuration.
func TestQueueURLs(t *testing.T) {
	t.Parallel()
	endpoint := "http://localhost:9324"
	for _, tt := range []struct {
		region, endpoint, url string
		want                  string // in the error; empty for a good one
	}{
		{"eu-west-1", "", testQueue, ""},
		{"cn-north-1", "", "https://sqs.cn-north-1.amazonaws.com.cn/123456789012/waits", ""},
		{"eu-west-1", endpoint, endpoint + "/000000000000/waits", ""},
		{"eu-west-1", endpoint, testQueue, ""},
		{"eu-west-1", "", "https://sqs.us-east-1.amazonaws.com/123456789012/waits", "is not a queue of the endpoint https://sqs.eu-west-1.amazonaws.com"},
		{"eu-west-1", "", "http://sqs.eu-west-1.amazonaws.com/123456789012/waits", "is not a queue of the endpoint"},
		{"eu-west-1", "", "https://sqs.eu-west-1.amazonaws.com.evil.example/123456789012/waits", "is not a queue of the endpoint"},
		{"eu-west-1", "", endpoint + "/000000000000/waits", "is not a queue of the endpoint"},
		{"eu-west-1", "", testQueue + ".fifo", "of a standard queue"},
		{"eu-west-1", "", testQueue + "?x=1", "is not the URL of a queue"},
		{"eu-west-1", "", "https://user:secret@sqs.eu-west-1.amazonaws.com/123456789012/waits", "https://user:xxxxx@"},
		{"eu-west-1", "", "https://sqs.eu-west-1.amazonaws.com/12345678901/waits", "is not the URL of a queue"},
		{"eu-west-1", "", "https://sqs.eu-west-1.amazonaws.com/123456789012/a/b", "is not the URL of a queue"},
		{"eu-west-1", "", "arn:aws:sqs:eu-west-1:123456789012:waits", "is not the URL of a queue"},
		{"eu-west-1", "", "https://sqs\x7f", "it is not a URL"},
		{"", "", testQueue, "no region"},
	} {
		cfg := wired(&wire{}, tt.region)
		if tt.endpoint != "" {
			cfg.BaseEndpoint = &tt.endpoint
		}
		_, err := handler.NewSQSQueue(cfg, tt.url)
		if tt.want == "" {
			require.NoError(t, err, tt.url)
		} else {
			require.ErrorContains(t, err, tt.want)
		}
	}
}
