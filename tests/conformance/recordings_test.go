package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
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
	"express.express_sync--query_runtime_memory": "the context object of a synchronous Express execution has no RedriveCount; " +
		"that of an asynchronous one has, and so have all of sim",
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
type tokens map[string]string

// learn finds the token of a call where the recording has its own.
func (t tokens) learn(token string, got, want any) {
	switch got := got.(type) {
	case string:
		if recorded, ok := want.(string); ok && got == token && token != "" {
			t[token] = recorded
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
		got, err := c.execute(t.Context())
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

// execute runs the recorded machine on a virtual clock.
func (c *recording) execute(ctx context.Context) (map[string]any, error) {
	m, err := asl.Parse(c.Definition)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(c.ExecutionArn, ":")
	const namePart = 7
	o := sim.Options{
		Account: "111111111111", Execution: parts[namePart], StateMachine: c.StateMachine[strings.LastIndexByte(c.StateMachine, ':')+1:],
		Role: c.RoleArn, Express: c.MachineType == "EXPRESS", StateHandlers: map[string]sim.Handler{},
		Models: models.Load, Lenient: true, // as the services answered
	}
	// Some recordings write the role in two ways.
	if role := recordedRole.FindSubmatch(c.Expect); role != nil {
		o.Role = string(role[1])
	}
	learned := tokens{}
	for s := range m.All {
		if s.Task != nil {
			task := recordedTask{State: s.Name}
			if i := slices.IndexFunc(c.Tasks, func(r recordedTask) bool { return r.State == s.Name }); i >= 0 {
				task = c.Tasks[i]
			}
			o.StateHandlers[s.Name] = func(_ context.Context, call sim.Call) (sim.Reply, error) { return task.handle(call, learned) }
		}
	}
	r, err := sim.Run(ctx, m, c.Input, o)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(resultMembers(r))
	if err != nil {
		return nil, err
	}
	for token, recorded := range learned {
		text = []byte(strings.ReplaceAll(string(text), token, recorded))
	}
	// The id of an Express execution is made up.
	text = []byte(strings.ReplaceAll(string(text), sim.ExecutionARN(o), c.ExecutionArn))
	var got map[string]any
	return got, json.Unmarshal(text, &got)
}

var recordedRole = regexp.MustCompile(`"RoleArn":\s*"([^"]*)"`)

// handle answers a call as it was answered at AWS: by the first attempt that
// fits and was not used.
func (r recordedTask) handle(call sim.Call, learned tokens) (sim.Reply, error) {
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
		return sim.Reply{Submitted: found.Submitted, Never: true}, nil
	case found.Error != nil:
		return sim.Reply{}, &sim.TaskError{Name: *found.Error, Cause: found.Cause, Submitted: found.Submitted}
	default:
		return sim.Reply{Submitted: found.Submitted, Output: found.Result}, nil
	}
}

// resultMembers are the members of "expect".
func resultMembers(r *sim.Result) map[string]any {
	events := make([]map[string]any, len(r.Events))
	for i, e := range r.Events {
		events[i] = eventMembers(e)
	}
	out := map[string]any{"status": r.Status, "events": events}
	if r.Output != nil {
		out["output"] = r.Output
	}
	setText(out, "error", r.Error)
	setText(out, "cause", r.Cause)
	return out
}

func eventMembers(e sim.Event) map[string]any {
	d := e.Details()
	out := map[string]any{"id": e.ID, "previousEventId": e.PreviousEventID, "type": e.Type}
	for name, p := range map[string]*sim.Payload{"input": d.Input, "output": d.Output, "parameters": d.Parameters, "taskCredentials": d.TaskCredentials} {
		if p != nil {
			out[name] = p.Value()
		}
	}
	for name, text := range map[string]string{
		"name": d.Name, "error": d.Error, "cause": d.Cause, "resource": d.Resource, "resourceType": d.ResourceType, "region": d.Region,
		"state": d.State, "location": d.Location, "mapRunArn": d.MapRunArn,
	} {
		setText(out, name, text)
	}
	for name, n := range map[string]int64{"timeoutInSeconds": d.TimeoutInSeconds, "heartbeatInSeconds": d.HeartbeatInSeconds} {
		if n > 0 {
			out[name] = n
		}
	}
	if d.Index != nil {
		out["index"] = *d.Index
	}
	if d.Length != nil {
		out["length"] = *d.Length
	}
	if len(d.AssignedVariables) > 0 {
		values := map[string]any{}
		for name, p := range d.AssignedVariables {
			values[name] = p.Value()
		}
		out["assignedVariables"] = values
	}
	return out
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
