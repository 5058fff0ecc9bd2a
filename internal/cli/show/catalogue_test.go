package show

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// entries calls f with everything in the catalogue.
func entries(t *testing.T, f func(e *catalog.Entry)) {
	t.Helper()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	require.NotEmpty(t, list)
	for _, s := range list {
		for _, listed := range s.Entries {
			entry, err := catalog.Lookup(s.Key, listed.Name)
			require.NoError(t, err)
			f(entry)
		}
	}
}

// sheets are what show has printed for people, by entry.
var sheets sync.Map

// shown is what show prints for people of an entry. It compiles the entry, which is
// done once for all tests.
func shown(t *testing.T, e *catalog.Entry) string {
	t.Helper()
	show, _ := sheets.LoadOrStore(e.FullName(), sync.OnceValue(func() string {
		var stdout, stderr bytes.Buffer
		if code := runCommand(context.Background(), []string{"show", e.Service.Key, e.Name}, &stdout, &stderr); code != kit.ExitSucceeded {
			return stderr.String()
		}
		return stdout.String()
	}))
	return show.(func() string)()
}

// What show prints as JSON is the waiter.
func TestShowPrintsTheWaiter(t *testing.T) {
	t.Parallel()
	entries(t, func(e *catalog.Entry) {
		var stdout, stderr bytes.Buffer
		code := runCommand(t.Context(), []string{"show", e.Service.Key, e.Name, "-o", "json"}, &stdout, &stderr)
		require.Equal(t, kit.ExitSucceeded, code, "%s", &stderr)
		read, err := pollcore.ParseWaiter(e.Waiter.Name, stdout.Bytes())
		require.NoError(t, err, "%s %s", e.Service.Key, e.Name)
		require.Equal(t, e.Waiter, read)
	})
}

// What show prints for people has every acceptor, and names the command that waits for
// the entry.
func TestShowTellsEverything(t *testing.T) {
	t.Parallel()
	entries(t, func(e *catalog.Entry) {
		text := shown(t, e)
		for i, a := range e.Waiter.Acceptors {
			require.Contains(t, text, fmt.Sprintf("%d  %-7s  %s", i+1, a.State, a.Matcher))
		}
		require.Equal(t, 1, strings.Count(text, "jobpoller wait "), "%s", text)
		require.Contains(t, text, "jobpoller wait "+e.Service.Key+" "+e.Name)
		require.Contains(t, text, fmt.Sprintf("job %q of a request", e.Service.Key+":"+e.Waiter.Name))
		for line := range strings.Lines(text) {
			require.Equal(t, strings.TrimRight(line, " \n")+"\n", line)
		}
	})
}

// The input that show and wait give as an example is one that wait takes.
func TestSampleInput(t *testing.T) {
	t.Parallel()
	entries(t, func(e *catalog.Entry) {
		_, problems := fitted(t, kit.SampleInput(e.Operation), e.Operation.Input, true)
		require.Empty(t, problems, "%s %s", e.Service.Key, e.Name)
	})
	require.JSONEq(t, `{}`, kit.SampleInput(&catalog.Operation{}))
}

// list has what the index has.
func TestListIsComplete(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	require.Equal(t, kit.ExitSucceeded, runCommand(t.Context(), []string{"list", "-o", "json"}, &stdout, &stderr), "%s", &stderr)
	decoder := json.NewDecoder(&stdout)
	decoder.DisallowUnknownFields()
	var list []listEntry
	require.NoError(t, decoder.Decode(&list))
	kinds := map[catalog.Kind]int{}
	i := 0
	entries(t, func(e *catalog.Entry) {
		var told *signals
		if j := e.Job; j != nil && (j.Sync != "" || j.Event != nil || j.Topic != "" || j.Batch != nil) {
			told = &signals{j.Sync, j.Event, j.Topic, j.Batch}
		}
		require.Equal(t, listEntry{e.Service.Key, e.Service.Name, e.Name, e.Kind, e.Waiter.Name, e.Operation.Name, told}, list[i])
		kinds[e.Kind]++
		i++
	})
	require.Len(t, list, i)
	require.GreaterOrEqual(t, kinds[catalog.AWSWaiter], 389)
	require.GreaterOrEqual(t, kinds[catalog.AWSJob], 100)
}

// The AWS CLI's names.
func TestKebab(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"InstanceRunning": "instance-running", "DBInstanceAvailable": "db-instance-available", "VpcPeeringConnectionExists": "vpc-peering-connection-exists",
		"FunctionActiveV2": "function-active-v2", "StackCreateComplete": "stack-create-complete",
	} {
		require.Equal(t, want, kit.Kebab(name))
	}
}

// fitted reads a JSON text as the commands do.
func fitted(t testing.TB, text string, shape *catalog.Shape, input bool) (value any, problems []string) {
	t.Helper()
	value, found, err := typecheck.FitText([]byte(text), shape, input)
	require.NoError(t, err)
	for _, p := range found {
		problems = append(problems, p.String())
	}
	return value, problems
}

