//go:build !race

package plan_test

// some are all cases without the race detector.
func some(cases []string) []string { return cases }
