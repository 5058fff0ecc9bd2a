package plan_test

import (
	"flag"
	"os"
	"testing"
)

var all = flag.Bool("all", false, "run all cases, as CI does: they take a minute")

// Without -all there are fewer random cases, and few of each list. A flag on the command
// line still counts.
func TestMain(m *testing.M) {
	flag.Parse()
	if !*all && !isSet("rapid.checks") {
		if err := flag.Set("rapid.checks", fewChecks); err != nil {
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
	return cases[:fewCases]
}
