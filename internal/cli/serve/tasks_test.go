package serve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// startServing serves as the flags say, on a free port, to the end of the test.
func startServing(t *testing.T, log io.Writer, flags ...string) *serving {
	t.Helper()
	var o serveOptions
	c := &cobra.Command{}
	o.addTo(c)
	require.NoError(t, c.ParseFlags(flags))
	require.NoError(t, o.validate(func(string) string { return "" }))
	listener, err := loopback.Listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	s, err := newServing(t.Context(), &o, listener, &serveLog{out: log})
	require.NoError(t, err)
	s.follow(t.Context(), func(string) string { return "" })
	t.Cleanup(func() { require.NoError(t, s.close(context.WithoutCancel(t.Context()))) })
	return s
}

// run creates a machine of the Tasks, one after the other, and runs it to its end.
func (s *serving) run(t *testing.T, testCase string, tasks ...string) (status, output, cause string) {
	t.Helper()
	definition := `{"StartAt": "T0", "States": {`
	for i, task := range tasks {
		next := `"End": true}`
		if i < len(tasks)-1 {
			next = `"Next": "T` + string(rune('1'+i)) + `"}, `
		}
		definition += `"T` + string(rune('0'+i)) + `": {"Type": "Task", "ResultPath": "$.t` + string(rune('0'+i)) + `", ` + task + `, ` + next
	}
	return s.execute(t, "tasks"+testCase, definition+"}}", testCase, "{}")
}

// execute creates a machine, and runs it to its end.
func (s *serving) execute(t *testing.T, name, definition, testCase, input string) (status, output, cause string) {
	t.Helper()
	api := localAPI{server: s.server}
	var made struct {
		ARN string `json:"stateMachineArn"`
	}
	require.NoError(t, api.call(t.Context(), "CreateStateMachine", map[string]any{"name": name, "definition": definition, "roleArn": watchRole}, &made), definition)
	if testCase != "" {
		made.ARN += "#" + testCase
	}
	var started struct {
		ARN string `json:"executionArn"`
	}
	require.NoError(t, api.call(t.Context(), "StartExecution", map[string]any{"stateMachineArn": made.ARN, "input": input}, &started))
	<-s.server.World().Execution(started.ARN).Done()
	var described struct{ Status, Output, Cause string }
	require.NoError(t, api.call(t.Context(), "DescribeExecution", map[string]any{"executionArn": started.ARN}, &described))
	return described.Status, described.Output, described.Cause
}

const (
	invokeTask = `"Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "enrich", "Payload": {"a": 1}}`
	directTask = `"Resource": "arn:aws:lambda:us-east-1:123456789012:function:enrich"`
	athenaTask = `"Resource": "arn:aws:states:::athena:startQueryExecution.sync", "Parameters": {"QueryString": "SELECT 1"}`
	tokenTask  = `"Resource": "arn:aws:states:::sqs:sendMessage.waitForTaskToken", "Parameters": {"QueueUrl": "http://q", "MessageBody": {"token.$": "$$.Task.Token"}}`
)

