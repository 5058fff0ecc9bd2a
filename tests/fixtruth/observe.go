package fixtruth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// call is a call of a Task that does not poll.
type call struct {
	resource  string
	arguments any
}

// flow is what one branch or iteration did.
type flow struct {
	calls []call
	// polled has what each poll asked for, once each, and first when: since the start
	// of the execution.
	polled []any
	first  []time.Duration
	last   time.Time
	polls  map[string]int // by the Task that makes them
	pace   time.Duration  // the shortest time between polls of one thing; 0 if there are none
	cut    bool           // it was stopped by a failure beside it
}

// observed is what a run did, by its history.
type observed struct {
	status, err, cause string
	output             any
	flows              map[string]*flow
	took               time.Duration
	polls              int
	endless            bool // the history ran full, or no time passes
}

func (o *observed) String() string {
	if o.endless {
		return "never ends"
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s after %d polls", o.status, o.err, o.polls))
}

// setting is what may differ between two runs without a reason in the machine.
type setting struct {
	seed  uint64
	start time.Duration // later than sim.DefaultStart
	name  string
}

// maxEvents is how long histories get. AWS's have 25,000 events, which show no more: a
// loop without a bound fills either.
const maxEvents = 5_000

var (
	usual = setting{1, 0, "execution-1"}
	other = setting{2, 26*time.Hour + 3*time.Minute, "another-execution"}
)

// deployed puts values in for placeholders, as a deployment does.
var deployed = strings.NewReplacer("${WaitSeconds}", "45", "${TopicArn}", "arn:aws:sns:us-east-1:123456789012:ops")

func parse(text []byte) (*asl.StateMachine, error) {
	m, err := asl.Parse([]byte(deployed.Replace(string(text))))
	if err != nil {
		return nil, fmt.Errorf("the definition is not valid: %w", err)
	}
	return m, nil
}

// run runs a machine and reads what its history says.
func (b *blueprint) run(ctx context.Context, m *asl.StateMachine, input []byte, s scenario, at setting) (*observed, error) {
	o := sim.Options{
		Clock: sim.NewVirtualClock(sim.DefaultStart().Add(at.start)), Execution: at.name, Seed: at.seed, Express: b.express, MaxEvents: maxEvents,
		Handler: newService(b, s).handle,
	}
	result, err := sim.Run(ctx, m, input, o)
	if errors.Is(err, sim.ErrEndless) {
		return &observed{endless: true, status: "ENDLESS", flows: map[string]*flow{}}, nil
	}
	if err != nil {
		return nil, err
	}
	return b.read(history.FromRun(m, result))
}

func (b *blueprint) read(e *history.Execution) (*observed, error) {
	o := &observed{status: e.Status, err: e.Error, cause: e.Cause, flows: map[string]*flow{}, took: e.Duration(), endless: len(e.Events) >= maxEvents}
	if e.Output != "" {
		if err := json.Unmarshal([]byte(e.Output), &o.output); err != nil {
			return nil, err
		}
	}
	poll := b.op.call(b.op.describe)
	visits := e.FindVisits()
	for _, v := range visits.All {
		f := o.flows[v.Place()]
		if f == nil {
			f = &flow{polls: map[string]int{}}
			o.flows[v.Place()] = f
		}
		f.cut = v.Type != "Succeed"
		for _, a := range v.Attempts {
			var arguments any
			if err := json.Unmarshal([]byte(a.Parameters), &arguments); err != nil {
				return nil, fmt.Errorf("%s: the arguments: %w", v.State, err)
			}
			resource := a.Action // of a function's ARN
			if a.Service != "" {
				resource = states + a.Service + ":" + a.Action
			}
			name := nameOf(resource, arguments)
			if name != poll {
				f.calls = append(f.calls, call{name, arguments})
				continue
			}
			o.polls++
			f.polls[v.State]++
			if b.result == "input" {
				arguments = b.op.asked(arguments)["id"] // beside what changes from poll to poll
			}
			f.poll(arguments, a.Start, e.Start, len(v.Attempts) == 1)
		}
	}
	culprits := visits.FindCulprits(e)
	isFail := func(v *history.Visit) bool { return v.Type == "Fail" }
	own := slices.ContainsFunc(culprits, isFail)
	for _, v := range culprits {
		if isFail(v) || !own { // else it waits to be retried
			o.flows[v.Place()].cut = false
		}
	}
	if !own || isBroken(o.err) {
		o.cause = "" // the engine's
	}
	for _, f := range o.flows {
		f.cut = f.cut && o.status != history.StatusSucceeded
	}
	return o, nil
}

// poll notes a poll. Those of a Retry have the pace of the Retry.
func (f *flow) poll(arguments any, at, start time.Time, alone bool) {
	if !containsValue(f.polled, arguments) {
		f.polled, f.first = append(f.polled, arguments), append(f.first, at.Sub(start))
		f.last = time.Time{}
	}
	if alone && !f.last.IsZero() {
		if d := at.Sub(f.last); f.pace == 0 || d < f.pace {
			f.pace = d
		}
	}
	f.last = at
}
