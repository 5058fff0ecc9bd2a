//go:build !race

package plan_test

const fewCases, fewChecks = 2, "10"
