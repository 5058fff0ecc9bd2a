package serve

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/statemachines/server"
)

const waiting = `{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 60, "End": true}}}`

// A function that no watched Task invokes is named, once. Where a Task computes the name, any
// may be the one.
func TestFunctionsThatNoWatchedTaskInvokes(t *testing.T) {
	t.Parallel()
	functions, err := answers.ReadFunctions([]string{"enrich=./a", "enrih=./b"})
	require.NoError(t, err)
	for definition, want := range map[string]string{
		invoking("enrich"): "--watch: --lambda enrih: no Task invokes enrih (did you mean \"enrich\"?); there are enrich. Only a machine that a client creates can invoke it",
		waiting:            "--lambda enrich: no Task invokes enrich; the definition invokes no function.",
		`{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName.$": "$.f"}, "End": true}}}`: "",
	} {
		var logged bytes.Buffer
		w := &watcher{
			statuses: &saidStatuses{},
			names:    []string{clitest.WriteFile(t, "m.asl.json", definition)}, api: localAPI{server: server.New(server.Options{})},
			functions: functions, log: &serveLog{out: &logged}, loaded: map[string]string{},
		}
		for range 2 {
			w.load(t.Context())
		}
		require.Equal(t, want != "", strings.Contains(logged.String(), "no Task invokes"), logged.String())
		require.LessOrEqual(t, strings.Count(logged.String(), "no Task invokes enrih"), 1)
		require.Contains(t, logged.String(), want)
	}
}

// The server has the machines of the files, and keeps one whose file is broken.
func TestWatchedMachines(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	var logged bytes.Buffer
	w := &watcher{statuses: &saidStatuses{}, names: []string{folder}, api: localAPI{server: server.New(server.Options{})}, log: &serveLog{out: &logged}, loaded: map[string]string{}}
	load := func() string {
		logged.Reset()
		w.load(t.Context())
		return strings.ReplaceAll(logged.String(), folder+string(filepath.Separator), "")
	}
	described := func(name string) (definition, kind string) {
		var there struct{ Definition, Type string }
		require.NoError(t, w.api.call(t.Context(), "DescribeStateMachine", map[string]any{"stateMachineArn": w.api.stateMachineARN(name)}, &there))
		return there.Definition, there.Type
	}
	require.Contains(t, load(), "has no state machine definition")

	write("nightly.asl.json", waiting)
	write("template.yaml", `
Resources:
  Enrich:
    Type: AWS::Serverless::Function
  Quick:
    Type: AWS::Serverless::StateMachine
    Properties:
      Type: EXPRESS
      Definition:
        StartAt: Call
        States:
          Call: {Type: Task, Resource: !GetAtt Enrich.Arn, Next: Start}
          Start:
            Type: Task
            Resource: arn:aws:states:::states:startExecution
            Parameters: {StateMachineArn: !Sub "arn:${AWS::Partition}:states:${AWS::Region}:${AWS::AccountId}:stateMachine:nightly"}
            Next: Slow
          Slow: {Type: Task, Resource: "arn:aws:states:::states:startExecution", Parameters: {StateMachineArn: !Ref Slow}, End: true}
  Slow:
    Type: AWS::StepFunctions::StateMachine
    Properties:
      DefinitionString: '{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true}}}'
`)
	before := w.fingerprint()
	require.Len(t, before, 2)
	text := load()
	for _, name := range []string{"nightly of nightly.asl.json", "Quick of template.yaml#Quick", "Slow of template.yaml#Slow"} {
		require.Contains(t, text, "created arn:aws:states:us-east-1:123456789012:stateMachine:"+name+"\n")
	}
	definition, kind := described("Quick")
	require.Equal(t, "EXPRESS", kind)
	require.Contains(t, definition, `"arn:aws:lambda:us-east-1:123456789012:function:Enrich"`)
	require.Contains(t, definition, `"arn:aws:states:us-east-1:123456789012:stateMachine:nightly"`)
	require.Contains(t, definition, `"arn:aws:states:us-east-1:123456789012:stateMachine:Slow"`)
	require.NotContains(t, load(), "state machine", "nothing has changed")

	write("nightly.asl.json", strings.Replace(waiting, "Seconds", "Secnods", 1))
	require.NotEqual(t, before, w.fingerprint())
	text = load()
	require.Contains(t, text, "nightly.asl.json:1:51: error definition: ")
	require.Contains(t, text, `did you mean "Seconds"?`)
	require.Contains(t, text, "the state machine nightly is not loaded, the server keeps what it has")
	require.Empty(t, load(), "said once")
	write("nightly.asl.json", "{")
	require.Contains(t, load(), "nightly")
	definition, _ = described("nightly")
	require.JSONEq(t, waiting, definition)

	write("nightly.asl.json", strings.Replace(waiting, "60", "61", 1))
	require.Contains(t, load(), "updated arn:aws:states:us-east-1:123456789012:stateMachine:nightly of nightly.asl.json\n")
	w.names = append(w.names, filepath.Join(folder, "later.json"))
	require.Contains(t, load(), "later.json; the server loads it when it is there\n")
	write("a b.asl.json", waiting)
	require.Contains(t, load(), "InvalidName: Invalid Name: 'a b': rename the file, for AWS allows no such name\n")
	write("nightly.yaml", waiting)
	require.Contains(t, load(), "another definition has the name nightly")
}

