package plan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/internal/answers"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/shipped"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/plan"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
	"github.com/jobpoller/jobpoller/statemachines/source"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

// loopTrial runs a machine on simulated jobs, to learn when it polls.
type loopTrial struct {
	machine *source.Machine
	input   []byte
	polls   string // the Task that polls; empty for any
	entry   *catalog.Entry
	// invented tells that nobody gave the input.
	invented bool
	// bare tells that the answers have only what the machine fails without.
	bare bool
	// start is when the job starts in a run.
	start time.Duration
	said  map[string]lint.Meaning // by --status
	// guessed are Tasks whose answers are drawn, as nobody knows them.
	guessed []string
	// job is the Task by which the job is simulated alone; empty if all jobs are as long.
	job string
}

// findJob finds the Task by which the job is simulated. Other jobs of the machine end at
// once, so that it gets to this one, and their polls are not counted.
func (t *loopTrial) findJob() {
	if t.polls == "" {
		return
	}
	o := (&answers.Simulated{Said: t.said}).Options(t.machine.StateMachine)
	for s := range t.machine.All {
		o.Specs = []simulate.Spec{{State: s.Name}}
		if names, err := simulate.StatesOf(t.machine.StateMachine, o); err == nil && slices.Contains(names, t.polls) {
			t.job = s.Name
			return
		}
	}
}

// specs are how long jobs last.
func (t *loopTrial) specs(lasts time.Duration) []string {
	others := ""
	if t.bare {
		others = ",bare"
	}
	if t.job == "" {
		return []string{lasts.String() + others}
	}
	return []string{t.job + "=" + lasts.String(), "0s" + others}
}

const (
	mostCause  = 200 // columns
	trialSeeds = 20  // of a machine that draws its delays
	firstTrial = 5 * time.Second
)

// pollTrial is what a run showed of the loop.
type pollTrial struct {
	start       time.Duration   // of the job, in the run
	at          []time.Duration // of the polls, from the start of the job
	transitions int
	events      int
	saw         bool   // the end of the job
	failure     string // of the run
	job         *history.Job
}

// measuredLoop is when a loop polls, by its runs.
type measuredLoop struct {
	lists [][]time.Duration // the delays of each run
	// gaveUp is how long the loop polls; 0 where it saw the end of the job.
	gaveUp time.Duration
	why    string // it did, as its run says
	steps  loopSteps
}

// findInput finds an input with which the machine polls, and returns what it polls then.
func (t *loopTrial) findInput(ctx context.Context) (*pollTrial, error) {
	t.findJob()
	inputs := [][]byte{t.input}
	if t.input == nil {
		inputs, t.invented = inventInputs(t.machine.StateMachine, t.entry), true
	}
	var why error
	for _, bare := range []bool{false, true} { // what need not be there may lead past the poll
		t.bare = bare
		for _, input := range inputs {
			t.input = input
			found, err := t.run(ctx, firstTrial, kit.DefaultSeed)
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case err == nil && found.saw:
				t.start = found.start
				return found, nil
			case err == nil:
				err = fmt.Errorf("the run ends before it sees the end of a job of %s%s", kit.ShortDuration(firstTrial), found.failure)
			}
			if !t.bare {
				why = err // of the richest input
			}
		}
	}
	switch {
	case errors.Is(why, errPollsNothing), errors.Is(why, errNoJob):
		return nil, why
	case t.invented:
		why = fmt.Errorf("the machine does not poll with an invented input, pass --input: %w", why)
	default:
		why = fmt.Errorf("the machine does not poll with --input: %w", why)
	}
	return nil, fmt.Errorf("%w%s", why, kit.SubstituteHint(kit.OpenPlaceholders(t.machine.StateMachine, false)))
}

// errNoJob is of a loop that polls what the catalogue does not have, such as a Lambda function.
var errNoJob = errors.New("plan runs only loops on jobs of the catalogue")

// errPollsNothing is of a run that succeeds without a poll.
var errPollsNothing = errors.New("a run of the machine polls nothing that the catalogue knows")

