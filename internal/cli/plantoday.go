package cli

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/plan"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// planSubject is what is planned for: a job, a loop of a definition, or nothing that is
// known. Without a name nothing is.
type planSubject struct {
	name  string
	entry *catalog.Entry // nil if it is not known
	// schedule is today's; nil if it is not known.
	schedule *pollcore.Planned
	// steps are those of today's loop; nil where the machine is not there yet.
	steps *compile.Steps
	note  string
}

// today finds out when a job is polled today: as the definition says, or else as the
// waiter does.
func (o *planOptions) today(c *cobra.Command, args []string) (*planSubject, error) {
	switch {
	case len(args) == 0 && o.only != "":
		return nil, usage("--only needs a definition")
	case len(args) == 0:
		return &planSubject{}, nil
	case len(args) == 1 && isFile(args[0]):
		return o.loop(c, args[0])
	case o.only != "":
		return nil, usage("--only needs a definition, not a service and a name")
	}
	e, err := lookup(args)
	if err != nil {
		return nil, err
	}
	s := waiterDelays(e.Waiter)
	return &planSubject{name: e.FullName(), entry: e, schedule: &s}, nil
}

// waiterDelays are the delays of a waiter without their draws, in whole seconds.
func waiterDelays(w *pollcore.Waiter) pollcore.Planned {
	s := pollcore.NewSchedule(w, asl.MaxStandardTime)
	whole := func(d time.Duration) time.Duration { return max(time.Second, d.Round(time.Second)) }
	out := pollcore.Planned{Delays: []time.Duration{0}, Then: whole(s.Max)}
	for n := 1; n < pollcore.MaxPlannedDelays; n++ {
		lo, hi := s.Bounds(pollcore.Progress{Attempts: n})
		delay := whole(lo + (hi-lo)/2) //nolint:mnd // the middle
		if delay >= out.Then {
			break
		}
		out.Delays = append(out.Delays, delay)
	}
	return out
}

// loop reads the poll loop of a definition.
func (o *planOptions) loop(c *cobra.Command, name string) (*planSubject, error) {
	m, err := readMachine(c.Context(), name, c.InOrStdin(), o.substitutes)
	if err != nil {
		return nil, err
	}
	loops := lint.Loops(m.StateMachine, lint.Options{Express: m.definition.Type == asl.Express})
	loops = slices.DeleteFunc(loops, func(l lint.Loop) bool { return l.Poll == nil })
	var names []string
	for _, l := range loops {
		names = append(names, l.Poll.Name)
	}
	if o.only != "" {
		loops = slices.DeleteFunc(loops, func(l lint.Loop) bool { return l.Poll.Name != o.only })
	}
	switch {
	case len(names) == 0:
		return nil, usage("%s: it has no poll loop: pass a definition that polls, or the service and name of a job", name)
	case len(loops) == 0:
		return nil, usage("%s: no loop polls with the Task %q: --only takes %s", name, o.only, orList(names))
	case len(loops) > 1:
		return nil, usage("%s: it has %s: pass --only %s", name, plural(len(loops), "poll loop"), orList(names))
	}
	return newLoopSubject(&loops[0]), nil
}

func newLoopSubject(l *lint.Loop) *planSubject {
	s := &planSubject{name: strings.Join([]string{l.Poll.Name, "polls", l.Operation}, " "), entry: l.Entry}
	if l.Turn.Wait < time.Second {
		s.note = "today's schedule is not shown: the definition does not say how long the loop waits"
		return s
	}
	first := l.Turn.Wait
	s.schedule = &pollcore.Planned{Delays: []time.Duration{first}, Then: l.Turn.Wait}
	s.steps = &compile.Steps{Transitions: l.Turn.Transitions, Events: l.Turn.Events}
	s.steps.Besides.Transitions, s.steps.Besides.Events = 1, 5 // the start of the execution and its end
	return s
}

// knowledge is what is known of how long jobs take.
type knowledge struct {
	source       string
	distribution plan.Distribution
	summary      *plan.Summary // of past jobs
	jobs         []pastJob
	notes        []string
}

// readKnowledge reads the durations.
func (o *planOptions) readKnowledge(c *cobra.Command, s *planSubject) (*knowledge, error) {
	if o.duration != "" {
		d, err := plan.Parse(o.duration)
		if err != nil {
			return nil, usage("--duration: %w", err)
		}
		return &knowledge{source: o.duration, distribution: d}, nil
	}
	jobs, err := readDurations(o.durations, c.InOrStdin(), s.entry)
	if err != nil {
		return nil, err
	}
	k, err := learn(jobs)
	if err != nil {
		return nil, usage("%s: %w", o.durations, err)
	}
	k.source = o.durations
	return k, nil
}

// learn learns from past jobs.
func learn(jobs *pastJobs) (*knowledge, error) {
	samples := jobs.samples()
	summary, err := plan.Summarize(samples)
	if errors.Is(err, plan.ErrNoSamples) {
		return nil, errorf("it has no durations of jobs that ended. Wait until some have ended, or state how long they take with --duration%s", describeLeft(jobs))
	}
	if err != nil {
		return nil, err
	}
	d, err := plan.Learn(samples)
	if err != nil {
		return nil, err
	}
	return &knowledge{distribution: d, summary: &summary, jobs: jobs.jobs, notes: jobs.notes()}, nil
}

func describeLeft(jobs *pastJobs) string {
	if notes := jobs.notes(); len(notes) > 0 {
		return ". " + strings.Join(notes, "; ")
	}
	return ""
}
