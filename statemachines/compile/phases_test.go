package compile_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/plan"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// inPhases has six delays between calls. One comes twice.
var inPhases = pollcore.Planned{Delays: seconds(60, 10, 10, 10, 200, 10, 30, 30, 30, 30, 40, 40), Then: 50 * time.Second}

const describeTable = "arn:aws:states:::aws-sdk:dynamodb:describeTable"

// table answers calls that describe one which is made until a time.
func table(ready time.Duration) sim.Handler {
	return func(_ context.Context, call sim.Call) (sim.Reply, error) {
		status := "CREATING"
		if call.Time.Sub(sim.DefaultStart()) >= ready {
			status = "ACTIVE"
		}
		return sim.Reply{Output: values{"Table": values{"TableStatus": status}}}, nil
	}
}

// runTable runs a machine that waits for a table.
func runTable(t *testing.T, c *compile.Compiled, answer sim.Handler) *sim.Result {
	t.Helper()
	r, err := sim.Run(t.Context(), c.Machine, []byte(`{"TableName": "Orders"}`), sim.Options{Handlers: map[string]sim.Handler{describeTable: answer}})
	require.NoError(t, err)
	return r
}

func namesOf(c *compile.Compiled) []string {
	var names []string
	for s := range c.Machine.All {
		names = append(names, s.Name)
	}
	return names
}

// In each phase the attempts of all are counted, and the report has the polls,
// transitions and events that a run takes.
func TestPhasesCountAllAttempts(t *testing.T) {
	t.Parallel()
	for end := 0; end <= 900; end += 13 {
		t.Run(fmt.Sprint(end), func(t *testing.T) {
			t.Parallel()
			ready := time.Duration(end) * time.Second
			c, err := compile.Compile(tableActive, compile.Call{Operation: operation(t, "dynamodb", "DescribeTable")}, compile.Options{
				Strategy: compile.RetryTask, MaxWait: 15 * time.Minute, Schedule: &inPhases, JobFrom: ready, JobTo: max(ready, 1),
			})
			require.NoError(t, err)
			require.Empty(t, c.Warnings)
			calls, at := 1, inPhases.Before(1)
			for ; at < ready; calls++ {
				at += inPhases.Before(calls + 1)
			}
			r := runTable(t, c, table(ready))
			require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
			require.Equal(t, at, r.Duration())
			require.Contains(t, string(r.Output), fmt.Sprintf(`"attempt":%d,`, calls))
			cost := c.Report().Expected
			require.InDelta(t, calls, cost.Polls, 1e-9)
			require.InDelta(t, r.Transitions, cost.Transitions, 1e-9)
			require.InDelta(t, len(r.Events), cost.Events, 1e-9)
			require.InDelta(t, (at - ready).Seconds(), cost.LatenessSeconds, 1e-9)
		})
	}
}

// A max wait that ends within any phase has no phase behind that one, and its worst case
// is what a job takes that does not end.
func TestPhasesEndAtTheDeadline(t *testing.T) {
	t.Parallel()
	for maxWait := 60; maxWait <= 700; maxWait += 10 {
		t.Run(fmt.Sprint(maxWait), func(t *testing.T) {
			t.Parallel()
			total := time.Duration(maxWait) * time.Second
			c, err := compile.Compile(tableActive, compile.Call{Operation: operation(t, "dynamodb", "DescribeTable")},
				compile.Options{Strategy: compile.RetryTask, MaxWait: total, Schedule: &inPhases})
			require.NoError(t, err)
			calls, at, phases := 1, inPhases.Before(1), 0
			for delay := inPhases.Before(2); at < total; calls++ {
				if next := inPhases.Before(calls + 1); next != delay {
					delay = next
					phases++
				}
				at += inPhases.Before(calls + 1)
			}
			r := runTable(t, c, table(time.Hour))
			require.Equal(t, "JobPoller.TimedOut", r.Error, r.Cause)
			require.Equal(t, at, r.Duration())
			worst := c.Report().Worst
			require.InDelta(t, calls, worst.Polls, 1e-9)
			require.InDelta(t, r.Transitions, worst.Transitions, 1e-9)
			require.GreaterOrEqual(t, worst.Events, float64(len(r.Events)))
			require.LessOrEqual(t, worst.Events, float64(len(r.Events))+4)
			require.NotContains(t, namesOf(c), fmt.Sprint("WaitForDescribeTable", phases+2))
			if phases > 0 {
				require.Contains(t, namesOf(c), fmt.Sprint("DescribeTable", phases+1))
			}
		})
	}
}