// measure runs the machine on jobs that are longer than nearly all.
func (t *loopTrial) measure(ctx context.Context, short *pollTrial, d plan.Distribution) (*measuredLoop, error) {
	// The job runs for twice as long as nearly all: only then a schedule that polls often
	// where jobs end shows its last delay, and a loop its deadline.
	longest := min(2*d.Quantile(rareJob).Truncate(time.Second), asl.MaxStandardTime) + time.Second //nolint:mnd // as said
	if t.machine.Definition.Type == asl.Express {
		longest = min(longest, asl.MaxExpressTime)
	}
	m := &measuredLoop{}
	var first *pollTrial
	for seed := uint64(kit.DefaultSeed); seed < kit.DefaultSeed+trialSeeds; seed++ {
		long, err := t.run(ctx, longest, seed)
		if err != nil {
			return nil, err
		}
		if first == nil {
			first = long
		}
		if !long.saw {
			m.gaveUp, m.why = max(m.gaveUp, long.at[len(long.at)-1]), long.failure
		}
		m.lists = append(m.lists, delaysBetween(long.at))
		if len(m.lists) == 2 && slices.Equal(m.lists[0], m.lists[1]) { //nolint:mnd // nothing is drawn
			m.lists = m.lists[:1]
			break
		}
	}
	whole, err := t.runWhole(ctx, first)
	if err != nil {
		return nil, err
	}
	m.steps = stepsOf(short, whole)
	return m, nil
}

// runWhole runs the machine on the longest job after which its history has room for the
// exit of the loop.
func (t *loopTrial) runWhole(ctx context.Context, long *pollTrial) (_ *pollTrial, err error) {
	whole := long
	for back := 0; !whole.saw || whole.events >= asl.MaxEvents; back = max(1, 2*back) { //nolint:mnd // polls
		if back >= len(long.at) {
			return long, nil
		}
		if whole, err = t.run(ctx, max(0, long.at[len(long.at)-1-back].Truncate(time.Second)-time.Second), kit.DefaultSeed); err != nil {
			return nil, err
		}
	}
	return whole, nil
}

// stepsOf are the steps of a poll, by two runs of different lengths.
func stepsOf(short, long *pollTrial) loopSteps {
	steps := loopSteps{besides: struct{ transitions, events float64 }{float64(short.transitions), float64(short.events)}}
	if polls := float64(len(long.at) - len(short.at)); polls > 0 {
		steps.transitions, steps.events = float64(long.transitions-short.transitions)/polls, float64(long.events-short.events)/polls
	}
	steps.besides.transitions -= float64(len(short.at)) * steps.transitions
	steps.besides.events -= float64(len(short.at)) * steps.events
	return steps
}

func delaysBetween(times []time.Duration) []time.Duration {
	delays, last := make([]time.Duration, len(times)), time.Duration(0)
	for i, t := range times {
		delays[i], last = t-last, t
	}
	return delays
}

// delays are the delays of a run before each poll: after one that saw the end, as the
// last for ever.
func (m *measuredLoop) delays() []iter.Seq[time.Duration] {
	all := make([]iter.Seq[time.Duration], len(m.lists))
	for i, list := range m.lists {
		all[i] = func(yield func(time.Duration) bool) {
			for _, delay := range list {
				if !yield(delay) {
					return
				}
			}
			for m.gaveUp == 0 && yield(max(time.Second, list[len(list)-1])) { //nolint:revive // yield does the work
			}
		}
	}
	return all
}

// times are those of the polls of the first run, in seconds.
func (m *measuredLoop) times() []float64 {
	var times []float64
	now := time.Duration(0)
	for _, delay := range m.lists[0] {
		now += delay
		times = append(times, now.Seconds())
	}
	if then := m.lists[0][len(times)-1].Seconds(); m.gaveUp == 0 && then > 0 { // as far as a picture goes
		for most := 2*now.Seconds() + then; times[len(times)-1] < most && len(times) < mostDrawn; { //nolint:mnd // twice
			times = append(times, times[len(times)-1]+then)
		}
	}
	return times
}

// schedule is the first list as a schedule.
func (m *measuredLoop) schedule() pollcore.Planned {
	list := m.lists[0]
	s := pollcore.Planned{Then: max(time.Second, list[len(list)-1].Round(time.Second))}
	for _, delay := range list[:min(len(list), pollcore.MaxPlannedDelays)] {
		s.Delays = append(s.Delays, delay.Round(time.Second))
	}
	for n := len(s.Delays); n > 1 && s.Delays[n-1] == s.Then; n-- {
		s.Delays = s.Delays[:n-1]
	}
	return s
}

// run runs the machine on a job that lasts for a time.
func (t *loopTrial) run(ctx context.Context, lasts time.Duration, seed uint64) (_ *pollTrial, err error) {
	stop := func() error { return nil }
	result, err := trial.Play(ctx, t.machine.StateMachine, trial.Job{Input: t.input, Seed: seed, Answer: func(options *sim.Options) error {
		options.Execution, options.StateMachine = "plan", answers.StateMachine
		ended, err := t.answer(ctx, answers.Simulated{Specs: t.specs(lasts), Said: t.said}, options)
		if err == nil {
			stop = ended
		}
		return err
	}}, trial.Options{Models: models.Load, Express: t.machine.Definition.Type == asl.Express})
	if err = errors.Join(err, stop()); err != nil {
		return nil, kit.RunError(t.machine, err)
	}
	return t.read(result, lasts)
}

