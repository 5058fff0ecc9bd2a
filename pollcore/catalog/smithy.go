package catalog

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/internal/smithy"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// Traits that the reader understands.
const (
	waitableTrait   = "smithy.waiters#waitable"
	serviceTrait    = "aws.api#service"
	mixinTrait      = "smithy.api#mixin"
	streamingTrait  = "smithy.api#streaming"
	queryErrorTrait = "aws.protocols#awsQueryError"
)

// shapeMembers are the members of a shape besides type and traits, by type
// (https://smithy.io/2.0/spec/json-ast.html).
var shapeMembers = map[string][]string{
	"blob": {"mixins"}, "boolean": {"mixins"}, "string": {"mixins"}, "byte": {"mixins"}, "short": {"mixins"},
	"integer": {"mixins"}, "long": {"mixins"}, "float": {"mixins"}, "double": {"mixins"}, "bigInteger": {"mixins"},
	"bigDecimal": {"mixins"}, "timestamp": {"mixins"}, "document": {"mixins"},
	"list": {"mixins", "member"}, "set": {"mixins", "member"}, "map": {"mixins", "key", "value"},
	"structure": {"mixins", "members"}, "union": {"mixins", "members"},
	"enum": {"mixins", "members"}, "intEnum": {"mixins", "members"},
	"service": {"mixins", "version", "operations", "resources", "errors", "rename"},
	"resource": {
		"mixins", "identifiers", "properties", "create", "put", "read", "update", "delete", "list",
		"operations", "collectionOperations", "resources",
	},
	"operation": {"mixins", "input", "output", "errors"},
	"apply":     {},
}

var shapeTypes = slices.Sorted(maps.Keys(shapeMembers))

// The members of services and resources that bind another shape, and those
// that bind a list of them.
var (
	lifecycles   = []string{"create", "put", "read", "update", "delete", "list"}
	bindingLists = []string{"operations", "collectionOperations", "resources"}
)

// ReadSmithy reads the waiters of a Smithy model in its JSON AST, version 1 or
// 2: the waitable trait of each operation, of an apply statement too. They
// come in the order of the text, once for each service that binds the
// operation. Other traits, metadata and the insides of other shapes have no
// bearing on waiters and may hold anything; besides them unknown members and
// shape types are refused, and so is a waitable trait on anything but an
// operation, on one that streams events, or on a mixin, whose heirs are not
// worked out. Waiter names must differ in more than case within a service. Its
// error is a [diag.Problems].
func ReadSmithy(text []byte) ([]Definition, error) {
	r, definitions, err := readSmithy(text)
	if err != nil {
		return nil, err
	}
	if err := r.Problems.Err(); err != nil {
		return nil, err
	}
	return definitions, nil
}

func readSmithy(text []byte) (*smithyReader, []Definition, error) {
	doc, err := jsontree.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	r := &smithyReader{
		text: text, nodes: map[string]*jsontree.Node{}, bound: map[string][]string{}, owners: map[string][]smithyService{},
	}
	r.Object(doc.Root, "a Smithy model", map[string]func(*jsontree.Node){
		"smithy":   r.version,
		"metadata": r.kind(jsontree.Object),
		"shapes":   r.shapes,
	}, "smithy")
	for _, s := range r.services {
		for id := range r.closure(s.id) {
			r.owners[id] = append(r.owners[id], s)
		}
	}
	r.refuseStreams()
	r.refuseEqualNames()
	return r, r.definitions(), nil
}

// smithyReader reads one model.
type smithyReader struct {
	jsontree.Reader

	text      []byte
	nodes     map[string]*jsontree.Node // shapes by ID
	services  []smithyService
	bound     map[string][]string        // shape IDs that a service or resource binds, by its ID
	owners    map[string][]smithyService // services that bind a shape, through their resources too, by its ID
	waitables []waitable
}

type smithyService struct{ id, name string }

// waitable is a waitable trait of an operation.
type waitable struct {
	operation string // shape ID
	node      *jsontree.Node
	waiters   []*pollcore.Waiter
}

func (r *smithyReader) version(n *jsontree.Node) {
	if n.Kind != jsontree.String || !strings.HasPrefix(n.Text, "1") && !strings.HasPrefix(n.Text, "2") {
		r.Report(n.Problem(`expected a Smithy version ("1.0" or "2.0"), found %s`, n.Describe()))
	}
}

func (r *smithyReader) kind(want jsontree.Kind) func(*jsontree.Node) {
	return func(n *jsontree.Node) {
		if n.Kind != want {
			r.Report(n.Problem("expected %s, found %s", want, n.Describe()))
		}
	}
}

