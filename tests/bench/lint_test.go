package bench_test

import (
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
	"github.com/jobpoller/jobpoller/tests/processortest"
)

const (
	// maxLintExponent is how lint may grow with the states of poll loops: the work for
	// n states is n to the power of it.
	maxLintExponent = 1.2
	// lint of lintedStates states that do not loop may take so many times what reading them
	// takes, and as much time besides.
	lintedStates, maxLintRatio, lintSpare = 500, 3, 20 * time.Millisecond
	// maxLoopTime is what a loop may take, with its table, and maxFileTime what all of a file may.
	maxLoopTime, maxFileTime = 5 * time.Millisecond, 300 * time.Millisecond
)

// pollLoops is a definition of so many states in poll loops, one after the other.
func pollLoops(n int) []byte { return tasks(n, 0) }

// tasks is a definition of so many states that ask for jobs, one after the other. A Wait
// leads to the poll that stands so many behind its own: to its own with 0.
func tasks(n, behind int) []byte {
	var b strings.Builder
	b.WriteString(`{"StartAt": "Get0", "States": {` + "\n")
	loops := n / 4
	for i := range loops {
		fmt.Fprintf(&b, `"Get%d": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Parameters": {"JobName": "j", "RunId.$": "$.id"},
			"ResultPath": "$.r", "Retry": [{"ErrorEquals": ["States.TaskFailed"]}], "Next": "Done%[1]d"},
			"Done%[1]d": {"Type": "Choice", "Choices": [{"Variable": "$.r.JobRun.JobRunState", "StringEquals": "SUCCEEDED", "Next": "Get%d"},
				{"Variable": "$.r.JobRun.JobRunState", "StringEquals": "FAILED", "Next": "Failed%[1]d"}], "Default": "Wait%[1]d"},
			"Wait%[1]d": {"Type": "Wait", "Seconds": 60, "Next": "Get%[3]d"}, "Failed%[1]d": {"Type": "Fail"},`+"\n", i, i+1, i+behind)
	}
	fmt.Fprintf(&b, `"Get%d": {"Type": "Succeed"}}}`, loops)
	return []byte(b.String())
}

func lintText(tb testing.TB, text []byte) []lint.Finding {
	tb.Helper()
	m, err := asl.Parse(text)
	require.NoError(tb, err)
	types, err := typecheck.New(m, typecheck.Options{Models: models.Load})
	require.NoError(tb, err)
	return lint.Check(m, lint.Options{Types: types})
}

func TestLintOfManyLoops(t *testing.T) {
	t.Parallel()
	require.Len(t, lintText(t, pollLoops(40)), 20, "no bound, and failures that poll on, in each of 10 loops")
}

// leastTime is the least processor time of f, of the means of as many calls as come to
// most states. A single call on few states ends before garbage is collected, and within
// what the system counts late: its least time is below what it takes.
func leastTime(b *testing.B, states, most int, f func()) time.Duration {
	b.Helper()
	least, calls := time.Duration(math.MaxInt64), most/states
	for b.Loop() {
		before := processortest.Time(b)
		for range calls {
			f()
		}
		least = min(least, (processortest.Time(b)-before)/time.Duration(calls))
	}
	return least
}

// measureLint measures lint with the types of states: of poll loops, and of as many states
// without a loop.
func (r *report) measureLint() {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the command collects garbage
	sizes := []int{200, lintedStates, 1000, 2000}
	most := sizes[len(sizes)-1]
	measure := func(n int, text []byte) (read, all time.Duration) {
		best(func(b *testing.B) { read = leastTime(b, n, most, func() { _, _ = asl.Parse(text) }) })
		best(func(b *testing.B) { all = leastTime(b, n, most, func() { lintText(b, text) }) })
		return read, all
	}
	add := func(what string, read, all time.Duration, budget string, missed bool) {
		r.add(sectionRatios, row{
			what: what, figure: all.Round(10 * time.Microsecond).String(),
			beside: fmt.Sprintf("to read them takes %s", read.Round(10*time.Microsecond)), budget: budget, missed: missed,
		})
	}
	read, all := measure(lintedStates, tasks(lintedStates, 1))
	add(fmt.Sprintf("lint of %d states without a loop, with types", lintedStates), read, all,
		fmt.Sprintf("at most %d times reading and %s", maxLintRatio, lintSpare), all > maxLintRatio*read+lintSpare)
	var first, last float64
	for _, n := range sizes {
		read, all := measure(n, pollLoops(n))
		limit := min(time.Duration(n/4)*maxLoopTime, maxFileTime)
		add(fmt.Sprintf("lint of %d states in %d poll loops", n, n/4), read, all, fmt.Sprintf("at most %s", limit), all > limit)
		if first == 0 {
			first = all.Seconds()
		}
		last = all.Seconds()
	}
	exponent := math.Log(last/first) / math.Log(float64(most)/float64(sizes[0]))
	r.add(sectionRatios, row{
		what: "lint of more states", figure: fmt.Sprintf("grows with the power %.2f", exponent), beside: fmt.Sprintf("%d to %d states", sizes[0], most),
		budget: fmt.Sprintf("at most %g", maxLintExponent), missed: exponent > maxLintExponent,
	})
}
