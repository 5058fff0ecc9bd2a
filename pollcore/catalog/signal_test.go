package catalog_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// sample is a start call of a job, and events of it as AWS's schemas describe them.
type sample struct {
	Input  map[string]any `json:"input"`
	Output map[string]any `json:"output"`
	Events []struct {
		Ended bool           `json:"ended"`
		Event map[string]any `json:"event"`
	} `json:"events"`
}

// jobs calls test with every job of the catalogue.
func jobs(t *testing.T, test func(t *testing.T, name string, e *catalog.Entry)) {
	t.Helper()
	entries(t, func(t *testing.T, _ catalog.Listing, _ catalog.Listed, found *catalog.Entry) {
		t.Helper()
		if found.Job != nil {
			test(t, found.FullName(), found)
		}
	})
}

// arguments are those of the describe call of a job that was started so.
func arguments(t *testing.T, job *catalog.Job, input, output map[string]any) map[string]any {
	t.Helper()
	made := map[string]any{}
	for name, text := range job.Arguments {
		expr, err := jmespath.Parse(text)
		require.NoError(t, err)
		program, _ := expr.Compile(nil)
		value, err := program.Eval(map[string]any{"input": input, "output": output})
		require.NoError(t, err)
		if value != nil {
			made[name] = value
		}
	}
	return made
}

// An event of a job has the id that the job's describe call asks for, and the rule
// takes the events of jobs that have ended and no others.
func TestEventsOfJobs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/events.json")
	require.NoError(t, err)
	var samples map[string]sample
	require.NoError(t, json.Unmarshal(text, &samples))
	jobs(t, func(t *testing.T, name string, e *catalog.Entry) {
		t.Helper()
		event := e.Job.Event
		require.Equal(t, event != nil, samples[name].Events != nil, name)
		if event == nil {
			return
		}
		s := samples[name]
		require.NotNil(t, s.Events, "%s has no sample", name)
		asked := arguments(t, e.Job, s.Input, s.Output)
		ids, err := event.JobIDs(asked)
		require.NoError(t, err, name)
		whole := *event
		whole.After = ""
		uncut, err := whole.JobIDs(asked)
		require.NoError(t, err, name)
		requireCut(t, name, uncut, ids)
		pattern, named := decoded(t, e.Job.EventPattern(nil)), decoded(t, e.Job.EventPattern(s.Input))
		made := event.Sample(ids[0])
		require.True(t, event.Takes(made), name)
		require.True(t, matches(pattern, decoded(t, made)), name)
		read, err := event.JobID(made)
		require.NoError(t, err, name)
		require.Equal(t, ids[0], read, name)
		ended := 0
		for _, one := range s.Events {
			require.Equal(t, one.Ended, matches(pattern, one.Event), "%s: %v", name, one.Event)
			require.Equal(t, one.Ended, matches(named, one.Event), "%s: %v", name, one.Event)
			if one.Ended {
				require.True(t, event.Takes(one.Event), name)
				id, err := event.JobID(one.Event)
				require.NoError(t, err, name)
				require.Contains(t, ids, id, name)
				uncut, err := whole.JobID(one.Event)
				require.NoError(t, err, name)
				requireCut(t, name, []string{uncut}, []string{id})
				ended++
			}
		}
		require.Positive(t, ended, name)
		delete(samples, name)
	})
	require.Empty(t, slices.Collect(maps.Keys(samples)), "samples of no event")
}

