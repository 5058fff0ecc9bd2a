package compile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// noLambda are the strategies that call the service from the state machine.
var noLambda = []compile.Strategy{compile.Loop, compile.Variables, compile.RetryTask}

// sdkError is an error as an SDK integration reports it.
func sdkError(name, message string, status int) any {
	service, _, _ := strings.Cut(name, ".")
	return &sim.TaskError{Name: name, Cause: fmt.Sprintf("%s (Service: %s, Status Code: %d, Request ID: 0A1B) (SDK Attempt Count: 1)", message, service, status)}
}

// notAnswered is a call that its time limit ends.
var notAnswered any = &sim.TaskError{Name: "States.Timeout"}

// wrongRole is a role that Step Functions cannot assume.
var wrongRole any = &sim.TaskError{Name: "States.TaskFailed", Cause: "The role arn:aws:iam::123456789012:role/poller is not authorized to assume"}

// inputOf is an input of the operation that has what it requires.
func inputOf(t *testing.T, op *catalog.Operation) []byte {
	t.Helper()
	input := map[string]any{}
	for _, m := range op.Input.Members {
		if m.Required {
			input[javasdk.MemberName(m.Name)] = "the " + m.Name
		}
	}
	text, err := json.Marshal(input)
	require.NoError(t, err)
	return text
}

// polled plays a list of answers to a compiled machine, the last one again and
// again, and returns the result with the number of calls.
func polled(t *testing.T, m *compile.Compiled, op *catalog.Operation, answers []any) (*sim.Result, int) {
	t.Helper()
	calls := 0
	handler := func(context.Context, sim.Call) (sim.Reply, error) {
		answer := answers[min(calls, len(answers)-1)]
		calls++
		if failed, ok := answer.(*sim.TaskError); ok {
			return sim.Reply{}, failed
		}
		return sim.Reply{Output: answer}, nil
	}
	resource := "arn:aws:states:::aws-sdk:" + op.Service.ARNName + ":" + strings.ToLower(op.Name[:1]) + op.Name[1:]
	result, err := sim.Run(t.Context(), m.Machine, inputOf(t, op), sim.Options{Handlers: map[string]sim.Handler{resource: handler}})
	require.NoError(t, err)
	return result, calls
}

// ended is the status and the reason of a finished poller.
func ended(t *testing.T, r *sim.Result) (status, reason string) {
	t.Helper()
	switch r.Error {
	case "JobPoller.Failed":
		return "FAILED", r.Cause
	case "JobPoller.TimedOut":
		return "TIMED_OUT", r.Cause
	default:
		require.Equal(t, sim.StatusSucceeded, r.Status, "%s: %s", r.Error, r.Cause)
		return "SUCCEEDED", string(r.Output)
	}
}

func operation(t *testing.T, service, name string) *catalog.Operation {
	t.Helper()
	s, err := catalog.AWS().Service(service)
	require.NoError(t, err)
	require.Contains(t, s.Operations, name)
	return s.Operations[name]
}

func waiter(t *testing.T, service, name string) *pollcore.Waiter {
	t.Helper()
	e, err := catalog.Lookup(service, name)
	require.NoError(t, err)
	return e.Waiter
}

