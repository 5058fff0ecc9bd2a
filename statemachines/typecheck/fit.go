package typecheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// fit gives a JSON value the spelling of a service's model, and notes
// where it does not fit its shape. It reads members as the model spells them,
// and as the SDK for Go and Step Functions do, which write their first letter in
// upper case. What does not fit is kept as it is.
type fit struct {
	// input tells that the value is one to send: then required members are
	// wanted, and values that an enum may get one day are left alone.
	input bool
	// given is a member of the whole value that may be missing although it is
	// required.
	given string
	// language is the query language of expressions that may stand for values, if
	// there may be any.
	language asl.QueryLanguage
	// sent tells that the value goes into a call: bytes become base64, and JSON in
	// the place of text becomes the text.
	sent     bool
	problems diag.Problems
}

func (f *fit) report(p diag.Problem) { f.problems = append(f.problems, p) }

// value returns the value in the model's spelling. A nil shape says nothing of it.
func (f *fit) value(n *jsontree.Node, shape *catalog.Shape) any {
	if shape == nil || n.Kind == jsontree.Null && !f.input || f.isExpression(n) {
		return n.Value()
	}
	if text, ok := f.asText(n, shape); ok {
		return text
	}
	if kinds := jsonKinds[shape.Type]; len(kinds) > 0 && !slices.Contains(kinds, n.Kind) {
		f.report(n.Problem("expected %s (%s), found %s", kinds[0], shape.Name, n.Describe()))
		return n.Value()
	}
	switch shape.Type {
	case catalog.Structure, catalog.Union:
		return f.structure(n, shape)
	case catalog.List:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = f.value(item, shape.Element.Shape)
		}
		return list
	case catalog.Map:
		object := make(map[string]any, len(n.Members))
		for _, m := range n.Members {
			if _, isPath := f.cutPath(n, m); isPath {
				object[m.Name] = m.Value.Value()
			} else {
				object[m.Name] = f.value(m.Value, shape.Element.Shape)
			}
		}
		return object
	case catalog.String:
		if len(shape.Enum) > 0 && !f.input && !slices.Contains(shape.Enum, n.Text) {
			f.report(n.Problem("%s is never %q", shape.Name, n.Text).Suggest(n.Text, shape.Enum...))
		}
		return n.Text
	case catalog.Integer, catalog.Long:
		digits, ok := jsontree.WholeNumber(n.Text)
		if !ok {
			f.report(n.Problem("expected a whole number (%s), found %s", shape.Name, n.Describe()))
			return n.Value()
		}
		return json.Number(digits)
	default:
		return n.Value()
	}
}

// jsonKinds are the types of JSON values that stand for a shape.
var jsonKinds = map[catalog.ShapeType][]jsontree.Kind{
	catalog.Structure: {jsontree.Object},
	catalog.Union:     {jsontree.Object},
	catalog.Map:       {jsontree.Object},
	catalog.List:      {jsontree.Array},
	catalog.Boolean:   {jsontree.Bool},
	catalog.String:    {jsontree.String},
	catalog.Blob:      {jsontree.String},
	catalog.Integer:   {jsontree.Number},
	catalog.Long:      {jsontree.Number},
	catalog.Float:     {jsontree.Number, jsontree.String}, // "NaN"
	catalog.Double:    {jsontree.Number, jsontree.String},
	catalog.Timestamp: {jsontree.String, jsontree.Number},
}

func (f *fit) structure(n *jsontree.Node, shape *catalog.Shape) map[string]any {
	object := make(map[string]any, len(n.Members))
	seen := make(map[string]bool, len(n.Members))
	for _, m := range n.Members {
		name, isPath := f.cutPath(n, m)
		member := findMember(shape, name)
		if member == nil {
			names := make([]string, len(shape.Members))
			for i, known := range shape.Members {
				names[i] = known.Name
			}
			f.report(n.MemberProblem(m, "%s has no member %q", shape.Name, name).Suggest(name, names...))
			object[m.Name] = m.Value.Value()
			continue
		}
		if seen[member.Name] {
			f.report(n.MemberProblem(m, "the member %s is there twice", member.Name))
		}
		seen[member.Name] = true
		if isPath {
			object[member.Name+pathSuffix] = m.Value.Value()
		} else {
			object[member.Name] = f.value(m.Value, member.Shape)
		}
	}
	if !f.input {
		return object
	}
	for _, m := range shape.Members {
		given := n.IsRoot() && m.Name == f.given
		if !seen[m.Name] && !given && (m.Required || m.In == catalog.InPath) {
			f.report(n.Problem("%s needs the member %s", shape.Name, m.Name))
		}
	}
	return object
}

