package bench_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// printCommand tells whether the command is within its budgets.
func printCommand(folder string) bool {
	r := &report{out: os.Stdout}
	if err := r.command(context.Background(), folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return false
	}
	return !r.missed
}

func (r *report) command(ctx context.Context, folder string) error {
	info, err := os.Stat(filepath.Join(folder, "released"))
	if err != nil {
		return err
	}
	fmt.Fprintf(r.out, "size of the command: %d bytes (budget at most %d: %s)\n", info.Size(), commandBudget, r.verdict(info.Size() <= commandBudget))
	size, err := measureInit(ctx, filepath.Join(folder, "host"))
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
