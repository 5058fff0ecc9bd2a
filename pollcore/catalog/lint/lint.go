// Package lint finds mistakes in waiters. Some are invalid: a path that the
// operation's output does not have. Others are valid and yet go wrong: no acceptor
// takes a failure, so it is polled until the deadline, or long delays show a
// finished job hours late.
//
// [Waiter] checks one waiter against the operation that it polls, [File] the
// waiters of a text with their places in it, [Catalog] all of a catalogue.
// Nothing is random and nothing is read: the same waiter gives the same
// findings.
package lint

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// The rules. docs/reference/waiter-lint.md has the reason, an example and the remedy of
// each.
const (
	Format         = "format"
	Path           = "path"
	Comparator     = "comparator"
	EnumValue      = "enum-value"
	Unclassified   = "unclassified"
	NoFailure      = "no-failure"
	Never          = "never"
	Duplicate      = "duplicate"
	Quantifier     = "quantifier"
	EmptyList      = "empty-list"
	Late           = "late"
	UnmodeledError = "unmodeled-error"
	StatusString   = "status-string"
	PollsWrite     = "polls-write"
	Implicit       = "implicit"
	Name           = "name"
	Unchecked      = "unchecked"
)

// Rule is a rule and what it is about.
type Rule struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

// Rules returns all rules.
func Rules() []Rule {
	return []Rule{
		{Format, "a form that no program can read: an unknown state, a missing member"},
		{Path, "a path that the operation's output does not have, or that can never give a value"},
		{Comparator, "a comparator that the type of its path can never satisfy"},
		{EnumValue, "an expected value that the model does not know"},
		{Unclassified, "values of a status that no acceptor classifies, those that look like an end first"},
		{NoFailure, "a waiter that no response can make fail"},
		{Never, "an acceptor that can never match"},
		{Duplicate, "an acceptor that repeats an earlier one"},
		{Quantifier, "a failure that needs all items where one is enough, or a success that needs one where all are meant"},
		{EmptyList, "a success of all items, which never matches an empty list"},
		{Late, "delays that notice the end of a job late, and how late"},
		{UnmodeledError, "an error that the model does not declare for the operation"},
		{StatusString, "an HTTP status compared with a string"},
		{PollsWrite, "an operation that changes something each time it is called"},
		{Implicit, "an acceptor for something that happens anyway"},
		{Name, "a waiter that is not named after a resource and its state"},
		{Unchecked, "what could not be checked, and why"},
	}
}

// Finding is a place where a rule does not hold. Its JSON members are a
// contract: see docs/reference/json.md.
type Finding struct {
	// Problem says where and what. Its Pointer leads from the waiter, or in a
	// text from the text's root; its Line and Column are those of the text, or
	// of a waiter without one those in the path.
	diag.Problem

	Rule string
	// Waiter is the waiter's name.
	Waiter string
	// Acceptor is the index of the acceptor, or [pollcore.NoAcceptor].
	Acceptor int
	// Values are those that an [Unclassified] finding is about.
	Values []Value
	// Lateness has the figures of a [Late] finding.
	Lateness *Lateness
}

// Value is a value of a status.
type Value struct {
	Value string `json:"value"`
	// Verdict is what the value seems to say: success or failure of a job that
	// has ended, or retry, of one that has not or that nobody can tell.
	Verdict pollcore.Verdict `json:"verdict"`
	// Known tells that the catalogue's table of jobs says so. Otherwise the
	// value's name does.
	Known bool `json:"known,omitempty"`
}

// MarshalJSON writes the members of the problem and the others.
func (f Finding) MarshalJSON() ([]byte, error) {
	out := struct {
		diag.Problem

		Rule     string    `json:"rule"`
		Waiter   string    `json:"waiter,omitempty"`
		Acceptor *int      `json:"acceptor,omitempty"`
		Values   []Value   `json:"values,omitempty"`
		Lateness *Lateness `json:"lateness,omitempty"`
	}{Problem: f.Problem, Rule: f.Rule, Waiter: f.Waiter, Values: f.Values, Lateness: f.Lateness}
	if f.Acceptor != pollcore.NoAcceptor {
		out.Acceptor = new(f.Acceptor + 1) // people and messages count from 1
	}
	return json.Marshal(out)
}

