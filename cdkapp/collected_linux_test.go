//go:build e2e

package cdkapp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/cdkapp"
	"github.com/jobpoller/jobpoller/internal/dynalite"
	"github.com/jobpoller/jobpoller/internal/elasticmq"
	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// The pollers of the test. A job of Told ends within its first delay, so that only an
// event can tell of it in time.
const (
	toldPoller      = "Told"
	polledPoller    = "Polled"
	impatientPoller = "Impatient"
)

// collectedStack has pollers that are told by events, with functions that they share. The
// Timeout is short, because a message that was not deleted is back after six of them.
func collectedStack(stack awscdk.Stack) {
	architecture := map[string]awslambda.Architecture{"amd64": awslambda.Architecture_X86_64(), "arm64": awslambda.Architecture_ARM_64()}[runtime.GOARCH]
	functions := cdkapp.NewFunctions(stack, jsii.String("Functions"), &cdkapp.FunctionsProps{
		Jobs: jsii.Strings("athena:StartQueryExecution"), Collector: jsii.Bool(true), MaxWait: seconds(1200),
		FunctionProps: &awslambda.FunctionProps{Architecture: architecture, Timeout: seconds(5)},
	})
	for id, wait := range map[string]struct{ most, first float64 }{toldPoller: {1200, 600}, polledPoller: {1200, 1}, impatientPoller: {3, 1}} {
		cdkapp.NewJobPoller(stack, &id, &cdkapp.JobPollerProps{
			Job: fromCatalog("athena:StartQueryExecution"), Signal: cdkapp.SignalEvents, Functions: functions,
			MaxWait: seconds(wait.most), InitialDelay: seconds(wait.first), MinDelay: seconds(1), MaxDelay: seconds(1),
		})
	}
}

// What a stack with pollers that are told by events deploys runs, and its roles allow that:
// the definitions, roles, queues, rules and the mapping of the template, and the packages
// of the functions from the assets.
func TestE2EDeployedEvents(t *testing.T) { //nolint:tparallel // the group ends before what comes after it
	t.Parallel()
	w := newCollectedWorld(t, assemble(t, collectedStack))
	collector := w.named(t, "AWS::Lambda::Function", "FunctionsCollector")
	var kills atomic.Int32
	w.callbacks.before = func(execution string) {
		if execution == "killed" && kills.Add(1) == 1 {
			w.logs[collector.id].of.Kill()
			panic(http.ErrAbortHandler)
		}
	}
	t.Run("executions", func(t *testing.T) {
		for execution, tt := range map[string]struct {
			poller  string
			told    bool
			status  string // of the query, in the end
			failure string // of the execution
		}{
			"told":              {toldPoller, true, "SUCCEEDED", ""},
			"told-failed":       {toldPoller, true, "FAILED", "JobPoller.Failed"},
			"killed":            {toldPoller, true, "SUCCEEDED", ""},
			"lost-" + goesWell:  {polledPoller, false, "SUCCEEDED", ""},
			"lost-" + goesWrong: {polledPoller, false, "FAILED", "JobPoller.Failed"},
			"stopped":           {impatientPoller, false, "CANCELLED", "JobPoller.TimedOut"},
		} {
			t.Run(execution, func(t *testing.T) {
				t.Parallel()
				done := make(chan *sim.Result, 1)
				machine := w.named(t, "AWS::StepFunctions::StateMachine", tt.poller+"StateMachine")
				begun := time.Now()
				go func() {
					defer close(done)
					done <- w.run(t, machine, sim.NewRealClock(), execution, `{"QueryString": "`+execution+`"}`) //nolint:testifylint // done is closed if it fails
				}()
				select {
				case <-w.callbacks.started(execution):
				case result := <-done:
					require.Fail(t, "the execution has not waited", "%s %s", result.Error, result.Cause)
				}
				id := w.queryOf(t, execution)
				w.put(t, w.eventOf(id, "RUNNING"), 0)
				if tt.told { // else it ends when it has been described once
					w.services["athena"].SetJobStatus(id, tt.status)
					w.put(t, w.eventOf(id, tt.status), 1)
				}
				result := <-done
				require.NotNil(t, result)
				require.Equal(t, tt.failure, result.Error, "%s\n%s", result.Cause, result.Trace())
				if tt.failure == "" {
					require.Contains(t, string(result.Output), `"status":"`+tt.status+`"`)
				}
				require.LessOrEqual(t, result.Transitions, 6)
				query, _ := w.services["athena"].ByID(id)
				require.Equal(t, tt.status, query.Status)
				t.Logf("%s: %d transitions in %.1f s", execution, result.Transitions, time.Since(begun).Seconds())
			})
		}
	})
	require.EqualValues(t, 2, kills.Load(), "the answer of the killed collector is given by another")
	require.NoError(t, w.stop())
	require.Empty(t, w.iam.denied)
	require.Zero(t, w.count(t, "FunctionsDeadLetters"), "messages that the collector cannot read")
	w.requireUsed(t, map[string][]string{
		"FunctionsCollectorRole": append([]string{"athena:BatchGetQueryExecution", "sqs:GetQueueAttributes", "states:SendTaskFailure"}, ofCheckStatus...),
		"FunctionsRunJobRole": append([]string{
			"athena:GetDataCatalog", "glue:BatchGetPartition", "glue:GetDatabase", "glue:GetPartition", "glue:GetPartitions", "glue:GetTable",
			"s3:AbortMultipartUpload", "s3:GetBucketLocation", "s3:GetObject", "s3:ListBucket", "s3:ListBucketMultipartUploads",
			"s3:ListMultipartUploadParts", "s3:PutObject",
		}, ofCheckStatus...),
	})
	for _, name := range []string{"FunctionsRunJob", "FunctionsCollector"} {
		w.logs[w.named(t, "AWS::Lambda::Function", name).id].check(t)
	}
}

