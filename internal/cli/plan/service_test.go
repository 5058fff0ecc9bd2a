package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/tests/wire"
)

// planned is what a command printed.
type planned struct {
	code           int
	stdout, stderr string
	took           time.Duration
}

// planFromService runs "jobpoller plan" in virtual time, with an HTTP client that answers.
func planFromService(t *testing.T, client clitest.Client, args ...string) (p planned) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var stdout, stderr bytes.Buffer
		ctx := awssettings.WithClient(t.Context(), client.Client())
		p.code = runCommand(ctx, append([]string{"plan", "--from-service", "--region", "eu-west-1"}, args...), &stdout, &stderr)
		p.stdout, p.stderr, p.took = stdout.String(), stderr.String(), time.Since(start)
	})
	return p
}

// The times of the first two of three jobs. The third runs.
var pastTimes = [3][2]string{
	{"2026-11-23T01:00:00Z", "2026-11-23T01:15:03Z"}, {"2026-11-22T01:00:00Z", "2026-11-22T01:10:00Z"}, {"2026-11-24T01:00:00Z", ""},
}

// putPath puts a value at a path of an answer. A list on the way has one element.
func putPath(object map[string]any, path string, value any) {
	name, rest, more := strings.Cut(path, ".")
	name, first := strings.CutSuffix(name, "[0]")
	if !more {
		object[name] = value
		return
	}
	inner, _ := object[name].(map[string]any)
	if list, isList := object[name].([]any); isList {
		inner, _ = list[0].(map[string]any)
	}
	if inner == nil {
		inner = map[string]any{}
	}
	object[name] = inner
	if first {
		object[name] = []any{inner}
	}
	putPath(inner, rest, value)
}

// putTimes puts the times of a job.
func putTimes(object map[string]any, start, end string, n int) {
	putPath(object, start, pastTimes[n][0])
	if pastTimes[n][1] != "" {
		putPath(object, end, pastTimes[n][1])
	}
}

// spellTimes writes times as numbers where the model has numbers.
func spellTimes(shape *catalog.Shape, object map[string]any) {
	for name, value := range object {
		switch member := shape.Member(name).Shape; v := value.(type) {
		case map[string]any:
			spellTimes(member, v)
		case string:
			if at, err := time.Parse(time.RFC3339, v); err == nil && member.Type == catalog.Long {
				object[name] = at.UnixMilli()
			}
		}
	}
}

// listedItem is what a list says of a job.
func listedItem(e *catalog.Entry, n int) any {
	l, item := e.Job.List, map[string]any{}
	for path, values := range l.Where {
		putPath(item, path, values[0])
	}
	if l.Describe == nil {
		putTimes(item, l.Start, l.End, n)
		within := e.Service.Operations[l.Operation].Output
		for name := range strings.SplitSeq(l.Items, ".") {
			within = within.Member(name).Shape
		}
		spellTimes(within.Element.Shape, item)
	}
	for _, expression := range l.Describe {
		switch id := strings.Trim(expression, "[]"); {
		case id == "item":
			return pastID(n)
		case strings.HasPrefix(id, "item."):
			putPath(item, strings.TrimPrefix(id, "item."), pastID(n))
		}
	}
	return item
}

func pastID(n int) string { return fmt.Sprintf("job-%d", n) }

