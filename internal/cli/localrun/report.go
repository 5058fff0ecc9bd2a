package localrun

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/internal/shipped"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Report is the result of a run. Its JSON members are a contract: see
// docs/reference/json.md.
type Report struct {
	// Status is the execution's, but TIMED_OUT if it failed because the
	// poller's deadline passed.
	Status          string            `json:"status"`
	ExecutionStatus sim.Status        `json:"executionStatus"`
	ExecutionARN    string            `json:"executionArn"`
	Output          json.RawMessage   `json:"output,omitempty"`
	Error           string            `json:"error,omitempty"`
	Cause           string            `json:"cause,omitempty"`
	Attempts        int               `json:"attempts"`
	ElapsedSeconds  float64           `json:"elapsedSeconds"`
	Transitions     int               `json:"transitions"`
	CostUSD         float64           `json:"costUSD"`
	Events          int               `json:"events"`
	Virtual         bool              `json:"virtual"`
	Statuses        kit.StatusHistory `json:"statuses,omitempty"`
	StartRecords    []string          `json:"startRecords"`
	Data            string            `json:"data,omitempty"`
	S3              *s3Access         `json:"s3,omitempty"`
	runOutcome                        //nolint:embeddedstructfieldcheck // its members come last

	inMemory bool // the start records, which are gone with the run
}

// s3Access is how the owner of a run reaches its S3 server while the run lasts.
// The keys are a secret of the run: they go to its owner's own output alone.
type s3Access struct {
	Endpoint        string `json:"endpoint"`
	AccessKeyID     string `json:"accessKeyId"`
	SecretAccessKey string `json:"secretAccessKey"`
}

// accessOf returns nil if the server is not ours, or if the run is virtual and so
// over before anybody could use it.
func accessOf(b *shipped.Functions) *s3Access {
	server := b.ReachableServer()
	if server == nil {
		return nil
	}
	keys := server.Keys()
	return &s3Access{server.URL(), keys.AccessKeyID, keys.SecretAccessKey}
}

// text is a command line of the AWS CLI.
func (a *s3Access) text() string {
	return fmt.Sprintf("while the run lasts: AWS_ACCESS_KEY_ID=%s AWS_SECRET_ACCESS_KEY=%s AWS_REGION=%s aws s3 ls --recursive s3://%s --endpoint-url %s",
		a.AccessKeyID, a.SecretAccessKey, sim.DefaultRegion, localloop.Bucket, a.Endpoint)
}

// newReport sums a run up.
func newReport(ctx context.Context, b *shipped.Functions, o *Options, m *asl.StateMachine, r *sim.Result, p *progress) Report {
	out := Report{
		runOutcome: newRunOutcome(m, r, o.Output),
		Status:     string(r.Status), ExecutionStatus: r.Status, ExecutionARN: r.ExecutionARN,
		Output: r.Output, Error: r.Error, Cause: r.Cause,
		Attempts: b.CountPolls(), ElapsedSeconds: r.Duration().Seconds(),
		Transitions: r.Transitions, CostUSD: math.Round(r.CostUSD()*1e6) / 1e6, Events: len(r.Events), Virtual: o.Virtual, Statuses: p.statuses,
		StartRecords: b.StartRecords(ctx), Data: o.Records.Data, S3: accessOf(b), inMemory: o.Records.Data == "" && !o.Records.External(),
	}
	if exitCode(r) == kit.ExitTimedOut {
		out.Status = string(pollcore.TimedOut)
	}
	return out
}

func exitCode(r *sim.Result) int {
	switch {
	case r.Status == sim.StatusSucceeded:
		return kit.ExitSucceeded
	case r.Status == sim.StatusAborted:
		return kit.ExitInterrupted
	case r.Status == sim.StatusTimedOut || r.Error == handler.ErrorTimedOut:
		return kit.ExitTimedOut
	default:
		return kit.ExitFailed
	}
}

// reporter writes the result of a run to stdout.
type reporter struct {
	out    io.Writer
	format string
	err    error // of the first event that could not be written
}

func newReporter(out io.Writer, o *Options) *reporter { return &reporter{out: out, format: o.Output} }

// begin writes, in the format jsonl, how to reach the run's S3 server.
func (r *reporter) begin(a *s3Access) {
	if r.format == "jsonl" && a != nil {
		r.err = json.NewEncoder(r.out).Encode(map[string]*s3Access{"s3": a})
	}
}

// event writes a history event as it happens, in the format jsonl.
func (r *reporter) event(e sim.Event) {
	if r.format == "jsonl" && r.err == nil {
		r.err = json.NewEncoder(r.out).Encode(map[string]sim.Event{"event": e})
	}
}

// result writes what a run came to.
func (r *reporter) result(p Text) error {
	err := r.err
	switch {
	case err != nil:
	case r.format == "jsonl":
		err = json.NewEncoder(r.out).Encode(map[string]any{"result": p})
	case r.format == "json":
		err = kit.WriteJSON(r.out, p)
	default:
		_, err = io.WriteString(r.out, p.text(terminal.ColoursOf(r.out)))
	}
	if err != nil {
		return kit.WithCode(kit.ExitFailed, fmt.Errorf("write the result: %w", err))
	}
	return nil
}

func (p Report) text(c terminal.Colours) string {
	elapsed := time.Duration(p.ElapsedSeconds * float64(time.Second)).Round(100 * time.Millisecond)
	s := newSummary(c, p.Status, elapsed, p.Virtual)
	s.end(p.at, p.Error, message(p.Cause), p.Output)
	s.history(p.Statuses)
	s.row("attempts", "%d", p.Attempts)
	s.use(p.Transitions, p.CostUSD, p.Events, false)
	s.row("execution", "%s", p.ExecutionARN)
	for _, location := range p.StartRecords {
		if p.Data != "" {
			location += " (kept in " + p.Data + ")"
		}
		if p.inMemory {
			location += " (in memory)"
		}
		s.row("start record", "%s", location)
	}
	return s.String()
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
