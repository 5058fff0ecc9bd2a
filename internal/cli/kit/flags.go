package kit

import (
	"fmt"

	"github.com/spf13/cobra"
)

// Must is for what fails only if a flag has no such name.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}

// CompleteWords lets the shell complete the values of a flag.
func CompleteWords(c *cobra.Command, flag string, words ...string) {
	Must(c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)))
}

// CompleteNothing keeps the shell from completing the values of flags, which are
// no files, to file names.
func CompleteNothing(c *cobra.Command, flags ...string) {
	for _, flag := range flags {
		Must(c.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions))
	}
}

// Meaning says of flags whether they change anything beside the others, and if
// not, why.
type Meaning struct {
	Flags []string
	Means bool
	Why   string
}

// Meaningless refuses the flags that were given and would change nothing.
func Meaningless(changed func(flag string) bool, all []Meaning) []error {
	var problems []error
	for _, m := range all {
		for _, flag := range m.Flags {
			if changed(flag) && !m.Means {
				problems = append(problems, fmt.Errorf("--%s %s", flag, m.Why))
			}
		}
	}
	return problems
}
