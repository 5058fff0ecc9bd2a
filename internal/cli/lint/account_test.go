package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/awssettings"
	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/deployed"
	"github.com/jobpoller/jobpoller/statemachines/server"
)

// deployment is Step Functions with state machines: the handler of "jobpoller serve".
type deployment struct {
	t       *testing.T
	handler *server.Server
	// refuse answers a request in the place of the server, or returns nil.
	refuse func(operation, arn string) *http.Response
	// calls are the times of the requests, by operation.
	calls map[string][]time.Time
}

func newDeployment(t *testing.T) *deployment {
	t.Helper()
	d := &deployment{t: t, handler: server.New(server.Options{}), calls: map[string][]time.Time{}}
	t.Cleanup(d.handler.Close)
	return d
}

// Do answers the requests of the command.
func (d *deployment) Do(r *http.Request) (*http.Response, error) {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	d.calls[operation] = append(d.calls[operation], time.Now())
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var input struct {
		StateMachineArn string `json:"stateMachineArn"`
	}
	if err := json.Unmarshal(text, &input); err != nil {
		return nil, err
	}
	if r.Context().Err() != nil {
		return nil, r.Context().Err()
	}
	if d.refuse != nil {
		if answer := d.refuse(operation, input.StateMachineArn); answer != nil {
			return answer, nil
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r)
	return w.Result(), nil
}

// ask sends a request to the server in a region.
func (d *deployment) ask(region, operation string, input map[string]any) map[string]any {
	d.t.Helper()
	text, err := json.Marshal(input)
	require.NoError(d.t, err)
	r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(text))
	r.Header.Set("X-Amz-Target", "AWSStepFunctions."+operation)
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=x/20261130/"+region+"/states/aws4_request, SignedHeaders=host, Signature=x")
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r)
	require.Equal(d.t, http.StatusOK, w.Code, w.Body.String())
	var out map[string]any
	require.NoError(d.t, json.Unmarshal(w.Body.Bytes(), &out))
	return out
}

// create makes a state machine, and returns its ARN.
func (d *deployment) create(region, name, definition string, more map[string]any) string {
	d.t.Helper()
	input := map[string]any{"name": name, "definition": definition, "roleArn": "arn:aws:iam::123456789012:role/r"}
	maps.Copy(input, more)
	return d.ask(region, "CreateStateMachine", input)["stateMachineArn"].(string)
}

// refusal is an error of the service.
func refusal(code, message string) *http.Response {
	answer, _ := clitest.RespondJSON(http.StatusBadRequest, fmt.Sprintf(`{"__type": %q, "message": %q}`, code, message))
	return answer
}

// lint runs "jobpoller lint" against the deployment.
func (d *deployment) lint(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, complaints bytes.Buffer
	code = runCommand(awssettings.WithClient(ctx, d), append([]string{"lint"}, args...), &out, &complaints)
	return code, out.String(), complaints.String()
}

// pollLoops are definitions that differ in what is found in them.
var pollLoops = []string{`{
  "StartAt": "Start", "States": {
    "Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:startCrawler", "Parameters": {"Name": "c"}, "ResultPath": null, "Next": "Pause"},
    "Pause": {"Type": "Wait", "Seconds": %d, "Next": "Look"},
    "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getCrawler", "Parameters": {"Name": "c"}, "ResultPath": "$.c", "Next": "Done?"},
    "Done?": {"Type": "Choice", "Choices": [{"Variable": "$.c.Crawler.State", "StringEquals": "READY", "Next": "Load"}], "Default": "Pause"},
    "Load": {"Type": "Pass", "End": true}}}
`, `{
  "StartAt": "Pause", "States": {
    "Pause": {"Type": "Wait", "Seconds": %d, "Next": "Look"},
    "Look": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "f"}, "OutputPath": "$.Payload", "Next": "Done?"},
    "Done?": {"Type": "Choice", "Choices": [{"Variable": "$.status", "StringEquals": "DONE", "Next": "Good"}], "Default": "Pause"},
    "Good": {"Type": "Succeed"}}}
`, `{
  "StartAt": "Pause", "States": {
    "Pause": {"Type": "Wait", "Seconds": %d, "Next": "Good"},
    "Good": {"Type": "Succeed"}}}
`}

const machines = 300

