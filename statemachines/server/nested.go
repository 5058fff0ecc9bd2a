package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// addNested gives the Tasks that call Step Functions a handler, where they have none.
func (s *Server) addNested(v *revision, o *sim.Options) {
	if len(v.nested) == 0 {
		return
	}
	o.Resume = s.resumeNested
	o.Handlers = maps.Clone(o.Handlers)
	if o.Handlers == nil {
		o.Handlers = map[string]sim.Handler{}
	}
	for _, resource := range v.nested {
		if o.Handlers[resource] == nil {
			o.Handlers[resource] = s.callItself
		}
	}
}

// isNested tells whether a resource calls Step Functions.
func isNested(resource string) bool {
	r := asl.ParseResource(resource)
	service, sdk := r.SDK()
	return sdk && service == "sfn" || !sdk && r.Service == "states" && r.Action == "startExecution"
}

// findNested lists the resources of a definition that call Step Functions.
func findNested(m *asl.StateMachine) []string {
	found := map[string]bool{}
	for s := range m.All {
		if s.Task != nil && isNested(s.Task.Resource) {
			found[s.Task.Resource] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// nested is a call of Step Functions by a Task.
type nested struct {
	server    *Server
	caller    string // the ARN of the execution
	who       caller // its account and region
	call      sim.Call
	resource  asl.Resource
	operation *catalog.Operation
	spelling  typecheck.Spelling
	id        string // of the request
}

// callItself does a Task that calls an operation of the server.
func (s *Server) callItself(ctx context.Context, call sim.Call) (sim.Reply, error) {
	n, err := s.newNested(call)
	if err != nil {
		return sim.Reply{}, err
	}
	input, err := n.spelling.Arguments(call.Arguments, n.operation.Input)
	if err != nil {
		return sim.Reply{}, err
	}
	text, err := json.Marshal(input)
	if err != nil {
		return sim.Reply{}, err
	}
	switch {
	case n.operation.Name == "StartSyncExecution", n.resource.Service == "states" && strings.HasPrefix(n.resource.Pattern, ".sync"):
		return n.startAndWait(ctx, text)
	case n.operation.Name == "GetActivityTask":
		return n.poll(ctx, text), nil
	}
	answer, err := s.call(ctx, n.who, n.operation.Name, text)
	if err != nil {
		return sim.Reply{}, n.failure(err)
	}
	result, err := n.result(answer)
	if err != nil || n.resource.Pattern == "" {
		return sim.Reply{Output: result}, err
	}
	// Most tokens come back from the execution that got one, so the clock runs on.
	return sim.Reply{Submitted: result, Never: true, Inside: true}, nil
}

func (s *Server) newNested(call sim.Call) (*nested, error) {
	n := &nested{server: s, call: call, resource: asl.ParseResource(call.Resource), id: newUUID()}
	execution, _ := call.Context["Execution"].(map[string]any)
	id, _ := execution["Id"].(string)
	of, err := parseARN(id, executionKind, expressKind)
	if err != nil {
		return nil, err
	}
	n.caller, n.who = id, caller{of.account, of.region}
	if n.operation, err = typecheck.FindOperation(call.Resource, s.models); err != nil {
		return nil, err
	}
	if n.operation == nil {
		return nil, errors.New("jobpoller does not know the operation of " + call.Resource)
	}
	api, err := typecheck.FindAPI(call.Resource, s.models)
	n.spelling = api.Spelling()
	return n, err
}

// startAndWait starts an execution that ends with the Task, and the Task with it.
func (n *nested) startAndWait(ctx context.Context, input []byte) (sim.Reply, error) {
	sync := n.operation.Name == "StartSyncExecution"
	r, members, err := n.server.newRequest(ctx, n.who, n.operation.Name, input)
	if err != nil {
		return sim.Reply{}, n.failure(err)
	}
	if r.depth = n.depthOf(r.account) + 1; r.depth > maxDepth {
		return sim.Reply{}, n.failure(refuse("ExecutionLimitExceeded",
			"%d executions wait one for the other, the most that there can be. Does a state machine start itself without an end?", maxDepth))
	}
	var in startExecutionInput
	fill(&in, members)
	var w waitingTask
	x, err := r.start(&in, sync, w.end)
	if err != nil {
		return sim.Reply{}, n.failure(err)
	}
	end := func() (sim.Reply, error) {
		if sync {
			return n.reply(r.syncOutput(x, true))
		}
		return n.jobEnd(r.describe(x, true))
	}
	var submitted any
	if !sync {
		if submitted, err = n.spell(&startExecutionOutput{x.arn, epoch(x.run.Start())}); err != nil {
			return sim.Reply{}, err
		}
	}
	if w.wait(func() { n.call.Answer(end()) }) {
		context.AfterFunc(ctx, func() { _, _ = x.run.Stop("", "") }) // of one that has ended nothing
		return sim.Reply{Submitted: submitted, Never: true}, nil
	}
	reply, err := end()
	reply.Submitted = submitted
	if failed, ok := errors.AsType[*sim.TaskError](err); ok {
		failed.Submitted = submitted
	}
	return reply, err
}

// maxDepth is how many executions may wait one for the other. AWS has no limit but that
// of open executions; here all that a state machine without an end starts would come to
// one instant.
const maxDepth = 1000

// depthOf is how many executions wait for the one that calls.
func (n *nested) depthOf(a *account) int {
	if x := n.server.world.Execution(n.caller); x != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		if root := a.executions.byARN[x.Root().ARN()]; root != nil {
			return root.depth
		}
	}
	return 0
}

// waitingTask is a Task that waits for the end of an execution.
type waitingTask struct {
	mu     sync.Mutex
	ended  bool
	answer func()
}

// wait has answer called at the end. It reports false if that is over.
func (w *waitingTask) wait(answer func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
	return !w.ended
}

func (w *waitingTask) end() {
	w.mu.Lock()
	answer := w.answer
	w.ended = true
	w.mu.Unlock()
	if answer != nil {
		answer()
	}
}

// poll does a call that lasts, without holding a virtual clock.
func (n *nested) poll(ctx context.Context, input []byte) sim.Reply {
	go func() {
		answer, err := n.server.call(ctx, n.who, n.operation.Name, input)
		if err != nil {
			n.call.Answer(sim.Reply{}, n.failure(err))
			return
		}
		result, err := n.result(answer)
		n.call.Answer(sim.Reply{Output: result}, err)
	}()
	return sim.Reply{Never: true}
}

// jobEnd is how a Task ends whose execution has ended.
func (n *nested) jobEnd(described *describeExecutionOutput) (sim.Reply, error) {
	answer, err := n.read(described)
	if err != nil {
		return sim.Reply{}, err
	}
	describe := n.operation.Service.Operations["DescribeExecution"].Output
	result := simulate.SyncResult(n.resource, answer, describe)
	if described.Status == string(sim.StatusSucceeded) {
		return sim.Reply{Output: result}, nil
	}
	var cause bytes.Buffer
	e := json.NewEncoder(&cause)
	e.SetEscapeHTML(false)
	if err := e.Encode(result); err != nil {
		return sim.Reply{}, err
	}
	return sim.Reply{}, &sim.TaskError{Name: asl.ErrorTaskFailed, Cause: strings.TrimSuffix(cause.String(), "\n")}
}

func (n *nested) reply(output any) (sim.Reply, error) {
	result, err := n.spell(output)
	return sim.Reply{Output: result}, err
}

// result is an answer as the result of a Task.
func (n *nested) result(answer []byte) (any, error) { return n.spell(json.RawMessage(answer)) }

// spell returns an answer in the spelling of the integration.
func (n *nested) spell(answer any) (any, error) {
	value, err := n.read(answer)
	if err != nil {
		return nil, err
	}
	result := n.spelling.Result(value, n.operation.Output)
	object, ok := result.(map[string]any)
	if _, sdk := n.resource.SDK(); !ok || sdk {
		return result, nil
	}
	text, err := writeOutput(answer)
	if err != nil {
		return nil, err
	}
	n.addMetadata(object, len(text))
	return object, nil
}

// addMetadata adds what the integrations that AWS made for Step Functions tell of the
// HTTP response.
func (n *nested) addMetadata(object map[string]any, size int) {
	length, date := strconv.Itoa(size), n.call.Time.UTC().Format(http.TimeFormat)
	object["SdkHttpMetadata"] = map[string]any{
		"AllHttpHeaders": map[string]any{
			"x-amzn-RequestId": []any{n.id}, "connection": []any{"keep-alive"}, "Content-Length": []any{length}, "Date": []any{date}, "Content-Type": []any{contentType},
		},
		"HttpHeaders":    map[string]any{"x-amzn-RequestId": n.id, "connection": "keep-alive", "Content-Length": length, "Date": date, "Content-Type": contentType},
		"HttpStatusCode": json.Number("200"),
	}
	object["SdkResponseMetadata"] = map[string]any{"RequestId": n.id}
}

// read returns an answer as a value, with the times as the integration writes them.
func (n *nested) read(answer any) (any, error) {
	text, err := writeOutput(answer)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	_, sdk := n.resource.SDK()
	shape := n.operation.Output
	if _, ok := answer.(*describeExecutionOutput); ok {
		shape = n.operation.Service.Operations["DescribeExecution"].Output
	}
	return writeTimes(value, shape, sdk), nil
}

// writeTimes writes times as text in an SDK integration, and else in milliseconds.
func writeTimes(value any, shape *catalog.Shape, text bool) any {
	if shape == nil {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		for name, item := range v {
			if m := shape.Member(name); m != nil {
				v[name] = writeTimes(item, m.Shape, text)
			}
		}
	case []any:
		if shape.Element != nil {
			for i := range v {
				v[i] = writeTimes(v[i], shape.Element.Shape, text)
			}
		}
	case json.Number:
		seconds, err := v.Float64()
		if shape.Type != catalog.Timestamp || err != nil {
			return v
		}
		at := time.UnixMilli(int64(seconds*1000 + 0.5)).UTC() //nolint:mnd // rounded
		if text {
			return at.Format("2006-01-02T15:04:05.000Z")
		}
		return json.Number(strconv.FormatInt(at.UnixMilli(), 10))
	}
	return value
}

// failure is the failure of a Task whose call was refused.
func (n *nested) failure(err error) error {
	refused, ok := errors.AsType[*refusal](err)
	if !ok {
		return err
	}
	return mock.ServiceFailure(n.call.Resource, n.operation, mock.Answer{
		Code: refused.code, Message: refused.message, Status: refused.status(), RequestID: n.id,
	})
}
