package lint

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/stepfunctions"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// testStateService stands for AWS: it is asked for TestState and nothing else, and
// answers as the engine does, whose TestState is held to recordings of AWS.
type testStateService struct {
	t      *testing.T
	m      *asl.StateMachine
	tested map[string]bool
	// change is what it answers instead.
	change func(state, input string, answer map[string]any)
}

func (s *testStateService) call(ctx context.Context, op *catalog.Operation, input any) (any, error) {
	request := input.(map[string]any)
	state := s.m.State(request["stateName"].(string))
	if state == nil {
		for inner := range s.m.All {
			if inner.Name == request["stateName"] {
				state = inner
			}
		}
	}
	mocked, hasMock := request["mock"].(map[string]any)
	require.Equal(s.t, "TestState", op.Name)
	require.Equal(s.t, state.Task != nil || state.Map != nil || state.Parallel != nil, hasMock, "without a mock AWS does the work of %s", state.Name)
	s.tested[state.Name] = true

	o := sim.TestOptions{State: state.Name, Options: sim.Options{Models: models.Load}}
	if hasMock {
		mode, _ := mocked["fieldValidationMode"].(string)
		o.Mock = &sim.Mock{Result: json.RawMessage(mocked["result"].(string)), Validation: sim.MockValidation(mode)}
	}
	if text, ok := request["variables"].(string); ok {
		require.NoError(s.t, json.Unmarshal([]byte(text), &o.Variables))
	}
	r, err := sim.TestState(ctx, []byte(request["definition"].(string)), []byte(request["input"].(string)), o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", state.Name, err)
	}
	answer := map[string]any{"status": string(r.Status)}
	for name, value := range map[string]string{"error": r.Error, "cause": r.Cause, "nextState": r.Next} {
		if value != "" {
			answer[name] = value
		}
	}
	if s.change != nil {
		s.change(state.Name, request["input"].(string), answer)
	}
	return answer, nil
}

func (s *testStateService) opinion() *awsOpinion {
	return &awsOpinion{client: stepfunctions.New(stepFunctionsModel(s.t), s.call)}
}

const nestedLoop = `{
	"StartAt": "Init", "States": {
		"Init": {"Type": "Pass", "Assign": {"group.$": "$$.Execution.Name"}, "Result": [{"n": 1}, {"n": 2}], "ResultPath": "$.items", "Next": "Each"},
		"Each": {"Type": "Map", "ItemsPath": "$.items", "ResultPath": "$.done", "Next": "Both", "ItemProcessor": {"StartAt": "Query", "States": {
			"Query": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:startQueryExecution",
				"Parameters": {"QueryString.$": "States.Format('SELECT {}', $.n)", "WorkGroup.$": "$group"}, "ResultPath": "$.query", "Next": "Wait"},
			"Wait": {"Type": "Wait", "Seconds": 5, "Next": "Get"},
			"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$.query.QueryExecutionId"},
				"ResultPath": "$.status", "Next": "Done?"},
			"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.status.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Keep"}], "Default": "Wait"},
			"Keep": {"Type": "Pass", "Parameters": {"id.$": "$.query.QueryExecutionId"}, "End": true}}}},
		"Both": {"Type": "Parallel", "ResultSelector": {"first.$": "$[0]"}, "Next": "Tell", "Branches": [
			{"StartAt": "A", "States": {"A": {"Type": "Pass", "Result": "a", "End": true}}},
			{"StartAt": "B", "States": {"B": {"Type": "Succeed"}}}]},
		"Tell": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "tell", "Payload.$": "$.first"}, "End": true}
	}}`

func TestEachStateIsTestedWithItsMock(t *testing.T) {
	t.Parallel()
	const export = `{"TableArn": "arn:aws:dynamodb:eu-west-1:111111111111:table/t", "S3Bucket": "exports"}`
	for _, c := range []struct {
		definition, input string
		untested          []string // by a run that succeeds
	}{
		{nestedLoop, `{}`, []string{}},
		{shipped(t, "dynamodb-export-loop"), export, []string{"Failed", "TimedOut"}},
		{shipped(t, "dynamodb-export-variables"), export, []string{"Failed", "TimedOut"}},
		{shipped(t, "dynamodb-export-retry-task"), export, []string{"Failed", "TimedOut"}},
		{shipped(t, "redshift-data-statement"), `{"Sql": "SELECT 1", "Database": "dev"}`, []string{"CancelStatement", "Failed", "TimedOut"}},
		{shipped(t, "ec2-image"), `{"InstanceId": "i-1", "Name": "n"}`, []string{"Failed", "TimedOut"}},
		// Nobody knows what a function returns: run draws a value that the machine compares with.
		{shipped(t, "lambda-retry"), `{}`, []string{"Failed", "Succeeded", "TimedOut", "UnexpectedStatus"}},
	} {
		m, err := asl.Parse([]byte(c.definition))
		require.NoError(t, err)
		service := &testStateService{t: t, m: m, tested: map[string]bool{}}
		opinion := service.opinion()
		problems, untested, err := opinion.compareStates(t.Context(), m, []byte(c.definition), visitsOf(t, m, c.input))
		require.NoError(t, err)
		require.NoError(t, opinion.failure)
		require.Empty(t, problems, "AWS answers as the engine does")
		require.ElementsMatch(t, c.untested, slices.Collect(maps.Keys(untested)))
		all := 0
		for range m.All {
			all++
		}
		require.Len(t, service.tested, all-len(untested))
	}
}

