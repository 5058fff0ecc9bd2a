package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	htmlreport "github.com/jobpoller/jobpoller/statemachines/report"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
)

// views are what a run leaves behind besides its result.
type views struct {
	trace   bool
	html    string
	history string
}

// event shows an event as it happens.
func (v views) event(stderr io.Writer, start time.Time, e sim.Event) {
	if v.trace {
		terminal.Fprintf(stderr, "%s\n", e.Trace(start))
	}
}

// write writes the files.
func (v views) write(m *asl.StateMachine, r *sim.Result) error {
	if v.history != "" {
		text, err := json.MarshalIndent(map[string][]sim.Event{"events": r.Events}, "", "  ")
		if err != nil {
			return &exitError{exitFailed, err}
		}
		if err := writeFile("history", v.history, append(text, '\n')); err != nil {
			return err
		}
	}
	if v.html != "" {
		page, err := htmlreport.HTML(m, r)
		if err != nil {
			return &exitError{exitFailed, fmt.Errorf("--html: %w", err)}
		}
		return writeFile("html", v.html, page)
	}
	return nil
}

// simulation is what a run with mocks comes to. Its JSON members are a
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
	Coverage       coverage        `json:"coverage"`
}

// coverage is how much of the machine a run went through.
type coverage struct {
	States             int      `json:"states"`
	StatesVisited      int      `json:"statesVisited"`
	Transitions        int      `json:"transitions"`
	TransitionsTaken   int      `json:"transitionsTaken"`
	NotVisited         []string `json:"notVisited"`
	TransitionsMissing []string `json:"transitionsNotTaken"`
}

func newCoverage(m *asl.StateMachine, r *sim.Result) coverage {
	c := coverage{NotVisited: []string{}, TransitionsMissing: []string{}}
	for s := range m.All {
		c.States++
		if r.Visits[s.Name] > 0 {
			c.StatesVisited++
		} else {
			c.NotVisited = append(c.NotVisited, s.Name)
		}
		ways := s.Transitions()
		if s.End {
			ways = append(ways, asl.Transition{})
		}
		for _, way := range ways {
			c.Transitions++
			if r.Edges[sim.Edge{From: s.Name, To: way.To, Kind: way.Kind, Rule: way.Rule}] > 0 {
				c.TransitionsTaken++
			} else {
				to := way.To
				if to == "" {
					to = "end"
				}
				c.TransitionsMissing = append(c.TransitionsMissing, s.Name+" > "+to)
			}
		}
	}
	return c
}

// runMocked runs a definition whose Tasks are all answered by mocks.
func runMocked(c *cobra.Command, o runOptions) error {
	machine, err := readMachine(o.definition, c.InOrStdin(), o.substitutes)
	if err != nil {
		return err
	}
	input := []byte(nil)
	if o.input != "" {
		if input, err = readText(o.input, c.InOrStdin()); err != nil {
			return err
		}
	}
	if strings.HasPrefix(o.name, "local") {
		o.name = fileName(o.definition)
	}
	options := sim.Options{Execution: o.name, StateMachine: stateMachineName, Seed: o.seed, Express: o.express, Clock: sim.NewRealClock(), Models: models.Load}
	if o.virtual {
		options.Clock = sim.NewVirtualClock(sim.DefaultStart)
	}
	text, err := readText(o.mocks, c.InOrStdin())
	if err != nil {
		return err
	}
	mocks, err := mock.Read(text)
	if err != nil {
		return usage("%s: %w", o.mocks, err)
	}
	if err := mocks.Apply(machine, o.testCase, &options); err != nil {
		return usage("%s: %w", o.mocks, err)
	}
	reporter := newReporter(c.OutOrStdout(), o)
	start := options.Clock.Now()
	options.OnEvent = func(e sim.Event) {
		o.views.event(c.ErrOrStderr(), start, e)
		reporter.event(e)
	}
	result, err := sim.Run(c.Context(), machine, input, options)
	if err != nil {
		return mockError(o, machine, err)
	}
	if err := reporter.result(newSimulation(machine, result, o.virtual)); err != nil {
		return &exitError{exitFailed, fmt.Errorf("write the result: %w", err)}
	}
	if err := o.views.write(machine, result); err != nil {
		return err
	}
	if code := exitCode(result); code != exitSucceeded {
		return &exitError{code: code}
	}
	return nil
}

