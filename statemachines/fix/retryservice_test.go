package fix_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
	"github.com/jobpoller/jobpoller/tests/race"
)

// retriedCall is a machine that makes a call in a loop: a poll, or the start of a job that the
// loop polls behind it. More are members of the Task.
func retriedCall(resource, poll, more, states string) string {
	next := "Done?"
	if poll != "" {
		next = "Look"
		states += fmt.Sprintf(`, "Look": {"Type": "Task", "Resource": %q, "Parameters": {}, "ResultPath": "$.s", "Next": "Done?"}`, poll)
	}
	return fmt.Sprintf(`{"StartAt": "Call", "TimeoutSeconds": 3600, "States": {
  "Call": {"Type": "Task", "Resource": %q, "Parameters": {}, %s "ResultPath": "$.s", "Next": %q},
  "Done?": {"Type": "Choice", "Choices": [{"Variable": "$.s.x", "IsPresent": true, "Next": "Good"}], "Default": "Pause"},
  "Pause": {"Type": "Wait", "Seconds": 30, "Next": "Call"},
  "Good": {"Type": "Succeed"}%s}}`, resource, more, next, states)
}

// The Retry that fix adds takes the error by which throttled calls of the service arrive, for a
// poll of each service of the catalogue. Where the user catches that, fix adds none. For a start,
// fix retries what lint says.
func TestAddedRetryTakesThrottlingOfEachService(t *testing.T) {
	t.Parallel()
	services, err := catalog.AWS().List()
	require.NoError(t, err)
	tried := 0
	for _, service := range race.OneIn(12, services) {
		arn := func(operation string) string {
			return "arn:aws:states:::aws-sdk:" + service.ARNName + ":" + javasdk.Uncapitalize(operation)
		}
		polls := map[string]string{arn(service.Entries[0].Operation): ""} // of the calls that start jobs; empty of polls
		for _, listed := range service.Entries {
			if listed.Kind == catalog.AWSJob {
				polls[arn(listed.Name)] = arn(listed.Operation)
				break
			}
		}
		for resource, poll := range polls {
			throttled, known := mock.ThrottleFailure(resource)
			if !known {
				continue // Step Functions does not call the service yet
			}
			tried++
			retried, reason := addedRetry(t, retriedCall(resource, poll, "", ""))
			if poll != "" {
				requireAsLint(t, retriedCall(resource, poll, "", ""), throttled.Name, retried, reason)
				continue
			}
			require.Contains(t, retried, throttled.Name, "%s: %s", resource, reason)
			caught := fmt.Sprintf(`"Catch": [{"ErrorEquals": [%q], "Next": "Bad"}],`, throttled.Name)
			retried, reason = addedRetry(t, retriedCall(resource, poll, caught, `, "Bad": {"Type": "Fail"}`))
			require.NotContains(t, retried, throttled.Name, resource)
			require.Empty(t, retried, resource)
			require.Contains(t, reason, throttled.Name, resource)
		}
	}
	require.Greater(t, tried, race.Of(150, 1))
}

// requireAsLint requires that fix retries the errors of a start that lint says are safe.
func requireAsLint(t *testing.T, text, throttled string, retried []string, reason string) {
	t.Helper()
	m, err := asl.Parse([]byte(text))
	require.NoError(t, err)
	types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
	require.NoError(t, err)
	said := ""
	for _, f := range lint.Check(m, lint.Options{Types: types}) {
		if f.Rule == lint.UnretriedTask && f.Pointer == "/States/Call" {
			said = f.Message
		}
	}
	require.NotEmpty(t, said, text)
	_, none, unsafe := strings.Cut(said, "no error is safe to retry: ")
	alone := regexp.MustCompile(`retry (".+") alone`).FindStringSubmatch(said)
	switch {
	case unsafe:
		require.Empty(t, retried, said)
		require.Contains(t, reason, none)
	case alone != nil:
		for _, name := range regexp.MustCompile(`[\w.]+Exception`).FindAllString(alone[1], -1) {
			require.Contains(t, retried, name, said)
		}
		for _, name := range retried {
			require.Equal(t, awserror.Throttled, awserror.ClassifyName(name, ""), said)
		}
	default:
		require.Contains(t, said, `retry "States.TaskFailed"`)
		require.Contains(t, retried, throttled, said)
	}
}

// addedRetry are the errors that fix lets "Call" retry, or the reason why it lets it retry none.
func addedRetry(t *testing.T, text string) (errors []string, reason string) {
	t.Helper()
	o := fix.RepairOptions{Sure: true, Accept: []string{lint.UnretriedTask + "@Call"}, Models: models.Load}
	after, repairs, err := fix.RepairFile(t.Context(), []byte(text), reader(t, "m.json"), o)
	require.NoError(t, err)
	var m struct {
		States map[string]struct {
			Retry []struct {
				ErrorEquals []string `json:"ErrorEquals"`
			} `json:"Retry"`
		} `json:"States"`
	}
	require.NoError(t, json.Unmarshal(after, &m))
	for _, r := range m.States["Call"].Retry {
		errors = append(errors, r.ErrorEquals...)
	}
	i := slices.IndexFunc(repairs, func(r fix.Repair) bool { return r.Rule == lint.UnretriedTask && r.State == "Call" })
	if i < 0 {
		return errors, ""
	}
	return errors, repairs[i].Reason
}