// collectedWorld is a world with queues, rules and a table.
type collectedWorld struct {
	*world

	direct elasticmq.Client
	rules  []rule
	queues map[string]string // URLs of the server by ARN
	stop   func() error      // stops the mapping
}

func newCollectedWorld(t *testing.T, a assembly) *collectedWorld {
	t.Helper()
	w := &collectedWorld{rules: rulesOf(t, a), queues: map[string]string{}, world: &world{
		assembly: a, iam: newAccess(t, a), functions: map[string]sim.LambdaFunction{}, logs: map[string]*functionLog{}, callbacks: newCallbacks(),
	}}
	w.services = map[string]*scripted{"athena": athenaQueries(w.iam), "states": w.callbacks.service(w.iam)}
	server, err := elasticmq.Start(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	tables, err := dynalite.Start(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tables.Close()) })
	table := a.only(t, "AWS::DynamoDB::Table")
	require.Equal(t, []any{map[string]any{"AttributeName": "key", "KeyType": "HASH"}}, table.properties["KeySchema"])
	require.NoError(t, tables.CreateTable(t.Context(), a.physical(t, "{"+table.id+"}"), "key"))
	w.direct = elasticmq.Client{Endpoint: server.URL(), AccessKey: "test"}
	w.createQueues(t)

	client := tables.Config(dynalite.ClientOptions{}).HTTPClient.(*http.Client)
	services := endpoint(w.services)
	queues, records := w.guard(queueNeeds, forward(t, server.URL(), http.DefaultTransport)), w.guard(tableNeeds, forward(t, tables.URL(), client.Transport))
	aws := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch target, _, _ := strings.Cut(r.Header.Get("X-Amz-Target"), "."); target {
		case "AmazonSQS":
			queues.ServeHTTP(rw, r)
		case "DynamoDB_20120810":
			records.ServeHTTP(rw, r)
		default:
			services.ServeHTTP(rw, r)
		}
	}))
	t.Cleanup(aws.Close)
	for _, function := range a.of("AWS::Lambda::Function") {
		w.deploy(t, function, "AWS_ENDPOINT_URL="+aws.URL)
	}
	w.startMapping(t, aws.URL)
	return w
}

// createQueues creates the queues of the template, those for dead letters first.
func (w *collectedWorld) createQueues(t *testing.T) {
	t.Helper()
	all := w.of("AWS::SQS::Queue")
	slices.SortFunc(all, func(a, b resource) int { return len(a.properties) - len(b.properties) })
	for _, queue := range all {
		require.Subset(t, []string{"MessageRetentionPeriod", "SqsManagedSseEnabled", "VisibilityTimeout", "RedrivePolicy"}, slices.Collect(maps.Keys(queue.properties)))
		attributes := map[string]string{}
		for _, name := range []string{"VisibilityTimeout", "RedrivePolicy"} {
			if value, ok := queue.properties[name]; ok {
				text, err := json.Marshal(resolve(t, value))
				require.NoError(t, err)
				attributes[name] = w.physical(t, string(text))
			}
		}
		at, arn, err := w.direct.CreateQueue(t.Context(), queue.id, attributes)
		require.NoError(t, err)
		require.Equal(t, w.physical(t, "{"+queue.id+".Arn}"), arn)
		w.queues[arn] = at
	}
}

