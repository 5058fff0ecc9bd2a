package lint

import (
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// checker finds what the rules say of a machine.
type checker struct {
	machine   *asl.StateMachine
	types     *typecheck.Checker
	complete  bool // the types have whole models, and not those of the catalogue
	off, only []string
	// perTransition is the price of a transition.
	perTransition float64
	findings      []Finding
	tables        []Loop
	started       map[asl.Resource]*catalog.Entry // see startedBy
	operations    operations
	called        map[string][]*asl.State // see tasks
	ways          map[*asl.Flow]*ways
	outsides      map[*asl.Flow]outside            // of flows inside of states
	timers        map[*asl.Flow]*timer             // see timerOf
	fates         map[*asl.Flow]*fate              // see fateOf
	leads         map[leadsKind]*leads             // see leadsOf
	successes     map[*asl.Flow]bool               // see maySucceed
	text          string                           // see mentions
	mentioned     map[string]bool                  // words that were asked for, and whether text has them
	texts         map[string]bool                  // between quotes in text; see mentionsMisspelt
	tagged        *typecheck.Checker               // see taggedTypes
	askers        map[*asl.Flow]map[string][]asker // see askersOf
	ahead         ahead                            // of the last poll; see statesBefore
	timed         map[int]*typecheck.Checker       // see startedIn
	said          map[string]Meaning
	fitting       []string
	demands       *typecheck.Demands // see askedBy
}

func newChecker(m *asl.StateMachine, o Options) *checker {
	types := o.Types
	if types == nil {
		var err error
		if types, err = typecheck.New(m, typecheck.Options{Models: catalog.AWS().Service}); err != nil {
			panic("lint: the catalogue: " + err.Error()) // which is embedded
		}
	}
	return &checker{
		machine: m, types: types, complete: o.Types != nil, off: o.Off, only: o.Only, perTransition: perTransition(o.Region),
		said: o.Said, fitting: o.Fitting, started: map[asl.Resource]*catalog.Entry{},
		operations: operations{known: map[string]*polled{}, calls: map[string]string{}}, ways: map[*asl.Flow]*ways{}, outsides: map[*asl.Flow]outside{},
		timers: map[*asl.Flow]*timer{}, timed: map[int]*typecheck.Checker{}, fates: map[*asl.Flow]*fate{},
		leads: map[leadsKind]*leads{}, askers: map[*asl.Flow]map[string][]asker{}, successes: map[*asl.Flow]bool{},
	}
}

// isLookedAt tells whether the loop of a state is.
func (c *checker) isLookedAt(s *asl.State) bool {
	return c.only == nil || slices.Contains(c.only, s.Name)
}

// report adds a WARNING at a field of a state, or at the state itself.
func (c *checker) report(rule string, s *asl.State, field, format string, args ...any) {
	c.reportAs(diag.Warning, rule, s, field, format, args...)
}

// reportAs adds a finding of a severity.
func (c *checker) reportAs(severity diag.Severity, rule string, s *asl.State, field, format string, args ...any) {
	c.reportStatuses(nil, severity, rule, s, field, format, args...)
}

// reportStatuses adds a finding about statuses.
func (c *checker) reportStatuses(values []string, severity diag.Severity, rule string, s *asl.State, field, format string, args ...any) {
	if slices.Contains(c.off, rule) {
		return
	}
	p := c.machine.Problem(s.Position.Pointer+field, format, args...)
	p.Severity = severity
	c.findings = append(c.findings, Finding{Problem: p, Rule: rule, Subjects: values})
}

// mentions tells whether the definition has a word.
func (c *checker) mentions(word string) bool {
	if c.text == "" {
		c.text, c.mentioned = string(asl.Print(c.machine)), map[string]bool{}
	}
	has, asked := c.mentioned[word]
	if !asked {
		has = strings.Contains(c.text, word)
		c.mentioned[word] = has
	}
	return has
}

// outsideOf is what follows the flow; enterFlow has noted it for those inside of a state.
func (c *checker) outsideOf(f *asl.Flow) outside {
	if o, inner := c.outsides[f]; inner {
		return o
	}
	return outside{quiet: true}
}
