package cli

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
)

// The commands in the error of a start whose outcome is not known find its record, in its
// bucket and under its prefix, poller and scope.
func TestCommandsOfAnUnknownStartFindItsRecord(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.answer("StartJobRun", `500 {"__type": "InternalServiceException", "message": "later"}`)
	store, err := s3store.New(a.server.Client(), "records", "teams/our exports")
	require.NoError(t, err)
	p, err := handler.New(handler.Config{Store: store, Jobs: a.functions(t).Jobs})
	require.NoError(t, err)
	_, err = p.RunJob(t.Context(), json.RawMessage(`{"Context": {"Execution": {"Id": "`+nightly+`", "StartTime": "2026-11-28T09:00:00Z"}},
		"Poller": "Export it's", "Scope": 4, "Input": {"job": "glue:StartJobRun", "maxWaitSeconds": 60, "arguments": {"JobName": "nightly"}}}`))
	require.ErrorContains(t, err, "find out whether it runs")
	for pattern, more := range map[string][]string{
		`If it does, run: jobpoller (records adopt .*?); if not:`: {"--param", "JobName=nightly"},
		`if not: jobpoller (records abandon .*?)\. Then redrive`:  nil,
	} {
		found := regexp.MustCompile(pattern).FindStringSubmatch(err.Error())
		require.NotNil(t, found, err.Error())
		args := append(splitShell(found[1]), more...)
		var out, problems bytes.Buffer
		execute(t.Context(), append(args, "--region", "eu-west-1", "--endpoint-url", a.url), &out, &problems)
		require.Contains(t, problems.String(), "--yes", "nobody is there to be asked: %q", args)
	}
}

// splitShell splits a command line into words as a shell does.
func splitShell(line string) []string {
	var words []string
	for _, word := range regexp.MustCompile(`([^\s']|'[^']*'|\\')+`).FindAllString(line, -1) {
		word = strings.ReplaceAll(word, `'\''`, "\x00")
		words = append(words, strings.ReplaceAll(strings.ReplaceAll(word, "'", ""), "\x00", "'"))
	}
	return words
}
