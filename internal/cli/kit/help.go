package kit

import (
	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/nearest"
)

// newHelpCommand is "help", which refuses what is not a command.
func newHelpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND or TOPIC]",
		Short: "Show help for a command or a topic",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return commandNames(root), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return root.Help()
			}
			c, rest, err := root.Find(args)
			if err == nil && c != root && c.HasSubCommands() && len(rest) > 0 {
				return c.Args(c, rest)
			}
			if err != nil || c == root {
				return Usage("there is no command or topic %q%s"+helpHint, args[0], commandMeant(root, args[0]), root.CommandPath())
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	}
}

func commandNames(parent *cobra.Command) []cobra.Completion {
	var names []cobra.Completion
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// commandMeant is the command that an unknown name is near to.
func commandMeant(parent *cobra.Command, name string) string {
	return nearest.DidYouMean(name, commandNames(parent))
}