// Where literal arguments name a resource, a rule takes only the events of that resource.
func TestEventPatternNamesWhatArgumentsName(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		job       string
		arguments map[string]any
		want      any // in the detail, beside the status
	}{
		"a name":                      {"athena:StartQueryExecution", map[string]any{"WorkGroup": "etl"}, map[string]any{"workgroupName": []any{"etl"}}},
		"a token of the CDK":          {"athena:StartQueryExecution", map[string]any{"WorkGroup": "${Token[TOKEN.7]}"}, map[string]any{"workgroupName": []any{"${Token[TOKEN.7]}"}}},
		"as SDK integrations spell":   {"codebuild:StartBuild", map[string]any{"ProjectName": "shop"}, map[string]any{"project-name": []any{"shop"}}},
		"a name that is the id":       {"glue:StartCrawler", map[string]any{"Name": "orders"}, map[string]any{"crawlerName": []any{"orders"}}},
		"an ARN":                      {"codebuild:StartBuild", map[string]any{"projectName": "arn:aws:codebuild:eu-west-1:123456789012:project/shop"}, map[string]any{}},
		"an expression":               {"athena:StartQueryExecution", map[string]any{"WorkGroup": "{% $states.input.group %}"}, map[string]any{}},
		"another argument":            {"athena:StartQueryExecution", map[string]any{"QueryString": "SELECT 1"}, map[string]any{}},
		"an id that the service sets": {"sagemaker:StartPipelineExecution", map[string]any{"PipelineName": "train"}, map[string]any{}},
		"no arguments":                {"athena:StartQueryExecution", nil, map[string]any{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			named, err := catalog.AWS().Resolve(tt.job)
			require.NoError(t, err)
			detail := decoded(t, named.Job.EventPattern(tt.arguments)).(map[string]any)["detail"].(map[string]any)
			delete(detail, strings.TrimPrefix(named.Job.Event.Status, "detail."))
			delete(detail, strings.Trim(strings.TrimPrefix(named.Job.Event.Status, "detail."), `"`))
			require.Equal(t, tt.want, detail)
		})
	}
}

// requireCut requires that nothing but ARNs is cut.
func requireCut(t *testing.T, name string, uncut, ids []string) {
	t.Helper()
	for i, id := range ids {
		require.True(t, id == uncut[i] || strings.HasPrefix(uncut[i], "arn:"), "%s: %s of %s", name, id, uncut[i])
	}
}

// decoded is a value as JSON has it.
func decoded(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	var out any
	require.NoError(t, json.Unmarshal(text, &out))
	return out
}

// matches tells whether an event matches a pattern of EventBridge with lists of
// values alone.
func matches(pattern, event any) bool {
	if values, ok := pattern.([]any); ok {
		return slices.Contains(values, event)
	}
	object, _ := event.(map[string]any)
	for name, inner := range pattern.(map[string]any) {
		if !matches(inner, object[name]) {
			return false
		}
	}
	return true
}

// Events of another source, detail-type or value are of something else.
func TestEventsOfOthers(t *testing.T) {
	t.Parallel()
	event := &catalog.Event{Source: "aws.x", DetailTypes: []string{"Done", "Failed"}, Where: map[string][]string{"detail.kind": {"export"}}}
	one := func(source, kind, detail any) map[string]any {
		return map[string]any{"source": source, "detail-type": kind, "detail": map[string]any{"kind": detail}}
	}
	require.True(t, event.Takes(one("aws.x", "Failed", "export")))
	for _, other := range []map[string]any{
		nil, one("aws.y", "Done", "export"), one("aws.x", "Began", "export"), one("aws.x", nil, "export"), one("aws.x", "Done", "import"),
		one("aws.x", "Done", nil), one("aws.x", "Done", 1.0),
		{"source": "aws.x", "detail-type": "Done"},
	} {
		require.False(t, event.Takes(other), "%v", other)
	}
}

// An event or arguments without an id are errors.
func TestEventWithoutID(t *testing.T) {
	t.Parallel()
	event := &catalog.Event{ID: `detail."build-id"`, After: "/", Argument: "ids"}
	id, err := event.JobID(map[string]any{"detail": map[string]any{"build-id": "arn:aws:codebuild:::build/shop:1"}})
	require.NoError(t, err)
	require.Equal(t, "shop:1", id)
	for _, detail := range []any{nil, map[string]any{}, map[string]any{"build-id": 3}, map[string]any{"build-id": "build/"}} {
		_, err := event.JobID(map[string]any{"detail": detail})
		require.EqualError(t, err, `the event has no id of a job at detail."build-id"`)
	}
	for _, ids := range []any{nil, "", 3.0, []any{"a", nil}} {
		_, err := event.JobIDs(map[string]any{"ids": ids})
		require.EqualError(t, err, "the arguments have no id of a job at ids")
	}
	_, err = (&catalog.Event{ID: "detail."}).JobID(nil)
	require.Error(t, err)
	_, err = (&catalog.Event{Argument: "["}).JobIDs(nil)
	require.Error(t, err)
}

