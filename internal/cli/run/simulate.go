package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// simulation is the result of a run with mocks. Its JSON members are a
// contract: see docs/reference/json.md.
type simulation struct {
	Status         sim.Status        `json:"status"`
	ExecutionARN   string            `json:"executionArn"`
	Output         json.RawMessage   `json:"output,omitempty"`
	Error          string            `json:"error,omitempty"`
	Cause          string            `json:"cause,omitempty"`
	ElapsedSeconds float64           `json:"elapsedSeconds"`
	Transitions    int               `json:"transitions"`
	CostUSD        float64           `json:"costUSD"`
	Events         int               `json:"events"`
	Virtual        bool              `json:"virtual"`
	Statuses       kit.StatusHistory `json:"statuses,omitempty"`
	Coverage       coverage          `json:"coverage"`
	runOutcome                       //nolint:embeddedstructfieldcheck // its members come last
}

// executionOf is the title of a state machine as the name of an execution.
func executionOf(title string) string {
	name, _, _ := strings.Cut(title, ".")
	if !executionName().MatchString(name) {
		return "local"
	}
	return name
}

// mockError is the error of a run with mocks.
func mockError(o runOptions, m *source.Machine, err error) error {
	if unmocked, ok := errors.AsType[*mock.UnmockedError](err); ok {
		return kit.Usage("%s: %w", o.mocks, unmocked)
	}
	unanswered, ok := errors.AsType[*sim.ResourceError](m.Definition.LocateError(err))
	if !ok {
		return kit.RunError(m, err)
	}
	var b strings.Builder
	for _, t := range unanswered.Tasks {
		hint := ""
		if !o.usesMocks() {
			hint = answers.LambdaHint(m, t.State)
		}
		terminal.Fprintf(&b, "%s:%d:%d: nothing answers the Task %q (%s)%s\n", m.Definition.File, t.Position.Line, t.Position.Column, t.State, t.Resource,
			hint)
	}
	first := unanswered.Tasks[0].State
	if o.mocks == "" {
		return kit.Usage("%sSay what answers: --simulate 10m, --mocks with a file such as {%q: {\"return\": {}}}, --endpoint-url URL of an emulator, "+
			"--aws, or --lambda for functions%s", terminal.Lines(b.String()), first, kit.SubstituteHint(kit.OpenPlaceholders(m.StateMachine, false)))
	}
	return kit.Usage("%sAdd mocks to %s, such as %q: {\"return\": {}}", terminal.Lines(b.String()), o.mocks, first)
}

func newSimulation(m *asl.StateMachine, r *sim.Result, p *progress, o *runOptions) simulation {
	return simulation{
		runOutcome: newRunOutcome(m, r, o.output),
		Status:     r.Status, ExecutionARN: r.ExecutionARN, Output: r.Output, Error: r.Error, Cause: r.Cause,
		ElapsedSeconds: r.Duration().Seconds(), Transitions: r.Transitions, CostUSD: math.Round(r.CostUSD()*1e6) / 1e6,
		Events: len(r.Events), Virtual: o.virtual, Statuses: p.statuses, Coverage: newCoverage(m, r),
	}
}

func (s simulation) text(colours terminal.Colours) string {
	elapsed := time.Duration(s.ElapsedSeconds * float64(time.Second)).Round(time.Millisecond)
	text := newSummary(colours, string(s.Status), elapsed, s.Virtual)
	text.end(s.at, s.Error, s.Cause, s.Output)
	text.history(s.Statuses)
	text.use(s.Transitions, s.CostUSD, s.Events)
	c := s.Coverage
	text.row("states", "%d of %d visited%s", c.StatesVisited, c.States, missing("Not visited", c.NotVisited))
	text.row("transitions", "%d of %d taken%s", c.TransitionsTaken, c.Transitions, missing("Not taken", c.TransitionsMissing))
	return text.String()
}

// mostMissing is how many names a row has.
const mostMissing = 5

// missing is the end of a row that names what a run missed.
func missing(what string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	more := ""
	if len(names) > mostMissing {
		more = fmt.Sprintf(" and %d more", len(names)-mostMissing)
		names = names[:mostMissing]
	}
	return ". " + what + ": " + strings.Join(names, ", ") + more
}