// fill makes state machines, and a file of each, and returns the files by the ARNs.
func (d *deployment) fill(folder string) map[string]string {
	d.t.Helper()
	files := map[string]string{}
	for i := range machines {
		name := fmt.Sprintf("m%03d", i)
		text := fmt.Sprintf(pollLoops[i%len(pollLoops)], 30+i)
		file := filepath.Join(folder, name+".asl.json")
		require.NoError(d.t, os.WriteFile(file, []byte(text), 0o600))
		files[d.create("eu-west-1", name, text, nil)] = file
	}
	return files
}

// foundIn are findings of JSON, with files in the place of ARNs.
func foundIn(t *testing.T, stdout string, files map[string]string) []map[string]any {
	t.Helper()
	var found []map[string]any
	require.NoError(t, json.Unmarshal([]byte(stdout), &found))
	for _, f := range found {
		if file, ok := files[f["file"].(string)]; ok {
			f["file"] = file
		}
	}
	return found
}

// What is deployed has the findings of its files. No second has more than ten describes;
// throttled ones are made again; and a command that was killed goes on.
func TestAccountOf300Machines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, folder := newDeployment(t), t.TempDir()
		files := d.fill(folder)
		code, stdout, stderr := d.lint(t.Context(), "-o", "json", folder)
		require.Equal(t, kit.ExitFailed, code, stderr)
		want := foundIn(t, stdout, nil)
		require.NotEmpty(t, want)

		kept := filepath.Join(folder, "kept.jsonl")
		account := []string{"--account", "--region", "eu-west-1", "--keep", kept, "-o", "json"}
		throttled := 0
		d.refuse = func(operation, _ string) *http.Response {
			if n := len(d.calls[operation]); operation == "DescribeStateMachine" && n%50 == 7 {
				throttled++
				return refusal("ThrottlingException", "Rate exceeded")
			}
			return nil
		}
		ctx, kill := context.WithCancel(t.Context())
		answer := d.refuse
		d.refuse = func(operation, arn string) *http.Response {
			if len(d.calls["DescribeStateMachine"]) == machines/2 {
				kill()
			}
			return answer(operation, arn)
		}
		code, stdout, stderr = d.lint(ctx, account...)
		require.Equal(t, kit.ExitInterrupted, code, stderr)
		require.Empty(t, stdout)
		file, err := os.OpenFile(kept, os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = file.WriteString(`{"stateMachineArn":"arn:aws:states:eu-west-1:1234567890`) // what kill -9 leaves
		require.NoError(t, err)
		require.NoError(t, file.Close())

		d.refuse = answer
		code, stdout, stderr = d.lint(t.Context(), account...)
		require.Equal(t, kit.ExitFailed, code, stderr)
		require.ElementsMatch(t, want, foundIn(t, stdout, files))
		require.Regexp(t, "lint took 14[0-9] definitions from .*/kept.jsonl, as AWS had them up to 1m ago: a command before read them\n", stderr)
		require.Positive(t, throttled)
		require.Equal(t, machines+throttled, len(d.calls["DescribeStateMachine"]), "each is described once") //nolint:testifylint // Len prints them all
		times := d.calls["DescribeStateMachine"]
		for i := 11; i < len(times); i++ { // one token may be left of the time before
			require.Greater(t, times[i].Sub(times[i-11]), time.Second-time.Microsecond)
		}

		code, _, stderr = d.lint(t.Context(), account...)
		require.Equal(t, kit.ExitFailed, code)
		require.NotContains(t, stderr, "lint took")
		require.Greater(t, len(d.calls["DescribeStateMachine"]), 2*machines, "a command after one that was done begins anew")
	})
}

