package clients_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var waiting = flag.Int("waiting", 100_000, "TestLoad: how many executions wait at the same time")

// load sends requests from many connections.
type load struct {
	endpoint

	client *http.Client
}

func newLoad(t *testing.T, to endpoint) *load {
	t.Helper()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost, transport.MaxConnsPerHost = connections, connections
	t.Cleanup(transport.CloseIdleConnections)
	return &load{to, &http.Client{Transport: transport}}
}

const connections = 32

// errRefused tells that the server has answered, and not with 200.
var errRefused = errors.New("refused")

// post calls an operation, and returns the answer.
func (l *load) post(ctx context.Context, operation, body string) (string, error) {
	return l.send(ctx, "/", body, "application/x-amz-json-1.0", "AWSStepFunctions."+operation)
}

func (l *load) send(ctx context.Context, path, body, contentType, target string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", contentType)
	request.Header.Set("X-Amz-Target", target)
	if err := l.sign(request, body); err != nil {
		return "", err
	}
	response, err := l.client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%w: %s%s: status %d: %s", errRefused, path, target, response.StatusCode, text)
	}
	return string(text), err
}

// start starts n executions from all connections, and returns how many it started a
// second.
func (l *load) start(t *testing.T, machine string, n int) (perSecond float64) {
	t.Helper()
	var next atomic.Int64
	var failed atomic.Value
	began := time.Now()
	var all sync.WaitGroup
	for range connections {
		all.Go(func() {
			for {
				i := next.Add(1)
				if i > int64(n) || failed.Load() != nil {
					return
				}
				body := fmt.Sprintf(`{"stateMachineArn": %q, "name": "x%d", "input": "{\"order\": %d}"}`, machine, i, i)
				if _, err := l.post(t.Context(), "StartExecution", body); err != nil {
					failed.Store(err)
				}
			}
		})
	}
	all.Wait()
	if err, ok := failed.Load().(error); ok {
		require.NoError(t, err)
	}
	return float64(n) / time.Since(began).Seconds()
}

func (l *load) create(t *testing.T, name, definition string) (machine string) {
	t.Helper()
	body, err := json.Marshal(map[string]string{"name": name, "definition": definition, "roleArn": role})
	require.NoError(t, err)
	text, err := l.post(t.Context(), "CreateStateMachine", string(body))
	require.NoError(t, err)
	var created struct {
		StateMachineArn string `json:"stateMachineArn"`
	}
	require.NoError(t, json.Unmarshal([]byte(text), &created))
	return created.StateMachineArn
}

// count is the number of executions in a status, and the earliest and latest stop.
func (l *load) count(t *testing.T, machine, status string) (n int, first, last float64) {
	t.Helper()
	for token := ""; ; {
		body, err := json.Marshal(map[string]any{"stateMachineArn": machine, "statusFilter": status, "maxResults": 1000, "nextToken": token})
		require.NoError(t, err)
		if token == "" {
			body = []byte(strings.Replace(string(body), `"nextToken":"",`, "", 1))
		}
		text, err := l.post(t.Context(), "ListExecutions", string(body))
		require.NoError(t, err)
		var page struct {
			Executions []struct {
				StopDate float64 `json:"stopDate"`
			} `json:"executions"`
			NextToken string `json:"nextToken"`
		}
		require.NoError(t, json.Unmarshal([]byte(text), &page))
		for _, x := range page.Executions {
			if n++; n == 1 || x.StopDate < first {
				first = x.StopDate
			}
			last = max(last, x.StopDate)
		}
		if token = page.NextToken; token == "" {
			return n, first, last
		}
	}
}

const waitsADay = `{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 86400, "Next": "B"}, "B": {"Type": "Succeed"}}}`

// Many executions wait in little memory, and many end in the same second.
func TestLoad(t *testing.T) {
	s := startServe(t, "--time", "manual")
	l := newLoad(t, s.endpoint)
	machine := l.create(t, "many", waitsADay)
	perSecond := l.start(t, machine, *waiting)
	memory := memoryKB(t, s.process, "VmRSS")
	say("load: %.0f StartExecution a second over loopback, %d executions wait in %d MB", perSecond, *waiting, memory>>10)
	require.Less(t, memory, 1<<20, "KiB for %d executions", *waiting)
	n, _, _ := l.count(t, machine, "RUNNING")
	require.Equal(t, *waiting, n)

	ends := startServe(t, "--time", "manual")
	l = newLoad(t, ends.endpoint)
	machine = l.create(t, "ends", waitsADay)
	l.start(t, machine, 10_000)
	began := time.Now()
	// The clock of the server stands still, so all of them are due at the same time.
	status, text := ends.clock(t, `{"advance": "24h"}`)
	require.Equal(t, http.StatusOK, status, text)
	took := time.Since(began)
	n, first, last := l.count(t, machine, "SUCCEEDED")
	require.Equal(t, 10_000, n)
	require.LessOrEqual(t, last-first, 1.0, "they end in one second of the clock")
	say("load: 10000 executions ended in one virtual second, in %.1f s", took.Seconds())
}
