package fix_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/tests/race"
)

// A new loop retries each error at least as often, and as long, as the old one.
func TestRetryKeepsItsAttempts(t *testing.T) {
	t.Parallel()
	errors := []string{"Athena.AthenaException", "Athena.InternalServerException", "Athena.SdkClientException", "Athena.InvalidRequestException"}
	attempts := func(poll *asl.State, name string) (n int64, seconds float64) {
		for _, r := range poll.Retry {
			if !slices.ContainsFunc(r.ErrorEquals, func(taken string) bool {
				return slices.Contains([]string{name, asl.ErrorTaskFailed, asl.ErrorAll}, taken)
			}) {
				continue
			}
			for i := range r.MaxAttempts {
				delay := float64(r.IntervalSeconds) * math.Pow(r.BackoffRate, float64(i))
				if r.MaxDelaySeconds > 0 {
					delay = min(delay, float64(r.MaxDelaySeconds))
				}
				if r.JitterStrategy == asl.JitterFull {
					delay /= 2
				}
				seconds += delay
			}
			return r.MaxAttempts, seconds
		}
		return 0, 0
	}
	for name, retry := range map[string]string{
		"by name":              `{"ErrorEquals": ["Athena.AthenaException"], "MaxAttempts": 5}`,
		"all failed Tasks":     `{"ErrorEquals": ["States.TaskFailed"], "MaxAttempts": 9}`,
		"all errors":           `{"ErrorEquals": ["States.ALL"], "MaxAttempts": 4}`,
		"fewer than the new":   `{"ErrorEquals": ["States.ALL"], "MaxAttempts": 2}`,
		"few and long":         `{"ErrorEquals": ["Athena.AthenaException", "Athena.SdkClientException"], "IntervalSeconds": 20, "MaxAttempts": 5}`,
		"long at a fixed rate": `{"ErrorEquals": ["States.ALL"], "IntervalSeconds": 60, "MaxAttempts": 2, "BackoffRate": 1, "MaxDelaySeconds": 61}`,
		"long with jitter":     `{"ErrorEquals": ["States.TaskFailed"], "IntervalSeconds": 90, "MaxAttempts": 3, "JitterStrategy": "FULL"}`,
		"without MaxAttempts":  `{"ErrorEquals": ["States.TaskFailed"]}`,
		"several": `{"ErrorEquals": ["Athena.InternalServerException", "Athena.InvalidRequestException"], "MaxAttempts": 1},
			{"ErrorEquals": ["Athena.SdkClientException"], "MaxAttempts": 8}, {"ErrorEquals": ["States.ALL"], "MaxAttempts": 7}`,
	} {
		for _, strategy := range []compile.Strategy{compile.Variables, compile.Loop, compile.RetryTask} {
			if !race.Takes(name+string(strategy), 12) {
				continue
			}
			t.Run(name+"/"+string(strategy), func(t *testing.T) {
				t.Parallel()
				text := machine(`, "Retry": [`+retry+`]`, "", "", "")
				before, err := asl.Parse([]byte(text))
				require.NoError(t, err)
				changed, loops := apply(t, text, fix.Options{Strategy: strategy})
				require.Len(t, loops, 1)
				require.Empty(t, loops[0].Refused)
				after, err := asl.Parse([]byte(changed))
				require.NoError(t, err)
				for _, e := range errors {
					was, lasted := attempts(before.State("Get"), e)
					is, lasts := attempts(after.State("Get"), e)
					require.GreaterOrEqual(t, is, was, e)
					require.GreaterOrEqual(t, lasts, lasted, e)
				}
			})
		}
	}
}
