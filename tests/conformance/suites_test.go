// Package conformance_test measures this repository against public suites:
//
//	make conformance
//
// prints a line for each, and fails if a suite passes fewer cases than it did.
// Suites that come in a Go module are also part of the plain tests.
package conformance_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/tests/race"
)

var (
	corpus = flag.String("corpus", "", "the folder of the suites that come in no Go module")
	only   = flag.String("suite", "", "the one suite to run; all if empty")
	facts  = flag.String("facts", "", "the folder of what is known of AWS's waiters and jobs: aws-waiters.json and aws-jobs.json")
)

// suite is a public suite.
type suite struct {
	name string
	// folder is that of the suite in the corpus; empty if a module has it.
	folder string
	// facts tells that the suite is a file of the folder of facts.
	facts bool
	// cases is how many cases the suite has. A suite that is found to have
	// another number was not read right.
	cases int
	// times is how many times so many cases there are; nil is once.
	times *int
	// run runs the suite from its folder.
	run func(t *testing.T, folder string) result
	// differences lists the cases in which this repository differs from the
	// suite on purpose, each with the reason.
	differences map[string]string
}

// result is what running a suite gave.
type result struct {
	total    int
	failures map[string]string // by case: what happened
	notes    []string          // what else is worth a line
	headline string            // instead of the number of cases passed
}

// suites are all suites. A file of this package lists its own.

var suites = slices.Concat(jmespathSuites, waiterSuites, seedSuites, jsonataSuites, recordingSuites, teststateSuites, validateSuites, opinionSuites, sampleSuites, contextSuites, argumentSuites, typecheckSuites, seedMistakeSuites, catalogSuites, factSuites, compileSuites, equivalenceSuites, plannedSuites, spreadSuites, fixSuites, editSuites, simulateSuites, loopSuites, loopRouteSuites, protocolSuites, signalSuites, apiSuites, fieldSuites, trialPairSuites, repairSuites, sourceSuites, catalogJobSuites)

// What the suites make is much garbage in little memory.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}

func TestSuites(t *testing.T) {
	t.Parallel()
	tried := suites
	if *only == "" {
		tried = race.OneIn(6, suites)
	}
	for _, s := range tried {
		folder := ""
		switch {
		case *only != "" && *only != s.name, s.folder != "" && *corpus == "", s.facts && *facts == "":
			continue
		case s.folder != "":
			folder = *corpus + "/" + s.folder
		case s.facts:
			folder = *facts
		}
		r := s.run(t, folder)
		cases := s.cases
		if s.times != nil {
			cases *= *s.times
		}
		require.Equal(t, cases, r.total, s.name)
		var lines []string
		for name, what := range r.failures {
			if s.differences[name] == "" {
				lines = append(lines, fmt.Sprintf("%s: %s", name, what))
			}
		}
		if r.headline == "" {
			r.headline = fmt.Sprintf("passed %d of %d", r.total-len(r.failures), r.total)
		}
		say("suite %s: %s", s.name, r.headline)
		for _, name := range slices.Sorted(maps.Keys(s.differences)) {
			require.Contains(t, r.failures, name, "%s: a listed difference is none", s.name)
			say("  differs: %s: %s", name, s.differences[name])
		}
		for _, note := range r.notes {
			say("  %s", note)
		}
		slices.Sort(lines)
		require.Empty(t, lines, "%s: %d failures:\n%s", s.name, len(lines), strings.Join(lines, "\n"))
	}
}

func say(format string, args ...any) { fmt.Fprintf(os.Stdout, format+"\n", args...) }
