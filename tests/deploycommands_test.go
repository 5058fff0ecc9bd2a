//go:build e2e

package tests_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The commands of the page write the files of the samples, and find them
// unchanged with --check.
func TestE2EDeployPageCommands(t *testing.T) {
	t.Parallel()
	written := map[string]bool{}
	checks := 0
	path := "PATH=" + filepath.Dir(commandFile(t)) + string(os.PathListSeparator) + os.Getenv("PATH")
	for _, block := range blocks(t, deployPage, "sh") {
		block = strings.ReplaceAll(block, "\\\n", " ")
		samples := []string{"sam", "terraform"}
		if strings.Contains(block, "lambda-retry") {
			samples = []string{"sam-lambda", "terraform-lambda"}
		}
		for line := range strings.Lines(block) {
			if !strings.HasPrefix(line, "jobpoller ") {
				continue
			}
			for _, sample := range samples {
				folder := filepath.Join(deploySamples, sample)
				command, file, writes := strings.Cut(strings.TrimSpace(line), " >")
				run := exec.CommandContext(t.Context(), "sh", "-c", command)
				run.Dir = folder
				run.Env = append(os.Environ(), path)
				out, err := run.Output()
				require.NoError(t, err, "%s\n%s", line, out)
				if !writes {
					require.Contains(t, command, " --check ")
					checks++
					continue
				}
				if file == "export.iam.json" && sample != "terraform" {
					continue // of the others the policies stand in the template
				}
				if *update {
					require.NoError(t, os.WriteFile(filepath.Join(folder, file), out, 0o600))
				}
				stored, err := os.ReadFile(filepath.Join(folder, file))
				require.NoError(t, err)
				require.Equal(t, string(stored), string(out), "%s/%s is not what the page's command writes: go test -tags e2e ./tests -run %s -update", sample, file, t.Name())
				written[sample+"/"+file] = true
			}
		}
	}
	require.Equal(t, []string{
		"sam-lambda/export.asl.json", "sam/export.asl.json",
		"terraform-lambda/export.asl.json", "terraform/export.asl.json", "terraform/export.iam.json",
	}, slices.Sorted(maps.Keys(written)))
	require.Equal(t, 2, checks)
}
