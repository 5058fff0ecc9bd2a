package jsonata

import (
	"encoding/json"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Values of an evaluation are nil for null, bool, string, float64, the
// json.Number, []any and map[string]any of the input, *list and *object, which
// the expression makes, functions, and undefined.

type undefinedType struct{}

// undefined is not a value.
var undefined any = undefinedType{}

// valueKind is the type of a value.
type valueKind uint8

const (
	kindUndefined valueKind = iota
	kindNull
	kindBoolean
	kindNumber
	kindString
	kindArray
	kindObject
	kindFunction
)

func kindOf(v any) valueKind {
	switch v.(type) {
	case undefinedType:
		return kindUndefined
	case nil:
		return kindNull
	case bool:
		return kindBoolean
	case float64, json.Number, int, int64:
		return kindNumber
	case string:
		return kindString
	case []any, *list:
		return kindArray
	case map[string]any, *object:
		return kindObject
	default:
		return kindFunction
	}
}

// list is an array that an expression makes.
type list struct {
	items []any
	// sequence says that it is the items that were found, not an array that was
	// written: one item is the item, and none is undefined.
	sequence bool
	// keep says that one item stays a sequence.
	keep bool
	// construct says that a path does not take the items of the array apart.
	construct bool
	// outer says that the only item is the input, which is an array.
	outer bool
}

// itemsOf are the items of an array.
func itemsOf(v any) (items []any, ok bool) {
	switch v := v.(type) {
	case *list:
		return v.items, true
	case []any:
		return v, true
	}
	return nil, false
}

// itemsOrOne are the items of an array, or the value as the only one.
func itemsOrOne(v any) []any {
	if items, ok := itemsOf(v); ok {
		return items
	}
	return []any{v}
}

// newList is an array of the items.
func (b *budget) newList(items ...any) *list {
	b.hold(listBytes + len(items)*slotBytes)
	return &list{items: items}
}

// newSequence is a sequence of the items.
func (b *budget) newSequence(items ...any) *list {
	l := b.newList(items...)
	l.sequence = true
	return l
}

// push appends a value.
func (b *budget) push(l *list, v any) {
	if len(l.items) == cap(l.items) {
		grown := max(4, cap(l.items)+cap(l.items)/2)
		b.hold(grown * slotBytes)
		l.items = slices.Grow(l.items, grown-len(l.items))
	}
	l.items = append(l.items, v)
}

// pushAll appends values.
func (b *budget) pushAll(l *list, values []any) {
	b.step(len(values) / 16)
	if need := len(l.items) + len(values); need > cap(l.items) {
		grown := max(need, cap(l.items)+cap(l.items)/2)
		b.hold(grown * slotBytes)
		l.items = slices.Grow(l.items, grown-len(l.items))
	}
	l.items = append(l.items, values...)
}

// concatenate is an array of the items of two.
func (b *budget) concatenate(first, second []any) *list {
	l := b.newList()
	b.hold((len(first) + len(second)) * slotBytes)
	b.step((len(first) + len(second)) / 4)
	l.items = append(append(make([]any, 0, len(first)+len(second)), first...), second...)
	return l
}

// collapse makes a sequence of one item the item, and one of none undefined.
func collapse(v any) any {
	l, ok := v.(*list)
	if !ok || !l.sequence {
		return v
	}
	switch len(l.items) {
	case 0:
		return undefined
	case 1:
		if !l.keep {
			return l.items[0]
		}
	}
	return v
}

// object is an object that an expression makes. Its members keep their order.
type object struct {
	names  []string
	values []any
	index  map[string]int // once there are many
}

const indexedMembers = 8

func (o *object) place(name string) (int, bool) {
	if o.index != nil {
		i, ok := o.index[name]
		return i, ok
	}
	for i, n := range o.names {
		if n == name {
			return i, true
		}
	}
	return 0, false
}

// newObject is an object without members.
func (b *budget) newObject() *object {
	b.hold(objectBytes)
	return &object{}
}

// set gives a member a value.
func (b *budget) set(o *object, name string, value any) {
	b.step(2 + len(name)/32)
	if i, ok := o.place(name); ok {
		o.values[i] = value
		return
	}
	b.hold(memberBytes)
	o.names, o.values = append(o.names, name), append(o.values, value)
	switch {
	case o.index != nil:
		o.index[name] = len(o.names) - 1
	case len(o.names) > indexedMembers:
		o.index = make(map[string]int, 2*len(o.names))
		for i, n := range o.names {
			o.index[n] = i
		}
	}
}

// remove takes members away.
func (o *object) remove(gone map[string]bool) {
	var names []string
	var values []any
	for i, name := range o.names {
		if !gone[name] {
			names, values = append(names, name), append(values, o.values[i])
		}
	}
	o.names, o.values, o.index = names, values, nil
	if len(names) > indexedMembers {
		o.index = make(map[string]int, len(names))
		for i, name := range names {
			o.index[name] = i
		}
	}
}

// member is the value of a member, or undefined.
func member(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		if value, ok := v[name]; ok {
			return value
		}
	case *object:
		if i, ok := v.place(name); ok {
			return v.values[i]
		}
	}
	return undefined
}

