//go:build e2e

package cdkapp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/cdkapp"
	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/internal/runtimeapi"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// dataRole is what Comprehend gets to read with.
const dataRole = "arn:aws:iam::123456789012:role/reads-text"

// deployedJob is a job of the test.
type deployedJob struct {
	service, name string
	input         string // with the name of the job in the place of JOB
	stops         bool   // when its time is over
}

// deployedJobs have drivers that are written for them, one with a token and one
// without, and one that the catalogue makes, which gets a role.
var deployedJobs = map[string]deployedJob{
	"Export":   {"dynamodb", "ExportTableToPointInTime", `{"TableArn": "arn:aws:dynamodb:us-east-1:123456789012:table/JOB", "S3Bucket": "exports"}`, false},
	"Run":      {"glue", "StartJobRun", `{"JobName": "JOB"}`, true},
	"Entities": {"comprehend", "StartEntitiesDetectionJob", `{"JobName": "JOB", "LanguageCode": "en", "DataAccessRoleArn": "` + dataRole + `", "InputDataConfig": {"S3Uri": "s3://texts/"}, "OutputDataConfig": {"S3Uri": "s3://entities/"}}`, true},
}

// What the roles may beyond the calls that the test sees: Step Functions and
// Lambda send logs and traces. RunJob is told by s3:ListBucket that a record which
// it has just seen is gone.
var (
	ofStateMachines = []string{
		"logs:CreateLogDelivery", "logs:DeleteLogDelivery", "logs:DescribeLogGroups", "logs:DescribeResourcePolicies", "logs:GetLogDelivery",
		"logs:ListLogDeliveries", "logs:PutResourcePolicy", "logs:UpdateLogDelivery",
		"xray:GetSamplingRules", "xray:GetSamplingTargets", "xray:PutTelemetryRecords", "xray:PutTraceSegments",
	}
	ofCheckStatus = []string{"logs:CreateLogStream", "logs:PutLogEvents", "xray:PutTelemetryRecords", "xray:PutTraceSegments"}
	ofRunJob      = []string{"logs:CreateLogStream", "logs:PutLogEvents", "s3:ListBucket", "xray:PutTelemetryRecords", "xray:PutTraceSegments"}
)

// What a stack with pollers deploys runs, and its roles allow that and no more:
// the definitions and roles of the template, and the packages of the functions
// from the assets, with the environment that the template gives them. Functions
// run in real time.
func TestE2EDeployed(t *testing.T) { //nolint:tparallel // the group ends before what comes after it
	t.Parallel()
	a := assemble(t, deployedStack)
	w := newWorld(t, a)
	t.Run("executions", w.testExecutions) // ends after them all
	_, err := w.functions[a.named(t, "AWS::Lambda::Function", "FunctionsCheckStatus").id](t.Context(), []byte(`{
		"Context": {"Execution": {"Id": "arn:aws:states:us-east-1:123456789012:execution:a:b", "StartTime": "2026-01-01T00:00:00Z"}, "State": {"Name": "CheckStatus"}},
		"Input": {}, "Poller": "never started"
	}`))
	require.ErrorContains(t, err, "there is no start record") // and not that access is denied
	require.Empty(t, w.iam.denied)
	for _, role := range a.of("AWS::IAM::Role") {
		services := ofStateMachines
		switch {
		case strings.HasPrefix(role.id, "FunctionsCheckStatus"):
			services = ofCheckStatus
		case strings.HasPrefix(role.id, "FunctionsRunJob"):
			services = ofRunJob
		}
		require.Equal(t, services, w.iam.unused(role.id), role.id)
	}
	for _, function := range a.of("AWS::Lambda::Function") {
		w.logs[function.id].check(t)
	}
}

// testExecutions runs each poller to each end that its job can have.
func (w *world) testExecutions(t *testing.T) {
	for id, job := range deployedJobs {
		for _, strategy := range []compile.Strategy{compile.Variables, compile.LambdaLoop, compile.LambdaRetry} {
			for outcome, failure := range map[string]string{goesWell: "", goesWrong: "JobPoller.Failed", goesOn: "JobPoller.TimedOut"} {
				poller, clock := pollerID(id, strategy), sim.NewVirtualClock(sim.DefaultStart())
				if strategy != compile.Variables {
					clock = sim.NewRealClock()
					if outcome == goesOn {
						poller += "Impatient"
					}
				}
				t.Run(poller+" "+outcome, func(t *testing.T) {
					t.Parallel()
					name := poller + "-" + outcome
					result := w.run(t, w.named(t, "AWS::StepFunctions::StateMachine", poller+"StateMachine"), clock, name, strings.ReplaceAll(job.input, "JOB", name))
					require.Equal(t, failure, result.Error, "%s\n%s", result.Cause, result.Trace())
					if failure == "" {
						require.Contains(t, string(result.Output), `"status":"SUCCEEDED"`)
					}
					require.Equal(t, []string{w.end(job, outcome)}, w.services[job.service].statuses(name))
				})
			}
		}
	}
}