// pathSuffix is how the name of a member ends whose value is a path of JSONPath.
const pathSuffix = ".$"

// findMember finds a member by its name in the model, or by any that is the same to
// javasdk.MemberName, which is the rule of all that reads arguments.
func findMember(shape *catalog.Shape, name string) *catalog.Member {
	if m := shape.Member(name); m != nil {
		return m
	}
	spelled := javasdk.MemberName(name)
	for i := range shape.Members {
		if javasdk.MemberName(shape.Members[i].Name) == spelled {
			return &shape.Members[i]
		}
	}
	return nil
}

// IntegrationSpelling gives a value in the model's spelling that of Step
// Functions' SDK integrations, in which jobs.Arguments reads and jobs.Output
// writes.
func IntegrationSpelling(value any, shape *catalog.Shape) any {
	switch v := value.(type) {
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, item := range v {
			if shape.Type == catalog.Map {
				object[name] = IntegrationSpelling(item, shape.Element.Shape)
			} else if m := shape.Member(strings.TrimSuffix(name, pathSuffix)); m != nil {
				object[javasdk.MemberName(name)] = IntegrationSpelling(item, m.Shape)
			} else {
				object[name] = item
			}
		}
		return object
	case []any:
		if shape.Type != catalog.List {
			return v
		}
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = IntegrationSpelling(item, shape.Element.Shape)
		}
		return list
	default:
		return v
	}
}

// ModelSpelling gives what jobs.Output made of an answer the spelling of the model.
func ModelSpelling(value any, shape *catalog.Shape) (any, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	doc, err := jsontree.Parse(text)
	if err != nil {
		return nil, err
	}
	var f fit
	return f.value(doc.Root, shape), nil
}

// FitText reads a JSON object, gives it the model's spelling, and returns where
// it does not fit. The error is that it is no JSON object.
func FitText(text []byte, shape *catalog.Shape, input bool) (any, diag.Problems, error) {
	f := fit{input: input}
	value, err := f.read(text, shape)
	return value, f.problems, err
}

// FitArguments reads the arguments that a state machine in the query language calls an
// operation with, which may have expressions in the place of values, in the spelling of SDK
// integrations. The machine itself gives the token. The error is diag.Problems where they
// do not fit.
func FitArguments(text []byte, op *catalog.Operation, token string, language asl.QueryLanguage) (map[string]any, error) {
	f := fit{input: true, given: token, language: language}
	value, err := f.read(text, op.Input)
	if err != nil {
		return nil, err
	}
	if err := f.problems.Err(); err != nil {
		return nil, err
	}
	object := value.(map[string]any) // as read requires
	switch {
	case op.Input != nil:
		return IntegrationSpelling(object, op.Input).(map[string]any), nil
	case len(object) > 0:
		return nil, fmt.Errorf("%s takes no arguments", op.Name)
	default:
		return object, nil
	}
}

// read reads a JSON object, whose error is that the text is none.
func (f *fit) read(text []byte, shape *catalog.Shape) (any, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("expected a JSON object, found nothing")
	}
	doc, err := jsontree.Parse(text)
	if err != nil {
		return nil, err
	}
	if doc.Root.Kind != jsontree.Object {
		return nil, fmt.Errorf("expected a JSON object, found %s", doc.Root.Describe())
	}
	return f.value(doc.Root, shape), nil
}

// isExpression tells whether an expression of JSONata stands for a value.
func (f *fit) isExpression(n *jsontree.Node) bool {
	if f.language == "" || n.Kind != jsontree.String || !strings.HasPrefix(n.Text, "{%") {
		return false
	}
	if f.language != asl.JSONata {
		f.report(n.Problem("this strategy is written in JSONPath, where a path is the value of a member whose name ends in %q, and an expression of JSONata is text",
			pathSuffix))
	}
	return true
}

// cutPath returns the name of a member, and whether its value is a path of
// JSONPath.
func (f *fit) cutPath(n *jsontree.Node, m jsontree.Member) (name string, isPath bool) {
	name, isPath = strings.CutSuffix(m.Name, pathSuffix)
	if f.language == "" || !isPath {
		return m.Name, false
	}
	if f.language != asl.JSONPath {
		f.report(n.MemberProblem(m, `this strategy is written in JSONata, where an expression is the value of %s: "{%% ... %%}"`, name))
	}
	return name, true
}
