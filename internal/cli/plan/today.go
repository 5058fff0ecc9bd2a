package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/shell"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/plan"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// planSubject is what is planned for: a job, a loop of a definition, or nothing that is
// known. Without a name nothing is.
type planSubject struct {
	name  string
	entry *catalog.Entry // nil if it is not known
	// schedule is today's; nil if it is not known.
	schedule *pollcore.Planned
	// steps are those of today's loop; nil where the machine is not there yet.
	steps *loopSteps
	// trial runs the machine, first is its first run, and measured what longer ones
	// showed; nil where there is none.
	trial    *loopTrial
	first    *pollTrial
	measured *measuredLoop
	notes    []string
	// What quotas the machine needs besides: its other calls, those of its poll as an
	// HTTP Task, and those of a distributed Map around the loop.
	calls          []serviceCall
	http, inMapRun bool
}

// today finds out when a job is polled today: as the definition says, or else as the
// waiter does.
func (o *planOptions) today(c *cobra.Command, args []string) (*planSubject, error) {
	if len(args) == 1 && isService(args[0]) {
		return nil, kit.Usage("%s is a service: name a job, too. List them: jobpoller list %[1]s", args[0])
	}
	isDefinition := len(args) == 1 && namesDefinition(args[0])
	switch {
	case o.only != "" && !isDefinition && o.executions.arn == "" && o.durations == "":
		return nil, kit.Usage("--only needs a definition, --from-executions or --durations: these name the Tasks that poll")
	case len(args) == 0 && o.executions.arn != "":
		return o.describeLoop(c)
	case o.input != "" && !isDefinition:
		return nil, kit.Usage("--input needs a definition: it is the input of its run")
	case len(args) == 0:
		return &planSubject{}, nil
	case isDefinition:
		return o.loop(c, args[0])
	}
	e, err := kit.Lookup(args)
	if err != nil {
		return nil, err
	}
	s := waiterDelays(e.Waiter)
	return &planSubject{name: e.FullName(), entry: e, schedule: &s}, nil
}

// isService tells whether an argument that is no file is a service of the catalogue.
func isService(name string) bool {
	_, err := os.Stat(name)
	if err == nil {
		return false
	}
	_, err = catalog.AWS().Find(name)
	return err == nil
}

// quoteAll writes names as a shell reads them.
func quoteAll(names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = shell.Quote(name)
	}
	return all
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

// deployed says which AWS has the definition that an ARN names. --region is that of prices.
func (o *planOptions) deployed() *kit.AwsFlags {
	flags := o.aws
	flags.Region = ""
	return &flags
}

// loop reads the poll loop of a definition.
func (o *planOptions) loop(c *cobra.Command, name string) (*planSubject, error) {
	m, err := kit.ReadMachine(c.Context(), name, c.InOrStdin(), o.substitutes, o.deployed())
	if err != nil {
		return nil, err
	}
	s, err := o.findLoop(c, name, m)
	if none, ok := errors.AsType[*noLoopError](err); ok {
		err = kit.Usage("%s: it %w", name, none)
		if errors.Is(none, errPollsNothing) {
			err = kit.Usage("%s: it %w. Pass a definition that polls, or the service and name of a job", name, none)
			if unknown := sayUnknown(m.StateMachine, o.said); unknown != "" {
				err = kit.Usage("%s: plan cannot simulate what its loop polls: %s. Pass the service and name of a job, or the durations alone", name, unknown)
			}
		}
	}
	return s, err
}

// sayUnknown says what a loop polls that the catalogue does not know; empty if there is none.
func sayUnknown(m *asl.StateMachine, said map[string]lint.Meaning) string {
	for _, l := range lint.Loops(m, lint.Options{Said: said}) {
		if l.Poll == nil && l.Unjudged != "" {
			what, _, _ := strings.Cut(l.Unjudged, "; ") // the rest is advice for the loop
			return what
		}
	}
	return ""
}

// noLoopError says that a machine polls nothing.
type noLoopError struct{ why error }

func (e *noLoopError) Error() string {
	return "has no poll loop: " + e.why.Error()
}

func (e *noLoopError) Unwrap() error { return e.why }