// startMapping delivers the messages of the queue as the mapping of the template says, with
// the role of the function.
func (w *collectedWorld) startMapping(t *testing.T, endpoint string) {
	t.Helper()
	of := w.only(t, "AWS::Lambda::EventSourceMapping")
	require.ElementsMatch(t, []string{
		"BatchSize", "EventSourceArn", "FunctionName", "FunctionResponseTypes", "MaximumBatchingWindowInSeconds", "ScalingConfig",
	}, slices.Collect(maps.Keys(of.properties)))
	function := w.physical(t, resolve(t, of.properties["FunctionName"]).(string))
	queue := w.physical(t, resolve(t, of.properties["EventSourceArn"]).(string))
	mapping := &elasticmq.Mapping{
		Client:   elasticmq.Client{Endpoint: endpoint, AccessKey: roleOfResource(t, w.named(t, "AWS::Lambda::Function", function))},
		QueueURL: w.queues[queue], QueueARN: queue,
		BatchSize:      int(of.properties["BatchSize"].(float64)),
		Window:         time.Duration(of.properties["MaximumBatchingWindowInSeconds"].(float64) * float64(time.Second)),
		Concurrency:    int(of.properties["ScalingConfig"].(map[string]any)["MaximumConcurrency"].(float64)),
		ReportFailures: slices.Contains(of.properties["FunctionResponseTypes"].([]any), any("ReportBatchItemFailures")),
		Invoke: func(ctx context.Context, _ int, payload []byte) ([]byte, error) {
			return w.logs[function].of.Invoke(ctx, payload)
		},
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mapping.Run(ctx) }()
	w.stop = func() error {
		cancel()
		return <-ended
	}
	t.Cleanup(cancel)
}

// put puts an event on the bus, which so many rules take: pollers share one.
func (w *collectedWorld) put(t *testing.T, event map[string]any, want int) {
	t.Helper()
	body, err := json.Marshal(event)
	require.NoError(t, err)
	taken := 0
	for _, r := range w.rules {
		if !matches(t, r.pattern, event) {
			continue
		}
		for _, target := range r.targets {
			require.True(t, allowsRule(t, w.assembly, target, r.arn), "the policy of the queue refuses the rule")
			taken++
			require.NoError(t, w.direct.Call(t.Context(), "SendMessage", map[string]any{"QueueUrl": w.queues[target], "MessageBody": string(body)}, nil))
		}
	}
	require.Equal(t, want, taken)
}

func (w *collectedWorld) eventOf(id, state string) map[string]any {
	return map[string]any{
		"version": "0", "id": "0", "source": "aws.athena", "detail-type": "Athena Query State Change", "account": "123456789012", "region": "us-east-1",
		"resources": []any{}, "detail": map[string]any{
			"versionId": "0", "currentState": state, "previousState": "RUNNING", "queryExecutionId": id, "workgroupName": "primary",
		},
	}
}

// count counts the messages of a queue.
func (w *collectedWorld) count(t *testing.T, queue string) int {
	t.Helper()
	visible, delayed, received, err := w.direct.Count(t.Context(), w.queues[w.physical(t, "{"+w.named(t, "AWS::SQS::Queue", queue).id+".Arn}")])
	require.NoError(t, err)
	return visible + delayed + received
}

// queryOf is the query of an execution.
func (w *collectedWorld) queryOf(t *testing.T, execution string) (id string) {
	t.Helper()
	for i := range w.services["athena"].Starts() {
		job, _ := w.services["athena"].ByID(fmt.Sprintf("job-%d", i+1))
		if job.Parameters["QueryString"] == execution {
			require.Empty(t, id, "the query is started once")
			id = job.ID
		}
	}
	require.NotEmpty(t, id)
	return id
}

