package throttle_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/server/throttle"
)

var start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// count is how many of n calls at a time are allowed.
func count(l *throttle.Limiter, now time.Time, n int, operation, account, region string, as asl.ExecutionType) int {
	allowed := 0
	for range n {
		if l.Allow(now, operation, account, region, as) {
			allowed++
		}
	}
	return allowed
}

func TestQuotas(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		operation, region string
		as                asl.ExecutionType
		burst, second     int
	}{
		{"StartExecution", "us-east-1", asl.Standard, 1300, 300},
		{"StartExecution", "eu-north-1", asl.Standard, 800, 150},
		{"StartExecution", "us-east-1", asl.Express, 6000, 6000},
		{"DescribeExecution", "eu-west-1", "", 300, 15},
		{"DescribeExecution", "sa-east-1", "", 250, 10},
		{"GetExecutionHistory", "sa-east-1", "", 400, 20},
		{"SendTaskHeartbeat", "us-west-2", "", 3000, 500},
		{"TestState", "us-west-2", "", 50, 10},
		{"StateTransition", "us-east-1", asl.Standard, 5000, 5000},
		{"StateTransition", "us-east-2", asl.Standard, 800, 800},
		{"StateTransition", "us-east-1", asl.Express, 10_000, 10_000}, // no quota: all that the test asks for
		{"ListActivities", "us-east-1", "", 10_000, 10_000},
	} {
		var l throttle.Limiter
		ask := func(now time.Time) int { return count(&l, now, 10_000, test.operation, "1", test.region, test.as) }
		require.Equal(t, test.burst, ask(start), test.operation)
		require.Equal(t, test.second, ask(start.Add(time.Second)), test.operation)
		require.Equal(t, test.burst, ask(start.Add(time.Hour)), "the bucket holds no more")
		require.Equal(t, test.second == 10_000, ask(start) > 0, "an earlier time adds nothing")
	}
}

func TestAccountsAndRegionsHaveBucketsOfTheirOwn(t *testing.T) {
	t.Parallel()
	var l throttle.Limiter
	require.Equal(t, 50, count(&l, start, 60, "TestState", "1", "us-east-1", ""))
	require.Equal(t, 50, count(&l, start, 60, "TestState", "2", "us-east-1", ""))
	require.Equal(t, 50, count(&l, start, 60, "TestState", "1", "us-east-2", ""))
}

// A client that names ever new accounts fills no memory, and others go on once their
// buckets are full again.
func TestBucketsAreBounded(t *testing.T) {
	t.Parallel()
	var l throttle.Limiter
	allowed := 0
	for i := range 20_000 {
		if l.Allow(start, "TestState", strconv.Itoa(i), "us-east-1", "") {
			allowed++
		}
	}
	require.Equal(t, 10_000, allowed)
	require.True(t, l.Allow(start.Add(time.Minute), "TestState", "late", "us-east-1", ""))
}
