package fixtruth_test

import (
	"fmt"
	"os"
	"regexp"
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

// The judge of reasons reads that of a machine that fails with each answer, as fix writes it, and sees one that names another end.
func TestReasonsAreJudged(t *testing.T) {
	t.Parallel()
	golden, err := os.ReadFile("../../statemachines/fix/testdata/repair/typo-before-a-forgotten-failure.asl.golden")
	require.NoError(t, err)
	found := failsAlways.FindSubmatch(golden)
	require.NotNil(t, found, "no reason has the words")
	d := fixtruth.Draw(1)
	breaks := []byte(`{"StartAt": "Breaks", "States": {"Breaks": {"Type": "Fail", "Error": "Broken"}}}`)
	given := strings.Replace(string(found[0]), string(found[1]), "Broken", 1)
	require.Empty(t, untrueReasons(t, d, breaks, []string{given}))
	told := strings.Replace(given, "Broken", "Another.Error", 1)
	require.Len(t, untrueReasons(t, d, breaks, []string{told}), 1, told)
}
