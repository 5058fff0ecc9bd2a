package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/server"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// recordingSuites are what AWS did with state machines, as data; the corpus
// says where they come from.
var recordingSuites = []suite{
	{
		name: "asl-recordings-execution", folder: "asl-recordings/execution", cases: 724,
		run: runExecutions, differences: executionDifferences,
	},
}

// executionDifferences are the cases that differ, with the reason.
var executionDifferences = map[string]string{
	"scenarios.base_scenarios--lambda_invoke_with_retry_extended_input": "recorded in October 2023, before the context object had RedriveCount",
}

// recording is a recorded execution.
type recording struct {
	Name         string          `json:"name"`
	MachineType  string          `json:"machineType"`
	ExecutionArn string          `json:"executionArn"`
	RoleArn      string          `json:"roleArn"`
	StateMachine string          `json:"stateMachineArn"`
	Definition   json.RawMessage `json:"definition"`
	Input        json.RawMessage `json:"input"`
	Tasks        []recordedTask  `json:"tasks"`
	Expect       json.RawMessage `json:"expect"`
	Masked       []string        `json:"masked"`
	Unordered    [][2]int        `json:"unordered"`
	Missing      []string        `json:"missing"`
	Concurrent   bool            `json:"concurrent"`
}

// recordedTask is what a Task was called with and what it gave, by attempt.
type recordedTask struct {
	State    string     `json:"state"`
	Attempts []*attempt `json:"attempts"`
}

type attempt struct {
	Parameters any     `json:"parameters"`
	Iteration  *int    `json:"iteration"`
	Submitted  any     `json:"submitted"`
	Result     any     `json:"result"`
	Error      *string `json:"error"`
	Cause      string  `json:"cause"`
	TimedOut   bool    `json:"timedOut"`
	Aborted    bool    `json:"aborted"`

	used bool
}

// tokens maps the task tokens of a run to those of its recording.
type tokens struct {
	mu sync.Mutex // handlers run at the same time
	of map[string]string
}

// learn finds the token of a call where the recording has its own. Its caller holds mu.
func (t *tokens) learn(token string, got, want any) {
	switch got := got.(type) {
	case string:
		if recorded, ok := want.(string); ok && got == token && token != "" {
			t.of[token] = recorded
		}
	case map[string]any:
		if want, ok := want.(map[string]any); ok {
			for name, member := range got {
				t.learn(token, member, want[name])
			}
		}
	default:
	}
}

func runExecutions(t *testing.T, folder string) result {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	require.NoError(t, err)
	out := result{total: len(files), failures: map[string]string{}}
	links, linked := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var c recording
		require.NoError(t, json.Unmarshal(text, &c), file)
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		got, err := c.execute()
		if err != nil {
			out.failures[name] = err.Error()
			continue
		}
		if what := c.compare(got); what != "" {
			out.failures[name] = what
		}
		all, same := c.links(got)
		links, linked = links+all, linked+same
	}
	out.notes = append(out.notes, fmt.Sprintf("previousEventId equal in %d of %d events", linked, links))
	return out
}

// execute runs the recorded machine on a virtual clock, through the API of the server.
func (c *recording) execute() (map[string]any, error) {
	role := c.RoleArn
	// Some recordings write the role in two ways.
	if recorded := recordedRole.FindSubmatch(c.Expect); recorded != nil {
		role = string(recorded[1])
	}
	learned := &tokens{of: map[string]string{}}
	s := server.New(server.Options{Clock: sim.NewVirtualClock(sim.DefaultStart()), Prepare: func(start server.StartInfo, o *sim.Options) error {
		o.Role, o.StateHandlers = role, map[string]sim.Handler{}
		for state := range start.Machine.All {
			if state.Task != nil {
				o.StateHandlers[state.Name] = c.handler(state.Name, learned)
			}
		}
		return nil
	}})
	defer s.Close()
	a := &api{server: s}
	machine := a.call("CreateStateMachine", map[string]any{
		"name": afterColon(c.StateMachine), "definition": string(c.Definition), "roleArn": "arn:aws:iam::111111111111:role/r", "type": c.MachineType,
	})
	const namePart = 7
	start := map[string]any{"stateMachineArn": machine["stateMachineArn"], "name": strings.Split(c.ExecutionArn, ":")[namePart], "input": string(c.Input)}
	got := map[string]any{}
	isSync := strings.HasPrefix(c.Name, "express.express_sync")
	switch {
	case isSync:
		setResult(got, a.call("StartSyncExecution", start))
	case c.MachineType == "EXPRESS":
		// Nothing but logs tells of these.
		arn, _ := a.call("StartExecution", start)["executionArn"].(string)
		if x := s.World().Execution(arn); x != nil {
			<-x.Done()
			r := x.Snapshot()
			setResult(got, map[string]any{"executionArn": arn, "status": string(r.Status), "output": string(r.Output), "error": r.Error, "cause": r.Cause})
		}
	default:
		execution := map[string]any{"executionArn": a.call("StartExecution", start)["executionArn"]}
		if x := s.World().Execution(c.ExecutionArn); x != nil {
			<-x.Done()
		}
		setResult(got, a.call("DescribeExecution", execution))
		got["events"] = a.history(execution)
	}
	if a.err != nil {
		return nil, a.err
	}
	out, err := json.Marshal(got)
	if err != nil {
		return nil, err
	}
	for token, recorded := range learned.of {
		out = []byte(strings.ReplaceAll(string(out), token, recorded))
	}
	// The id of an Express execution is made up.
	arn, _ := got["executionArn"].(string)
	delete(got, "executionArn")
	out = []byte(strings.ReplaceAll(string(out), arn, c.ExecutionArn))
	got = map[string]any{}
	return got, json.Unmarshal(out, &got)
}

