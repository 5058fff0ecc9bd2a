//go:build race

package jsonata_test

// slowdown is what the race detector makes of processor time, at most.
const slowdown = 10
