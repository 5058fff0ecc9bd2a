package tests_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/access"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// export is an export, and a driver of it.
type export struct {
	waiter *pollcore.Waiter
	clock  *sim.Clock
	lasts  time.Duration
	calls  int
	job    string              // empty: somebody else has started it
	ends   string              // empty: COMPLETED
	random func(n int64) int64 // of the functions; nil draws anew each time
}

func (e *export) Name() string             { return cmp.Or(e.job, "dynamodb:ExportCompleted") }
func (e *export) Waiter() *pollcore.Waiter { return e.waiter }
func (*export) Idempotency(jobs.Request) jobs.Idempotency {
	return jobs.Idempotency{Class: jobs.ByToken}
}
func (*export) Permissions() []access.Permission { return nil }
func (*export) Start(context.Context, jobs.Request) (jobs.Ref, error) {
	return jobs.Ref{"Job": "1"}, nil
}

func (e *export) Describe(context.Context, jobs.Ref) (any, error) {
	return e.respond(e.clock.Now()), nil
}

// respond is the answer of a describe call at a time.
func (e *export) respond(at time.Time) any {
	e.calls++
	status := "IN_PROGRESS"
	if at.Sub(sim.DefaultStart()) >= e.lasts {
		status = cmp.Or(e.ends, "COMPLETED")
	}
	return map[string]any{"ExportDescription": map[string]any{"ExportArn": "arn:export", "ExportStatus": status}}
}

// handlers answer a state machine, whichever way it polls.
func (e *export) handlers(t *testing.T) map[string]sim.Handler {
	t.Helper()
	registry, err := jobs.NewRegistry(e)
	require.NoError(t, err)
	handlers, err := handler.New(handler.Config{Store: memstore.New(e.clock.Now), Jobs: registry, Now: e.clock.Now, Random: e.random, NoDwell: true})
	require.NoError(t, err)
	return map[string]sim.Handler{
		"arn:aws:states:::aws-sdk:dynamodb:describeExport": func(ctx context.Context, _ sim.Call) (sim.Reply, error) {
			output, err := e.Describe(ctx, nil)
			return sim.Reply{Output: output}, err
		},
		"arn:aws:states:::lambda:invoke": sim.LambdaInvoke(localloop.Functions(handlers)),
	}
}

// The seed's own case: a job of 15 to 30 minutes, first asked for after 15
// minutes and then every minute.
const (
	shortest, longest = 15 * time.Minute, 30 * time.Minute
	every             = time.Minute
)

// measured is the mean of runs.
type measured struct{ calls, transitions, events, late float64 }

// measure runs a machine on a job of each length, a minute apart.
func measure(t *testing.T, waiter *pollcore.Waiter, m *asl.StateMachine, input string) measured {
	t.Helper()
	var sum measured
	n := 0.0
	for lasts := shortest + every/2; lasts < longest; lasts += time.Minute {
		one := measureOne(t, waiter, m, input, lasts, 1)
		sum.calls += one.calls
		sum.transitions += one.transitions
		sum.events += one.events
		sum.late += one.late
		n++
	}
	return measured{sum.calls / n, sum.transitions / n, sum.events / n, sum.late / n}
}

// measureOne runs a machine on a job.
func measureOne(t *testing.T, waiter *pollcore.Waiter, m *asl.StateMachine, input string, lasts time.Duration, seed uint64) measured {
	t.Helper()
	e := &export{
		waiter: waiter, clock: sim.NewVirtualClock(sim.DefaultStart()), lasts: lasts,
		random: rand.New(rand.NewPCG(seed, 0)).Int64N,
	}
	r, err := sim.Run(t.Context(), m, []byte(input), sim.Options{Seed: seed, Clock: e.clock, Handlers: e.handlers(t)})
	require.NoError(t, err)
	require.Equal(t, sim.StatusSucceeded, r.Status, r.Cause)
	require.GreaterOrEqual(t, r.Duration(), lasts)
	return measured{float64(e.calls), float64(r.Transitions), float64(len(r.Events)), (r.Duration() - lasts).Seconds()}
}

func (m measured) row(name string) string {
	return fmt.Sprintf("| %s | %.0f | %.0f | %.0f | %.2f | %.0f s |", name, m.calls, m.transitions, m.events, math.Round(1e5*asl.TransitionCost(m.transitions))/100, m.late)
}

var everyStrategy = []compile.Strategy{
	compile.Loop, compile.Variables, compile.LambdaLoop, compile.RetryTask, compile.LambdaRetry,
}

// reportRow makes the row of a strategy from its report. A run here cannot measure these:
// Step Functions or the collector waits.
func reportRow(t *testing.T, strategy compile.Strategy, service, job string) string {
	t.Helper()
	entry, err := catalog.Lookup(service, job)
	require.NoError(t, err)
	o := compile.Options{Strategy: strategy, MaxWait: 2 * time.Hour, InitialDelay: shortest, MinDelay: every, MaxDelay: every, JobFrom: shortest, JobTo: longest}
	if strategy.Waits() {
		o.InitialDelay = 0 // there is no poll before the end
	}
	compiled, err := compile.Compile(entry.Waiter, compile.CallOf(entry), o)
	require.NoError(t, err)
	c := compiled.Report().Expected
	row := measured{c.Polls, c.Transitions, c.Events, c.LatenessSeconds}.row("`" + string(strategy) + "`")
	if strategy.Waits() {
		row = strings.Replace(row, "| 0 s |", "| not measured |", 1)
	}
	return row
}

// The table of docs/guide/compile.md: what each strategy costs, and the loop that people
// write first.
func TestCompilePageStrategies(t *testing.T) {
	t.Parallel()
	entry, err := catalog.Lookup("dynamodb", "ExportCompleted")
	require.NoError(t, err)
	text, err := os.ReadFile("testdata/naive-loop.asl.json")
	require.NoError(t, err)
	naive, err := asl.Parse(text)
	require.NoError(t, err)
	rows := []string{measure(t, entry.Waiter, naive, `{"ExportDescription": {"ExportArn": "arn:export"}}`).row("a loop that asks every second")}
	for _, strategy := range everyStrategy {
		compiled, err := compile.Compile(entry.Waiter, compile.CallOf(entry), compile.Options{
			Strategy: strategy, MaxWait: 2 * time.Hour, InitialDelay: shortest, MinDelay: every, MaxDelay: every, JobFrom: shortest, JobTo: longest,
		})
		require.NoError(t, err)
		got := measure(t, entry.Waiter, compiled.Machine, `{"ExportArn": "arn:export"}`)
		rows = append(rows, got.row("`"+string(strategy)+"`"))
	}
	rows = append(rows, reportRow(t, compile.SyncTask, "sagemaker", "CreateTrainingJob"), reportRow(t, compile.LambdaEvents, "dynamodb", "ExportTableToPointInTime"))

	const file, begin = compilePage, "| strategy | calls | transitions | events | USD for 1,000 jobs | late |\n|---|---|---|---|---|---|\n"
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	before, after, ok := strings.Cut(string(page), begin)
	require.True(t, ok, "docs/guide/compile.md lacks the table\n%s", begin)
	table, rest, ok := strings.Cut(after, "\n\n")
	require.True(t, ok)
	want := strings.Join(rows, "\n")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(before+begin+want+"\n\n"+rest), 0o600))
		return
	}
	require.Equal(t, want, table, "go test ./tests -run %s -update writes it anew", t.Name())
}
