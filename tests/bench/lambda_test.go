package bench_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
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

// measureLambdas measures the functions of the folder. Sizes are those of arm64;
// the rest runs on this machine's architecture.
func (r *report) measureLambdas(ctx context.Context, folder string) error {
	return errors.Join(r.measureSizes(folder), r.measureStarts(ctx, folder), r.measureRequests(ctx, folder))
}

func (r *report) measureSizes(folder string) error {
	for _, f := range functions {
		if f.above > 0 { // the same program as its peer
			continue
		}
		info, err := os.Stat(f.bootstrap(folder, "arm64"))
		if err != nil {
			return err
		}
		w := row{what: "bytes of " + f.name, figure: fmt.Sprint(info.Size()), beside: "arm64"}
		if f.size > 0 {
			w.budget, w.missed = fmt.Sprintf("at most %d", f.size), info.Size() > f.size
		}
		r.add(sectionFunctions, w)
	}
	return nil
}

func (r *report) measureStarts(ctx context.Context, folder string) error {
	var starts []start
	for _, f := range functions {
		starts = append(starts, start{f.bootstrap(folder, runtime.GOARCH), f.env})
	}
	costs, err := measureStarts(ctx, starts, startRuns)
	if err != nil {
		return err
	}
	for i, f := range functions {
		w := row{what: "start of " + f.name, figure: fmt.Sprintf("%.2f ms", medianWall(costs[i]).Seconds()*1000)}
		switch peer := functions[f.peer].name; {
		case f.peer == i:
		case f.above > 0:
			wall, processor := subtractStarts(costs[i], costs[f.peer])
			w.beside = fmt.Sprintf("%.2f ms above %s, %.2f ms of processor time", wall.Seconds()*1000, peer, processor.Seconds()*1000)
			w.budget, w.missed = fmt.Sprintf("one of them at most %s", f.above), min(wall, processor) > f.above
		default:
			wall, processor := compareStarts(costs[i], costs[f.peer])
			w.beside = fmt.Sprintf("%.2f times %s, %.2f times in processor time", wall, peer, processor)
			w.budget, w.missed = fmt.Sprintf("one of them at most %g", f.budget), min(wall, processor) > f.budget
		}
		r.add(sectionFunctions, w)
	}
	return nil
}

func (r *report) measureRequests(ctx context.Context, folder string) error {
	counts, peaks, err := countRequests(ctx, filepath.Join(folder, "runjob", runtime.GOARCH, "bootstrap"),
		filepath.Join(folder, "checkstatus", runtime.GOARCH, "bootstrap"))
	if err != nil {
		return err
	}
	for _, c := range counts {
		w := row{what: "requests of " + c.step, figure: c.requests}
		if c.step == stepRunning {
			w.budget, w.missed = runningBudget, c.requests != runningBudget
		}
		r.add(sectionFunctions, w)
	}
	for _, name := range slices.Sorted(maps.Keys(peaks)) {
		r.add(sectionFunctions, row{
			what: "memory of " + name, figure: fmt.Sprintf("%.1f MiB at most", float64(peaks[name])/(1<<20)), beside: fmt.Sprintf("after %d executions", before),
			budget: fmt.Sprintf("%d MiB", memoryBudget>>20), missed: peaks[name] >= memoryBudget,
		})
	}
	return nil
}
