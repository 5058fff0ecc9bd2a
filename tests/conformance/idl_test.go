package conformance_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// readIDL reads the part of Smithy's interface definition language, version 2,
// that the models of the suites are written in, into Smithy's JSON AST
// (https://smithy.io/2.0/spec/idl.html, https://smithy.io/2.0/spec/json-ast.html).
// Inline structures, mixins, apply statements, enums, metadata, default values
// and text blocks are refused; documentation comments are comments.
func readIDL(text string) (map[string]any, error) {
	r := &idlReader{text: text, names: map[string]string{}, shapes: map[string]any{}}
	for _, name := range preludeShapes {
		r.names[name] = "smithy.api#" + name
	}
	r.next()
	for r.err == nil && r.token != "" {
		r.statement()
	}
	if r.err != nil {
		return nil, r.err
	}
	return map[string]any{"smithy": "2.0", "shapes": r.shapes}, nil
}

var (
	// A token of a model, behind what separates tokens, which commas do too.
	idlToken = regexp.MustCompile(`^(?:[\s,]|//[^\n]*)*([A-Za-z_][\w.#]*|-?\d[\w.+-]*|"(?:[^"\\]|\\.)*"|[][{}():=@$])?`)

	preludeShapes = []string{
		"BigDecimal", "BigInteger", "Blob", "Boolean", "Byte", "Document", "Double", "Float", "Integer", "Long", "Short",
		"String", "Timestamp", "Unit",
	}
	simpleShapes = []string{
		"bigDecimal", "bigInteger", "blob", "boolean", "byte", "document", "double", "float", "integer", "long", "short",
		"string", "timestamp",
	}
)

// idlReader reads one model. After the first error it stands at the end.
type idlReader struct {
	text      string
	at        int    // behind the token
	token     string // the current one; empty at the end
	namespace string
	names     map[string]string // shape IDs of the prelude and of use statements, by name
	shapes    map[string]any    // JSON AST by shape ID
	err       error
}

func (r *idlReader) fail(format string, args ...any) {
	if r.err == nil {
		line := 1 + strings.Count(r.text[:r.at], "\n")
		r.err = fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...))
	}
	r.token, r.at = "", len(r.text)
}

// next goes to the next token and returns the one before it.
func (r *idlReader) next() string {
	was := r.token
	found := idlToken.FindStringSubmatch(r.text[r.at:])
	r.at += len(found[0])
	r.token = found[1]
	switch {
	case r.token == "" && r.at < len(r.text):
		c, _ := utf8.DecodeRuneInString(r.text[r.at:])
		r.fail("unexpected character %q", c)
	case r.token == `""` && strings.HasPrefix(r.text[r.at:], `"`):
		r.fail("text blocks are not read")
	}
	return was
}

// take goes past a token if it is the current one.
func (r *idlReader) take(token string) bool {
	if r.token != token {
		return false
	}
	r.next()
	return true
}

func (r *idlReader) expect(token string) {
	if !r.take(token) {
		r.fail("expected %q, found %q", token, r.token)
	}
}

func (r *idlReader) name() string {
	if r.token == "" || !unicode.IsLetter(rune(r.token[0])) && r.token[0] != '_' {
		r.fail("expected a name, found %q", r.token)
		return ""
	}
	return r.next()
}

// id is the shape ID that a name stands for.
func (r *idlReader) id(name string) string {
	switch {
	case strings.Contains(name, "#"):
		return name
	case r.names[name] != "":
		return r.names[name]
	default:
		return r.namespace + "#" + name
	}
}

// traitID is the shape ID of a trait: that of a use statement, else the
// prelude's.
func (r *idlReader) traitID(name string) string {
	if strings.Contains(name, "#") || r.names[name] != "" {
		return r.id(name)
	}
	return "smithy.api#" + name
}

func (r *idlReader) statement() {
	switch {
	case r.take("$"):
		r.name()
		r.expect(":")
		r.node()
	case r.take("namespace"):
		r.namespace = r.name()
	case r.take("use"):
		id := r.name()
		r.names[id[strings.LastIndexByte(id, '#')+1:]] = id
	default:
		traits := r.traits()
		r.shape(r.name(), traits)
	}
}

// traits reads the traits in front of a shape or member.
func (r *idlReader) traits() map[string]any {
	traits := map[string]any{}
	for r.take("@") {
		id := r.traitID(r.name())
		traits[id] = map[string]any{}
		if !r.take("(") || r.take(")") {
			continue
		}
		// A trait takes one value, or the members of an object without braces.
		if first := r.token; first != "{" && first != "[" && r.startsMember() {
			traits[id] = r.members(")")
		} else {
			traits[id] = r.node()
			r.expect(")")
		}
	}
	return traits
}