// Tasks of a machine that was created after the start of the server go where the flags
// say.
func TestServedTasks(t *testing.T) {
	t.Parallel()
	var s *serving // of the token's owner
	others := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(targetHeader) != "AmazonSQS.SendMessage" {
			_, _ = io.WriteString(w, `{"from": "`+r.URL.Path+`"}`)
			return
		}
		var request, message map[string]any
		_ = json.NewDecoder(r.Body).Decode(&request)
		text, _ := request["MessageBody"].(string)
		_ = json.Unmarshal([]byte(text), &message)
		_, _ = io.WriteString(w, `{"MessageId": "1"}`)
		ctx := context.WithoutCancel(r.Context())
		go func() { // the Task may not wait yet
			var answer struct{}
			_ = localAPI{server: s.server}.call(ctx, "SendTaskSuccess", map[string]any{"taskToken": message["token"], "output": `"came back"`}, &answer)
		}()
	}))
	t.Cleanup(others.Close)
	mocks := clitest.WriteFile(t, "mocks.json", `{"T0": {"return": {"Payload": "mocked"}}, "NoSuch": {"return": 1}}`)
	cases := clitest.WriteFile(t, "MockConfigFile.json", `{"StateMachines": {"tasksGood": {"TestCases": {"Good": {"T1": "Query"}}}}, "MockedResponses": {"Query": {"0": {"Return": {"by": "case"}}}}}`)
	for name, test := range map[string]struct {
		flags    []string
		testCase string
		tasks    []string
		want     string // in the output, or in the cause
		fails    bool
	}{
		"nothing":           {tasks: []string{invokeTask}, fails: true, want: "--lambda enrich=./bootstrap"},
		"nothing, direct":   {tasks: []string{directTask}, fails: true, want: "--lambda enrich=./bootstrap"},
		"nothing, service":  {tasks: []string{athenaTask}, fails: true, want: "--endpoint-url athena=http://..., --simulate 10m"},
		"function":          {flags: []string{"--lambda", "enrich=" + others.URL}, tasks: []string{invokeTask}, want: `"from":"/2015-03-31/functions/enrich/invocations"`},
		"function, direct":  {flags: []string{"--lambda", "enrich=" + others.URL + "/x"}, tasks: []string{directTask}, want: `"from":"/x"`},
		"other function":    {flags: []string{"--lambda", "other=" + others.URL}, tasks: []string{invokeTask}, fails: true, want: "--lambda enrich=./bootstrap"},
		"all functions":     {flags: []string{"--lambda-endpoint", others.URL}, tasks: []string{directTask, invokeTask}, want: `"from":"/2015-03-31/functions/enrich/invocations"`},
		"simulated":         {flags: []string{"--simulate", "10m"}, tasks: []string{athenaTask}, want: `"State":"SUCCEEDED"`},
		"simulated failure": {flags: []string{"--simulate", "T0=10m:FAILED", "--simulate", "NoSuch=1m"}, tasks: []string{athenaTask}, fails: true, want: "FAILED"},
		"mocked":            {flags: []string{"--mocks", mocks, "--lambda", "enrich=" + others.URL}, tasks: []string{invokeTask, directTask}, want: `"t0":{"Payload":"mocked"}`},
		"forwarded":         {flags: []string{"--forward", others.URL}, tasks: []string{athenaTask}, fails: true, want: "GetQueryExecution"},
		"token":             {flags: []string{"--endpoint-url", "sqs=" + others.URL}, tasks: []string{tokenTask}, want: `"t0":"came back"`},
		"test case": {
			flags: []string{"--mock-config", cases, "--lambda", "enrich=" + others.URL}, testCase: "Good", tasks: []string{invokeTask, athenaTask}, want: `"t1":{"by":"case"}`,
		},
	} {
		flags := append([]string{"--time", "virtual", "--region", "us-east-1"}, test.flags...)
		if name == "token" { // a virtual clock that holds for the token
			flags[1] = "real"
		}
		s = startServing(t, io.Discard, flags...)
		status, output, cause := s.run(t, test.testCase, test.tasks...)
		if test.fails {
			require.Equal(t, "FAILED", status, name)
			require.Contains(t, cause, test.want, name)
		} else {
			require.Equal(t, "SUCCEEDED", status, "%s: %s", name, cause)
			require.Contains(t, output, test.want, name)
		}
	}
}

// What --status says of statuses counts for simulated jobs, and for what lint says of watched machines.
func TestServedStatuses(t *testing.T) {
	t.Parallel()
	definition := `{"StartAt": "Look", "TimeoutSeconds": 86400, "States": {
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "look", "Payload": {}},
			"ResultSelector": {"state.$": "$.Payload.state"}, "Retry": [{"ErrorEquals": ["States.TaskFailed"]}], "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.state", "StringEquals": "blue", "Next": "Good"},
			{"Variable": "$.state", "StringEquals": "red", "Next": "Wait"}], "Default": "Wait"},
		"Wait": {"Type": "Wait", "Seconds": 60, "Next": "Look"},
		"Good": {"Type": "Succeed"}}}`
	file := clitest.WriteFile(t, "colours.asl.json", definition)
	var log bytes.Buffer
	t.Cleanup(func() { // after the server's end
		require.Contains(t, log.String(), "danger status-polls-on")
		require.Contains(t, log.String(), "red is a failure")
	})
	s := startServing(t, &log, "--time", "virtual", "--region", "us-east-1", "--simulate", "10m", "--status", "blue=success,red=failure", "--watch", file)
	status, output, cause := s.execute(t, "colours-of-a-client", definition, "", "{}")
	require.Equal(t, "SUCCEEDED", status, cause)
	require.JSONEq(t, `{"state": "blue"}`, output)
}