// answer answers the Tasks: those of the job by a simulated one, the Lambda functions of
// the command by themselves, and what nobody knows by a drawn answer. stop ends these
// functions.
func (t *loopTrial) answer(ctx context.Context, simulated answers.Simulated, options *sim.Options) (stop func() error, err error) {
	t.guessed = nil
	router, err := answers.New(ctx, answers.Options{Simulated: simulated}, answers.Hooks{Drawn: func(tasks []simulate.Unknown) {
		for _, u := range tasks {
			t.guessed = append(t.guessed, u.State)
		}
	}})
	if err != nil {
		return nil, err
	}
	own, err := shipped.StartFor(ctx, t.machine.StateMachine, t.input,
		shipped.Options{Name: options.Execution, Seed: options.Seed, Quiet: true, Simulated: simulated}, options, io.Discard)
	if err != nil {
		return nil, kit.AsFailure(err)
	}
	stop = func() error { return nil }
	if own != nil {
		stop = own.Close
		router.AddOwn(own.Own(func(string, handler.Result, error) {}))
	}
	if _, err = router.Resolve(ctx, t.machine, "", options); err != nil {
		return nil, errors.Join(kit.AsFailure(err), stop())
	}
	return stop, nil
}

// read reads of a run, on a job that lasts for a time, when it polled.
func (t *loopTrial) read(r *sim.Result, lasts time.Duration) (*pollTrial, error) {
	e := history.FromRun(t.machine.StateMachine, r)
	visits := e.FindVisits()
	for _, j := range e.FindJobs(visits) {
		if t.polls != "" && j.State != t.polls {
			continue
		}
		start, polled, end := r.Start.Add(t.start), j.Polls, j.EndPoll()
		if end >= 0 {
			polled = polled[:end+1]
			_, most, _ := j.Took()
			start = polled[end].Answered.Add(-most)
			if late, exact, _ := j.DetectionDelay(); exact {
				start = start.Add(-late)
			}
		}
		out := &pollTrial{
			start: start.Sub(r.Start), transitions: r.Transitions, events: len(r.Events), job: j,
			failure: failureOf(r), saw: end >= 0 && polled[end].Verdict == history.Success,
		}
		for _, p := range polled {
			out.at = append(out.at, max(0, p.At.Sub(start)))
		}
		if last := out.at[len(out.at)-1]; out.saw && last < lasts-time.Second {
			return nil, fmt.Errorf("the run waits for a job that ends after %s: the input says how long it lasts", wholeText(last.Seconds()))
		}
		return out, nil
	}
	switch {
	case t.entry == nil && slices.ContainsFunc(visits.All, func(v *history.Visit) bool { return v.State == t.polls }):
		return nil, fmt.Errorf("%w, and %q asks for none", errNoJob, t.polls)
	case r.Error != "":
		return nil, errors.New("the run fails" + failureOf(r))
	case t.polls != "":
		return nil, fmt.Errorf("the run ends without a call of %q", t.polls)
	}
	return nil, errPollsNothing
}

// failureOf is why a run failed, for the end of a sentence.
func failureOf(r *sim.Result) string {
	if r.Error == "" {
		return ""
	}
	return ": " + r.Error + ": " + terminal.Cut(r.Cause, mostCause)
}

// loopSteps are what an execution takes: for one poll, and besides its polls.
type loopSteps struct {
	transitions, events float64
	besides             struct{ transitions, events float64 }
}

// loopsOf are the loops of a machine that poll, by the Task. An HTTP Task polls
// where no Task of the loop is known to.
func loopsOf(m *source.Machine, said map[string]lint.Meaning) []lint.Loop {
	var all []lint.Loop
	for _, l := range lint.Loops(m.StateMachine, lint.Options{Express: m.Definition.Type == asl.Express, Said: said}) {
		if l.Retries { // which a run measures
			continue
		}
		if l.Poll == nil {
			var found []*asl.State
			for _, s := range l.Flow.States {
				if s.Task != nil && asl.ParseResource(s.Task.Resource).Service == "http" {
					found = append(found, s)
				}
			}
			if len(found) != 1 {
				continue
			}
			l.Poll, l.Operation = found[0], "an HTTP endpoint"
		}
		all = append(all, l)
	}
	return all
}
