package server

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

type testStateInput struct {
	Definition         string             `json:"definition"`
	RoleARN            string             `json:"roleArn"`
	Input              *string            `json:"input"`
	InspectionLevel    string             `json:"inspectionLevel"`
	RevealSecrets      bool               `json:"revealSecrets"`
	Variables          *string            `json:"variables"`
	StateName          string             `json:"stateName"`
	Mock               *mockInput         `json:"mock"`
	Context            *string            `json:"context"`
	StateConfiguration stateConfiguration `json:"stateConfiguration"`
}

type mockInput struct {
	Result              *string            `json:"result"`
	ErrorOutput         *mockError         `json:"errorOutput"`
	FieldValidationMode sim.MockValidation `json:"fieldValidationMode"`
}

type mockError struct {
	Error string `json:"error"`
	Cause string `json:"cause"`
}

type stateConfiguration struct {
	RetrierRetryCount        int    `json:"retrierRetryCount"`
	ErrorCausedByState       string `json:"errorCausedByState"`
	MapIterationFailureCount *int   `json:"mapIterationFailureCount"`
	MapItemReaderData        string `json:"mapItemReaderData"`
}

type testStateOutput struct {
	Output         *string         `json:"output,omitempty"`
	Error          string          `json:"error,omitempty"`
	Cause          string          `json:"cause,omitempty"`
	InspectionData *inspectionData `json:"inspectionData,omitempty"`
	NextState      string          `json:"nextState,omitempty"`
	Status         sim.TestStatus  `json:"status"`
}

// inspectionData is the data on its way through the state. Most of it is the text of a
// JSON value.
type inspectionData struct {
	Input                      string        `json:"input,omitempty"`
	AfterInputPath             string        `json:"afterInputPath,omitempty"`
	AfterParameters            string        `json:"afterParameters,omitempty"`
	AfterArguments             string        `json:"afterArguments,omitempty"`
	AfterItemsPath             string        `json:"afterItemsPath,omitempty"`
	AfterItemsPointer          string        `json:"afterItemsPointer,omitempty"`
	AfterItemSelector          string        `json:"afterItemSelector,omitempty"`
	AfterItemBatcher           string        `json:"afterItemBatcher,omitempty"`
	Result                     string        `json:"result,omitempty"`
	AfterResultSelector        string        `json:"afterResultSelector,omitempty"`
	AfterResultPath            string        `json:"afterResultPath,omitempty"`
	Variables                  string        `json:"variables,omitempty"`
	MaxConcurrency             *int          `json:"maxConcurrency,omitempty"`
	ToleratedFailureCount      *int          `json:"toleratedFailureCount,omitempty"`
	ToleratedFailurePercentage *float64      `json:"toleratedFailurePercentage,omitempty"`
	ErrorDetails               *errorDetails `json:"errorDetails,omitempty"`
}

type errorDetails struct {
	CatchIndex                  *int `json:"catchIndex,omitempty"`
	RetryIndex                  *int `json:"retryIndex,omitempty"`
	RetryBackoffIntervalSeconds *int `json:"retryBackoffIntervalSeconds,omitempty"`
}

// testTime is how long AWS lets a tested state take.
const testTime = 5 * time.Minute

func testState(r *request, in *testStateInput) (*testStateOutput, error) {
	input := []byte("{}")
	if in.Input != nil {
		input = []byte(*in.Input)
	}
	if m := findJSONMistake(input); m.message != "" {
		return nil, refuse("InvalidExecutionInput", "Invalid State Machine Execution Input: '%s'", m.message)
	}
	o, err := in.options(r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.ctx, testTime)
	defer cancel()
	result, err := sim.TestState(ctx, []byte(in.Definition), input, o)
	if err != nil {
		return nil, refuseTest(in, err)
	}
	out := &testStateOutput{Error: result.Error, Cause: result.Cause, NextState: result.Next, Status: result.Status}
	if result.Output != nil {
		text := string(result.Output)
		out.Output = &text
	}
	if in.InspectionLevel == "DEBUG" || in.InspectionLevel == "TRACE" {
		if in.InspectionLevel == "DEBUG" {
			delete(result.Inspection, "variables")
		}
		out.InspectionData, err = readInspection(result.Inspection)
	}
	return out, err
}