// orderService has a shape of every type.
const orderService = `{"key": "orders", "operations": {"DescribeOrder": {"input": "In", "output": "Out"}}, "shapes": {
	"In": {"type": "structure", "members": {"orderId": {"target": "string", "required": true}, "parts": "Parts", "choice": "Choice"}},
	"Out": {"type": "structure", "members": {"status": "Status", "count": "integer", "at": "timestamp", "weight": "double", "done": "boolean",
		"label": "blob", "parts": "Parts", "tags": "Tags", "choice": "Choice", "more": "document", "inner": "Out"}},
	"Parts": {"type": "list", "element": "Part"},
	"Part": {"type": "structure", "members": {"name": {"target": "string", "required": true}}},
	"Tags": {"type": "map", "element": "Part"},
	"Choice": {"type": "union", "members": {"left": "string", "right": "long"}},
	"Status": {"type": "string", "enum": ["OPEN", "DONE"]}}}`

func orderOperation(t testing.TB) *catalog.Operation {
	t.Helper()
	var s catalog.Service
	require.NoError(t, json.Unmarshal([]byte(orderService), &s))
	require.NoError(t, s.Link())
	return s.Operations["DescribeOrder"]
}

func TestModelFit(t *testing.T) {
	t.Parallel()
	op := orderOperation(t)
	tests := []struct {
		name, text, want string
		input            bool
		problems         []string
	}{
		{name: "the model's spelling", text: `{"status": "DONE", "parts": [{"name": "x"}], "tags": {"Red": {"name": "y"}}, "more": {"Any": [1]}}`},
		{
			name: "that of Step Functions", text: `{"Status": "DONE", "Parts": [{"Name": "x"}], "Tags": {"Red": {"Name": "y"}}, "More": {"Any": [1]}, "Inner": {"Count": 1}}`,
			want: `{"status": "DONE", "parts": [{"name": "x"}], "tags": {"Red": {"name": "y"}}, "more": {"Any": [1]}, "inner": {"count": 1}}`,
		},
		{name: "times and numbers in both forms", text: `{"at": 1.5, "weight": "NaN", "inner": {"at": "2026-01-02T03:04:05Z", "weight": 2}}`},
		{name: "null", text: `{"status": null, "parts": [null]}`},
		{
			name: "unknown member", text: `{"statsu": "DONE", "parts": [{"nome": "x"}]}`,
			problems: []string{`1:2: /statsu: Out has no member "statsu" (did you mean "status"?)`, `1:31: /parts/0/nome: Part has no member "nome" (did you mean "name"?)`},
		},
		{
			name: "wrong types", text: `{"count": "1", "done": 1, "label": 2, "parts": {}, "tags": [], "at": true}`,
			problems: []string{
				`1:11: /count: expected a number (integer), found a string ("1")`,
				`1:24: /done: expected a boolean (boolean), found a number (1)`,
				`1:36: /label: expected a string (blob), found a number (2)`,
				`1:48: /parts: expected an array (Parts), found an object`,
				`1:60: /tags: expected an object (Tags), found an array`,
				`1:70: /at: expected a string (timestamp), found a boolean (true)`,
			},
		},
		{name: "new value of an enum", text: `{"status": "DON"}`, problems: []string{`1:12: /status: Status is never "DON" (did you mean "DONE"?)`}},
		{name: "both spellings", text: `{"status": "DONE", "Status": "OPEN"}`, want: `{"status": "OPEN"}`, problems: []string{`1:20: /Status: the member status is there twice`}},
		{name: "input", input: true, text: `{"OrderId": "1"}`, want: `{"orderId": "1"}`},
		{
			name: "input that lacks members", input: true, text: `{"parts": [{}]}`,
			problems: []string{`1:12: /parts/0: Part needs the member name`, `1:1: In needs the member orderId`},
		},
		{name: "null in an input", input: true, text: `{"orderId": null}`, problems: []string{`1:13: /orderId: expected a string (string), found null`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			shape := op.Output
			if tt.input {
				shape = op.Input
			}
			got, problems := fitted(t, tt.text, shape, tt.input)
			require.Equal(t, tt.problems, problems)
			text, err := json.Marshal(got)
			require.NoError(t, err)
			if tt.want == "" {
				tt.want = tt.text
			}
			require.JSONEq(t, tt.want, string(text))
		})
	}
}

// A value that fits the model is the same in either spelling.
func FuzzModelFit(f *testing.F) {
	f.Add(`{"status": "DONE", "parts": [{"name": "x"}], "tags": {"Red": {"name": "y"}}, "choice": {"left": "z"}}`)
	f.Add(`{"inner": {"inner": {"at": 1}}, "more": {"status": 1}, "weight": "NaN"}`)
	f.Add(`{"Status": 1, "parts": {"name": null}}`)
	f.Add(`[1]`)
	op := orderOperation(f)
	f.Fuzz(func(t *testing.T, text string) {
		value, problems, err := typecheck.FitText([]byte(text), op.Output, false)
		if err != nil || len(problems) > 0 {
			return
		}
		again, err := typecheck.ModelSpelling(typecheck.IntegrationSpelling(value, op.Output), op.Output)
		require.NoError(t, err)
		require.Equal(t, value, again)
	})
}