// pastJobService answers the calls of one command: two pages of the list, and the calls
// that describe what they list.
func pastJobService(t *testing.T, e *catalog.Entry) clitest.Client {
	t.Helper()
	l, b := e.Job.List, e.Job.Batch
	return func(r *http.Request, number int) (*http.Response, error) {
		asked := requestText(t, r)
		op, answer := e.Operation, map[string]any{}
		switch {
		case number == 1:
			op = e.Service.Operations[l.Operation]
			putPath(answer, l.Items, []any{listedItem(e, 0), listedItem(e, 2)})
			next := l.Next
			if next == "" {
				next = l.Token
			}
			answer[next] = "page-2"
		case number == 2:
			require.Contains(t, asked, "page-2")
			op = e.Service.Operations[l.Operation]
			putPath(answer, l.Items, []any{listedItem(e, 1)})
		case b != nil:
			require.Equal(t, 3, number, "one call describes all")
			op = e.Service.Operations[b.Operation]
			var elements []any
			for n := range pastTimes {
				require.Contains(t, asked, pastID(n))
				element, within := map[string]any{b.ID: pastID(n)}, strings.TrimSuffix(b.Answer, "[]")
				cut := func(path string) string {
					return strings.TrimPrefix(strings.TrimPrefix(path, within), "[0]")[len("."):]
				}
				if within == "" {
					cut = func(path string) string { return path }
				}
				putTimes(element, cut(e.Job.StartTime), cut(e.Job.EndTime), n)
				elements = append(elements, element)
			}
			answer[b.Elements] = elements
		default:
			n := []int{0, 2, 1}[number-3]
			require.Contains(t, asked, pastID(n))
			putTimes(answer, e.Job.StartTime, e.Job.EndTime, n)
		}
		return wireResponse(wire.Succeed(spoken(e.Service), op, answer))
	}
}

// requestText is the address and the body of a request.
func requestText(t *testing.T, r *http.Request) string {
	t.Helper()
	if r.Body == nil {
		return r.URL.String()
	}
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return r.URL.String() + " " + string(body)
}

// spoken is the protocol of the calls: JSON where the service speaks it.
func spoken(s *catalog.Service) catalog.Protocol {
	if slices.Contains(s.Protocols, catalog.AWSJSON) {
		return catalog.AWSJSON
	}
	return s.Protocols[0]
}

func wireResponse(a wire.Answer) (*http.Response, error) {
	return &http.Response{StatusCode: a.Status, Header: a.Header, Body: io.NopCloser(bytes.NewReader(a.Body))}, nil
}

// Every list of the catalogue in its protocol: its pages, and the calls that describe what
// it lists, give the durations of the jobs that ended.
func TestEveryListOfPastJobs(t *testing.T) {
	t.Parallel()
	services, err := catalog.AWS().List()
	require.NoError(t, err)
	count := 0
	for _, s := range services {
		for _, listed := range s.Entries {
			e, err := catalog.Lookup(s.Key, listed.Name)
			require.NoError(t, err)
			if e.Job == nil || e.Job.List == nil {
				continue
			}
			count++
			t.Run(e.FullName(), func(t *testing.T) {
				t.Parallel()
				args := []string{e.Service.Key, e.Name, "-o", "json"}
				for _, m := range e.Service.Operations[e.Job.List.Operation].Input.Members {
					if _, constant := e.Job.List.Arguments[m.Name]; m.Required && !constant {
						args = append(args, "--param", m.Name+"=x1")
					}
				}
				for _, name := range e.Job.List.Needs {
					args = append(args, "--param", name+"=x1")
				}
				p := planFromService(t, pastJobService(t, e), args...)
				require.Equal(t, kit.ExitSucceeded, p.code, p.stderr)
				var report struct {
					Durations struct {
						Source   string  `json:"source"`
						Count    int     `json:"count"`
						Shortest float64 `json:"shortestSeconds"`
						Longest  float64 `json:"longestSeconds"`
					} `json:"durations"`
					Notes []string `json:"notes"`
				}
				require.NoError(t, json.Unmarshal([]byte(p.stdout), &report))
				require.Equal(t, 2, report.Durations.Count)
				require.Equal(t, []float64{600, 903}, []float64{report.Durations.Shortest, report.Durations.Longest})
				require.Contains(t, report.Notes, "left out: 1 job without an end")
				require.Contains(t, report.Durations.Source, e.Service.Key+":"+e.Job.List.Operation)
				require.Less(t, p.took, 3*time.Second)
			})
		}
	}
	require.Equal(t, 103, count)
}

// inTurn is a service that gives one answer after the other, and the last for good: each
// a status and a body.
func inTurn(lines ...string) clitest.Client {
	return func(_ *http.Request, number int) (*http.Response, error) {
		status, body, _ := strings.Cut(lines[min(number, len(lines))-1], " ")
		code, err := strconv.Atoi(status)
		if err != nil {
			return nil, err
		}
		return clitest.RespondJSON(code, body)
	}
}

