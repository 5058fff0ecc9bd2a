package external_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// jsonataInJava is the engine behind moto's JSONata, from Maven.
const (
	jsonataInJava = "com.dashjoin:jsonata:0.9.9"
	jsonataFile   = "jsonata-0.9.9.jar"
	jsonataSHA256 = "a98db95122ddd9c06b71273e56722864423b648843354094bd79a6a3cff0bbed"
)

// onMoto is a machine that runs on moto's own backends.
type onMoto struct {
	service, name string
	start         bool
	input         map[string]any
	arguments     map[string]any // of loop; nil for what is required
	// output is what is kept of the response: moto cannot show a result that has a
	// time in it.
	output string
	// fails is the error in which it ends, and cause is in its cause.
	fails, cause string
	only         compile.Strategy // empty: both
}

// machinesOnMoto run by loop and by variables.
func machinesOnMoto(policy, vpc string) []onMoto {
	type object = map[string]any
	named := func(member string) object { return object{member + ".$": "$." + member} }
	return []onMoto{
		{service: "dynamodb", name: "TableExists", input: object{"TableName": "Orders"}, output: "Table.TableStatus"},
		{service: "dynamodb", name: "TableNotExists", input: object{"TableName": "None"}, output: "Table.TableStatus"},
		{service: "kinesis", name: "StreamExists", input: object{"StreamName": "orders"}, arguments: named("StreamName"), output: "StreamDescription.StreamStatus"},
		{service: "s3", name: "BucketExists", input: object{"Bucket": "exports"}, output: "BucketRegion"},
		{service: "s3", name: "ObjectExists", input: object{"Bucket": "exports", "Key": "k"}, output: "ETag"},
		{service: "iam", name: "RoleExists", input: object{"RoleName": "orders"}, output: "Role.RoleName"},
		{service: "iam", name: "PolicyExists", input: object{"PolicyArn": policy}, output: "Policy.PolicyName"},
		{service: "iam", name: "InstanceProfileExists", input: object{"InstanceProfileName": "orders"}, output: "InstanceProfile.Path"},
		{service: "ec2", name: "VpcExists", input: object{"VpcIds": []any{vpc}}, arguments: named("VpcIds"), output: "NextToken"},
		{service: "glue", name: "StartJobRun", start: true, input: object{"JobName": "orders"}, output: "JobRun.JobRunState"},
		{
			service: "textract", name: "StartDocumentAnalysis", start: true, output: "JobStatus",
			input: object{"DocumentLocation": object{"S3Object": object{"Bucket": "exports", "Name": "k"}}, "FeatureTypes": []any{"TABLES"}},
		},
		{service: "cloudformation", name: "StackExists", input: object{"StackName": "orders"}, output: "NextToken", only: compile.Variables},
		{service: "athena", name: "StartQueryExecution", start: true, input: object{"QueryString": "SELECT 1"}, output: "QueryExecution.Status.State", only: compile.Variables},
		{
			service: "transcribe", name: "StartTranscriptionJob", start: true, output: "TranscriptionJob.TranscriptionJobStatus", only: compile.Variables,
			input: object{"TranscriptionJobName": "orders", "LanguageCode": "en-US", "Media": object{"MediaFileUri": "s3://exports/k"}},
		},
		{service: "dynamodb", name: "TableExists", input: object{"TableName": "None"}, fails: "JobPoller.TimedOut", cause: "DynamoDb.ResourceNotFoundException"},
		{
			service: "kinesis", name: "StreamExists", input: object{"StreamName": "none"}, arguments: named("StreamName"),
			fails: "JobPoller.Failed", cause: "unexpected error: kinesis.ResourceNotFoundException",
		},
	}
}

