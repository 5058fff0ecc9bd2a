package bench_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

var lambdas = flag.String("lambdas", "", "measure the Lambda functions that make bench-lambda has built into this `folder`")

// Budgets of docs/design.md.
const (
	sizeBudget    = 8_000_000 // bytes of the function with S3 alone
	loopBudget    = 1.5       // times the start of a function that does nothing
	shippedBudget = 1.6       // times the start of the function with S3 alone, with one job named

	// What speaking every protocol may cost: bytes above those of the functions that
	// spoke JSON alone, and time above the start for a job of a service that does.
	shippedSizeBudget = 10_551_458 + 1_000_000
	protocolBudget    = 3 * time.Millisecond
)

// These are environments of a shipped function that is for one job, of a service that
// speaks JSON, of one that speaks the query protocol, and of the largest that speaks EC2's.
var (
	oneJob   = []string{"JOBPOLLER_JOBS=dynamodb:ExportTableToPointInTime"}
	queryJob = []string{"JOBPOLLER_JOBS=rds:CreateDBSnapshot"}
	ec2Job   = []string{"JOBPOLLER_JOBS=ec2:CreateImage"}
)

// startRuns is how often each function is started.
const startRuns = 61

// function is a Lambda function in the folder that holds them all.
type function struct {
	name   string
	path   string
	size   int64         // the most bytes that it may have for arm64; 0 is not a budget
	peer   int           // the function that its start is compared with; its own index for none
	budget float64       // the most times that the peer's start takes, in time or in processor time
	above  time.Duration // in place of budget: the most that the start takes above the peer's
	env    []string
}

// functions are those that are measured.
var functions = []function{
	{name: "empty", path: filepath.Join("bench", "empty"), peer: 0},
	{name: "check-status with S3 alone", path: filepath.Join("bench", "s3only"), size: sizeBudget, peer: 0, budget: loopBudget},
	{name: "check-status", path: "checkstatus", size: shippedSizeBudget, peer: 1, budget: shippedBudget, env: oneJob},
	{name: "run-job", path: "runjob", size: shippedSizeBudget, peer: 1, budget: shippedBudget, env: oneJob},
	{name: "run-job for a job of RDS", path: "runjob", peer: 3, above: protocolBudget, env: queryJob},
	{name: "run-job for a job of EC2", path: "runjob", peer: 3, above: protocolBudget, env: ec2Job},
}

// bootstrap is the function's executable for an architecture.
func (f function) bootstrap(folder, architecture string) string {
	return filepath.Join(folder, f.path, architecture, "bootstrap")
}

// report prints what was measured, and remembers whether a budget was missed.
type report struct {
	out    io.Writer
	missed bool
}

func (r *report) verdict(within bool) string {
	if within {
		return "ok"
	}
	r.missed = true
	return "OVER BUDGET"
}

// printLambdas measures the functions of the folder. Sizes are those of arm64;
// the rest runs on this machine's architecture.
func printLambdas(folder string) int {
	r := &report{out: os.Stdout}
	ctx := context.Background()
	err := errors.Join(r.sizes(folder), r.starts(ctx, folder), r.requests(ctx, folder))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || r.missed {
		return 1
	}
	return 0
}

func (r *report) sizes(folder string) error {
	for _, f := range functions {
		if f.above > 0 { // the same program as its peer
			continue
		}
		info, err := os.Stat(f.bootstrap(folder, "arm64"))
		if err != nil {
			return err
		}
		budget := ""
		if f.size > 0 {
			budget = fmt.Sprintf(" (budget at most %d: %s)", f.size, r.verdict(info.Size() <= f.size))
		}
		fmt.Fprintf(r.out, "size %s: %d bytes, %.2f MiB%s\n", f.name, info.Size(), float64(info.Size())/(1<<20), budget)
	}
	return nil
}

func (r *report) starts(ctx context.Context, folder string) error {
	var starts []start
	for _, f := range functions {
		starts = append(starts, start{f.bootstrap(folder, runtime.GOARCH), f.env})
	}
	costs, err := measureStarts(ctx, starts, startRuns)
	if err != nil {
		return err
	}
	for i, f := range functions {
		took := medianWall(costs[i]).Round(time.Microsecond)
		if f.peer == i {
			fmt.Fprintf(r.out, "start %s: %s\n", f.name, took)
			continue
		}
		if f.above > 0 {
			wall, processor := subtractStarts(costs[i], costs[f.peer])
			fmt.Fprintf(r.out, "start %s: %s\nabove %s: %s, in processor time %s (budget for one of them at most %s: %s)\n",
				f.name, took, functions[f.peer].name, wall.Round(time.Microsecond), processor.Round(time.Microsecond), f.above, r.verdict(min(wall, processor) <= f.above))
			continue
		}
		wall, processor := compareStarts(costs[i], costs[f.peer])
		fmt.Fprintf(r.out, "start %s: %s\nratio start %s/%s: %.2f, in processor time %.2f (budget for one of them at most %g: %s)\n",
			f.name, took, f.name, functions[f.peer].name, wall, processor, f.budget, r.verdict(min(wall, processor) <= f.budget))
	}
	return nil
}

func (r *report) requests(ctx context.Context, folder string) error {
	counts, peaks, err := countRequests(ctx, filepath.Join(folder, "runjob", runtime.GOARCH, "bootstrap"),
		filepath.Join(folder, "checkstatus", runtime.GOARCH, "bootstrap"))
	if err != nil {
		return err
	}
	for _, c := range counts {
		budget := ""
		if c.step == stepRunning {
			budget = fmt.Sprintf(" (budget %s: %s)", runningBudget, r.verdict(c.requests == runningBudget))
		}
		fmt.Fprintf(r.out, "requests %s: %s%s\n", c.step, c.requests, budget)
	}
	for _, name := range slices.Sorted(maps.Keys(peaks)) {
		fmt.Fprintf(r.out, "memory %s: %.1f MiB at most (budget %d MiB: %s)\n",
			name, float64(peaks[name])/(1<<20), memoryBudget>>20, r.verdict(peaks[name] < memoryBudget))
	}
	return nil
}
