package trial

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// subject is a machine with the answers of its Tasks.
type subject struct {
	machine *asl.StateMachine
	states  map[string]*asl.State // in all flows, by name
	callees map[string]*callee
	unknown []simulate.Unknown // Tasks whose answers nobody knows
	readers map[string]string  // what the readers of Maps return, as JSON
	// roles are the names that Tasks have in scripts, where it is not their own.
	roles    map[string]string
	known    *Known
	texts    map[string]string // of the states
	counters func() counters
	answers  map[string]any // by their JSON
	told     map[toldKey]told
	branches bool // it has flows beside each other
}

// clock is what reads the time, or what differs from lap to lap, outside of the context object.
var clock = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$(?:millis|now|random|uuid)\b|States\.(?:UUID|MathRandom)|"Timestamp`)
})

func (s *subject) readsClock(state string) bool { return s.known.readsClock(s.texts[state]) }

func (s *subject) role(state string) string {
	if role := s.roles[state]; role != "" {
		return role
	}
	return state
}

// call is a call that a run made, but for polls.
type call struct {
	flow      string // the indices of the Maps and branches around it
	task      string
	arguments any
	sent      string // the arguments as JSON, with those that may differ
	// steady tells that a call that is not the first attempt has the arguments of the one
	// before.
	steady bool
}

func (c call) String() string { return c.task + " with " + textOf(c.arguments) }

// observed is what a run did.
type observed struct {
	Outcome

	flow   string // that the script is for
	asked  int    // calls of the Task that it varies there
	usual  []Kind // of the usual answers
	cause  string
	output any
	calls  []call
	polls  map[string][]any // arguments, by task and flow
	visits map[string]int
	events int
	left   *sim.Beginning // where another part begins; nil if the execution ended
	parts  parts          // that have its calls, polls and visits; none for itself
}

// circumstances are those of a run that the machine must not depend on.
type circumstances struct {
	seed      uint64
	execution string
	later     time.Duration
}

var (
	usual = circumstances{seed: 1, execution: "execution-1"}
	other = circumstances{seed: 2, execution: "another-2", later: 40 * 24 * time.Hour}
)

// What Outcome.Status is besides.
const (
	// Endless is of a run whose loop takes no time.
	Endless = "ENDLESS"
	// PollsOn is of a run that would poll until its history is full, or the time of the
	// machine is over.
	PollsOn = "POLLS_ON"
)

const failed = string(sim.StatusFailed)

var (
	// engineCause is the part of a cause that names a state and an event.
	engineCause = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`the state '[^']*' \(entered at the event id #\d+\)`)
	})
	// placeInList is the number of a rule or catcher in such a cause, which another one in front of
	// it changes.
	placeInList = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`'(Choices|Catch)\[\d+\]/`) })
)

// withoutPlaces is a cause without what an edit elsewhere changes.
func withoutPlaces(cause string) string {
	if !engineCause().MatchString(cause) {
		return cause // a Fail's own
	}
	return placeInList().ReplaceAllString(engineCause().ReplaceAllString(cause, "a state"), "'$1/")
}

// mostKept is how many polls of a flow are kept to be compared.
const mostKept = 30

// player answers the calls of a run.
type player struct {
	subject   *subject
	script    *script
	options   Options
	start     time.Time // of the execution
	maxEvents int
	counts    map[string]int
	varied    map[string]string // the Task and flow that each part of the script is for, by Task
	flow      string            // of the script itself
	seen      observed
	track     *tracker
	ahead     *entry        // where it goes on behind laps that are equal; nil if it does not skip any
	full      time.Duration // when its history is full; 0 if no lap says it
}