// A state machine that cannot be read is named, with the permission that lacks, and the
// others are read. What is deleted meanwhile is counted.
func TestAccountWithoutPermissions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, folder := newDeployment(t), t.TempDir()
		loop := fmt.Sprintf(pollLoops[1], 60)
		for _, name := range []string{"broken", "denied", "denied2", "gone", "open"} {
			d.create("eu-west-1", name, loop, nil)
		}
		const key = "arn:aws:kms:eu-west-1:123456789012:key/k"
		encrypted := map[string]any{"encryptionConfiguration": map[string]any{"type": "CUSTOMER_MANAGED_KMS_KEY", "kmsKeyId": key}}
		d.create("eu-west-1", "secret", loop, encrypted)
		d.create("eu-west-1", "locked", loop, encrypted)
		lockedAsked := 0
		d.refuse = func(operation, arn string) *http.Response {
			name := arn[strings.LastIndex(arn, ":")+1:]
			switch {
			case operation != "DescribeStateMachine":
				return nil
			case strings.HasPrefix(name, "denied"):
				return refusal("AccessDeniedException", "User: arn:aws:iam::123456789012:user/u is not authorized to perform: states:DescribeStateMachine on resource: "+arn)
			case name == "broken":
				return refusal("ValidationException", "bad")
			case name == "gone":
				return refusal("StateMachineDoesNotExist", "State Machine Does Not Exist: '"+arn+"'")
			case name == "locked":
				if lockedAsked++; lockedAsked == 1 { // the second one asks for no definition
					return refusal("KmsAccessDeniedException", "not allowed")
				}
			}
			return nil
		}
		kept := filepath.Join(folder, "kept.jsonl")
		code, stdout, stderr := d.lint(t.Context(), "--account", "--region", "eu-west-1", "--keep", kept)
		require.Equal(t, kit.ExitUnknown, code, stderr)
		require.Contains(t, stdout, "2 poll loops, the most dangerous first")
		require.Contains(t, stdout, "stateMachine:open, line 5, column ")
		require.Contains(t, stderr, "in 2 state machines")
		require.Contains(t, stderr, "; passed over 1 state machine, deleted meanwhile\n")
		require.Contains(t, stderr, "not read: arn:aws:states:eu-west-1:123456789012:stateMachine:broken: ")
		require.Contains(t, stderr, "ValidationException: bad")
		require.Contains(t, stderr, "not read: 2 state machines, such as arn:aws:states:eu-west-1:123456789012:stateMachine:denied: "+
			"access denied: grant states:DescribeStateMachine (AccessDeniedException: ")
		require.Contains(t, stderr, "not read: arn:aws:states:eu-west-1:123456789012:stateMachine:locked: access denied: grant kms:Decrypt on the key "+key)

		text, err := os.ReadFile(kept)
		require.NoError(t, err)
		require.Contains(t, string(text), ":stateMachine:open")
		require.NotContains(t, string(text), ":stateMachine:secret", "what a key of the user's encrypts is not written down")
		info, err := os.Stat(kept)
		require.NoError(t, err)
		require.EqualValues(t, 0o600, info.Mode().Perm())
	})
}

// A region whose list is refused is named, and the others are read.
func TestAccountOfSeveralRegions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDeployment(t)
		d.create("eu-west-1", "a", fmt.Sprintf(pollLoops[1], 60), nil)
		d.create("us-east-1", "b", fmt.Sprintf(pollLoops[0], 60), map[string]any{"type": "EXPRESS"})
		code, stdout, stderr := d.lint(t.Context(), "--account", "--region", "eu-west-1", "--region", "us-east-1", "--loops", "-o", "json")
		require.Equal(t, kit.ExitSucceeded, code, stderr)
		var loops []pollLoop
		require.NoError(t, json.Unmarshal([]byte(stdout), &loops))
		require.Len(t, loops, 2)
		require.Equal(t, []string{"DANGER", "WARNING"}, []string{loops[0].Severity, loops[1].Severity})
		require.Equal(t, "arn:aws:states:us-east-1:123456789012:stateMachine:b", loops[0].File)

		lists := 0
		d.refuse = func(operation, _ string) *http.Response {
			if lists++; lists > 1 || operation != "ListStateMachines" {
				return nil
			}
			return refusal("AccessDeniedException", "not authorized to perform: states:ListStateMachines with an explicit deny in a service control policy")
		}
		code, stdout, stderr = d.lint(t.Context(), "--account", "--region", "eu-west-1", "--region", "us-east-1")
		require.Equal(t, kit.ExitUnknown, code)
		require.Contains(t, stdout, "1 poll loop, the most dangerous first")
		require.Contains(t, stderr, "jobpoller: eu-west-1: access denied: a service control policy denies states:ListStateMachines")

		kept := filepath.Join(t.TempDir(), "kept.jsonl")
		for range 2 { // what is read once is read again by a later command
			lists, d.calls["DescribeStateMachine"] = 0, nil
			code, _, _ = d.lint(t.Context(), "--account", "--region", "eu-west-1", "--region", "us-east-1", "--keep", kept)
			require.Equal(t, kit.ExitUnknown, code)
			require.Len(t, d.calls["DescribeStateMachine"], 1)
		}

		d.refuse = func(string, string) *http.Response { return refusal("ThrottlingException", "Rate exceeded") }
		code, _, stderr = d.lint(t.Context(), "--account", "--region", "eu-west-1")
		require.Equal(t, kit.ExitUnknown, code)
		require.Contains(t, stderr, "the service does not answer now: try again later (ThrottlingException: Rate exceeded). With --keep FILE the next command goes on from there")

		d.refuse = func(string, string) *http.Response { return refusal("ValidationException", "no") }
		code, _, stderr = d.lint(t.Context(), "--account", "--region", "eu-west-1")
		require.Equal(t, kit.ExitUnknown, code)
		require.NotContains(t, stderr, "goes on", "the next command meets the same error")
	})
}

