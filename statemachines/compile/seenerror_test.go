package compile_test

import (
	"context"
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

// seenError is an error that a waiter can name, by a shape of the model and its
// code or by a code that the model does not declare, and its name in Step Functions.
type seenError struct{ service, sdkID, shape, code, name string }

// seenOnAWS have the names that errors of SDK integrations were seen to have on
// AWS (internal/javasdk has who saw which).
var seenOnAWS = []seenError{
	{"dynamodb", "DynamoDB", "ResourceNotFoundException", "", "DynamoDb.ResourceNotFoundException"},
	{"dynamodb", "DynamoDB", "", "ValidationException", "DynamoDb.DynamoDbException"},
	{"s3", "S3", "NoSuchKey", "", "S3.NoSuchKeyException"},
	{"s3", "S3", "NoSuchBucket", "", "S3.NoSuchBucketException"},
	{"s3", "S3", "", "PreconditionFailed", "S3.S3Exception"},
	{"secretsmanager", "Secrets Manager", "", "ValidationException", "SecretsManager.SecretsManagerException"},
	{"stepfunctions", "SFN", "InvalidToken", "", "Sfn.InvalidTokenException"},
	{"stepfunctions", "SFN", "InvalidArn", "", "Sfn.InvalidArnException"},
	{"sqs", "SQS", "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue", "Sqs.QueueDoesNotExistException"},
	{"logs", "CloudWatch Logs", "AccessDeniedException", "", "CloudWatchLogs.AccessDeniedException"},
	{"events", "EventBridge", "AccessDeniedException", "", "EventBridge.AccessDeniedException"},
	{"rds", "RDS", "DBInstanceNotFoundFault", "DBInstanceNotFound", "Rds.DbInstanceNotFoundException"},
	{"rds", "RDS", "", "AccessDenied", "Rds.RdsException"},
	{"ec2", "EC2", "", "InvalidInstanceID.NotFound", "Ec2.Ec2Exception"},
	{"elasticache", "ElastiCache", "", "AccessDenied", "ElastiCache.ElastiCacheException"},
	{"apigateway", "API Gateway", "", "AccessDeniedException", "ApiGateway.ApiGatewayException"},
	{"lambda", "Lambda", "", "AccessDeniedException", "Lambda.LambdaException"},
	{"lambda", "Lambda", "KMSInvalidStateException", "", "Lambda.KmsInvalidStateException"},
	{"elb", "Elastic Load Balancing", "AccessPointNotFoundException", "LoadBalancerNotFound", "ElasticLoadBalancing.LoadBalancerNotFoundException"},
}

// polledWith is an operation of the service that fails with the error.
func polledWith(key, sdkID, shape, code string) *catalog.Operation {
	prefix := javasdk.ServiceName(sdkID)
	s := &catalog.Service{Key: key, Name: sdkID, ErrorPrefix: prefix, ARNName: strings.ToLower(prefix)}
	state := &catalog.Shape{Name: "Output", Type: catalog.Structure, Members: []catalog.Member{
		{Name: "state", Shape: &catalog.Shape{Name: "State", Type: catalog.String}},
	}}
	o := &catalog.Operation{Name: "DescribeThing", Service: s, Input: &catalog.Shape{Name: "Input", Type: catalog.Structure}, Output: state}
	if shape != "" {
		o.Errors = []catalog.Error{{Shape: shape, Code: code, Status: 400}}
	}
	s.Operations = map[string]*catalog.Operation{o.Name: o}
	return o
}

// An acceptor takes the error under every name that was seen, whichever way the
// waiter spells it, and whatever the verdict; and no other error.
func TestEveryErrorSeenOnAWS(t *testing.T) {
	t.Parallel()
	for _, seen := range seenOnAWS {
		spellings := slices.DeleteFunc([]string{seen.shape, seen.code}, func(s string) bool { return s == "" })
		if seen.shape != "" {
			spellings = append(spellings, "com.amazonaws.service#"+seen.shape)
		}
		for _, spelling := range spellings {
			for _, strategy := range noLambda {
				t.Run(seen.name+"/"+strings.ReplaceAll(spelling, "/", "_")+"/"+string(strategy), func(t *testing.T) {
					t.Parallel()
					requireTaken(t, seen, spelling, strategy)
				})
			}
		}
	}
}

// requireTaken runs waiters that have an acceptor of the error, of each verdict.
func requireTaken(t *testing.T, seen seenError, spelling string, strategy compile.Strategy) {
	t.Helper()
	op := polledWith(seen.service, seen.sdkID, seen.shape, seen.code)
	o := compile.Options{Strategy: strategy, MaxWait: 10 * time.Minute}
	if seen.shape == "" {
		_, err := compiledFor(op, pollcore.Succeed, spelling, o)
		if compile.CausePatternsOf(op)[spelling] == "" {
			require.ErrorIs(t, err, compile.ErrNotCompiled, "nothing tells it from others of that name")
		}
		o.CausePatterns = map[string]string{spelling: "this one"}
	}
	failure := sdkError(seen.name, "this one", 400)
	running := map[string]any{"State": "RUNNING"}
	done := map[string]any{"State": "DONE"}

	m, err := compiledFor(op, pollcore.Succeed, spelling, o)
	require.NoError(t, err)
	result, calls := polled(t, m, op, []any{running, failure})
	status, reason := ended(t, result)
	require.Equal(t, "SUCCEEDED", status)
	require.Contains(t, reason, "(acceptor 1 of 2)")
	require.Equal(t, 2, calls)

	m, err = compiledFor(op, pollcore.Fail, spelling, o)
	require.NoError(t, err)
	result, _ = polled(t, m, op, []any{failure})
	status, reason = ended(t, result)
	require.Equal(t, "FAILED", status)
	require.Contains(t, reason, "(acceptor 1 of 2)")

	if m, err = compiledFor(op, pollcore.Again, spelling, o); seen.shape == "" && strategy == compile.RetryTask {
		require.ErrorContains(t, err, "a Retry block cannot read a Cause")
	} else {
		require.NoError(t, err)
		result, calls = polled(t, m, op, []any{failure, failure, done})
		status, _ = ended(t, result)
		require.Equal(t, "SUCCEEDED", status)
		require.Equal(t, 3, calls)
	}

	m, err = compiledFor(op, pollcore.Succeed, spelling, o)
	require.NoError(t, err)
	for _, another := range []any{
		sdkError(op.Service.ErrorPrefix+".AnotherException", "this one", 400),
		sdkError(strings.Replace(seen.name, op.Service.ErrorPrefix+".", "Another.", 1), "this one", 400),
	} {
		result, _ = polled(t, m, op, []any{another})
		status, reason = ended(t, result)
		require.Equal(t, "FAILED", status)
		require.Contains(t, reason, "unexpected error: "+another.(*sim.TaskError).Name)
	}
}

// compiledFor compiles a waiter with an acceptor of an error.
func compiledFor(op *catalog.Operation, verdict func(pollcore.Matcher) pollcore.Option, errorType string, o compile.Options) (*compile.Compiled, error) {
	w := pollcore.MustNew("W", verdict(pollcore.ErrorType(errorType)), pollcore.Succeed(pollcore.Output("state").Is("DONE")),
		pollcore.Delay(10*time.Second, 20*time.Second))
	return compile.Compile(w, compile.Call{Operation: op}, o)
}

// A service that throttles is called again within a budget, which a loop has for
// each poll and a Retry block for the whole wait; then the machine ends with the
// error's own name and cause.
func TestThrottlingBudget(t *testing.T) {
	t.Parallel()
	const budget = 6
	op := operation(t, "dynamodb", "DescribeTable")
	w := waiter(t, "dynamodb", "TableExists")
	throttled := sdkError("DynamoDb.InternalServerErrorException", "try later", 500)
	creating := map[string]any{"Table": map[string]any{"TableStatus": "CREATING"}}
	active := map[string]any{"Table": map[string]any{"TableStatus": "ACTIVE"}}
	for _, strategy := range noLambda {
		m, err := compile.Compile(w, compile.Call{Operation: op}, compile.Options{Strategy: strategy, MaxWait: 30 * time.Minute})
		require.NoError(t, err)
		again := func(n int) []any { return slices.Repeat([]any{throttled}, n) }

		result, calls := polled(t, m, op, append(again(budget), active))
		status, _ := ended(t, result)
		require.Equal(t, "SUCCEEDED", status, strategy)
		require.Equal(t, budget+1, calls)

		result, calls = polled(t, m, op, again(1))
		status, reason := ended(t, result)
		require.Equal(t, "FAILED", status, strategy)
		require.Contains(t, reason, "unexpected error: DynamoDb.InternalServerErrorException: try later")
		require.Equal(t, budget+1, calls)

		result, _ = polled(t, m, op, slices.Concat(again(budget), []any{creating}, again(budget), []any{creating}, again(budget), []any{active}))
		status, _ = ended(t, result)
		want := "SUCCEEDED"
		if strategy == compile.RetryTask {
			want = "FAILED"
		}
		require.Equal(t, want, status, strategy)
	}
}

// A call that is not answered and a role that cannot be assumed end the wait with
// their own name and cause in whatever poll they come, also where the machine goes
// on in the states of another, and whatever errors the waiter takes.
func TestNoAnswerAndWrongRole(t *testing.T) {
	t.Parallel()
	op := operation(t, "dynamodb", "DescribeTable")
	active := pollcore.Succeed(pollcore.Output("Table.TableStatus").Is("ACTIVE"))
	creating := map[string]any{"Table": map[string]any{"TableStatus": "CREATING"}}
	for name, w := range map[string]*pollcore.Waiter{
		"an error goes on":   waiter(t, "dynamodb", "TableExists"),
		"an error ends":      waiter(t, "dynamodb", "TableNotExists"),
		"any error ends":     pollcore.MustNew("W", active, pollcore.Succeed(pollcore.AnyError())),
		"any error goes on":  pollcore.MustNew("W", active, pollcore.Again(pollcore.AnyError())),
		"no error":           pollcore.MustNew("W", active),
		"any error, failure": pollcore.MustNew("W", active, pollcore.Fail(pollcore.AnyError())),
	} {
		for _, strategy := range noLambda {
			for _, fragment := range []bool{false, true} {
				o := compile.Options{Strategy: strategy, MaxWait: 10 * time.Minute}
				if fragment {
					o.Prefix = "Own"
					o.Exits = map[pollcore.Status]string{pollcore.Succeeded: "Done", pollcore.Failed: "Broken", pollcore.TimedOut: "Late"}
				}
				m, err := compile.Compile(w, compile.Call{Operation: op}, o)
				if strategy == compile.RetryTask && name == "any error goes on" {
					require.ErrorIs(t, err, compile.ErrNotCompiled)
					continue
				}
				require.NoError(t, err)
				for cause, answer := range map[string]any{
					"States.Timeout": notAnswered,
					"States.TaskFailed: The role arn:aws:iam": wrongRole,
				} {
					result, calls := polled(t, m, op, []any{creating, answer})
					require.Equal(t, 2, calls, "%s, %s: it is not called again", name, strategy)
					if fragment {
						require.Equal(t, sim.StatusSucceeded, result.Status)
						require.Contains(t, string(result.Output), `"status":"FAILED"`)
						require.Contains(t, string(result.Output), "unexpected error: "+cause)
						continue
					}
					require.Equal(t, "JobPoller.Failed", result.Error)
					require.Contains(t, result.Cause, "unexpected error: "+cause)
				}
			}
		}
	}
}

// The calls that start and stop the job are not answered, or not allowed, by
// their own names too; a job that cannot be stopped has timed out all the same.
func TestStartAndStopWithWrongRole(t *testing.T) {
	t.Parallel()
	e, err := catalog.Lookup("athena", "StartQueryExecution")
	require.NoError(t, err)
	running := map[string]any{"QueryExecution": map[string]any{"Status": map[string]any{"State": "RUNNING"}}}
	for _, strategy := range noLambda {
		m, err := compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{Strategy: strategy, MaxWait: time.Minute})
		require.NoError(t, err)
		for cause, answer := range map[string]any{"States.Timeout": notAnswered, "States.TaskFailed: The role": wrongRole} {
			failing := func(context.Context, sim.Call) (sim.Reply, error) { return sim.Reply{}, answer.(*sim.TaskError) }
			started := func(context.Context, sim.Call) (sim.Reply, error) {
				return sim.Reply{Output: map[string]any{"QueryExecutionId": "query-1"}}, nil
			}
			run := func(start, stop sim.Handler) *sim.Result {
				result, err := sim.Run(t.Context(), m.Machine, inputOf(t, e.Service.Operations[e.Name]), sim.Options{Handlers: map[string]sim.Handler{
					"arn:aws:states:::aws-sdk:athena:startQueryExecution": start,
					"arn:aws:states:::aws-sdk:athena:stopQueryExecution":  stop,
					"arn:aws:states:::aws-sdk:athena:getQueryExecution": func(context.Context, sim.Call) (sim.Reply, error) {
						return sim.Reply{Output: running}, nil
					},
				}})
				require.NoError(t, err)
				return result
			}
			result := run(failing, failing)
			require.Equal(t, "JobPoller.Failed", result.Error, strategy)
			require.Contains(t, result.Cause, "the job could not be started: "+cause)

			result = run(started, failing)
			require.Equal(t, "JobPoller.TimedOut", result.Error, strategy)
			require.Contains(t, result.Cause, "not finished after ")
		}
	}
}