// DefaultJob is how long the job runs whose end [Late] looks for, if nothing
// else is said.
const DefaultJob = time.Hour

// Options are what is checked.
type Options struct {
	// Only are the rules to check, all if there are none; Off are those not to.
	// What is not a waiter at all, rule [Format], is reported always.
	Only, Off []string
	// Job is how long the waiter's job runs; see [DefaultJob].
	Job time.Duration
	// Spelling is how input and output spell the members of the model, where
	// it is not as the model does.
	Spelling func(member string) string
}

func (o Options) checks(rule string) bool {
	return rule == Format || !slices.Contains(o.Off, rule) && (len(o.Only) == 0 || slices.Contains(o.Only, rule))
}

// Waiter returns what the rules find in a waiter that polls the operation:
// what is most severe first, then in the order of the waiter. Without an
// operation the waiter is checked by itself.
func Waiter(w *pollcore.Waiter, op *catalog.Operation, o Options) []Finding {
	findings := check(w, op, o)
	order(findings)
	return findings
}

// order puts what is most severe first. Findings of the same severity stay in
// the order of the waiter, whatever rule they are of.
func order(findings []Finding) {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(place(a), place(b)), cmp.Compare(rank(a.Rule), rank(b.Rule)))
	})
}

// place is where in a waiter a finding stands: at the waiter itself before its
// acceptors.
func place(f Finding) int { return f.Acceptor }

func rank(rule string) int {
	return slices.IndexFunc(Rules(), func(r Rule) bool { return r.Name == rule })
}

// checker collects the findings of one waiter.
type checker struct {
	waiter    *pollcore.Waiter
	operation *catalog.Operation // or nil
	options   Options
	in, out   *jsontype.Type // nil if not known
	readings  map[int]pollcore.Reading
	probes    []*probe // by acceptor; nil without a path that can be evaluated
	findings  []Finding
}

func check(w *pollcore.Waiter, op *catalog.Operation, o Options) []Finding {
	if w == nil {
		return []Finding{{
			Problem: diag.Problem{Message: "no waiter to check: it is nil"}, Rule: Format, Acceptor: pollcore.NoAcceptor,
		}}
	}
	c := &checker{waiter: w, operation: op, options: o, readings: map[int]pollcore.Reading{}}
	if op != nil {
		c.in, c.out = spell(op.Input, o.Spelling), spell(op.Output, o.Spelling)
	}
	for _, r := range pollcore.Readings(w, c.in, c.out) {
		c.readings[r.Acceptor] = r
	}
	if c.analyze(); len(c.findings) == 0 || c.findings[0].Rule != Format {
		c.probes = c.newProbes()
		c.values()
		c.reach()
		c.failures()
		c.quantifiers()
	}
	c.late()
	c.errorTypes()
	c.implicit()
	c.checkOperation()
	c.name()
	return c.findings
}

// report adds a finding at a place of the waiter.
func (c *checker) report(rule string, s diag.Severity, pointer, message string) *Finding {
	return c.add(rule, diag.Problem{Severity: s, Pointer: pointer, Message: message})
}

func (c *checker) add(rule string, p diag.Problem) *Finding {
	f := Finding{Problem: p, Rule: rule, Waiter: c.waiter.Name, Acceptor: acceptorOf(p.Pointer)}
	if !c.options.checks(rule) {
		return &f
	}
	c.findings = append(c.findings, f)
	return &c.findings[len(c.findings)-1]
}

// at is the pointer of an acceptor, or of a part of it.
func at(acceptor int, part string) string { return "/acceptors/" + strconv.Itoa(acceptor) + part }

// pathOf is the path matcher of an acceptor and its pointer, or nil.
func pathOf(a pollcore.Acceptor) (m *pollcore.PathMatcher, pointer string) {
	if a.Matcher.Output != nil {
		return a.Matcher.Output, "/matcher/output"
	}
	return a.Matcher.InputOutput, "/matcher/inputOutput"
}
