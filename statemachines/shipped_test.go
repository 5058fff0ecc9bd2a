package statemachines_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/simtest"
	"github.com/jobpoller/jobpoller/tests/responses"
)

var update = flag.Bool("update", false, "write the shipped definitions anew")

func TestShippedDefinitionsAreCompiled(t *testing.T) {
	t.Parallel()
	for _, name := range compile.RecipeNames() {
		compiled, err := compile.Recipe(name)
		require.NoError(t, err)
		want := asl.Print(compiled.Machine)
		if *update {
			require.NoError(t, os.WriteFile(name+".asl.json", want, 0o600))
		}
		got, err := os.ReadFile(name + ".asl.json")
		require.NoError(t, err, "go generate ./statemachines writes it")
		require.Equal(t, string(want), string(got), "go generate ./statemachines writes it anew")
	}
}

func TestDefinition(t *testing.T) {
	t.Parallel()
	require.Len(t, statemachines.Names(), len(compile.RecipeNames())+2, "two loops are written by hand")
	for _, name := range statemachines.Names() {
		text, err := statemachines.Definition(name)
		require.NoError(t, err)
		require.True(t, json.Valid(text), name)
	}
	_, err := statemachines.Definition("lambda")
	require.ErrorIs(t, err, statemachines.ErrNoDefinition)
	require.ErrorContains(t, err, `"lambda"; there are bedrock-model-invocation, cloudformation-stack, `)
	for _, name := range []string{"lambda-loop", "lambda-loop-count"} {
		_, err = compile.Recipe(name)
		require.ErrorIs(t, err, statemachines.ErrNoDefinition, "it is not compiled")
	}
}

// documented are the inputs of docs/reference/shipped.md by definition.
func documented(t *testing.T) map[string]map[string]any {
	t.Helper()
	page, err := os.ReadFile("../docs/reference/shipped.md")
	require.NoError(t, err)
	inputs := map[string]map[string]any{}
	for section := range strings.SplitSeq(strings.SplitN(string(page), "\n## ", 2)[1], "\n## ") {
		name, rest, _ := strings.Cut(section, "\n")
		_, block, ok := strings.Cut(rest, "```json\n")
		require.True(t, ok, name)
		text, _, _ := strings.Cut(block, "```")
		var input map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &input), name)
		inputs[name] = input
	}
	return inputs
}

func TestShippedDefinitionsAreDocumented(t *testing.T) {
	t.Parallel()
	require.ElementsMatch(t, statemachines.Names(), slices.Collect(maps.Keys(documented(t))))
}

type values = map[string]any

// shippedCase is a definition that calls services itself.
type shippedCase struct {
	name             string
	service, entry   string
	start, token     string // states and member; the entry is what is started
	started          values // what the start call returns
	describe         string
	describes, stops values // arguments of those calls
	stop             string
	waits            time.Duration
}

