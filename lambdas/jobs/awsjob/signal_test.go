package awsjob_test

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// announced is a start call of a job, and events of it, as the catalogue's tests have them.
type announced struct {
	Input  map[string]any `json:"input"`
	Output map[string]any `json:"output"`
	Events []struct {
		Ended bool           `json:"ended"`
		Event map[string]any `json:"event"`
	} `json:"events"`
}

// signaling is what drivers of jobs are besides.
type signaling interface {
	jobs.Driver
	jobs.Announcer
	jobs.BatchDescriber
}

func newSignaling(t *testing.T, url, name string) signaling {
	t.Helper()
	d, err := awsjob.NewDriver(config(url), catalog.AWS(), name)
	require.NoError(t, err)
	s, ok := d.(signaling)
	require.True(t, ok, name)
	return s
}

// refOf is the reference of a job that was started so.
func refOf(t *testing.T, job *catalog.Job, started map[string]any) jobs.Ref {
	t.Helper()
	ref := jobs.Ref{}
	for name, text := range job.Arguments {
		expr, err := jmespath.Parse(text)
		require.NoError(t, err)
		program, _ := expr.Compile(nil)
		value, err := program.Eval(started)
		require.NoError(t, err)
		if value == nil {
			continue
		}
		if text, ok := value.(string); ok {
			ref[javasdk.MemberName(name)] = text
			continue
		}
		text, err := json.Marshal(value)
		require.NoError(t, err)
		ref[javasdk.MemberName(name)] = string(text)
	}
	return ref
}

// Each event of the end of a job names the job of the reference, and no event of one job
// is taken for that of another with the same ids.
func TestReadEvents(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../pollcore/catalog/testdata/events.json")
	require.NoError(t, err)
	var samples map[string]announced
	require.NoError(t, json.Unmarshal(text, &samples))
	require.NotEmpty(t, samples)
	glue := newSignaling(t, "https://example.com", "glue:StartJobRun")
	for name, s := range samples {
		named, err := catalog.AWS().Resolve(name)
		require.NoError(t, err)
		d := newSignaling(t, "https://example.com", name)
		ids, err := d.JobIDs(refOf(t, named.Job, map[string]any{"input": s.Input, "output": s.Output}))
		require.NoError(t, err, name)
		require.NotEmpty(t, ids, name)
		for _, e := range s.Events {
			id, ok := d.ReadEvent(e.Event)
			if e.Ended {
				require.True(t, ok, "%s: %v", name, e.Event)
				require.Contains(t, ids, id, name)
			}
			if name != "glue:StartJobRun" {
				_, ok = glue.ReadEvent(e.Event)
				require.False(t, ok, name)
			}
		}
	}
	for _, event := range []map[string]any{
		nil,
		{"source": "aws.glue"},
		{"source": "aws.glue", "detail-type": 1},
		{"source": "aws.glue", "detail-type": "Glue Job State Change"},
		{"source": "aws.glue", "detail-type": "Glue Job State Change", "detail": map[string]any{"jobRunId": ""}},
	} {
		_, ok := glue.ReadEvent(event)
		require.False(t, ok, "%v", event)
	}
	_, err = glue.JobIDs(jobs.Ref{"JobName": "nightly"})
	require.Error(t, err, "a reference that a person has spoiled")
	without := newSignaling(t, "https://example.com", "dynamodb:ExportTableToPointInTime")
	ids, err := without.JobIDs(jobs.Ref{"ExportArn": "arn:aws:dynamodb:us-east-1:123456789012:table/t/export/1"})
	require.NoError(t, err)
	require.Empty(t, ids)
	_, ok := without.ReadEvent(map[string]any{"source": "aws.dynamodb"})
	require.False(t, ok)
}

