//go:build race

package plan_test

import "flag"

// The race detector makes plans twenty times slower, and the package starts no
// goroutine: fewer random cases do, and one of each list. A flag on the command line
// still counts.
func init() {
	if err := flag.Set("rapid.checks", "5"); err != nil {
		panic(err)
	}
}

// some are the first of the cases.
func some(cases []string) []string { return cases[:1] }
