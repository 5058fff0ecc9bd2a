package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
)

// simulation is the result of a run with mocks. Its JSON members are a
// contract: see docs/reference/json.md.
type simulation struct {
	Status         sim.Status      `json:"status"`
	ExecutionARN   string          `json:"executionArn"`
	Output         json.RawMessage `json:"output,omitempty"`
	Error          string          `json:"error,omitempty"`
	Cause          string          `json:"cause,omitempty"`
	ElapsedSeconds float64         `json:"elapsedSeconds"`
	Transitions    int             `json:"transitions"`
	CostUSD        float64         `json:"costUSD"`
	Events         int             `json:"events"`
	Virtual        bool            `json:"virtual"`
	Statuses       statusHistory   `json:"statuses,omitempty"`
	Coverage       coverage        `json:"coverage"`
}

// runMocked runs a definition with mocks that answer all Tasks.
func runMocked(c *cobra.Command, o runOptions) error {
	machine, err := readMachine(c.Context(), o.definition, c.InOrStdin(), o.substitutes)
	if err != nil {
		return err
	}
	input := []byte(nil)
	if o.input != "" {
		if input, err = readInput(o.input, c.InOrStdin()); err != nil {
			return err
		}
	}
	if strings.HasPrefix(o.name, "local") {
		o.name = executionOf(machine.title())
	}
	options := sim.Options{Execution: o.name, StateMachine: stateMachineName, Seed: o.seed, Clock: sim.NewRealClock(), Models: models.Load}
	options.Lenient = o.lenient
	options.Express = o.express || machine.definition.Type == asl.Express
	if o.virtual {
		options.Clock = sim.NewVirtualClock(sim.DefaultStart())
	}
	if err := o.answer(machine, &options, c.InOrStdin()); err != nil {
		return err
	}
	reporter := newReporter(c.OutOrStdout(), o)
	if err := o.checkInput(c.ErrOrStderr(), machine, input); err != nil {
		return err
	}
	start := options.Clock.Now()
	p := newProgress(c.ErrOrStderr(), o, machine.StateMachine, options.Clock, waitLimit(input))
	options.OnEvent = func(e sim.Event) {
		p.event(e)
		p.trace(c.ErrOrStderr(), o.views, start, e)
		reporter.event(e)
	}
	options.OnWait = p.wait
	result, err := sim.Run(c.Context(), machine.StateMachine, input, options)
	p.close()
	if err != nil {
		return mockError(o, machine, err)
	}
	if err := reporter.result(newSimulation(machine.StateMachine, result, p, o.virtual)); err != nil {
		return &exitError{exitFailed, fmt.Errorf("write the result: %w", err)}
	}
	if err := o.views.write(machine.StateMachine, result); err != nil {
		return err
	}
	if code := exitCode(result); code != exitSucceeded {
		return &exitError{code: code}
	}
	return nil
}

// answer puts what answers the Tasks into the options of a run: the file of mocks,
// and for the others the jobs that are simulated.
func (o *runOptions) answer(m *machine, options *sim.Options, in io.Reader) error {
	var mocks *mock.Config
	var answered []string
	if o.mocks != "" {
		text, err := readText(o.mocks, in)
		if err != nil {
			return err
		}
		if mocks, err = mock.Read(text); err == nil {
			answered, err = mocks.Names(o.testCase)
		}
		if err != nil {
			return usage("%s: %w", o.mocks, err)
		}
	}
	if o.simulated.isGiven() {
		plan, err := o.simulated.plan(m.StateMachine, answered)
		if err != nil {
			return err
		}
		if err := o.simulated.unknown(m, o.mocks, plan); err != nil {
			return err
		}
		simulated, err := plan.Mocks()
		if err != nil {
			return &exitError{exitFailed, err}
		}
		if err := simulated.Apply(m.StateMachine, "", options); err != nil {
			return &exitError{exitFailed, err}
		}
	}
	if mocks == nil {
		return nil
	}
	if err := mocks.Apply(m.StateMachine, o.testCase, options); err != nil {
		return usage("%s: %w", o.mocks, err)
	}
	return nil
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
func mockError(o runOptions, m *machine, err error) error {
	if unmocked, ok := errors.AsType[*mock.UnmockedError](err); ok {
		return usage("%s: %w", o.mocks, unmocked)
	}
	unanswered, ok := errors.AsType[*sim.ResourceError](m.definition.LocateError(err))
	if !ok {
		return runError(m, err)
	}
	var b strings.Builder
	for _, t := range unanswered.Tasks {
		terminal.Fprintf(&b, "%s:%d:%d: no mock answers the Task %q (%s)\n", m.definition.File, t.Position.Line, t.Position.Column, t.State, t.Resource)
	}
	first := unanswered.Tasks[0].State
	return usage("%sAdd mocks to %s, such as %q: {\"return\": {}}", terminal.Lines(b.String()), o.mocks, first)
}

func newSimulation(m *asl.StateMachine, r *sim.Result, p *progress, virtual bool) simulation {
	return simulation{
		Status: r.Status, ExecutionARN: r.ExecutionARN, Output: r.Output, Error: r.Error, Cause: r.Cause,
		ElapsedSeconds: r.Duration().Seconds(), Transitions: r.Transitions, CostUSD: math.Round(r.CostUSD()*1e6) / 1e6,
		Events: len(r.Events), Virtual: virtual, Statuses: p.statuses, Coverage: newCoverage(m, r),
	}
}

func (s simulation) text(colours terminal.Colours) string {
	elapsed := time.Duration(s.ElapsedSeconds * float64(time.Second)).Round(time.Millisecond)
	text := newSummary(colours, string(s.Status), elapsed, s.Virtual)
	text.end(s.Error, s.Cause, s.Output)
	text.history(s.Statuses)
	text.use(s.Transitions, s.CostUSD, s.Events)
	c := s.Coverage
	text.row("states", "%d of %d visited%s", c.StatesVisited, c.States, missing("Not visited", c.NotVisited))
	text.row("transitions", "%d of %d taken%s", c.TransitionsTaken, c.Transitions, missing("Not taken", c.TransitionsMissing))
	return text.String()
}

// missing is the end of a row that names what a run missed.
func missing(what string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ". " + what + ": " + strings.Join(names, ", ")
}
