package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/eventpost"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

var clientsFor = flag.Duration("clients", 0, "TestManyClients: for how long clients call the server; 0: for 100 calls each")

// Definitions whose executions do what operations are about: they wait, fail, run each
// other and a Map Run, and hand out work and tokens.
var clientMachines = map[string]string{
	"wait":  `{"StartAt":"A","States":{"A":{"Type":"Wait","Seconds":10,"End":true}}}`,
	"fail":  `{"StartAt":"A","States":{"A":{"Type":"Wait","Seconds":1,"Next":"F"},"F":{"Type":"Fail","Error":"E"}}}`,
	"quick": `{"StartAt":"A","States":{"A":{"Type":"Pass","End":true}}}`,
	"map": `{"StartAt":"M","States":{"M":{"Type":"Map","ItemsPath":"$.items","ToleratedFailurePercentage":100,"MaxConcurrency":2,"End":true,"ItemProcessor":{
		"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":500,"End":true}}}}}}`,
	"work": `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:us-east-1:123456789012:activity:work","TimeoutSeconds":600,"End":true}}}`,
	"nest": `{"StartAt":"N","States":{"N":{"Type":"Task","Resource":"arn:aws:states:::states:startExecution.sync:2",
		"Parameters":{"StateMachineArn":"arn:aws:states:us-east-1:123456789012:stateMachine:wait","Input":{}},"End":true}}}`,
}

// clientWorld is what clients know of the server, by the names of members: ARNs and tokens
// that its answers had.
type clientWorld struct {
	serving *serving
	api     *catalog.Service

	mu       sync.Mutex
	known    map[string][]string
	answered map[string]int // operations that were done
	started  map[string]bool
}

var clientFinds = map[string]*regexp.Regexp{
	"executionArn":           regexp.MustCompile(`"arn:aws:states:[\w-]+:\d+:execution:[^"/]+"`),
	"mapRunArn":              regexp.MustCompile(`"arn:aws:states:[\w-]+:\d+:mapRun:[^"]+"`),
	"stateMachineVersionArn": regexp.MustCompile(`"arn:aws:states:[\w-]+:\d+:stateMachine:[\w-]+:\d+"`),
	"stateMachineAliasArn":   regexp.MustCompile(`"arn:aws:states:[\w-]+:\d+:stateMachine:[\w-]+:[a-z]+"`),
	"taskToken":              regexp.MustCompile(`"taskToken":("[^"]+")`),
}

// learn keeps what an answer has.
func (s *clientWorld) learn(operation string, answer []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered[operation]++
	for member, pattern := range clientFinds {
		for _, found := range pattern.FindAllSubmatch(answer, 3) {
			const most = 200
			text := strings.Trim(string(found[len(found)-1]), `"`)
			s.known[member] = append(s.known[member], text)
			s.known[member] = s.known[member][max(0, len(s.known[member])-most):]
		}
	}
}

// didAll tells whether every operation was done.
func (s *clientWorld) didAll() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.answered) == len(s.api.Operations)
}

// client calls the server as a program that does all that can be done.
type client struct {
	*clientWorld

	random *rand.Rand
	number int
}

func (c *client) pick(from ...string) string { return from[c.random.IntN(len(from))] }

// value is what a request has for a member; nil: nothing yet.
func (c *client) value(operation, member string) any {
	c.mu.Lock()
	known := slices.Clone(c.known[member])
	c.mu.Unlock()
	const arn = "arn:aws:states:us-east-1:123456789012:"
	machine := c.pick(slices.Sorted(maps.Keys(clientMachines))...)
	switch member {
	case "stateMachineArn":
		return arn + "stateMachine:" + c.pick(machine, machine, machine+"-express")
	case "name":
		return c.pick("a", "b", "c", "work") + c.pick("", "x")
	case "definition":
		if operation == "TestState" {
			return `{"Type": "Pass", "End": true}`
		}
		return clientMachines[c.pick("wait", "fail", "quick", "map", "work")] // not "nest": it would start itself without an end
	case "roleArn":
		return watchRole
	case "type":
		return c.pick("STANDARD", "EXPRESS")
	case "input":
		return `{"items": [1, 2, 3]}`
	case "output":
		return `{}`
	case "activityArn":
		return arn + "activity:" + c.pick("work", "work", "a", "bx")
	case "resourceArn":
		return arn + c.pick("stateMachine:"+machine, "activity:work")
	case "tags":
		return []any{map[string]any{"key": c.pick("k", "l"), "value": "v"}}
	case "tagKeys":
		return []string{c.pick("k", "l")}
	case "routingConfiguration":
		c.mu.Lock()
		defer c.mu.Unlock()
		if versions := c.known["stateMachineVersionArn"]; len(versions) > 0 {
			return []any{map[string]any{"stateMachineVersionArn": c.pick(versions...), "weight": 100}}
		}
	case "maxConcurrency", "maxResults":
		return 1 + c.random.IntN(5)
	case "publish":
		return c.random.IntN(2) == 0
	case "statusFilter":
		return c.pick("RUNNING", "SUCCEEDED", "FAILED")
	case "reverseOrder":
		return true
	default:
		if len(known) > 0 {
			return c.pick(known...)
		}
	}
	return nil
}