var shippedCases = []shippedCase{
	{
		name: "dynamodb-export-poll", service: "dynamodb", entry: "ExportCompleted",
		describe: "DescribeExport", describes: values{"ExportArn": "arn:aws:dynamodb:us-east-1:123456789012:table/Orders/export/1"}, waits: time.Hour,
	},
	{
		name: "dynamodb-export-loop", service: "dynamodb", entry: "ExportTableToPointInTime",
		start: "ExportTableToPointInTime", token: "ClientToken", started: values{"ExportDescription": values{"ExportArn": "arn:export"}},
		describe: "DescribeExport", describes: values{"ExportArn": "arn:export"}, waits: 2 * time.Hour,
	},
	{
		name: "dynamodb-export-variables", service: "dynamodb", entry: "ExportTableToPointInTime",
		start: "ExportTableToPointInTime", token: "ClientToken", started: values{"ExportDescription": values{"ExportArn": "arn:export"}},
		describe: "DescribeExport", describes: values{"ExportArn": "arn:export"}, waits: 2 * time.Hour,
	},
	{
		name: "dynamodb-export-retry-task", service: "dynamodb", entry: "ExportTableToPointInTime",
		start: "ExportTableToPointInTime", token: "ClientToken", started: values{"ExportDescription": values{"ExportArn": "arn:export"}},
		describe: "DescribeExport", describes: values{"ExportArn": "arn:export"}, waits: 2 * time.Hour,
	},
	{
		name: "redshift-data-statement", service: "redshift-data", entry: "ExecuteStatement",
		start: "ExecuteStatement", token: "ClientToken", started: values{"Id": "statement-1"},
		describe: "DescribeStatement", describes: values{"Id": "statement-1"},
		stop: "CancelStatement", stops: values{"Id": "statement-1"}, waits: time.Hour,
	},
	{
		name: "transcribe-job", service: "transcribe", entry: "StartTranscriptionJob",
		start: "StartTranscriptionJob", started: values{"TranscriptionJob": values{"TranscriptionJobStatus": "IN_PROGRESS"}},
		describe: "GetTranscriptionJob", describes: values{"TranscriptionJobName": "call-4711"}, waits: 4 * time.Hour,
	},
	{
		name: "rds-snapshot-export", service: "rds", entry: "StartExportTask",
		start: "StartExportTask", started: values{"ExportTaskIdentifier": "orders-2026-11-20", "Status": "STARTING"},
		describe: "DescribeExportTasks", describes: values{"ExportTaskIdentifier": "orders-2026-11-20"},
		stop: "CancelExportTask", stops: values{"ExportTaskIdentifier": "orders-2026-11-20"}, waits: 12 * time.Hour,
	},
	{
		name: "textract-document-analysis", service: "textract", entry: "StartDocumentAnalysis",
		start: "StartDocumentAnalysis", started: values{"JobId": "job-1"},
		describe: "GetDocumentAnalysis", describes: values{"JobId": "job-1", "MaxResults": 1.0}, waits: time.Hour,
	},
	{
		name: "cloudformation-stack", service: "cloudformation", entry: "CreateStack",
		start: "CreateStack", started: values{"StackId": "arn:stack"},
		describe: "DescribeStacks", describes: values{"StackName": "arn:stack"}, waits: 2 * time.Hour,
	},
	{
		name: "ec2-image", service: "ec2", entry: "CreateImage",
		start: "CreateImage", started: values{"ImageId": "ami-1"},
		describe: "DescribeImages", describes: values{"ImageIds": []any{"ami-1"}}, waits: 6 * time.Hour,
	},
	{
		name: "glue-crawler", service: "glue", entry: "StartCrawler",
		start: "StartCrawler", started: values{},
		describe: "GetCrawler", describes: values{"Name": "orders"}, stop: "StopCrawler", stops: values{"Name": "orders"}, waits: 4 * time.Hour,
	},
	{
		name: "rekognition-label-detection", service: "rekognition", entry: "StartLabelDetection",
		start: "StartLabelDetection", started: values{"JobId": "job-1"},
		describe: "GetLabelDetection", describes: values{"JobId": "job-1", "MaxResults": 1.0}, waits: 2 * time.Hour,
	},
	{
		name: "comprehend-entities", service: "comprehend", entry: "StartEntitiesDetectionJob",
		start: "StartEntitiesDetectionJob", token: "ClientRequestToken", started: values{"JobId": "job-1", "JobStatus": "SUBMITTED"},
		describe: "DescribeEntitiesDetectionJob", describes: values{"JobId": "job-1"},
		stop: "StopEntitiesDetectionJob", stops: values{"JobId": "job-1"}, waits: 4 * time.Hour,
	},
	{
		name: "bedrock-model-invocation", service: "bedrock", entry: "CreateModelInvocationJob",
		start: "CreateModelInvocationJob", token: "ClientRequestToken", started: values{"JobArn": "arn:job"},
		describe: "GetModelInvocationJob", describes: values{"JobIdentifier": "arn:job"},
		stop: "StopModelInvocationJob", stops: values{"JobIdentifier": "arn:job"}, waits: 24 * time.Hour,
	},
}

