package bench_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const sectionSuites = "suites"

// suite is what the tests of a package take: seconds of processor time, with the programs
// that they run.
type suite struct {
	name    string
	seconds float64
}

// leastSuite is the seconds under which the table names no package.
const leastSuite = 1

// writeSuites writes the table of what timed noted in a file.
func writeSuites(file, page string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	all, err := readSuites(string(text))
	if err != nil {
		return err
	}
	return writeSection(page, sectionSuites, suiteTable(all))
}

// readSuites reads lines of timed, the longest first.
func readSuites(text string) ([]suite, error) {
	var all []suite
	for line := range strings.Lines(text) {
		var s suite
		var user, system float64
		if _, err := fmt.Sscan(line, &s.name, &user, &system); err != nil {
			return nil, fmt.Errorf("%q is no package with its seconds: %w", line, err)
		}
		s.seconds = user + system
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b suite) int { return cmp.Or(cmp.Compare(b.seconds, a.seconds), cmp.Compare(a.name, b.name)) })
	return all, nil
}

// suiteTable is the table of the packages whose tests take longest, and the sum of all.
func suiteTable(all []suite) string {
	sum, rest := suite{name: "all"}, suite{name: "all others"}
	var b strings.Builder
	b.WriteString("| package | seconds |\n|---|---|\n")
	row := func(s suite) { fmt.Fprintf(&b, "| %s | %.1f |\n", s.name, s.seconds) }
	for _, s := range all {
		sum.seconds += s.seconds
		if s.seconds < leastSuite {
			rest.seconds += s.seconds
			continue
		}
		row(s)
	}
	row(rest)
	row(sum)
	return b.String()
}

func TestSuiteTable(t *testing.T) {
	t.Parallel()
	all, err := readSuites("tests/bench 1.5 0.25\n. 0.1 0.2\npollcore 3 0.5\nlambdas/handler 0.3 0.2\n")
	require.NoError(t, err)
	require.Equal(t, "| package | seconds |\n|---|---|\n| pollcore | 3.5 |\n| tests/bench | 1.8 |\n| all others | 0.8 |\n| all | 6.0 |\n", suiteTable(all))
	_, err = readSuites("pollcore 3\n")
	require.ErrorContains(t, err, `"pollcore 3\n" is no package with its seconds`)
}
