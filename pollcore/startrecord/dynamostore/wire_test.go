//go:build e2e

package dynamostore_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"

	"github.com/jobpoller/jobpoller/internal/dynalite"
)

// fault answers a request in the server's stead.
type fault func(next http.RoundTripper, r *http.Request) (*http.Response, error)

// wire notes the requests that are sent and injects faults.
type wire struct {
	next http.RoundTripper

	mu       sync.Mutex
	requests []request
	puts     []fault // for the PutItems to come, in order; nil means none
	gets     []fault // for the GetItems to come
}

// request is an operation and the JSON of its input.
type request struct {
	operation string
	input     map[string]any
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	sent := request{}
	_, sent.operation, _ = strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if err := json.Unmarshal(body, &sent.input); err != nil {
		return nil, err
	}
	if f := w.note(sent); f != nil {
		return f(w.next, r)
	}
	return w.next.RoundTrip(r)
}

func (w *wire) note(sent request) fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, sent)
	queue := &w.puts
	if sent.operation == "GetItem" {
		queue = &w.gets
	}
	if len(*queue) == 0 {
		return nil
	}
	f := (*queue)[0]
	*queue = (*queue)[1:]
	return f
}

// fail sets the faults of the next PutItems.
func (w *wire) fail(faults ...fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.puts = faults
}

// failGets sets the faults of the next GetItems.
func (w *wire) failGets(faults ...fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gets = faults
}

// take returns the requests since the last take.
func (w *wire) take() []request {
	w.mu.Lock()
	defer w.mu.Unlock()
	requests := w.requests
	w.requests = nil
	return requests
}

// operations is take without the inputs.
func (w *wire) operations() string {
	var names []string
	for _, r := range w.take() {
		names = append(names, r.operation)
	}
	return strings.Join(names, " ")
}

// config returns a configuration whose requests the wire sees, with the SDK's retries
// but without its pauses.
func (w *wire) config() aws.Config {
	cfg := server.Config(dynalite.ClientOptions{Transport: func(next http.RoundTripper) http.RoundTripper {
		w.next = next
		return w
	}})
	cfg.Retryer = func() aws.Retryer { return promptRetryer{retry.NewStandard()} }
	return cfg
}

// promptRetryer retries what the SDK's own retryer does, but without a pause.
type promptRetryer struct{ aws.Retryer }

func (promptRetryer) RetryDelay(int, error) (time.Duration, error) { return 0, nil }

// answer answers with a status and a body, as of now.
func answer(status int, body string) fault {
	return func(_ http.RoundTripper, r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: status, Request: r, Body: io.NopCloser(strings.NewReader(body)),
			Header: http.Header{
				"Content-Type": {"application/x-amz-json-1.0"},
				"Date":         {time.Now().UTC().Format(http.TimeFormat)},
			},
		}, nil
	}
}

// refuse answers with an error of DynamoDB and does nothing.
func refuse(status int, code string) fault {
	return answer(status, `{"__type": "com.amazonaws.dynamodb.v20120810#`+code+`", "message": "injected"}`)
}

// reset drops the connection before the request is handled.
func reset(http.RoundTripper, *http.Request) (*http.Response, error) {
	return nil, errors.New("connection reset by peer")
}

// nameless does not find the server's name, which a blip of the name service looks like.
func nameless(_ http.RoundTripper, r *http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: r.URL.Hostname(), IsNotFound: true}}
}

// commit handles the request and then answers as the fault does.
func commit(then fault) fault {
	return func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		response, err := next.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		if err := response.Body.Close(); err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		return then(next, r)
	}
}

// undated handles the request and leaves the Date header out of the answer.
func undated(next http.RoundTripper, r *http.Request) (*http.Response, error) {
	response, err := next.RoundTrip(r)
	if err == nil {
		response.Header.Del("Date")
	}
	return response, err
}

// returningItem answers as DynamoDB does to a condition that does not hold,
// which dynalite leaves out: with the item that there is. It is the one of the
// request itself, as edit makes it.
func returningItem(edit func(item string) string) fault {
	return func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
		var put struct {
			Item json.RawMessage `json:"Item"`
		}
		if err := json.NewDecoder(r.Body).Decode(&put); err != nil {
			return nil, err
		}
		return answer(http.StatusBadRequest,
			`{"__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException", "message": "injected", "Item": `+
				edit(string(put.Item))+`}`)(next, r)
	}
}

// anothers makes an item one that another has written.
func anothers(item string) string {
	return strings.NewReplacer(`\"nonce\":\"`, `\"nonce\":\"not `, `"version":{"S":"`, `"version":{"S":"not `).Replace(item)
}

// careless handles writes as a server does that ignores conditions.
func careless(next http.RoundTripper, r *http.Request) (*http.Response, error) {
	var put map[string]any
	if err := json.NewDecoder(r.Body).Decode(&put); err != nil {
		return nil, err
	}
	for _, member := range []string{"ConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues"} {
		delete(put, member)
	}
	body, err := json.Marshal(put)
	if err != nil {
		return nil, err
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return next.RoundTrip(r)
}

// times repeats a fault.
func times(n int, f fault) []fault { return slices.Repeat([]fault{f}, n) }