// glueRun is a page with a run of so many seconds.
func glueRun(seconds int, more string) string {
	return fmt.Sprintf(`200 {"JobRuns": [{"Id": "jr", "StartedOn": 1763859600, "CompletedOn": %d}]%s}`, 1763859600+seconds, more)
}

// What a service answers, and what the command makes of it.
func TestPlanFromService(t *testing.T) {
	t.Parallel()
	glue := []string{"glue", "StartJobRun", "--param", "JobName=nightly"}
	export := []string{"dynamodb", "ExportTableToPointInTime"}
	builds := []string{"codebuild", "StartBuild", "--param", "projectName=web"}
	const (
		throttled = `400 {"__type": "ThrottlingException", "message": "Rate exceeded"}`
		denied    = `400 {"__type": "AccessDeniedException", "message": "no"}`
		gone      = `400 {"__type": "ExportNotFoundException", "message": "gone"}`
		exports   = `200 {"ExportSummaries": [{"ExportArn": "a"}, {"ExportArn": "b"}, {}, {"ExportArn": "a"}]}`
		exported  = `200 {"ExportDescription": {"StartTime": 1763859600, "EndTime": 1763860503}}`
	)
	for name, c := range map[string]struct {
		args    []string
		service clitest.Client
		code    int
		want    []string // on either output
		took    time.Duration
	}{
		"throttled": {glue, inTurn(throttled, throttled, glueRun(903, "")), kit.ExitSucceeded, []string{"glue:GetJobRuns JobName=nightly has 1 duration: 15m3s"}, 0},
		"throttled for good": {glue, inTurn(throttled), kit.ExitUnknown, []string{
			"glue:GetJobRuns: the service does not answer now: try again later (ThrottlingException: Rate exceeded)",
			"READING 0s 0 jobs listed last answer: ThrottlingException",
		}, 20 * time.Second},
		"denied":                     {glue, inTurn(denied), kit.ExitUnknown, []string{"glue:GetJobRuns: access denied: grant glue:GetJobRuns (AccessDeniedException: no)"}, 0},
		"refused":                    {glue, inTurn(`400 {"__type": "EntityNotFoundException", "message": "no job"}`), kit.ExitUnknown, []string{"glue:GetJobRuns: EntityNotFoundException: no job. Check --param JobName=nightly, the account and the region"}, 0},
		"refused without a name":     {export, inTurn(`400 {"__type": "InvalidExportTimeException", "message": "no"}`), kit.ExitUnknown, []string{"dynamodb:ListExports: unexpected error: InvalidExportTimeException: no"}, 0},
		"no service":                 {glue, func(r *http.Request, _ int) (*http.Response, error) { return clitest.RefuseConnection(r) }, kit.ExitUnknown, []string{"connection refused. Check the region, --endpoint-url and the network"}, 0},
		"silent":                     {glue, func(r *http.Request, _ int) (*http.Response, error) { return clitest.SaySilent(r) }, kit.ExitUnknown, []string{"glue:GetJobRuns: no answer within 30s"}, 30 * time.Second},
		"not a list":                 {glue, inTurn(`200 {"JobRuns": "x"}`), kit.ExitUnknown, []string{"glue:GetJobRuns: the service's answer cannot be used"}, 0},
		"not JSON":                   {glue, inTurn(`200 <html>`), kit.ExitUnknown, []string{"glue:GetJobRuns: the service's answer cannot be used"}, 0},
		"repeated token":             {glue, inTurn(glueRun(9, `, "NextToken": "t"`)), kit.ExitUnknown, []string{`glue:GetJobRuns: unexpected answer: its pages do not end: the NextToken "t" came before`}, 0},
		"nothing":                    {glue, inTurn(`200 {}`), kit.ExitUsage, []string{"glue:GetJobRuns JobName=nightly: it has no durations of jobs that ended"}, 0},
		"most":                       {append(glue, "--most", "1"), inTurn(`200 {"JobRuns": [{"StartedOn": 1, "CompletedOn": 2}, {"StartedOn": 1, "CompletedOn": 2}]}`), kit.ExitSucceeded, []string{"has 1 duration", "GetJobRuns lists more than 1 job: --most reads more"}, 0},
		"most, at the end of a page": {append(glue, "--most", "1"), inTurn(glueRun(903, `, "NextToken": "t"`)), kit.ExitSucceeded, []string{"has 1 duration", "GetJobRuns lists more than 1 job: --most reads more"}, 0},
		"odd times": {glue, inTurn(`200 {"JobRuns": [{"StartedOn": 5, "CompletedOn": 4}, {"CompletedOn": 4}, {"StartedOn": 4}, {"StartedOn": 0, "CompletedOn": 99999999}, {"StartedOn": 4, "CompletedOn": 4}]}`), kit.ExitSucceeded, []string{
			"has 1 duration", "left out: 1 job with an end before the start", "left out: 1 job without a start", "left out: 1 job without an end", "left out: 1 job longer than 365 days",
		}, 0},
		"one is gone":    {export, inTurn(exports, gone, exported), kit.ExitSucceeded, []string{"has 1 duration", "left out: 1 job that DescribeExport does not describe: ExportNotFoundException", "left out: 1 job whose id is not listed"}, 400 * time.Millisecond},
		"all are gone":   {export, inTurn(exports, gone), kit.ExitUsage, []string{"it has no durations of jobs that ended", "left out: 2 jobs that DescribeExport does not describe"}, 0},
		"one is left":    {export, inTurn(`200 {"ExportSummaries": [{"ExportArn": "a"}, {"ExportArn": "b"}, {"ExportArn": "c"}, {"ExportArn": "d"}, {"ExportArn": "e"}, {"ExportArn": "f"}]}`, exported, gone), kit.ExitSucceeded, []string{"has 1 duration", "left out: 5 jobs that DescribeExport does not describe"}, 0},
		"only refusals":  {export, inTurn(`200 {"ExportSummaries": [{"ExportArn": "a"}, {"ExportArn": "b"}, {"ExportArn": "c"}, {"ExportArn": "d"}, {"ExportArn": "e"}]}`, gone), kit.ExitUnknown, []string{"dynamodb:DescribeExport: unexpected error: ExportNotFoundException: gone"}, 0},
		"denied later":   {export, inTurn(exports, denied), kit.ExitUnknown, []string{"dynamodb:DescribeExport: access denied: grant dynamodb:DescribeExport"}, 0},
		"ids":            {builds, inTurn(`200 {"ids": ["web:1", "web:2"]}`, `200 {"builds": [{"id": "web:1", "startTime": 1763859600, "endTime": 1763860503}, {"id": "other", "startTime": 1, "endTime": 2}, {"id": "web:1", "startTime": 1, "endTime": 2}], "buildsNotFound": ["web:2"]}`), kit.ExitSucceeded, []string{"has 1 duration", "left out: 1 job that BatchGetBuilds does not describe"}, 200 * time.Millisecond},
		"ids are denied": {builds, inTurn(`200 {"ids": ["web:1"]}`, denied), kit.ExitUnknown, []string{"codebuild:BatchGetBuilds: access denied: grant codebuild:BatchGetBuilds"}, 0},
		"an empty id":    {builds, inTurn(`200 {"ids": [""]}`), kit.ExitUnknown, []string{"codebuild:ListBuildsForProject: unexpected answer: the arguments have no id of a job at ids[0]"}, 0},
		"region without prices": {append(glue, "--region", "eu-nowhere-1"), inTurn(glueRun(903, "")), kit.ExitSucceeded, []string{
			"prices and quotas are those of us-east-1: those of eu-nowhere-1 are not known",
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := planFromService(t, c.service, c.args...)
			require.Equal(t, c.code, p.code, "%s%s", p.stdout, p.stderr)
			if c.took == 0 && name != "throttled" {
				require.NotContains(t, p.stderr, "last answer", "nothing waits for another")
			}
			for _, want := range c.want {
				require.Contains(t, oneLine(p.stdout+p.stderr), want)
			}
			require.GreaterOrEqual(t, p.took, c.took)
			longest := 5 * time.Second
			if c.took > longest {
				longest = 15 * time.Minute
			}
			require.Less(t, p.took, longest)
		})
	}
}

