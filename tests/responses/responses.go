// Package responses makes calls of describe operations for tests of the
// catalogue: calls that reach each acceptor of a waiter, calls that reach none,
// and random ones, all from the shapes of the operation. It judges them by a
// second implementation of the specification, which shares no code with
// pollcore: paths are read by the JMESPath community's library.
package responses

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Case is one call of a describe operation. Input and Output are JSON values
// with the model's member names.
type Case struct {
	Name          string
	Input, Output any
	Err           error
}

// Maker makes cases for one entry of the catalogue.
type Maker struct {
	*Judge

	entry   *catalog.Entry
	names   map[string]bool // that the paths have
	words   []string        // that the paths or acceptors compare with
	numbers []float64       // that they compare with, and their neighbours
	inputs  bool            // an acceptor reads the input
}

// tries is how many responses are made to find one that reaches an acceptor.
const tries = 5000

// unknown is a string that is not a value of an enum.
const unknown = "VALUE-OF-TOMORROW"

var (
	rawString  = regexp.MustCompile(`'([^']*)'`)
	literal    = regexp.MustCompile("`([^`]*)`")
	identifier = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
)

// NewMaker prepares the making of cases for an entry.
func NewMaker(e *catalog.Entry) (*Maker, error) {
	judge, err := NewJudge(e.Waiter, e.Operation)
	if err != nil {
		return nil, err
	}
	m := &Maker{Judge: judge, entry: e, names: map[string]bool{}}
	for _, a := range e.Waiter.Acceptors {
		if p := either(a.Matcher); p != nil {
			m.inputs = m.inputs || a.Matcher.InputOutput != nil
			m.read(p.Path)
			if p.Comparator != pollcore.BooleanEquals {
				m.words = append(m.words, p.Expected)
			}
		}
		m.read(a.Message)
	}
	slices.Sort(m.words)
	m.words = slices.Compact(m.words)
	return m, nil
}

// words are the raw strings of a path.
func words(path string) []string {
	var all []string
	for _, found := range rawString.FindAllStringSubmatch(path, -1) {
		all = append(all, found[1])
	}
	return all
}

// Reach returns a call that the acceptor of that index is the first to match,
// or with [pollcore.NoAcceptor] a response that none matches.
func (m *Maker) Reach(acceptor int) (Case, bool) {
	purpose := "a response that reaches no acceptor"
	var focus []string
	if acceptor != pollcore.NoAcceptor {
		purpose = fmt.Sprintf("a call that reaches acceptor %d", acceptor+1)
		if p := either(m.entry.Waiter.Acceptors[acceptor].Matcher); p != nil && p.Comparator != pollcore.BooleanEquals {
			focus = []string{p.Expected}
		} else if p != nil {
			focus = words(p.Path)
		}
		for _, c := range m.Errors() {
			if want, err := m.Verdict(c); err == nil && want.Acceptor == acceptor {
				c.Name = purpose
				return c, true
			}
		}
	}
	return m.find(purpose, focus, func(c Case) bool {
		want, err := m.Verdict(c)
		return err == nil && want.Acceptor == acceptor
	})
}

// Values returns a call for each value of each enum that a path of dots and
// projections reads, in which all that it reads has the value, and one for a
// value that no enum has.
func (m *Maker) Values() []Case {
	var cases []Case
	seen := map[string]bool{}
	for i, a := range m.entry.Waiter.Acceptors {
		p := a.Matcher.Output
		if p == nil || seen[p.Path] {
			continue
		}
		seen[p.Path] = true
		for _, value := range enum(m.entry.Operation.Output, p.Path) {
			c, found := m.find(fmt.Sprintf("%s of %s", value, p.Path), []string{value}, func(c Case) bool {
				got, err := m.search(i, c)
				list, isList := got.([]any)
				return err == nil && (got == value ||
					isList && len(list) > 0 && !slices.ContainsFunc(list, func(item any) bool { return item != value }))
			})
			if found {
				cases = append(cases, c)
			}
		}
	}
	return cases
}