// Each definition runs with its documented input to success, failure and
// timeout, and makes the right calls on the way.
func TestShippedDefinitionsRun(t *testing.T) {
	t.Parallel()
	inputs := documented(t)
	require.Len(t, shippedCases, len(statemachines.Names())-3, "and the three with Lambda functions")
	for _, tt := range shippedCases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			entry, err := catalog.Lookup(tt.service, tt.entry)
			require.NoError(t, err)
			running, _ := reply(t, entry, pollcore.Retry)
			succeeded, success := reply(t, entry, pollcore.Success)
			failed, failure := reply(t, entry, pollcore.Failure)
			if tt.start == "" { // each call takes its argument from the response before
				for _, response := range []any{running, succeeded, failed} {
					described, _ := response.(values)["ExportDescription"].(values)
					response.(values)["ExportDescription"] = with(described, tt.describes)
				}
			}

			s := tt.machine(t, entry, true, true)
			s.Options.Lenient = true // the responses have values, too, that no model lists
			s.On(tt.describe).Return(running).Times(3).Return(succeeded)
			run := s.Run(inputs[tt.name]).RequireSucceeded().RequireAttempts(tt.describe, 4)
			var result struct {
				Status  string `json:"status"`
				Reason  string `json:"reason"`
				Attempt int    `json:"attempt"`
				Output  any    `json:"output"`
			}
			require.NoError(t, json.Unmarshal(run.Output, &result))
			require.Equal(t, "SUCCEEDED", result.Status)
			require.Contains(t, result.Reason, success)
			require.Equal(t, 4, result.Attempt)
			require.Equal(t, succeeded, result.Output)
			tt.requireCalls(t, s, entry, inputs[tt.name], false)

			s = tt.machine(t, entry, true, true)
			s.Options.Lenient = true
			s.On(tt.describe).Return(running).Return(failed)
			s.Run(inputs[tt.name]).RequireFailed("JobPoller.Failed", failure)
			tt.requireCalls(t, s, entry, inputs[tt.name], false)

			// It has timed out whether or not the job can be stopped.
			for _, stoppable := range []bool{true, false} {
				s = tt.machine(t, entry, true, stoppable)
				s.Options.Lenient = true
				s.On(tt.describe).Return(running)
				s.Run(inputs[tt.name]).RequireFailed("JobPoller.TimedOut", "not finished after ").
					RequireElapsedBetween(tt.waits, tt.waits+2*time.Minute)
				tt.requireCalls(t, s, entry, inputs[tt.name], true)
			}
			if tt.start != "" {
				s = tt.machine(t, entry, false, true)
				s.Options.Lenient = true
				s.On(tt.describe).Return(running)
				s.Run(inputs[tt.name]).RequireFailed("JobPoller.Failed", "the job could not be started: ", "not allowed").RequireVisits(tt.describe, 0)
			}
		})
	}
}

// machine is the definition with the answers to its start and stop calls. A
// start call that has a token is called again when an answer is lost.
func (c shippedCase) machine(t *testing.T, entry *catalog.Entry, startable, stoppable bool) *simtest.Sim {
	t.Helper()
	definition, err := statemachines.Definition(c.name)
	require.NoError(t, err)
	s := simtest.New(t, definition)
	prefix := entry.Service.ErrorPrefix
	denied := prefix + "." + prefix + "Exception"
	switch {
	case c.start == "":
	case !startable:
		s.On(c.start).Fail(denied, "not allowed")
	case c.token != "":
		s.On(c.start).Fail(prefix+".SdkClientException", "connection reset").Return(c.started)
	default:
		s.On(c.start).Return(c.started)
	}
	switch {
	case c.stop == "":
	case stoppable:
		s.On(c.stop).Return(values{})
	default:
		s.On(c.stop).Fail(denied, "it has ended")
	}
	return s
}

// requireCalls wants the calls to have had their arguments.
func (c shippedCase) requireCalls(t *testing.T, s *simtest.Sim, entry *catalog.Entry, input values, stops bool) {
	t.Helper()
	if c.start != "" {
		requireStarted(t, s, c.start, c.token, input)
		requireMembers(t, entry.Service.Operations[c.entry].Input, input)
	}
	for _, call := range s.Calls(c.describe) {
		requireArguments(t, c.describes, call)
	}
	if c.stop != "" {
		calls := s.Calls(c.stop)
		require.Equal(t, stops, len(calls) > 0)
		for _, call := range calls {
			requireArguments(t, c.stops, call)
		}
	}
}

// reply is a response, as a state machine sees it, that the first acceptor of
// responses with the verdict matches, and that acceptor.
func reply(t *testing.T, entry *catalog.Entry, verdict pollcore.Verdict) (response any, acceptor string) {
	t.Helper()
	maker, err := responses.NewMaker(entry)
	require.NoError(t, err)
	matched := slices.IndexFunc(entry.Waiter.Acceptors, func(a pollcore.Acceptor) bool {
		return a.State == verdict && a.Matcher.Output != nil
	})
	if verdict != pollcore.Retry {
		require.GreaterOrEqual(t, matched, 0)
	}
	found, ok := maker.Reach(matched)
	require.True(t, ok, "a response for acceptor %d", matched+1)
	return responses.Integration(entry.Operation.Output, found.Output), fmt.Sprintf("(acceptor %d of %d)", matched+1, len(entry.Waiter.Acceptors))
}

