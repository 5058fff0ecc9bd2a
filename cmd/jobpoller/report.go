package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/lambdas/poller"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// report is what a run comes to. Its JSON members are a contract: see
// docs/json.md.
type report struct {
	// Status is the execution's, but TIMED_OUT if it failed because the
	// poller's deadline passed.
	Status          string          `json:"status"`
	ExecutionStatus sim.Status      `json:"executionStatus"`
	ExecutionARN    string          `json:"executionArn"`
	Output          json.RawMessage `json:"output,omitempty"`
	Error           string          `json:"error,omitempty"`
	Cause           string          `json:"cause,omitempty"`
	Attempts        int             `json:"attempts"`
	ElapsedSeconds  float64         `json:"elapsedSeconds"`
	Transitions     int             `json:"transitions"`
	CostUSD         float64         `json:"costUSD"`
	Events          int             `json:"events"`
	Virtual         bool            `json:"virtual"`
	StartRecords    []string        `json:"startRecords"`
	Data            string          `json:"data,omitempty"`

	inMemory bool // the start records, which are gone with the run
}

// report sums a run up.
func (b *bench) report(ctx context.Context, r *sim.Result) report {
	out := report{
		Status: string(r.Status), ExecutionStatus: r.Status, ExecutionARN: r.ExecutionARN,
		Output: r.Output, Error: r.Error, Cause: r.Cause,
		Attempts: b.polls, ElapsedSeconds: r.Elapsed().Seconds(),
		Transitions: r.Transitions, CostUSD: math.Round(r.CostUSD()*1e6) / 1e6, Events: len(r.Events), Virtual: b.clock.Virtual(),
		StartRecords: b.startRecords(ctx), Data: b.options.data, inMemory: b.options.data == "" && !b.options.external(),
	}
	if exitCode(r) == exitTimedOut {
		out.Status = string(pollcore.TimedOut)
	}
	return out
}

func exitCode(r *sim.Result) int {
	switch {
	case r.Status == sim.StatusSucceeded:
		return exitSucceeded
	case r.Status == sim.StatusAborted:
		return exitInterrupted
	case r.Status == sim.StatusTimedOut || r.Error == poller.ErrorTimedOut:
		return exitTimedOut
	default:
		return exitFailed
	}
}

// reporter writes the result of a run to stdout.
type reporter struct {
	out    io.Writer
	format string
	err    error // of the first event that could not be written
}

func newReporter(out io.Writer, o runOptions) *reporter { return &reporter{out: out, format: o.output} }

// event writes a history event as it happens, in the format jsonl.
func (r *reporter) event(e sim.Event) {
	if r.format == "jsonl" && r.err == nil {
		r.err = json.NewEncoder(r.out).Encode(map[string]sim.Event{"event": e})
	}
}

// result writes what a run came to.
func (r *reporter) result(p interface{ text() string }) error {
	if r.err != nil {
		return r.err
	}
	switch r.format {
	case "jsonl":
		return json.NewEncoder(r.out).Encode(map[string]any{"result": p})
	case "json":
		return writeJSON(r.out, p)
	default:
		_, err := io.WriteString(r.out, p.text())
		return err
	}
}

func (p report) text() string {
	var b strings.Builder
	clock := ""
	if p.Virtual {
		clock = " of virtual time"
	}
	elapsed := time.Duration(p.ElapsedSeconds * float64(time.Second)).Round(100 * time.Millisecond)
	fmt.Fprintf(&b, "%s after %s%s\n", p.Status, elapsed, clock)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %-13s %s\n", name, fmt.Sprintf(format, args...))
	}
	if p.Error != "" {
		row("error", "%s", p.Error)
	}
	if p.Cause != "" {
		row("cause", "%s", message(p.Cause))
	}
	if len(p.Output) > 0 {
		row("output", "%s", p.Output)
	}
	row("attempts", "%d", p.Attempts)
	row("transitions", "%d, $%.6f as a Standard workflow in us-east-1", p.Transitions, p.CostUSD)
	row("events", "%d of %d", p.Events, sim.MaxEvents)
	row("execution", "%s", p.ExecutionARN)
	for _, location := range p.StartRecords {
		if p.Data != "" {
			location += " (kept in " + p.Data + ")"
		}
		if p.inMemory {
			location += " (in memory)"
		}
		row("start record", "%s", location)
	}
	return b.String()
}

// message is what people want of a cause: of a Lambda function's error, which is
// a JSON object, its message.
func message(cause string) string {
	var failure struct {
		ErrorMessage string `json:"errorMessage"`
	}
	if json.Unmarshal([]byte(cause), &failure) != nil {
		return cause
	}
	return cmp.Or(failure.ErrorMessage, cause)
}
