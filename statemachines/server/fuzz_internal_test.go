package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// beyondModel are errors that operations answer with though the model does not name them:
// those of every operation, and by operation those that are recorded.
var beyondModel = map[string][]string{
	"": {unknownOperation, serialization, entityTooLarge, validation},
}

// FuzzRequests sends requests that know the API: valid ones, and such with members of
// wrong types, out of bounds, and with names of things that are there or are not. No
// answer is a failure of the server, each code is one of the operation's, and none takes
// long or is large.
func FuzzRequests(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, []byte(nil))
	}
	f.Add(uint64(1), []byte(`{"name":"a","definition":"{}","roleArn":"arn:x","NAME":1}`))
	f.Fuzz(func(t *testing.T, seed uint64, body []byte) {
		s := New(Options{Clock: sim.NewVirtualClock(sim.DefaultStart())})
		defer s.Close()
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), api: s.api, known: map[string][]string{}}
		for range 40 {
			name := g.operation(s)
			text := body
			if len(body) == 0 || g.IntN(10) > 0 {
				text = g.request(s.api.Operations[name])
			}
			g.learn(requireAnswer(t, s, name, text))
		}
	})
}

// requireAnswer makes a call and returns its answer.
func requireAnswer(t *testing.T, s *Server, name string, body []byte) map[string]any {
	t.Helper()
	const longest, largest = 5 * time.Second, 12 << 20
	q := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(string(body)))
	q.Header.Set("X-Amz-Target", "AWSStepFunctions."+name)
	w := httptest.NewRecorder()
	begin := time.Now()
	s.ServeHTTP(w, q)
	require.Less(t, time.Since(begin), longest, "%s %.300s", name, body)
	require.Less(t, w.Body.Len(), largest, "%s %.300s", name, body)
	var answer map[string]any
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer), "%s %.300s", name, body)
	if w.Code == http.StatusOK {
		return answer
	}
	require.Less(t, w.Code, http.StatusInternalServerError, "%s %.2000s", name, body)
	code, _ := answer["__type"].(string)
	declared := slices.ContainsFunc(s.api.Operations[name].Errors, func(e catalog.Error) bool { return e.Shape == code })
	require.True(t, declared || slices.Contains(beyondModel[""], code) || slices.Contains(beyondModel[name], code),
		"%s answers %s, which is none of its errors: %v", name, code, answer["message"])
	return nil
}

// generator makes requests.
type generator struct {
	*rand.Rand
	api *catalog.Service
	// known are ARNs, tokens and ids out of answers, by the member that they stood in.
	known map[string][]string
}

// operation picks one that the server does; the ones that make something come more often.
func (g *generator) operation(s *Server) string {
	names := make([]string, 0, len(s.operations))
	for name := range s.operations {
		if name == "GetActivityTask" {
			continue // it waits for a minute
		}
		names = append(names, name)
		if strings.HasPrefix(name, "Create") || strings.HasPrefix(name, "Start") || strings.HasPrefix(name, "Publish") {
			names = append(names, name, name)
		}
	}
	slices.Sort(names)
	return names[g.IntN(len(names))]
}

func (g *generator) request(o *catalog.Operation) []byte {
	text, err := json.Marshal(g.structure(o.Input))
	if err != nil {
		panic(err)
	}
	return text
}

func (g *generator) one(of ...string) string { return of[g.IntN(len(of))] }

func (g *generator) structure(shape *catalog.Shape) map[string]any {
	members := map[string]any{}
	for i := range shape.Members {
		m := &shape.Members[i]
		if !m.Required && g.IntN(3) > 0 || g.IntN(60) == 0 {
			continue
		}
		members[m.Name] = g.value(m.Shape, m.Name)
	}
	if g.IntN(40) == 0 {
		members["stranger"] = 1
	}
	return members
}

func (g *generator) value(shape *catalog.Shape, name string) any {
	switch g.IntN(60) {
	case 0:
		return nil
	case 1:
		return []any{1, "x", map[string]any{}, []any{nil}, true, 1.5, -1, 1e300}[g.IntN(8)]
	}
	if name == "routingConfiguration" && g.IntN(2) == 0 {
		return []any{map[string]any{"stateMachineVersionArn": "arn:aws:states:us-east-1:123456789012:stateMachine:a:1", "weight": 100}}
	}
	switch shape.Type {
	case catalog.Structure:
		return g.structure(shape)
	case catalog.List:
		items := []any{}
		for range g.IntN(4) {
			items = append(items, g.value(shape.Element.Shape, name))
		}
		return items
	case catalog.Boolean:
		return g.IntN(2) == 0
	case catalog.Integer, catalog.Long:
		return []int{0, 1, 2, 50, 100, 1000, 1001, -1, 1 << 40}[g.IntN(9)]
	case catalog.Float, catalog.Double:
		return []float64{0, 0.5, 100, 100.1, -1}[g.IntN(5)]
	default:
		return g.text(shape, name)
	}
}

