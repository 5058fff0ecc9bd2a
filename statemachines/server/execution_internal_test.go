package server

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A redrive that is refused while the execution ends, or before its end is counted, leaves
// it ended; one that happens leaves it open.
func TestRedriveWhileAnExecutionEnds(t *testing.T) {
	t.Parallel()
	for name, refused := range map[string]bool{"refused": true, "redriven": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &account{machines: map[string]*machine{}, executions: newExecutions()}
			x := &execution{arn: "x", machine: &machine{}}
			other, err := a.reserve(x, 3)
			require.NoError(t, err)
			require.Nil(t, other)
			told := 0
			tell := func() { told++ }
			a.await(x, tell)
			goBack, err := a.restart(x, 3)
			require.NoError(t, err)
			waiting, _ := a.countEnd(x.arn, 5, limits{10, 10})
			require.Len(t, waiting, 1)
			require.Zero(t, a.executions.ended.Len())
			a.await(x, tell)
			require.Zero(t, told)
			if !refused {
				require.Equal(t, 1, a.executions.open)
				return
			}
			goBack()
			require.Equal(t, 1, told)
			a.await(x, tell)
			require.Equal(t, 2, told)
			require.Zero(t, a.executions.open)
			require.Equal(t, []*execution{x}, slices.Collect(a.executions.ended.All()))
			require.EqualValues(t, 5, a.executions.bytes)

			goBack, err = a.restart(x, 3) // which was refused because it is not redrivable
			require.NoError(t, err)
			require.Zero(t, a.executions.ended.Len())
			require.Zero(t, a.executions.bytes)
			goBack()
			require.Equal(t, []*execution{x}, slices.Collect(a.executions.ended.All()))
		})
	}
}