// run runs a part of the machine on a script.
func (s *subject) run(ctx context.Context, sc *script, input []byte, at circumstances, of part, o Options) (*observed, error) {
	start := sim.DefaultStart().Add(at.later)
	p := &player{
		subject: s, script: sc, options: o, start: start, maxEvents: cmp.Or(sc.events, asl.MaxEvents), counts: map[string]int{}, varied: map[string]string{},
		seen: observed{polls: map[string][]any{}, visits: map[string]int{}}, track: &tracker{part: of, machine: s.machine, variables: map[string]json.RawMessage{}},
	}
	options := sim.Options{
		Handler: p.answer, Execution: at.execution, Seed: at.seed, Express: o.Express, MaxEvents: p.maxEvents, KeepEvents: sim.KeepNoEvents,
		Models: o.Models, Lenient: true, OnMisfit: func(*sim.ModelError) bool { return true }, StartTime: start,
	}
	if of.after != nil {
		start = start.Add(of.after.Lasts)
		options.Begin = of.after.left
		p.maxEvents = max(1, min(p.maxEvents, asl.MaxEvents-of.after.events))
		options.MaxEvents = p.maxEvents
		maps.Copy(p.track.variables, of.after.left.Variables)
	}
	options.Clock = sim.NewVirtualClock(start)
	for {
		r, why, err := p.drive(ctx, input, options)
		endless := errors.Is(err, sim.ErrEndless)
		if err != nil && !endless {
			return nil, fmt.Errorf("%w: %w", errNotRun, err)
		}
		for name, n := range r.Visits {
			p.seen.visits[name] += n
		}
		if endless {
			p.seen.Status = Endless
			return &p.seen, nil
		}
		if next := p.ahead; next != nil { // the events of a beginning, and of the Task again, are there already
			options.Begin, options.Clock = &next.Beginning, sim.NewVirtualClock(next.at)
			options.MaxEvents = p.maxEvents - next.events + 1
			p.track.events, p.track.variables, p.ahead = next.events-1, maps.Clone(next.Variables), nil
			p.seen.visits[next.State]--
			continue
		}
		p.seen.flow, p.seen.asked = p.flow, p.counts[p.varied[sc.task]]
		p.seen.Lasts, p.seen.events, p.seen.left = r.Stop.Sub(start), p.track.events, p.track.left
		switch {
		case p.seen.left != nil:
			p.seen.Lasts = p.track.at.Sub(start)
			p.seen.visits[p.seen.left.State]--
			return &p.seen, nil
		case why == errSteady: //nolint:errorlint // it is the value itself
			p.pollsOn()
			return &p.seen, nil
		case why == errIdle: //nolint:errorlint // it is the value itself
			p.seen.Status, p.seen.Lasts = Endless, 0
			return &p.seen, nil
		case p.track.events >= p.maxEvents:
			p.pollsOn()
			return &p.seen, nil
		}
		return &p.seen, p.end(r)
	}
}

// pollsOn notes that a run polls on, and whether TimeoutSeconds is over before the history is full,
// if it goes on as it did.
func (p *player) pollsOn() {
	p.seen.Status = PollsOn
	own := time.Duration(p.subject.machine.TimeoutSeconds) * time.Second
	if p.full == 0 {
		p.full = time.Duration(p.seen.Lasts.Seconds() * asl.MaxEvents / float64(p.track.events) * float64(time.Second))
	}
	p.seen.TimesOut = own > 0 && own < p.full
}

// drive runs the machine until it ends or is stopped, and says why.
func (p *player) drive(ctx context.Context, input []byte, options sim.Options) (r *sim.Result, why, err error) {
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	p.track.stop, p.track.at, options.OnEvent = stop, options.Clock.Now(), p.watch(stop)
	r, err = sim.Run(running, p.subject.machine, input, options)
	return r, context.Cause(running), err
}

// end notes how the execution ended.
func (p *player) end(r *sim.Result) error {
	p.seen.Status, p.seen.Error = string(r.Status), r.Error
	p.seen.cause = withoutPlaces(r.Cause)
	if r.Output == nil {
		return nil
	}
	if err := json.Unmarshal(r.Output, &p.seen.output); err != nil {
		return err
	}
	p.seen.output = copyOf(p.seen.output)
	p.options.leaveOut("", p.seen.output)
	return nil
}

// isLeft tells whether this drive is over: the run goes on elsewhere, if at all.
func (p *player) isLeft() bool { return p.track.left != nil || p.ahead != nil }

