package clients_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

var requests = flag.Int("requests", 20_000, "how many requests the API is tried with")

// fuzzer draws requests, most of them nearly right.
type fuzzer struct {
	draw *rand.Rand
	seen map[string][]string // ARNs and tokens out of answers, by the member's name
}

// definitions are those of machines that end soon, wait, ask, or are wrong.
var definitions = []string{
	`{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}`,
	`{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 3600, "End": true}}}`,
	`{"StartAt": "A", "States": {"A": {"Type": "Fail", "Error": "No"}}}`,
	`{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "arn:aws:states:us-east-1:123456789012:activity:a", "End": true}}}`,
	`{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "arn:aws:states:::states:startExecution.sync:2", "Parameters": {"StateMachineArn": "arn:aws:states:us-east-1:123456789012:stateMachine:b"}, "End": true}}}`,
	`{"QueryLanguage": "JSONata", "StartAt": "A", "States": {"A": {"Type": "Pass", "Output": "{% $map([1..1000], function($i) {$i * $i}) %}", "End": true}}}`,
	`{"StartAt": "A", "States": {"A": {"Type": "Map", "ItemsPath": "$.items", "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "B", "States": {"B": {"Type": "Pass", "End": true}}}, "End": true}}}`,
	`{"StartAt": "A", "States": {"A": {"Type": "Parallel", "Branches": [{"StartAt": "B", "States": {"B": {"Type": "Wait", "Seconds": 1, "End": true}}}], "End": true}}}`,
	`{"StartAt": "A"}`, `{`, ``, `[]`,
}

// words are what strings of all kinds may be.
var words = []string{
	"a", "b", "c", "", " ", "a b", "\x00", "é", "💥", "../../etc/passwd", "$", "$.a", "null", "{}", `{"items": [1, 2, {"a": []}]}`, `[`, "1e999", "-1",
	"arn:aws:states:us-east-1:123456789012:stateMachine:a", "arn:aws:states:us-east-1:123456789012:stateMachine:b:1", "arn:aws:states:us-east-1:123456789012:activity:a",
	"arn:aws:states:us-east-1:123456789012:execution:a:b", "arn:aws:states:us-east-1:123456789012:express:a:b:c", "arn:aws:states:us-east-1:123456789012:mapRun:a/A:b",
	"arn:aws:iam::123456789012:role/r", "arn:", "arn:aws:states:::", strings.Repeat("x", 300), strings.Repeat("x", 40_000),
}

func pick[T any](f *fuzzer, from []T) T { return from[f.draw.IntN(len(from))] }

// value draws a value of a shape, now and then one of another.
func (f *fuzzer) value(shape *catalog.Shape, name string, depth int) any {
	if f.draw.IntN(25) == 0 || depth > 6 {
		return pick(f, []any{nil, true, -1, 1e300, "", "x", []any{}, map[string]any{}, []any{nil}, map[string]any{"": []any{}}})
	}
	switch shape.Type {
	case catalog.Structure:
		object := map[string]any{}
		for _, m := range shape.Members {
			if m.Required && f.draw.IntN(30) != 0 || f.draw.IntN(8) == 0 {
				object[m.Name] = f.value(m.Shape, m.Name, depth+1)
			}
		}
		return object
	case catalog.List:
		list := make([]any, f.draw.IntN(4))
		for i := range list {
			list[i] = f.value(shape.Element.Shape, name, depth+1)
		}
		return list
	case catalog.Boolean:
		return f.draw.IntN(2) == 0
	case catalog.Integer, catalog.Long, catalog.Float, catalog.Double:
		return pick(f, []any{0, 1, 2, 10, 1000, 1001, -1, 1.5, int64(1) << 62})
	case catalog.String:
		return f.text(shape, name)
	}
	return nil
}

func (f *fuzzer) text(shape *catalog.Shape, name string) string {
	switch {
	case len(shape.Enum) > 0 && f.draw.IntN(10) != 0:
		return pick(f, shape.Enum)
	case strings.EqualFold(name, "definition") && f.draw.IntN(10) != 0:
		return f.definition()
	case strings.HasSuffix(name, "Arn") && name != "roleArn" || strings.HasSuffix(name, "oken"):
		if known := f.seen[strings.Replace(name, "resource", "stateMachine", 1)]; len(known) > 0 && f.draw.IntN(5) != 0 {
			return pick(f, known)
		}
	case name == "name" && f.draw.IntN(2) == 0:
		return fmt.Sprintf("n%d", f.draw.IntN(50))
	case name == "input" && f.draw.IntN(2) == 0:
		return `{"items": [1, 2, 3]}`
	case name == "roleArn" && f.draw.IntN(10) != 0:
		return role
	}
	return pick(f, words)
}