func afterColon(arn string) string { return arn[strings.LastIndexByte(arn, ':')+1:] }

// setResult sets the members of "expect" but the events.
func setResult(got, described map[string]any) {
	for _, name := range []string{"executionArn", "status", "error", "cause"} {
		text, _ := described[name].(string)
		setText(got, name, text)
	}
	if output, _ := described["output"].(string); output != "" {
		got["output"] = json.RawMessage(output)
	}
}

// api calls a server. Its first error stays.
type api struct {
	server http.Handler
	err    error
}

func (a *api) call(operation string, input map[string]any) map[string]any {
	if a.err != nil {
		return nil
	}
	q := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(text(input)))
	q.Header.Set("X-Amz-Target", "AWSStepFunctions."+operation)
	q.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=111111111111/20260101/us-east-1/states/aws4_request, SignedHeaders=host, Signature=00")
	w := httptest.NewRecorder()
	a.server.ServeHTTP(w, q)
	var out map[string]any
	if w.Code != http.StatusOK {
		a.err = fmt.Errorf("%s: %s", operation, w.Body)
	} else if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		a.err = fmt.Errorf("%s: %w: %s", operation, err, w.Body)
	}
	return out
}

// history returns all events as "expect" has them.
func (a *api) history(execution map[string]any) []map[string]any {
	var all []map[string]any
	for page := maps.Clone(execution); ; {
		answer := a.call("GetExecutionHistory", page)
		events, _ := answer["events"].([]any)
		for _, e := range events {
			event, _ := e.(map[string]any)
			all = append(all, flat(event))
		}
		if page["nextToken"] = answer["nextToken"]; page["nextToken"] == nil {
			return all
		}
	}
}

// flat is an event with its details among its members, and JSON text as what it says.
func flat(event map[string]any) map[string]any {
	out := map[string]any{}
	for name, value := range event {
		details, ok := value.(map[string]any)
		if !ok {
			out[name] = value
			continue
		}
		for name, value := range details {
			switch name {
			case "inputDetails", "outputDetails", "assignedVariablesDetails", "roleArn":
			case "input", "output", "parameters":
				out[name] = embedded(value)
			case "assignedVariables":
				variables, _ := value.(map[string]any)
				for name, value := range variables {
					variables[name] = embedded(value)
				}
				out[name] = variables
			default:
				out[name] = value
			}
		}
	}
	delete(out, "timestamp")
	return out
}

func embedded(value any) any {
	s, _ := value.(string)
	return json.RawMessage(s)
}

var recordedRole = regexp.MustCompile(`"RoleArn":\s*"([^"]*)"`)

// handler answers the calls of a state.
func (c *recording) handler(state string, learned *tokens) sim.Handler {
	task := recordedTask{State: state}
	if i := slices.IndexFunc(c.Tasks, func(r recordedTask) bool { return r.State == state }); i >= 0 {
		task = c.Tasks[i]
	}
	return func(_ context.Context, call sim.Call) (sim.Reply, error) {
		learned.mu.Lock()
		defer learned.mu.Unlock()
		return task.handle(call, learned)
	}
}

// handle answers a call as it was answered at AWS: by the first attempt that
// fits and was not used.
func (r recordedTask) handle(call sim.Call, learned *tokens) (sim.Reply, error) {
	var found *attempt
	for _, a := range r.Attempts {
		if a.used || a.Iteration != nil && len(call.Iterations) > 0 && *a.Iteration != call.Iterations[len(call.Iterations)-1] {
			continue
		}
		if found == nil || !equal(found.Parameters, call.Arguments) && equal(a.Parameters, call.Arguments) {
			found = a
		}
	}
	if found == nil {
		return sim.Reply{}, fmt.Errorf("state %s was called more often than at AWS", r.State)
	}
	found.used = true
	learned.learn(call.TaskToken, call.Arguments, found.Parameters)
	switch {
	case found.TimedOut, found.Aborted:
		return sim.Reply{Submitted: found.Submitted, Never: true, Inside: true}, nil
	case found.Error != nil:
		return sim.Reply{}, &sim.TaskError{Name: *found.Error, Cause: found.Cause, Submitted: found.Submitted}
	default:
		return sim.Reply{Submitted: found.Submitted, Output: found.Result}, nil
	}
}

