package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/server/page"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// PageWorld returns what package page shows of the server.
func (s *Server) PageWorld() page.World { return &pageWorld{s} }

type pageWorld struct{ server *Server }

// Runs implements page.World.
func (w *pageWorld) Runs(yield func(page.Run) bool) {
	const atOnce = 100
	for behind := (*execution)(nil); ; {
		some := w.server.starts.after(behind, atOnce)
		for _, x := range some {
			if !yield(newRun(x, x.run.Load().Progress().Standing)) {
				return
			}
		}
		if len(some) < atOnce {
			return
		}
		behind = some[atOnce-1]
	}
}

func newRun(x *execution, s sim.Standing) page.Run {
	return page.Run{
		ARN: x.arn, Name: x.name, Machine: x.machine.name, MachineARN: x.machine.arn, Status: string(s.Status), Start: s.Start, Stop: s.Stop,
		Express: x.machine.kind == asl.Express,
	}
}

// How much of the child executions of Map Runs a page reads.
const (
	mostChildren    = 1_000
	mostChildEvents = 100_000
)

// Run implements page.World.
func (w *pageWorld) Run(text string) (*page.Detail, bool) {
	x, found := w.find(text)
	if !found {
		return nil, false
	}
	events := x.run.Events(0, 0)
	now := x.run.Snapshot()
	e := history.FromEvents(x.revision.parsed, text, events)
	e.Input, e.Output, e.Error, e.Cause = string(now.Input), string(now.Output), now.Error, now.Cause
	e.Status, e.Start, e.Stop, e.Transitions = string(now.Status), now.Start, now.Stop, now.Transitions
	e.Express = now.Express
	if now.Status == sim.StatusRunning {
		e.Stop = w.server.clock.Now()
		if n := len(events); n > 0 && events[n-1].Timestamp.After(e.Stop) {
			e.Stop = events[n-1].Timestamp
		}
	}
	w.addChildren(e, x, now.MapRuns)
	d := &page.Detail{
		Run: newRun(x.execution, now.Standing), History: e, Definition: x.revision.definition, Version: versionOf(now.Progress),
		Redrivable: now.RedriveStatus == sim.Redrivable, Reason: now.RedriveStatusReason,
	}
	d.ARN, d.Name = text, now.Name
	for i := range now.Current {
		d.Places = append(d.Places, newPlace(&now.Current[i]))
	}
	return d, true
}

func newPlace(p *sim.Place) page.Place {
	place := page.Place{
		State: p.State, Type: p.Type, Iterations: p.Iterations, Entered: p.Entered, Until: p.Until, Token: p.Token, Retries: p.RetryCount,
	}
	if p.Input != nil {
		place.Input = string(p.Input.JSON())
	}
	if len(p.Variables) > 0 {
		if text, err := json.Marshal(p.Variables); err == nil {
			place.Variables = string(text)
		}
	}
	return place
}

// versionOf is another number after each event; a change of the status is one, too.
func versionOf(p sim.Progress) int64 { return p.Events }

// Version implements page.World.
func (w *pageWorld) Version(text string) (int64, bool) {
	x, found := w.find(text)
	if !found {
		return 0, false
	}
	return versionOf(x.run.Progress()), true
}

// Machines implements page.World.
func (w *pageWorld) Machines() []page.Machine {
	var all []page.Machine
	s := w.server
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.accounts {
		a.mu.Lock()
		for _, m := range a.machines {
			all = append(all, newPageMachine(m))
		}
		a.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b page.Machine) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ARN, b.ARN)) })
	return all
}

func newPageMachine(m *machine) page.Machine {
	return page.Machine{ARN: m.arn, Name: m.name, Express: m.kind == asl.Express, Definition: m.current.definition, Created: m.created}
}