// What the settings of a watched file say of statuses counts for its simulated jobs, and the flag before it.
func TestServedSettings(t *testing.T) {
	t.Parallel()
	definition := `{"StartAt": "Look", "TimeoutSeconds": 86400, "States": {
		"Look": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "look", "Payload": {}},
			"ResultSelector": {"state.$": "$.Payload.state"}, "Retry": [{"ErrorEquals": ["States.TaskFailed"]}], "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.state", "StringEquals": "blue", "Next": "Good"},
			{"Variable": "$.state", "StringEquals": "red", "Next": "Other"}], "Default": "Wait"},
		"Wait": {"Type": "Wait", "Seconds": 60, "Next": "Look"},
		"Other": {"Type": "Succeed"}, "Good": {"Type": "Succeed"}}}`
	for settings, test := range map[string]struct {
		flags []string
		want  string
	}{
		"statuses: {blue: success, red: failure}":                      {want: "blue"},
		"statuses: {red: success, blue: failure}":                      {want: "red"},
		"statuses: {red: success, blue: failure} # and the flag first": {flags: []string{"--status", "blue=success,red=failure"}, want: "blue"},
	} {
		file := clitest.WriteFile(t, "colours.asl.json", definition)
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(file), ".jobpoller.yaml"), []byte(settings), 0o600))
		var log bytes.Buffer
		s := startServing(t, &log, append([]string{"--time", "virtual", "--region", "us-east-1", "--simulate", "10m", "--watch", file}, test.flags...)...)
		_, output, cause := s.execute(t, "colours", definition, "", "{}")
		require.JSONEq(t, `{"state": "`+test.want+`"}`, output, cause)
	}
}

// Functions call this server, and other services where Tasks call them.
func TestServedFunctionsCallTheServer(t *testing.T) {
	t.Parallel()
	const url = "http://127.0.0.1:8083"
	for name, test := range map[string]struct {
		options                serveOptions
		stepFunctions, another string
	}{
		"nothing":       {options: serveOptions{}, stepFunctions: url},
		"forward":       {options: serveOptions{forward: "http://moto"}, stepFunctions: url, another: url},
		"one emulator":  {options: serveOptions{services: answers.Services{Endpoints: []string{"http://moto"}}}, stepFunctions: url, another: "http://moto"},
		"another's API": {options: serveOptions{services: answers.Services{Endpoints: []string{"stepfunctions=http://moto"}}}, stepFunctions: "http://moto"},
		"AWS":           {options: serveOptions{services: answers.Services{AWS: []string{"athena"}}}, stepFunctions: url},
	} {
		test.options.port = servePort
		require.NoError(t, test.options.services.Parse())
		to, env := test.options.functionPlaces(t.Context())
		env, err := to.Environ(env)
		require.NoError(t, err)
		got := map[string]string{}
		for _, variable := range env {
			name, value, _ := strings.Cut(variable, "=")
			got[name] = value
		}
		require.Equal(t, test.stepFunctions, cmp.Or(got["AWS_ENDPOINT_URL_SFN"], got["AWS_ENDPOINT_URL"]), name)
		require.Equal(t, test.another, cmp.Or(got["AWS_ENDPOINT_URL_SQS"], got["AWS_ENDPOINT_URL"]), name)
	}
}