// oneLine joins the lines that a text was folded to.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// A list whose pages have a new token each, and no jobs, ends.
func TestPlanFromEndlessList(t *testing.T) {
	t.Parallel()
	p := planFromService(t, func(_ *http.Request, number int) (*http.Response, error) {
		return clitest.RespondJSON(http.StatusOK, fmt.Sprintf(`{"NextToken": "%d"}`, number))
	}, "glue", "StartJobRun", "--param", "JobName=nightly")
	require.Equal(t, kit.ExitUnknown, p.code)
	require.Equal(t, "jobpoller: glue:GetJobRuns: unexpected answer: it has more than 2000 pages: ask for fewer jobs with --most or --param\n", p.stderr)
	require.Equal(t, 1999*200*time.Millisecond, p.took)
}

// The members of the list's input come from the command line, before the constants of the
// catalogue.
func TestListInput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"ec2 CreateSnapshot", nil, `{"MaxResults":1000,"OwnerIds":["self"]}`},
		{"ec2 CreateSnapshot", []string{"OwnerIds=amazon", "MaxResults=5"}, `{"MaxResults":5,"OwnerIds":["amazon"]}`},
		{"braket CreateQuantumTask", nil, `{"filters":[]}`},
		{"codebuild StartBuild", []string{"ProjectName=web"}, `{"projectName":"web","sortOrder":"DESCENDING"}`},
		{"batch SubmitJob", []string{"JobQueue=q"}, `{"jobQueue":"q","jobStatus":"SUCCEEDED"}`},
		{"resiliencehub StartAppAssessment", nil, `{"reverseOrder":true}`},
	} {
		e, err := kit.Lookup(strings.Fields(c.name))
		require.NoError(t, err)
		r, err := newListing(&planSubject{entry: e}, c.args)
		require.NoError(t, err)
		text, err := json.Marshal(r.input)
		require.NoError(t, err)
		require.Equal(t, c.want, string(text))
	}
}

