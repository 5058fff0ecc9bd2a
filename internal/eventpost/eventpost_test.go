package eventpost_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
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

// losses are what a Poster told of lost events.
type losses struct {
	mu     sync.Mutex
	events int
	why    string // each once, in order
}

func (l *losses) add(events int, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events += events
	if !strings.Contains(l.why, why.Error()) {
		l.why += why.Error() + "\n"
	}
}

func start(t *testing.T, putEvents bool, answer transport) (*eventpost.Poster, *losses) {
	t.Helper()
	to, err := url.Parse("http://bus.test/events?key=secret")
	require.NoError(t, err)
	lost := &losses{}
	return eventpost.New(eventpost.Options{URL: to, PutEvents: putEvents, Lost: lost.add, Client: &http.Client{Transport: answer}}), lost
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
	p, lost := start(t, false, func(r *http.Request, body string) (int, string) {
		bodies = append(bodies, r.Header.Get("Content-Type")+" "+body)
		return 204, ""
	})
	e := newEvent(t)
	p.Post(e)
	p.Close(t.Context())
	p.Post(e) // too late
	text, err := json.Marshal(e)
	require.NoError(t, err)
	require.Equal(t, []string{"application/json " + string(text)}, bodies)
	require.Zero(t, lost.events)
}

func TestPutEvents(t *testing.T) {
	t.Parallel()
	for answer, dropped := range map[string]int{`{"FailedEntryCount": 0, "Entries": [{"EventId": "1"}]}`: 0, `{"FailedEntryCount": 1, "Entries": [{"ErrorCode": "NotAuthorizedForSource"}]}`: 1} {
		var sent string
		p, lost := start(t, true, func(r *http.Request, body string) (int, string) {
			require.Equal(t, "AWSEvents.PutEvents", r.Header.Get("X-Amz-Target"))
			require.Regexp(t, `Credential=123456789012/\d{8}/us-east-2/events/aws4_request`, r.Header.Get("Authorization"))
			if !strings.Contains(body, `"Source":"jobpoller"`) {
				sent = body
			}
			return 200, answer
		})
		e := newEvent(t)
		p.Post(e)
		p.Close(t.Context())
		require.Equal(t, dropped, lost.events)
		var got map[string][]map[string]any
		require.NoError(t, json.Unmarshal([]byte(sent), &got))
		require.Len(t, got["Entries"], 1)
		require.Equal(t, string(e.Detail), got["Entries"][0]["Detail"])
		require.Equal(t, "aws.states", got["Entries"][0]["Source"])
		require.Equal(t, dropped == 1, strings.Contains(lost.why, "NotAuthorizedForSource"))
	}
}

// A server that is away for a moment gets the event. One that is away for longer is told
// once how many it has lost.
func TestTries(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ answers, want []int }{
		{[]int{200}, []int{200}},
		{[]int{503, 0, 429, 200}, []int{503, 0, 429, 200}},
		{[]int{500, 500, 500, 500, 200}, []int{500, 500, 500, 500, 200}},
		{[]int{403, 302, 200}, []int{403, 302, 200}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var got []int
			told := ""
			p, lost := start(t, false, func(_ *http.Request, body string) (int, string) {
				if strings.Contains(body, `"source":"jobpoller"`) {
					told = body
				}
				got = append(got, test.answers[len(got)])
				return got[len(got)-1], ""
			})
			p.Post(newEvent(t))
			p.Close(t.Context())
			require.Equal(t, test.want, got)
			require.Equal(t, len(got) > 4, lost.events == 1)
			require.Equal(t, len(got) > 4, strings.Contains(told, `"detail":{"events":1}`), told)
			require.NotContains(t, lost.why, "secret")
		})
	}
}

// A server that does not answer holds nobody up, neither those who post nor the end.
func TestNobodyWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, lost := start(t, false, func(r *http.Request, _ string) (int, string) {
			<-r.Context().Done()
			return 0, ""
		})
		e := newEvent(t)
		const events = 17_000
		for range events {
			p.Post(e)
		}
		require.GreaterOrEqual(t, lost.events, events-16_385)
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		p.Close(ctx)
		require.Equal(t, (5+2)*time.Second, time.Since(began)) // the last two to tell of the loss
		require.Equal(t, events, lost.events)
		require.Contains(t, lost.why, "16384 events, or 64 MiB of them, wait already: the server is too slow, or away\n")
	})
}