// startsMember tells whether a colon is behind the current token.
func (r *idlReader) startsMember() bool {
	found := idlToken.FindStringSubmatch(r.text[r.at:])
	return found[1] == ":"
}

// members reads the members of an object, to the token that ends it.
func (r *idlReader) members(end string) map[string]any {
	object := map[string]any{}
	for r.err == nil && !r.take(end) {
		name := r.next()
		if strings.HasPrefix(name, `"`) {
			name = r.unquoted(name)
		}
		r.expect(":")
		object[name] = r.node()
	}
	return object
}

// node reads a node value.
func (r *idlReader) node() any {
	token := r.next()
	switch {
	case token == "{":
		return r.members("}")
	case token == "[":
		list := []any{}
		for r.err == nil && !r.take("]") {
			list = append(list, r.node())
		}
		return list
	case token == "true" || token == "false":
		return token == "true"
	case token == "null":
		return nil
	case strings.HasPrefix(token, `"`):
		return r.unquoted(token)
	case token != "" && (token[0] == '-' || unicode.IsDigit(rune(token[0]))):
		if !json.Valid([]byte(token)) {
			r.fail("%s is not a number", token)
			return nil
		}
		return json.Number(token)
	case token != "" && (unicode.IsLetter(rune(token[0])) || token[0] == '_'):
		return r.id(token)
	default:
		r.fail("expected a value, found %q", token)
		return nil
	}
}

func (r *idlReader) unquoted(token string) string {
	var text string
	if err := json.Unmarshal([]byte(token), &text); err != nil {
		r.fail("%s is not a string: %v", token, err)
	}
	return text
}

func (r *idlReader) shape(typ string, traits map[string]any) {
	id := r.namespace + "#" + r.name()
	shape := map[string]any{"type": typ}
	switch {
	case typ == "structure" || typ == "union":
		shape["members"] = r.targets()
	case typ == "list" || typ == "map":
		maps.Copy(shape, r.targets())
	case typ == "operation" || typ == "service" || typ == "resource":
		r.expect("{")
		for name, value := range r.members("}") {
			shape[name] = r.bound(name, value)
		}
	case !slices.Contains(simpleShapes, typ):
		r.fail("shapes of type %q are not read", typ)
	}
	if len(traits) > 0 {
		shape["traits"] = traits
	}
	if _, ok := r.shapes[id]; ok {
		r.fail("shape %s is defined twice", id)
	}
	r.shapes[id] = shape
}

// targets reads the members of an aggregate shape.
func (r *idlReader) targets() map[string]any {
	members := map[string]any{}
	r.expect("{")
	for r.err == nil && !r.take("}") {
		traits := r.traits()
		name := r.name()
		r.expect(":")
		member := map[string]any{"target": r.id(r.name())}
		if len(traits) > 0 {
			member["traits"] = traits
		}
		members[name] = member
	}
	return members
}

// bound gives a member of an operation, service or resource the form of the
// AST: shape IDs become references.
func (r *idlReader) bound(name string, value any) any {
	reference := func(value any) any {
		id, ok := value.(string)
		if !ok || !strings.Contains(id, "#") {
			r.fail("expected a shape for %s, found %v", name, value)
		}
		return map[string]any{"target": id}
	}
	switch name {
	case "version":
		return value
	case "identifiers":
		object, _ := value.(map[string]any)
		for key, target := range object {
			object[key] = reference(target)
		}
		return object
	case "operations", "resources", "errors", "collectionOperations":
		list, ok := value.([]any)
		if !ok {
			r.fail("expected a list for %s, found %v", name, value)
		}
		references := make([]any, len(list))
		for i, item := range list {
			references[i] = reference(item)
		}
		return references
	default:
		return reference(value)
	}
}

const idlModel = `$version: "2.0"
namespace example.bakery

use smithy.waiters#waitable // the trait

/// A bakery.
service Bakery {
    version: "2026-01-01", operations: [Ping]
    resources: [Loaf]
    errors: [Closed],
}
resource Loaf { identifiers: {id: String}, read: GetLoaf }

@waitable(
    Baked: {
        "acceptors": [
            {state: "success", matcher: {errorType: Closed}}, // unquoted
            {state: failure, matcher: {success: false}},
        ], minDelay: 5, deprecated: true, documentation: "a \"b\"\n// c"
    }
)
@readonly
operation GetLoaf {
    input: GetLoafInput
    output: other.ns#Out
    errors: [Closed]
}
@input()
structure GetLoafInput {
    @required
    id: String,
    crumbs: Crumbs
    none: Unit
}
list Crumbs { member: Crumb }
map Names { key: String, value: Crumbs }
@streaming
union Crumb { big: Integer, small: Closed }
@error("client")
structure Closed {}
@tags(["", "b"])
@range({min: -1, max: null})
string Plain
operation Ping {}
`

