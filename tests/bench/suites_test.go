package bench_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// writeSuites writes the table of what timed noted of the tests, alone and under the race
// detector, in the files "alone" and "race" of a folder.
func writeSuites(folder, page string) error {
	by := map[string]*suite{}
	for _, file := range []string{"alone", "race"} {
		text, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			var name string
			var user, system float64
			if _, err := fmt.Sscan(line, &name, &user, &system); err != nil {
				return fmt.Errorf("%s: %q is no package with its seconds: %w", file, line, err)
			}
			if by[name] == nil {
				by[name] = &suite{name: name}
			}
			if file == "race" {
				by[name].race = user + system
			} else {
				by[name].alone = user + system
			}
		}
	}
	var all []suite
	for _, s := range by {
		all = append(all, *s)
	}
	return writeSection(page, sectionSuites, suiteTable(all))
}

// suiteTable is the table of the packages whose tests take longest, and the sum of all.
func suiteTable(all []suite) string {
	slices.SortFunc(all, func(a, b suite) int { return cmp.Or(cmp.Compare(b.race, a.race), cmp.Compare(a.name, b.name)) })
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