// An alias has the findings of each version that it leads to, an execution those of what it
// ran, and a version those of its own.
func TestARNs(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	arn := d.create("eu-west-1", "m", fmt.Sprintf(pollLoops[0], 60), map[string]any{"publish": true})
	execution := d.ask("eu-west-1", "StartExecution", map[string]any{"stateMachineArn": arn, "name": "x"})["executionArn"].(string)
	d.ask("eu-west-1", "UpdateStateMachine", map[string]any{"stateMachineArn": arn, "definition": fmt.Sprintf(pollLoops[1], 60), "publish": true})
	d.ask("eu-west-1", "CreateStateMachineAlias", map[string]any{"name": "live", "routingConfiguration": []any{
		map[string]any{"stateMachineVersionArn": arn + ":1", "weight": 90}, map[string]any{"stateMachineVersionArn": arn + ":2", "weight": 10},
	}})
	rulesOf := func(args ...string) map[string][]string {
		code, stdout, stderr := d.lint(t.Context(), append([]string{"-o", "json"}, args...)...)
		require.Equal(t, kit.ExitFailed, code, stderr)
		rules := map[string][]string{}
		for _, f := range foundIn(t, stdout, nil) {
			name := strings.TrimPrefix(f["file"].(string), "arn:aws:states:eu-west-1:123456789012:")
			if f["weight"] != nil {
				name += fmt.Sprint(" ", f["weight"])
			}
			rules[name] = append(rules[name], f["rule"].(string))
		}
		return rules
	}
	first, second := rulesOf(arn + ":1")["stateMachine:m:1"], rulesOf(arn)["stateMachine:m"]
	require.NotEqual(t, first, second)
	require.NotEmpty(t, first)
	require.NotEmpty(t, second)
	require.Equal(t, map[string][]string{"stateMachine:m:2": second}, rulesOf(arn+":2"))
	require.Equal(t, map[string][]string{"stateMachine:m:1 90": first, "stateMachine:m:2 10": second}, rulesOf(arn+":live"))
	require.Equal(t, map[string][]string{"execution:m:x": first}, rulesOf(execution))
	require.Equal(t, map[string][]string{"stateMachine:m": second}, rulesOf(arn+"/Label"))

	_, stdout, _ := d.lint(t.Context(), arn+":live")
	require.Contains(t, stdout, arn+":1 (90 % of the alias)\n")

	d.refuse = func(_, asked string) *http.Response {
		if asked == arn+":2" {
			return refusal("AccessDeniedException", "not authorized")
		}
		return nil
	}
	code, stdout, stderr := d.lint(t.Context(), arn+":live")
	require.Equal(t, kit.ExitUnknown, code)
	require.Contains(t, stdout, arn+":1, line 6, column 104: danger status-unclear", "what could be read is checked")
	require.Contains(t, stderr, "access denied")
}

// What has no definition is refused before a call, and what is not there is named.
func TestWrongARNs(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	const begin = "arn:aws:states:eu-west-1:123456789012:"
	for arn, want := range map[string]string{
		"arn:aws:lambda:eu-west-1:123456789012:function:f": "expected the ARN of a state machine, such as",
		"arn:aws:states:eu-west-1:1:stateMachine:m":        "expected the ARN of a state machine, such as",
		"arn:aws:states::123456789012:stateMachine:m":      "expected the ARN of a state machine, such as",
		begin + "stateMachine:" + strings.Repeat("m", 81):  "has no name that a state machine can have",
		begin + "stateMachine:a b":                         "has no name that a state machine can have",
		begin + "stateMachine:m:1:2":                       "expected the ARN of a state machine, such as",
		begin + "express:m:x:y":                            "of which Step Functions keeps no definition: pass " + begin + "stateMachine:m",
		begin + "mapRun:m/L:x":                             "is a Map Run: pass the ARN of its execution or of its state machine",
	} {
		code, _, stderr := d.lint(t.Context(), arn)
		require.Equal(t, kit.ExitUsage, code, arn)
		require.Contains(t, stderr, want)
	}
	code, _, stderr := d.lint(t.Context(), "--region", "us-east-1", begin+"stateMachine:m")
	require.Equal(t, kit.ExitUsage, code)
	require.Contains(t, stderr, "--region us-east-1 contradicts")
	require.Empty(t, d.calls)
	for _, kind := range []string{"stateMachine:m", "stateMachine:m:7", "stateMachine:m:live", "execution:m:x"} {
		code, _, stderr := d.lint(t.Context(), begin+kind)
		require.Equal(t, kit.ExitUnknown, code, kind)
		require.Contains(t, stderr, begin+kind+": AWS has none: check the name, the account and the region")
	}
}

