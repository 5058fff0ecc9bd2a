//go:build race

package fix_test

// The race detector makes a trial ten times slower, and the package starts no goroutine.
const usualVariants = 6
