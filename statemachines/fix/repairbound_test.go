package fix_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
	"github.com/jobpoller/jobpoller/tests/race"
)

// saidPolls are how many polls a repair says, and how long they take.
var saidPolls = regexp.MustCompile(`not ended after ([\d,]+) polls, (\w+)`)

// A bound says as many polls as its machine makes, wherever it counts and however the loop
// begins.
func TestBoundsMakeThePollsThatTheySay(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/repair/bound*.asl.*")
	require.NoError(t, err)
	texts := map[string]string{}
	for _, file := range files {
		if !strings.HasSuffix(file, ".golden") {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			texts[filepath.Base(file)] = string(text)
		}
	}
	for _, begins := range []string{"Pause", "Look"} {
		for name, form := range map[string]string{
			"by-default": `{"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "QUEUED", "Next": "Bad"}], "Default": "Pause"`,
			"by-rule":    `{"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "RUNNING", "Next": "Pause"}], "Default": "Bad"`,
		} {
			texts[begins+"-"+name+".asl.json"] = fmt.Sprintf(twiceBegun, begins, form)
		}
	}
	counted := 0
	for name, text := range texts {
		if !race.Takes(name, 12) {
			continue
		}
		for _, most := range []time.Duration{0, time.Hour} {
			_, all, err := fix.RepairFile(t.Context(), []byte(text), reader(t, name), fix.RepairOptions{Sure: true, MaxWait: most, Models: models.Load})
			require.NoError(t, err)
			for _, r := range all {
				if r.Rule == lint.UnboundedLoop && r.After != nil {
					counted += requireSaidPolls(t, name, r)
				}
			}
		}
	}
	require.Greater(t, counted, race.Of(20, 1))
}

const twiceBegun = `{"StartAt": "Start", "States": {
  "Start": {"Type": "Pass", "Next": %q},
  "Pause": {"Type": "Wait", "Seconds": 20, "Next": "Look"},
  "Look": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:athena:getQueryExecution", "Parameters": {"QueryExecutionId.$": "$.id"}, "ResultPath": "$.r",
    "Retry": [{"ErrorEquals": ["States.TaskFailed"]}], "Next": "Done?"},
  "Done?": {"Type": "Choice", "Choices": [
    {"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "SUCCEEDED", "Next": "Good"},
    {"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "FAILED", "Next": "Bad"},
    {"Variable": "$.r.QueryExecution.Status.State", "StringEquals": "CANCELLED", "Next": "Bad"},
    %s},
  "Good": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:s3:deleteObject", "Parameters": {"Bucket": "b", "Key": "k"}, "End": true},
  "Bad": {"Type": "Fail", "Error": "QueryFailed"}
}}`

// requireSaidPolls compares what a repair says with its machine, and counts it if that counts
// the polls of one loop.
func requireSaidPolls(t *testing.T, name string, r fix.Repair) int {
	t.Helper()
	definition, err := reader(t, name)(r.After)
	require.NoError(t, err)
	m, err := definition.Parse()
	require.NoError(t, err)
	types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
	require.NoError(t, err)
	_, state, _ := strings.Cut(r.Name(), "@")
	for _, l := range lint.Loops(m, lint.Options{Types: types}) {
		waits := slices.ContainsFunc(l.Waits, func(s *asl.State) bool { return s.Name == state })
		if said := saidPolls.FindStringSubmatch(r.About); waits && l.Bound.Kind == lint.ByCount && said != nil {
			polls := strings.ReplaceAll(said[1], ",", "")
			require.Equal(t, polls, fmt.Sprint(l.Bound.Polls), "%s: %s", name, r.About)
			lasts, err := time.ParseDuration(said[2])
			require.NoError(t, err)
			require.Equal(t, lasts, l.Bound.After-l.Bound.Ahead, "%s: %s", name, r.About)
			require.Contains(t, string(r.After), "within "+said[1]+" polls", name)
			return 1
		}
	}
	return 0
}
