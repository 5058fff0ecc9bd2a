package fixtruth_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/tests/fixtruth"
)

// An intact machine does what its parameters say, on each scenario.
func TestIntactMachinesDoWhatIsMeant(t *testing.T) {
	t.Parallel()
	for s := range uint64(*machines) {
		d := fixtruth.Draw(s)
		require.Empty(t, d.Misses(t.Context()), "%d: %v\n%s", s, d.Forms, d.Twin)
	}
}