// The ids of a job and of its elements are of one form, and the elements of two jobs
// make the answers that describe calls give.
func TestBatches(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		one, two string // the inputs of the describe calls
		input    string // of the call for both
		answer   string
		ids      string // of its elements
		first    string // what stands for the describe call's answer
		verdict  pollcore.Verdict
	}{
		{
			"athena:StartQueryExecution", `{"QueryExecutionId": "a"}`, `{"QueryExecutionId": "b"}`, `{"QueryExecutionIds": ["a", "b"]}`,
			`{"QueryExecutions": [{"QueryExecutionId": "b", "Status": {"State": "SUCCEEDED"}}], "UnprocessedQueryExecutionIds": [{"QueryExecutionId": "a"}]}`,
			`["b"]`, `{"QueryExecution": {"QueryExecutionId": "b", "Status": {"State": "SUCCEEDED"}}}`, pollcore.Success,
		},
		{
			"codebuild:StartBuild", `{"ids": ["shop:a"]}`, `{"ids": ["shop:b"]}`, `{"ids": ["shop:a", "shop:b"]}`,
			`{"builds": [{"id": "shop:a", "buildStatus": "FAILED"}, {"id": "shop:b", "buildStatus": "SUCCEEDED"}]}`,
			`["shop:a", "shop:b"]`, `{"builds": [{"id": "shop:a", "buildStatus": "FAILED"}]}`, pollcore.Failure,
		},
		{
			"deadline:CreateJob", `{"farmId": "f", "queueId": "q", "jobId": "a"}`, `{"farmId": "f", "queueId": "p", "jobId": "b"}`,
			`{"identifiers": [{"farmId": "f", "queueId": "q", "jobId": "a"}, {"farmId": "f", "queueId": "p", "jobId": "b"}]}`,
			`{"jobs": [{"farmId": "f", "queueId": "q", "jobId": "a", "taskRunStatus": "RUNNING", "lifecycleStatus": "CREATE_COMPLETE"}], "errors": []}`,
			`[{"farmId": "f", "queueId": "q", "jobId": "a"}]`,
			`{"farmId": "f", "queueId": "q", "jobId": "a", "taskRunStatus": "RUNNING", "lifecycleStatus": "CREATE_COMPLETE"}`, pollcore.Retry,
		},
		{
			"emr:AddJobFlowSteps", `{"ClusterId": "j", "StepIds": ["a1", "a2"]}`, `{"ClusterId": "j", "StepIds": ["b"]}`,
			`{"ClusterId": "j", "StepIds": ["a1", "a2", "b"]}`, `{"Steps": [{"Id": "b", "Status": {"State": "COMPLETED"}}, {"Id": "a1"}]}`,
			`["b", "a1"]`, `{"Steps": [{"Id": "b", "Status": {"State": "COMPLETED"}}]}`, pollcore.Success,
		},
		{
			"glue:StartCrawler", `{"Name": "a"}`, `{"Name": "b"}`, `{"CrawlerNames": ["a", "b"]}`, `{"Crawlers": [{"Name": "a", "State": "RUNNING"}]}`,
			`["a"]`, `{"Crawler": {"Name": "a", "State": "RUNNING"}}`, pollcore.Retry,
		},
	}
	object := func(text string) (v map[string]any) {
		require.NoError(t, json.Unmarshal([]byte(text), &v))
		return v
	}
	for _, tt := range tests {
		found, err := catalog.AWS().Resolve(tt.name)
		require.NoError(t, err)
		b := found.Job.Batch
		var all []any
		for _, input := range []string{tt.one, tt.two} {
			ids, err := b.JobIDs(object(input))
			require.NoError(t, err)
			all = append(all, ids...)
		}
		require.JSONEq(t, tt.input, textOf(t, b.Input(object(tt.one), all)), tt.name)
		elements, ids, err := b.ReadElements(object(tt.answer))
		require.NoError(t, err)
		require.JSONEq(t, tt.ids, textOf(t, ids), tt.name)
		require.Contains(t, all, ids[0])
		answer := b.AnswerOf(elements[:1])
		require.JSONEq(t, tt.first, textOf(t, answer), tt.name)
		check, err := pollcore.Compile[any, any](found.Waiter)
		require.NoError(t, err)
		require.Equal(t, tt.verdict, check.Check(nil, answer, nil).Verdict, tt.name)
	}
}

