package kit

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An interrupt ends a command whose standard input stays open.
func TestInputThatNeverEndsIsInterrupted(t *testing.T) {
	t.Parallel()
	silent, writer := io.Pipe()
	defer writer.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := io.ReadAll(&interruptible{ctx, silent})
	require.ErrorIs(t, err, context.Canceled)

	text, err := io.ReadAll(&interruptible{t.Context(), strings.NewReader(strings.Repeat("text", 1000))})
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("text", 1000), string(text))
}
