package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim/simulate"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// simulated are the flags about jobs that are simulated.
type simulated struct {
	specs []string
	ends  string
}

// specHelp is the grammar of --simulate.
const specHelp = `[STATE=]TIME[:STATUS][,throttle=SHARE]. TIME is 12m, or drawn for each
job: uniform(5m,30m), exp(10m) with the mean, or lognormal(15m,0.5) with the
median and the deviation of the logarithm. STATUS is what the job ends in; without
it the job succeeds. SHARE, such as 5%, is the share of throttled describe calls.
STATE is the Task that starts the job, or that describes it where none does;
without STATE the spec is for all other jobs.`

func (s *simulated) addTo(f *pflag.FlagSet) {
	f.StringArrayVar(&s.specs, "simulate", nil, "`SPEC` of simulated jobs, such as 12m or Import=40m:FAILED; repeatable")
	f.StringVar(&s.ends, "ends", "", "`STATUS` that simulated jobs end in, or success or failure")
}

// isGiven tells whether jobs are to be simulated.
func (s *simulated) isGiven() bool { return len(s.specs) > 0 }

// plan plans the answers of the Tasks that nothing else answers.
func (s *simulated) plan(m *asl.StateMachine, answered []string) (*simulate.Plan, error) {
	return s.planWith(m, simulate.Options{Answered: answered})
}

// planCalls plans the answers of the calls that a driver makes, which are the Tasks of a
// machine.
func (s *simulated) planCalls(m *asl.StateMachine, polls map[string]*catalog.Entry) (*simulate.Plan, error) {
	all := &simulated{ends: s.ends}
	for _, text := range s.specs {
		if spec, err := simulate.ParseSpec(text); err == nil && spec.State == "" { // others are for Tasks of the definition
			all.specs = append(all.specs, text)
		}
	}
	return all.planWith(m, simulate.Options{Polls: polls})
}

func (s *simulated) planWith(m *asl.StateMachine, o simulate.Options) (*simulate.Plan, error) {
	o.Ends, o.Times, o.Models = s.ends, true, models.Load
	var problems []error
	for _, text := range s.specs {
		spec, err := simulate.ParseSpec(text)
		if err != nil {
			problems = append(problems, fmt.Errorf("--simulate: %w", err))
		}
		o.Specs = append(o.Specs, spec)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, usage("%w", err)
	}
	plan, err := simulate.New(m, o)
	if err != nil {
		return nil, usage("--simulate: %w", err)
	}
	return plan, nil
}

// states are those of the jobs that are simulated by the name of a state.
func (s *simulated) states(m *asl.StateMachine) ([]string, error) {
	o := simulate.Options{Models: models.Load}
	for _, text := range s.specs {
		if spec, err := simulate.ParseSpec(text); err == nil && spec.State != "" { // plan says what is wrong
			o.Specs = append(o.Specs, spec)
		}
	}
	if len(o.Specs) == 0 {
		return nil, nil
	}
	return simulate.StatesOf(m, o)
}

// unknown is the error of a plan with Tasks that have to be told.
func (o *runOptions) unknown(m *source.Machine, p *simulate.Plan) error {
	if len(p.Unknown) == 0 {
		return nil
	}
	var b strings.Builder
	for _, t := range p.Unknown {
		at := m.Definition.LocatePosition(t.Position)
		terminal.Fprintf(&b, "%s:%d:%d: nothing tells the Task %q %s\n", m.Definition.File, at.Line, at.Column, t.State, t.What)
	}
	if o.mocks != "" {
		return usage("%sAdd mocks of %s to %s", terminal.Lines(b.String()), plural(len(p.Unknown), "Task"), o.mocks)
	}
	again := terminal.Lines("")
	if o.virtual {
		again += " --virtual"
	}
	if o.input != "" {
		again += terminal.Lines(" --input " + quoteWord(o.input))
	}
	definition, file := quoteWord(m.Definition.Name), executionOf(m.Definition.Title())+".mocks.json"
	return usage("%sWrite a file of mocks, fill in %s, and run it:\n  jobpoller mocks init %s%s -o %s\n  jobpoller run %s --mocks %s%s",
		terminal.Lines(b.String()), plural(len(p.Unknown), "Task"), definition, terminal.Lines(o.simulated.flags()), file, definition, file, again)
}

// flags are the flags as they were given.
func (s *simulated) flags() string {
	var b strings.Builder
	for _, spec := range s.specs {
		b.WriteString(" --simulate " + quoteWord(spec))
	}
	if s.ends != "" {
		b.WriteString(" --ends " + quoteWord(s.ends))
	}
	return b.String()
}

// quoteWord is a word for a shell.
func quoteWord(word string) string {
	if !strings.ContainsAny(word, " \t\n'\"\\$&|;<>()*?[]#~`!{}") {
		return terminal.Quote(word)
	}
	return terminal.Quote("'" + strings.ReplaceAll(word, "'", `'\''`) + "'")
}
