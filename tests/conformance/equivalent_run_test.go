package conformance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/tests/responses"
)

// run is what came of a sequence.
type run struct {
	status   pollcore.Status
	acceptor int // of pollcore
	// acceptors are those that the machine names, -1 for none: one, unless Step
	// Functions does not tell errors apart that have the same verdict.
	acceptors []int
	reason    string
	message   string // of pollcore
	elapsed   time.Duration
	attempts  int // that the service saw
	told      int // attempts that the result tells of, 0 if it tells of none
	output    any // that the result tells of, nil if it tells of none
	player    *player
	low       time.Duration // shortest delay of the machine
	delays    []time.Duration
	first     time.Duration // delay before the first call
	result    *sim.Result
	form      form
	compiled  *compile.Compiled
	starter   *starter // nil if the job has been started
}

// player is the service: it gives the answers of a sequence.
type player struct {
	*responses.Sequence

	calls     int
	polls     int // that have begun
	faults    int // calls that were told to come again
	retried   int // errors that an acceptor retries
	given     int // faults of this poll
	last      any // response
	began     bool
	fatal     bool
	lastError string // by the name of Step Functions
	lastErr   error
}

// next answers a call.
func (p *player) next(elapsed time.Duration) (a responses.Answer, fault string) {
	p.calls++
	if p.began {
		p.polls--
	}
	a = p.At(p.polls, elapsed)
	p.polls++
	p.began = true
	if p.given < a.Faults {
		p.given++
		p.faults++
		return a, a.Fault
	}
	if a.Fatal {
		p.fatal, p.lastError, p.lastErr = true, a.ErrorName, a.Err
		return a, ""
	}
	p.began, p.given, p.last, p.lastError, p.lastErr = false, 0, a.Output, a.ErrorName, a.Err
	if a.Err != nil {
		p.retried++
	}
	return a, ""
}

// answer answers a call of an SDK integration.
func (p *player) answer(o *catalog.Operation, elapsed time.Duration) (sim.Reply, error) {
	a, fault := p.next(elapsed)
	switch {
	case fault != "":
		return sim.Reply{}, &sim.TaskError{Name: fault, Cause: "Rate exceeded", Latency: p.Latency}
	case a.Err != nil:
		return sim.Reply{}, &sim.TaskError{Name: a.ErrorName, Cause: a.Cause, Latency: p.Latency}
	default:
		return sim.Reply{Output: responses.Integration(o.Output, a.Output), Latency: p.Latency}, nil
	}
}

// wait is a wait by pollcore for the answers of a sequence.
type wait struct {
	check    *pollcore.Check[any, any]
	sequence *responses.Sequence
	options  compile.Options
}