// end is the status of a job that its execution has waited for.
func (w *world) end(job deployedJob, outcome string) string {
	s := w.services[job.service]
	switch {
	case outcome != goesOn:
		return s.end[outcome]
	case job.stops:
		return "STOPPED"
	default:
		return s.running
	}
}

func pollerID(job string, strategy compile.Strategy) string {
	return job + strings.ReplaceAll(string(strategy), "-", "")
}

// deployedStack has a poller of each job by each strategy, and those of the
// Lambda functions a second time, with little patience.
func deployedStack(stack awscdk.Stack) {
	var names []*string
	for _, id := range slices.Sorted(maps.Keys(deployedJobs)) {
		names = append(names, jsii.String(deployedJobs[id].service+":"+deployedJobs[id].name))
	}
	passes := &map[string]*[]*string{"iam:PassRole": jsii.Strings(dataRole)}
	architecture := map[string]awslambda.Architecture{"amd64": awslambda.Architecture_X86_64(), "arm64": awslambda.Architecture_ARM_64()}[runtime.GOARCH]
	functions := cdkapp.NewFunctions(stack, jsii.String("Functions"), &cdkapp.FunctionsProps{
		Jobs: &names, FunctionProps: &awslambda.FunctionProps{Architecture: architecture}, MaxWait: seconds(600), Resources: passes,
	})
	for _, id := range slices.Sorted(maps.Keys(deployedJobs)) {
		job := deployedJobs[id]
		of := func(poller string, strategy compile.Strategy, change func(*cdkapp.JobPollerProps)) {
			props := &cdkapp.JobPollerProps{Job: fromCatalog(job.service + ":" + job.name), Strategy: strategy, MaxWait: seconds(600)}
			change(props)
			cdkapp.NewJobPoller(stack, &poller, props)
		}
		of(pollerID(id, compile.Variables), compile.Variables, func(p *cdkapp.JobPollerProps) {
			if job.service == "comprehend" {
				p.Resources = passes
			}
		})
		for _, strategy := range []compile.Strategy{compile.LambdaLoop, compile.LambdaRetry} {
			soon := func(p *cdkapp.JobPollerProps) {
				p.Functions, p.MinDelay, p.MaxDelay = functions, seconds(1), seconds(1)
			}
			of(pollerID(id, strategy), strategy, soon)
			of(pollerID(id, strategy)+"Impatient", strategy, func(p *cdkapp.JobPollerProps) {
				soon(p)
				p.MaxWait = seconds(2)
			})
		}
	}
}

// world is an account that a stack is deployed to.
type world struct {
	assembly

	iam       *access
	services  map[string]*scripted
	functions map[string]sim.LambdaFunction // by ARN
	logs      map[string]*functionLog       // by the function's logical ID
	callbacks *callbacks
}

// functionLog is what a function has written.
type functionLog struct {
	text bytes.Buffer
	of   *runtimeapi.Function
}

// check stops the function, whose lines are all JSON, and those of its invocations
// have the ID of the request.
func (l *functionLog) check(t *testing.T) {
	t.Helper()
	require.NoError(t, l.of.Close())
	invocations := 0
	for line := range strings.Lines(l.text.String()) {
		var record map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &record), "a line is not JSON: %s", line)
		if message := record["message"]; message == "run-job" || message == "check-status" || message == "collector" {
			require.NotEmpty(t, record["requestId"], line)
			invocations++
		}
	}
	require.Positive(t, invocations)
}