// call does one operation with members that the model asks for, and some others.
func (c *client) call(ctx context.Context, operation string) error {
	input := map[string]any{}
	for _, m := range c.api.Operations[operation].Input.Members {
		value := c.value(operation, m.Name)
		some := c.random.IntN(3) == 0 || slices.Contains([]string{"input", "maxConcurrency", "routingConfiguration"}, m.Name) ||
			operation == "ListExecutions" && m.Name == "stateMachineArn"
		switch {
		case value == nil && m.Required:
			return nil // the world has nothing of this yet
		case value != nil && (m.Required || some):
			input[m.Name] = value
		}
	}
	switch operation {
	case "StartSyncExecution":
		input["stateMachineArn"] = localAPI{}.stateMachineARN("quick-express")
		fallthrough
	case "StartExecution":
		input["name"] = fmt.Sprintf("x%d-%d", c.number, c.random.Uint32())
	}
	text, err := json.Marshal(input)
	if err != nil {
		return err
	}
	status, answer, err := c.send(ctx, http.MethodPost, "/", "application/x-amz-json-1.0", targetPrefix+operation, string(text))
	switch {
	case err != nil:
		return err
	case status == http.StatusOK:
		if operation == "StartExecution" && !strings.Contains(string(text), "-express") {
			c.note(answer)
		}
		c.learn(operation, answer)
	case status != http.StatusBadRequest && status != 0: // it has left
		return fmt.Errorf("%s: status %d: %s", operation, status, answer)
	}
	return nil
}

// note keeps the ARN of an execution whose start EventBridge tells of.
func (c *client) note(answer []byte) {
	var started struct {
		ARN string `json:"executionArn"`
	}
	_ = json.Unmarshal(answer, &started)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started[started.ARN] = true
}

// look asks what only the page and the control endpoint have, and presses what they can.
func (c *client) look(ctx context.Context) error {
	execution, _ := c.value("", "executionArn").(string)
	machine, _ := c.value("", "stateMachineArn").(string)
	path := c.pick("", "", "run/"+execution, "run/"+execution+"/live", "machine/"+machine, "live", "events", "events?execution="+execution, "clock", "health",
		"executions/"+execution+"/skip", "clock", "act/stop", "act/start", "act/redrive", "act/skip")
	method, kind, body := http.MethodGet, "application/json", ""
	switch {
	case strings.HasSuffix(path, "/skip") && strings.HasPrefix(path, "executions/"):
		method, body = http.MethodPost, `{}`
	case path == "clock" && c.random.IntN(2) == 0:
		method, body = http.MethodPost, `{"advance": "1s"}`
	case strings.HasPrefix(path, "act/"):
		_, page, err := c.send(ctx, method, ownPaths, kind, "", "")
		if err != nil {
			return err
		}
		token := regexp.MustCompile(`name="token" value="([^"]+)"`).FindSubmatch(page)
		if token == nil {
			return fmt.Errorf("the page has no token: %s", page)
		}
		arn := execution
		if path == "act/start" {
			arn = machine
		}
		method, kind = http.MethodPost, "application/x-www-form-urlencoded"
		body = url.Values{"token": {string(token[1])}, "arn": {arn}, "input": {"{}"}}.Encode()
	}
	if strings.HasSuffix(path, "live") || strings.HasPrefix(path, "events") || path == "clock" {
		var leave context.CancelFunc
		ctx, leave = context.WithTimeout(ctx, 50*time.Millisecond) // a stream has no end, and the clock waits for calls of Tasks
		defer leave()
	}
	status, answer, err := c.send(ctx, method, ownPaths+path, kind, "", body)
	if status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable { // too many streams
		return fmt.Errorf("%s: status %d: %s", path, status, answer)
	}
	return err
}

