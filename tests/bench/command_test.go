package bench_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/jobpoller/jobpoller/internal/lambdabuild"
)

// Budgets of the command against what it was before it read templates, checked types
// and replaced loops.
const (
	commandBudget = 30_687_497 + 12_000_000 // bytes for linux and amd64, without symbols
	// initBudget is how much memory packages take at the start of every command, such
	// as "list": what they took before. A start is too short to be timed here.
	initBudget = 1_431_320
)

// printCommand builds the command as releases have it, and tells whether it is within
// its budgets.
func printCommand() bool {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "command-")
	if err == nil {
		defer os.RemoveAll(folder)
		r := &report{out: os.Stdout}
		if err = r.command(ctx, folder); err == nil {
			return !r.missed
		}
	}
	fmt.Fprintln(os.Stderr, err)
	return false
}

func (r *report) command(ctx context.Context, folder string) error {
	released, host := filepath.Join(folder, "released"), filepath.Join(folder, "host")
	build := func(on lambdabuild.Machine, binary string) error {
		return lambdabuild.Build(ctx, filepath.Join("..", ".."), "./cmd/jobpoller", on, binary, "-ldflags", "-s -w")
	}
	if err := errors.Join(build(lambdabuild.Machine{System: "linux", Architecture: "amd64"}, released), build(lambdabuild.Host(), host)); err != nil {
		return err
	}
	info, err := os.Stat(released)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.out, "size of the command: %d bytes (budget at most %d: %s)\n", info.Size(), commandBudget, r.verdict(info.Size() <= commandBudget))
	size, err := measureInit(ctx, host)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.out, "memory that packages take when the command starts: %d bytes (budget at most %d: %s)\n", size, initBudget, r.verdict(size <= initBudget))
	return nil
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
