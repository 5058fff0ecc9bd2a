// Package cli is the command jobpoller: it wires its commands, each of which has a package.
package cli

import (
	"github.com/jobpoller/jobpoller/internal/cli/kit"
)

// Main runs the command line of the process, and ends the process with its exit code.
func Main() { kit.RunProcess(newRootCommand()) }
