package plan

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// However long jobs take, the axis names times in order, and no more than fit: a sum of
// steps once passed what time.Duration holds, and took all memory.
func TestPlanPlotNamesFewTimes(t *testing.T) {
	t.Parallel()
	longest := time.Duration(math.MaxInt64).Seconds()
	for _, to := range []float64{1, 59, 3600, 86_400, (365 * 24 * time.Hour).Seconds(), plotMargin * (365 * 24 * time.Hour).Seconds(), longest, plotMargin * longest} {
		for most := 2; most <= 20; most++ {
			labels := (&plot{to: to}).labels(most)
			require.NotEmpty(t, labels, "to %g, most %d", to, most)
			require.LessOrEqual(t, len(labels), most, "to %g, most %d", to, most)
			require.IsIncreasing(t, labels, "to %g, most %d", to, most)
			require.LessOrEqual(t, labels[len(labels)-1].Seconds(), to, "to %g, most %d", to, most)
		}
	}
}
