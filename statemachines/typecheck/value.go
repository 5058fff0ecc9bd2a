package typecheck

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Value is what is known of a JSON value: the values that it may be. The zero
// Value is unknown: it may be any, or none where a member may be missing. A Value
// does not change, and is bounded in depth and size: what goes beyond is unknown.
type Value struct{ set *set } // nil: unknown

// kinds are the types that a value may have.
type kinds uint8

const (
	missing kinds = 1 << iota // there is no value
	null
	booleans
	numbers
	texts
	arrays
	objects

	every = objects<<1 - 1
)

// set is the values that a Value may be, by their types. The details of a type
// count only where kinds has it.
type set struct {
	kinds  kinds
	truth  truth
	number []float64 // sorted; nil: any number
	least  *float64  // no number is less, where number is nil; nil: not known
	text   *words    // nil: any string
	array  *list     // nil: any array
	object *record   // nil: any object
	trend  Trend
	aged   bool // the trend is that of the lap before
}

// truth is the booleans that a value may be.
type truth uint8

const (
	isFalse truth = 1 << iota
	isTrue
	eitherTruth = isFalse | isTrue
)

const (
	maxLiterals = 32  // known strings or numbers of one value
	maxFields   = 128 // members of one object that are known one by one
	maxItems    = 256 // elements of one array that are known one by one
	maxDepth    = 24
	maxSize     = 4096 // parts of one value
)

// plain are the sets of which nothing is known but the kinds, one for each choice of
// kinds: most sets are such.
var plain = func() (all [every + 1]set) {
	for k := range all {
		all[k] = set{kinds: kinds(k), truth: eitherTruth}
	}
	return all
}()

// Nothing is what no value is: what cannot be reached has it.
func Nothing() Value { return Value{&plain[0]} }

// Unknown may be any value.
func Unknown() Value { return Value{} }

var (
	absent     = ofKinds(missing)
	anyText    = ofKinds(texts)
	anyNumber  = ofKinds(numbers)
	anyBoolean = ofKinds(booleans)
)

// ofKinds is any value of the types.
func ofKinds(k kinds) Value {
	if k == every {
		return Value{}
	}
	return Value{&plain[k]}
}

// pack makes a Value of a set.
func pack(s set) Value {
	if s.kinds&objects != 0 && s.object != nil && s.object.weight.over() {
		s.object = nil
	}
	if s.kinds&arrays != 0 && s.array != nil && s.array.weight.over() {
		s.array = nil
	}
	if s.isPlain() {
		return ofKinds(s.kinds)
	}
	kept := s // so that a plain set needs no memory
	return Value{&kept}
}

// isPlain tells whether nothing is known of the set but its kinds.
func (s *set) isPlain() bool {
	return s.trend == NoTrend && (s.kinds&booleans == 0 || s.truth == eitherTruth) && (s.kinds&numbers == 0 || s.number == nil && s.least == nil) &&
		(s.kinds&texts == 0 || s.text == nil) && (s.kinds&arrays == 0 || s.array == nil) && (s.kinds&objects == 0 || s.object == nil)
}

// IsNothing tells whether no value is possible.
func (v Value) IsNothing() bool { return v.kinds() == 0 }

// IsMissing tells whether the value is surely not there.
func (v Value) IsMissing() bool { return v.kinds() == missing }

// MayBeMissing tells whether there may be no value.
func (v Value) MayBeMissing() bool { return v.may(missing) }

// IsUnknown tells whether nothing is known.
func (v Value) IsUnknown() bool { return v.set == nil }

// IsArray tells whether the value is an array, where it is there.
func (v Value) IsArray() bool { return !v.IsUnknown() && v.kinds()&^(missing|null) == arrays }

// Literals returns the strings that the value may be, sorted, if it may be nothing
// but one of them.
func (v Value) Literals() ([]string, bool) {
	w := v.words()
	if v.kinds() != texts || w.any || w.enum != nil {
		return nil, false
	}
	return w.known, true
}

// Member is a member of the value as an object, which may be missing.
func (v Value) Member(name string) Value { return memberOf(v, name) }

// Item is an element of the value as an array, which may be missing.
func (v Value) Item(index int) Value {
	if v.kinds()&^(missing|null) != arrays {
		return Value{}
	}
	return v.list().get(index)
}

// Len is how many elements the value has as an array; not known if it may be none, or of several lengths.
func (v Value) Len() (n int, known bool) {
	if v.kinds() != arrays {
		return 0, false
	}
	return countItems([]Value{v})
}

// Enum returns the strings that the value may be as the model of a service knows
// them, of which a service may have more by now; nil if no model says.
func (v Value) Enum() []string {
	w := v.words()
	if w.enum == nil {
		return nil
	}
	return w.list()
}

// Numbers returns the numbers that the value may be; nil if it may be others, or no number.
func (v Value) Numbers() []float64 {
	if v.IsUnknown() || v.kinds() != numbers {
		return nil
	}
	return slices.Clone(v.set.number)
}