// motoDefects are machines that are right and fail on moto, by strategy and entry, with
// the reason. One that no longer fails is to be moved to the others.
var motoDefects = []struct {
	onMoto

	strategy compile.Strategy
	reason   string
}{
	{
		onMoto{service: "athena", name: "StartQueryExecution", start: true, input: map[string]any{"QueryString": "SELECT 1"}, fails: "States.Runtime", cause: "KeyError"},
		compile.Loop, "States.Format takes an escaped brace of the template for a place to fill in",
	},
	{
		onMoto{service: "s3", name: "BucketNotExists", input: map[string]any{"Bucket": "nonesuch"}, fails: "JobPoller.Failed", cause: "s3.s3Exception"},
		compile.Loop, "the service's own exception of S3 is S3.S3Exception at AWS",
	},
	{
		onMoto{service: "ec2", name: "VolumeAvailable", input: map[string]any{}, fails: "States.Runtime", cause: "IllegalJSONataVariableReference"},
		compile.Variables, "a lone $ inside of a predicate is refused, which AWS and JSONata take",
	},
}

func TestCompiledMachinesRunOnMoto(t *testing.T) {
	t.Parallel()
	m := startMoto(t)
	ran := map[compile.Strategy]int{}
	for _, strategy := range []compile.Strategy{compile.Loop, compile.Variables} {
		var failed int
		for _, c := range machinesOnMoto(m.Policy, m.VPC) {
			if c.only != "" && c.only != strategy {
				continue
			}
			m.require(t, strategy, c)
			if c.fails == "" {
				ran[strategy]++
			} else {
				failed++
			}
		}
		require.GreaterOrEqual(t, ran[strategy], 10)
		require.GreaterOrEqual(t, failed, 2)
		say("suite moto: %d machines of %s succeeded and %d failed as they have to", ran[strategy], strategy, failed)
	}
	for _, d := range motoDefects {
		m.require(t, d.strategy, d.onMoto)
		say("  defect of moto: %s %s as %s: %s", d.service, d.name, d.strategy, d.reason)
	}
}

// moto is a server of it.
type moto struct {
	url    string
	Policy string `json:"policy"`
	VPC    string `json:"vpc"`
}

// require runs a machine and wants it to end as it has to.
func (m *moto) require(t *testing.T, strategy compile.Strategy, c onMoto) {
	t.Helper()
	name := fmt.Sprintf("%s %s as %s", c.service, c.name, strategy)
	entry, err := catalog.Lookup(c.service, c.name)
	require.NoError(t, err)
	call := compile.CallOf(entry)
	switch {
	case !c.start:
		call.Start, call.Stop = nil, nil
		if strategy == compile.Loop {
			call.Arguments = c.arguments
		}
	case strategy == compile.Loop:
		call.Start.Arguments = c.arguments
	}
	compiled, err := compile.Compile(entry.Waiter, call, compile.Options{
		Strategy: strategy, MaxWait: 5 * time.Second, MinDelay: time.Second, MaxDelay: time.Second, Output: c.output,
	})
	require.NoError(t, err, name)
	input, err := json.Marshal(c.input)
	require.NoError(t, err)
	var made struct {
		Machine   string `json:"stateMachineArn"`
		Execution string `json:"executionArn"`
	}
	m.call(t, "CreateStateMachine", map[string]any{
		"name": strings.ReplaceAll(name, " ", "-") + "-" + hex.EncodeToString([]byte(c.fails)), "definition": string(asl.Print(compiled.Machine)),
		"roleArn": "arn:aws:iam::123456789012:role/poller",
	}, &made)
	m.call(t, "StartExecution", map[string]any{"stateMachineArn": made.Machine, "input": string(input)}, &made)
	var ended struct {
		Status, Error, Cause, Output string
	}
	for ended.Status = "RUNNING"; ended.Status == "RUNNING"; {
		select {
		case <-t.Context().Done():
			require.NoError(t, t.Context().Err(), name)
		case <-time.After(200 * time.Millisecond): // moto tells of no end
		}
		m.call(t, "DescribeExecution", map[string]any{"executionArn": made.Execution}, &ended)
	}
	if c.fails != "" {
		require.Equal(t, "FAILED", ended.Status, "%s: %s", name, ended.Output)
		require.Equal(t, c.fails, ended.Error, "%s: %s", name, ended.Cause)
		require.Contains(t, ended.Cause, c.cause, name)
		return
	}
	require.Equal(t, "SUCCEEDED", ended.Status, "%s: %s: %s", name, ended.Error, ended.Cause)
	require.Contains(t, ended.Output, `"status": "SUCCEEDED"`, name)
}

