//go:build e2e

package browser_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/server"
	"github.com/jobpoller/jobpoller/statemachines/server/page"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const (
	path    = "/_jobpoller/"
	export  = "arn:aws:states:::aws-sdk:dynamodb:describeExport"
	machine = "arn:aws:states:us-east-1:123456789012:stateMachine:nightly"
)

// definition waits for an approval, then polls an export every ten minutes.
const definition = `{"QueryLanguage": "JSONata", "StartAt": "Approve", "States": {
	"Approve": {"Type": "Task", "Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken", "TimeoutSeconds": 86400,
		"Arguments": {"QueueUrl": "https://sqs.us-east-1.amazonaws.com/123456789012/q", "MessageBody": "{% $states.context.Task.Token %}"},
		"Assign": {"approvedBy": "{% $states.result.by ? $states.result.by : 'somebody' %}"}, "Next": "Wait"},
	"Wait": {"Type": "Wait", "Seconds": 600, "Next": "Get"},
	"Get": {"Type": "Task", "Resource": "` + export + `", "Arguments": {"ExportArn": "arn:aws:dynamodb:us-east-1:123456789012:table/Orders/export/1"}, "Next": "Done?"},
	"Done?": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input.ExportDescription.ExportStatus = 'COMPLETED' %}", "Next": "Ready"}], "Default": "Wait"},
	"Ready": {"Type": "Succeed"}}}`

// endpoint is a server with its page.
type endpoint struct {
	t   *testing.T
	url string
}

// startEndpoint starts a server whose clock stands still, and whose export ends after so
// many polls.
func startEndpoint(t *testing.T, polls int32) *endpoint {
	t.Helper()
	clock, err := sim.NewClock(time.Date(2026, 1, 1, 2, 0, 0, 0, time.UTC), 0)
	require.NoError(t, err)
	var polled atomic.Int32
	s := server.New(server.Options{Clock: clock, Prepare: func(_ server.StartInfo, o *sim.Options) error {
		o.Handler = func(_ context.Context, call sim.Call) (sim.Reply, error) {
			switch {
			case call.TaskToken != "":
				return sim.Reply{Never: true, Submitted: map[string]any{"MessageId": "1"}}, nil
			case polled.Add(1) < polls:
				return sim.Reply{Output: map[string]any{"ExportDescription": map[string]any{"ExportStatus": "IN_PROGRESS"}}}, nil
			default:
				ended := call.Time.Add(-7 * time.Minute).Format(time.RFC3339)
				return sim.Reply{Output: map[string]any{"ExportDescription": map[string]any{"ExportStatus": "COMPLETED", "EndTime": ended}}}, nil
			}
		}
		return nil
	}})
	t.Cleanup(s.Close)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	guard := loopback.NewGuard(loopback.GuardOptions{Port: port, Own: path})
	mux := http.NewServeMux()
	mux.Handle("POST /{$}", s)
	mux.Handle(path, page.New(page.Options{World: s.PageWorld(), Path: path, Token: guard.Token(), Models: models.Load}))
	web := httptest.NewUnstartedServer(guard.Protect(mux))
	web.Listener = listener
	web.Start()
	t.Cleanup(web.CloseClientConnections)
	e := &endpoint{t, web.URL}
	e.call("CreateStateMachine", map[string]string{"name": "nightly", "roleArn": "arn:aws:iam::123456789012:role/r", "definition": definition}, nil)
	return e
}

// call calls an operation of the API.
func (e *endpoint) call(operation string, in, out any) {
	e.t.Helper()
	text, err := json.Marshal(in)
	require.NoError(e.t, err)
	r, err := http.NewRequest(http.MethodPost, e.url, strings.NewReader(string(text)))
	require.NoError(e.t, err)
	r.Header.Set("X-Amz-Target", "AWSStepFunctions."+operation)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	answer, err := http.DefaultClient.Do(r)
	require.NoError(e.t, err)
	defer answer.Body.Close()
	text, err = io.ReadAll(answer.Body)
	require.NoError(e.t, err)
	require.Equal(e.t, http.StatusOK, answer.StatusCode, string(text))
	if out != nil {
		require.NoError(e.t, json.Unmarshal(text, out))
	}
}

// countPolls counts the polls of an execution in its history.
func (e *endpoint) countPolls(arn string) (polls int) {
	e.t.Helper()
	token := ""
	for {
		in := map[string]any{"executionArn": arn}
		if token != "" {
			in["nextToken"] = token
		}
		var out struct {
			Events []struct {
				Details struct {
					Resource string `json:"resource"`
				} `json:"taskScheduledEventDetails"`
			} `json:"events"`
			NextToken string `json:"nextToken"`
		}
		e.call("GetExecutionHistory", in, &out)
		for _, event := range out.Events {
			if event.Details.Resource == "describeExport" {
				polls++
			}
		}
		if token = out.NextToken; token == "" {
			return polls
		}
	}
}

// marks are the polls in the ribbon of a page.
const marks = `#part-timeline .ribbon use:not([href="#planned"])`

// executionOf is the ARN of the execution whose page a browser shows.
func executionOf(t *testing.T, b *browser) string {
	t.Helper()
	b.await("the page of the execution opens", func() bool { return strings.Contains(b.address(), "/run/") })
	_, name, _ := strings.Cut(b.address(), "/run/")
	arn, err := url.PathUnescape(name)
	require.NoError(t, err)
	return arn
}

