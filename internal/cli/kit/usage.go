package kit

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// HelpWidth is how many columns the help has.
const HelpWidth = 86

// flagGroups are the groups of flags in a help, in their order, with the names of their
// flags: one name has one meaning in all commands. Other flags are the command's own, and
// come first.
var flagGroups = []struct {
	title string
	flags []string
}{
	{WithReplace, []string{"only"}},
	{"Input", []string{"input", "param", "definition", "substitute", "status", "express", "test-case", "lenient"}},
	{"What answers the Tasks", []string{"simulate", "ends", "mocks", "write-mocks", "mock-config", "lambda", "lambda-endpoint", "aws"}},
	{"When it polls", []string{"max-wait", "delay", "initial-delay", "min-delay", "max-delay", "max-attempts", "schedule"}},
	{"How it runs", []string{"virtual", "time", "seed", "processes", "name", "redrive"}},
	{"Start records", []string{"data", "bucket", "prefix", "table", "s3-endpoint"}},
	{"AWS", []string{"region", "profile", "endpoint-url"}},
	{"Output", []string{"output", "quiet", "verbose", "trace", "html", "history"}},
}

// WithReplace is the group of the flags of fix for a compiled loop.
const WithReplace = "With --replace"

// groupAnnotation is what a flag has whose group is not that of its name: the title of its
// group, or nothing for the command's own.
const groupAnnotation = "group"

// SetGroup puts a flag into another group than that of its name.
func SetGroup(c *cobra.Command, flag, title string) {
	Must(c.Flags().SetAnnotation(flag, groupAnnotation, []string{title}))
}

// SetOwn lets a flag be the command's own, whose name means something else in others.
func SetOwn(c *cobra.Command, flag string) { Must(c.Flags().SetAnnotation(flag, groupAnnotation, nil)) }

// groupOf is the index of a flag's group; -1 for the command's own.
func groupOf(f *pflag.Flag) int {
	title, set := f.Annotations[groupAnnotation]
	for i, group := range flagGroups {
		if set && slices.Contains(title, group.title) || !set && slices.Contains(group.flags, f.Name) {
			return i
		}
	}
	return -1
}

// printUsage is Cobra's usage, with flags in groups. A template, which could print them
// so, makes the program a megabyte larger.
func printUsage(c *cobra.Command) error {
	out := c.OutOrStderr()
	var text strings.Builder
	c.SetOut(&text)
	err := (&cobra.Command{}).UsageFunc()(c)
	c.SetOut(out)
	if err != nil {
		return err
	}
	usage := text.String()
	for title, flags := range map[string]*pflag.FlagSet{"Flags:\n": c.LocalFlags(), "Global Flags:\n": c.InheritedFlags()} {
		usage = strings.Replace(usage, "\n\n"+title+strings.TrimRight(flags.FlagUsages(), " \n"), "\n\n"+groupFlags(title, flags), 1)
	}
	_, err = io.WriteString(out, usage)
	return err
}

// groupFlags writes the flags in their groups.
func groupFlags(title string, flags *pflag.FlagSet) string {
	column := 0
	lines := make([]strings.Builder, len(flagGroups)+1) // the command's own first
	visit := func(do func(f *pflag.Flag, left, about string)) {
		flags.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				left, about := describeFlag(f)
				do(f, left, about)
			}
		})
	}
	visit(func(_ *pflag.Flag, left, _ string) { column = max(column, len(left)+3) })
	visit(func(f *pflag.Flag, left, about string) {
		writeFlag(&lines[groupOf(f)+1], left, about, column)
	})
	var sections []string
	for i := range lines {
		if i > 0 {
			title = flagGroups[i-1].title + ":\n"
		}
		if lines[i].Len() > 0 {
			sections = append(sections, title+strings.TrimSuffix(lines[i].String(), "\n"))
		}
	}
	return strings.Join(sections, "\n\n")
}

// describeFlag is what a help has of a flag: its names with the placeholder, and what it
// does. A text that begins with the placeholder goes on behind it.
func describeFlag(f *pflag.Flag) (left, about string) {
	value, about := pflag.UnquoteUsage(f)
	if strings.HasPrefix(f.Usage, "`") {
		about = strings.TrimLeft(strings.TrimPrefix(about, value), ": ")
	}
	left = "      --" + f.Name
	if f.Shorthand != "" {
		left = "  -" + f.Shorthand + ", --" + f.Name
	}
	if value != "" {
		left += " " + value
	}
	if !slices.Contains([]string{"", "0", "0s", "[]", "false"}, f.DefValue) {
		if f.Value.Type() == "string" {
			about += fmt.Sprintf(" (default %q)", f.DefValue)
		} else {
			about += fmt.Sprintf(" (default %s)", f.DefValue)
		}
	}
	return left, about
}

// writeFlag writes a flag, with its text in a column.
func writeFlag(b *strings.Builder, left, about string, column int) {
	b.WriteString(left)
	at := len(left)
	for i, word := range strings.Fields(about) {
		switch {
		case i == 0:
			b.WriteString(strings.Repeat(" ", column-at))
			at = column
		case at+1+len(word) > HelpWidth:
			b.WriteString("\n" + strings.Repeat(" ", column))
			at = column
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	b.WriteByte('\n')
}
