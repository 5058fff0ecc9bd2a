package kit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// HelpWidth is how many columns the help has.
const HelpWidth = 86

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
			if at += len(word) + 1; at > HelpWidth && i > 0 {
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
