package lint

import (
	"bytes"
	"context"
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
