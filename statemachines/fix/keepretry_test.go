package fix_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/tests/race"
)

// A new loop retries each error at least as often as the old one.
func TestRetryKeepsItsAttempts(t *testing.T) {
	t.Parallel()
	errors := []string{"Athena.AthenaException", "Athena.InternalServerException", "Athena.SdkClientException", "Athena.InvalidRequestException"}
	attempts := func(poll *asl.State, name string) int64 {
		for _, r := range poll.Retry {
			if slices.ContainsFunc(r.ErrorEquals, func(taken string) bool {
				return slices.Contains([]string{name, asl.ErrorTaskFailed, asl.ErrorAll}, taken)
			}) {
				return r.MaxAttempts
			}
		}
		return 0
	}
	for name, retry := range map[string]string{
		"by name":             `{"ErrorEquals": ["Athena.AthenaException"], "MaxAttempts": 5}`,
		"all failed Tasks":    `{"ErrorEquals": ["States.TaskFailed"], "MaxAttempts": 9}`,
		"all errors":          `{"ErrorEquals": ["States.ALL"], "MaxAttempts": 4}`,
		"fewer than the new":  `{"ErrorEquals": ["States.ALL"], "MaxAttempts": 2}`,
		"without MaxAttempts": `{"ErrorEquals": ["States.TaskFailed"]}`,
		"several": `{"ErrorEquals": ["Athena.InternalServerException", "Athena.InvalidRequestException"], "MaxAttempts": 1},
			{"ErrorEquals": ["Athena.SdkClientException"], "MaxAttempts": 8}, {"ErrorEquals": ["States.ALL"], "MaxAttempts": 7}`,
	} {
		for _, strategy := range []compile.Strategy{compile.Variables, compile.Loop, compile.RetryTask} {
			if !race.Takes(name+string(strategy), 4) {
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
					require.GreaterOrEqual(t, attempts(after.State("Get"), e), attempts(before.State("Get"), e), e)
				}
			})
		}
	}
}
