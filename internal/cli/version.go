package cli

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version, and the commit that it was built from",
		Long:    `Version prints the version of jobpoller, the commit, the Go release and the machine.`,
		Example: "  jobpoller version",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			info, _ := debug.ReadBuildInfo()
			terminal.Fprintf(c.OutOrStdout(), "jobpoller %s\n", describeBuild(kit.Version(), info))
			return nil
		},
	}
}

// describeBuild says what a program was built from, as far as it knows.
func describeBuild(version string, info *debug.BuildInfo) string {
	parts := []string{version}
	if info != nil {
		settings := map[string]string{}
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		if commit := settings["vcs.revision"]; commit != "" {
			const short = 12
			commit = commit[:min(len(commit), short)]
			if settings["vcs.modified"] == "true" {
				commit += " with changes"
			}
			parts = append(parts, "commit "+commit, settings["vcs.time"])
		}
	}
	parts = append(parts, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH)
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}
