//go:build !linux

package cli

// stranger attacks a run on Linux alone, whose /proc tells what it listens on.
func stranger() {}
