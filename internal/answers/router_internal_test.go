package answers

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/jobpoller/jobpoller/internal/servicetask"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// stage has servers that could answer, and notes which one was asked for what.
type stage struct {
	urls map[string]string // by the role of the server

	mu    sync.Mutex
	asked []string
}

// newStage has a server for functions, one for services, one for all other services, and one
// for calls that no flag names.
func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{urls: map[string]string{}}
	for _, role := range []string{"function", "service", "others", "forward"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			s.note(role + " " + r.URL.Path + r.Header.Get("X-Amz-Target"))
			_, _ = io.WriteString(w, `{}`)
		}))
		t.Cleanup(server.Close)
		s.urls[role] = server.URL
	}
	return s
}

func (s *stage) note(who string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, who)
}

// take returns the first that was asked, and forgets all.
func (s *stage) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := append(s.asked, "")[0]
	s.asked = nil
	return asked
}

// own is a function that the command has itself.
func (s *stage) own(context.Context, []byte) ([]byte, error) {
	s.note("own function")
	return []byte(`{}`), nil
}

const account = "123456789012"

// tasks are Tasks by what they call.
var tasks = map[string]string{
	"a service":               `"arn:aws:states:::aws-sdk:athena:getQueryExecution", "Arguments": {"QueryExecutionId": "q"}`,
	"a job":                   `"arn:aws:states:::glue:startJobRun.sync", "Arguments": {"JobName": "nightly"}`,
	"a start call":            `"arn:aws:states:::aws-sdk:athena:startQueryExecution", "Arguments": {"QueryString": "q"}`,
	"another service":         `"arn:aws:states:::aws-sdk:codebuild:listBuilds", "Arguments": {}`,
	"an unknown operation":    `"arn:aws:states:::aws-sdk:athena:getNothing", "Arguments": {}`,
	"a function":              `"arn:aws:states:::lambda:invoke", "Arguments": {"FunctionName": "orders", "Payload": {}}`,
	"a function by its ARN":   `"arn:aws:states:::lambda:invoke", "Arguments": {"FunctionName": "arn:aws:lambda:us-east-1:` + account + `:function:orders", "Payload": {}}`,
	"a function by its alias": `"arn:aws:states:::lambda:invoke", "Arguments": {"FunctionName": "orders:live", "Payload": {}}`,
	"another function":        `"arn:aws:states:::lambda:invoke", "Arguments": {"FunctionName": "bills", "Payload": {}}`,
	"an own function":         `"arn:aws:states:::lambda:invoke", "Arguments": {"FunctionName": "mine", "Payload": {}}`,
	"a function's ARN":        `"arn:aws:lambda:us-east-1:` + account + `:function:orders"`,
	"an ARN with an alias":    `"arn:aws:lambda:us-east-1:` + account + `:function:orders:live"`,
	"another function's ARN":  `"arn:aws:lambda:us-east-1:` + account + `:function:bills"`,
}

// machineOf has one Task, Get.
func machineOf(t require.TestingT, task string) *source.Machine {
	text := []byte(`{"QueryLanguage": "JSONata", "StartAt": "Get", "States": {"Get": {"Type": "Task", "Resource": ` + task + `, "End": true}}}`)
	m, err := asl.Parse(text)
	require.NoError(t, err)
	return &source.Machine{StateMachine: m, Definition: &source.Definition{File: "get.asl.json", Text: text}}
}

// draw is a set of answerers.
type draw struct {
	functions, endpoints, simulated []string
	ofState, ofResource, own        bool
	forward                         bool
}

func drawAnswerers(t *rapid.T) (d draw) {
	d.functions = rapid.SliceOfDistinct(rapid.SampledFrom([]string{"orders", "stranger"}), rapid.ID).Draw(t, "functions")
	d.endpoints = rapid.SliceOfDistinct(rapid.SampledFrom([]string{"athena=", "lambda=", ""}), rapid.ID).Draw(t, "endpoints")
	d.simulated = rapid.SampledFrom([][]string{nil, nil, {"10m"}, {"Get=10m"}}).Draw(t, "simulated")
	d.ofState, d.ofResource = rapid.Bool().Draw(t, "mocks of the state"), rapid.Bool().Draw(t, "mocks of the resource")
	d.own = rapid.Bool().Draw(t, "own")
	return d
}