func TestReadIDL(t *testing.T) {
	t.Parallel()
	got, err := readIDL(idlModel)
	require.NoError(t, err)
	text, err := json.Marshal(got)
	require.NoError(t, err)
	require.JSONEq(t, `{"smithy": "2.0", "shapes": {
		"example.bakery#Bakery": {"type": "service", "version": "2026-01-01", "operations": [{"target": "example.bakery#Ping"}],
			"resources": [{"target": "example.bakery#Loaf"}], "errors": [{"target": "example.bakery#Closed"}]},
		"example.bakery#Loaf": {"type": "resource", "identifiers": {"id": {"target": "smithy.api#String"}}, "read": {"target": "example.bakery#GetLoaf"}},
		"example.bakery#GetLoaf": {"type": "operation", "input": {"target": "example.bakery#GetLoafInput"}, "output": {"target": "other.ns#Out"},
			"errors": [{"target": "example.bakery#Closed"}],
			"traits": {"smithy.api#readonly": {}, "smithy.waiters#waitable": {"Baked": {
				"acceptors": [{"state": "success", "matcher": {"errorType": "example.bakery#Closed"}}, {"state": "example.bakery#failure", "matcher": {"success": false}}],
				"minDelay": 5, "deprecated": true, "documentation": "a \"b\"\n// c"}}}},
		"example.bakery#GetLoafInput": {"type": "structure", "traits": {"smithy.api#input": {}}, "members": {
			"id": {"target": "smithy.api#String", "traits": {"smithy.api#required": {}}},
			"crumbs": {"target": "example.bakery#Crumbs"}, "none": {"target": "smithy.api#Unit"}}},
		"example.bakery#Crumbs": {"type": "list", "member": {"target": "example.bakery#Crumb"}},
		"example.bakery#Names": {"type": "map", "key": {"target": "smithy.api#String"}, "value": {"target": "example.bakery#Crumbs"}},
		"example.bakery#Crumb": {"type": "union", "traits": {"smithy.api#streaming": {}},
			"members": {"big": {"target": "smithy.api#Integer"}, "small": {"target": "example.bakery#Closed"}}},
		"example.bakery#Closed": {"type": "structure", "members": {}, "traits": {"smithy.api#error": "client"}},
		"example.bakery#Plain": {"type": "string", "traits": {"smithy.api#tags": ["", "b"], "smithy.api#range": {"min": -1, "max": null}}},
		"example.bakery#Ping": {"type": "operation"}
	}}`, string(text))
}

func TestReadIDLRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"namespace a\nstructure A {\n  b: C = 1 }": `line 3: expected a name, found "="`,
		"operation A { input := {} }":              `line 1: expected a value, found "="`,
		"enum A {}":                                `shapes of type "enum" are not read`,
		"structure A with [B] {}":                  `expected "{", found "with"`,
		"structure A {} structure A {}":            "shape #A is defined twice",
		"structure A { b":                          `expected ":", found ""`,
		"structure Größe {}":                       "unexpected character 'ö'",
		"structure A { % }":                        "unexpected character '%'",
		`operation A { input: "x" }`:               "expected a shape for input, found x",
		"operation A { errors: B }":                "expected a list for errors, found #B",
		"@a(\"\"\"\ntext\"\"\") string A":          "text blocks are not read",
		`@a("\q") string A`:                        "is not a string",
		"@a(1x) string A":                          "1x is not a number",
		"@a":                                       `expected a name, found ""`,
	} {
		_, err := readIDL(text)
		require.ErrorContains(t, err, want, text)
	}
}

// FuzzReadIDL: what is read is a model in Smithy's JSON AST, which the
// catalogue can judge.
func FuzzReadIDL(f *testing.F) {
	f.Add(idlModel)
	f.Add("@a({b: [1, {c: \"d\"}]}) map M { key: K, value: V }")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := readIDL(text)
		if err != nil {
			require.Nil(t, got)
			return
		}
		ast, err := json.Marshal(got)
		require.NoError(t, err)
		for _, p := range catalog.AnalyzeSmithy(ast) {
			require.NotContains(t, p.Message, "not valid JSON")
		}
	})
}
