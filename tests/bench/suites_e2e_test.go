//go:build e2e

package bench_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const sectionSuites = "suites"

// suite is what the tests of a package take: seconds of processor time, alone and under
// the race detector, with the programs that they run.
type suite struct {
	name        string
	alone, race float64
}

// leastSuite is the seconds under which the table names no package.
const leastSuite = 1

// measureSuites measures the tests of each package, one after the other, and writes the
// table.
func measureSuites(ctx context.Context, out io.Writer, page string) error {
	if _, _, _, err := cutSection(page, sectionSuites); err != nil {
		return err // now, not when all is measured
	}
	folder, err := os.MkdirTemp("", "suites-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	text, err := exec.CommandContext(ctx, "go", "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}", "../../...").Output()
	if err != nil {
		return err
	}
	var all []suite
	var failed []error
	for line := range strings.Lines(string(text)) {
		name, dir, found := strings.Cut(strings.TrimSpace(line), " ")
		if !found {
			continue // it has no tests
		}
		s := suite{name: strings.TrimPrefix(name, "github.com/jobpoller/jobpoller/")}
		for seconds, flags := range map[*float64][]string{&s.alone: nil, &s.race: {"-race"}} {
			if *seconds, err = measureSuite(ctx, filepath.Join(folder, "tests"), name, dir, flags); err != nil {
				failed = append(failed, fmt.Errorf("%s: %w", s.name, err))
			}
		}
		fmt.Fprintf(out, "%s: %.1f s, under the race detector %.1f s\n", s.name, s.alone, s.race)
		all = append(all, s)
	}
	if len(failed) > 0 {
		fmt.Fprint(out, suiteTable(all)) // not in the page: the time of tests that fail is not theirs
		return errors.Join(failed...)
	}
	return writeSection(page, sectionSuites, suiteTable(all))
}

// measureSuite builds the tests of a package, and runs them in its folder.
func measureSuite(ctx context.Context, program, name, dir string, flags []string) (seconds float64, err error) {
	build := exec.CommandContext(ctx, "go", slices.Concat([]string{"test", "-c", "-o", program}, flags, []string{name})...)
	if said, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, said)
	}
	run := exec.CommandContext(ctx, program, "-test.count=1")
	run.Dir = dir
	if said, err := run.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, said)
	}
	used := run.ProcessState.UserTime() + run.ProcessState.SystemTime()
	return used.Seconds(), nil
}

// suiteTable is the table of the packages whose tests take longest, and the sum of all.
func suiteTable(all []suite) string {
	slices.SortFunc(all, func(a, b suite) int { return int((b.race - a.race) * float64(time.Second)) })
	sum, rest := suite{name: "all"}, suite{name: "all others"}
	var b strings.Builder
	b.WriteString("| package | tests | under the race detector |\n|---|---|---|\n")
	add := func(to *suite, s suite) { to.alone, to.race = to.alone+s.alone, to.race+s.race }
	row := func(s suite) { fmt.Fprintf(&b, "| %s | %.1f | %.1f |\n", s.name, s.alone, s.race) }
	for _, s := range all {
		add(&sum, s)
		if s.alone < leastSuite && s.race < leastSuite {
			add(&rest, s)
			continue
		}
		row(s)
	}
	row(rest)
	row(sum)
	return b.String()
}