// findLoop finds the poll loop of a state machine. Its error is a noLoopError if it has
// none.
func (o *planOptions) findLoop(c *cobra.Command, name string, m *source.Machine) (*planSubject, error) {
	if err := kit.WarnUnusedStatusesOf(c, m.StateMachine, m.Definition.Type == asl.Express, o.said); err != nil {
		return nil, err
	}
	var err error
	if o.said, err = kit.SaidOf(m.Definition.File, o.said); err != nil {
		return nil, err
	}
	t := &loopTrial{machine: m, said: o.said}
	if o.input != "" {
		if t.input, err = kit.ReadInput(o.input, c.InOrStdin()); err != nil {
			return nil, err
		}
		if !json.Valid(t.input) {
			return nil, kit.Usage("--input is not JSON: %s", terminal.Excerpt(string(t.input)))
		}
	}
	loops := loopsOf(m, o.said)
	var names []string
	for _, l := range loops {
		names = append(names, l.Poll.Name)
	}
	if o.only != "" {
		loops = slices.DeleteFunc(loops, func(l lint.Loop) bool { return l.Poll.Name != o.only })
	}
	switch {
	case len(names) == 0:
		return t.findSubject(c.Context(), o.only)
	case len(loops) == 0:
		return nil, kit.Usage("%s: no loop polls with the Task %q: --only takes %s", name, o.only, kit.OrList(quoteAll(names)))
	case len(loops) > 1:
		return nil, kit.Usage("%s: it has %s: pass --only %s", name, kit.Plural(len(loops), "poll loop"), kit.OrList(quoteAll(names)))
	}
	s := newLoopSubject(&loops[0])
	s.trial, t.polls, t.entry = t, loops[0].Poll.Name, loops[0].Entry
	s.readCalls(m.StateMachine, t.polls)
	return s, nil
}

// newLoopSubject says what the definition says of a loop.
func newLoopSubject(l *lint.Loop) *planSubject {
	s := &planSubject{name: strings.Join([]string{l.Poll.Name, "polls", l.Operation}, " "), entry: l.Entry}
	if l.Turn.Wait < time.Second {
		return s
	}
	s.schedule = &pollcore.Planned{Delays: []time.Duration{l.Turn.Wait}, Then: l.Turn.Wait}
	s.steps = &loopSteps{transitions: float64(l.Turn.Transitions), events: float64(l.Turn.Events)}
	s.steps.besides.transitions, s.steps.besides.events = 1, 5 // the start of the execution and its end
	return s
}

// findSubject finds what a machine polls that has no loop of states, such as one whose
// Retry is the loop, by a run.
func (t *loopTrial) findSubject(ctx context.Context, only string) (*planSubject, error) {
	t.polls = only
	first, err := t.findInput(ctx)
	if err != nil {
		return nil, &noLoopError{err}
	}
	t.polls, t.entry = first.job.State, first.job.Entry
	s := &planSubject{name: strings.Join([]string{t.polls, "polls", first.job.Operation}, " "), entry: t.entry, trial: t, first: first}
	s.readCalls(t.machine.StateMachine, t.polls)
	return s, nil
}

// run runs today's machine on jobs of such durations. Where that cannot be, today's
// schedule is what the definition says, and a note says why.
func (s *planSubject) run(ctx context.Context, known *knowledge) error {
	if s.trial == nil {
		return nil
	}
	err := s.measure(ctx, known.distribution)
	if ctx.Err() != nil {
		return kit.WithCode(kit.ExitInterrupted, errors.New("interrupted"))
	}
	switch {
	case err == nil:
		s.notes = append(s.notes, s.measured.notes(s.trial, known.recorded)...)
	case s.schedule != nil:
		s.notes = append(s.notes, "today's row is by the Wait states of the definition alone: "+err.Error())
	default:
		s.notes = append(s.notes, "today's schedule is not shown: "+err.Error())
	}
	return nil
}

func (s *planSubject) measure(ctx context.Context, d plan.Distribution) (err error) {
	if s.first == nil {
		if s.first, err = s.trial.findInput(ctx); err != nil {
			return err
		}
	}
	measured, err := s.trial.measure(ctx, s.first, d)
	if err != nil {
		return err
	}
	schedule := measured.schedule()
	s.measured, s.schedule, s.steps = measured, &schedule, &measured.steps
	return nil
}

// delays are those of today's schedule: of its runs, or as the definition says.
func (s *planSubject) delays() []iter.Seq[time.Duration] {
	if s.measured != nil {
		return s.measured.delays()
	}
	return []iter.Seq[time.Duration]{delaysOf(*s.schedule)}
}

// mostShare is the share above which it is all, with one digit of its percents.
const mostShare = 0.9995

// shareOfJobs writes a share of the jobs in percent.
func shareOfJobs(share float64) string {
	if share >= mostShare {
		return "all jobs"
	}
	return fmt.Sprintf("%.1f %% of the jobs", 100*share) //nolint:mnd // percent
}

// notes say what the runs of today's machine depend on.
func (m *measuredLoop) notes(t *loopTrial, d plan.Distribution) []string {
	var notes []string
	if len(t.guessed) > 0 {
		notes = append(notes, "in the run of today's machine the answers of these Tasks are drawn: "+strings.Join(t.guessed, ", "))
	}
	if missed := 1 - d.Below(m.gaveUp); m.gaveUp > 0 && missed > 1-mostShare {
		text := "today's loop polls for " + wholeText(m.gaveUp.Seconds()) + " at most"
		if missed >= mostShare {
			text += ", and all jobs run longer"
		} else {
			text += fmt.Sprintf(": %s run longer, and its lateness is that of the others", shareOfJobs(missed))
		}
		if m.why != "" {
			text += ". It ends with " + strings.TrimPrefix(m.why, ": ")
		}
		notes = append(notes, text)
	}
	return notes
}