// Every batch has its operation, takes the ids of what the job describes, and no more
// members that the call must have.
func TestEveryBatch(t *testing.T) {
	t.Parallel()
	count := 0
	jobs(t, func(t *testing.T, name string, e *catalog.Entry) {
		t.Helper()
		b := e.Job.Batch
		if b == nil {
			return
		}
		count++
		op := e.Service.Operations[b.Operation]
		require.NotNil(t, op, name)
		require.NotEmpty(t, op.Actions, name)
		input := b.Input(map[string]any{}, nil)
		for _, shared := range b.Shared {
			input[shared] = ""
		}
		for _, m := range op.Input.Members {
			require.True(t, !m.Required || slices.Contains(slices.Collect(maps.Keys(input)), m.Name), "%s: %s", name, m.Name)
		}
		_, err := b.JobIDs(map[string]any{})
		require.ErrorContains(t, err, "the arguments have no id of a job at", name)
	})
	require.Equal(t, 18, count)
	_, err := (&catalog.Batch{Argument: "["}).JobIDs(nil)
	require.Error(t, err)
	_, _, err = (&catalog.Batch{Elements: "["}).ReadElements(nil)
	require.Error(t, err)
	_, _, err = (&catalog.Batch{Elements: "a", ID: "["}).ReadElements(map[string]any{"a": []any{1.0}})
	require.Error(t, err)
}

// No event is one of two jobs, so an event of one job wakes no wait for another. The ids
// of a service's jobs may be the same.
func TestNoEventIsOfTwoJobs(t *testing.T) {
	t.Parallel()
	events := map[string]*catalog.Event{}
	jobs(t, func(t *testing.T, name string, e *catalog.Entry) {
		t.Helper()
		if e.Job.Event == nil {
			return
		}
		for other, event := range events {
			require.False(t, overlap(e.Job.Event, event), "%s and %s: add what tells their events apart", name, other)
		}
		events[name] = e.Job.Event
	})
	snapshots, images := *events["ec2:CreateSnapshot"], *events["ec2:CreateSnapshot"]
	require.True(t, overlap(&snapshots, &images))
	images.Where = map[string][]string{"detail.event": {"copySnapshot"}}
	require.False(t, overlap(&snapshots, &images))
}

// overlap tells whether an event can be both.
func overlap(a, b *catalog.Event) bool {
	common := func(a, b []string) bool {
		return slices.ContainsFunc(a, func(text string) bool { return slices.Contains(b, text) })
	}
	if a.Source != b.Source || !common(a.DetailTypes, b.DetailTypes) {
		return false
	}
	for path, values := range a.Where {
		if others := b.Where[path]; others != nil && !common(values, others) {
			return false
		}
	}
	return true
}

// What a waiter reads is in the answer that is made of elements. A list of missing ids is
// not: a job that is not among the elements is described alone.
func TestWaitersReadAnswersOfBatches(t *testing.T) {
	t.Parallel()
	missing := map[string]string{"ecs:RunTask": "failures"}
	jobs(t, func(t *testing.T, name string, e *catalog.Entry) {
		t.Helper()
		b := e.Job.Batch
		if b == nil || b.Answer == "" { // the element is the answer
			return
		}
		member := strings.TrimSuffix(b.Answer, "[]")
		read := map[string]bool{}
		note := func(text string) {
			if text == "" {
				return
			}
			expr, err := jmespath.Parse(text)
			require.NoError(t, err, name)
			for _, path := range expr.Paths() {
				require.NotEmpty(t, path, name)
				read[path[0]] = true
			}
		}
		note(e.Job.EndTime)
		for _, a := range e.Waiter.Acceptors {
			note(a.Message)
			if a.Matcher.Output != nil {
				note(a.Matcher.Output.Path)
			}
			require.Nil(t, a.Matcher.InputOutput, name)
		}
		require.True(t, read[member], name)
		delete(read, member)
		require.Equal(t, slices.DeleteFunc([]string{missing[name]}, func(s string) bool { return s == "" }), slices.AppendSeq([]string{}, maps.Keys(read)), name)
	})
}
