package simulate

import (
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// task is a state that calls something.
type task struct {
	state     *asl.State
	resource  string
	position  asl.Position
	parsed    asl.Resource
	operation *catalog.Operation // of the models; nil if it is not known
	output    *catalog.Shape     // of the result of a call that does not wait; nil if it is not known
	reader    bool               // it reads the items of a Map
	loops     bool               // it polls: in a loop, or in a state that is, or by its Retry
	looks     bool               // it polls by the output of another state machine, which it runs with ".sync"
}

// name is that of the state.
func (t *task) name() string { return t.state.Name }

// tasksOf are the calls of a machine, in the order of the definition.
func tasksOf(m *asl.StateMachine, models typecheck.Models) ([]*task, error) {
	var tasks []*task
	var walk func(f *asl.Flow, loops bool) error
	walk = func(f *asl.Flow, loops bool) error {
		inCycle := cycles(f)
		for _, s := range f.States {
			inLoop := loops || inCycle[s] || retriesOutput(s) || retriesFail(s)
			if t := taskOf(s); t != nil {
				var err error
				if t.operation, err = typecheck.FindOperation(t.resource, models); err != nil {
					return err
				}
				api, err := typecheck.FindAPI(t.resource, models)
				if err != nil {
					return err
				}
				t.output = api.Output
				t.loops = inLoop
				tasks = append(tasks, t)
			}
			for _, inner := range s.Flows() {
				if err := walk(inner, inLoop); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return tasks, walk(&m.Flow, false)
}

func taskOf(s *asl.State) *task {
	switch {
	case s.Task != nil:
		return &task{state: s, resource: s.Task.Resource, position: s.Task.ResourcePosition, parsed: asl.ParseResource(s.Task.Resource)}
	case s.Map != nil && s.Map.ItemReader != nil:
		r := s.Map.ItemReader
		return &task{state: s, resource: r.Resource, position: r.ResourcePosition, parsed: asl.ParseResource(r.Resource), reader: true}
	default:
		return nil
	}
}

// retriesOutput tells whether a Task is called again where its Output fails: its Retry
// is the loop.
func retriesOutput(s *asl.State) bool {
	return slices.ContainsFunc(s.Retry, func(r asl.Retrier) bool { return slices.Contains(r.ErrorEquals, asl.ErrorQueryEvaluation) })
}

// retriesFail tells whether a Parallel or a Map runs its flows again after the error of a Fail state
// in them: its Retry is the loop.
func retriesFail(s *asl.State) bool {
	return slices.ContainsFunc(s.Retry, func(r asl.Retrier) bool {
		return r.MaxAttempts > 0 && slices.ContainsFunc(r.ErrorEquals, func(name string) bool { return raisesInside(s, name) })
	})
}

// raisesInside tells whether a Fail state inside of a state ends with an error that the name takes.
func raisesInside(s *asl.State, name string) bool {
	return slices.ContainsFunc(s.Flows(), func(f *asl.Flow) bool {
		return slices.ContainsFunc(f.States, func(inner *asl.State) bool {
			return inner.Fail != nil && takes(name, inner.Fail) || raisesInside(inner, name)
		})
	})
}

// takes tells whether a retrier takes the error of a Fail state by a name.
func takes(name string, f *asl.Fail) bool {
	var raised any
	if f.Error != nil {
		raised = f.Error.Literal
	}
	return name == asl.ErrorAll || name == asl.ErrorTaskFailed && raised != asl.ErrorTimeout || raised == name
}

// result is the shape of what a call that does not wait returns.
func (t *task) result() *catalog.Shape {
	if t.output != nil && t.parsed.Pattern == "" {
		return t.output
	}
	return t.operation.Output
}

// resultAt is where the result has what stands at a place of the operation's answer.
func (t *task) resultAt(at place) place {
	path := at.spell()
	if own := typecheck.ResultPath(t.parsed, path); own != path && t.parsed.Pattern == "" {
		return parsePlace(own)
	}
	return at
}

// unknown says why nobody can know what a Task returns; empty if the models or the
// catalogue do.
func (t *task) unknown() string {
	service, _ := t.parsed.SDK()
	switch {
	case t.reader:
		return "the items"
	case t.parsed.IsFunction(), t.parsed.Service == "lambda" && t.parsed.Action == "invoke",
		service == "lambda" && slices.Contains([]string{"invoke", "invokeAsync"}, t.parsed.Action):
		return "what the Lambda function returns"
	case t.parsed.Service == "activity":
		return "what the worker of the activity returns"
	case t.runsMachine():
		return "the output of the state machine"
	case t.parsed.WaitsForToken():
		return "what comes back with the task token"
	case t.parsed.Service == "":
		return "what " + t.resource + " returns"
	case t.operation == nil && t.output == nil, t.parsed.Pattern != "" && t.parsed.Service != "states":
		return "what " + t.parsed.Service + ":" + t.parsed.Action + t.parsed.Pattern + " returns"
	default:
		return ""
	}
}

// runsMachine tells whether the answer of a call has the output of another state machine, and nobody knows it.
func (t *task) runsMachine() bool {
	return t.looks || t.operation != nil && t.operation.Service.Key == "stepfunctions" && t.operation.Name == "StartSyncExecution" && t.parsed.Pattern == ""
}

// statusCode is the member of an answer that has the code of a response.
const statusCode = "StatusCode"

// sendsRequest tells whether a call sends an HTTP request, whose answer has the code of the response.
func (t *task) sendsRequest() bool {
	calls := []string{"http:invoke", "apigateway:invoke", "eks:call", "eks:runJob"}
	return t.parsed.Pattern == "" && slices.Contains(calls, t.parsed.Service+":"+t.parsed.Action)
}

// skeleton is what an answer that nobody knows may look like.
func (t *task) skeleton() any {
	_, isSDK := t.parsed.SDK()
	switch {
	case t.reader:
		return []any{}
	case t.runsMachine():
		answer := typecheck.Sample{}.Complete(map[string]any{"status": "SUCCEEDED", "output": "{}"}, t.output)
		return SyncResult(t.parsed, answer, t.output)
	case isSDK: // invokes a function: only the integration that AWS made for that parses the Payload
		return map[string]any{statusCode: 200, "Payload": "{}"}
	case t.parsed.Pattern == "" && !t.parsed.Direct && t.parsed.Service == "lambda":
		return map[string]any{statusCode: 200, "Payload": map[string]any{}}
	case t.sendsRequest():
		return map[string]any{statusCode: 200, "ResponseBody": map[string]any{}}
	case t.parsed.Service == "bedrock" && t.parsed.Action == "invokeModel" && t.parsed.Pattern == "":
		return map[string]any{"Body": map[string]any{}, "ContentType": "application/json"}
	default:
		return map[string]any{}
	}
}