// namesOf are the names of the members of an object: in their order, or sorted
// where the object, as a map, has none.
func (b *budget) namesOf(v any) []string {
	switch v := v.(type) {
	case *object:
		b.step(len(v.names) / 16)
		return v.names
	case map[string]any:
		b.step(len(v) * (1 + bits.Len(uint(len(v)))/2))
		b.hold(len(v) * slotBytes)
		return slices.Sorted(maps.Keys(v))
	}
	return nil
}

// number is the value of a number.
func number(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case json.Number:
		f, _ := strconv.ParseFloat(string(n), 64)
		return f, true
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	}
	return 0, false
}

// read takes the steps of reading a number of the input, which may have many
// digits.
func (b *budget) read(v any) {
	if n, ok := v.(json.Number); ok && len(n) > 64 {
		b.step(len(n) / 16)
	}
}

// box gives a number as a value.
func (b *budget) box(f float64) any {
	b.bytes += 8
	return f
}

// isInteger says that a number is an integer as JavaScript writes it, of 64
// bits: Step Functions keeps these exactly.
func isInteger(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	if len(digits) > 18 {
		_, err := strconv.ParseInt(s, 10, 64)
		return err == nil
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return s != "-0"
}

// formatNumber writes a number as JavaScript does.
func formatNumber(f float64) string {
	if f == 0 {
		return "0"
	}
	if magnitude := math.Abs(f); magnitude < 1e-6 || magnitude >= 1e21 {
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
		return mantissa + "e" + exponent[:1] + strings.TrimLeft(exponent[1:], "0")
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// equal compares two values member by member.
func (b *budget) equal(x, y any, level int) bool {
	b.step(1)
	kind := kindOf(x)
	if kind != kindOf(y) {
		return false
	}
	switch kind {
	case kindString:
		s, _ := x.(string)
		t, _ := y.(string)
		b.step(min(len(s), len(t)) / bytesPerStep)
		return s == t
	case kindNumber:
		b.read(x)
		b.read(y)
		return sameNumber(x, y)
	case kindArray:
		b.nest(level)
		s, _ := itemsOf(x)
		t, _ := itemsOf(y)
		if len(s) != len(t) {
			return false
		}
		for i := range s {
			if !b.equal(s[i], t[i], level+1) {
				return false
			}
		}
		return true
	case kindObject:
		b.nest(level)
		return b.equalMembers(x, y, level)
	case kindFunction:
		return x == y
	default:
		return x == y
	}
}

func sameNumber(x, y any) bool {
	s, exact := x.(json.Number)
	t, both := y.(json.Number)
	if exact && both && (s == t || isInteger(string(s)) && isInteger(string(t))) {
		return s == t
	}
	f, _ := number(x)
	g, _ := number(y)
	return f == g
}

func (b *budget) equalMembers(x, y any, level int) bool {
	names := b.namesOf(x)
	if len(names) != memberCount(y) {
		return false
	}
	for _, name := range names {
		b.step(len(name) / 32)
		other := member(y, name)
		if other == undefined || !b.equal(member(x, name), other, level+1) {
			return false
		}
	}
	return true
}

func memberCount(v any) int {
	switch v := v.(type) {
	case map[string]any:
		return len(v)
	case *object:
		return len(v.names)
	}
	return 0
}

// nest refuses values that nest too deep to be walked.
func (b *budget) nest(level int) {
	if level > maxValueNesting {
		b.throw(errDepth)
	}
}

// truth is what a value means as a condition.
func (b *budget) truth(v any) bool {
	switch kind := kindOf(v); kind {
	case kindBoolean:
		return v == true
	case kindString:
		return v != ""
	case kindNumber:
		f, _ := number(v)
		return f != 0 && !math.IsNaN(f)
	case kindObject:
		return memberCount(v) > 0
	case kindArray:
		return b.anyTrue(v, 0)
	default:
		return false
	}
}

// anyTrue says that an array has an item that is true, at any level.
func (b *budget) anyTrue(v any, level int) bool {
	b.nest(level)
	items, _ := itemsOf(v)
	for _, item := range items {
		b.step(1)
		if kindOf(item) == kindArray {
			if b.anyTrue(item, level+1) {
				return true
			}
		} else if b.truth(item) {
			return true
		}
	}
	return false
}