// call calls an operation of Step Functions.
func (m *moto) call(t *testing.T, operation string, input, output any) {
	t.Helper()
	body, err := json.Marshal(input)
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.url, bytes.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "AWSStepFunctions."+operation)
	request.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=t/20260101/us-east-1/states/aws4_request, SignedHeaders=host, Signature=t")
	m.do(t, request, output)
}

func (m *moto) do(t *testing.T, request *http.Request, output any) {
	t.Helper()
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode, "%s", text)
	if output != nil {
		require.NoError(t, json.Unmarshal(text, output), "%s", text)
	}
}

// startMoto starts a server that executes state machines and has what they ask for.
func startMoto(t *testing.T) *moto {
	t.Helper()
	m := serveMoto(t)
	python, _ := installMoto(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.url+"/moto-api/config", strings.NewReader(`{"stepfunctions": {"execute_state_machine": true}}`))
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Less(t, response.StatusCode, http.StatusBadRequest)
	prepare := exec.CommandContext(t.Context(), python, "motoserver.py", "prepare", m.url)
	prepare.Stderr = os.Stderr
	out, err := prepare.Output()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(out, m))
	return m
}

// serveMoto starts a server without resources, and ends it with the test.
func serveMoto(t *testing.T) *moto {
	t.Helper()
	python, jar := installMoto(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var log bytes.Buffer
	server := exec.CommandContext(ctx, python, "motoserver.py", "serve", port, jar)
	server.Stdout, server.Stderr = &log, &log
	server.Env = append(os.Environ(), "AWS_ACCESS_KEY_ID=t", "AWS_SECRET_ACCESS_KEY=t", "AWS_DEFAULT_REGION=us-east-1")
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		stop()
		_ = server.Wait() // it was killed
	})
	m := &moto{url: "http://" + address}
	require.Eventually(t, func() bool {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			return false
		}
		return c.Close() == nil
	}, time.Minute, 100*time.Millisecond, "moto does not listen")
	return m
}

// installing is held while moto is installed.
var installing sync.Mutex

// installMoto installs what requirements.txt names and the JSONata engine, once, and
// returns the interpreter and the engine's file.
func installMoto(t *testing.T) (python, jar string) {
	t.Helper()
	installing.Lock()
	defer installing.Unlock()
	requirements, err := os.ReadFile("requirements.txt")
	require.NoError(t, err)
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	sum := sha256.Sum256(append(requirements, jsonataInJava...))
	folder := filepath.Join(cache, "jobpoller", "moto-"+hex.EncodeToString(sum[:8]))
	python, jar = filepath.Join(folder, "bin", "python"), filepath.Join(folder, jsonataFile)
	if _, err := os.Stat(filepath.Join(folder, "complete")); err == nil {
		return python, jar
	}
	system := os.Getenv("PYTHON")
	if system == "" {
		system = "python3"
	}
	for _, arguments := range [][]string{
		{system, "-m", "venv", "--clear", folder},
		{python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "--require-hashes", "--requirement", "requirements.txt"},
		{"mvn", "--quiet", "--batch-mode", "dependency:copy", "-Dartifact=" + jsonataInJava, "-DoutputDirectory=" + folder},
	} {
		command := exec.CommandContext(t.Context(), arguments[0], arguments[1:]...)
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s\n%s", strings.Join(arguments, " "), out)
	}
	text, err := os.ReadFile(jar)
	require.NoError(t, err)
	found := sha256.Sum256(text)
	require.Equal(t, jsonataSHA256, hex.EncodeToString(found[:]), jar)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "complete"), nil, 0o600))
	return python, jar
}