// enum is the enum that a path ends in, and an unknown value; nil if the path
// is not of names and flattenings, or ends in none.
func enum(s *catalog.Shape, path string) []string {
	for name := range strings.SplitSeq(path, ".") {
		name = strings.TrimSuffix(name, "[]")
		member := s.Member(name)
		if member == nil {
			return nil
		}
		s = member.Shape
		for s.Type == catalog.List {
			s = s.Element.Shape
		}
	}
	if len(s.Enum) == 0 {
		return nil
	}
	return append(slices.Clone(s.Enum), unknown)
}

// Errors returns calls that fail: with the error of each acceptor, by its
// shape's name and by its code, in the forms of the protocols; with each error
// that the operation declares; and with one that nobody knows.
func (m *Maker) Errors() []Case {
	var names []string
	for _, a := range m.entry.Waiter.Acceptors {
		if a.Matcher.ErrorType != nil {
			names = append(names, *a.Matcher.ErrorType)
		}
	}
	for _, e := range m.entry.Operation.Errors {
		names = append(names, e.Shape, e.Code)
	}
	var cases []Case
	seen := map[string]bool{"": true}
	for _, name := range append(names, "ErrorOfTomorrow") {
		if seen[name] {
			continue
		}
		seen[name] = true
		plain := &smithy.GenericAPIError{Code: name}
		cases = append(cases,
			Case{Name: "error " + name, Err: plain},
			Case{Name: "error " + name + " with a namespace", Err: &smithy.GenericAPIError{Code: "com.amazonaws.any#" + name}},
			Case{Name: "error " + name + " with an address", Err: &smithy.GenericAPIError{Code: name + ":http://internal.example.com/any/"}},
			Case{Name: "error " + name + " within another", Err: &smithy.OperationError{ServiceID: m.entry.Service.Name, Err: plain}},
		)
	}
	return cases
}

// Random returns n random calls that return a response: of all members, with
// values that an enum does not have, nulls, empty lists and members left out.
func (m *Maker) Random(n int, seed uint64) []Case {
	g := &generator{random: rand.New(rand.NewPCG(m.random("random").Uint64(), seed)), maker: m, wild: true} //nolint:gosec // for data, not for secrets
	cases := make([]Case, n)
	for i := range cases {
		cases[i] = Case{Name: fmt.Sprintf("random call %d", i+1), Input: g.input(), Output: g.output()}
	}
	return cases
}

// Basics are calls that every waiter is asked about: with no output at all, and
// with an empty one.
func (m *Maker) Basics() []Case {
	return []Case{{Name: "no output"}, {Name: "an empty output", Output: map[string]any{}}}
}

// read notes the names and literals of a path.
func (m *Maker) read(path string) {
	m.words = append(m.words, words(path)...)
	for _, found := range literal.FindAllStringSubmatch(path, -1) {
		var v any
		if json.Unmarshal([]byte(found[1]), &v) == nil {
			if number, ok := v.(float64); ok {
				m.numbers = append(m.numbers, number-1, number, number+1)
			}
		}
	}
	path = literal.ReplaceAllString(rawString.ReplaceAllString(path, ""), "")
	for _, name := range identifier.FindAllString(path, -1) {
		m.names[name] = true
	}
}

// random is a source of its own for each purpose, the same in every run.
func (m *Maker) random(purpose string) *rand.Rand {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s %s %s", m.entry.Service.Key, m.entry.Name, purpose) // a hash takes everything
	return rand.New(rand.NewPCG(h.Sum64(), 0))                                    //nolint:gosec // for data, not for secrets
}

// find makes calls that return a response until one fits.
func (m *Maker) find(purpose string, focus []string, fits func(Case) bool) (Case, bool) {
	g := &generator{random: m.random(purpose), maker: m, focus: focus}
	for range tries {
		c := Case{Name: purpose, Output: g.output()}
		if m.inputs {
			c.Input = g.input()
		}
		if fits(c) {
			return c, true
		}
	}
	return Case{}, false
}
