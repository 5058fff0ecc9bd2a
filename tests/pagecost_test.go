package tests_test

import (
	"fmt"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/tests/prices"
)

// What the page says that jobs cost is what reports say, and docs/bench.md of
// the requests of the functions: two writes to start a job, a read for each check,
// and a write at its end.
func TestCDKPageCosts(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(cdkPage)
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^\| `+"`[a-z-]+`"+` \| \d+ \| \d+\.\d\d \|.*$`).FindAllString(string(page), -1)
	require.Len(t, rows, 3)
	row := func(name string, r compile.Report, functions string) {
		require.Equal(t, [2]int{0, 7200}, r.JobSeconds)
		require.Contains(t, rows, fmt.Sprintf("| `%s` | %.0f | %.2f |%s |", name, r.Expected.Polls, 1000*r.Expected.USD, functions))
	}
	variables, err := compile.Recipe("dynamodb-export-variables")
	require.NoError(t, err)
	row("dynamodb-export-variables", variables.Report(), " |")

	e, err := catalog.Lookup("dynamodb", "ExportTableToPointInTime")
	require.NoError(t, err)
	for name, strategy := range map[string]compile.Strategy{"lambda-loop": compile.LambdaLoop, "lambda-retry": compile.LambdaRetry} {
		compiled, err := compile.Compile(e.Waiter, compile.CallOf(e), compile.Options{Strategy: strategy, MaxWait: 2 * time.Hour})
		require.NoError(t, err)
		checks := compiled.Report().Expected.Polls
		lambda := (1 + checks) * prices.Function(prices.Seconds)
		s3 := 3*prices.S3Write + checks*prices.S3Read
		row(name, compiled.Report(), fmt.Sprintf(" %.2f | %.2f", 1000*lambda, 1000*s3))
	}
}
