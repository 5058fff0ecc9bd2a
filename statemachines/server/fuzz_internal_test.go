package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// beyondModel are errors that operations answer with though the model does not name them.
// ValidationException is recorded for some of those.
var beyondModel = []string{unknownOperation, serialization, entityTooLarge, validation}

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
		s, tokens := newTarget(t)
		g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), api: s.api, known: map[string][]string{}, tokens: tokens}
		const most = 512 << 20
		for range 40 {
			name := g.operation(s)
			text := body
			if len(body) == 0 || g.IntN(10) > 0 {
				text = g.request(s.api.Operations[name])
			}
			before := allocated()
			answer, wrong := checkAnswer(t.Context(), s, name, text)
			require.NoError(t, wrong)
			require.Less(t, allocated()-before, uint64(most), "bytes that %s %.2000s takes", name, text)
			g.learn(answer)
		}
	})
}

// allocated is how many bytes the program has ever taken.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// newTarget returns a server on a fast clock whose Tasks with a token wait, and gives the
// tokens.
func newTarget(t *testing.T) (s *Server, tokens <-chan string) {
	t.Helper()
	clock, err := sim.NewClock(sim.DefaultStart(), 10_000)
	require.NoError(t, err)
	found := make(chan string, 100)
	handler := func(_ context.Context, call sim.Call) (sim.Reply, error) {
		if call.TaskToken == "" {
			return sim.Reply{}, &sim.TaskError{Name: "Refused"}
		}
		select {
		case found <- call.TaskToken:
		default:
		}
		return sim.Reply{Never: true}, nil
	}
	s = New(Options{Clock: clock, Prepare: func(_ StartInfo, o *sim.Options) error {
		o.Handler = handler
		return nil
	}})
	t.Cleanup(s.Close)
	return s, found
}

// checkAnswer makes a call and returns its answer, nil for a refusal, or what is wrong
// with it.
func checkAnswer(ctx context.Context, s *Server, name string, body []byte) (answer map[string]any, wrong error) {
	const longest, largest = 20 * time.Second, 12 << 20
	q := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", bytes.NewReader(body))
	q.Header.Set("X-Amz-Target", "AWSStepFunctions."+name)
	w := httptest.NewRecorder()
	begin := time.Now()
	s.ServeHTTP(w, q)
	took, size := time.Since(begin), w.Body.Len()
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || took > longest || size > largest || w.Code >= http.StatusInternalServerError {
		return nil, fmt.Errorf("%s %.2000s: status %d, %d bytes after %s: %.500v", name, body, w.Code, size, took, answer)
	}
	if w.Code == http.StatusOK {
		return answer, nil
	}
	code, _ := answer["__type"].(string)
	declared := slices.ContainsFunc(s.api.Operations[name].Errors, func(e catalog.Error) bool { return e.Shape == code })
	if !declared && !slices.Contains(beyondModel, code) {
		return nil, fmt.Errorf("%s answers %s, an error that the model does not name for it: %v", name, code, answer["message"])
	}
	return nil, nil //nolint:nilnil // it is refused as it should be
}

// generator makes requests.
type generator struct {
	*rand.Rand
	api *catalog.Service
	// known are ARNs, tokens and ids out of answers, by the member that they stood in.
	known map[string][]string
	// tokens are those of Tasks that wait.
	tokens <-chan string
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
	select {
	case token := <-g.tokens:
		g.known["taskToken"] = append(g.known["taskToken"], token)
	default:
	}
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
	`{"StartAt":"A","States":{"A":{"Type":"Fail","Error":"E"}}}`,
	`{"StartAt":"I","States":{"I":{"Type":"Pass","Result":[1,2],"Next":"M"},"M":{"Type":"Map","ItemProcessor":{` +
		`"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},` +
		`"StartAt":"P","States":{"P":{"Type":"Wait","Seconds":999999,"End":true}}},"End":true}}}`,
	`{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:::sqs:sendMessage.waitForTaskToken",` +
		`"Parameters":{"QueueUrl":"q","MessageBody.$":"$$.Task.Token"},"TimeoutSeconds":9999,"End":true}}}`,
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
		// A state machine that is deleted keeps its name until its executions have ended,
		// and Map Runs here are long: with few names, none would be free at last.
		many := "m" + strconv.Itoa(g.IntN(100))
		return g.one("a", "b", "c", "live", "a b", many, many, many)
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
func TestRequestsReachEveryOperation(t *testing.T) {
	t.Parallel()
	s, tokens := newTarget(t)
	const clients, most = 4, 20_000
	var missing sync.Map
	var left atomic.Int64
	for name := range s.operations {
		if !slices.Contains(unreached, name) {
			missing.Store(name, true)
			left.Add(1)
		}
	}
	var done sync.WaitGroup
	for i := range clients {
		done.Go(func() {
			g := &generator{Rand: rand.New(rand.NewPCG(uint64(i), 2)), api: s.api, known: map[string][]string{}, tokens: tokens}
			for n := 0; n < most && left.Load() > 0; n++ {
				name := g.operation(s)
				answer, wrong := checkAnswer(t.Context(), s, name, g.request(s.api.Operations[name]))
				if wrong != nil {
					t.Error(wrong)
					return
				}
				if answer == nil {
					continue
				}
				if _, first := missing.LoadAndDelete(name); first {
					left.Add(-1)
				}
				g.learn(answer)
			}
		})
	}
	done.Wait()
	missing.Range(func(name, _ any) bool {
		t.Errorf("no request of %s succeeds", name)
		return true
	})
}

// unreached are operations that no request of the generator does: it waits for nothing.
var unreached = []string{"GetActivityTask"}