// String is the types of the value, for people.
func (v Value) String() string {
	if v.set == nil {
		return "unknown"
	}
	names := []struct {
		kind kinds
		name string
	}{{objects, "an object"}, {arrays, "an array"}, {texts, "a string"}, {numbers, "a number"}, {booleans, "a boolean"}, {null, "null"}, {missing, "missing"}}
	var out []string
	for _, n := range names {
		if v.set.kinds&n.kind != 0 {
			out = append(out, n.name)
		}
	}
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, " or ")
}

// open returns the set of a value, which is not shared.
func (v Value) open() set {
	if v.set == nil {
		return set{kinds: every, truth: eitherTruth}
	}
	return *v.set
}

// kinds are the types that the value may have.
func (v Value) kinds() kinds {
	if v.set == nil {
		return every
	}
	return v.set.kinds
}

// only is the part of the value that has one of the types.
func (v Value) only(k kinds) Value {
	if v.set != nil && v.set.kinds&^k == 0 {
		return v
	}
	if v.set == nil {
		return ofKinds(k)
	}
	s := *v.set
	s.kinds &= k
	return pack(s)
}

// without is the part of the value that has none of the types.
func (v Value) without(k kinds) Value { return v.only(every &^ k) }

// may tells whether the value may have one of the types.
func (v Value) may(k kinds) bool { return v.kinds()&k != 0 }

// record is what is known of the value as an object; nil if nothing is, or it is
// none.
func (v Value) record() *record {
	if v.set == nil || v.set.kinds&objects == 0 {
		return nil
	}
	return v.set.object
}

// list is what is known of the value as an array; nil if nothing is, or it is none.
func (v Value) list() *list {
	if v.set == nil || v.set.kinds&arrays == 0 {
		return nil
	}
	return v.set.array
}

// words are the strings that the value may be.
func (v Value) words() words {
	switch {
	case v.kinds()&texts == 0:
		return words{}
	case v.set == nil || v.set.text == nil:
		return anyWords
	default:
		return *v.set.text
	}
}

// textOf is one string.
func textOf(text string) Value { return pack(set{kinds: texts, text: &words{known: []string{text}}}) }

func truthOf(value bool) Value {
	if value {
		return pack(set{kinds: booleans, truth: isTrue})
	}
	return pack(set{kinds: booleans, truth: isFalse})
}

// numberOf is one number, or any if a float does not hold it for sure.
func numberOf(f float64) Value {
	const exact = 1 << 53
	if !(math.Abs(f) < exact) {
		return anyNumber
	}
	return pack(set{kinds: numbers, number: []float64{f}})
}

func objectOf(r *record) Value { return pack(set{kinds: objects, object: r}) }

func arrayOf(l *list) Value { return pack(set{kinds: arrays, array: l}) }

// Literal is what is known of a JSON value, with numbers as json.Number: all of
// it, but for placeholders.
func Literal(value any) Value { return literal(value, 0, false) }

// constant is what is known of a JSON value in the definition.
func (c *Checker) constant(value any) Value { return literal(value, 0, c.machine.Deployed) }

// literalKinds are the types of Literal, without a look at the parts of the value.
func literalKinds(value any) kinds {
	switch v := value.(type) {
	case []any:
		return arrays
	case map[string]any:
		return objects
	case string:
		if !asl.HasPlaceholder(v) {
			return texts
		}
	}
	return Literal(value).kinds()
}

// literal is what is known of a value, whose texts are as they stand if it is deployed.
func literal(value any, depth int, deployed bool) Value {
	if depth > maxDepth {
		return Value{}
	}
	switch v := value.(type) {
	case nil:
		return ofKinds(null)
	case bool:
		return truthOf(v)
	case string:
		switch {
		case deployed:
		case asl.IsPlaceholderText(v):
			return Value{}.without(missing)
		case asl.HasPlaceholder(v):
			return anyText
		}
		return textOf(v)
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			return anyNumber
		}
		return numberOf(f)
	case float64:
		return numberOf(v)
	case []any:
		items := make([]Value, len(v))
		for i, item := range v {
			items[i] = literal(item, depth+1, deployed)
		}
		return arrayOf(newTuple(items))
	case map[string]any:
		fields := make([]field, 0, len(v))
		for name, member := range v {
			fields = append(fields, field{name, literal(member, depth+1, deployed)})
		}
		return objectOf(newObject(fields))
	default:
		return Value{}
	}
}

// unite is the sorted union of two sorted lists.
func unite[T interface{ ~string | ~float64 }](a, b []T) []T {
	if len(b) == 0 {
		return a
	}
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}

// weight is how deep and large a value is.
type weight struct{ depth, size int }

func (w *weight) over() bool { return w.depth > maxDepth || w.size > maxSize }

// add counts a part of the value.
func (w *weight) add(part Value) {
	w.size++
	if part.set == nil {
		return
	}
	if r := part.record(); r != nil {
		w.depth, w.size = max(w.depth, r.weight.depth+1), w.size+r.weight.size
	}
	if l := part.list(); l != nil {
		w.depth, w.size = max(w.depth, l.weight.depth+1), w.size+l.weight.size
	}
}
