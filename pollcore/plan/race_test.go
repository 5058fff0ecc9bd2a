//go:build race

package plan_test

// The race detector makes plans twenty times slower, and the package starts no goroutine.
const fewCases, fewChecks = 1, "3"