// router has the answerers of a draw for the Task of a machine.
func (s *stage) router(t require.TestingT, d draw, m *source.Machine) *Router {
	o := Options{Simulated: Simulated{Specs: d.simulated}}
	var texts []string
	for _, name := range d.functions {
		texts = append(texts, name+"="+s.urls["function"])
	}
	var err error
	o.Functions, err = ReadFunctions(texts)
	require.NoError(t, err)
	for _, service := range d.endpoints {
		o.Services.Endpoints = append(o.Services.Endpoints, service+s.urls[map[bool]string{true: "others", false: "service"}[service == ""]])
	}
	require.NoError(t, o.Services.Parse())
	if d.forward {
		o.Forward = s.urls["forward"]
	}
	for name, given := range map[string]bool{"Get": d.ofState, m.State("Get").Task.Resource: d.ofResource} {
		if given {
			text, err := json.Marshal(map[string]any{name: map[string]any{"return": map[string]any{"mock": name}}})
			require.NoError(t, err)
			mocks, err := ReadMocks("mocks.json", text)
			require.NoError(t, err)
			o.Mocks = append(o.Mocks, mocks)
		}
	}
	r, err := New(context.Background(), o, Hooks{})
	require.NoError(t, err)
	if d.own {
		r.AddOwn(Own{Functions: map[string]sim.LambdaFunction{"mine": s.own}})
	}
	return r
}

// nobody is who answers a Task that nothing is named for, or something that cannot. A router
// that looks before the run refuses the second there, and the run the first.
const nobody = "nobody"

// answerer runs the machine, and says who answered its Task.
func (s *stage) answerer(m *source.Machine, o sim.Options) string {
	o.Clock, o.Models, o.Lenient = sim.NewVirtualClock(sim.DefaultStart()), models.Load, true
	result, err := sim.Run(context.Background(), m.StateMachine, nil, o)
	asked := s.take()
	_, lacks := errors.AsType[*sim.ResourceError](err)
	switch {
	case asked != "":
		return asked
	case lacks, errors.Is(err, errUnanswered), errors.Is(err, servicetask.ErrNotCallable):
		return nobody
	case err != nil:
		return "error: " + err.Error()
	case result.Error == "Lambda.ResourceNotFoundException":
		return nobody
	case result.Status != sim.StatusSucceeded:
		return result.Error + ": " + result.Cause
	case strings.Contains(string(result.Output), `"mock"`):
		return "mock " + string(result.Output)
	}
	return "simulated job"
}

// lazily says who answers the Task of a machine when it calls. What counts its calls is asked
// again in a replay, and what acts is not.
func (s *stage) lazily(t require.TestingT, d draw, m *source.Machine) string {
	r := s.router(t, d, m)
	var o sim.Options
	if err := r.Prepare(m.StateMachine, "", nil, &o); err != nil {
		return nobody
	}
	chosen := s.answerer(m, o)
	if chosen != nobody {
		call := sim.Call{State: "Get", Resource: m.State("Get").Task.Resource}
		counts := strings.HasPrefix(chosen, "mock") || chosen == "simulated job"
		if counts || !d.ofState && !d.ofResource && d.simulated == nil {
			require.Equal(t, counts, o.Repeat(call), "%s: %+v", chosen, d)
		}
	}
	require.NoError(t, r.Close())
	return chosen
}

// eagerly says who answers the Task of a machine before it runs.
func (s *stage) eagerly(t require.TestingT, d draw, m *source.Machine) string {
	r := s.router(t, d, m)
	var o sim.Options
	if _, err := r.Resolve(context.Background(), m, "", &o); err != nil {
		return nobody
	}
	chosen := s.answerer(m, o)
	require.NoError(t, r.Close())
	return chosen
}