func (r *smithyReader) shapes(n *jsontree.Node) {
	r.kind(jsontree.Object)(n)
	for _, m := range n.Members {
		if !strings.Contains(m.Name, "#") {
			r.Report(n.MemberProblem(m, "expected an absolute shape ID (namespace#Name), found %q", m.Name))
		}
		r.nodes[m.Name] = m.Value
		r.shape(m.Name, m.Value)
	}
}

func (r *smithyReader) shape(id string, n *jsontree.Node) {
	at := n.Get("type")
	if at == nil {
		// Without a type its members cannot be judged.
		if n.Kind == jsontree.Object {
			r.Report(n.Problem("a shape needs the member \"type\""))
		} else {
			r.Report(n.Problem("expected a shape, found %s", n.Describe()))
		}
		return
	}
	var typ string
	if r.OneOf(&typ, shapeTypes...)(at); typ == "" {
		return
	}
	members := map[string]func(*jsontree.Node){
		"type":   func(*jsontree.Node) {},
		"traits": func(traits *jsontree.Node) { r.traits(id, typ, traits) },
	}
	binds := typ == "service" || typ == "resource"
	for _, name := range shapeMembers[typ] {
		switch {
		case binds && slices.Contains(lifecycles, name):
			members[name] = r.bind(id)
		case binds && slices.Contains(bindingLists, name):
			members[name] = r.List(r.bind(id))
		default:
			members[name] = func(*jsontree.Node) {}
		}
	}
	if typ == "service" {
		r.services = append(r.services, smithyService{id, serviceName(id, n)})
	}
	r.Object(n, article(typ)+" shape", members)
}

// article puts the article before the name of a shape type.
func article(typ string) string {
	if strings.ContainsRune("aeiou", rune(typ[0])) {
		return "an " + typ
	}
	return "a " + typ
}

// serviceName is the name that AWS's SDKs give the service, else its shape's.
func serviceName(id string, n *jsontree.Node) string {
	if sdkID := textAt(n, "traits", serviceTrait, "sdkId"); sdkID != "" {
		return sdkID
	}
	return smithy.ShapeName(id)
}

// bind reads a reference to a shape that id binds.
func (r *smithyReader) bind(id string) func(*jsontree.Node) {
	return func(n *jsontree.Node) {
		var target string
		r.Object(n, "a shape reference", map[string]func(*jsontree.Node){"target": r.Text(&target)}, "target")
		r.bound[id] = append(r.bound[id], target)
	}
}

func (r *smithyReader) traits(id, typ string, n *jsontree.Node) {
	r.kind(jsontree.Object)(n)
	trait := n.Get(waitableTrait)
	switch {
	case trait == nil:
		return
	case typ != "operation" && typ != "apply":
		r.Report(trait.Problem("waiters belong to operations, this is %s shape", article(typ)))
		return
	case n.Get(mixinTrait) != nil:
		r.Report(trait.Problem("waiters of a mixin are not supported; put them on the operations that use it"))
		return
	}
	waiters, err := pollcore.ParseWaiters(trait.Raw())
	if problems, ok := errors.AsType[diag.Problems](err); ok {
		for _, p := range problems {
			r.Report(place(p, r.text, trait))
		}
	}
	r.waitables = append(r.waitables, waitable{operation: id, node: trait, waiters: waiters})
}

// definitions joins the waiters with the services that bind their operations.
func (r *smithyReader) definitions() []Definition {
	var all []Definition
	for _, t := range r.waitables {
		of := r.owners[t.operation]
		if len(of) == 0 {
			of = []smithyService{{}}
		}
		for _, service := range of {
			for _, w := range t.waiters {
				all = append(all, Definition{
					Service: service.name, Operation: smithy.ShapeName(t.operation), OperationID: t.operation, Waiter: w,
				})
			}
		}
	}
	return all
}

// closure returns the IDs of all shapes that a service binds, through its
// resources too.
func (r *smithyReader) closure(service string) map[string]bool {
	reached := map[string]bool{}
	pending := []string{service}
	for len(pending) > 0 {
		id := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		for _, target := range r.bound[id] {
			if !reached[target] {
				reached[target] = true
				pending = append(pending, target)
			}
		}
	}
	return reached
}

// AnalyzeSmithy reports everything wrong with the waiters of a Smithy model,
// with the severities of Smithy's own validator: as errors all for which
// [ReadSmithy] refuses it, and as a warning an errorType that neither the
// operation nor a service that binds it declares. Such an error may exist all
// the same: not every model declares all errors. An error is known by the name
// of its shape and by its code in the AWS query protocol. The problems come in
// the order of the text.
//
// What a waiter's paths find in the operation's input and output is for
// [pollcore.Compile] and [pollcore.Analyze] to say.
func AnalyzeSmithy(text []byte) diag.Problems {
	r, _, err := readSmithy(text)
	if err == nil {
		r.warnOfErrorTypes()
		err = r.Problems.Err()
	}
	problems, _ := errors.AsType[diag.Problems](err)
	return problems
}