// Jobs of one group are described by one call, each as Describe would.
func TestDescribeBatch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		refs   []jobs.Ref
		batch  jobs.Batch // of the first
		sent   string
		answer string
		want   []string // outputs as JSON; "null" for one that is missing
	}{
		{
			"athena:StartQueryExecution",
			[]jobs.Ref{{"QueryExecutionId": "a"}, {"QueryExecutionId": "b"}, {"QueryExecutionId": "c"}, {"QueryExecutionId": "a"}},
			jobs.Batch{Group: `{"QueryExecutionIds":null}`, Size: 1, Max: 50},
			`{"QueryExecutionIds": ["a", "b", "c"]}`,
			`{"QueryExecutions": [
				{"QueryExecutionId": "c", "Status": {"State": "RUNNING", "SubmissionDateTime": 1795262400.5}, "Statistics": {"DataScannedInBytes": 9007199254740993, "DpuCount": 0.5}},
				{"QueryExecutionId": "a", "Status": {"State": "SUCCEEDED"}}
			], "UnprocessedQueryExecutionIds": [{"QueryExecutionId": "b"}]}`,
			[]string{
				`{"QueryExecution": {"QueryExecutionId": "a", "Status": {"State": "SUCCEEDED"}}}`, `null`,
				`{"QueryExecution": {"QueryExecutionId": "c", "Status": {"State": "RUNNING", "SubmissionDateTime": "2026-11-21T12:00:00.5Z"}, "Statistics": {"DataScannedInBytes": 9007199254740993, "DpuCount": 0.5}}}`,
				`{"QueryExecution": {"QueryExecutionId": "a", "Status": {"State": "SUCCEEDED"}}}`,
			},
		},
		{
			"codebuild:StartBuild",
			[]jobs.Ref{{"Ids": `["shop:a"]`}, {"Ids": `["shop:b"]`}},
			jobs.Batch{Group: `{"ids":null}`, Size: 1, Max: 100},
			`{"ids": ["shop:a", "shop:b"]}`,
			`{"builds": [{"id": "shop:b", "buildStatus": "FAILED"}, {"id": "shop:a", "buildStatus": "SUCCEEDED"}], "buildsNotFound": []}`,
			[]string{`{"Builds": [{"Id": "shop:a", "BuildStatus": "SUCCEEDED"}]}`, `{"Builds": [{"Id": "shop:b", "BuildStatus": "FAILED"}]}`},
		},
		{
			"ecs:RunTask",
			[]jobs.Ref{{"Cluster": "c", "Tasks": `["a1", "a2"]`}, {"Cluster": "c", "Tasks": `["b1", "b2"]`}},
			jobs.Batch{Group: `{"cluster":"c","tasks":null}`, Size: 2, Max: 100},
			`{"cluster": "c", "tasks": ["a1", "a2", "b1", "b2"]}`,
			`{"tasks": [{"taskArn": "b1", "lastStatus": "STOPPED"}, {"taskArn": "a2", "lastStatus": "RUNNING"}, {"taskArn": "a1", "lastStatus": "STOPPED"}]}`,
			[]string{`{"Tasks": [{"TaskArn": "a1", "LastStatus": "STOPPED"}, {"TaskArn": "a2", "LastStatus": "RUNNING"}]}`, `null`},
		},
		{
			"deadline:CreateJob",
			[]jobs.Ref{{"FarmId": "f", "QueueId": "q", "JobId": "a"}, {"FarmId": "f", "QueueId": "p", "JobId": "b"}},
			jobs.Batch{Group: `{"identifiers":null}`, Size: 1, Max: 100},
			`{"identifiers": [{"farmId": "f", "queueId": "q", "jobId": "a"}, {"farmId": "f", "queueId": "p", "jobId": "b"}]}`,
			`{"jobs": [{"farmId": "f", "queueId": "p", "jobId": "b", "taskRunStatus": "FAILED"}], "errors": []}`,
			[]string{`null`, `{"JobId": "b", "TaskRunStatus": "FAILED"}`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := newScripted(t, answer{body: tt.answer})
			d := newSignaling(t, server.URL, tt.name)
			batch, err := d.Batch(tt.refs[0])
			require.NoError(t, err)
			require.Equal(t, tt.batch, batch)
			outputs, err := d.DescribeBatch(t.Context(), tt.refs)
			require.NoError(t, err)
			require.Len(t, outputs, len(tt.want))
			for i, want := range tt.want {
				text, err := json.Marshal(outputs[i])
				require.NoError(t, err)
				require.JSONEq(t, want, string(text), i)
				require.Equal(t, want == "null", outputs[i] == nil)
			}
			sent := server.take()
			require.Len(t, sent, 1)
			require.JSONEq(t, tt.sent, sent[0].Body)
		})
	}
}

// What cannot be described together says so, and errors are the service's own.
func TestDescribeBatchErrors(t *testing.T) {
	t.Parallel()
	_, err := newSignaling(t, "https://example.com", "glue:StartJobRun").Batch(jobs.Ref{"JobName": "n", "RunId": "r"})
	require.EqualError(t, err, "glue:StartJobRun: no operation describes many jobs at once")
	server := newScripted(t, answer{status: http.StatusBadRequest, body: `{"__type": "TooManyRequestsException"}`})
	d := newSignaling(t, server.URL, "athena:StartQueryExecution")
	_, err = d.Batch(jobs.Ref{"NoSuchMember": "1"})
	require.ErrorContains(t, err, "job reference")
	_, err = d.DescribeBatch(t.Context(), []jobs.Ref{{"NoSuchMember": "1"}})
	require.ErrorContains(t, err, "job reference")
	_, err = d.DescribeBatch(t.Context(), []jobs.Ref{{"QueryExecutionId": "a"}})
	require.ErrorContains(t, err, "TooManyRequestsException")
	require.ErrorContains(t, err, "BatchGetQueryExecution")
}
