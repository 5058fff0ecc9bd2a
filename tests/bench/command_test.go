package bench_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// Budgets of the command against what it was before it read templates, checked types
// and replaced loops.
const (
	commandBudget = 30_687_497 + 12_000_000 // bytes for linux and amd64, without symbols
	// initBudget is how much memory packages take at the start of every command, such
	// as "list". A start is too short to be timed here.
	initBudget = 1_250_000
)

var command = flag.String("command", "", "a folder with the command: released for linux and amd64, host for this machine; tell whether it is within its budgets")

// measureCommand measures the command of the folder.
func (r *report) measureCommand(ctx context.Context, folder string) error {
	info, err := os.Stat(filepath.Join(folder, "released"))
	if err != nil {
		return err
	}
	r.add(sectionCommand, row{
		what: "bytes of the command", figure: fmt.Sprint(info.Size()), beside: "linux, amd64, without symbols",
		budget: fmt.Sprintf("at most %d", commandBudget), missed: info.Size() > commandBudget,
	})
	host := filepath.Join(folder, "host")
	size, err := measureInit(ctx, host)
	if err != nil {
		return err
	}
	r.add(sectionCommand, row{
		what: "bytes that packages allocate at the start", figure: fmt.Sprint(size), beside: "GODEBUG=inittrace=1 jobpoller list",
		budget: fmt.Sprintf("at most %d", initBudget), missed: size > initBudget,
	})
	for _, argument := range []string{"list", "--help"} {
		took, err := measureProcess(ctx, host, argument)
		if err != nil {
			return err
		}
		r.add(sectionCommand, row{
			what: "jobpoller " + argument, figure: fmt.Sprintf("%.1f ms of processor time", took.Seconds()*1000),
			beside: fmt.Sprintf("the median of %d runs", startRuns),
		})
	}
	return nil
}

// measureProcess returns the median of the processor times of a program's runs.
func measureProcess(ctx context.Context, binary, argument string) (time.Duration, error) {
	var times []time.Duration
	for range startRuns {
		run := exec.CommandContext(ctx, binary, argument)
		if err := run.Run(); err != nil {
			return 0, err
		}
		times = append(times, run.ProcessState.UserTime()+run.ProcessState.SystemTime())
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// measureInit returns how many bytes packages allocate when a program starts, as the
// runtime says.
func measureInit(ctx context.Context, binary string) (int, error) {
	list := exec.CommandContext(ctx, binary, "list")
	list.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var traced bytes.Buffer
	list.Stderr = &traced
	if err := list.Run(); err != nil {
		return 0, err
	}
	sum := 0
	for line := range bytes.Lines(traced.Bytes()) {
		var name string
		var at, took float64
		var size int
		if _, err := fmt.Sscanf(string(line), "init %s @%f ms, %f ms clock, %d bytes", &name, &at, &took, &size); err == nil {
			sum += size
		}
	}
	if sum == 0 {
		return 0, fmt.Errorf("%s: the runtime tells nothing of how packages start", binary)
	}
	return sum, nil
}
