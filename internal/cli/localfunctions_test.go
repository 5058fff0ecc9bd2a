package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// Which function of --lambda runs a function that a Task invokes, and with which handler
// setting.
func TestHandlersOfLocalFunctions(t *testing.T) {
	t.Parallel()
	own := []string{"run-job=go:./functions", "check-status=go:./functions"}
	runJob := source.Function{ID: "RunJob12AB", Handler: "run-job"}
	templates := map[string]source.Function{
		"RunJob12AB": runJob, "RunJobVersion": runJob, "Plain": {ID: "Plain", Handler: "bootstrap"}, "Open": {ID: "Open"},
	}
	for name, test := range map[string]struct {
		lambdas       []string
		function      string
		runs, handler string // runs is empty where nothing in --lambda does
	}{
		"the shipped name":                     {own, "jobpoller-runjob", "run-job", "run-job"},
		"the other one":                        {own, "jobpoller-checkstatus", "check-status", "check-status"},
		"the handler as a name":                {own, "run-job", "run-job", "run-job"},
		"a name of the CDK":                    {own, "orders-check-status", "check-status", "check-status"},
		"a logical ID with the handler":        {own, "RunJob12AB", "run-job", "run-job"},
		"a version of it":                      {own, "RunJobVersion", "run-job", "run-job"},
		"a logical ID that is named":           {[]string{"RunJob12AB=./program"}, "RunJob12AB", "RunJob12AB", "run-job"},
		"a version of one that is named":       {[]string{"RunJob12AB=./program"}, "RunJobVersion", "RunJob12AB", "run-job"},
		"a name wins over its handler":         {append([]string{"RunJob12AB=./program"}, own...), "RunJob12AB", "RunJob12AB", "run-job"},
		"any name, with the handler":           {[]string{"start=./program#run-job"}, "start", "start", "run-job"},
		"the flag wins over the template":      {[]string{"Plain=./program#collector"}, "Plain", "Plain", "collector"},
		"a template's other handler":           {[]string{"Plain=./program"}, "Plain", "Plain", "bootstrap"},
		"nothing says the handler":             {[]string{"Open=./program"}, "Open", "Open", ""},
		"somebody else's name like a handler":  {[]string{"nightly-run-job=./program"}, "nightly-run-job", "nightly-run-job", ""},
		"one that only another names":          {[]string{"nightly-run-job=./program"}, "nightly-check-status", "", ""},
		"a name of its own beside the handler": {append([]string{"nightly-run-job=./program"}, own...), "nightly-run-job", "nightly-run-job", ""},
		"a name of its own with the handler":   {[]string{"orders-run-job=./program#run-job"}, "orders-run-job", "orders-run-job", "run-job"},
		"somebody else's function":             {own, "enrich", "", ""},
		"somebody else's collector":            {[]string{"metrics-collector=./program"}, "metrics-collector", "metrics-collector", ""},
		"our collector":                        {append([]string{"collector=./program"}, own...), "orders-collector", "collector", "collector"},
		"a handler that no flag has":           {own[:1], "jobpoller-checkstatus", "", "check-status"},
		"a name that only ends like a handler": {own, "rerun-jobs", "", ""},
	} {
		l, err := readLambdas(test.lambdas)
		require.NoError(t, err, name)
		l.templates = templates
		require.Equal(t, test.runs, l.find(test.function), name)
		handler := l.handlerOf(test.function)
		if test.runs != "" {
			handler = l.handlerOf(test.runs)
		}
		require.Equal(t, test.handler, handler, name)
	}
	for _, text := range []string{"run-job", "=./program", "a=", "a=#run-job", "a=go:", "a=go:#run-job", "a=./program#", "a b=./program", strings.Repeat("a", 65) + "=./program"} {
		_, err := readLambdas([]string{text})
		require.ErrorContains(t, err, "--lambda must be NAME=./bootstrap, NAME=go:./cmd/x or NAME=http://..., is ", text)
	}
}