// The events that waited when the time was over were lost, and the server was not told.
func TestTheEndOfTheTimeIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told tally
		p, lost := start(t, false, func(r *http.Request, body string) (int, string) {
			select {
			case <-time.After(100 * time.Millisecond): // of the bubble
				told.add(t, body)
				return 204, ""
			case <-r.Context().Done():
				return 0, ""
			}
		})
		e := newEvent(t)
		for range 100 {
			p.Post(e)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 950*time.Millisecond)
		defer cancel()
		p.Close(ctx)
		require.Equal(t, 91, lost.events) // the tenth was on its way
		require.Equal(t, "9 events, 91 lost", told.text())
	})
}

// Events with the largest inputs and outputs do not fill the memory.
func TestWaitingEventsAreBoundedInBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told tally
		p, lost := start(t, false, func(_ *http.Request, body string) (int, string) {
			<-time.After(100 * time.Millisecond) // of the bubble
			told.add(t, body)
			return 204, ""
		})
		e := newEvent(t)
		e.Detail = json.RawMessage(`"` + strings.Repeat("x", 1<<20-2) + `"`)
		for n := range 70 {
			p.Post(e)
			if n == 0 {
				synctest.Wait() // it is sent already
			}
		}
		require.Equal(t, 5, lost.events)
		<-time.After(time.Hour)
		p.Post(e)
		p.Close(t.Context())
		require.Equal(t, "65 events, 5 lost, 1 events", told.text())
	})
}

// tally is what a server was sent: runs of events, and how many it was told are missing.
type tally struct {
	told   []string
	events int
}

func (y *tally) add(t *testing.T, body string) {
	t.Helper()
	var e eventpost.Event
	require.NoError(t, json.Unmarshal([]byte(body), &e))
	if e.Source == "aws.states" {
		y.events++
		return
	}
	y.endRun()
	require.Equal(t, "Execution Status Changes Lost", e.DetailType)
	var detail struct {
		Events int `json:"events"`
	}
	require.NoError(t, json.Unmarshal(e.Detail, &detail))
	y.told = append(y.told, fmt.Sprintf("%d lost", detail.Events))
}

func (y *tally) endRun() {
	if y.events > 0 {
		y.told = append(y.told, fmt.Sprintf("%d events", y.events))
	}
	y.events = 0
}

func (y *tally) text() string {
	y.endRun()
	return strings.Join(y.told, ", ")
}

// A slow server lost events, and nothing but the server's health told: it is told where
// they are missing, and how many.
func TestASlowServerIsTold(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		bursts []int         // of events
		pause  time.Duration // between them
		lost   int           // noted elsewhere, before the first burst
		want   string
	}{
		"a burst in time":       {[]int{1200}, 0, 0, "1200 events"},
		"more while it works":   {[]int{16_784, 2}, 10 * time.Second, 0, "16385 events, 399 lost, 2 events"},
		"twice":                 {[]int{16_484, 16_485}, time.Hour, 0, "16385 events, 99 lost, 16385 events, 100 lost"},
		"lost on the way to it": {[]int{1, 1}, 0, 7, "7 lost, 2 events"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var told tally
				p, lost := start(t, false, func(_ *http.Request, body string) (int, string) {
					<-time.After(100 * time.Millisecond) // of the bubble
					told.add(t, body)
					return 204, ""
				})
				if test.lost > 0 {
					p.Lose(test.lost, errors.New("too much happened"))
				}
				e := newEvent(t)
				for i, burst := range test.bursts {
					if i > 0 {
						<-time.After(test.pause)
					}
					for n := range burst {
						p.Post(e)
						if n == 0 {
							synctest.Wait() // it is sent already
						}
					}
				}
				<-time.After(time.Hour)
				p.Close(t.Context())
				require.Equal(t, test.want, told.text())
				require.Equal(t, strings.Contains(test.want, "lost"), lost.events > 0)
			})
		})
	}
}