// Functions sign with the server's keys, or keep the user's where these are for other
// services, and know the path that needs none.
func TestServedFunctionsHaveTheKeys(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIAOWN")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "own")
	for name, test := range map[string]struct {
		flags []string
		own   bool // the user's keys
	}{
		"data":               {flags: []string{"--data", t.TempDir()}},
		"forward":            {flags: []string{"--data", t.TempDir(), "--forward", "http://127.0.0.1:9"}},
		"AWS":                {flags: []string{"--aws=athena"}, own: true},
		"another's":          {flags: []string{"--data", t.TempDir(), "--endpoint-url", "s3=http://127.0.0.1:9"}, own: true},
		"another's, forward": {flags: []string{"--data", t.TempDir(), "--endpoint-url", "s3=http://127.0.0.1:9", "--forward", "http://127.0.0.1:9"}, own: true},
	} {
		s := startServing(t, io.Discard, test.flags...)
		to, env := s.options.functionPlaces(t.Context())
		env, err := to.Environ(env)
		require.NoError(t, err)
		got := map[string]string{}
		for _, variable := range env {
			name, value, _ := strings.Cut(variable, "=")
			got[name] = value
		}
		keys := loopback.Keys{AccessKeyID: got["AWS_ACCESS_KEY_ID"], SecretAccessKey: got["AWS_SECRET_ACCESS_KEY"]}
		require.Equal(t, test.own, keys == loopback.Keys{AccessKeyID: "AKIAOWN", SecretAccessKey: "own"}, name)
		api := cmp.Or(got["AWS_ENDPOINT_URL_SFN"], got["AWS_ENDPOINT_URL"])
		r := door{http.MethodPost, "/", targetPrefix + "ListActivities", "", "{}"}.request(t, api)
		signRequest(t, r, "{}", "states", keys)
		answer := send(t, r)
		require.Equal(t, http.StatusOK, answer.status, "%s: %s", name, answer.text)
		if test.own { // the same is refused without the path
			r = door{http.MethodPost, "/", targetPrefix + "ListActivities", "", "{}"}.request(t, s.http.URL())
			signRequest(t, r, "{}", "states", keys)
			require.Equal(t, http.StatusForbidden, send(t, r).status, name)
		}
		switch {
		case s.options.forward == "":
		case test.own:
			require.Equal(t, s.options.forward, got["AWS_ENDPOINT_URL"], name)
		default:
			require.Equal(t, s.http.URL(), got["AWS_ENDPOINT_URL"], name)
		}
	}
}

// A server behind --forward once got requests of functions whose signature was of another
// path: the one by which this server knows the functions.
func TestServedFunctionsSignForTheOtherServer(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIAOWN")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "own")
	own := loopback.Keys{AccessKeyID: "AKIAOWN", SecretAccessKey: "own"}
	for name, flags := range map[string][]string{
		"an emulator of one service": {"--data", t.TempDir(), "--endpoint-url", "sqs=http://127.0.0.1:9"},
		"AWS for one service":        {"--aws=athena"},
	} {
		other, err := embeddeds3.Start(embeddeds3.Options{Keys: []loopback.Keys{own}})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, other.Close()) })
		require.NoError(t, other.CreateBucket("bucket"))
		s := startServing(t, io.Discard, append(flags, "--forward", other.URL())...)
		to, env := s.options.functionPlaces(t.Context())
		env, err = to.Environ(env)
		require.NoError(t, err)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, lastValue(env, "AWS_ENDPOINT_URL_S3")+"/bucket/key", strings.NewReader("in"))
		require.NoError(t, err)
		signRequest(t, r, "in", "s3", own)
		answer := send(t, r)
		require.Equal(t, http.StatusOK, answer.status, "%s: %s", name, answer.text)
	}
}

// A server whose functions cannot be started leaves none of their files.
func TestServedTasksThatCannotStart(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	_, err := newServeTasks(t.Context(), &serveOptions{functions: answers.Functions{ByName: map[string]answers.Function{"enrich": {What: "go:./nosuch"}}}}, &serveLog{out: io.Discard})
	require.ErrorContains(t, err, "--lambda enrich: ")
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, left)
}

// What happens goes to the log without what executions work on, and to --events-to.
func TestServedEvents(t *testing.T) {
	t.Parallel()
	events := make(chan string, 10)
	bus := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var event map[string]map[string]any
		text, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(text, &event) // not all members are objects
		status, _ := event["detail"]["status"].(string)
		events <- status
	}))
	t.Cleanup(bus.Close)
	var log bytes.Buffer
	t.Cleanup(func() { // after the server's end
		require.Equal(t, "RUNNING", <-events)
		require.Equal(t, "FAILED", <-events)
		require.Empty(t, events, "those of Express workflows, which AWS does not send")
		require.Regexp(t, `\d\d:\d\d:\d\d RUNNING [\w-]+ of tasks\n`, log.String())
		require.Regexp(t, `\d\d:\d\d:\d\d FAILED [\w-]+ of tasks: States.TaskFailed\n`, log.String())
		require.NotContains(t, log.String(), "enrich")
		require.NotContains(t, log.String(), "--events-to")
	})
	s := startServing(t, &log, "--time", "virtual", "--events-to", bus.URL, "--limits", "aws")
	api := localAPI{server: s.server}
	var started struct {
		ARN string `json:"executionArn"`
	}
	require.NoError(t, api.call(t.Context(), "CreateStateMachine", map[string]any{"name": "quick", "definition": waiting, "roleArn": watchRole, "type": "EXPRESS"}, &started))
	require.NoError(t, api.call(t.Context(), "StartExecution", map[string]any{"stateMachineArn": api.stateMachineARN("quick")}, &started))
	<-s.server.World().Execution(started.ARN).Done()
	status, _, _ := s.run(t, "", invokeTask)
	require.Equal(t, "FAILED", status)
}

