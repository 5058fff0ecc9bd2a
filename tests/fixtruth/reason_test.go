package fixtruth_test

import (
	"fmt"
	"regexp"
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
		if m := endsAnyway.FindStringSubmatch(reason); m != nil {
			failure, ended, err := d.EndOf(t.Context(), after, m[2], m[1])
			require.NoError(t, err, "seed %d", d.Seed)
			if !ended || failure != m[3] {
				untrue = append(untrue, fmt.Sprintf("%s: it ends: %t, with %q", reason, ended, failure))
			}
		}
	}
	return untrue
}