// What is wrong is refused before any call.
func TestPlanFromServiceUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, want string }{
		{"glue StartJobRun", "GetJobRuns needs JobName: jobpoller plan glue StartJobRun --from-service --param JobName=..."},
		{"deadline CreateJob --param farmId=f", "ListJobs needs queueId: jobpoller plan deadline CreateJob --from-service --param farmId=f --param queueId=..."},
		{"ecs RunTask --param cluster=$x", "ListTasks needs family: jobpoller plan ecs RunTask --from-service --param 'cluster=$x' --param family=..."},
		{"glue StartJobRun --param Job=x", `--param Job: GetJobRunsRequest has no member "Job"`},
		{"glue StartJobRun --param JobName=x --param MaxResults=x", `--param MaxResults: expected a whole number, found "x"`},
		{"batch SubmitJob", "ListJobs needs jobQueue: jobpoller plan batch SubmitJob --from-service --param jobQueue=..."},
		{"ssm SendCommand", "ssm:SendCommand has no list of past jobs with their times. Pass --durations FILE or --from-executions ARN"},
		{"ec2 InstanceRunning", "ec2:InstanceRunning is a waiter of a resource: past jobs are listed of jobs alone. Pass --durations FILE"},
		{"", "--from-service needs the service and the name of a job, such as glue StartJobRun"},
		{"glue StartJobRun --durations x", "pass how long jobs take, by only one of "},
		{"glue StartJobRun --most 0", "--most must be from 1 to 100000, is 0"},
		{"glue StartJobRun --endpoint-url x", "--endpoint-url"},
	} {
		p := planFromService(t, func(*http.Request, int) (*http.Response, error) {
			t.Errorf("%s: it calls", c.args)
			return clitest.RespondJSON(http.StatusOK, `{}`)
		}, strings.Fields(c.args)...)
		require.Equal(t, kit.ExitUsage, p.code, "%s: %s%s", c.args, p.stdout, p.stderr)
		require.Contains(t, p.stderr, c.want)
	}
	for args, want := range map[string]string{
		"--param a=b":   "--param needs --from-service",
		"--most 5":      "--most needs --from-executions or --from-service: nothing else has a list",
		"--profile dev": "--profile and --endpoint-url need --from-executions, --from-service or the ARN of a state machine: nothing else calls AWS",
	} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, kit.ExitUsage, runCommand(t.Context(), append([]string{"plan", "--duration", "constant(1m)"}, strings.Fields(args)...), &stdout, &stderr))
		require.Contains(t, stderr.String(), want)
	}
}