func newWorld(t *testing.T, a assembly) *world {
	t.Helper()
	w := &world{assembly: a, iam: newAccess(t, a), functions: map[string]sim.LambdaFunction{}, logs: map[string]*functionLog{}, callbacks: newCallbacks()}
	w.services = services(w.iam)
	aws := httptest.NewServer(endpoint(w.services))
	t.Cleanup(aws.Close)
	var keys []loopback.Keys // of the roles
	for _, function := range a.of("AWS::Lambda::Function") {
		keys = append(keys, loopback.Keys{AccessKeyID: roleOfResource(t, function), SecretAccessKey: "secret"})
	}
	s3, err := embeddeds3.Start(embeddeds3.Options{Middleware: w.iam.s3, Keys: keys})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s3.Close()) })
	for _, bucket := range a.of("AWS::S3::Bucket") {
		require.NoError(t, s3.CreateBucket(a.physical(t, "{"+bucket.id+"}")))
	}
	for _, function := range a.of("AWS::Lambda::Function") {
		w.deploy(t, function, "AWS_ENDPOINT_URL="+aws.URL, "AWS_ENDPOINT_URL_S3="+s3.URL())
	}
	return w
}

// deploy makes a function of the template, which calls the endpoints.
func (w *world) deploy(t *testing.T, function resource, endpoints ...string) {
	t.Helper()
	require.Equal(t, "provided.al2023", function.properties["Runtime"])
	environment := append([]string{
		"AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=" + roleOfResource(t, function), "AWS_SECRET_ACCESS_KEY=secret",
		"AWS_LAMBDA_LOG_FORMAT=" + logFormat(function),
	}, endpoints...)
	for name, value := range function.properties["Environment"].(map[string]any)["Variables"].(map[string]any) {
		environment = append(environment, name+"="+w.physical(t, resolve(t, value).(string)))
	}
	log := &functionLog{}
	f, err := runtimeapi.New(runtimeapi.Config{
		Name: function.id, Binary: w.executable(t, function), Env: environment, Log: io.MultiWriter(t.Output(), &log.text),
		Timeout: time.Duration(function.properties["Timeout"].(float64) * float64(time.Second)),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	log.of, w.logs[function.id] = f, log
	w.functions[function.id] = localloop.Process(f)
}

// logFormat is the format that Lambda tells a function to log in. Without a logging
// configuration it is text
// (https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-logformat.html).
func logFormat(function resource) string {
	logging, _ := function.properties["LoggingConfig"].(map[string]any)
	if format := text(logging["LogFormat"]); format != "" {
		return format
	}
	return "Text"
}

// run runs an execution of a state machine.
func (w *world) run(t *testing.T, machine resource, clock *sim.Clock, execution, input string) *sim.Result {
	t.Helper()
	definition := w.physical(t, deployed(t, machine))
	parsed, err := asl.Parse([]byte(definition))
	require.NoError(t, err)
	role := roleOfResource(t, machine)
	invoke := sim.LambdaInvoke(w.functions)
	asRole := func(ctx context.Context, call sim.Call) (sim.Reply, error) {
		function := text(call.Arguments.(map[string]any)["FunctionName"])
		if !w.iam.allows(role, "lambda:InvokeFunction", function, nil) {
			return sim.Reply{}, &sim.TaskError{Name: "Lambda.AccessDeniedException"}
		}
		return invoke(ctx, call)
	}
	handlers := map[string]sim.Handler{"arn:aws:states:::lambda:invoke": asRole, "arn:aws:states:::lambda:invoke.waitForTaskToken": w.callbacks.hold(asRole)}
	for _, task := range tasksOf(t, definition) {
		if _, ok := handlers[task.resource]; ok {
			continue
		}
		service, method, _ := strings.Cut(strings.TrimPrefix(task.resource, "arn:aws:states:::aws-sdk:"), ":")
		require.Contains(t, w.services, service, task.resource)
		handlers[task.resource] = func(_ context.Context, call sim.Call) (sim.Reply, error) {
			output, code, err := w.services[service].call(role, method, call.Arguments)
			if code != "" {
				err = &sim.TaskError{Name: strings.ToUpper(service[:1]) + service[1:] + "." + code}
			}
			return sim.Reply{Output: output}, err
		}
	}
	seed := fnv.New64() // of tokens, which are an execution's own
	fmt.Fprint(seed, execution)
	result, err := sim.Run(t.Context(), parsed, []byte(input), sim.Options{
		Clock: clock, Handlers: handlers, Execution: execution, StateMachine: machine.id, Seed: seed.Sum64(),
	})
	require.NoError(t, err)
	return result
}