// run waits. The time is that of a bubble.
func (w *wait) run(t *testing.T, more ...pollcore.WaitOption) *run {
	t.Helper()
	p := &player{Sequence: w.sequence}
	start := time.Now()
	options := []pollcore.WaitOption{pollcore.InitialDelay(w.options.InitialDelay)}
	if w.options.MinDelay > 0 {
		options = append(options, pollcore.Between(w.options.MinDelay, w.options.MaxDelay))
	}
	if w.options.Schedule != nil {
		random := drawFor(w.sequence.Name)
		drawn := w.options.Schedule.Draw(func(_, hi time.Duration) time.Duration { return time.Duration(random.Int64N(int64(hi) + 1)) })
		options = append(options, pollcore.Follow(drawn))
	}
	o, err := w.check.Wait(t.Context(), w.sequence.Input, w.options.MaxWait, func(ctx context.Context, _ any) (any, error) {
		for {
			select {
			case <-time.After(w.sequence.Latency):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			a, fault := p.next(time.Since(start))
			if fault == "" { // else the client of an SDK calls again
				return a.Output, a.Err
			}
		}
	}, append(options, more...)...)
	if o.Status == pollcore.Running {
		require.NoError(t, err)
	}
	r := &run{
		status: o.Status, acceptor: o.Acceptor, reason: o.Reason, message: o.Message, elapsed: o.Elapsed,
		attempts: o.Attempts, told: o.Attempts, output: o.Output, player: p,
	}
	return r
}

// machine is an entry compiled by a strategy, to a whole machine or to a fragment.
type machine struct {
	entry    *catalog.Entry
	strategy strategy
	options  compile.Options
	call     compile.Call
	compiled map[bool]*compile.Compiled // by whether it is whole
	starts   bool                       // the job is started, and stopped when its time is over
	retries  bool                       // an acceptor retries an error
}

func isRefused(err error) bool { return errors.Is(err, compile.ErrNotCompiled) }

// newMachine compiles an entry. A job is started if it says so, and if the
// strategy can say how: the functions of the strategies with Lambda do it for
// themselves.
func newMachine(e *catalog.Entry, s strategy, o compile.Options, starts bool, f form) (*machine, error) {
	m := &machine{entry: e, strategy: s, options: o, call: compile.CallOf(e), compiled: map[bool]*compile.Compiled{}, starts: starts && e.Job != nil && !s.lambda}
	if !m.starts {
		m.call = compile.Call{Operation: e.Operation, Job: m.call.Job}
	}
	if s.name == compile.Loop {
		var err error
		if m.call, err = withPaths(e, m.call); err != nil {
			return nil, err
		}
	}
	if _, err := m.compile(f); err != nil {
		if m.starts && isRefused(err) {
			return newMachine(e, s, o, false, f)
		}
		return nil, err
	}
	for _, a := range e.Waiter.Acceptors {
		isError := a.Matcher.ErrorType != nil || a.Matcher.Success != nil && !*a.Matcher.Success
		m.retries = m.retries || a.State == pollcore.Retry && isError
	}
	return m, nil
}

// compile compiles to a form, once.
func (m *machine) compile(f form) (*compile.Compiled, error) {
	if m.compiled[f == whole] == nil {
		o := m.options
		o.Strategy = m.strategy.name
		if f != whole {
			o.Prefix, o.Exits = "First", exits
		}
		compiled, err := compile.Compile(m.entry.Waiter, m.call, o)
		if err != nil {
			return nil, err
		}
		m.compiled[f == whole] = compiled
	}
	return m.compiled[f == whole], nil
}

// withPaths names the members of the input that the strategy Loop is to pass on
// besides those that the operation requires: of a start call, all that the sample
// has.
func withPaths(e *catalog.Entry, call compile.Call) (compile.Call, error) {
	if optional := optionalFirst(call.Operation); call.Start == nil && optional != "" {
		call.Arguments = map[string]any{spelled(optional) + ".$": "$." + spelled(optional)}
	}
	if call.Start == nil {
		return call, nil
	}
	s, err := newStarter(e)
	if err != nil {
		return call, err
	}
	call.Start.Arguments = map[string]any{}
	for name := range s.input {
		call.Start.Arguments[spelled(name)+".$"] = "$." + spelled(name)
	}
	return call, nil
}

// run executes the machine, or the fragment of it in a host.
func (m *machine) run(t *testing.T, q *responses.Sequence, f form, seed uint64) *run {
	t.Helper()
	p := &player{Sequence: q}
	o := m.entry.Operation
	var ended time.Time // of the call before
	r := &run{player: p, form: f, low: time.Duration(m.entry.Waiter.MinDelay) * time.Second}
	if r.low == 0 {
		r.low = pollcore.DefaultMinDelay * time.Second
	}
	if m.options.MinDelay > 0 {
		r.low = m.options.MinDelay
	}
	called := func(now time.Time) {
		if p.calls == 0 {
			r.first = now.Sub(sim.DefaultStart())
		}
		if !p.began && p.polls > 0 {
			r.delays = append(r.delays, now.Sub(ended))
		}
		ended = now.Add(q.Latency)
	}
	clock := sim.NewVirtualClock(sim.DefaultStart())
	handlers := map[string]sim.Handler{}
	given := responses.Integration(o.Input, q.Input)
	polled := given
	if m.strategy.name == compile.Loop { // which passes on members by name
		input := pollInput(o, q.Input)
		passed := pollInput(o, nil)
		for name := range passed {
			passed[name] = input[name]
		}
		given, polled = input, passed
	}
	var starting sim.Handler // if the same operation starts the job and is polled
	if m.starts {
		var err error
		r.starter, err = newStarter(m.entry)
		require.NoError(t, err)
		maps.Copy(handlers, r.starter.handlers())
		starting = handlers[integration(o)]
		given = responses.Integration(o.Service.Operations[m.entry.Name].Input, r.starter.input)
	}
	if m.strategy.lambda {
		handlers["arn:aws:states:::lambda:invoke"] = m.functions(t, p, clock, called)
	} else {
		handlers[integration(o)] = func(ctx context.Context, call sim.Call) (sim.Reply, error) {
			if starting != nil && len(r.starter.started) == 0 {
				return starting(ctx, call)
			}
			called(call.Time)
			if arguments, ok := call.Arguments.(map[string]any); ok && m.starts {
				r.starter.described = append(r.starter.described, arguments)
			}
			if !m.starts {
				require.True(t, equalJSON(polled, call.Arguments), "%s %s polls with %v", m.entry.Name, m.strategy.name, call.Arguments)
			}
			return p.answer(o, call.Time.Add(q.Latency).Sub(sim.DefaultStart()))
		}
	}
	compiled, err := m.compile(f)
	require.NoError(t, err)
	r.compiled = compiled
	definition := compiled.Machine
	if f != whole {
		definition = host(t, compiled, f)
	}
	input, err := json.Marshal(given)
	require.NoError(t, err)
	r.result, err = sim.Run(t.Context(), definition, input, sim.Options{Seed: seed, Execution: fmt.Sprintf("execution-%d", seed), Clock: clock, Handlers: handlers})
	require.NoError(t, err)
	r.attempts, r.elapsed = p.polls, r.result.Duration()
	m.read(t, r, f != whole)
	return r
}

var acceptorOf = regexp.MustCompile(`\(acceptor (\d+) of \d+\)`)

// read reads the result of an execution.
func (m *machine) read(t *testing.T, r *run, fragment bool) {
	t.Helper()
	if r.result.Status == sim.StatusSucceeded {
		m.readOutput(t, r, fragment)
	} else {
		m.readError(r, fragment)
	}
	if r.status != pollcore.TimedOut {
		for _, found := range acceptorOf.FindAllStringSubmatch(r.reason, -1) {
			n, err := strconv.Atoi(found[1])
			require.NoError(t, err)
			r.acceptors = append(r.acceptors, n-1)
		}
		if len(r.acceptors) == 0 || strings.Contains(r.reason, unclear) {
			r.acceptors = append(r.acceptors, pollcore.NoAcceptor)
		}
	}
}

func (m *machine) readOutput(t *testing.T, r *run, fragment bool) {
	t.Helper()
	var told struct {
		Status  pollcore.Status `json:"status"`
		Reason  string          `json:"reason"`
		Attempt int             `json:"attempt"`
		Output  any             `json:"output"`
	}
	require.NoError(t, json.Unmarshal(r.result.Output, &told), "%s", r.result.Output)
	r.status, r.reason, r.told, r.output = told.Status, told.Reason, told.Attempt, told.Output
	switch {
	case fragment && r.result.Visits[exits[r.status]] != 1:
		r.status += " by another exit"
	case !fragment && r.status != pollcore.Succeeded:
		r.status += " that ends as success"
	}
}

// ends are the errors in which a whole machine ends.
var ends = map[string]pollcore.Status{"JobPoller.Failed": pollcore.Failed, "JobPoller.TimedOut": pollcore.TimedOut}

func (m *machine) readError(r *run, fragment bool) {
	r.status, r.reason = pollcore.Status(fmt.Sprintf("%s %s", r.result.Status, r.result.Error)), r.result.Cause
	if status, ok := ends[r.result.Error]; ok && !fragment {
		r.status = status
	}
	if !m.strategy.lambda {
		return
	}
	r.reason = told(r.reason)
	if r.player.fatal && r.result.Error == handler.ErrorServiceUnavailable {
		r.status = pollcore.Failed // the budget for faults is used up
	}
}

// unclear is what the reason says of an error that Step Functions does not tell
// from others, after the acceptors that name one of them: all are failures.
const unclear = ", or an unexpected error: "

// differences says in what a run of the machine is not what it promises.
func (m *machine) differences(t *testing.T, w *wait, own, r *run) []string {
	t.Helper()
	var all []string
	differ := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if r.status != own.status {
		if r.status != pollcore.TimedOut || !m.early(w, r) {
			differ("%s, but pollcore.Wait says %s (%s)", r.status, own.status, r.reason)
		}
		return all
	}
	m.compareEnds(differ, own, r)
	if r.told != 0 {
		want := r.attempts
		if m.strategy.counts {
			want = r.player.calls
		}
		if r.told != want {
			differ("it tells of %d attempts of %d", r.told, want)
		}
	}
	m.compareTime(t, differ, w, r)
	m.compareReport(differ, w, r)
	if r.starter != nil {
		all = append(all, r.starter.differences(r.status)...)
	}
	return all
}

// early tells whether the machine may time out before its time is over: an
// acceptor retries errors, and there were more of them or the job ended later
// than the strategy has room for.
func (m *machine) early(w *wait, r *run) bool {
	return m.strategy.early && m.retries && (r.player.retried > mostRetried || w.sequence.Timed && w.sequence.End > m.timeForResponses())
}

// timeForResponses is how long the machine polls: what is for errors that are
// retried is a quarter of the time after the initial delay.
func (m *machine) timeForResponses() time.Duration {
	if m.strategy.early && m.retries {
		initial := m.options.InitialDelay
		if m.options.Schedule != nil {
			initial = m.options.Schedule.Before(1)
		}
		return m.options.MaxWait - (m.options.MaxWait-initial)/4
	}
	return m.options.MaxWait
}

// mostRetried is how many errors every strategy retries.
const mostRetried = 4

// compareEnds compares acceptor, reason and output.
func (m *machine) compareEnds(differ func(string, ...any), own, r *run) {
	if r.status == pollcore.TimedOut {
		if !strings.HasPrefix(r.reason, "not finished after ") {
			differ("the reason of a time-out is %q", r.reason)
		}
		return
	}
	if !slices.Contains(r.acceptors, own.acceptor) {
		differ("acceptors %v, but pollcore.Wait says %d (%s)", r.acceptors, own.acceptor, r.reason)
		return
	}
	if len(r.acceptors) > 1 {
		return // of which the reason says all
	}
	reason, want := r.reason, own.reason
	if failure := r.player.lastError; failure != "" {
		// What stands behind the acceptor is the error in the words of each world.
		reason, _, _ = strings.Cut(reason, ": ")
		want, _, _ = strings.Cut(want, ": ")
		if m.strategy.lambda && r.player.fatal {
			return
		}
		if m.strategy.lambda {
			failure = responses.ErrorName(r.player.lastErr)
		}
		if own.acceptor == pollcore.NoAcceptor && !strings.Contains(r.reason, failure) {
			differ("the reason does not name the error %s: %s", failure, r.reason)
		}
	} else if !strings.HasSuffix(reason, own.message) {
		differ("the reason %q has not the message %q", reason, own.message)
	}
	// Paths differ in the case of members, and in nothing else.
	if !strings.EqualFold(reason, want) {
		differ("the reason is %q, but pollcore.Wait says %q", reason, want)
	}
	if output := responses.Integration(m.entry.Operation.Output, r.player.last); r.output != nil && !reflect.DeepEqual(r.output, output) {
		differ("the output is %v, want %v", r.output, output)
	}
}

// compareTime compares attempts and time with those of a wait by pollcore that
// draws the same delays.
func (m *machine) compareTime(t *testing.T, differ func(string, ...any), w *wait, r *run) {
	t.Helper()
	if r.player.faults > 0 || r.player.fatal {
		return // they take time in the machine, and none in an SDK
	}
	if m.strategy.early && r.player.retried > 0 {
		return // errors have a backoff of their own
	}
	like := *w
	if m.strategy.overruns {
		like.options.MaxWait *= 10 // the last delay is not cut
		if r.status == pollcore.TimedOut {
			m.compareLast(differ, r)
			return
		}
	}
	delays := m.strategy.delays(r)
	if m.options.Schedule != nil {
		planned := effective(r.compiled.Schedule())
		// What is not drawn in its bounds is brought inside, and shows.
		delays = pollcore.Follow(planned.Draw(func(_, _ time.Duration) time.Duration { return r.first - planned.Before(1) }))
	}
	want := like.run(t, delays)
	var rounded time.Duration
	if w.sequence.Latency > 0 {
		rounded = time.Second // the last delay is one of whole seconds
	}
	if r.attempts != want.attempts {
		differ("%d attempts, but pollcore.Wait makes %d", r.attempts, want.attempts)
	}
	if m.strategy.name == compile.LambdaRetry && m.options.Schedule != nil && r.elapsed >= m.options.MaxWait {
		m.compareLast(differ, r) // after the shortest delay that reaches the deadline
	} else if r.elapsed < want.elapsed || r.elapsed > want.elapsed+rounded {
		differ("it takes %s, but pollcore.Wait %s", r.elapsed, want.elapsed)
	}
}

// effective is a schedule that the machine follows, as data.
func effective(s pollcore.Schedule) pollcore.Planned {
	if s.Planned != nil {
		return *s.Planned
	}
	return pollcore.Planned{Delays: []time.Duration{s.First()}, Then: s.Max}
}

// compareLast checks that the last call before a time-out, and no other, is made
// when the time is over.
func (m *machine) compareLast(differ func(string, ...any), r *run) {
	total := m.timeForResponses()
	if p := m.options.Schedule; p != nil && m.strategy.name == compile.Loop { // it counts
		total += r.first - p.Before(1)
	}
	last := r.elapsed
	before := last - r.player.Latency - r.delays[len(r.delays)-1]
	if last < total || before >= total {
		differ("of %s, the last calls are made at %s and %s", total, before, last)
	}
}

// compareReport checks that the report's bounds hold.
func (m *machine) compareReport(differ func(string, ...any), w *wait, r *run) {
	report := r.compiled.Report()
	// Calls that are repeated in place are not in the bounds.
	extra := r.player.calls - r.attempts
	transitions, events := r.result.Transitions-extra, len(r.result.Events)-extra*report.EventsPerFault
	if r.form != whole {
		transitions, events = transitions-hostTransitions, events-hostEvents
	}
	if float64(transitions) > report.Worst.Transitions {
		differ("%d transitions, more than the %g of the report", transitions, report.Worst.Transitions)
	}
	if float64(events) > report.Worst.Events {
		differ("%d events, more than the %g of the report", events, report.Worst.Events)
	}
	if float64(r.attempts) > report.Worst.Polls {
		differ("%d calls, more than the %g of the report", r.attempts, report.Worst.Polls)
	}
	if q := w.sequence; q.Timed && extra == 0 && !r.player.fatal && r.status != pollcore.TimedOut {
		if late := (r.elapsed - q.End - q.Latency).Seconds(); late > report.Worst.LatenessSeconds {
			differ("%g s late, more than the %g of the report", late, report.Worst.LatenessSeconds)
		}
	}
}