func visitsOf(t *testing.T, m *asl.StateMachine, input string) []stepfunctions.Visit {
	t.Helper()
	visits, err := simulateVisits(t.Context(), m, []byte(input), asl.Standard)
	require.NoError(t, err)
	return visits
}

func shipped(t *testing.T, name string) string {
	t.Helper()
	text, err := statemachines.Definition(name)
	require.NoError(t, err)
	return string(text)
}

func TestStatesThatAWSTestsOtherwiseAreFound(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(nestedLoop))
	require.NoError(t, err)
	service := &testStateService{t: t, m: m, tested: map[string]bool{}, change: func(state, _ string, answer map[string]any) {
		switch state {
		case "Get":
			answer["status"], answer["error"], answer["cause"] = "FAILED", "States.Runtime", "no such path"
			delete(answer, "nextState")
		case "Done?":
			answer["nextState"] = "Keep"
		}
	}}
	problems, _, err := service.opinion().compareStates(t.Context(), m, []byte(nestedLoop), visitsOf(t, m, `{}`))
	require.NoError(t, err)
	require.Len(t, problems, 2)
	require.Equal(t, `10:4: /States/Each/ItemProcessor/States/Done?: AWS tests this state otherwise: SUCCEEDED, then Keep; expected SUCCEEDED, then Wait`, problems[1].String())
	require.Equal(t, `8:4: /States/Each/ItemProcessor/States/Get: AWS tests this state otherwise: FAILED with States.Runtime (no such path); expected SUCCEEDED, then Done?`,
		problems[0].String())
}

// What AWS does not test it says of one state; the others are tested.
func TestStatesThatAWSRefusesToTest(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(nestedLoop))
	require.NoError(t, err)
	service := &testStateService{t: t, m: m, tested: map[string]bool{}}
	opinion := service.opinion()
	opinion.client = stepfunctions.New(stepFunctionsModel(t), func(ctx context.Context, op *catalog.Operation, input any) (any, error) {
		if input.(map[string]any)["stateName"] == "Each" {
			return nil, &smithy.GenericAPIError{Code: "ValidationException", Message: "no such state"}
		}
		return service.call(ctx, op, input)
	})
	problems, untested, err := opinion.compareStates(t.Context(), m, []byte(nestedLoop), visitsOf(t, m, `{}`))
	require.NoError(t, err)
	require.NoError(t, opinion.failure)
	require.Empty(t, problems)
	require.Equal(t, map[string]string{"Each": "ValidationException: no such state"}, untested)
	require.Contains(t, string(tellUntested(untested)), "AWS does not test the state Each: ValidationException: no such state")
}