// A definition without a template says no type.
func TestWatchedExpress(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, name := range []string{"quick", "slow"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name+".asl.json"), []byte(waiting), 0o600))
	}
	for _, test := range []struct {
		express     []string
		quick, slow string
		said        string
	}{
		{nil, "STANDARD", "STANDARD", ""},
		{[]string{"all"}, "EXPRESS", "EXPRESS", ""},
		{[]string{"quick"}, "EXPRESS", "STANDARD", ""},
		{[]string{"slwo"}, "STANDARD", "STANDARD", `--express=slwo: --watch has no state machine slwo (did you mean "slow"?)`},
	} {
		var logged bytes.Buffer
		w := &watcher{
			statuses: &saidStatuses{},
			names:    []string{folder}, express: test.express, api: localAPI{server: server.New(server.Options{})},
			log: &serveLog{out: &logged}, loaded: map[string]string{},
		}
		w.load(t.Context())
		require.Contains(t, logged.String(), test.said)
		for name, want := range map[string]string{"quick": test.quick, "slow": test.slow} {
			var there struct{ Type string }
			require.NoError(t, w.api.call(t.Context(), "DescribeStateMachine", map[string]any{"stateMachineArn": w.api.stateMachineARN(name)}, &there))
			require.Equal(t, want, there.Type, "%s: %s", test.express, name)
		}
	}
}

// Clients see the machines of files, whose account and region are those of their calls.

func TestWatchedMachinesOfARegion(t *testing.T) {
	t.Parallel()
	file := clitest.WriteFile(t, "m.yaml", `
Resources:
  Enrich: {Type: AWS::Serverless::Function}
  M: {Type: AWS::Serverless::StateMachine, Properties: {Definition: {StartAt: A, States: {A: {Type: Task, Resource: !GetAtt Enrich.Arn, End: true}}}}}
`)
	o := serveOptions{services: answers.Services{Region: "eu-west-3"}}
	env := map[string]string{"AWS_ACCESS_KEY_ID": "210987654321", "AWS_REGION": "eu-west-1"}
	api := o.client(t.Context(), server.New(server.Options{}), func(name string) string { return env[name] })
	w := &watcher{statuses: &saidStatuses{}, names: []string{file}, api: api, log: &serveLog{out: io.Discard}, loaded: map[string]string{}}
	w.load(t.Context())
	var there struct{ Definition string }
	const arn = "arn:aws:states:eu-west-3:210987654321:stateMachine:M"
	require.NoError(t, api.call(t.Context(), "DescribeStateMachine", map[string]any{"stateMachineArn": arn}, &there))
	require.Contains(t, there.Definition, "arn:aws:lambda:eu-west-3:210987654321:function:Enrich")
}

func TestServeOptions(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--time fast":                         `--time must be real, virtual, manual, or a factor such as x60, is "fast"`,
		"--time x0":                           `is "x0"`,
		"--time xNaN":                         `is "xNaN"`,
		"--time manuel":                       `did you mean "manual"?`,
		"--port 70000":                        "--port must be from 0 to 65535, is 70000",
		"--listen 0.0.0.0:80":                 "without a port",
		"--host http://a":                     "--host must be NAME or NAME:PORT",
		"--print-env --port 0":                "--print-env needs the port",
		"--print-env -- env":                  "exclude each other",
		"--forward 127.0.0.1:5000":            "--forward",
		"--forward http://localhost:8083":     "is this server itself",
		"--forward http://[::1]:90 --port 90": "is this server itself",
		"--lambda x":                          "--lambda must be NAME=",
		"--lambda-endpoint x":                 "--lambda-endpoint",
		"--simulate soon":                     "--simulate: expected a time",
		"--limits gcp":                        "--limits must be aws",
		"--events-to x":                       "--events-to",
		"--mocks nosuch.json --port 0":        "nosuch.json",
		"--mock-config nosuch.json --port 0":  "nosuch.json",
		"--lambda x=./nosuch --port 0":        "--lambda x:",
		"--ends FAILED":                       "--ends needs --simulate",
		"--status busy=running":               "--status needs --simulate or --watch",
		"--status busy --simulate 10m":        "--status:",
		"--endpoint-url nosuch=http://a":      "nosuch",
		"definition.asl.json":                 "name state machines with --watch",
		"--express":                           "--express needs --watch",
		"--substitute a --watch x":            "--substitute must be Name=value",
	} {
		var out, errs bytes.Buffer
		require.Equal(t, kit.ExitUsage, runCommand(t.Context(), append([]string{"serve"}, strings.Fields(args)...), &out, &errs), args)
		require.Contains(t, errs.String(), want, args)
		require.Empty(t, out.String(), args)
	}
}

