package answers

import (
	"errors"
	"fmt"
	"slices"

	"github.com/jobpoller/jobpoller/internal/commandline"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
)

// Simulated are the flags about jobs that are simulated.
type Simulated struct {
	Specs []string
	Ends  string
	// Said is what statuses mean that the catalogue does not know, as lint.ParseSaid reads it.
	Said map[string]lint.Meaning
}

// IsGiven tells whether jobs are to be simulated.
func (s *Simulated) IsGiven() bool { return len(s.Specs) > 0 }

// Plan plans the answers of the Tasks that nothing else answers.
func (s *Simulated) Plan(m *asl.StateMachine, answered []string) (*simulate.Plan, error) {
	o := s.Options(m)
	o.Answered = answered
	return s.planWith(m, o)
}

// Options are those of a machine: what its loops wait for, and what they make of answers that nobody knows.
func (s *Simulated) Options(m *asl.StateMachine) simulate.Options {
	o, say := simulate.Options{Models: models.Load}, lint.Options{Said: s.Said, Fitting: s.fitting()}
	loops := lint.Loops(m, say)
	o.Polls, o.Running = lint.Polled(loops)
	o.Told = toldBy(loops)
	o.Means = func(state, word string) pollcore.Verdict {
		return verdictOf(&lint.Row{Meaning: say.MeaningOf(state, word)})
	}
	return o
}

// toldBy is what loops make of answers whose statuses neither the catalogue nor a model knows.
func toldBy(loops []lint.Loop) map[string]*simulate.Told {
	all := map[string]*simulate.Told{}
	for i := range loops {
		l := &loops[i]
		if l.Poll == nil || !l.ByName || l.Together {
			continue
		}
		told := &simulate.Told{Status: l.Status}
		for j := range l.Rows {
			told.Values = append(told.Values, valuesOf(l, &l.Rows[j])...)
		}
		rank := func(v simulate.ToldValue) int { // what runs by its name comes before what is only polled on with
			runs := slices.ContainsFunc(l.Rows, func(r lint.Row) bool { return r.Meaning == lint.MeansRunning && slices.Contains(r.Values, v.Name) })
			switch {
			case runs:
				return 0
			case v.Any:
				return 2 //nolint:mnd // behind all others
			default:
				return 1
			}
		}
		slices.SortStableFunc(told.Values, func(a, b simulate.ToldValue) int { return rank(a) - rank(b) })
		all[l.Poll.Name] = told
	}
	return all
}

// valuesOf are those of a row of a loop's table. Any other value is one of a job that runs, or none.
func valuesOf(l *lint.Loop, row *lint.Row) []simulate.ToldValue {
	verdict := verdictOf(row)
	switch {
	case verdict == "":
		return nil
	case len(row.Values) > 0:
	case row.Ends == lint.PollsOn:
		return []simulate.ToldValue{{Name: lint.AnyOther, Any: true, Verdict: pollcore.Retry}}
	default:
		return nil
	}
	all := make([]simulate.ToldValue, len(row.Values))
	for i, name := range row.Values {
		all[i] = simulate.ToldValue{Name: name, Value: name, Verdict: verdict}
		if literal, is := l.Literals[name]; is {
			all[i].Value = literal
		}
	}
	return all
}

// verdictOf is what the values of a row say of a job; where nobody knows what they mean, where they lead. It is empty if that does
// not tell either.
func verdictOf(row *lint.Row) pollcore.Verdict {
	switch row.Meaning {
	case lint.MeansSuccess:
		return pollcore.Success
	case lint.MeansFailure:
		return pollcore.Failure
	case lint.MeansRunning, lint.MeansEnding:
		return pollcore.Retry
	case lint.MeansUnclear, lint.MeansUnknown: // where they lead tells
	}
	switch row.Ends {
	case lint.PollsOn:
		return pollcore.Retry
	case lint.EndsSuccess, lint.GoesOn, lint.NextJob:
		return pollcore.Success
	case lint.EndsFailure:
		return pollcore.Failure
	default:
		return ""
	}
}

// PlanCalls plans the answers of the calls that a driver makes, which are the Tasks of a
// machine.
func (s *Simulated) PlanCalls(m *asl.StateMachine, polls map[string]*catalog.Entry) (*simulate.Plan, error) {
	all := &Simulated{Ends: s.Ends}
	for _, text := range s.Specs {
		if spec, err := simulate.ParseSpec(text); err == nil && spec.State == "" { // others are for Tasks of the definition
			all.Specs = append(all.Specs, text)
		}
	}
	return all.planWith(m, simulate.Options{Polls: polls})
}