// Machine implements page.World.
func (w *pageWorld) Machine(text string) (*page.Machine, bool) {
	parsed, err := parseARN(text, machineKind)
	if err != nil {
		return nil, false
	}
	s := w.server
	s.mu.Lock()
	a := s.accounts[caller{parsed.account, parsed.region}]
	s.mu.Unlock()
	if a == nil {
		return nil, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	m, err := a.findMachine(text)
	if err != nil {
		return nil, false
	}
	found := newPageMachine(m)
	return &found, true
}

// Clock implements page.World.
func (w *pageWorld) Clock() page.Clock {
	state := w.server.clock.State()
	return page.Clock{Now: state.Now, Next: state.Next, Rate: state.Factor, Virtual: state.Virtual}
}

// steerTime is how long a step of the clock may take.
const steerTime = time.Minute

// Steer implements page.World.
func (w *pageWorld) Steer(ctx context.Context, s page.Steering) error {
	clock := w.server.clock
	ctx, cancel := context.WithTimeout(ctx, steerTime)
	defer cancel()
	to := clock.Now().Add(s.Advance)
	switch {
	case s.Virtual:
		clock.SetVirtual()
		return nil
	case s.Rate != nil:
		return clock.SetFactor(*s.Rate)
	case s.Next:
		next, ok := clock.Next()
		if !ok {
			return errors.New("no timer waits: start an execution, or answer a Task that waits for a token")
		}
		to = next
	}
	err := clock.Advance(ctx, to)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("calls of Tasks are still under way after %s", steerTime)
	}
	return err
}

// Skip implements page.World.
func (w *pageWorld) Skip(text, state string) error {
	x, found := w.find(text)
	if !found {
		return fmt.Errorf("there is no execution %s", text)
	}
	return x.run.SkipWait(state)
}

// Call implements page.World.
func (w *pageWorld) Call(ctx context.Context, text, operation string, input any) (json.RawMessage, error) {
	parsed, err := parseARN(text, machineKind, executionKind, expressKind)
	if err != nil {
		return nil, err
	}
	members, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	return w.server.call(ctx, caller{parsed.account, parsed.region}, operation, members)
}

// Answer implements page.World.
func (w *pageWorld) Answer(text, state string, output json.RawMessage, errorName, cause string) error {
	if x, found := w.find(text); !found {
		return fmt.Errorf("there is no execution %s", text)
	} else if x.run.Status() != sim.StatusRunning {
		return errors.New("the execution has ended: redrive it, or start another")
	}
	var a answer
	if errorName != "" {
		a.failure = &sim.TaskError{Name: errorName, Cause: cause}
	} else {
		decoder := json.NewDecoder(bytes.NewReader(output))
		decoder.UseNumber()
		if err := decoder.Decode(&a.output); err != nil {
			return err
		}
	}
	return w.server.next.set(text, state, a, func(execution string) bool {
		x, found := w.find(execution)
		return found && x.run.Status() == sim.StatusRunning
	})
}

// find returns an execution, or a child execution of a Map Run.
func (w *pageWorld) find(text string) (known, bool) {
	parsed, err := parseARN(text, executionKind, expressKind)
	if err != nil {
		return known{}, false
	}
	s := w.server
	s.mu.Lock()
	a := s.accounts[caller{parsed.account, parsed.region}]
	s.mu.Unlock()
	if a == nil {
		return known{}, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if k, found := a.executions.byARN[text].findRun(); found {
		return k, true
	}
	if child := s.world.Execution(text); child != nil {
		return a.findChild(child)
	}
	return known{}, false
}

// addChildren adds the child executions of Map Runs, as far as a page reads them.
func (w *pageWorld) addChildren(e *history.Execution, x known, mapRuns []string) {
	left := mostChildEvents
	for number, runARN := range mapRuns {
		run := w.server.world.MapRun(runARN)
		if run == nil {
			continue
		}
		counts := run.Snapshot().Executions
		children := run.Executions(mostChildren + 1)
		for i, child := range children {
			if left -= int(child.Progress().Events); len(e.Children) == mostChildren || left < 0 {
				e.Notes = append(e.Notes, fmt.Sprintf("%d of %d child executions of a Map Run are shown", i, counts.Total-counts.Pending))
				return
			}
			if events := child.Events(0, 0); len(events) > 0 {
				of := history.FromEvents(x.revision.parsed, child.ARN(), events)
				of.MapRun = number
				e.Children = append(e.Children, of)
			}
		}
	}
}
