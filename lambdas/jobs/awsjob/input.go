package awsjob

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/document"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// reading says how an input is read.
type reading struct {
	spell spelling
	// newToken makes the token of a request that has none; nil leaves it out.
	newToken func() (string, error)
	// reserved tells that the input must not have a token of its own.
	reserved bool
	// unseen tells that nobody has seen the text, so that lines and columns
	// say nothing.
	unseen bool
	// rules are those of a start call; nil for other calls.
	rules *startRules
	// name is what messages call the input's owner, by default the operation.
	name string
}

// input is a checked input of a call.
type input struct {
	call  *call
	root  *jsontree.Node
	spell spelling
	// token is the value of tokenMember, if that is filled in.
	token, tokenMember string
}

// read checks an input against the model.
func (c *call) read(text json.RawMessage, how reading) (*input, error) {
	name := how.name
	if name == "" {
		name = operationName(c.op)
	}
	doc, err := jsontree.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%w of %s: %w", jobs.ErrArguments, name, err)
	}
	in := &input{call: c, root: doc.Root, spell: how.spell}
	r := &reader{Reader: jsontree.Reader{HideStrings: true, Spell: how.spell}, spell: how.spell, rules: how.rules}
	m := tokenMember(c.op)
	if how.rules != nil && how.rules.name != "" {
		m = c.op.Input.Member(how.rules.name)
	}
	if m != nil && how.newToken != nil {
		if how.reserved {
			r.reserved = m.Name
		}
		if how.reserved || doc.Root.Get(how.spell(m.Name)) == nil {
			if in.token, err = how.newToken(); err != nil {
				return nil, err
			}
			in.tokenMember, r.filled = m.Name, m.Name
		}
	}
	if c.op.Input != nil {
		r.structure(doc.Root, c.op.Input, "the input of "+c.op.Name)
	} else {
		r.Object(doc.Root, "the input of "+c.op.Name, nil)
	}
	if how.unseen {
		for i := range r.Problems {
			r.Problems[i].Line, r.Problems[i].Column, r.Problems[i].Source = 0, 0, ""
		}
	}
	if err := r.Problems.Err(); err != nil {
		return nil, fmt.Errorf("%w of %s: %w", jobs.ErrArguments, name, err)
	}
	return in, nil
}

// tokenMember is the member that makes a request idempotent, or nil.
func tokenMember(op *catalog.Operation) *catalog.Member {
	all := members(op)
	for i := range all {
		if all[i].Token {
			return &all[i]
		}
	}
	return nil
}

// reader checks values against shapes.
type reader struct {
	jsontree.Reader

	spell spelling
	rules *startRules // of the outermost structure
	// filled is a member of the outermost structure that may be missing, and
	// reserved one that must be.
	filled, reserved string
}

func (r *reader) structure(n *jsontree.Node, shape *catalog.Shape, what string) {
	outermost := n.IsRoot()
	members := make(map[string]func(*jsontree.Node), len(shape.Members))
	var required []string
	for _, m := range shape.Members {
		name := r.spell(m.Name)
		members[name] = func(n *jsontree.Node) {
			if outermost && m.Name == r.reserved {
				r.Report(n.Problem("remove %s: the functions set it", diag.Word(name)))
				return
			}
			if outermost && r.rules.read(&r.Reader, m.Name, n) {
				return
			}
			r.value(n, m.Shape)
			if m.In == catalog.InPath && n.Kind == jsontree.String && !staysInPath(n.Text) {
				r.Report(n.Problem("expected a string that is not empty and has no part \".\" or \"..\": %s is part of the request's path", diag.Word(name)))
			}
		}
		if (m.Required || m.In == catalog.InPath) && (!outermost || m.Name != r.filled) {
			required = append(required, name)
		}
	}
	r.Object(n, what, members, required...)
}

// staysInPath reports whether a text can stand in a path without leading to
// another one, whoever shortens the path on the way.
func staysInPath(text string) bool {
	return text != "" && !slices.ContainsFunc(strings.Split(text, "/"), func(part string) bool { return part == "." || part == ".." })
}

func (r *reader) value(n *jsontree.Node, shape *catalog.Shape) {
	switch shape.Type {
	case catalog.Structure:
		r.structure(n, shape, "the structure "+shape.Name)
	case catalog.Union:
		r.structure(n, shape, "the union "+shape.Name)
		if n.Kind == jsontree.Object && len(n.Members) != 1 {
			r.Report(n.Problem("expected one member of the union %s, found %d", diag.Word(shape.Name), len(n.Members)))
		}
	case catalog.List:
		r.List(func(item *jsontree.Node) { r.value(item, shape.Element.Shape) })(n)
	case catalog.Map:
		if n.Kind != jsontree.Object {
			r.Report(n.Problem("expected an object, found %s", n.Kind))
		}
		for _, m := range n.Members {
			r.value(m.Value, shape.Element.Shape)
		}
	case catalog.String:
		r.text(n, shape)
	case catalog.Boolean:
		r.Bool(new(bool))(n)
	case catalog.Integer:
		r.Integer(new(int64), 32)(n)
	case catalog.Long:
		r.Integer(new(int64), 64)(n)
	case catalog.Float:
		r.float(n, 32)
	case catalog.Double:
		r.float(n, 64)
	case catalog.Blob:
		r.Blob(new([]byte))(n)
	case catalog.Timestamp:
		r.Timestamp(new(time.Time))(n)
	case catalog.Document:
	default:
		r.Report(n.Problem("an input cannot hold a value of the type %s", shape.Type))
	}
}

