package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is how many columns the help has.
const helpWidth = 86

// wrapFlags breaks the lines about flags of a command and those below it. A template
// of Cobra's, which could do so, makes the program a megabyte larger.
func wrapFlags(c *cobra.Command) {
	column := 0
	c.Flags().VisitAll(func(f *pflag.Flag) {
		value, _ := pflag.UnquoteUsage(f)
		column = max(column, len("      --"+f.Name+" "+value+"   "))
	})
	c.Flags().VisitAll(func(f *pflag.Flag) {
		words := strings.Fields(f.Usage)
		if !slices.Contains([]string{"", "0", "0s", "[]", "false"}, f.DefValue) {
			words = append(words, fmt.Sprintf("(default %q)", f.DefValue)) // as pflag adds it
		}
		at := column
		for i, word := range words {
			if at += len(word) + 1; at > helpWidth && i > 0 {
				words[i-1] += "\n"
				at = column + len(word) + 1
			}
		}
		f.Usage = strings.ReplaceAll(strings.Join(words[:len(strings.Fields(f.Usage))], " "), "\n ", "\n")
	})
	for _, below := range c.Commands() {
		wrapFlags(below)
	}
}

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
