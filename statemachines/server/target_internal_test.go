package server

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Of a hundred executions each version of an alias gets as many as its weight.
func TestDraw(t *testing.T) {
	t.Parallel()
	for _, weight := range []int{0, 1, 40, 99, 100} {
		l := &alias{routes: []route{{1, weight}, {2, allWeights - weight}}}
		drawn := map[int]int{}
		for percent := range allWeights {
			drawn[l.draw(percent)]++
		}
		require.Equal(t, weight, drawn[1])
		require.Equal(t, allWeights-weight, drawn[2])
	}
}