// answer answers a call.
func (p *player) answer(_ context.Context, c sim.Call) (sim.Reply, error) {
	if p.isLeft() {
		return sim.Reply{Never: true}, nil
	}
	task, flow := p.subject.role(c.State), strings.Trim(fmt.Sprint(c.Iterations), "[]")
	key := task + "\x00" + flow
	n := p.counts[key]
	p.counts[key]++
	callee := p.subject.callees[c.State]
	if callee == nil { // what reads the items of a Map
		return sim.Reply{Output: json.RawMessage(cmp.Or(p.subject.readers[c.State], "[{}, {}]"))}, nil
	}
	if callee.running != nil {
		p.seen.Polls++
		if n < mostKept {
			arguments := copyOf(c.Arguments)
			p.options.leaveOut(task, arguments)
			p.seen.polls[key] = append(p.seen.polls[key], arguments)
		}
	} else {
		made := call{flow, task, copyOf(c.Arguments), textOf(c.Arguments), true}
		if last := len(p.seen.calls) - 1; c.RetryCount > 0 && last >= 0 && p.seen.calls[last].task == task {
			made.steady = made.sent == p.seen.calls[last].sent
		}
		p.options.leaveOut(task, made.arguments)
		p.seen.calls = append(p.seen.calls, made)
	}
	if path := callee.api.EmptyArgument(c.Arguments); path != "" { // no machine means it: nothing catches it here
		return sim.Reply{}, &sim.TaskError{Name: asl.ErrorRuntime, Cause: "the service needs a value of " + path}
	}
	a := p.choose(task, key, n, callee)
	if n == 0 && task == p.script.task && key == p.varied[task] {
		p.seen.First = c.Time.Sub(p.start)
	}
	if a.kind == callee.usual.kind && !slices.Contains(p.seen.usual, a.kind) {
		p.seen.usual = append(p.seen.usual, a.kind)
	}
	if a.silent {
		return sim.Reply{Never: true}, nil
	}
	if a.failure != nil {
		failure := *a.failure
		return sim.Reply{}, &failure
	}
	return sim.Reply{Output: p.subject.tell(callee, c.Arguments, a.text)}, nil
}

// toldKey is an answer of a Task, and told what it says about the last arguments with which it was given.
type (
	toldKey struct{ state, answer string }
	told    struct{ arguments, value any }
)

// tell reads an answer as it is about the job that the arguments name. Most calls pass those of the call before.
func (s *subject) tell(c *callee, arguments any, answer string) any {
	key := toldKey{c.state.Name, answer}
	last, known := s.told[key]
	if !known || !reflect.DeepEqual(last.arguments, arguments) {
		last = told{arguments, s.read(c.about(arguments, answer))}
		s.told[key] = last
	}
	return last.value
}

// read reads an answer once for all runs, which do not change it.
func (s *subject) read(text string) any {
	value, known := s.answers[text]
	if !known {
		value = json.RawMessage(text)
		if document, err := jsontree.Parse([]byte(text)); err == nil {
			value = document.Root.Value()
		}
		s.answers[text] = value
	}
	return value
}

// choose is the answer of the n-th call of a Task in a flow. A script that goes on for ever
// does so in all flows, and any other in the first: one item of a Map fails.
func (p *player) choose(task, key string, n int, c *callee) answer {
	s := p.script.of(task)
	if s == nil {
		return c.usual
	}
	if p.varied[task] == "" {
		p.varied[task] = key
		if s == p.script {
			p.flow = strings.TrimPrefix(key, task+"\x00")
		}
	}
	if p.varied[task] != key && !s.forever {
		return c.usual
	}
	if a, ok := s.answer(n); ok {
		return a
	}
	return c.usual
}

// copyOf copies a value, for what the engine has must not be changed.
func copyOf(value any) any {
	switch value := value.(type) {
	case map[string]any:
		object := make(map[string]any, len(value))
		for name, member := range value {
			object[name] = copyOf(member)
		}
		return object
	case []any:
		list := make([]any, len(value))
		for i, item := range value {
			list[i] = copyOf(item)
		}
		return list
	case string:
		return withoutPlaces(value) // it may be the cause of an error that was caught
	default:
		return value
	}
}