// The environment of a function is that of the command and what its template says beside.
// A store that the template names is never used.
func TestEnvironmentOfLocalFunctions(t *testing.T) {
	t.Parallel()
	said := source.Function{Environment: map[string]string{"STAGE": "prod", "SHOP": "template", "JOBPOLLER_TABLE": "live", "JOBPOLLER_JOBS": "shop:Report"}}
	s := &functionStarter{env: []string{"SHOP=shell", "HOME=/root"}}
	env, err := s.environment(t.Context(), said, "bootstrap")
	require.NoError(t, err)
	for name, want := range map[string]string{"STAGE": "prod", "SHOP": "shell", "HOME": "/root", "JOBPOLLER_TABLE": "live"} {
		require.Equal(t, want, valueIn(env, name), name)
	}
	env, err = s.environment(t.Context(), said, "run-job")
	require.NoError(t, err)
	for name, want := range map[string]string{"STAGE": "prod", "JOBPOLLER_TABLE": "", "JOBPOLLER_JOBS": "shop:Report"} {
		require.Equal(t, want, valueIn(env, name), name)
	}

	set := setStore([]string{"JOBPOLLER_ENCRYPTION=aws:kms", "JOBPOLLER_PREVIOUS_TABLE=old", "AWS_ENDPOINT_URL_S3=http://elsewhere"}, "http://here", "bucket", "", "--data d")
	for name, want := range map[string]string{
		"JOBPOLLER_BUCKET": "bucket", "JOBPOLLER_TABLE": "", "JOBPOLLER_PREFIX": "jobpoller", "JOBPOLLER_ENCRYPTION": "", "JOBPOLLER_PREVIOUS_TABLE": "",
		"AWS_ENDPOINT_URL_S3": "http://here", "JOBPOLLER_STORE_FLAGS": "--data d",
	} {
		require.Equal(t, want, valueIn(set, name), name)
	}

	// Whose endpoints are to be ignored calls the store of the run all the same.
	set = setStore([]string{"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true", "AWS_ENDPOINT_URL=http://elsewhere"}, "http://here", "bucket", "", "--data d")
	require.Equal(t, "false", valueIn(set, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"))
	require.Empty(t, valueIn(set, "AWS_ENDPOINT_URL"))
	require.Equal(t, "http://here", valueIn(set, "AWS_ENDPOINT_URL_S3"))

	// The store of the run wins over one that the shell names.
	shell := []string{"JOBPOLLER_TABLE=mine"}
	for table, o := range map[string]runOptions{"flag": {store: storeDynamoDB, table: "flag"}, "": {bucket: "flag"}} {
		env, err := (&bench{options: o, bucket: o.bucket}).addStore(t.Context(), shell)
		require.NoError(t, err)
		require.Equal(t, table, valueIn(env, "JOBPOLLER_TABLE"))
		require.Equal(t, o.bucket, valueIn(env, "JOBPOLLER_BUCKET"))
	}
}

// A flag that cannot work says what to pass.
func TestLocalFunctionsThatCannotRun(t *testing.T) {
	t.Parallel()
	const shipped = "../../statemachines/lambda-loop.asl.json"
	told := filepath.Join(t.TempDir(), "told.asl.json")
	require.NoError(t, os.WriteFile(told, []byte(`{"StartAt": "Wait", "States": {"Wait": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
		"Parameters": {"FunctionName": "jobpoller-runjob", "Payload.$": "$$"}, "End": true}}}`), 0o600))
	for want, args := range map[string][]string{
		"--lambda run-job: the Tasks of check-status work on the same start records: pass --lambda check-status=go:./functions, too": {
			shipped, "--lambda", "run-job=go:./functions",
		},
		"--lambda needs a definition, such as: jobpoller run poller.asl.json --simulate 12m, or both run-job and check-status": {
			"--lambda", "run-job=go:./functions",
		},
		"--lambda run-job needs a request for one of your jobs: pass --input request.json": {
			"--lambda", "run-job=go:./functions", "--lambda", "check-status=go:./functions",
		},
		"--lambda start: no Task invokes start; there are jobpoller-checkstatus, jobpoller-runjob": {shipped, "--lambda", "start=go:./functions"},
		"--lambda collector: no Task invokes collector": {
			shipped, "--lambda", "run-job=./none", "--lambda", "check-status=./none", "--lambda", "collector=./none",
		},
		`waits for the collector, which run starts for its own functions alone: test it with package handlertest`: {
			told, "--lambda", "run-job=./none", "--lambda", "check-status=./none",
		},
	} {
		var stderr bytes.Buffer
		require.Equal(t, exitUsage, execute(t.Context(), append([]string{"run"}, args...), io.Discard, &stderr), "%s", &stderr)
		require.Contains(t, stderr.String(), want)
	}
}

// What stands behind go: may be anything. The error says what is wrong with it, and a process
// that ends has its last words shown.
func TestPackagesOfGoThatCannotRun(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/shop\n",
		"m.asl.json": `{"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke",
			"Parameters": {"FunctionName": "enrich"}, "End": true}}}`,
		"library/a.go": "package library\n",
		"own/go.mod":   "module example.com/own\n",
		"own/cmd/a.go": "package main\n\nimport \"example.com/own/end\"\n\nfunc main() { end.End() }\n",
		"own/end/a.go": "package end\n\nimport \"os\"\n\nfunc End() { os.Exit(4) }\n",
		"broken/a.go":  "package main\n\nfunc main() { missing() }\n",
		"ends/a.go":    "package main\n\nimport \"os\"\n\nfunc main() { os.Stdout.WriteString(\"SHOP_URL is not set\\n\"); os.Exit(3) }\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	t.Chdir(folder)
	try := func(want int, args ...string) string {
		var out bytes.Buffer
		require.Equal(t, want, execute(t.Context(), append([]string{"run", "m.asl.json", "-q"}, args...), &out, &out), "%s", &out)
		return out.String()
	}
	for what, want := range map[string]string{
		"go:./none":    "there is no folder ./none here: pass the folder of a package main, from the current folder",
		"go:./library": "./library is package library, which cannot run: name a package main, such as one that calls handler.Main",
		"go:./broken":  "broken/a.go:3:15: undefined: missing",
		"go:shop/none": "package shop/none is not in std",
		"go:library":   "for the folder here, pass go:./library",
		"go:./own/end": "end is package end, which cannot run",
		"./library":    "./library is a folder: pass go:./library to build its package of Go, or a program in it",
		"./none":       `no executable at "./none"`,
	} {
		said := try(exitUsage, "--lambda", "enrich="+what)
		require.Contains(t, said, "jobpoller: --lambda enrich: ", what)
		require.Contains(t, said, want, what)
	}
	said := try(exitFailed, "--lambda", "enrich=go:./ends")
	require.Contains(t, said, "enrich: SHOP_URL is not set\n")
	require.Contains(t, said, "Runtime exited with error: exit status 3")
	require.Contains(t, try(exitFailed, "--lambda", "enrich=go:./own/cmd"), "exit status 4", "a module of its own")
	for name, own := range map[string]string{"arn:aws:lambda:us-east-1:123456789012:function:enrich": "enrich", "enrich:live": "enrich", "arn:aws:lambda:us-east-1:123456789012:function:enrich:7": "enrich"} {
		require.Contains(t, try(exitUsage, "--lambda", name+"=./none"), "pass its name alone, --lambda "+own+"=./none")
	}
	require.Contains(t, try(exitUsage, "--lambda", "enrih=go:./ends"), `no Task invokes enrih (did you mean "enrich"?); there are enrich`)

	t.Setenv("PATH", folder)
	require.Contains(t, try(exitUsage, "--lambda", "enrich=go:./ends"),
		"--lambda enrich: go:./ends needs the go command in the PATH: install Go, or pass a program that is built: ./bootstrap")
}

// Functions sign with the keys of their environment, else with those of the user's
// settings. Where there are none, and where everybody knows them, they get drawn ones.
func TestKeysOfLocalFunctions(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION"} {
		t.Setenv(name, "")
	}
	folder := t.TempDir()
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(folder, "none"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(folder, "credentials"))
	drawn := loopback.NewKeys()
	keysOf := func(s *services, env ...string) string {
		require.NoError(t, s.validate())
		keys, variables, err := s.functionKeys(t.Context(), env, drawn, false)
		require.NoError(t, err)
		require.Equal(t, keys.AccessKeyID, valueIn(variables, "AWS_ACCESS_KEY_ID"))
		require.Equal(t, keys.SecretAccessKey, valueIn(variables, "AWS_SECRET_ACCESS_KEY"))
		return keys.AccessKeyID + " in " + valueIn(variables, "AWS_REGION")
	}
	require.Equal(t, drawn.AccessKeyID+" in us-east-1", keysOf(&services{}))
	require.Equal(t, drawn.AccessKeyID+" in eu-west-1", keysOf(&services{region: "eu-west-1"}, "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local"))
	require.Equal(t, "OWN in us-east-1", keysOf(&services{}, "AWS_ACCESS_KEY_ID=OWN", "AWS_SECRET_ACCESS_KEY=s"))

	require.NoError(t, os.WriteFile(filepath.Join(folder, "credentials"), []byte("[default]\naws_access_key_id = FILE\naws_secret_access_key = s\n"+
		"[other]\naws_access_key_id = OTHER\naws_secret_access_key = s\n"), 0o600))
	require.Equal(t, "FILE in us-east-1", keysOf(&services{}))
	require.Equal(t, "OTHER in us-east-1", keysOf(&services{profile: "other"}, "AWS_ACCESS_KEY_ID=OWN", "AWS_SECRET_ACCESS_KEY=s"))
}