// A service that never answers is waited for no longer than said, and an interrupt
// ends the wait.
func TestAWSThatNeverAnswers(t *testing.T) {
	t.Parallel()
	service := stepFunctionsModel(t)
	synctest.Test(t, func(t *testing.T) {
		silent := stepfunctions.New(service, func(ctx context.Context, _ *catalog.Operation, _ any) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		_, err := silent.Validate(t.Context(), []byte(nestedLoop), asl.Standard)
		require.EqualError(t, err, "states:ValidateStateMachineDefinition: no answer within 30s: try again later")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = silent.Validate(ctx, []byte(nestedLoop), asl.Standard)
		require.ErrorIs(t, err, context.Canceled)
	})
}

func stepFunctionsModel(t *testing.T) *catalog.Service {
	t.Helper()
	service, err := models.Load("stepfunctions")
	require.NoError(t, err)
	return service
}

// A state is tested with the variables that it sees: the newest of its own flow, and
// none of those inside of another state.
func TestStatesAreTestedWithTheirVariables(t *testing.T) {
	t.Parallel()
	const definition = `{"StartAt": "A", "QueryLanguage": "JSONata", "States": {
		"A": {"Type": "Pass", "Assign": {"v": 1, "kept": "a"}, "Next": "Both"},
		"Both": {"Type": "Parallel", "Assign": {"v": 2}, "Next": "Z", "Branches": [{"StartAt": "I", "States": {
			"I": {"Type": "Pass", "Assign": {"inner": "{% $v %}"}, "Next": "J"}, "J": {"Type": "Pass", "End": true}}}]},
		"Z": {"Type": "Pass", "Output": "{% $v %}", "End": true}}}`
	m, err := asl.Parse([]byte(definition))
	require.NoError(t, err)
	service := &testStateService{t: t, m: m, tested: map[string]bool{}}
	opinion, sent := service.opinion(), map[string]any{}
	opinion.client = stepfunctions.New(stepFunctionsModel(t), func(ctx context.Context, op *catalog.Operation, input any) (any, error) {
		request := input.(map[string]any)
		sent[request["stateName"].(string)] = request["variables"]
		return service.call(ctx, op, input)
	})
	problems, untested, err := opinion.compareStates(t.Context(), m, []byte(definition), visitsOf(t, m, `{}`))
	require.NoError(t, err)
	require.Empty(t, problems)
	require.Empty(t, untested)
	require.Nil(t, sent["A"])
	require.JSONEq(t, `{"v": 1, "kept": "a"}`, sent["I"].(string))
	require.JSONEq(t, `{"v": 1, "kept": "a", "inner": 1}`, sent["J"].(string))
	require.JSONEq(t, `{"v": 2, "kept": "a"}`, sent["Z"].(string))
}

// Each status of a table is tested, up to the state that its row names.
func TestRowsAreTested(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		definition, input string
		hint              string
	}{
		"nested":    {nestedLoop, `{}`, ""},
		"loop":      {shipped(t, "dynamodb-export-loop"), `{"TableArn": "arn:aws:dynamodb:eu-west-1:111111111111:table/t", "S3Bucket": "exports"}`, ""},
		"variables": {shipped(t, "dynamodb-export-variables"), `{"TableArn": "arn:aws:dynamodb:eu-west-1:111111111111:table/t", "S3Bucket": "exports"}`, ""},
		"image":     {shipped(t, "ec2-image"), `{"InstanceId": "i-1", "Name": "n"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := asl.Parse([]byte(c.definition))
			require.NoError(t, err)
			service := &testStateService{t: t, m: m, tested: map[string]bool{}}
			loops := lint.Loops(m, lint.Options{})
			problems, hint, err := service.opinion().testRows(t.Context(), m, []byte(c.definition), loops, visitsOf(t, m, c.input))
			require.NoError(t, err)
			require.Empty(t, problems, "AWS answers as the engine does")
			require.Equal(t, c.hint, string(hint))
			for _, l := range loops {
				require.True(t, l.Poll == nil || len(l.Rows) == 0 || service.tested[l.Poll.Name], l.Poll)
			}
		})
	}
}

// A status that AWS leads elsewhere than its row is found where AWS does so.
func TestRowsThatAWSTestsOtherwise(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(nestedLoop))
	require.NoError(t, err)
	for _, c := range []struct {
		status, state string
		change        map[string]any
		want          string
	}{
		{
			"CANCELLED", "Done?",
			map[string]any{"nextState": "Keep"},
			`10:4: /States/Each/ItemProcessor/States/Done?: AWS tests status CANCELLED otherwise: here it leads to "Keep"; by the table of the loop it leads to "Wait"`,
		},
		{
			"SUCCEEDED", "Done?",
			map[string]any{"nextState": "Query"},
			`10:4: /States/Each/ItemProcessor/States/Done?: AWS tests status SUCCEEDED otherwise: here it leads to "Query"; by the table of the loop it leads to "Keep"`,
		},
		{
			trial.UnknownValue, "Done?",
			map[string]any{"nextState": nil, "status": "FAILED", "error": "States.Runtime", "cause": "so"},
			`10:4: /States/Each/ItemProcessor/States/Done?: AWS tests any other status otherwise: here it FAILED with States.Runtime (so); by the table of the loop it leads to "Wait"`,
		},
	} {
		service := &testStateService{t: t, m: m, tested: map[string]bool{}, change: func(state, input string, answer map[string]any) {
			if state == c.state && strings.Contains(input, `"`+c.status+`"`) {
				maps.Copy(answer, c.change)
				if c.change["nextState"] == nil {
					delete(answer, "nextState")
				}
			}
		}}
		problems, _, err := service.opinion().testRows(t.Context(), m, []byte(nestedLoop), lint.Loops(m, lint.Options{}), visitsOf(t, m, `{}`))
		require.NoError(t, err)
		require.Len(t, problems, 1)
		require.Equal(t, c.want, problems[0].String())
	}
}

// What AWS refuses to test, and what nobody knows an answer of, is no finding.
func TestRowsThatAreNotTested(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(nestedLoop))
	require.NoError(t, err)
	service := &testStateService{t: t, m: m, tested: map[string]bool{}}
	opinion := service.opinion()
	opinion.client = stepfunctions.New(stepFunctionsModel(t), func(ctx context.Context, op *catalog.Operation, input any) (any, error) {
		if strings.Contains(fmt.Sprint(input.(map[string]any)["input"]), `"CANCELLED"`) {
			return nil, &smithy.GenericAPIError{Code: "ValidationException", Message: "no such state"}
		}
		return service.call(ctx, op, input)
	})
	loops := lint.Loops(m, lint.Options{})
	problems, hint, err := opinion.testRows(t.Context(), m, []byte(nestedLoop), loops, visitsOf(t, m, `{}`))
	require.NoError(t, err)
	require.Empty(t, problems)
	require.Equal(t, "\nAWS did not test these statuses of Get to their end: CANCELLED", string(hint))
	_, hint, err = opinion.testRows(t.Context(), m, []byte(nestedLoop), loops, nil)
	require.NoError(t, err)
	require.Equal(t, "\nAWS did not test the statuses of Get, which a simulated run does not get through", string(hint))
}
