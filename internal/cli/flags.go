package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/diag"
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

// addOutput gives a command the flag --output, and completes its values: text,
// json and those that this command has besides.
func addOutput(c *cobra.Command, to *string, more ...string) {
	formats := outputFormats(more)
	c.Flags().StringVarP(to, "output", "o", "text", orList(formats))
	completeWords(c, "output", formats...)
}

func outputFormats(more []string) []string { return append([]string{"text", "json"}, more...) }

// orList writes words as "a, b or c".
func orList(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// checkOutput refuses a format that --output does not have.
func checkOutput(format string, more ...string) error {
	if formats := outputFormats(more); !slices.Contains(formats, format) {
		return fmt.Errorf("--output must be %s, is %q%s", orList(formats), format, diag.DidYouMean(format, formats))
	}
	return nil
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