func setText(object map[string]any, name, text string) {
	if text != "" {
		object[name] = text
	}
}

// compare tells how the run differs from the recording, or the empty string.
func (c *recording) compare(got map[string]any) string {
	var want map[string]any
	if err := json.Unmarshal(c.Expect, &want); err != nil {
		return err.Error()
	}
	for _, pointer := range c.Masked {
		mask(got, pointer)
		mask(want, pointer)
	}
	for _, name := range []string{"status", "error", "cause", "output"} {
		if !equalMember(name, got[name], want[name]) {
			return difference(name, got[name], want[name])
		}
	}
	if want["events"] == nil {
		return ""
	}
	gotEvents, wantEvents := events(got), events(want)
	if c.Concurrent {
		return c.compareConcurrent(gotEvents, wantEvents)
	}
	for i := range max(len(gotEvents), len(wantEvents)) {
		if i >= len(gotEvents) || i >= len(wantEvents) {
			return fmt.Sprintf("%d events, want %d", len(gotEvents), len(wantEvents))
		}
		if what := compareEvent(gotEvents[i], wantEvents[i]); what != "" {
			return fmt.Sprintf("event %d: %s", i+1, what)
		}
	}
	return ""
}

func events(of map[string]any) []map[string]any {
	list, _ := of["events"].([]any)
	out := make([]map[string]any, len(list))
	for i, e := range list {
		out[i], _ = e.(map[string]any)
	}
	return out
}

// compareEvent compares all but the ids.
func compareEvent(got, want map[string]any) string {
	if got["type"] != want["type"] {
		return difference("type", got["type"], want["type"])
	}
	names := slices.Sorted(maps.Keys(want))
	for name := range got {
		if want[name] == nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if name != "id" && name != "previousEventId" && !equalMember(name, got[name], want[name]) {
			return fmt.Sprint(want["type"], " ", difference(name, got[name], want[name]))
		}
	}
	return ""
}

// compareConcurrent compares the events as they are, not their order, which was
// that of one day.
func (c *recording) compareConcurrent(got, want []map[string]any) string {
	rest := slices.Clone(got)
	for _, w := range want {
		i := slices.IndexFunc(rest, func(g map[string]any) bool { return compareEvent(g, w) == "" })
		if i < 0 {
			return fmt.Sprintf("no event such as %.300s", text(w))
		}
		rest = slices.Delete(rest, i, i+1)
	}
	for _, lost := range c.Missing {
		i := slices.IndexFunc(rest, func(g map[string]any) bool { return g["type"] == lost })
		if i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		}
	}
	if len(rest) > 0 {
		return fmt.Sprintf("%d further events: %.300s", len(rest), text(rest))
	}
	return ""
}

// links counts the events with the right previousEventId.
func (c *recording) links(got map[string]any) (all, same int) {
	var want map[string]any
	if json.Unmarshal(c.Expect, &want) != nil || c.Concurrent {
		return 0, 0
	}
	gotEvents, wantEvents := events(got), events(want)
	for i := range min(len(gotEvents), len(wantEvents)) {
		all++
		if equal(gotEvents[i]["previousEventId"], wantEvents[i]["previousEventId"]) {
			same++
		}
	}
	return all, same
}

func difference(name string, got, want any) string {
	return fmt.Sprintf("%s is %.600s, want %.600s", name, text(got), text(want))
}

func text(value any) []byte {
	out, err := json.Marshal(value)
	if err != nil {
		return []byte(err.Error())
	}
	return out
}

// equalMember compares a member; two causes that are JSON are compared as that.
func equalMember(name string, got, want any) bool {
	if equal(got, want) {
		return true
	}
	a, ok := got.(string)
	b, alsoOK := want.(string)
	if name != "cause" || !ok || !alsoOK {
		return false
	}
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && equal(x, y)
}

// equal compares JSON values, numbers by value.
func equal(a, b any) bool { return reflect.DeepEqual(plain(a), plain(b)) }

// plain turns a value into what encoding/json decodes without options.
func plain(value any) any {
	var out any
	if err := json.Unmarshal(text(value), &out); err != nil {
		return errors.New("not JSON")
	}
	return out
}

// mask blanks what a JSON pointer names.
func mask(root any, pointer string) {
	steps := strings.Split(pointer, "/")[1:]
	for i, step := range steps {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch at := root.(type) {
		case map[string]any:
			if _, ok := at[step]; ok && i == len(steps)-1 {
				at[step] = "masked"
			}
			root = at[step]
		case []any:
			n, err := strconv.Atoi(step)
			if err != nil || n >= len(at) {
				return
			}
			if i == len(steps)-1 {
				at[n] = "masked"
			}
			root = at[n]
		default:
			return
		}
	}
}