// A definition that polls the job is as good as its name.
func TestPlanDefinitionFromService(t *testing.T) {
	t.Parallel()
	service := inTurn(`200 {"QueryExecutionIds": ["a"]}`, `200 {"QueryExecutions": [{"QueryExecutionId": "a", "Status": {"SubmissionDateTime": 1763859600, "CompletionDateTime": 1763860503}}]}`)
	p := planFromService(t, service, "../../../docs/example/athena/loop.asl.json")
	require.Equal(t, kit.ExitSucceeded, p.code, p.stderr)
	require.Contains(t, p.stdout, "athena:ListQueryExecutions has 1 duration: 15m3s")
	require.Contains(t, p.stdout, "today ")
}

// An interrupt ends the reading at once.
func TestInterruptedPlanFromService(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := inTurn(`400 {"__type": "ThrottlingException"}`)
		ctx, cancel := context.WithCancel(awssettings.WithClient(t.Context(), service.Client()))
		time.AfterFunc(10*time.Second, cancel)
		start := time.Now()
		var stdout, stderr bytes.Buffer
		require.Equal(t, kit.ExitInterrupted, runCommand(ctx, []string{"plan", "glue", "StartJobRun", "--from-service", "--param", "JobName=x", "--region", "eu-west-1"}, &stdout, &stderr))
		require.Equal(t, "READING 0s  0 jobs listed  last answer: ThrottlingException\njobpoller: interrupted\n", stderr.String())
		require.Equal(t, 10*time.Second, time.Since(start))
	})
}

// A plan is checked against what the service lists since.
func TestCheckPlanFromService(t *testing.T) {
	t.Parallel()
	schedule := clitest.WriteFile(t, "value.json", `{"delays": [60], "then": 60}`)
	runs := func(seconds int) clitest.Client {
		return func(*http.Request, int) (*http.Response, error) {
			var all []string
			for i := range 40 {
				all = append(all, fmt.Sprintf(`{"StartedOn": 1763859600, "CompletedOn": %d}`, 1763859600+seconds+7*i))
			}
			return clitest.RespondJSON(http.StatusOK, `{"JobRuns": [`+strings.Join(all, ",")+`]}`)
		}
	}
	args := []string{"glue", "StartJobRun", "--param", "JobName=nightly", "--check", "--schedule", schedule, "--duration", "uniform(10m, 15m)", "-o", "json"}
	p := planFromService(t, runs(605), args...)
	require.Equal(t, kit.ExitSucceeded, p.code, "%s%s", p.stdout, p.stderr)
	p = planFromService(t, runs(6050), args...)
	require.Equal(t, kit.ExitFailed, p.code, "%s%s", p.stdout, p.stderr)
	require.Contains(t, p.stdout, `"next": "jobpoller plan glue StartJobRun --from-service --param JobName=nightly --late 30s -o schedule --region eu-west-1"`)
	p = planFromService(t, inTurn(glueRun(903, "")), args...)
	require.Equal(t, kit.ExitUnknown, p.code)
	require.Contains(t, p.stderr, "glue:GetJobRuns JobName=nightly: it has 1 job that ended: a check needs 20 at least")
}

// The live line says how far the reading is.
func TestReadingStanding(t *testing.T) {
	t.Parallel()
	r := kit.StartReading(io.Discard, listedText(0, 0))
	defer r.Close()
	r.Show(listedText(1, 0))
	require.Equal(t, "1 job listed", r.Standing().Message)
	r.Show(listedText(7, 40))
	r.ShowTrouble(&smithy.GenericAPIError{Code: "Throttling"})
	require.Equal(t, "7 of 40 jobs described  last answer: Throttling", r.Standing().Message)
}