// What becomes of errors, in each strategy that sees them.
func TestErrors(t *testing.T) {
	t.Parallel()
	const forever = 10 * time.Minute
	all := noLambda
	looping := []compile.Strategy{compile.Loop, compile.Variables}
	jsonata := []compile.Strategy{compile.Variables, compile.RetryTask}
	found := map[string]any{}
	active := map[string]any{"Table": map[string]any{"TableStatus": "ACTIVE"}}
	creating := map[string]any{"Table": map[string]any{"TableStatus": "CREATING"}}
	deleting := map[string]any{"Stacks": []any{map[string]any{"StackStatus": "DELETE_IN_PROGRESS"}}}

	s3, dynamo := "S3.S3Exception", "DynamoDb.DynamoDbException"
	dynamoRefused := sdkError(dynamo, "User is not authorized", 400)
	tableGone := sdkError("DynamoDb.ResourceNotFoundException", "Requested resource not found", 400)
	anyError := func(v func(pollcore.Matcher) pollcore.Option) *pollcore.Waiter {
		return pollcore.MustNew("Any", pollcore.Succeed(pollcore.Output("Table.TableStatus").Is("ACTIVE")), v(pollcore.AnyError()), pollcore.Delay(20*time.Second, 20*time.Second))
	}
	table := []struct {
		name          string
		strategies    []compile.Strategy
		service, op   string
		waiter        *pollcore.Waiter
		patterns      map[string]string
		answers       []any
		status        string
		reason        string
		calls, atMost int // atMost 0: exactly calls
	}{
		// Names of the model.
		{"declared, goes on", all, "dynamodb", "DescribeTable", waiter(t, "dynamodb", "TableExists"), nil, []any{tableGone, tableGone, active}, "SUCCEEDED", "acceptor 1 of 7", 3, 0},
		{"declared, for ever", all, "dynamodb", "DescribeTable", waiter(t, "dynamodb", "TableExists"), nil, []any{tableGone}, "TIMED_OUT", "not finished after", 3, 40},
		{"declared, success", all, "dynamodb", "DescribeTable", waiter(t, "dynamodb", "TableNotExists"), nil, []any{active, tableGone}, "SUCCEEDED", "acceptor 1 of 1", 2, 0},
		{"declared, failure", all, "dynamodb", "DescribeTable", pollcore.MustNew("W", pollcore.Succeed(pollcore.Output("Table.TableStatus").Is("ACTIVE")), pollcore.Fail(pollcore.ErrorType("com.amazonaws.dynamodb#ResourceNotFoundException")), pollcore.Delay(2*time.Second, 9*time.Second)), nil, []any{creating, tableGone}, "FAILED", "acceptor 2 of 2", 2, 0},
		{"the code of a renamed shape", jsonata, "elb", "DescribeInstanceHealth", waiter(t, "elb", "InstanceDeregistered"), nil, []any{sdkError("ElasticLoadBalancing.InvalidInstanceException", "Could not find EC2 instance", 400)}, "SUCCEEDED", "InvalidInstance", 1, 0},

		// Faults are tried again in place, and say nothing of the job.
		{"fault of the model", all, "dynamodb", "DescribeTable", waiter(t, "dynamodb", "TableExists"), nil, []any{sdkError("DynamoDb.InternalServerErrorException", "oops", 500), active}, "SUCCEEDED", "acceptor 1 of 7", 2, 0},
		{"throttled without a name", all, "dynamodb", "DescribeTable", waiter(t, "dynamodb", "TableExists"), nil, []any{sdkError(dynamo, "Rate exceeded", 400), active}, "SUCCEEDED", "acceptor 1 of 7", 2, 0},
		{"network", all, "dynamodb", "DescribeTable", waiter(t, "dynamodb", "TableExists"), nil, []any{sdkError("DynamoDb.SdkClientException", "reset", 0), active}, "SUCCEEDED", "acceptor 1 of 7", 2, 0},
		{"refused", all, "dynamodb", "DescribeTable", waiter(t, "dynamodb", "TableExists"), nil, []any{dynamoRefused}, "FAILED", "unexpected error: DynamoDb.DynamoDbException: User is not authorized", 4, 0},
		{"not answered", all, "dynamodb", "DescribeTable", waiter(t, "dynamodb", "TableExists"), nil, []any{notAnswered}, "FAILED", "unexpected error: States.Timeout", 1, 0},
		{"wrong role", all, "dynamodb", "DescribeTable", waiter(t, "dynamodb", "TableExists"), nil, []any{wrongRole}, "FAILED", "not authorized to assume", 1, 0},

		// HTTP statuses.
		{"status, success", all, "s3", "HeadBucket", waiter(t, "s3", "BucketExists"), nil, []any{sdkError(s3, "null", 403)}, "SUCCEEDED", "Forbidden", 1, 0},
		{"another status, success", all, "s3", "HeadBucket", waiter(t, "s3", "BucketExists"), nil, []any{sdkError(s3, "null", 301)}, "SUCCEEDED", "MovedPermanently", 1, 0},
		{"unknown status", all, "s3", "HeadBucket", waiter(t, "s3", "BucketExists"), nil, []any{sdkError(s3, "null", 400)}, "FAILED", "unexpected error: S3.S3Exception", 1, 0},
		{"status with a name, goes on", all, "s3", "HeadBucket", waiter(t, "s3", "BucketExists"), nil, []any{sdkError("S3.NoSuchBucketException", "gone", 404), found}, "SUCCEEDED", "acceptor 1 of 4", 2, 0},
		{"status with a name, success", all, "s3", "HeadBucket", waiter(t, "s3", "BucketNotExists"), nil, []any{found, sdkError("S3.NoSuchBucketException", "gone", 404)}, "SUCCEEDED", "NotFound", 2, 0},
		{"status with a name that is not sure", all, "s3", "HeadObject", waiter(t, "s3", "ObjectNotExists"), nil, []any{sdkError("S3.NoSuchKeyException", "gone", 404)}, "SUCCEEDED", "NotFound", 1, 0},
		{"status without that name", all, "s3", "HeadObject", waiter(t, "s3", "ObjectNotExists"), nil, []any{sdkError(s3, "null", 404)}, "SUCCEEDED", "NotFound", 1, 0},
		{"status, goes on", looping, "s3", "HeadObject", waiter(t, "s3", "ObjectExists"), nil, []any{sdkError(s3, "null", 404), sdkError("S3.NoSuchKeyException", "gone", 404), found}, "SUCCEEDED", "acceptor 1 of 2", 3, 0},
		{"status, for ever", looping, "s3", "HeadObject", waiter(t, "s3", "ObjectExists"), nil, []any{sdkError(s3, "null", 404)}, "TIMED_OUT", "not finished after", 3, 130},
		{"fault with the name of a status", looping, "s3", "HeadObject", waiter(t, "s3", "ObjectExists"), nil, []any{sdkError(s3, "Please reduce your request rate", 503), found}, "SUCCEEDED", "acceptor 1 of 2", 2, 0},
		{"a message that looks like a status", looping, "s3", "HeadObject", waiter(t, "s3", "ObjectExists"), nil, []any{sdkError(s3, "404", 403)}, "FAILED", "unexpected error", 1, 0},

		// Patterns of Causes.
		{
			"pattern, success", jsonata, "cloudformation", "DescribeStacks", waiter(t, "cloudformation", "StackDeleteComplete"),
			compile.CausePatternsOf(operation(t, "cloudformation", "DescribeStacks")),
			[]any{deleting, sdkError("CloudFormation.CloudFormationException", "Stack with id orders does not exist", 400)},
			"SUCCEEDED", "ValidationError", 2, 0,
		},
		{
			"pattern that does not match", jsonata, "cloudformation", "DescribeStacks", waiter(t, "cloudformation", "StackDeleteComplete"),
			compile.CausePatternsOf(operation(t, "cloudformation", "DescribeStacks")),
			[]any{sdkError("CloudFormation.CloudFormationException", "does not exist, Stack with id orders", 400)},
			"FAILED", "unexpected error: CloudFormation.CloudFormationException", 1, 0,
		},
		{
			"pattern, goes on", looping, "cloudformation", "DescribeStacks", waiter(t, "cloudformation", "StackExists"),
			map[string]string{"ValidationError": "Stack with id * does not exist"},
			[]any{sdkError("CloudFormation.CloudFormationException", "Stack with id orders does not exist", 400), sdkError("CloudFormation.CloudFormationException", "Rate exceeded", 400), found},
			"SUCCEEDED", "acceptor 1 of 2", 3, 0,
		},
		{
			"asterisks and backslashes are literal", looping, "cloudformation", "DescribeStacks", waiter(t, "cloudformation", "StackExists"),
			map[string]string{"ValidationError": `"*\**\\`},
			[]any{sdkError("CloudFormation.CloudFormationException", `"a*b\`, 400), sdkError("CloudFormation.CloudFormationException", `"ab\`, 400)},
			"FAILED", "unexpected error", 2, 0,
		},

		// A code that is not shown, and whose verdict is that of all others.
		{
			"code of a failure", all, "sagemaker", "DescribeTrainingJob", waiter(t, "sagemaker", "TrainingJobCompletedOrStopped"), nil,
			[]any{sdkError("SageMaker.SageMakerException", "Requested resource not found", 400)},
			"FAILED", `error ValidationException (acceptor 4 of 5), or an unexpected error: `, 4, 0,
		},

		// Any error of the service, but of nobody else.
		{"any error, success", all, "dynamodb", "DescribeTable", anyError(pollcore.Succeed), nil, []any{creating, dynamoRefused}, "SUCCEEDED", "acceptor 2 of 2", 2, 0},
		{"any error, success by a name", all, "dynamodb", "DescribeTable", anyError(pollcore.Succeed), nil, []any{tableGone}, "SUCCEEDED", "acceptor 2 of 2", 1, 0},
		{"any error, failure", all, "dynamodb", "DescribeTable", anyError(pollcore.Fail), nil, []any{dynamoRefused}, "FAILED", "acceptor 2 of 2", 1, 0},
		{"any error, goes on", looping, "dynamodb", "DescribeTable", anyError(pollcore.Again), nil, []any{dynamoRefused, tableGone, active}, "SUCCEEDED", "acceptor 1 of 2", 3, 0},
		{"any error, wrong role", all, "dynamodb", "DescribeTable", anyError(pollcore.Succeed), nil, []any{wrongRole}, "FAILED", "not authorized to assume", 1, 0},
		{"any error, wrong role, goes on", looping, "dynamodb", "DescribeTable", anyError(pollcore.Again), nil, []any{wrongRole}, "FAILED", "not authorized to assume", 1, 0},
		{"any error, not answered", all, "dynamodb", "DescribeTable", anyError(pollcore.Succeed), nil, []any{notAnswered}, "FAILED", "States.Timeout", 1, 0},
		{
			"the first acceptor decides", all, "dynamodb", "DescribeTable",
			pollcore.MustNew("W", pollcore.Fail(pollcore.ErrorType("ResourceNotFoundException")), pollcore.Succeed(pollcore.AnyError()), pollcore.Fail(pollcore.ErrorType("InternalServerError")), pollcore.Succeed(pollcore.AnyResponse())),
			nil,
			[]any{tableGone},
			"FAILED", "acceptor 1 of 4", 1, 0,
		},
		{
			"one behind any error decides nothing", all, "dynamodb", "DescribeTable",
			pollcore.MustNew("W", pollcore.Succeed(pollcore.AnyError()), pollcore.Fail(pollcore.ErrorType("ResourceNotFoundException")), pollcore.Succeed(pollcore.AnyResponse())),
			nil,
			[]any{tableGone},
			"SUCCEEDED", "acceptor 1 of 3", 1, 0,
		},
	}
	for _, tt := range table {
		for _, strategy := range tt.strategies {
			t.Run(tt.name+"/"+string(strategy), func(t *testing.T) {
				t.Parallel()
				op := operation(t, tt.service, tt.op)
				call := compile.Call{Operation: op}
				if tt.op == "DescribeStacks" { // which requires nothing
					call.Arguments = map[string]any{"StackName": "orders"}
				}
				m, err := compile.Compile(tt.waiter, call, compile.Options{
					Strategy: strategy, MaxWait: forever, CausePatterns: tt.patterns,
				})
				require.NoError(t, err)
				result, calls := polled(t, m, op, tt.answers)
				status, reason := ended(t, result)
				require.Equal(t, tt.status, status, reason)
				require.Contains(t, strings.ReplaceAll(reason, `\"`, `"`), tt.reason)
				if tt.atMost == 0 {
					require.Equal(t, tt.calls, calls)
				} else {
					require.GreaterOrEqual(t, calls, tt.calls)
					require.LessOrEqual(t, calls, tt.atMost)
				}
			})
		}
	}
}

// A machine without CausePatterns is refused with all codes that need one, and
// only where they matter.
func TestUnmodeledErrors(t *testing.T) {
	t.Parallel()
	gone, changed := pollcore.ErrorType("Stack.Gone"), pollcore.ErrorType("a.b#Stack.Changed")
	success := pollcore.Succeed(pollcore.AnyResponse())
	for name, tt := range map[string]struct {
		options  []pollcore.Option
		patterns map[string]string
		want     []string
	}{
		"success":                           {[]pollcore.Option{success, pollcore.Succeed(gone)}, nil, []string{"Stack.Gone"}},
		"retry":                             {[]pollcore.Option{success, pollcore.Again(gone)}, nil, []string{"Stack.Gone"}},
		"failure":                           {[]pollcore.Option{success, pollcore.Fail(gone)}, nil, nil},
		"all, in their order":               {[]pollcore.Option{success, pollcore.Fail(changed), pollcore.Again(gone), pollcore.Succeed(gone)}, nil, []string{"Stack.Changed", "Stack.Gone"}},
		"failure behind them":               {[]pollcore.Option{success, pollcore.Again(gone), pollcore.Fail(changed)}, nil, []string{"Stack.Gone"}},
		"failure before any error":          {[]pollcore.Option{success, pollcore.Fail(gone), pollcore.Again(pollcore.AnyError())}, nil, []string{"Stack.Gone"}},
		"failure before any error, failure": {[]pollcore.Option{success, pollcore.Fail(gone), pollcore.Fail(pollcore.AnyError())}, nil, nil},
		"failure before a pattern":          {[]pollcore.Option{success, pollcore.Fail(changed), pollcore.Again(gone)}, map[string]string{"Stack.Gone": "gone"}, []string{"Stack.Changed"}},
		"patterns for all":                  {[]pollcore.Option{success, pollcore.Fail(changed), pollcore.Again(gone)}, map[string]string{"Stack.Gone": "gone", "Stack.Changed": "changed"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := compile.Call{Operation: operation(t, "cloudformation", "DescribeStacks")}
			_, err := compile.Compile(pollcore.MustNew("W", tt.options...), call, compile.Options{
				Strategy: compile.Variables, MaxWait: time.Minute, CausePatterns: tt.patterns,
			})
			if tt.want == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, compile.ErrNotCompiled)
			var refused *compile.NotCompiledError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, tt.want, refused.Unmodeled)
			require.Contains(t, err.Error(), "CloudFormation.CloudFormationException")
		})
	}
}