// A baseline knows findings by their ARN, and forgets those of a state machine that an
// account has no more.
func TestBaselineByARN(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, file := newDeployment(t), filepath.Join(t.TempDir(), "baseline.json")
		a := d.create("eu-west-1", "a", fmt.Sprintf(pollLoops[1], 60), nil)
		b := d.create("eu-west-1", "b", fmt.Sprintf(pollLoops[1], 60), nil)
		account := []string{"--account", "--region", "eu-west-1", "--baseline", file}
		code, _, stderr := d.lint(t.Context(), append(account, "--update-baseline")...)
		require.Equal(t, kit.ExitSucceeded, code, stderr)
		for _, args := range [][]string{account, {a, "--baseline", file}} {
			code, stdout, stderr := d.lint(t.Context(), args...)
			require.Equal(t, kit.ExitSucceeded, code, stderr)
			require.Empty(t, stdout)
		}
		known := func() string {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			return string(text)
		}
		code, _, _ = d.lint(t.Context(), a, "--baseline", file, "--update-baseline")
		require.Equal(t, kit.ExitSucceeded, code)
		require.Contains(t, known(), b, "what was not read stays known")
		d.ask("eu-west-1", "DeleteStateMachine", map[string]any{"stateMachineArn": b})
		code, _, stderr = d.lint(t.Context(), append(account, "--update-baseline")...)
		require.Equal(t, kit.ExitSucceeded, code, stderr)
		require.Contains(t, known(), a)
		require.NotContains(t, known(), b)
	})
}

// What is no region is refused before a call.
func TestWrongRegions(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	for region, want := range map[string]string{
		"eu-west-1,us-east-1": "--region: \"eu-west-1,us-east-1\" is not the name of a region such as us-east-1: pass --region once for each",
		"eu-west":             "--region: \"eu-west\" is not the name of a region such as us-east-1",
		"":                    "--region: no region",
	} {
		code, _, stderr := d.lint(t.Context(), "--account", "--region", "eu-central-1", "--region", region)
		require.Equal(t, kit.ExitUsage, code, region)
		require.Contains(t, stderr, want)
	}
	require.Empty(t, d.calls)
}

// A file that another command keeps definitions in is left to it.
func TestKeptByAnotherCommand(t *testing.T) {
	t.Parallel()
	d, file := newDeployment(t), filepath.Join(t.TempDir(), "kept.jsonl")
	kept, err := deployed.OpenKept(file, "")
	require.NoError(t, err)
	account := []string{"--account", "--region", "eu-west-1", "--keep", file}
	code, _, stderr := d.lint(t.Context(), account...)
	require.Equal(t, kit.ExitUsage, code)
	require.Contains(t, stderr, "another command keeps what it reads there: wait until it ends, or pass another file")
	require.Empty(t, d.calls)
	require.NoError(t, kept.Close())
	code, _, stderr = d.lint(t.Context(), account...)
	require.Equal(t, kit.ExitSucceeded, code, stderr)
}

// A file that --keep has not written is refused, and stays as it is.
func TestOtherFilesToKeep(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	for _, text := range []string{"notes", "{\"StartAt\": \"A\"}", "{\"StartAt\": \"A\"}\n", "[]\n", "{\"began\":\"2026-11-30T00:00:00Z\",\"endpoint\":\"http://127.0.0.1:1\"}\n"} {
		file := filepath.Join(t.TempDir(), "kept")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		code, _, stderr := d.lint(t.Context(), "--account", "--region", "eu-west-1", "--keep", file)
		require.Equal(t, kit.ExitUsage, code, text)
		require.Contains(t, stderr, "pass another file")
		after, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, text, string(after))
	}
	require.Empty(t, d.calls)
}