// options are those of the test that a request asks for.
func (in *testStateInput) options(r *request) (sim.TestOptions, error) {
	o := sim.TestOptions{
		State: in.StateName, RetrierRetryCount: in.StateConfiguration.RetrierRetryCount,
		MapIterationFailureCount: in.StateConfiguration.MapIterationFailureCount, ItemReaderData: []byte(in.StateConfiguration.MapItemReaderData),
	}
	o.Options = sim.Options{
		Clock: sim.NewVirtualClock(r.now()), Role: in.RoleARN, Region: r.region, Account: r.accountID, Models: r.server.models, Lenient: true,
	}
	if in.Variables != nil && json.Unmarshal([]byte(*in.Variables), &o.Variables) != nil {
		return o, refuse(validation, "Variables must be a valid JSON object")
	}
	if in.Context != nil && (json.Unmarshal([]byte(*in.Context), &o.Context) != nil || o.Context == nil) {
		return o, refuse(validation, "Invalid Context object provided: Context must be a valid JSON object")
	}
	if in.Mock == nil {
		return o, in.addHandlers(r, &o.Options)
	}
	if in.RevealSecrets {
		return o, refuse(validation, "RevealSecrets is not supported when a mock is specified.")
	}
	o.Mock = &sim.Mock{Validation: in.Mock.FieldValidationMode}
	if in.Mock.Result != nil {
		o.Mock.Result = json.RawMessage(*in.Mock.Result)
	}
	if e := in.Mock.ErrorOutput; e != nil {
		o.Mock.Error = &sim.TaskError{Name: e.Error, Cause: e.Cause}
	}
	return o, nil
}

// addHandlers lets the Task of a test without a mock do its work, as one of an execution.
// What is wrong in the definition, the test says.
func (in *testStateInput) addHandlers(r *request, o *sim.Options) error {
	var m *asl.StateMachine
	var err error
	if in.StateName == "" {
		m, err = asl.ParseState([]byte(in.Definition))
	} else {
		m, err = asl.Parse([]byte(in.Definition))
	}
	if err != nil {
		return nil
	}
	var task string
	for s := range m.All {
		if s.Task == nil || in.StateName != "" && s.Name != in.StateName {
			continue
		}
		task = s.Task.Resource
		switch resource := asl.ParseResource(task); {
		case resource.Pattern != "":
			return refuse(validation, "TestState does not support the '%s' service integration pattern when a mock is not specified.", resource.Pattern)
		case resource.Service == "activity":
			return refuse(validation, "TestState does not support activities when a mock is not specified.")
		}
	}
	if r.server.prepare != nil {
		if err := r.server.prepare(StartInfo{Machine: m, Account: r.accountID, Region: r.region}, o); err != nil {
			return refuse(validation, "%s", err)
		}
	}
	r.server.addNested(&revision{parsed: m, nested: findNested(m)}, o)
	if task != "" && in.RoleARN != "" && o.Handler == nil && o.Handlers[task] == nil && len(o.StateHandlers) == 0 {
		o.Handler = failUnanswered
	}
	o.Handler = failTask(o.Handler)
	o.Handlers, o.StateHandlers = maps.Clone(o.Handlers), maps.Clone(o.StateHandlers) // which may be shared
	for _, handlers := range []map[string]sim.Handler{o.Handlers, o.StateHandlers} {
		for name, h := range handlers {
			handlers[name] = failTask(h)
		}
	}
	return nil
}

// failTask makes every error of a handler the failure of its Task, as it is in an execution.
func failTask(h sim.Handler) sim.Handler {
	if h == nil {
		return nil
	}
	return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
		reply, err := h(ctx, call)
		if _, isTask := errors.AsType[*sim.TaskError](err); err == nil || isTask || ctx.Err() != nil {
			return reply, err
		}
		cause := err.Error()
		return reply, &sim.TaskError{Name: asl.ErrorTaskFailed, Cause: strings.ToValidUTF8(cause[:min(len(cause), asl.MaxCauseLength)], "")}
	}
}

// failUnanswered fails a Task that nothing answers, as AWS fails one whose function does not
// exist: the test tells what Retry and Catch make of it.
func failUnanswered(_ context.Context, call sim.Call) (sim.Reply, error) {
	return sim.Reply{}, &sim.TaskError{Name: asl.ErrorTaskFailed, Cause: "Nothing here answers " + call.Resource + ": pass a mock."}
}

// refuseTest is what the client is told of a test that cannot be.
func refuseTest(in *testStateInput, err error) error {
	if t, ok := errors.AsType[*sim.TestStateError](err); ok {
		return refuse(t.Code, "%s", t.Message)
	}
	if problems, ok := errors.AsType[diag.Problems](err); ok {
		text := in.Definition
		if in.StateName == "" && findJSONMistake([]byte(text)).message == "" {
			text = `{"States":{"` + asl.LoneState + `":` + text + `}}` // where the problems are
		}
		return refuseDefinition(text, problems)
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return refuse(validation, "%s", err)
}

// readInspection gives the data the form of the API.
func readInspection(data map[string]json.RawMessage) (*inspectionData, error) {
	members := map[string]any{}
	for name, text := range data {
		switch name {
		case "maxConcurrency", "toleratedFailureCount", "toleratedFailurePercentage", "errorDetails":
			members[name] = text
		default:
			members[name] = string(text)
		}
	}
	text, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	out := &inspectionData{}
	return out, json.Unmarshal(text, out)
}
