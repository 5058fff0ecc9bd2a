package asl

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jobpoller/jobpoller/internal/intrinsic"
	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/internal/jsonpath"
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// object reads the members of a JSON object. Every name that is asked for is
// known; close reports the members that nobody asked for.
type object struct {
	p     *parser
	node  *jsontree.Node
	what  string // in messages: "a Wait state"
	known []string
}

// open returns nil, and reports it, if the value is not an object.
func (p *parser) open(n *jsontree.Node, what string) *object {
	if n.Kind != jsontree.Object {
		if p.leaveHollow(n, what) {
			return nil
		}
		p.add(n.Problem("expected %s, which is an object, found %s", what, n.Describe()))
		return nil
	}
	const most = 16 // of nearly all objects
	return &object{p: p, node: n, what: what, known: make([]string, 0, most)}
}

func (o *object) get(name string) *jsontree.Node {
	o.known = append(o.known, name)
	return o.node.Get(name)
}

// has tells whether the member is there, without making its name known
// unless it is.
func (o *object) has(name string) bool {
	if o.node.Get(name) == nil {
		return false
	}
	o.known = append(o.known, name)
	return true
}

func (o *object) require(name string) {
	if o.get(name) == nil {
		o.p.add(o.node.Problem("%s needs the field %q", o.what, name))
	}
}

// close reports the members that are not known. others are further names
// worth suggesting.
func (o *object) close(others ...string) {
	for _, m := range o.node.Members {
		switch {
		case slices.Contains(o.known, m.Name):
		case o.p.language == JSONata && slices.Contains(jsonPathFields, m.Name):
			o.p.add(o.node.MemberProblem(m, "field %q belongs to JSONPath, and %s here is in JSONata", m.Name, o.what))
		case o.p.language == JSONPath && slices.Contains(jsonataFields, m.Name):
			o.p.add(o.node.MemberProblem(m, "field %q belongs to JSONata, and %s here is in JSONPath; set \"QueryLanguage\": \"JSONata\"", m.Name, o.what))
		case slices.Contains(stateFields, m.Name):
			o.p.add(o.node.MemberProblem(m, "field %q is not allowed in %s", m.Name, o.what))
		default:
			slices.Sort(o.known)
			o.known = slices.Compact(o.known)
			o.p.add(o.node.MemberProblem(m, "unknown field %q in %s", m.Name, o.what).Suggest(m.Name, slices.Concat(o.known, others)...))
		}
	}
}

// ofKind returns the member if it is there and of that kind. A placeholder
// stands for a value of any kind: then the member counts as missing.
func (o *object) ofKind(name string, kind jsontree.Kind) *jsontree.Node {
	n := o.get(name)
	if n == nil || kind != jsontree.String && o.p.placeholder(n, true) {
		return nil
	}
	if n.Kind != kind {
		o.p.add(n.Problem("%q must be %s, found %s", name, kind, n.Describe()))
		return nil
	}
	return n
}

// text returns a string member, or the empty string.
func (o *object) text(name string) string {
	if n := o.ofKind(name, jsontree.String); n != nil {
		o.p.placeholder(n, false)
		return n.Text
	}
	return ""
}

// word returns a string member that must be one of words, or the empty
// string.
func (o *object) word(name string, words ...string) string {
	n := o.ofKind(name, jsontree.String)
	if n == nil || o.p.placeholder(n, true) {
		return ""
	}
	if !slices.Contains(words, n.Text) {
		o.p.add(n.Problem("expected one of %s, found %s", strings.Join(words, ", "), n.Describe()).Suggest(n.Text, words...))
	}
	return n.Text
}

// inner returns a member that is an object, or nil.
func (o *object) inner(name, what string) *object {
	n := o.get(name)
	if n == nil {
		return nil
	}
	return o.p.open(n, what)
}

// list returns the items of an array member that says where a state leads. If it may
// not be empty, it may not be missing either. A placeholder leaves the flow open.
func (o *object) list(name string, filled bool) []*jsontree.Node {
	if filled {
		o.require(name)
	}
	n := o.ofKind(name, jsontree.Array)
	if n == nil {
		o.p.reading.Open = o.p.reading.Open || o.node.Get(name) != nil
		return nil
	}
	if filled && len(n.Items) == 0 {
		o.p.add(n.Problem("%q must hold at least one item", name))
	}
	return n.Items
}

// integer returns an integer member between low and high, or otherwise.
func (o *object) integer(name string, low, high, otherwise int64) int64 {
	n := o.get(name)
	if n == nil || o.p.placeholder(n, true) {
		return otherwise
	}
	value, err := strconv.ParseInt(n.Text, 10, 64)
	if n.Kind != jsontree.Number || err != nil || value < low || value > high {
		o.p.add(n.Problem("%q must be an integer from %d to %d, found %s", name, low, high, n.Describe()))
		return otherwise
	}
	return value
}

// selection returns a path member that may be null: "$" if it is missing, nil
// if it is null.
func (o *object) selection(name string, scope pathScope) *jsonpath.Path {
	if n := o.get(name); n != nil && n.Kind == jsontree.Null {
		return nil
	}
	return o.path(name, scope)
}

// path returns a path member: "$" if it is missing.
func (o *object) path(name string, scope pathScope) *jsonpath.Path {
	n := o.get(name)
	if n == nil {
		return rootPath
	}
	return o.p.path(n, scope)
}

