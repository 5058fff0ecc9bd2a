package cli

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
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
	case len(args) == 0 && o.executions.arn != "":
		return o.describeLoop(c)
	case len(args) == 0 && o.only != "":
		return nil, usage("--only needs a definition")
	case len(args) == 0:
		return &planSubject{}, nil
	case len(args) == 1 && isFile(args[0]):
		return o.loop(c, args[0])
	case o.only != "" && o.executions.arn == "":
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
	s, err := o.findLoop(name, m.StateMachine, m.definition.Type)
	if err == nil && s == nil {
		err = usage("%s: it has no poll loop: pass a definition that polls, or the service and name of a job", name)
	}
	return s, err
}

// findLoop finds the poll loop of a state machine; nil if it has none.
func (o *planOptions) findLoop(name string, m *asl.StateMachine, as asl.ExecutionType) (*planSubject, error) {
	loops := lint.Loops(m, lint.Options{Express: as == asl.Express})
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
		return nil, nil //nolint:nilnil // as said
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
