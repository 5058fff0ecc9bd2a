package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// must is for what fails only if a flag has no such name.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// completeWords lets the shell complete the values of a flag.
func completeWords(c *cobra.Command, flag string, words ...string) {
	must(c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)))
}

// completeNothing keeps the shell from completing the values of flags, which are
// no files, to file names.
func completeNothing(c *cobra.Command, flags ...string) {
	for _, flag := range flags {
		must(c.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions))
	}
}

// meaning says of flags whether they change anything beside the others, and if
// not, why.
type meaning struct {
	flags []string
	means bool
	why   string
}

// meaningless refuses the flags that were given and would change nothing.
func meaningless(changed func(flag string) bool, all []meaning) []error {
	var problems []error
	for _, m := range all {
		for _, flag := range m.flags {
			if changed(flag) && !m.means {
				problems = append(problems, fmt.Errorf("--%s %s", flag, m.why))
			}
		}
	}
	return problems
}
