package pollcore

import (
	"strconv"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// AnalyzeTypes is [Analyze] for an input and output that data describes, for an
// operation that has no Go type. It reports the same of a type as
// Analyze does of the Go type with that name, except that member names must be
// spelled exactly as in the type.
func AnalyzeTypes(w *Waiter, in, out *jsontype.Type) diag.Problems {
	if w == nil {
		return diag.Problems{{Message: "no waiter to analyze: it is nil"}}
	}
	c := &compiler{waiter: w, out: typeSubject(out), both: typeSubject(bothTypes(in, out))}
	c.compile()
	return c.problems
}

func typeSubject(t *jsontype.Type) subject {
	return func(expr *jmespath.Expr) (*jmespath.Program, *jsontype.Type, diag.Problems) {
		r := expr.Check(t)
		return nil, r.Type, r.Findings
	}
}

// bothTypes describes what an inputOutput matcher's path is evaluated on.
func bothTypes(in, out *jsontype.Type) *jsontype.Type {
	return &jsontype.Type{Name: both, Kind: jsontype.Object, Members: map[string]*jsontype.Type{"input": in, "output": out}}
}

// Reading is what the path of an acceptor's matcher reads.
type Reading struct {
	// Acceptor is the acceptor's index.
	Acceptor int
	// Pointer is the JSON pointer of the path in the waiter.
	Pointer string
	// Type is the static type of the path's value. Its enum, or that of its
	// Elem if it is an Array, is the one that the acceptor compares.
	Type *jsontype.Type
	// Members are the members that the path names, in the order of its text.
	Members []ReadMember
}

// ReadMember is a member that a path names.
type ReadMember struct {
	// Path leads to the member from the output; for an inputOutput matcher it
	// starts with "input" or "output". A step is a name, "[]" for all elements
	// of an array or "*" for all values of a map.
	Path []string
	// Owner describes the object that has the member, or is nil.
	Owner *jsontype.Type
	// Type describes the member, or is nil below a nil Type.
	Type *jsontype.Type
	// Offset is the byte offset of the name in the text of the path.
	Offset int
}

// String is the path, such as "Services[].Deployments.*.Status".
func (m ReadMember) String() string { return jmespath.Member(m).String() }

// Readings says what the paths of the waiter's matchers read of an input and
// output that data describes: one Reading for each acceptor that has a path,
// in their order. A path that is no expression is left out; [AnalyzeTypes]
// reports it.
func Readings(w *Waiter, in, out *jsontype.Type) []Reading {
	if w == nil {
		return nil
	}
	var readings []Reading
	for i, a := range w.Acceptors {
		m := a.Matcher.pathMatcher()
		if m == nil {
			continue
		}
		at, root := "/acceptors/"+strconv.Itoa(i)+"/matcher/output/path", out
		if m == a.Matcher.InputOutput {
			at, root = "/acceptors/"+strconv.Itoa(i)+"/matcher/inputOutput/path", bothTypes(in, out)
		}
		expr, err := jmespath.Parse(m.Path)
		if err != nil {
			continue
		}
		r := expr.Check(root)
		reading := Reading{Acceptor: i, Pointer: at, Type: r.Type}
		for _, member := range r.Members {
			reading.Members = append(reading.Members, ReadMember(member))
		}
		readings = append(readings, reading)
	}
	return readings
}