// A person starts an execution, answers its token, skips a wait, sets an answer, steps
// the clock by the keyboard, and watches: the page is never loaded again.
func TestE2EPage(t *testing.T) {
	t.Parallel()
	if !hasBrowser(t) {
		return
	}
	e := startEndpoint(t, 9)
	b := openBrowser(t, true)
	b.open(e.url + path)
	require.Equal(t, "Executions", b.text("h1"))
	b.click("#list a")
	b.write(`#start + form textarea`, `{"table": "Orders"}`)
	b.shoot("machine")
	b.click(`#start + form button`)
	arn := executionOf(t, b)
	require.Equal(t, "RUNNING", b.text("#state"))
	b.run(`document.body.dataset.mark = 'same page'`, nil)

	b.await("the Task waits for an answer", func() bool { return b.count("#places textarea") == 1 })
	b.shoot("token")
	b.write("#places textarea", `{"by": "Ada"}`)
	b.click(`#places button[value="success"]`)
	b.await("the execution is in its Wait", func() bool { return strings.HasPrefix(b.text("#places h3"), "in Wait") })
	require.Contains(t, b.text("#places"), `{"approvedBy":"Ada"}`)

	b.click("#places form button") // skips the wait
	b.await("one poll is in the history", func() bool { return e.countPolls(arn) == 1 })
	b.press("n")
	b.await("two polls are in the history", func() bool { return e.countPolls(arn) == 2 })
	b.await("two polls are in the ribbon", func() bool { return b.count(marks) == 2 })
	b.click(`button[value="1h"]`)
	b.await("an hour has passed", func() bool { return e.countPolls(arn) == 8 && b.count(marks) == 8 })
	require.Positive(t, b.count(`#part-timeline use[href="#planned"]`))
	require.Equal(t, 1, b.count(`#part-graph g.current`))
	b.shoot("running")

	b.press(" ")
	b.await("the clock goes", func() bool { return strings.Contains(b.text("#clock"), "real time") })
	b.press(" ")
	b.await("the clock stands", func() bool { return strings.Contains(b.text("#clock"), "stands still") })

	b.press("n")
	b.await("the execution has ended", func() bool { return b.text("#state") == "SUCCEEDED" })
	require.Equal(t, e.countPolls(arn), b.count(marks))
	require.Equal(t, 9, b.count(marks))
	require.Zero(t, b.count(`#part-timeline use[href="#planned"]`))
	require.Contains(t, b.text("#part-timeline"), "7m late")
	var mark string
	b.run(`return document.body.dataset.mark`, &mark)
	require.Equal(t, "same page", mark)
	b.shoot("ended")

	b.open(e.url + path)
	b.await("the list has the polls", func() bool { return strings.Contains(b.text("#list"), "Get: COMPLETED") })
	b.press("j")
	var focused string
	b.run(`return document.activeElement.href`, &focused)
	require.Contains(t, focused, "/run/")
	b.shoot("runs")
	require.Empty(t, b.problems(), "the policy of the page refuses nothing, and no script fails")
}

// An execution is stopped with its error, and the next one gets the answer that was set.
func TestE2EHands(t *testing.T) {
	t.Parallel()
	if !hasBrowser(t) {
		return
	}
	e := startEndpoint(t, 100)
	b := openBrowser(t, true)
	for _, c := range []struct{ error, status string }{{"", "SUCCEEDED"}, {"DynamoDb.ExportNotFoundException", "FAILED"}} {
		b.open(e.url + path + "machine/" + url.PathEscape(machine))
		b.click(`#start + form button`)
		b.await("the Task waits", func() bool { return b.count("#places textarea") == 1 })
		b.click(`#places button[value="success"]`)
		b.await("the Wait has begun", func() bool { return strings.HasPrefix(b.text("#places h3"), "in Wait") })
		b.click(`#hands details:nth-of-type(2) summary`)
		b.run(`document.querySelector('#hands select').value = 'Get'`, nil)
		if c.error == "" {
			b.write(`#hands textarea`, `{"ExportDescription": {"ExportStatus": "COMPLETED"}}`)
		} else {
			b.write(`#hands details:nth-of-type(2) input[name="error"]`, c.error)
		}
		b.click(`#hands details:nth-of-type(2) button`)
		b.await("the form was sent", func() bool { return b.text("#message") == "" && !strings.Contains(b.text("#state"), "x") })
		b.press("n")
		b.await("the answer was taken", func() bool { return b.text("#state") == c.status })
	}

	b.open(e.url + path + "machine/" + url.PathEscape(machine))
	b.click(`#start + form button`)
	b.await("the Task waits", func() bool { return b.count("#places textarea") == 1 })
	b.click(`#hands details summary`)
	b.write(`#hands input[name="error"]`, "Enough")
	b.click(`#hands details button`)
	b.await("it was stopped", func() bool { return b.text("#state") == "ABORTED" })
	require.Contains(t, b.text("#part-outcome"), "Enough")
	b.click(`#hands form button`) // redrive
	b.await("it runs again", func() bool { return b.text("#state") == "RUNNING" })
	require.Empty(t, b.problems())
}

// Without scripts the same forms work.
func TestE2EPageWithoutScripts(t *testing.T) {
	t.Parallel()
	if !hasBrowser(t) {
		return
	}
	e := startEndpoint(t, 9)
	b := openBrowser(t, false)
	b.open(e.url + path + "machine/" + url.PathEscape(machine))
	b.click(`#start + form button`)
	arn := executionOf(t, b)
	b.click(`#places button[value="success"]`)
	b.await("the Wait has begun", func() bool { return strings.HasPrefix(b.text("#places h3"), "in Wait") })
	b.click("#places form button")
	b.await("the wait was skipped", func() bool { return e.countPolls(arn) == 1 })
	b.click(`button[value="1h"]`)
	b.await("an hour has passed", func() bool { return e.countPolls(arn) == 7 && b.count(marks) == 7 })
	require.Equal(t, e.url+path+"run/"+url.PathEscape(arn), b.address())
}
