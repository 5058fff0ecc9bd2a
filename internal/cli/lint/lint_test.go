package lint

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
)

// An interrupt while files are read is no finding and no usage error.
func TestInterruptedLint(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, complaints bytes.Buffer
	require.Equal(t, kit.ExitInterrupted, runCommand(ctx, []string{"lint", "../../../docs/example"}, &out, &complaints))
	require.Empty(t, out.String())
	require.Equal(t, "jobpoller: interrupted\n", complaints.String())
}

// A definition that nobody has checked has a finding, whatever findings are asked for.
func TestUncheckedDefinitions(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.json.j2")
	require.NoError(t, os.WriteFile(file, []byte(`{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": {{ s }}, "End": true}}}`), 0o600))
	for _, flags := range [][]string{nil, {"--severity", "danger"}, {"--severity", "error"}, {"--rule", "enum-value"}} {
		var out, complaints bytes.Buffer
		require.Equal(t, kit.ExitFailed, runCommand(t.Context(), append([]string{"lint", file}, flags...), &out, &complaints))
		require.Contains(t, out.String(), "so this file is not checked")
	}
}