// An Output that cannot be evaluated ends with its cause, before the execution's limit,
// and as much later than the max wait as its last phase begins.
func TestPhasesOfABrokenOutput(t *testing.T) {
	t.Parallel()
	const maxWait = 2 * time.Hour
	number := pollcore.MustNew("Number", pollcore.Succeed(pollcore.Output("Table.ItemCount > `5`").IsTrue()))
	for name, c := range map[string]struct {
		planned pollcore.Planned
		late    time.Duration
	}{
		"early last phase": {inPhases, 9 * time.Minute},
		"late last phase":  {pollcore.Planned{Delays: seconds(60, 900, 900, 900, 900, 900, 900, 900), Then: time.Minute}, 107 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compiled, err := compile.Compile(number, compile.Call{Operation: operation(t, "dynamodb", "DescribeTable")},
				compile.Options{Strategy: compile.RetryTask, MaxWait: maxWait, Schedule: &c.planned})
			require.NoError(t, err)
			r := runTable(t, compiled, func(context.Context, sim.Call) (sim.Reply, error) {
				return sim.Reply{Output: values{"Table": values{"ItemCount": "many"}}}, nil
			})
			require.Equal(t, "JobPoller.TimedOut", r.Error, r.Cause)
			require.Contains(t, r.Cause, "ItemCount")
			require.GreaterOrEqual(t, r.Duration(), maxWait)
			require.Less(t, r.Duration(), maxWait+c.late)
		})
	}
}

// All phases together retry a fault as often as one Task does for the whole wait, and
// each six times at least.
func TestPhasesShareTheRetriesOfFaults(t *testing.T) {
	t.Parallel()
	planned := pollcore.Planned{Delays: seconds(60), Then: 60 * time.Second}
	for _, delay := range []int{10, 30, 20} {
		for range 300 {
			planned.Delays = append(planned.Delays, time.Duration(delay)*time.Second)
		}
	}
	c, err := compile.Compile(tableActive, compile.Call{Operation: operation(t, "dynamodb", "DescribeTable")},
		compile.Options{Strategy: compile.RetryTask, MaxWait: 7 * time.Hour, Schedule: &planned})
	require.NoError(t, err)
	var attempts []int64
	for s := range c.Machine.All {
		for _, r := range s.Retry {
			if r.ErrorEquals[0] == "DynamoDb.InternalServerErrorException" {
				attempts = append(attempts, r.MaxAttempts)
			}
		}
	}
	polls := int(c.Report().Worst.Polls)
	require.Equal(t, 901+(7*60-1-300), polls)
	require.Equal(t, []int64{31, 31, 31, 12}, attempts)
}

// Errors that an acceptor retries have a quarter of the time in all phases together. A
// phase whose share they use up is over, and not the wait.
func TestPhasesRetryErrors(t *testing.T) {
	t.Parallel()
	const maxWait = time.Hour
	exists := pollcore.MustNew("Exists", pollcore.Succeed(pollcore.Output("Table.TableStatus").Is("ACTIVE")),
		pollcore.Again(pollcore.ErrorType("ResourceNotFoundException")))
	c, err := compile.Compile(exists, compile.Call{Operation: operation(t, "dynamodb", "DescribeTable")},
		compile.Options{Strategy: compile.RetryTask, MaxWait: maxWait, Schedule: &inPhases})
	require.NoError(t, err)
	// missing answers with the error between two times.
	missing := func(from, to, ready time.Duration) sim.Handler {
		answer := table(ready)
		return func(ctx context.Context, call sim.Call) (sim.Reply, error) {
			if at := call.Time.Sub(sim.DefaultStart()); at >= from && at < to {
				return sim.Reply{}, &sim.TaskError{Name: "DynamoDb.ResourceNotFoundException", Cause: "not there"}
			}
			return answer(ctx, call)
		}
	}
	for _, tt := range []struct {
		name            string
		from, to, ready time.Duration
		seen            time.Duration // 0: it times out
	}{
		{"in the first phase", 0, 90 * time.Second, 91 * time.Second, 100 * time.Second},
		{"beyond the first phase", 0, 300 * time.Second, 300 * time.Second, 300 * time.Second},
		{"in the last phase", 540 * time.Second, 900 * time.Second, 900 * time.Second, 900 * time.Second},
		{"near the end", 44 * time.Minute, 46 * time.Minute, 46 * time.Minute, 2800 * time.Second},
		{"always", 0, 10 * time.Hour, 0, 0},
		{"from the middle", maxWait / 2, 10 * time.Hour, 20 * time.Hour, 0},
		{"at last", maxWait*3/4 - time.Minute, 10 * time.Hour, 20 * time.Hour, 0},
		{"never", 0, 0, 20 * time.Hour, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := runTable(t, c, missing(tt.from, tt.to, tt.ready))
			if tt.seen == 0 {
				require.Equal(t, "JobPoller.TimedOut", r.Error, r.Cause)
				require.LessOrEqual(t, r.Duration(), maxWait+inPhases.Then)
				worst := c.Report().Worst
				require.LessOrEqual(t, float64(r.Transitions), worst.Transitions)
				require.LessOrEqual(t, float64(len(r.Events)), worst.Events)
				return
			}
			require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
			require.Equal(t, tt.seen, r.Duration())
		})
	}
	sum := 0
	for s := range c.Machine.All {
		for _, retrier := range s.Retry {
			if retrier.ErrorEquals[0] == "DynamoDb.ResourceNotFoundException" {
				sum += int(retrier.MaxAttempts * retrier.IntervalSeconds)
			}
		}
	}
	require.InDelta(t, (maxWait-time.Minute).Seconds()/4, sum, 50)
}

