package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/schema/schematest"
)

// The page of schemas has a row for each command that prints JSON, and no other command or flag.
func TestSchemasAreOfCommands(t *testing.T) {
	t.Parallel()
	rows, err := schematest.Rows("../..")
	require.NoError(t, err)
	withJSON, withRow := map[string]bool{}, map[string]bool{}
	walk(newRootCommand(), func(c *cobra.Command) {
		if output := c.Flags().Lookup("output"); output != nil && strings.Contains(output.Usage, "json") && c.Deprecated == "" && !c.Hidden {
			withJSON[c.CommandPath()] = true
		}
	})
	for _, row := range rows {
		for _, line := range row.Commands {
			c, rest, err := newRootCommand().Find(strings.Fields(line.Path)[1:])
			require.NoError(t, err, line.Path)
			require.Empty(t, rest, line.Path)
			for _, flag := range line.Flags {
				require.NotNil(t, c.Flags().Lookup(flag), "%s --%s", line.Path, flag)
			}
			if line.Output != "" {
				require.True(t, slices.Contains([]string{"json", "jsonl", "schedule"}, line.Output), line.Output)
				withRow[c.CommandPath()] = true
			}
		}
	}
	require.Equal(t, withJSON, withRow)
	require.Greater(t, len(withRow), 12)
}
