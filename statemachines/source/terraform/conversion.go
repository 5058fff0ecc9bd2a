package terraform

import (
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// conversion gives a value the type of a variable, as Terraform does. What keeps its type
// keeps its places.
type conversion struct {
	budget *budget
	source string // the variable
	at     Place
}

func (c *conversion) convert(v *Value, kind cty.Type, defaults *typeexpr.Defaults) *Value {
	switch {
	case !c.budget.step():
		return c.unknown()
	case v.Kind == Unknown || v.Kind == Null || kind == cty.DynamicPseudoType:
		return v
	case kind.IsPrimitiveType():
		if scalars[v.Kind] == kind {
			return v
		}
		return c.whole(v, kind)
	case v.Kind == List && kind.IsSetType():
		return c.set(c.list(v, kind, defaults), kind)
	case v.Kind == List && (kind.IsListType() || kind.IsTupleType() && kind.Length() == len(v.Items)):
		return c.list(v, kind, defaults)
	case v.Kind == Object && kind.IsMapType():
		return c.dictionary(v, kind, defaults)
	case v.Kind == Object && kind.IsObjectType():
		return c.object(v, kind, defaults)
	}
	return failedValue(c.source, c.at)
}

// scalars are the types of values without items or members.
var scalars = map[Kind]cty.Type{Bool: cty.Bool, Number: cty.Number, String: cty.String}

func (c *conversion) unknown() *Value { return unknownValue(c.source, c.at) }

// whole converts a value of which each part is known; another becomes unknown.
func (c *conversion) whole(v *Value, kind cty.Type) (out *Value) {
	known, ok := v.toCty(c.budget)
	if !ok || hasHugeNumber(known) {
		return c.unknown()
	}
	defer func() {
		if recover() != nil { // cty panics about types that a plan would have refused
			out = failedValue(c.source, c.at)
		}
	}()
	converted, err := convert.Convert(known, kind)
	if err != nil {
		return failedValue(c.source, c.at)
	}
	return fromCty(converted, c.source, v.At, c.budget)
}

// list converts the items of a list, a set or a tuple.
func (c *conversion) list(v *Value, kind cty.Type, defaults *typeexpr.Defaults) *Value {
	items := make([]*Value, len(v.Items))
	for i, item := range v.Items {
		if kind.IsTupleType() {
			items[i] = c.convert(item, kind.TupleElementType(i), child(defaults, strconv.Itoa(i)))
		} else {
			items[i] = c.convert(item, kind.ElementType(), child(defaults, ""))
		}
	}
	if !kind.IsTupleType() && kind.ElementType().HasDynamicTypes() {
		items = c.unify(items)
	}
	if slices.Equal(items, v.Items) {
		return v
	}
	return &Value{Kind: List, Items: items, At: v.At, Site: v.Site}
}

// set puts the items of a list in the order of a set.
func (c *conversion) set(v *Value, kind cty.Type) *Value {
	if len(v.Items) < 2 {
		return v
	}
	if sorted := set([]*Value{v}, v.At); sorted != nil {
		return sorted
	}
	return c.whole(v, kind)
}

// dictionary converts the members of a map.
func (c *conversion) dictionary(v *Value, kind cty.Type, defaults *typeexpr.Defaults) *Value {
	all := make([]*Value, len(v.Members))
	for i, m := range v.Members {
		all[i] = c.convert(m.Value, kind.ElementType(), child(defaults, ""))
	}
	if kind.ElementType().HasDynamicTypes() {
		if all = c.unify(all); v.open { // one of the members that nobody knows may make all of them strings
			for i, inner := range all {
				if inner.Kind != String {
					all[i] = c.unknown()
				}
			}
		}
	}
	members := make([]Member, len(all))
	for i, m := range v.Members {
		members[i] = Member{m.Name, m.Key, all[i]}
	}
	return withMembers(v, members, v.open)
}

// object takes the members that a type has, and adds those that it may lack.
func (c *conversion) object(v *Value, kind cty.Type, defaults *typeexpr.Defaults) *Value {
	types := kind.AttributeTypes()
	open := v.open
	var members []Member
	for _, m := range v.Members {
		name, known := m.Name.Text.known()
		if open = open || !known; known && types[name] != cty.NilType {
			value := m.Value
			if value.Kind == Null {
				value = c.absent(name, defaults)
			}
			members = append(members, Member{m.Name, m.Key, c.convert(value, types[name], child(defaults, name))})
		}
	}
	if open {
		return withMembers(v, members, true)
	}
	missing := []string{}
	for name := range types {
		if v.get(name) == nil {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	for _, name := range missing {
		if !kind.AttributeOptional(name) {
			return failedValue(c.source, c.at)
		}
		value := c.convert(c.absent(name, defaults), types[name], child(defaults, name))
		members = append(members, Member{textValue(name, v.At), v.At, value})
	}
	return withMembers(v, members, false)
}

// absent is what a member is that is not given, or null.
func (c *conversion) absent(name string, defaults *typeexpr.Defaults) *Value {
	if defaults != nil {
		if v, has := defaults.DefaultValues[name]; has {
			return fromCty(v, c.source, c.at, c.budget)
		}
	}
	return &Value{Kind: Null, At: c.at}
}

// unify gives the elements of a list or a map, of which the type says not all, one type.
// They are unknown if it is not sure which.
func (c *conversion) unify(elements []*Value) []*Value {
	shapes := make([]cty.Type, len(elements))
	for i, v := range elements {
		shapes[i] = v.shape(c.budget)
	}
	if !slices.ContainsFunc(shapes, func(t cty.Type) bool { return !t.Equals(shapes[0]) }) {
		return slices.Clone(elements)
	}
	has := func(kind Kind) bool {
		return slices.ContainsFunc(elements, func(v *Value) bool { return v.Kind == kind })
	}
	out := make([]*Value, len(elements))
	if has(String) && !has(List) && !has(Object) {
		for i, v := range elements {
			out[i] = c.convert(v, cty.String, nil)
		}
		return out
	}
	if list := c.whole(&Value{Kind: List, Items: elements, At: c.at}, cty.List(cty.DynamicPseudoType)); list.Kind == List {
		return list.Items
	}
	for i := range out {
		out[i] = c.unknown()
	}
	return out
}

// shape is the type of a value. One that is unknown counts as a string: beside strings alone it
// changes nothing.
func (v *Value) shape(b *budget) cty.Type {
	if !b.step() {
		return cty.DynamicPseudoType
	}
	switch v.Kind {
	case List:
		items := make([]cty.Type, len(v.Items))
		for i, item := range v.Items {
			items[i] = item.shape(b)
		}
		return cty.Tuple(items)
	case Object:
		members := map[string]cty.Type{}
		for _, m := range v.Members {
			name, _ := m.Name.Text.known()
			members[name] = m.Value.shape(b)
		}
		return cty.Object(members)
	case Unknown, String:
		return cty.String
	case Bool, Number:
		return scalars[v.Kind]
	case Null:
	}
	return cty.DynamicPseudoType
}

// child are the defaults of a part.
func child(defaults *typeexpr.Defaults, name string) *typeexpr.Defaults {
	if defaults == nil {
		return nil
	}
	return defaults.Children[name]
}

// withMembers is an object with these members.
func withMembers(v *Value, members []Member, open bool) *Value {
	if open == v.open && slices.Equal(members, v.Members) {
		return v
	}
	return &Value{Kind: Object, Members: members, Hole: v.Hole, At: v.At, Site: v.Site, open: open}
}