// send sends a request. Leaving before the answer is whole is no error.
func (c *client) send(ctx context.Context, method, path, kind, target, body string) (status int, answer []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, method, c.serving.http.URL()+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set(targetHeader, target)
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		status = response.StatusCode
		answer, err = io.ReadAll(response.Body)
		_ = response.Body.Close()
	}
	if ctx.Err() != nil {
		err = nil
	}
	return status, answer, err
}

// work does something until it is enough.
func (c *client) work(ctx context.Context, enough func(calls int) bool) error {
	operations := slices.Sorted(maps.Keys(c.api.Operations))
	for calls := 0; !enough(calls); calls++ {
		var err error
		switch c.random.IntN(4) {
		case 0:
			err = c.look(ctx)
		case 1:
			err = c.call(ctx, "StartExecution")
		default:
			operation := c.pick(operations...)
			if operation == "DeleteStateMachine" && c.random.IntN(10) > 0 {
				operation = "CreateStateMachine"
			}
			if operation != "GetActivityTask" {
				err = c.call(ctx, operation)
				break
			}
			short, leave := context.WithTimeout(ctx, 50*time.Millisecond) // it waits a minute for work
			err = c.call(short, operation)
			leave()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rebuild creates what the clients delete.
func (s *clientWorld) rebuild(ctx context.Context) {
	api := localAPI{server: s.serving.server}
	var out map[string]any
	for name, definition := range clientMachines {
		for suffix, kind := range map[string]string{"": "STANDARD", "-express": "EXPRESS"} {
			if kind == "EXPRESS" && name != "quick" && name != "fail" {
				continue
			}
			_ = api.call(ctx, "CreateStateMachine", map[string]any{ // one that is being deleted refuses it
				"name": name + suffix, "definition": definition, "roleArn": watchRole, "type": kind, "publish": true,
			}, &out)
		}
	}
	_ = api.call(ctx, "CreateActivity", map[string]any{"name": "work"}, &out)
}

// The page read executions while their starts were stored, and events were lost of starts
// that were not stored yet. Run it under the race detector.
func TestManyClients(t *testing.T) {
	t.Parallel()
	const clients, calls, most = 10, 100, 5000
	var mu sync.Mutex
	told, lost := map[string]bool{}, 0
	bus := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var e eventpost.Event
		text, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(text, &e)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case e.Source == "jobpoller":
			lost += lostBy(e)
		case bytes.Contains(e.Detail, []byte(`"status":"RUNNING"`)):
			told[e.Resources[0]] = true
		}
	}))
	t.Cleanup(bus.Close)
	api, err := models.Load("stepfunctions")
	require.NoError(t, err)
	var log bytes.Buffer
	s := &clientWorld{api: api, known: map[string][]string{}, answered: map[string]int{}, started: map[string]bool{}}
	t.Cleanup(func() { // after the server's end
		require.GreaterOrEqual(t, lost, s.serving.follower.unposted.count()) // more where the server's answer came too late
		missing := slices.Collect(maps.Keys(s.started))
		missing = slices.DeleteFunc(missing, func(arn string) bool { return told[arn] })
		require.LessOrEqual(t, len(missing), lost, "nobody was told that they run: %v\n%s", missing, log.String())
		require.Empty(t, regexp.MustCompile("--events-to: .*ExecutionDoesNotExist.*").FindAllString(log.String(), -1), "an event came before its execution was stored")
	})
	s.serving = startServing(t, &log, "--time", "x100", "--region", "us-east-1", "--events-to", bus.URL)
	s.rebuild(t.Context())
	until := time.Now().Add(*clientsFor)
	enough := func(n int) bool { return n >= calls && time.Now().After(until) && (s.didAll() || n >= most) }
	var all sync.WaitGroup
	failures := make(chan error, clients)
	for i := range clients {
		all.Go(func() {
			c := &client{clientWorld: s, random: rand.New(rand.NewPCG(1, uint64(i))), number: i}
			failures <- c.work(t.Context(), func(n int) bool {
				if i == 0 {
					s.rebuild(t.Context())
				}
				return enough(n)
			})
		})
	}
	all.Wait()
	close(failures)
	for err := range failures {
		require.NoError(t, err)
	}
	t.Logf("%d executions; operations done: %v", len(s.started), s.answered)
	for operation := range api.Operations {
		require.Positive(t, s.answered[operation], operation)
	}
}
