package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
)

// The commands in the error of a start whose outcome is not known find its record, in its
// bucket and under its prefix, poller and scope, also where a name has a quote.
func TestCommandsOfAnUnknownStartFindItsRecord(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.answer("StartJobRun", `500 {"__type": "InternalServiceException", "message": "later"}`)
	store, err := s3store.New(a.server.Client(), "records", "teams/our exports")
	require.NoError(t, err)
	p, err := handler.New(handler.Config{Store: store, Jobs: a.functions(t).Jobs})
	require.NoError(t, err)
	_, err = p.RunJob(t.Context(), json.RawMessage(`{"Context": {"Execution": {"Id": "`+nightly+`-it's", "StartTime": "2026-11-28T09:00:00Z"}},
		"Poller": "Export it's", "Scope": 4, "Input": {"job": "glue:StartJobRun", "maxWaitSeconds": 60, "arguments": {"JobName": "nightly"}}}`))
	failure, ok := errors.AsType[messages.InvokeResponse_Error](err)
	require.True(t, ok, "%v", err)
	for pattern, more := range map[string][]string{
		`(?m)^If it runs: jobpoller (records adopt .*)$`:       {"--param", "JobName=nightly"},
		`(?m)^If it does not: jobpoller (records abandon .*)$`: nil,
	} {
		found := regexp.MustCompile(pattern).FindStringSubmatch(failure.Message)
		require.NotNil(t, found, err.Error())
		args := append(splitShell(found[1]), more...)
		var out, problems bytes.Buffer
		runCommand(t.Context(), append(args, "--region", "eu-west-1", "--endpoint-url", a.url), &out, &problems)
		require.Contains(t, problems.String(), "--yes", "nobody is there to be asked: %q", args)
	}
}

// splitShell splits a command line into words as a shell does.
func splitShell(line string) []string {
	var words []string
	for _, word := range regexp.MustCompile(`(\\'|[^\s'\\]|'[^']*')+`).FindAllString(line, -1) {
		word = strings.ReplaceAll(word, `'\''`, "\x00")
		words = append(words, strings.ReplaceAll(strings.ReplaceAll(word, "'", ""), "\x00", "'"))
	}
	return words
}