func (r *reader) text(n *jsontree.Node, shape *catalog.Shape) {
	r.Text(new(string))(n)
	// The SDK does not send an enum that is empty.
	if n.Kind == jsontree.String && n.Text == "" && len(shape.Enum) > 0 {
		r.Report(n.Problem("expected a value of %s, found an empty string; remove the member to send none", diag.Word(shape.Name)))
	}
}

func (r *reader) float(n *jsontree.Node, bits int) {
	if _, special := notANumber(n); !special {
		r.Float(new(float64), bits)(n)
	}
}

// notANumber reads a string that stands for a float without a JSON number.
func notANumber(n *jsontree.Node) (v float64, ok bool) {
	if n.Kind != jsontree.String {
		return 0, false
	}
	switch n.Text {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	return 0, false
}

// Serialize implements smithy.Serializable.
func (in *input) Serialize(to smithy.ShapeSerializer) {
	shape := in.call.op.Input
	w := &writer{to: to, spell: in.spell}
	to.WriteStruct(in.call.schema.Input)
	w.members(in.root, shape, in.call.schema.Input)
	if in.tokenMember != "" {
		to.WriteString(in.call.schema.Input.Member(in.tokenMember), in.token)
	}
	to.CloseStruct()
}

// writer writes values that were checked.
type writer struct {
	to    smithy.ShapeSerializer
	spell spelling
}

func (w *writer) members(n *jsontree.Node, shape *catalog.Shape, schema *smithy.Schema) {
	for _, m := range shape.Members {
		if value := n.Get(w.spell(m.Name)); value != nil {
			w.value(value, m.Shape, schema.Member(m.Name))
		}
	}
}

// value writes a value. It was read before, so reading it again has no
// problems.
func (w *writer) value(n *jsontree.Node, shape *catalog.Shape, schema *smithy.Schema) {
	var r jsontree.Reader
	switch shape.Type {
	case catalog.Structure, catalog.Union: // a union is one with one member
		w.to.WriteStruct(schema)
		w.members(n, shape, schema)
		w.to.CloseStruct()
	case catalog.List:
		w.to.WriteList(schema)
		for _, item := range n.Items {
			w.value(item, shape.Element.Shape, schema.ListMember())
		}
		w.to.CloseList()
	case catalog.Map:
		w.to.WriteMap(schema)
		for _, m := range n.Members {
			w.to.WriteKey(schema.MapKey(), m.Name)
			w.value(m.Value, shape.Element.Shape, schema.MapValue())
		}
		w.to.CloseMap()
	case catalog.String:
		text := n.Text
		if n.Kind != jsontree.String { // a value whose text is sent
			text = string(n.Raw())
		}
		w.to.WriteString(schema, text)
	case catalog.Boolean:
		w.to.WriteBool(schema, n.Text == "true")
	case catalog.Integer, catalog.Long:
		var v int64
		r.Integer(&v, 64)(n)
		w.to.WriteInt64(schema, v)
	case catalog.Float, catalog.Double:
		w.float(n, shape, schema)
	case catalog.Blob:
		var v []byte
		r.Blob(&v)(n)
		w.to.WriteBlob(schema, append([]byte{}, v...)) // nil would be null
	case catalog.Timestamp:
		var v time.Time
		r.Timestamp(&v)(n)
		w.to.WriteTime(schema, v)
	case catalog.Document:
		w.to.WriteDocument(schema, document.Opaque{Value: rawDocument(n.Raw())})
	}
}

func (w *writer) float(n *jsontree.Node, shape *catalog.Shape, schema *smithy.Schema) {
	v, special := notANumber(n)
	if !special {
		var r jsontree.Reader
		r.Float(&v, 64)(n)
	}
	if shape.Type == catalog.Float {
		w.to.WriteFloat32(schema, float32(v))
	} else {
		w.to.WriteFloat64(schema, v)
	}
}

// rawDocument is the JSON text of a document, which is sent as it is.
type rawDocument []byte

// MarshalSmithyDocument implements document.Marshaler.
func (d rawDocument) MarshalSmithyDocument() ([]byte, error) { return d, nil }