// Check reports what is wrong with the flags. mocks is a file that answers Tasks, too; empty
// for none.
func (s *Simulated) Check(mocks string) error {
	var problems []error
	report := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	own := len(s.Specs) > 0 // each says how its jobs end
	for _, text := range s.Specs {
		spec, err := simulate.ParseSpec(text)
		if err != nil {
			report("--simulate: %w", err)
		}
		own = own && spec.Ends != ""
	}
	switch {
	case s.Ends == "":
	case !s.IsGiven() && mocks != "":
		report("--ends is for jobs of --simulate, and %s says how its jobs end: change \"ends\" there", terminal.Quote(mocks))
	case !s.IsGiven():
		report("--ends needs --simulate: say how long jobs run, such as --simulate 12m")
	case own:
		report("--ends is for jobs whose --simulate has no status, and all have one: remove --ends")
	}
	return errors.Join(problems...)
}

// fitting are statuses that may fit the patterns of a loop: one of a job that runs, and those that jobs shall end in.
func (s *Simulated) fitting() []string {
	names := []string{simulate.RunningName}
	add := func(ends string) {
		if ends != "" && ends != string(pollcore.Success) && ends != string(pollcore.Failure) && !slices.Contains(names, ends) {
			names = append(names, ends)
		}
	}
	add(s.Ends)
	for _, text := range s.Specs {
		spec, _ := simulate.ParseSpec(text) // who reads the flags has checked it
		add(spec.Ends)
	}
	return names
}

// checkEnds reports a status for jobs of which the plan simulates none.
func (s *Simulated) checkEnds(plan *simulate.Plan, mocks []MockFile) error {
	switch {
	case s.Ends == "" || len(plan.Jobs) > 0:
		return nil
	case len(mocks) > 0:
		return fmt.Errorf("--ends %s: no job is simulated, as %s answers all: change \"ends\" there", terminal.Quote(s.Ends), terminal.Quote(mocks[0].Name))
	default:
		return fmt.Errorf("--ends %s: the machine has no job that can be simulated: if names alone do not say which statuses of its loop are a success, "+
			"a failure or still running, say so, such as --status DONE=success; else remove --ends", terminal.Quote(s.Ends))
	}
}

// warnUnsimulated names the Tasks that no simulated job answers, and says what answers them.
func (h *Hooks) warnUnsimulated(plan *simulate.Plan) {
	for _, w := range []struct {
		tasks []string
		text  string
	}{
		{plan.Endless, "%s gets the same answer each time, as what it polls ends by an error: say in --mocks when that comes"},
		{plan.Alike, "%s gets the same answer each time, as the catalogue has no job or waiter that polls its operation: say in --mocks what it returns"},
		{plan.Untimed, "%s asks about a job that the machine neither starts nor polls: its answers say that the job has ended, whatever time you pass; " +
			"start the job in the machine, or say in --mocks what it answers"},
	} {
		for _, name := range w.tasks {
			h.Warn(fmt.Sprintf("--simulate: "+w.text, terminal.Quote(name)))
		}
	}
}

func (s *Simulated) planWith(m *asl.StateMachine, o simulate.Options) (*simulate.Plan, error) {
	o.Ends, o.Times, o.Models = s.Ends, true, models.Load
	var problems []error
	for _, text := range s.Specs {
		spec, err := simulate.ParseSpec(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("--simulate: %w", err))
		}
		o.Specs = append(o.Specs, spec)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, commandline.Errorf("%w", err)
	}
	plan, err := simulate.New(m, o)
	if err != nil {
		return nil, commandline.Errorf("--simulate: %w", err)
	}
	return plan, nil
}

// states are those of the jobs that are simulated by the name of a state.
func (s *Simulated) states(m *asl.StateMachine) ([]string, error) {
	o := s.Options(m)
	for _, text := range s.Specs {
		if spec, err := simulate.ParseSpec(text); err == nil && spec.State != "" { // plan says what is wrong
			o.Specs = append(o.Specs, spec)
		}
	}
	if len(o.Specs) == 0 {
		return nil, nil
	}
	return simulate.StatesOf(m, o)
}

// only are the simulated jobs of a machine: a spec of a state is for machines that have
// one of its name.
func (s *Simulated) only(m *asl.StateMachine) *Simulated {
	states := map[string]bool{}
	for state := range m.All {
		states[state.Name] = true
	}
	own := &Simulated{Ends: s.Ends, Said: s.Said}
	for _, text := range s.Specs {
		if state := specState(text); state == "" || states[state] {
			own.Specs = append(own.Specs, text)
		}
	}
	return own
}

// specState is the state that a spec of --simulate names, if it does.
func specState(text string) string {
	spec, _ := simulate.ParseSpec(text) // who reads the flags has checked it
	return spec.State
}