// Clients over the limit meet AWS's error, and others do not.
func TestServedLimits(t *testing.T) {
	t.Parallel()
	s := startServing(t, io.Discard, "--limits", "aws")
	ask := func(operation string) string {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.http.URL(), bytes.NewReader([]byte(`{"stateMachineArn": "`+localAPI{}.stateMachineARN("no")+`"}`)))
		require.NoError(t, err)
		r.Header.Set(targetHeader, targetPrefix+operation)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.Header.Get("X-Amzn-Errortype")
	}
	for range 100 {
		require.NotEqual(t, "ThrottlingException", ask("ListMapRuns"))
	}
	// A call a second is let through: on a slow machine, some more are.
	require.True(t, slices.ContainsFunc(make([]int, 1000), func(int) bool { return ask("ListMapRuns") == "ThrottlingException" }))
	require.Equal(t, "StateMachineDoesNotExist", ask("StartExecution"))
}

// A callback needs no flag: the Task waits for its token though nothing takes its call.
func TestServedTokenWithoutFlag(t *testing.T) {
	t.Parallel()
	s := startServing(t, io.Discard, "--time", "x60000", "--region", "us-east-1")
	status, _, cause := s.run(t, "", tokenTask+`, "TimeoutSeconds": 600, "Catch": [{"ErrorEquals": ["States.Timeout"], "Next": "T1"}]`, invokeTask)
	require.Equal(t, "FAILED", status)
	require.Contains(t, cause, `nothing answers the Task "T1"`)
}

// A mock of the request alone leaves the Task to its token, for which a virtual clock waits.
func TestServedMockOfARequest(t *testing.T) {
	t.Parallel()
	mocks := clitest.WriteFile(t, "mocks.json", `{"Ask": {"submitted": {"MessageId": "m-1"}}}`)
	s := startServing(t, io.Discard, "--time", "virtual", "--mocks", mocks)
	api := localAPI{server: s.server}
	call := func(operation string, in map[string]any) (out map[string]any) {
		require.NoError(t, api.call(t.Context(), operation, in, &out))
		return out
	}
	machine := call("CreateStateMachine", map[string]any{
		"name": "m", "roleArn": watchRole, "definition": `{"StartAt": "Ask", "States": {"Ask": {"Type": "Task", "TimeoutSeconds": 60, ` + tokenTask + `, "End": true}}}`,
	})
	x := s.server.World().Execution(call("StartExecution", map[string]any{"stateMachineArn": machine["stateMachineArn"]})["executionArn"].(string))
	require.Eventually(t, func() bool { return x.Progress().Events == 5 }, time.Minute, time.Millisecond)
	text, err := json.Marshal(x.Events(4, 1)[0])
	require.NoError(t, err)
	require.Contains(t, string(text), `"type":"TaskSubmitted"`)
	require.Contains(t, string(text), `m-1`)
	call("SendTaskSuccess", map[string]any{"taskToken": x.Snapshot().Current[0].Token, "output": `"came back"`})
	<-x.Done()
	require.Equal(t, sim.StatusSucceeded, x.Status())
	require.JSONEq(t, `"came back"`, string(x.Result().Output))
}

// lastValue is the value of a variable as processes see it: the last of a name.
func lastValue(env []string, name string) (value string) {
	for _, variable := range env {
		if text, ok := strings.CutPrefix(variable, name+"="); ok {
			value = text
		}
	}
	return value
}
