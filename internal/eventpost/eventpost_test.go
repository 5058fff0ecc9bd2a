package eventpost_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/eventpost"
)

const arn = "arn:aws:states:us-east-2:123456789012:execution:poller:run-1"

// transport answers requests without a network.
type transport func(r *http.Request, body string) (status int, answer string)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	status, answer := f(r, string(body))
	if status == 0 {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Body: io.NopCloser(strings.NewReader(answer)), Header: http.Header{}, Request: r}, nil
}

func start(t *testing.T, putEvents bool, answer transport) (*eventpost.Poster, *bytes.Buffer) {
	t.Helper()
	to, err := url.Parse("http://bus.test/events?key=secret")
	require.NoError(t, err)
	logged := &bytes.Buffer{}
	return eventpost.New(eventpost.Options{
		URL: to, PutEvents: putEvents, Log: log.New(logged, "", 0), Client: &http.Client{Transport: answer},
	}), logged
}

func newEvent(t *testing.T) eventpost.Event {
	t.Helper()
	e, err := eventpost.StatusChange(time.Date(2026, 1, 1, 0, 0, 5, 7, time.UTC), "FAILED", describe(t))
	require.NoError(t, err)
	e.Account, e.Region = "123456789012", "us-east-2"
	return e
}

// describe is an answer of DescribeExecution.
func describe(t *testing.T) (description map[string]any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(`{
		"executionArn": "`+arn+`", "stateMachineArn": "arn:aws:states:us-east-2:123456789012:stateMachine:poller", "name": "run-1", "status": "FAILED",
		"startDate": 1767225600.123, "stopDate": 1767225605, "input": "{}", "error": "E", "redriveCount": 0, "redriveStatus": "REDRIVABLE", "traceHeader": "x"}`),
		&description))
	return description
}

func TestStatusChange(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(newEvent(t))
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, json.Unmarshal(text, &got))
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, got["id"])
	delete(got, "id")
	text, err = json.Marshal(got)
	require.NoError(t, err)
	require.JSONEq(t, `{"version": "0", "detail-type": "Step Functions Execution Status Change", "source": "aws.states", "account": "123456789012",
		"time": "2026-01-01T00:00:05Z", "region": "us-east-2", "resources": ["`+arn+`"], "detail": {
		"executionArn": "`+arn+`", "stateMachineArn": "arn:aws:states:us-east-2:123456789012:stateMachine:poller", "name": "run-1", "status": "FAILED",
		"startDate": 1767225600123, "stopDate": 1767225605000, "input": "{}", "inputDetails": null, "output": null, "outputDetails": null,
		"error": "E", "cause": null, "redriveCount": 0, "redriveDate": null, "redriveStatus": "REDRIVABLE", "redriveStatusReason": null,
		"stateMachineVersionArn": null, "stateMachineAliasArn": null}}`, string(text))
	// The execution had ended before it was described.
	e, err := eventpost.StatusChange(time.Now(), "RUNNING", describe(t))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(e.Detail, &got))
	require.Equal(t, "RUNNING", got["status"])
	require.Nil(t, got["stopDate"])
	require.Nil(t, got["error"])
	_, err = eventpost.StatusChange(time.Now(), "RUNNING", nil)
	require.Error(t, err)
}

func TestPost(t *testing.T) {
	t.Parallel()
	var bodies []string
	p, logged := start(t, false, func(r *http.Request, body string) (int, string) {
		bodies = append(bodies, r.Header.Get("Content-Type")+" "+body)
		return 204, ""
	})
	e := newEvent(t)
	p.Post(e)
	require.Zero(t, p.Close(t.Context()))
	p.Post(e) // too late
	text, err := json.Marshal(e)
	require.NoError(t, err)
	require.Equal(t, []string{"application/json " + string(text)}, bodies)
	require.Empty(t, logged.String())
}

func TestPutEvents(t *testing.T) {
	t.Parallel()
	for answer, dropped := range map[string]int{`{"FailedEntryCount": 0, "Entries": [{"EventId": "1"}]}`: 0, `{"FailedEntryCount": 1, "Entries": [{"ErrorCode": "NotAuthorizedForSource"}]}`: 1} {
		var sent string
		p, logged := start(t, true, func(r *http.Request, body string) (int, string) {
			require.Equal(t, "AWSEvents.PutEvents", r.Header.Get("X-Amz-Target"))
			require.Regexp(t, `Credential=123456789012/\d{8}/us-east-2/events/aws4_request`, r.Header.Get("Authorization"))
			sent = body
			return 200, answer
		})
		e := newEvent(t)
		p.Post(e)
		require.Equal(t, dropped, p.Close(t.Context()))
		var got map[string][]map[string]any
		require.NoError(t, json.Unmarshal([]byte(sent), &got))
		require.Len(t, got["Entries"], 1)
		require.Equal(t, string(e.Detail), got["Entries"][0]["Detail"])
		require.Equal(t, "aws.states", got["Entries"][0]["Source"])
		require.Equal(t, dropped == 1, strings.Contains(logged.String(), "NotAuthorizedForSource"))
	}
}

// A server that is away for a moment gets the event.
func TestTries(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ answers, want []int }{
		{[]int{200}, []int{200}},
		{[]int{503, 0, 429, 200}, []int{503, 0, 429, 200}},
		{[]int{500, 500, 500, 500, 200}, []int{500, 500, 500, 500}},
		{[]int{403, 302, 200}, []int{403, 302, 200}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var got []int
			p, logged := start(t, false, func(*http.Request, string) (int, string) {
				got = append(got, test.answers[len(got)])
				return got[len(got)-1], ""
			})
			p.Post(newEvent(t))
			dropped := p.Close(t.Context())
			require.Equal(t, test.want, got)
			require.Equal(t, got[len(got)-1] != 200, dropped == 1)
			require.NotContains(t, logged.String(), "secret")
		})
	}
}

// A server that does not answer holds nobody up, neither those who post nor the end.
func TestNobodyWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, logged := start(t, false, func(r *http.Request, _ string) (int, string) {
			<-r.Context().Done()
			return 0, ""
		})
		e := newEvent(t)
		for range 1500 {
			p.Post(e)
		}
		require.GreaterOrEqual(t, p.CountDropped(), 499)
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		require.Equal(t, 1500, p.Close(ctx))
		require.Equal(t, 5*time.Second, time.Since(began))
		require.Contains(t, logged.String(), "--events-to: events dropped so far: 1; the last, because the queue is full\n")
		require.Contains(t, logged.String(), "--events-to: 1500 events were dropped\n")
	})
}