// A shell reads the variables, whatever is in them.
func TestClientEnvironment(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options serveOptions
		env     map[string]string
		want    map[string]string // empty: not there
	}{
		"nothing set": {
			options: serveOptions{port: 80},
			want: map[string]string{
				"AWS_ENDPOINT_URL_SFN": "http://127.0.0.1:80", "AWS_ENDPOINT_URL": "", "AWS_DISABLE_HOST_PREFIX_INJECTION": "true",
				"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local", "AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1",
			},
		},
		"credentials and region set": {
			env: map[string]string{"AWS_ACCESS_KEY_ID": "a", "AWS_REGION": "eu-west-1"},
			want: map[string]string{
				"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_REGION": "", "AWS_DEFAULT_REGION": "eu-west-1",
			},
		},
		"forwards": {
			options: serveOptions{port: 80, forward: "http://a"}, env: map[string]string{"AWS_ENDPOINT_URL_SFN": "http://other", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"},
			want: map[string]string{
				"AWS_ENDPOINT_URL": "http://127.0.0.1:80", "AWS_ENDPOINT_URL_SFN": "http://127.0.0.1:80", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "false",
			},
		},
		"region of the flag": {
			options: serveOptions{services: answers.Services{Region: "eu-west-3"}}, env: map[string]string{"AWS_REGION": "eu-west-1"},
			want: map[string]string{"AWS_REGION": "eu-west-3", "AWS_DEFAULT_REGION": "eu-west-3"},
		},
	} {
		got := map[string]string{}
		for _, v := range test.options.clientEnvironment(t.Context(), func(name string) string { return test.env[name] }) {
			got[v.name] = v.value
		}
		for variable, want := range test.want {
			require.Equal(t, want, got[variable], "%s: %s", name, variable)
		}
	}
	var out bytes.Buffer
	printEnvironment(&out, []variable{{name: "A", value: "it's $HOME"}, {name: "B", unset: true}})
	require.Equal(t, "export A='it'\\''s $HOME'\nunset B\n", out.String())
	require.Equal(t, []string{"BC=c", "A=a"}, addVariables([]string{"B=b", "BC=c"}, []variable{{name: "A", value: "a"}, {name: "B", unset: true}}))
}

// The SDK for JavaScript takes the profile before the keys, so it goes with the user's
// own keys; its region stays. boto3 knows no profile without a name.
func TestClientsHaveNoProfileBesideTheServersKeys(t *testing.T) {
	t.Parallel()
	file := clitest.WriteFile(t, "config", `
[profile work]
region = eu-west-3
[profile keyed]
region = eu-west-2
aws_access_key_id = AKIAMINE
aws_secret_access_key = s
`)
	server := &access{Access: loopback.Access{Keys: loopback.NewKeys()}}
	region := []variable{{name: "AWS_REGION", value: "eu-west-3"}, {name: "AWS_DEFAULT_REGION", value: "eu-west-3"}}
	for name, test := range map[string]struct {
		profile, token string
		access         *access
		want, not      []variable
	}{
		"the server's keys":            {"work", "old", server, append([]variable{{name: "AWS_PROFILE", unset: true}, {name: "AWS_SESSION_TOKEN", unset: true}}, region...), nil},
		"made-up keys":                 {"work", "", nil, append([]variable{{name: "AWS_PROFILE", unset: true}}, region...), nil},
		"the user's keys":              {"keyed", "", nil, nil, []variable{{name: "AWS_PROFILE", unset: true}}},
		"in place of the user's":       {"keyed", "", server, []variable{{name: "AWS_PROFILE", unset: true}, {name: "AWS_REGION", value: "eu-west-2"}}, nil},
		"no profile, the server's own": {"", "", server, nil, []variable{{name: "AWS_PROFILE", unset: true}}},
	} {
		env := map[string]string{"AWS_PROFILE": test.profile, "AWS_SESSION_TOKEN": test.token, "AWS_CONFIG_FILE": file, "AWS_SHARED_CREDENTIALS_FILE": file + ".none"}
		o := serveOptions{access: test.access}
		got := o.clientEnvironment(t.Context(), func(name string) string { return env[name] })
		require.Subset(t, got, test.want, name)
		for _, v := range test.not {
			require.NotContains(t, got, v, name)
		}
	}
}