// definitions are valid, and have something of each kind.
var definitions = []string{
	`{"StartAt":"A","States":{"A":{"Type":"Pass","End":true}}}`,
	`{"StartAt":"A","States":{"A":{"Type":"Wait","Seconds":3,"Next":"B"},"B":{"Type":"Fail","Error":"E"}}}`,
	`{"StartAt":"A","QueryLanguage":"JSONata","States":{"A":{"Type":"Pass","Assign":{"v":1},"Output":"{% $v + 1 %}","End":true}}}`,
	`{"StartAt":"M","States":{"M":{"Type":"Map","ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},` +
		`"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}},"End":true}}}`,
	`{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:::sqs:sendMessage.waitForTaskToken",` +
		`"Parameters":{"QueueUrl":"q","MessageBody.$":"$$.Task.Token"},"End":true}}}`,
}

// states are definitions of one state, for TestState.
var states = []string{
	`{"Type":"Pass","End":true}`, `{"Type":"Wait","Seconds":9,"Next":"B"}`, `{"Type":"Succeed"}`,
	`{"Type":"Choice","Choices":[{"Variable":"$.a","NumericEquals":1,"Next":"B"}],"Default":"C"}`,
	`{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"f"},"Retry":[{"ErrorEquals":["States.ALL"]}],"End":true}`,
	`{"Type":"Pass","QueryLanguage":"JSONata","Output":"{% [1..1000000] %}","End":true}`,
}

func (g *generator) text(shape *catalog.Shape, name string) string {
	if g.IntN(50) == 0 {
		return g.one("", "\x00", "é\u2028", "<&>", strings.Repeat("x", 81), strings.Repeat("x", 3097), "arn:aws:states:::", "${a}")
	}
	if len(shape.Enum) > 0 {
		return shape.Enum[g.IntN(len(shape.Enum))]
	}
	lower := strings.ToLower(name)
	switch {
	case name == "definition":
		text := slices.Concat(definitions, states)[g.IntN(len(definitions)+len(states))]
		return g.mutate(text)
	case name == "roleArn":
		return "arn:aws:iam::123456789012:role/r"
	case name == "logGroupArn":
		return "arn:aws:logs:us-east-1:123456789012:log-group:g:*"
	case strings.HasSuffix(lower, "arn"), strings.HasSuffix(lower, "token"), name == "revisionId", name == "routingConfiguration":
		if known := g.known[name]; len(known) > 0 && g.IntN(3) > 0 {
			return known[g.IntN(len(known))] + g.one("", "", "", "", "", ":1", ":live", "/A", "#C")
		}
		if of := slices.Sorted(maps.Keys(g.known)); len(of) > 0 && g.IntN(4) > 0 {
			known := g.known[of[g.IntN(len(of))]]
			return known[g.IntN(len(known))]
		}
		return fmt.Sprintf("arn:aws:states:us-east-1:123456789012:%s:%s", g.one("stateMachine", "execution", "activity", "express", "mapRun"), g.one("a", "b", "a:b", "a/b:c"))
	case name == "name":
		return g.one("a", "b", "c", "live", "a b")
	case strings.Contains(lower, "name"):
		return g.one("A", "B", "P")
	default:
		return g.mutate(g.one(`{}`, `{"a":1}`, `[1,2]`, `"text"`, `null`, `{"Execution":{"Id":"x"}}`, "text"))
	}
}

// mutate changes a byte now and then.
func (g *generator) mutate(text string) string {
	if len(text) == 0 || g.IntN(4) > 0 {
		return text
	}
	i := g.IntN(len(text))
	return text[:i] + g.one("", "\"", "{", "]", "0", "$", "\\", "%}", text[i:]) + text[min(len(text), i+1):]
}

// learn keeps what other requests can name.
func (g *generator) learn(answer any) {
	switch v := answer.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if text, ok := v[name].(string); ok && (strings.HasPrefix(text, "arn:") || name == "nextToken" || name == "revisionId" || name == "taskToken") {
				g.known[name] = append(g.known[name], text)
			}
			g.learn(v[name])
		}
	case []any:
		for _, item := range v {
			g.learn(item)
		}
	}
}

// Many clients at once reach each operation, so the fuzzer does too.
func TestRequestsReachEveryOperation(t *testing.T) { //nolint:tparallel // it waits for its clients
	t.Parallel()
	s := New(Options{Clock: sim.NewVirtualClock(sim.DefaultStart())})
	defer s.Close()
	const clients = 4
	done := make([]map[string]int, clients)
	t.Run("clients", func(t *testing.T) {
		for i := range clients {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				g := &generator{Rand: rand.New(rand.NewPCG(uint64(i), 2)), api: s.api, known: map[string][]string{}}
				done[i] = map[string]int{}
				for range 2000 {
					name := g.operation(s)
					if answer := requireAnswer(t, s, name, g.request(s.api.Operations[name])); answer != nil {
						done[i][name]++
						g.learn(answer)
					}
				}
			})
		}
	})
	never := slices.Collect(maps.Keys(s.operations))
	never = slices.DeleteFunc(never, func(name string) bool {
		return slices.Contains(unreached, name) || slices.ContainsFunc(done, func(counts map[string]int) bool { return counts[name] > 0 })
	})
	require.Empty(t, never)
}

// unreached are operations that no request of the generator does, or few do: it waits for
// nothing, no Task waits for it, and most state machines are no Express ones.
var unreached = []string{"GetActivityTask", "SendTaskFailure", "SendTaskHeartbeat", "SendTaskSuccess", "StartSyncExecution"}
