package plan_test

import (
	"flag"
	"os"
	"testing"

	"github.com/jobpoller/jobpoller/tests/race"
)

var all = flag.Bool("all", false, "run all cases, as CI does: they take a minute")

// Without -all there are fewer random cases, and few of each list. A flag on the command
// line still counts.
func TestMain(m *testing.M) {
	flag.Parse()
	if !*all && !isSet("rapid.checks") {
		if err := flag.Set("rapid.checks", race.Of("10", "3")); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func isSet(name string) (set bool) {
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

// some are the first of the cases, or with -all each.
func some(cases []string) []string {
	if *all {
		return cases
	}
	return cases[:race.Of(2, 1)]
}
