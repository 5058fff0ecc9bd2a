package fixtruth_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/tests/fixtruth"
)

// What a reason of a refusal says that a machine does, with each answer or with a job that stays in a status.
var (
	failsAlways = regexp.MustCompile(`with each answer the machine fails (\S+) before`)
	endsAnyway  = regexp.MustCompile(`something else ends the loop: with a job that stays (\w+) at "([^"]+)", the machine (?:fails (\S+)|succeeds) after`)
)

// untrueReasons are the reasons of refusals that runs of the machine that is left contradict.
func untrueReasons(t *testing.T, d *fixtruth.Drawn, after []byte, reasons []string) (untrue []string) {
	t.Helper()
	for _, reason := range reasons {
		if m := failsAlways.FindStringSubmatch(reason); m != nil {
			ends, err := d.Errors(t.Context(), after)
			require.NoError(t, err, "seed %d", d.Seed)
			for status, failure := range ends {
				if failure != m[1] {
					untrue = append(untrue, fmt.Sprintf("%s: with %q it ends with %q", reason, status, failure))
					break
				}
			}
		}
		if m := endsAnyway.FindStringSubmatch(reason); m == nil && strings.Contains(reason, "something else ends the loop") {
			untrue = append(untrue, reason+": its words are not those that are judged")
		} else if m != nil {
			failure, ended, err := d.EndOf(t.Context(), after, m[2], m[1])
			require.NoError(t, err, "seed %d", d.Seed)
			if !ended || failure != m[3] {
				untrue = append(untrue, fmt.Sprintf("%s: it ends: %t, with %q", reason, ended, failure))
			}
		}
	}
	return untrue
}

// The judge of reasons knows that of a machine that fails with each answer, and sees one that names another end.
func TestReasonsAreJudged(t *testing.T) {
	t.Parallel()
	d := fixtruth.Draw(493)
	after, declared, err := repair(t.Context(), d)
	require.NoError(t, err)
	at := slices.IndexFunc(declared.Refused, failsAlways.MatchString)
	require.GreaterOrEqual(t, at, 0, "no reason has the words: %v", declared.Refused)
	given := declared.Refused[at]
	require.Empty(t, untrueReasons(t, d, after, []string{given}))
	told := strings.Replace(given, "fails States.Runtime", "fails Another.Error", 1)
	require.NotEqual(t, given, told)
	require.Len(t, untrueReasons(t, d, after, []string{told}), 1, told)
}

// It runs the job of a machine that stays in a status, and sees a reason that names another end.
func TestReasonsOfStayingJobsAreJudged(t *testing.T) {
	t.Parallel()
	met := map[bool]bool{} // a machine that fails, and one that succeeds
	for seed := uint64(0); len(met) < 2; seed++ {
		d := fixtruth.Draw(seed)
		answered, err := d.Errors(t.Context(), d.Text)
		require.NoError(t, err)
		for status := range answered {
			failure, ended, err := d.EndOf(t.Context(), d.Text, "Look", status)
			require.NoError(t, err)
			if d.Means(status) != "running" || !ended || met[failure == ""] {
				continue
			}
			met[failure == ""] = true
			for _, told := range []string{failure, "", "Another.Error"} {
				end := "succeeds"
				if told != "" {
					end = "fails " + told
				}
				reason := fmt.Sprintf("something else ends the loop: with a job that stays %s at %q, the machine %s after 5m", status, "Look", end)
				require.Equal(t, told != failure, len(untrueReasons(t, d, d.Text, []string{reason})) == 1, "seed %d: %s", seed, reason)
			}
		}
	}
}
