package pollcore

import (
	"strconv"

	"github.com/jobpoller/jobpoller/diag"
	"github.com/jobpoller/jobpoller/internal/jmespath"
)

// Shape describes the type of an input or output by data, for an operation of
// which there is no Go type: its Name in messages, its Kind, the Members of a
// structure, the Elem of a list or a map, the Values of an enum, and whether a
// number is a Timestamp. Shapes can contain themselves. A nil Shape stands for
// JSON values of which nothing is said.
type Shape = jmespath.Schema

// Kind is a type of JMESPath, in which numbers have one type, and structures
// and maps are objects.
type Kind = jmespath.Kind

// The kinds of shapes. KindUnknown is a document: any JSON value.
const (
	KindNull    = jmespath.Null
	KindBoolean = jmespath.Boolean
	KindNumber  = jmespath.Number
	KindString  = jmespath.String
	KindArray   = jmespath.Array
	KindObject  = jmespath.Object
	KindUnknown = jmespath.Unknown
)

// ValueType is the static type of what a path gives: its Kind, the Elem of a
// list, and the Schema or the Go type that it is read from. Its method Values
// lists the values of an enum.
type ValueType = jmespath.Type

// AnalyzeShapes is [Analyze] for an input and output that shapes describe. It
// reports the same of a shape as Analyze does of the Go type with that name,
// except that member names must be spelled exactly as in the shape.
func AnalyzeShapes(w *Waiter, in, out *Shape) diag.Problems {
	if w == nil {
		return diag.Problems{{Message: "no waiter to analyze: it is nil"}}
	}
	c := &compiler{waiter: w, out: shapeSubject(out), both: shapeSubject(bothShapes(in, out))}
	c.compile()
	return c.problems
}

func shapeSubject(s *Shape) subject {
	return func(expr *jmespath.Expr) (*jmespath.Program, jmespath.Type, []jmespath.Finding) {
		r := expr.Check(s)
		return nil, r.Type, r.Findings
	}
}

// bothShapes describes what an inputOutput matcher's path is evaluated on.
func bothShapes(in, out *Shape) *Shape {
	return &Shape{Name: both, Kind: KindObject, Members: map[string]*Shape{"input": in, "output": out}}
}

// Reading is what the path of an acceptor's matcher reads.
type Reading struct {
	// Acceptor is the acceptor's index.
	Acceptor int
	// Pointer is the JSON pointer of the path in the waiter.
	Pointer string
	// Type is the static type of the path's value. Its Values, or those of its
	// Elem if it is a list, are those of the enum that the acceptor compares.
	Type ValueType
	// Members are the members that the path names, in the order of its text.
	Members []ReadMember
}

// ReadMember is a member that a path names: the Path to it, which for an
// inputOutput matcher starts with "input" or "output"; the shapes of its Owner
// and of itself, the Type; and the Offset of the name in the text of the path.
type ReadMember = jmespath.Member

// Readings says what the paths of the waiter's matchers read of an input and
// output that shapes describe: one Reading for each acceptor that has a path,
// in their order. A path that is no expression is left out; [AnalyzeShapes]
// reports it.
func Readings(w *Waiter, in, out *Shape) []Reading {
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
			at, root = "/acceptors/"+strconv.Itoa(i)+"/matcher/inputOutput/path", bothShapes(in, out)
		}
		expr, err := jmespath.Parse(m.Path)
		if err != nil {
			continue
		}
		r := expr.Check(root)
		readings = append(readings, Reading{Acceptor: i, Pointer: at, Type: r.Type, Members: r.Members})
	}
	return readings
}
