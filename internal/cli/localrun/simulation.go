package localrun

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Simulation is the result of a run with mocks. Its JSON members are a
// contract: see docs/reference/json.md.
type Simulation struct {
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
	express        bool
}

func newSimulation(m *asl.StateMachine, r *sim.Result, p *progress, o *Options) Simulation {
	return Simulation{
		runOutcome: newRunOutcome(m, r, o.Output),
		Status:     r.Status, ExecutionARN: r.ExecutionARN, Output: r.Output, Error: r.Error, Cause: r.Cause,
		ElapsedSeconds: r.Duration().Seconds(), Transitions: r.Transitions, CostUSD: math.Round(r.CostUSD()*1e6) / 1e6,
		Events: len(r.Events), Virtual: o.Virtual, Statuses: p.statuses, Coverage: newCoverage(m, r),
		express: o.Express,
	}
}

func (s Simulation) text(colours terminal.Colours) string {
	elapsed := time.Duration(s.ElapsedSeconds * float64(time.Second)).Round(time.Millisecond)
	text := newSummary(colours, string(s.Status), elapsed, s.Virtual)
	text.end(s.at, s.Error, s.Cause, s.Output)
	text.history(s.Statuses)
	text.use(s.Transitions, s.CostUSD, s.Events, s.express)
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