// definition is one of the definitions, or one with a few bytes changed.
func (f *fuzzer) definition() string {
	text := pick(f, definitions)
	if text == "" || f.draw.IntN(3) != 0 {
		return text
	}
	b := []byte(text)
	for range 1 + f.draw.IntN(3) {
		b[f.draw.IntN(len(b))] = pick(f, []byte(`{}[]",:$.%01aA `))
	}
	return string(b)
}

// request draws the operation and the body of a request.
func (f *fuzzer) request(service *catalog.Service, operations []string) (operation, body string) {
	operation = pick(f, operations)
	if strings.HasPrefix(operation, "Delete") && f.draw.IntN(4) != 0 {
		operation = pick(f, []string{"CreateStateMachine", "StartExecution", "StartSyncExecution"})
	}
	switch f.draw.IntN(50) {
	case 0:
		return operation + "s", "{}"
	case 1:
		return operation, pick(f, []string{"", "{", "null", "[]", `"x"`, "{} {}", "\xff", strings.Repeat(`{"a":`, 20_000)})
	}
	body = string(must(json.Marshal(f.value(service.Operations[operation].Input, "", 0))))
	if f.draw.IntN(30) == 0 && len(body) > 2 {
		cut := f.draw.IntN(len(body))
		body = body[:cut] + pick(f, []string{"", "\x00", `"`, "}"}) + body[cut+1:]
	}
	return operation, body
}

// learn keeps texts of an answer that lead to what is there.
func (f *fuzzer) learn(value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			text, ok := value[name].(string)
			if !ok {
				f.learn(value[name])
				continue
			}
			if text == "" || !strings.HasSuffix(name, "Arn") && !strings.HasSuffix(name, "oken") {
				continue
			}
			known := f.seen[name]
			if len(known) < 50 {
				f.seen[name] = append(known, text)
			} else {
				known[f.draw.IntN(len(known))] = text
			}
		}
	case []any:
		for _, element := range value[:min(len(value), 3)] {
			f.learn(element)
		}
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// memoryKB is a figure of a process's memory in KiB: VmRSS, or VmHWM for the most that
// it had.
func memoryKB(t *testing.T, process *os.Process, figure string) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", process.Pid))
	require.NoError(t, err, "the memory of a process is read on Linux only")
	_, rest, found := strings.Cut(string(text), figure+":")
	require.True(t, found)
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(t, err)
	return kb
}

// Whatever is asked, the server answers, with 200 or a refusal that has a name, and
// its memory stays bounded.
func TestRandomRequests(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--time", "virtual")
	service, err := models.Load("stepfunctions")
	require.NoError(t, err)
	operations := slices.Sorted(maps.Keys(service.Operations))
	operations = slices.DeleteFunc(operations, func(o string) bool { return o == "GetActivityTask" }) // it waits a minute
	f := &fuzzer{rand.New(rand.NewPCG(*seed, 13)), map[string][]string{}}
	statuses, succeeded, refused := map[int]int{}, map[string]int{}, map[string]int{}
	for range *requests {
		operation, body := f.request(service, operations)
		status, text := postAPI(t, s.endpoint, operation, body)
		statuses[status]++
		switch status {
		case http.StatusOK:
			succeeded[operation]++
			var answer any
			require.NoError(t, json.Unmarshal([]byte(text), &answer), "%s %s: %s", operation, body, text)
			f.learn(answer)
		case http.StatusBadRequest:
			var refusal struct {
				Type string `json:"__type"`
			}
			require.NoError(t, json.Unmarshal([]byte(text), &refusal), "%s %s: %s", operation, body, text)
			require.NotEmpty(t, refusal.Type, "%s %s: %s", operation, body, text)
			refused[refusal.Type]++
		default:
			t.Fatalf("%s %s: status %d: %s", operation, body, status, text)
		}
	}
	require.Greater(t, len(succeeded), len(operations)/2, "most operations succeed now and then: %v", succeeded)
	require.NotContains(t, s.log.String(), "panic")
	peak := memoryKB(t, s.process, "VmHWM")
	require.Less(t, peak, 512<<10, "KiB of memory")
	say("suite clients: %d random requests of seed %d: %d answered, %d refused by %d errors, %d operations succeeded, %d MB at most",
		*requests, *seed, statuses[http.StatusOK], statuses[http.StatusBadRequest], len(refused), len(succeeded), peak>>10)
}