// fileName is the name of a file as the name of an execution.
func fileName(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	if !executionName.MatchString(name) {
		return "local"
	}
	return name
}

// mockError is the error of a run whose Tasks mocks answer.
func mockError(o runOptions, m *asl.StateMachine, err error) error {
	if unmocked, ok := errors.AsType[*mock.UnmockedError](err); ok {
		return usage("%s: %w", o.mocks, unmocked)
	}
	missing, ok := errors.AsType[*sim.ResourceError](err)
	if !ok {
		return runError(o, m, err)
	}
	var b strings.Builder
	for _, t := range missing.Tasks {
		terminal.Fprintf(&b, "%s:%d:%d: the Task %q (%s) has no mock\n", o.definition, t.Position.Line, t.Position.Column, t.State, t.Resource)
	}
	first := missing.Tasks[0].State
	return usage("%sAdd it to %s, such as %q: {\"return\": {}}", terminal.Lines(b.String()), o.mocks, first)
}

func newSimulation(m *asl.StateMachine, r *sim.Result, virtual bool) simulation {
	return simulation{
		Status: r.Status, ExecutionARN: r.ExecutionARN, Output: r.Output, Error: r.Error, Cause: r.Cause,
		ElapsedSeconds: r.Duration().Seconds(), Transitions: r.Transitions, CostUSD: math.Round(r.CostUSD()*1e6) / 1e6,
		Events: len(r.Events), Virtual: virtual, Coverage: newCoverage(m, r),
	}
}

func (s simulation) text() string {
	var b strings.Builder
	clock := ""
	if s.Virtual {
		clock = " of virtual time"
	}
	elapsed := time.Duration(s.ElapsedSeconds * float64(time.Second)).Round(time.Millisecond)
	terminal.Fprintf(&b, "%s after %s%s\n", s.Status, elapsed, clock)
	row := func(name, format string, args ...any) {
		terminal.Fprintf(&b, "  %-13s %s\n", name, fmt.Sprintf(format, args...))
	}
	if s.Error != "" {
		row("error", "%s", s.Error)
	}
	if s.Cause != "" {
		row("cause", "%s", s.Cause)
	}
	if len(s.Output) > 0 {
		row("output", "%s", s.Output)
	}
	row("transitions", "%d, $%.6f as a Standard workflow in %s", s.Transitions, s.CostUSD, asl.DefaultRegion)
	row("events", "%d of %d", s.Events, asl.MaxEvents)
	c := s.Coverage
	row("states", "%d of %d%s", c.StatesVisited, c.States, listed(c.NotVisited))
	row("ways", "%d of %d%s", c.TransitionsTaken, c.Transitions, listed(c.TransitionsMissing))
	return b.String()
}

// listed names what is missing.
func listed(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ", not " + strings.Join(names, ", ")
}

// checkMocked reports what is wrong with the flags about mocks.
func (o *runOptions) checkMocked(changed func(flag string) bool) error {
	var problems []error
	if o.mocks == "" {
		if o.testCase != "" {
			problems = append(problems, errors.New("--test-case needs --mocks"))
		}
		if o.express {
			problems = append(problems, errors.New("--express needs --mocks: the poller runs as a Standard workflow"))
		}
		return errors.Join(problems...)
	}
	if o.definition == "" {
		problems = append(problems, errors.New("--mocks needs a definition of yours"))
	}
	for _, flag := range []string{"job-seconds", "job-fails", "max-wait", "processes", "data", "s3-endpoint", "bucket"} {
		if changed(flag) {
			problems = append(problems, fmt.Errorf("--%s is about the sample job and its functions, which --mocks replaces: give one of them", flag))
		}
	}
	return errors.Join(problems...)
}
