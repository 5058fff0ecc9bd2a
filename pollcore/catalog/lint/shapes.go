package lint

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// spell describes a shape whose members are spelled another way. The input and
// output of an operation that is known are structures, perhaps empty.
func spell(s *catalog.Shape, spelling func(string) string) *jsontype.Type {
	if spelling == nil {
		return s.Describe()
	}
	return s.Describe().Respell(spelling)
}

// acceptorOf is the acceptor that a pointer leads into.
func acceptorOf(pointer string) int {
	steps := strings.SplitN(pointer, "/", 4)
	if len(steps) < 3 || steps[1] != "acceptors" {
		return pollcore.NoAcceptor
	}
	i, err := strconv.Atoi(steps[2])
	if err != nil {
		return pollcore.NoAcceptor
	}
	return i
}

// analyze reports what the waiter engine finds: the form of the waiter, its
// paths and comparators against the shapes. Values outside enums and
// acceptors that nothing reaches are worked out by rules of their own.
func (c *checker) analyze() {
	invalid, _ := errors.AsType[diag.Problems](c.waiter.Validate())
	for _, p := range invalid {
		c.add(Format, p)
	}
	// The problems of Validate come first.
	for _, p := range pollcore.AnalyzeTypes(c.waiter, c.in, c.out)[len(invalid):] {
		switch i := acceptorOf(p.Pointer); {
		case p.Pointer == at(i, ""):
		case strings.HasSuffix(p.Pointer, "/expected"):
		case strings.HasSuffix(p.Pointer, "/comparator"):
			c.add(Comparator, p)
		case c.atLiteral(p):
			c.add(EnumValue, p)
		default:
			p.Message += c.elsewhere(p)
			c.add(Path, p)
		}
	}
}

var firstName = regexp.MustCompile(`^[A-Za-z_]\w*`)

// elsewhere names the operations of the service whose output has the member
// that a path begins with, if this one's has not.
func (c *checker) elsewhere(p diag.Problem) string {
	i := acceptorOf(p.Pointer)
	if i == pollcore.NoAcceptor || c.operation == nil || c.operation.Service == nil || c.waiter.Acceptors[i].Matcher.Output == nil || p.Suggestion != "" {
		return ""
	}
	name := firstName.FindString(c.waiter.Acceptors[i].Matcher.Output.Path)
	if name == "" || c.out.Members[name] != nil {
		return ""
	}
	var others []string
	for _, other := range sortNames(c.operation.Service.Operations) {
		if spell(c.operation.Service.Operations[other].Output, c.options.Spelling).Members[name] != nil {
			others = append(others, other)
		}
	}
	if len(others) == 0 {
		return ""
	}
	return fmt.Sprintf("; this waiter polls %s, and the output of %s has one", c.operation.Name, list(others))
}

// atLiteral tells whether a problem of a path stands at a literal, as that of a
// value outside an enum does.
func (c *checker) atLiteral(p diag.Problem) bool {
	r, ok := c.readings[acceptorOf(p.Pointer)]
	if !ok || p.Pointer != r.Pointer || p.Line == 0 {
		return false
	}
	m, _ := pathOf(c.waiter.Acceptors[r.Acceptor])
	rest := m.Path[pathOffset(m.Path, p):]
	return p.Severity == diag.Warning && strings.IndexAny(rest, "'`\"") == 0
}

// pathOffset is the byte of a path that a problem of it stands at.
func pathOffset(path string, p diag.Problem) int {
	lines := strings.SplitAfter(path, "\n")
	offset := 0
	for _, line := range lines[:min(p.Line-1, len(lines))] {
		offset += len(line)
	}
	column := p.Column
	for i := range path[offset:] {
		if column--; column == 0 {
			return offset + i
		}
	}
	return len(path)
}

// values reports expected values that the model does not know.
func (c *checker) values() {
	known := 0 // success acceptors that a value of the model can satisfy
	unknown := 0
	for i, a := range c.waiter.Acceptors {
		m, pointer := pathOf(a)
		enum := c.enumOf(i)
		if m == nil || m.Comparator == pollcore.BooleanEquals || len(enum.values) == 0 || slices.Contains(enum.values, m.Expected) {
			if a.State == pollcore.Success {
				known++
			}
			continue
		}
		p := diag.Problem{Severity: diag.Warning, Pointer: at(i, pointer+"/expected")}
		if enum.documented {
			p.Severity = diag.Note
			p.Message = fmt.Sprintf("the model does not list the values of %s, and %[4]q is not among the %[2]d documented ones (%[3]s)",
				enum.name, len(enum.values), list(enum.values), m.Expected)
			c.add(EnumValue, p.Suggest(m.Expected, enum.values...))
			known++
			continue
		}
		p.Message = fmt.Sprintf("expected one of the %d values of %s (%s), found %q", len(enum.values), enum.name, list(enum.values), m.Expected)
		if p.Suggestion = sameButSpelling(m.Expected, enum.values); p.Suggestion != "" {
			p.Severity = diag.Danger
			p.Message += ", which differs in spelling alone"
		} else {
			p.Message += "; the acceptor waits for a value that the service does not have yet"
			p = p.Suggest(m.Expected, enum.values...)
		}
		c.add(EnumValue, p)
		unknown++
	}
	if known == 0 && unknown > 0 {
		c.report(Never, diag.Danger, "/acceptors", "no value in the model makes the waiter succeed: it polls until its deadline, or fails")
	}
}

// sameButSpelling is the candidate that has the word's letters in order, but
// for case, underscores and the like.
func sameButSpelling(word string, candidates []string) string {
	for _, c := range candidates {
		if letters(c) == letters(word) {
			return c
		}
	}
	return ""
}

func letters(word string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(word))
}

// list lists names for a message, not all if they are many.
func list(names []string) string {
	const shown = 12
	if len(names) > shown {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
	}
	return strings.Join(names, ", ")
}
