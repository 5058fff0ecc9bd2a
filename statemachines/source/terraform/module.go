package terraform

import (
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// module is a module as one call of it, or as the root.
type module struct {
	*reader

	source *source
	// folder is where its files are, and root where those of the root are.
	folder, root string
	// address is module.name["key"], empty of the root.
	address string
	// call is the block that calls it, and caller where that stands; nil of the root.
	call   *block
	caller scope
	depth  int

	blocks   map[string]*block // by kind and labels
	children map[string][]instance
}

// instance is one key of a block's for_each, or one number of its count.
type instance struct {
	suffix string // of the address
	scope  scope
	module *module // of a block that calls one
}

// The bounds of modules in modules.
const (
	maxModuleDepth = 20
	maxInstances   = 500 // of a block
)

func newModule(r *reader, folder string) (*module, error) {
	s, err := r.folder(folder)
	if err != nil {
		return nil, err
	}
	m := &module{reader: r, source: s, folder: folder, root: folder, blocks: map[string]*block{}, children: map[string][]instance{}}
	m.index()
	return m, nil
}

func (m *module) index() {
	for _, b := range m.source.blocks {
		if b.kind == "locals" {
			for name := range b.attributes {
				m.blocks["local."+name] = b
			}
			continue
		}
		key := strings.Join(append([]string{b.kind}, b.labels...), ".")
		if m.blocks[key] == nil {
			m.blocks[key] = b
		}
	}
}

func (m *module) rootFolder() string { return m.root }

// prefix stands before the addresses of all that the module makes.
func (m *module) prefix() string {
	if m.address == "" {
		return ""
	}
	return m.address + "."
}

// localName is an address in the module without what leads to the module.
func (m *module) localName(address string) string { return strings.TrimPrefix(address, m.prefix()) }

// relative is the module's folder as path.module has it.
func (m *module) relative() string {
	if relative, err := filepath.Rel(filepath.FromSlash(m.root), filepath.FromSlash(m.folder)); err == nil {
		return filepath.ToSlash(relative)
	}
	return m.folder
}

// named is a module as the scope of its expressions.
type named struct{ *module }

// root is the value of a reference's begin.
func (n named) root(e *evaluator, t hcl.Traversal) (*Value, int) {
	m := n.module
	at := m.units.place(t.SourceRange())
	name, step := t.RootName(), ""
	if len(t) > 1 {
		attr, ok := t[1].(hcl.TraverseAttr)
		if !ok {
			return nil, 0
		}
		step = attr.Name
	}
	switch name {
	case "var":
		return m.variable(e, step, at), 2
	case "local":
		return m.local(e, step, at), 2
	case "path":
		switch step {
		case "module":
			return textValue(m.relative(), at), 2
		case "root", "cwd":
			return textValue(".", at), 2
		}
	case "module":
		return m.outputs(e, step, at)
	case "data", "resource":
		if len(t) > 2 {
			if attr, ok := t[2].(hcl.TraverseAttr); ok {
				return m.content(e, name+"."+step+"."+attr.Name, at), 3
			}
		}
	default:
		return m.content(e, "resource."+name+"."+step, at), 2
	}
	return nil, 0
}

// memo finds a value once.
func (m *module) memo(e *evaluator, name string, at Place, find func() *Value) *Value {
	key := local{m, name}
	if v := e.locals[key]; v != nil {
		return v
	}
	if e.open[key] { // it leads to itself
		return failedValue(name, at)
	}
	e.open[key] = true
	v := find()
	delete(e.open, key)
	e.locals[key] = v
	return v
}

func (m *module) local(e *evaluator, name string, at Place) *Value {
	b := m.blocks["local."+name]
	if b == nil {
		return failedValue("local."+name, at)
	}
	return m.memo(e, "local."+name, at, func() *Value { return e.eval(b.attributes[name], named{m}) })
}

// outputs are what a module that this one calls gives back.
func (m *module) outputs(e *evaluator, name string, at Place) (*Value, int) {
	b := m.blocks["module."+name]
	if b == nil || e.depth > maxDepth/2 {
		return nil, 0
	}
	instances := m.calls(e, b)
	_, many := b.attributes["for_each"]
	_, counted := b.attributes["count"]
	out := &Value{Kind: Object, At: at, open: true}
	for _, i := range instances {
		if i.module == nil {
			return nil, 0
		}
		v := i.module.outputObject(e, at)
		if !many && !counted {
			return v, 2
		}
		key := strings.Trim(i.suffix, `[]"`)
		out.Members = append(out.Members, Member{Name: textValue(key, at), Key: at, Value: v})
	}
	return out, 2
}

func (m *module) outputObject(e *evaluator, at Place) *Value {
	return m.memo(e, "outputs", at, func() *Value {
		out := &Value{Kind: Object, At: at}
		for _, b := range m.source.blocks {
			if b.kind == "output" && len(b.labels) == 1 && b.attributes["value"] != nil {
				out.Members = append(out.Members, Member{Name: textValue(b.labels[0], at), Key: at, Value: e.eval(b.attributes["value"], named{m})})
			}
		}
		return out
	})
}

// content is the text of the files that a resource or a data source reads.
func (m *module) content(e *evaluator, key string, at Place) *Value {
	b := m.blocks[key]
	source := strings.TrimPrefix(key, "resource.")
	if b == nil || len(b.labels) != 2 {
		return unknownValue(source, at)
	}
	out := &Value{Kind: Object, At: at, open: true, Hole: &Hole{Source: source}}
	add := func(name string, v *Value) {
		out.Members = append(out.Members, Member{Name: textValue(name, at), Key: at, Value: v})
	}
	scope := named{m}
	switch kind := b.kind + "." + b.labels[0]; {
	case kind == "data.template_file" && b.attributes["template"] != nil:
		add("rendered", m.memo(e, key, at, func() *Value {
			var vars []*Value
			if x := b.attributes["vars"]; x != nil {
				vars = append(vars, e.eval(x, scope))
			}
			return e.renderText(e.eval(b.attributes["template"], scope), vars, scope, at, source)
		}))
	case kind == "data.local_file" && b.attributes["filename"] != nil:
		add("content", m.memo(e, key, at, func() *Value {
			name, ok := e.eval(b.attributes["filename"], scope).text()
			known, whole := name.known()
			if !ok || !whole {
				return unknownValue(source, at)
			}
			return e.file(join(m.root, known), at, source)
		}))
	case (kind == "resource.local_file" || kind == "resource.local_sensitive_file") && b.attributes["content"] != nil:
		add("content", m.memo(e, key, at, func() *Value { return e.eval(b.attributes["content"], scope) }))
	}
	return out
}

// calls are the modules that a block calls.
func (m *module) calls(e *evaluator, b *block) []instance {
	name := b.labels[0]
	if made, ok := m.children[name]; ok {
		return made
	}
	m.children[name] = nil // of a module that calls itself
	all := m.instances(e, b)
	for i := range all {
		if folder, ok := m.callee(b); ok && m.depth < maxModuleDepth {
			if s, err := m.reader.folder(folder); err == nil {
				child := &module{
					reader: m.reader, source: s, folder: folder, root: m.root, address: m.prefix() + "module." + name + all[i].suffix,
					call: b, caller: all[i].scope, depth: m.depth + 1, blocks: map[string]*block{}, children: map[string][]instance{},
				}
				child.index()
				all[i].module = child
			}
		}
	}
	m.children[name] = all
	return all
}

// callee is the folder of a module that is called, if it is one beside this.
func (m *module) callee(b *block) (string, bool) {
	name, ok := literalText(b.attributes["source"])
	if !ok || !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../") {
		return name, false
	}
	return path.Join(m.folder, name), true
}