func TestErrorsRefused(t *testing.T) {
	t.Parallel()
	exists := pollcore.MustNew("W", pollcore.Succeed(pollcore.AnyResponse()), pollcore.Again(pollcore.ErrorType("ValidationError")))
	for name, tt := range map[string]struct {
		strategy    compile.Strategy
		service, op string
		waiter      *pollcore.Waiter
		patterns    map[string]string
		want        string
	}{
		"status in a Retry block":    {compile.RetryTask, "s3", "HeadObject", waiter(t, "s3", "ObjectExists"), nil, "a Retry block cannot read a Cause"},
		"pattern in a Retry block":   {compile.RetryTask, "cloudformation", "DescribeStacks", exists, map[string]string{"ValidationError": "x"}, "a Retry block cannot read a Cause"},
		"any error in a Retry block": {compile.RetryTask, "s3", "HeadObject", pollcore.MustNew("W", pollcore.Succeed(pollcore.AnyResponse()), pollcore.Again(pollcore.AnyError())), nil, "a Retry block cannot read a Cause"},
		"pattern of nothing":         {compile.Variables, "cloudformation", "DescribeStacks", exists, map[string]string{"ValidationError": "x", "Other": "x"}, "no acceptor names the error Other"},
		"pattern of a name":          {compile.Variables, "dynamodb", "DescribeTable", waiter(t, "dynamodb", "TableExists"), map[string]string{"ResourceNotFoundException": "x"}, "needs no pattern of a Cause"},
		"pattern of a status":        {compile.Loop, "s3", "HeadObject", waiter(t, "s3", "ObjectExists"), map[string]string{"NotFound": "x"}, "needs no pattern of a Cause"},
		"pattern of all":             {compile.Variables, "cloudformation", "DescribeStacks", exists, map[string]string{"ValidationError": "**"}, `the pattern "**" is in every text`},
		"pattern of a lone \\":       {compile.Loop, "cloudformation", "DescribeStacks", exists, map[string]string{"ValidationError": `a\b`}, `write \\ for a backslash`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := compile.Compile(tt.waiter, compile.Call{Operation: operation(t, tt.service, tt.op)}, compile.Options{
				Strategy: tt.strategy, MaxWait: time.Minute, CausePatterns: tt.patterns,
			})
			require.ErrorIs(t, err, compile.ErrNotCompiled)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// A job is not started twice: without a token only a throttled start is made
// again.
func TestStartIsRetriedAsFarAsItIsSafe(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		service, job string
		want         []string
	}{
		"token":    {"dynamodb", "ExportTableToPointInTime", []string{"DynamoDb.InternalServerErrorException", "DynamoDb.SdkClientException", "DynamoDb.DynamoDbException"}},
		"no token": {"rekognition", "StartLabelDetection", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := catalog.Lookup(tt.service, tt.job)
			require.NoError(t, err)
			for _, strategy := range noLambda {
				call := compile.CallOf(e)
				if tt.want == nil {
					call.Start.Token = ""
				}
				m, err := compile.Compile(e.Waiter, call, compile.Options{Strategy: strategy, MaxWait: time.Hour})
				require.NoError(t, err)
				start := m.Machine.State(tt.job)
				require.NotNil(t, start)
				var names []string
				for _, r := range start.Retry {
					names = append(names, r.ErrorEquals...)
				}
				if tt.want != nil {
					require.Subset(t, names, tt.want)
				} else {
					require.Equal(t, []string{"Rekognition.LimitExceededException", "Rekognition.ProvisionedThroughputExceededException", "Rekognition.ThrottlingException"}, slices.Sorted(slices.Values(names)))
				}
			}
		})
	}
}

// Polls that go through CheckError are in the report, and a fragment has the
// state under its prefix.
func TestErrorsAreInTheReport(t *testing.T) {
	t.Parallel()
	op := operation(t, "s3", "HeadObject")
	for _, strategy := range []compile.Strategy{compile.Loop, compile.Variables} {
		m, err := compile.Compile(waiter(t, "s3", "ObjectExists"), compile.Call{Operation: op}, compile.Options{
			Strategy: strategy, MaxWait: 10 * time.Minute, Prefix: "Orders", MaxDelay: 5 * time.Second,
		})
		require.NoError(t, err)
		result, calls := polled(t, m, op, []any{sdkError("S3.S3Exception", "null", 404)})
		require.Equal(t, "JobPoller.TimedOut", result.Error, result.Cause)
		require.Positive(t, result.Calls["OrdersHeadObject"])
		require.Equal(t, 4, m.Report().TransitionsPerPoll)
		require.Equal(t, 11, m.Report().EventsPerPoll)
		require.InDelta(t, m.Report().Worst.Polls, float64(calls), 2)
		require.LessOrEqual(t, float64(result.Transitions), m.Report().Worst.Transitions)
		require.LessOrEqual(t, float64(len(result.Events)), m.Report().Worst.Events)
		require.Less(t, m.Report().Worst.Events-float64(len(result.Events)), 60.0, "the bound is near")
	}
}

// Where the Retry block is the loop, a retrier has its attempts for all polls: a
// call in 20 that is throttled does not end a wait of a day, and a service that is
// away does.
func TestThrottledNowAndThen(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("athena", "StartQueryExecution")
	require.NoError(t, err)
	o := compile.Options{MaxWait: 24 * time.Hour, MinDelay: 2 * time.Minute, MaxDelay: 2 * time.Minute}
	status := func(state string) any {
		return map[string]any{"QueryExecution": map[string]any{"Status": map[string]any{"State": state}}}
	}
	calls := 0
	handlers := func(throttled string, ends int) map[string]sim.Handler {
		calls = 0
		answer := func(running, done any, goOn *sim.TaskError) sim.Handler {
			return func(_ context.Context, call sim.Call) (sim.Reply, error) {
				if strings.HasSuffix(call.State, "RunJob") {
					return sim.Reply{Output: running}, nil
				}
				calls++
				switch {
				case calls%20 == 0 || ends == 0:
					return sim.Reply{}, &sim.TaskError{Name: throttled, Cause: "Rate exceeded (Service: Athena, Status Code: 400, Request ID: 1)"}
				case calls > ends:
					return sim.Reply{Output: done}, nil
				case goOn != nil:
					return sim.Reply{}, goOn
				default:
					return sim.Reply{Output: running}, nil
				}
			}
		}
		function := func(status string) any {
			return map[string]any{"Payload": map[string]any{"status": status, "waitSeconds": 120}}
		}
		return map[string]sim.Handler{
			"arn:aws:states:::aws-sdk:athena:getQueryExecution": answer(status("RUNNING"), status("SUCCEEDED"), nil),
			"arn:aws:states:::lambda:invoke":                    answer(function("RUNNING"), function("SUCCEEDED"), &sim.TaskError{Name: "JobPoller.Running"}),
		}
	}
	for _, c := range []struct {
		strategy compile.Strategy
		error    string
	}{
		{compile.Variables, "Athena.AthenaException"},
		{compile.RetryTask, "Athena.InternalServerException"},
		{compile.RetryTask, "Athena.AthenaException"},
		{compile.LambdaRetry, "Lambda.TooManyRequestsException"},
	} {
		o.Strategy = c.strategy
		call := compile.CallOf(e)
		call.Start, call.Stop = nil, nil
		m, err := compile.Compile(e.Waiter, call, o)
		require.NoError(t, err)
		result, err := sim.Run(t.Context(), m.Machine, inputOf(t, e.Operation), sim.Options{Handlers: handlers(c.error, 600)})
		require.NoError(t, err)
		require.Equal(t, sim.StatusSucceeded, result.Status, "%s, %s after %d calls: %s", c.strategy, c.error, calls, result.Cause)
		require.Equal(t, 601, calls)

		result, err = sim.Run(t.Context(), m.Machine, inputOf(t, e.Operation), sim.Options{Handlers: handlers(c.error, 0)})
		require.NoError(t, err)
		require.Equal(t, sim.StatusFailed, result.Status, c.strategy)
		require.Less(t, calls, 100)
	}
}