// What a machine holds of a plan is nearly as good: for as many calls as much late.
func TestPhasesOfPlansCostLittle(t *testing.T) {
	t.Parallel()
	for _, durations := range []string{
		"uniform(15m, 30m)", "lognormal(15m, 0.1)", "weibull(22m, 3)", "lognormal(10m, 1)", "weibull(16m, 0.7)", "lognormal(5m, 1.5)",
		"mix(80% lognormal(1m, 0.1), 20% lognormal(1h, 0.1))", "mix(80% lognormal(1m, 0.25), 20% lognormal(1h, 0.25))",
	} {
		d, err := plan.Parse(durations)
		require.NoError(t, err)
		for _, method := range []plan.Method{"", plan.Hazard} {
			best, err := plan.Best(d, plan.Goal{Late: 30 * time.Second}, plan.Limits{Method: method})
			require.NoError(t, err)
			held, _ := compile.RetryTask.Hold(best.Schedule)
			cost := func(p pollcore.Planned) plan.Cost {
				return plan.MeasurePlanned(d, p)
			}
			asked, got := cost(best.Schedule), cost(held)
			require.LessOrEqual(t, got.Mean.Seconds(), 1.06*asked.Mean.Seconds(), "%s %s", durations, method)
			require.LessOrEqual(t, got.Calls*got.Mean.Seconds(), 1.03*asked.Calls*asked.Mean.Seconds(), "%s %s", durations, method)
		}
	}
}

// A phase ends with its last call, for which a jitter counts by its middle.
func TestPhaseEnds(t *testing.T) {
	t.Parallel()
	planned := pollcore.Planned{Delays: seconds(60, 10, 10, 200, 30), Then: 30 * time.Second}
	require.Equal(t, seconds(80, 280), compile.RetryTask.PhaseEnds(planned))
	planned.Jitter = 20 * time.Second
	require.Equal(t, seconds(90, 290), compile.RetryTask.PhaseEnds(planned))
	require.Empty(t, compile.LambdaRetry.PhaseEnds(planned))
}

// Names and prefixes rename the states of all phases, and the variable.
func TestPhasesOfAFragment(t *testing.T) {
	t.Parallel()
	c, err := compile.Compile(tableActive, compile.Call{Operation: operation(t, "dynamodb", "DescribeTable")}, compile.Options{
		Strategy: compile.RetryTask, MaxWait: time.Hour, Schedule: &inPhases, Prefix: "Own",
		Names: map[string]string{"DescribeTable2": "Second?", "WaitForDescribeTable2": "Breathe"},
		Exits: map[pollcore.Status]string{pollcore.Succeeded: "Done", pollcore.Failed: "Broken", pollcore.TimedOut: "Late"},
	})
	require.NoError(t, err)
	names := namesOf(c)
	for _, name := range []string{"OwnDescribeTable", "Breathe", "Second?", "OwnWaitForDescribeTable3", "OwnDescribeTable6"} {
		require.Contains(t, names, name)
	}
	r := runTable(t, c, table(20*time.Minute))
	require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
	require.Contains(t, string(r.Output), `"status":"SUCCEEDED"`)
	require.Contains(t, string(r.Output), `"attempt":26,`)
}
