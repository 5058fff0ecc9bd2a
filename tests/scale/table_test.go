package scale_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/tests/prices"
)

var update = flag.Bool("update", false, "write testdata/table.md anew")

const tableFile = "testdata/table.md"

// quarters is 1,000 jobs of 15 to 30 minutes, one a second.
func quarters(delay int, told bool) setting {
	return setting{
		shares: map[string]int{trainingJob: 100}, starts: 1, delay: delay, maxWait: 7200, told: told, faults: 0.01, metered: true,
		lasts: func(_ *rand.Rand, number int) int64 { return 900 + int64(number)*373%901 }, // each of them, in no order
	}
}

const (
	thousand = 1000
	sampled  = 10  // one job of so many runs in a machine
	collects = 1.0 // seconds of an invocation of the collector
)

// The table of the page "Poll, sync or events?": what the strategies take for the same jobs.
func TestTable(t *testing.T) {
	t.Parallel()
	rows := []string{
		"| strategy | transitions | describe calls | late | at most | USD for 1,000 jobs |", "|---|---|---|---|---|---|",
	}
	row := func(name string, u usage, late string, usd float64) {
		rows = append(rows, fmt.Sprintf("| %s | %.0f | %.1f | %s | %.2f |",
			name, u.transitions, u.describes, late, usd+thousand*asl.TransitionCost(u.transitions)))
	}
	told := collectThousand(t, quarters(900, true))
	for _, strategy := range []compile.Strategy{compile.Loop, compile.Variables, compile.RetryTask, compile.LambdaRetry, compile.SyncTask} {
		u := compileMachine(t, strategy, 60, 7200).sample(t, told.jobs, sampled)
		usd := u.functions * prices.Function(prices.Seconds)
		if u.functions > 0 { // records in S3
			usd += 3*prices.S3Write + (u.functions-1)*prices.S3Read
		}
		late := u.lateness()
		if strategy.Waits() { // Step Functions' own, which no run here has
			late = "not measured | not measured"
		}
		row("`"+string(strategy)+"`", u, late, thousand*usd)
	}
	transitions := compileMachine(t, compile.LambdaEvents, 60, 7200).sample(t, told.jobs, sampled).transitions
	polled := collectThousand(t, quarters(60, false))
	for i, w := range []*world{told, polled} {
		u := w.usage()
		u.transitions = transitions
		row("`events`, "+[]string{"told", "polls alone"}[i], u, u.lateness(), w.cost())
	}
	got := strings.Join(rows, "\n") + "\n"
	if *update {
		require.NoError(t, os.WriteFile(tableFile, []byte(got), 0o600))
		return
	}
	want, err := os.ReadFile(tableFile)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "go test ./tests/scale -run %s -update writes it anew", t.Name())
}

func collectThousand(t *testing.T, s setting) *world {
	t.Helper()
	w := newWorld(t, thousand, s)
	w.run(t)
	w.requireEnds(t)
	return w
}

// lateness are two cells of the table.
func (u usage) lateness() string { return fmt.Sprintf("%.0f s | %.0f s", u.late, u.worst) }

// usage is what the jobs took.
func (w *world) usage() usage {
	var u usage
	for _, s := range w.services {
		u.describes += float64(s.meter.calls) / float64(len(w.jobs))
	}
	for _, j := range w.jobs {
		late := float64(w.late(j))
		u.late += late / float64(len(w.jobs))
		u.worst = max(u.worst, late)
	}
	return u
}

// cost is what the functions, the queue and the table cost in USD. Events of AWS's
// services cost nothing.
func (w *world) cost() float64 {
	return float64(len(w.jobs))*prices.Function(prices.Seconds) + float64(w.invocations)*prices.Function(collects) +
		float64(w.queue.requests)*prices.SQSRequest +
		float64(w.store.reads.Load())*prices.DynamoDBRead + float64(w.store.writes.Load())*prices.DynamoDBWrite
}
