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

// refusedMachines are the seeds of machines in which fix refuses a repair for such a reason.
var refusedMachines = []struct {
	name   string
	seed   uint64
	reason *regexp.Regexp
	ends   string // as the reason says
}{
	{"breaks with each answer", 493, failsAlways, "fails States.Runtime"},
	{"succeeds while a job stays", 228, endsAnyway, "succeeds"},
	{"fails while a job stays", 1248, endsAnyway, "fails Job.Failed"},
}

// The judge of reasons knows those that fix gives, and sees one that names another end.
func TestReasonsAreJudged(t *testing.T) {
	t.Parallel()
	for _, c := range refusedMachines {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := fixtruth.Draw(c.seed)
			after, declared, err := repair(t.Context(), d)
			require.NoError(t, err)
			at := slices.IndexFunc(declared.Refused, c.reason.MatchString)
			require.GreaterOrEqual(t, at, 0, "no reason has the words: %v", declared.Refused)
			given := declared.Refused[at]
			require.Empty(t, untrueReasons(t, d, after, []string{given}))
			for _, other := range []string{"fails Another.Error", "succeeds", "fails Job.Failed"} {
				told := strings.Replace(given, " the machine "+c.ends+" ", " the machine "+other+" ", 1)
				if other == c.ends || !c.reason.MatchString(told) {
					continue
				}
				require.NotEqual(t, given, told)
				require.Len(t, untrueReasons(t, d, after, []string{told}), 1, told)
			}
		})
	}
}