// target returns a member that names a state.
func (o *object) target(name string, required bool) string {
	if required {
		o.require(name)
	}
	n := o.ofKind(name, jsontree.String)
	if n == nil {
		return ""
	}
	o.p.references = append(o.p.references, n)
	return n.Text
}

// exclusive reports the second of two members that exclude each other.
func (o *object) exclusive(first, second string) {
	if o.has(first) && o.has(second) {
		o.p.add(o.node.Get(second).Problem("%q and %q exclude each other; keep one", first, second))
	}
}

// pathScope says what a path may read.
type pathScope uint8

const (
	anyPath      pathScope = iota // the input or the context object
	textPath                      // the same, or an intrinsic function in its place
	itemsPath                     // the same, without wildcards and filters
	countPath                     // the input or a variable, without wildcards and filters
	documentPath                  // the input only: the path is written to
)

var (
	rootPath = newRootPath()
	openPath = newRootPath() // in the place of a placeholder
)

func newRootPath() *jsonpath.Path {
	p, err := jsonpath.Parse("$")
	if err != nil {
		panic(err)
	}
	return p
}

// IsPlaceholder tells whether a placeholder stands where the path is, so that
// nothing is known of it.
func IsPlaceholder(p *jsonpath.Path) bool { return p == openPath }

func (p *parser) path(n *jsontree.Node, scope pathScope) *jsonpath.Path {
	if n.Kind != jsontree.String {
		p.add(n.Problem("expected a path such as \"$.a\", found %s", n.Describe()))
		return nil
	}
	if p.placeholder(n, true) {
		return openPath
	}
	path, err := jsonpath.Parse(n.Text)
	if p.addSyntax(n, 0, fmt.Sprintf("path %q", n.Text), err) {
		return nil
	}
	switch {
	case scope == documentPath && path.Context():
		p.add(n.Problem("path %q is in the context object, which is read-only", n.Text))
		return nil
	case scope == countPath && path.Context():
		p.add(n.Problem("path %q is in the context object, which cannot be read here; assign it to a variable first", n.Text))
		return nil
	case scope == documentPath && path.Variable() != "":
		p.add(n.Problem("path %q is in a variable; only \"Assign\" writes variables", n.Text))
		return nil
	case scope == documentPath && !path.Reference():
		p.add(n.Problem("path %q is written to: only names and indices are allowed in it", n.Text))
		return nil
	case (scope == itemsPath || scope == countPath) && !path.Reference():
		p.add(n.Problem("path %q must name one value: only names and indices are allowed in it", n.Text))
		return nil
	}
	if warning := path.Warning(); warning != "" {
		p.warn(n.Problem("%s", warning))
	}
	p.use(n, path.Variable())
	return path
}

func (p *parser) intrinsic(n *jsontree.Node) *intrinsic.Call {
	call, err := intrinsic.Parse(n.Text)
	if p.addSyntax(n, 0, "intrinsic function", err) {
		return nil
	}
	for _, path := range call.Paths() {
		p.use(n, path.Variable())
	}
	return call
}

// addSyntax reports an error in a text of a language, which starts so many bytes
// into the string. It returns false if there is none.
func (p *parser) addSyntax(n *jsontree.Node, start int, language string, err error) bool {
	syntax, ok := errors.AsType[*diag.SyntaxError](err)
	if ok {
		problem := p.within(n, start+syntax.Offset, "%s: %s", language, syntax.Message)
		problem.Suggestion = syntax.Suggestion
		p.add(problem)
	}
	return ok
}

// isExpression tells whether the value is a JSONata expression.
func isExpression(n *jsontree.Node) bool {
	return n.Kind == jsontree.String && strings.HasPrefix(n.Text, expressionStart) && strings.HasSuffix(n.Text, expressionEnd) &&
		len(n.Text) >= len(expressionStart+expressionEnd)
}

const expressionStart, expressionEnd = "{%", "%}"

func (p *parser) expression(n *jsontree.Node) *jsonata.Expression {
	text := strings.TrimSuffix(strings.TrimPrefix(n.Text, expressionStart), expressionEnd)
	e, err := jsonata.Compile(text)
	if p.addSyntax(n, len(expressionStart), "JSONata", err) {
		return nil
	}
	for _, r := range jsonata.ContextReferences(text) {
		problem := p.within(n, len(expressionStart)+r.Offset, "%q reads the context, which expressions of Step Functions do not have: "+
			"the input is $states.input", r.Name)
		if !strings.HasPrefix(r.Name, "$") {
			problem = p.within(n, len(expressionStart)+r.Offset, "%q begins a path, and expressions of Step Functions begin with a variable: "+
				"write $states.input.%[1]s or $%[1]s", r.Name)
		}
		p.add(problem)
	}
	for _, v := range e.Variables() {
		p.useIn(n, v, len(expressionStart)+v.Offset)
	}
	return e
}

var queryLanguages = []string{string(JSONPath), string(JSONata)}

func (p *parser) queryLanguage(o *object, inherited QueryLanguage) QueryLanguage {
	n := o.ofKind("QueryLanguage", jsontree.String)
	if n == nil || p.leaveHollow(n, "the query language") {
		return inherited
	}
	if !slices.Contains(queryLanguages, n.Text) {
		p.add(n.Problem("expected the query language \"JSONPath\" or \"JSONata\", found %s", n.Describe()).Suggest(n.Text, queryLanguages...))
		return inherited
	}
	return QueryLanguage(n.Text)
}