// Whether a router looks at a Task before the run or when it calls, the same answers it,
// and the same says that nobody does.
func TestEagerAndLazyChooseTheSame(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	rapid.Check(t, func(t *rapid.T) {
		task := rapid.SampledFrom(slices.Sorted(maps.Keys(tasks))).Draw(t, "task")
		d := drawAnswerers(t)
		m := machineOf(t, tasks[task])
		require.Equal(t, s.eagerly(t, d, m), s.lazily(t, d, m), "%s: %+v", task, d)
	})
}

// What no flag names goes where clients' own calls of the service go, and nothing else does.
func TestForwardTakesWhatNobodyAnswers(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	rapid.Check(t, func(t *rapid.T) {
		task := rapid.SampledFrom(slices.Sorted(maps.Keys(tasks))).Draw(t, "task")
		d := drawAnswerers(t)
		m := machineOf(t, tasks[task])
		before := s.lazily(t, d, m)
		d.forward = true
		after := s.lazily(t, d, m)
		// A drawn answer is for what has no other, or could have none.
		if before == "simulated job" && (strings.HasPrefix(after, "forward ") || after == nobody && task == "an unknown operation") {
			return
		}
		if before == nobody && task != "an unknown operation" {
			require.True(t, after == nobody && len(d.simulated) > 0 || strings.HasPrefix(after, "forward "), "%s: %s: %+v", task, after, d)
			return
		}
		require.Equal(t, before, after, "%s: %+v", task, d)
	})
}

// What is named for a state wins over a function, that over what is named for a resource,
// its service or all services, and simulated jobs take what is left.
func TestWhoWins(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	everybody := draw{functions: []string{"orders"}, endpoints: []string{"athena=", "lambda=", ""}, simulated: []string{"10m"}, ofState: true, ofResource: true}
	without := func(change func(*draw)) draw {
		d := everybody
		d.ofState = false
		change(&d)
		return d
	}
	for _, c := range []struct {
		task string
		of   draw
		want string
	}{
		{"a function", everybody, "mock {\"mock\":\"Get\"}"},
		{"a function", without(func(*draw) {}), "function /2015-03-31/functions/orders/invocations"},
		{"a function's ARN", without(func(*draw) {}), "function /2015-03-31/functions/orders/invocations"},
		{"an ARN with an alias", without(func(*draw) {}), "function /2015-03-31/functions/orders/invocations"},
		{"another function", without(func(*draw) {}), "mock {\"mock\":\"arn:aws:states:::lambda:invoke\"}"},
		{"another function", without(func(d *draw) { d.ofResource = false }), "service /2015-03-31/functions/bills/invocations"},
		{"another function", without(func(d *draw) { d.ofResource, d.endpoints = false, []string{""} }), "others /2015-03-31/functions/bills/invocations"},
		{"another function", without(func(d *draw) { d.ofResource, d.endpoints = false, nil }), "simulated job"},
		{"another function", without(func(d *draw) { d.ofResource, d.endpoints, d.simulated = false, nil, nil }), nobody},
		{"a start call", without(func(d *draw) { d.ofResource = false }), "service /AmazonAthena.StartQueryExecution"},
		{"a start call", without(func(d *draw) { d.ofResource, d.endpoints = false, []string{""} }), "others /AmazonAthena.StartQueryExecution"},
		{"a start call", without(func(d *draw) { d.ofResource, d.endpoints = false, []string{"lambda="} }), "simulated job"},
		{"a start call", draw{}, nobody},
	} {
		m := machineOf(t, tasks[c.task])
		require.Equal(t, c.want, s.eagerly(t, c.of, m), "%s: %+v", c.task, c.of)
		require.Equal(t, c.want, s.lazily(t, c.of, m), "%s: %+v", c.task, c.of)
	}
}
