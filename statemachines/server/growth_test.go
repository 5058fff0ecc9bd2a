package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Each child that went on was put before those that had not begun, by a shift of all of
// them: the time of a Distributed Map grew with the square of its items.
func TestGrowthOfADistributedMap(t *testing.T) { //nolint:paralleltest // it compares times
	took := func(items int) time.Duration {
		best := time.Minute
		for range 3 {
			e := startServer(t, nil, nil)
			m := e.create("m", `{"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "ItemProcessor": {
				"ProcessorConfig": {"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}, "StartAt": "P", "States": {"P": {"Type": "Pass", "End": true}}}}}}`)
			input := "[" + strings.TrimSuffix(strings.Repeat("1,", items), ",") + "]"
			began := time.Now()
			e.wait(e.call("StartExecution", object{"stateMachineArn": m, "input": input})["executionArn"].(string))
			best = min(best, time.Since(began))
		}
		return best
	}
	small, large := took(1000), took(16_000)
	t.Logf("1000 items: %s, 16000: %s", small, large)
	require.Less(t, float64(large)/float64(small), 80.0, "16 is linear, 256 is quadratic")
}