// requireUsed requires that the roles are allowed nothing that was not asked for, but what
// is listed.
func (w *collectedWorld) requireUsed(t *testing.T, spared map[string][]string) {
	t.Helper()
	for role, actions := range spared {
		require.Subset(t, actions, w.iam.unused(w.named(t, "AWS::IAM::Role", role).id), role)
	}
}

// guard lets pass what the role may that has signed the request.
func (w *collectedWorld) guard(needs func(operation string, in map[string]any) []need, next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is gone
		}
		var in map[string]any
		_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		if err := json.Unmarshal(body, &in); err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		for _, n := range needs(operation, in) {
			if !w.iam.allows(roleOf(r), n.action, n.resource, nil) {
				rw.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(rw, `{"__type": "AccessDeniedException"}`)
				return
			}
		}
		// A server answers to the end, though the client may have been killed.
		r = r.WithContext(context.WithoutCancel(r.Context()))
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		maps.Copy(rw.Header(), answer.Header())
		rw.WriteHeader(answer.Code)
		_, _ = rw.Write(answer.Body.Bytes())
	})
}

// queueNeeds are what the caller of an operation of SQS must be allowed.
func queueNeeds(operation string, in map[string]any) []need {
	at, _ := url.Parse(text(in["QueueUrl"]))
	_, name, _ := strings.Cut(strings.TrimPrefix(at.Path, "/"), "/")
	return []need{{"sqs:" + strings.TrimSuffix(operation, "Batch"), "arn:aws:sqs:" + account + ":" + name, ""}}
}

// tableNeeds are what the caller of an operation of DynamoDB must be allowed.
func tableNeeds(operation string, in map[string]any) (needs []need) {
	table := func(of any) string { return "arn:aws:dynamodb:" + account + ":table/" + text(of) }
	if operation != "TransactWriteItems" {
		return []need{{"dynamodb:" + operation, table(in["TableName"]), ""}}
	}
	for _, item := range in["TransactItems"].([]any) {
		for kind, of := range item.(map[string]any) {
			needs = append(needs, need{"dynamodb:" + kind + "Item", table(of.(map[string]any)["TableName"]), ""})
		}
	}
	return needs
}

func forward(t *testing.T, to string, by http.RoundTripper) http.Handler {
	t.Helper()
	at, err := url.Parse(to)
	require.NoError(t, err)
	return &httputil.ReverseProxy{Transport: by, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(at) }}
}

// athenaQueries is Athena.
func athenaQueries(iam *access) *scripted {
	jobs := jobstest.NewJobs("RUNNING")
	s := &scripted{iam: iam, needs: map[string]func(map[string]any) []need{}, end: map[string]string{goesWell: "SUCCEEDED", goesWrong: "FAILED"}}
	described := func(id any) any {
		known, _ := jobs.ByID(text(id))
		job, _ := s.looked(text(id), text(known.Parameters["QueryString"])) // a query that nobody knows has no status
		return map[string]any{"QueryExecutionId": job.ID, "Status": map[string]any{"State": job.Status, "StateChangeReason": "no such table"}}
	}
	s.JSONService = jobstest.JSONService{Jobs: jobs, Version: "1.1", Target: "AmazonAthena", Operations: map[string]func(map[string]any) (any, error){
		"StartQueryExecution": func(in map[string]any) (any, error) {
			job, err := jobs.Start(text(in["ClientRequestToken"]), in, jobstest.Refusal{Code: "InvalidRequestException"})
			return map[string]any{"QueryExecutionId": job.ID}, err
		},
		"GetQueryExecution": func(in map[string]any) (any, error) {
			return map[string]any{"QueryExecution": described(in["QueryExecutionId"])}, nil
		},
		"BatchGetQueryExecution": func(in map[string]any) (any, error) {
			var all []any
			for _, id := range in["QueryExecutionIds"].([]any) {
				all = append(all, described(id))
			}
			return map[string]any{"QueryExecutions": all}, nil
		},
		"StopQueryExecution": func(in map[string]any) (any, error) {
			jobs.SetJobStatus(text(in["QueryExecutionId"]), "CANCELLED")
			return struct{}{}, nil
		},
	}}
	for operation := range s.Operations {
		s.needs[operation] = func(map[string]any) []need {
			return []need{{"athena:" + operation, "arn:aws:athena:" + account + ":workgroup/primary", ""}}
		}
	}
	return s
}