// The file of a server that was killed stays: its keys are not a server's.
func TestPrintEnvAsksTheServer(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	s := startServing(t, io.Discard, "--data", t.TempDir())
	o := &serveOptions{port: s.options.port}
	_, err := loopback.SaveAccess(o.address(), s.options.access.Access)
	require.NoError(t, err)
	require.NoError(t, o.awaitServer(t.Context()))
	require.Equal(t, s.options.access.Keys, o.access.Keys)

	o.access = &access{Access: loopback.Access{Keys: loopback.NewKeys()}}
	for name, keys := range map[string]*access{"of another server": o.access, "none": nil} {
		o.access = keys
		starts, err := o.probe(t.Context())
		require.ErrorContains(t, err, "does not take the keys that are kept for you", name)
		require.True(t, starts, "it has not written the file yet: %s", name)
	}
	require.NoError(t, s.http.Close())
	starts, err := o.probe(t.Context())
	require.ErrorContains(t, err, "no server answers at http://127.0.0.1:")
	require.True(t, starts)

	others := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(others.Close)
	to, err := url.Parse(others.URL)
	require.NoError(t, err)
	o.port, err = strconv.Atoi(to.Port())
	require.NoError(t, err)
	require.ErrorContains(t, o.awaitServer(t.Context()), "is not jobpoller serve: name the port of the server with --port")
}

// What is not for Step Functions goes on, and a client that waits for work does not keep
// the server from its end.
func TestServeRoutes(t *testing.T) {
	t.Parallel()
	draining, drain := context.WithCancel(t.Context())
	var ended error
	named := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, name)
			if r.Header.Get(targetHeader) == targetPrefix+"GetActivityTask" {
				drain()
				<-r.Context().Done()
				ended = r.Context().Err()
			}
		})
	}
	others := httptest.NewServer(named("others"))
	t.Cleanup(others.Close)
	for _, test := range []struct{ method, path, header, value, want, forwarded string }{
		{"POST", "/", targetHeader, "AWSStepFunctions.ListActivities", "api", "api"},
		{"POST", "/", targetHeader, "AWSStepFunctions.GetActivityTask", "api", "api"},
		{"POST", "/", targetHeader, "AmazonSQS.SendMessage", "api", "others"},
		{"PUT", "/bucket/key", "", "", "api", "others"},
		{"GET", "/", "Authorization", "AWS4-HMAC-SHA256 Credential=a", "api", "others"},
		{"GET", "/?X-Amz-Signature=a", "", "", "api", "others"},
		{"GET", "/", "", "", "/_jobpoller/", "/_jobpoller/"},
		{"GET", "/_jobpoller/health", "", "", "own", "own"},
		{"GET", "/_jobpoller", "", "", "api", "others"},
	} {
		for forward, want := range map[string]string{"": test.want, others.URL: test.forwarded} {
			o := &serveOptions{forward: forward}
			handler := o.route(draining, named("api"), named("own"), &serveLog{out: io.Discard})
			r := httptest.NewRequest(test.method, test.path, strings.NewReader("{}"))
			if test.header != "" {
				r.Header.Set(test.header, test.value)
			}
			w := httptest.NewRecorder()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // else a call that nothing ends hangs
			handler.ServeHTTP(w, r.WithContext(ctx))
			cancel()
			require.Equal(t, want, cmp.Or(w.Header().Get("Location"), w.Body.String()), "%s %s", test.method, test.path)
		}
	}
	require.ErrorIs(t, ended, context.Canceled)
}

// A load test does not fill the log.
func TestServeLogIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := &serveLog{out: &out}
		for range 1000 {
			log.tell("line")
		}
		log.warn("wrong")
		require.Equal(t, 101, strings.Count(out.String(), "\n"))
		require.Contains(t, out.String(), " wrong\n")
		<-time.After(time.Second)
		log.tell("later")
		require.Contains(t, out.String(), " 900 more lines were left out: pass -v to see all\n")
		require.True(t, strings.HasSuffix(out.String(), " later\n"))
		log.quiet = true
		log.tell("quiet")
		require.NotContains(t, out.String(), "quiet")
	})
}

// What clients name forges no line of the log, and no sequence of the terminal.
func TestServeLogQuotes(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := &serveLog{out: &out}
	const evil = "a\x1b[2J\nSUCCEEDED"
	log.tell("%s", evil)
	log.warn("%s", evil)
	log.newLines().Print(evil)
	log.newStructured().Error(evil, "why", evil)
	require.NotContains(t, out.String(), "\x1b")
	require.NotRegexp(t, `(?m)^SUCCEEDED`, out.String())
}
