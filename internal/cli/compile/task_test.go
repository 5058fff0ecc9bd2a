package compile

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// A Task in a file polls, with a waiter of the user's own. What the command cannot say of it is wrong usage.
func TestTaskInAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	waiter := write("waiter.json", `{"acceptors": [{"state": "success", "matcher": {"output": {"path": "ResponseBody.done", "expected": "true", "comparator": "booleanEquals"}}}]}`)
	task := write("task.json", `{"Resource": "arn:aws:states:::http:invoke", "Arguments": {"ApiEndpoint": "https://example.com/jobs/1", "Method": "GET"}}`)
	m, err := asl.Parse(compiled(t, waiter, "--task", task, "--max-wait", "1h"))
	require.NoError(t, err)
	require.Equal(t, "arn:aws:states:::http:invoke", m.State(compile.TaskName).Task.Resource)
	for says, args := range map[string][]string{
		"--task needs WAITER.json":             {"athena", "StartQueryExecution", "--task", task},
		"--task polls: leave athena":           {waiter, "athena", "GetQueryExecution", "--task", task},
		"--task must have a Resource":          {waiter, "--task", write("none.json", `{}`)},
		"--task must be of the Type Task":      {waiter, "--task", write("pass.json", `{"Type": "Pass", "Resource": "arn:aws:states:::lambda:invoke"}`)},
		"must be a Task, such as":              {waiter, "--task", write("null.json", `null`)},
		"--task must have a Resource, the ARN": {waiter, "--task", write("number.json", `{"Resource": 5}`), "--iam"},
		"--task is not valid: /Resource: ":     {waiter, "--task", write("typo.json", `{"Resource": "arn:aws:states:::lambda:invok"}`)},
		"--task must have a FunctionName":      {waiter, "--task", write("unnamed.json", `{"Resource": "arn:aws:states:::lambda:invoke", "Arguments": {}}`)},
		"must be a Task":                       {waiter, "--task", write("list.json", `[]`)},
		"--arguments: write them":              {waiter, "--task", task, "--arguments", "{}"},
		"--iam knows what a Lambda function":   {waiter, "--task", task, "--iam"},
		"--task is not for the strategy loop:": {waiter, "--task", task, "--strategy", "loop"},
	} {
		var stdout, stderr bytes.Buffer
		code := runCommand(t.Context(), append([]string{"compile", "--max-wait", "1h"}, args...), &stdout, &stderr)
		require.Equal(t, kit.ExitUsage, code, says)
		require.Contains(t, stderr.String(), says)
	}
}

// A policy for a Lambda function that only the run names allows any function, and never nothing.
func TestPolicyOfATaskWhoseRunNamesTheFunction(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	waiter, task := filepath.Join(dir, "waiter.json"), filepath.Join(dir, "task.json")
	own := `{"acceptors": [{"state": "success", "matcher": {"output": {"path": "Payload.done", "expected": "true", "comparator": "booleanEquals"}}}]}`
	require.NoError(t, os.WriteFile(waiter, []byte(own), 0o600))
	for _, text := range []string{
		`{"Resource": "arn:aws:states:::lambda:invoke", "Arguments": "{% $states.input %}"}`,
		`{"Resource": "arn:aws:states:::lambda:invoke"}`,
		`{"Resource": "arn:aws:states:::lambda:invoke", "Arguments": {"FunctionName": "{% $states.input.f %}"}}`,
	} {
		require.NoError(t, os.WriteFile(task, []byte(text), 0o600))
		require.Contains(t, string(compiled(t, waiter, "--task", task, "--max-wait", "1h", "--iam")), `"arn:*:lambda:*:*:function:*"`, text)
	}
}
