package sim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// The time that a World takes for a Map, a Parallel state or a crowd of executions grows as
// their number does.
func TestGrowthOfAWorld(t *testing.T) { //nolint:paralleltest,tparallel // it compares times
	items := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("1,", n), ",") + "]" }
	const each = `"StartAt": "P", "States": {"P": {"Type": "Wait", "Seconds": 1, "Next": "Q"}, "Q": {"Type": "Pass", "End": true}}`
	machine := func(mode string) string {
		return fmt.Sprintf(`{"StartAt": "M", "States": {"M": {"Type": "Map", "ItemProcessor": {"ProcessorConfig": {%s}, %s}, "ResultPath": null, "End": true}}}`, mode, each)
	}
	branches := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = "{" + strings.NewReplacer(`"P"`, fmt.Sprintf(`"P%d"`, i), `"Q"`, fmt.Sprintf(`"Q%d"`, i)).Replace(each) + "}"
		}
		return fmt.Sprintf(`{"StartAt": "M", "States": {"M": {"Type": "Parallel", "Branches": [%s], "ResultPath": null, "End": true}}}`, strings.Join(all, ","))
	}
	for _, tt := range []struct {
		name    string
		machine func(n int) string
		input   func(n int) string
		runs    func(n int) int
		least   int
	}{
		{"Distributed Map", func(int) string { return machine(`"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"`) }, items, nil, 1000},
		{"inline Map", func(int) string { return machine(`"Mode": "INLINE"`) }, items, nil, 250},
		{"Parallel", branches, func(int) string { return "{}" }, nil, 250},
		{"executions", func(int) string { return "{" + each + "}" }, func(int) string { return "{}" }, func(n int) int { return n }, 1000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			took := func(n int) time.Duration {
				m := parse(t, tt.machine(n))
				runs := 1
				if tt.runs != nil {
					runs = tt.runs(n)
				}
				best := time.Duration(1 << 62)
				for range 3 {
					began := time.Now()
					w := sim.NewWorld(sim.WorldOptions{Clock: sim.NewVirtualClock(sim.DefaultStart()), Workers: 1})
					all := make([]*sim.Execution, runs)
					for i := range all {
						var err error
						all[i], err = w.Start(m, []byte(tt.input(n)), sim.Options{Execution: fmt.Sprint(i), KeepEvents: -1})
						require.NoError(t, err)
					}
					for _, x := range all {
						<-x.Done()
						require.Equal(t, sim.StatusSucceeded, x.Status())
					}
					best = min(best, time.Since(began))
					w.Close()
				}
				return best
			}
			small, large := took(tt.least), took(16*tt.least)
			t.Logf("%d: %s, %d: %s", tt.least, small, 16*tt.least, large)
			require.Less(t, float64(large)/float64(small), 100.0, "16 is linear, 256 is quadratic")
		})
	}
}