// with returns an object with members added.
func with(object, added values) values {
	all := values{}
	maps.Copy(all, object)
	maps.Copy(all, added)
	return all
}

func capital(name string) string { return javasdk.MemberName(name) }

// requireArguments wants a call to have had the arguments.
func requireArguments(t *testing.T, want values, call sim.Call) {
	t.Helper()
	wanted, err := json.Marshal(want)
	require.NoError(t, err)
	got, err := json.Marshal(call.Arguments)
	require.NoError(t, err)
	require.JSONEq(t, string(wanted), string(got))
}

// requireStarted wants a start call to have had the input, once or with a token
// that is the same when it is called again.
func requireStarted(t *testing.T, s *simtest.Sim, state, token string, input values) {
	t.Helper()
	calls := s.Calls(state)
	if token == "" {
		require.Len(t, calls, 1)
	} else {
		require.Len(t, calls, 2, "the answer of the first was lost")
		require.Equal(t, calls[0].Arguments, calls[1].Arguments)
	}
	got := maps.Clone(calls[0].Arguments.(map[string]any))
	if token != "" {
		require.Regexp(t, `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, got[token])
		delete(got, token)
	}
	require.Equal(t, input, got)
}

// requireMembers wants an input to have the members of the shape, and those
// that are required; the machine adds the token.
func requireMembers(t *testing.T, shape *catalog.Shape, value any) {
	t.Helper()
	object, ok := value.(map[string]any)
	if !ok || shape.Type != catalog.Structure {
		return
	}
	known := map[string]*catalog.Shape{}
	for _, member := range shape.Members {
		known[capital(member.Name)] = member.Shape
		if member.Required && !member.Token {
			require.Contains(t, object, capital(member.Name))
		}
	}
	for name, item := range object {
		require.Contains(t, known, name)
		requireMembers(t, known[name], item)
	}
}

// The loop by a Retry block runs to each end; the functions play their parts.
func TestShippedLambdaRetryRuns(t *testing.T) {
	t.Parallel()
	definition, err := statemachines.Definition("lambda-retry")
	require.NoError(t, err)
	input := documented(t)["lambda-retry"]
	ends := []struct {
		name, cause string
		end         func(s *simtest.Sim)
	}{
		{"", "", func(s *simtest.Sim) {
			s.On("CheckStatus").Return(values{"Payload": values{"status": "SUCCEEDED", "attempt": 4}})
		}},
		{"JobPoller.Failed", "no such bucket", func(s *simtest.Sim) { s.On("CheckStatus").Fail("JobPoller.Failed", "no such bucket") }},
		{"JobPoller.TimedOut", "over", func(s *simtest.Sim) { s.On("CheckStatus").Fail("JobPoller.TimedOut", "over") }},
	}
	for _, tt := range ends {
		s := simtest.New(t, definition)
		s.On("RunJob").Return(values{"Payload": values{"status": "RUNNING"}})
		s.On("CheckStatus").Fail("JobPoller.Running", "IN_PROGRESS").Times(3)
		tt.end(s)
		run := s.Run(input).RequireAttempts("RunJob", 1).RequireAttempts("CheckStatus", 4).RequireElapsed(69450 * time.Millisecond) // 20 + 23 + 26.45 s
		if tt.name == "" {
			run.RequireOutput(values{"status": "SUCCEEDED", "attempt": 4})
		} else {
			run.RequireFailed(tt.name, tt.cause)
		}
		payload := s.Calls("RunJob")[0].Arguments.(map[string]any)["Payload"].(map[string]any)["Input"].(map[string]any)
		require.Equal(t, "dynamodb:ExportTableToPointInTime", payload["job"])
		require.Equal(t, input, payload["arguments"])
		last := s.Calls("CheckStatus")[3].Arguments.(map[string]any)["Payload"].(map[string]any)["Input"].(map[string]any)
		require.Equal(t, "RUNNING", last["status"], "what RunJob returned")
	}
}