// literalText is the text of a string without references.
func literalText(x hclsyntax.Expression) (string, bool) {
	if x == nil {
		return "", false
	}
	template, ok := x.(*hclsyntax.TemplateExpr)
	if !ok || len(template.Parts) != 1 {
		return "", false
	}
	literal, ok := template.Parts[0].(*hclsyntax.LiteralValueExpr)
	if !ok || literal.Val.Type() != cty.String || literal.Val.IsNull() {
		return "", false
	}
	return literal.Val.AsString(), true
}

// instances are what a block makes. One whose count or for_each is unknown, or nothing,
// makes one, about whose key nothing is known.
func (m *module) instances(e *evaluator, b *block) []instance {
	scope := named{m}
	if x := b.attributes["count"]; x != nil {
		n, err := strconv.Atoi(e.eval(x, scope).Literal)
		if err != nil {
			n = 1
		}
		all := make([]instance, 0, min(max(n, 1), maxInstances))
		for i := range cap(all) {
			index := &Value{Kind: Number, Literal: strconv.Itoa(i), At: b.at}
			all = append(all, instance{suffix: "[" + index.Literal + "]", scope: &bindings{scope: scope, values: map[string]*Value{
				"count": {Kind: Object, At: b.at, Members: []Member{{Name: textValue("index", b.at), Value: index}}},
			}}})
		}
		return all
	}
	x := b.attributes["for_each"]
	if x == nil {
		return []instance{{scope: scope}}
	}
	v := e.eval(x, scope)
	members, ok := elements(v)
	var all []instance
	for _, member := range members[:min(len(members), maxInstances)] {
		key := member.Name
		if v.Kind == List {
			key = member.Value
		}
		text, known := key.Text.known()
		if key.Kind != String || !known {
			ok = false
			break
		}
		all = append(all, instance{suffix: "[" + strconv.Quote(text) + "]", scope: &bindings{scope: scope, values: map[string]*Value{
			"each": {Kind: Object, At: b.at, Members: []Member{
				{Name: textValue("key", b.at), Value: key}, {Name: textValue("value", b.at), Value: member.Value},
			}},
		}}})
	}
	if !ok || len(all) == 0 {
		return []instance{{scope: scope}}
	}
	return all
}
