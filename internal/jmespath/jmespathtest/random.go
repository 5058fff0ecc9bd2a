package jmespathtest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"time"
)

// Generator makes random values of Go types and random expressions that read
// them.
type Generator struct {
	*rand.Rand
	// Wide has what the library of the differential test does not do as the
	// specification says: odd strings and numbers, and sort_by().
	Wide bool
}

// NewGenerator returns a generator that repeats for a seed.
func NewGenerator(seed uint64) *Generator {
	return &Generator{Rand: rand.New(rand.NewPCG(seed, 0))} //nolint:gosec // it repeats for a seed
}

// One is true once in so many times.
func (g *Generator) One(in int) bool { return g.IntN(in) == 0 }

// Pick gives one of the words.
func (g *Generator) Pick(words ...string) string { return words[g.IntN(len(words))] }

// Word gives a string that a response may have.
func (g *Generator) Word() string {
	if g.Wide && g.One(8) {
		return g.Pick(`say "x"`, `back\slash`, "new\nline\x00", "😀 \u2028", "%}", "`tick'", "null", "-0", "1e400", ")", "]('", "{")
	}
	return g.Pick("Web", "Web", "InService", "a", "", "12", "1.5", "é✓")
}

// Fill gives a value random contents. Pointers are nil at times, but for those
// to structs in lists; below depth everything is nil.
func (g *Generator) Fill(v reflect.Value, depth int) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.UnixMilli(250 * g.Int64N(1e10))))
		return
	}
	switch v.Kind() { //nolint:exhaustive // the others stay nil
	case reflect.Pointer:
		if depth > 0 && !g.One(5) {
			v.Set(reflect.New(v.Type().Elem()))
			g.Fill(v.Elem(), depth-1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && f.Name != "ResultMetadata" {
				g.Fill(v.Field(i), depth-1)
			}
		}
	case reflect.Slice:
		if depth <= 0 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), g.IntN(4), 4))
		for i := range v.Len() {
			item := v.Index(i)
			if item.Kind() == reflect.Pointer && item.Type().Elem().Kind() == reflect.Struct {
				item.Set(reflect.New(item.Type().Elem()))
				item = item.Elem()
			}
			g.Fill(item, depth-1)
		}
	case reflect.Map:
		if v.Set(reflect.MakeMap(v.Type())); depth <= 0 {
			return
		}
		for _, key := range []string{"a", "b", "c"}[:g.IntN(4)] {
			item := reflect.New(v.Type().Elem()).Elem()
			g.Fill(item, depth-1)
			v.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), item)
		}
	case reflect.Interface:
		if v.NumMethod() == 0 && depth > 0 && g.One(2) {
			v.Set(reflect.ValueOf(g.Document(depth - 1)))
		}
	case reflect.String:
		v.SetString(g.Word())
	case reflect.Bool:
		v.SetBool(g.One(2))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(g.IntN(9)-4) / 2)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(g.Uint64N(256))
	case reflect.Int, reflect.Int8, reflect.Int32, reflect.Int64:
		v.SetInt(int64(g.IntN(7) - 2))
	case reflect.Array:
		for i := range v.Len() {
			g.Fill(v.Index(i), depth-1)
		}
	}
}

// Document makes a JSON value, with names that structs have too.
func (g *Generator) Document(depth int) any {
	if depth <= 0 || g.One(3) {
		return g.Word()
	}
	if g.One(3) {
		return []any{g.Document(depth - 1), g.Document(depth - 1)}
	}
	return map[string]any{"Name": g.Document(depth - 1), g.Pick("a", "Parts", "Count"): g.Document(depth - 1)}
}

// StructType makes a struct type, with structs in it up to a depth.
func (g *Generator) StructType(depth int) reflect.Type {
	var fields []reflect.StructField
	for i, name := range []string{"Name", "Shade", "Parts", "Zones", "Count", "Name2", "Ready"} {
		if i > 0 && g.One(3) {
			continue
		}
		fields = append(fields, reflect.StructField{Name: name, Type: g.fieldType(depth - 1)})
	}
	return reflect.StructOf(fields)
}

// behind follows pointers. What is known of a type that is nil is nothing.
func behind(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

func isKind(t reflect.Type, k reflect.Kind) bool {
	return t != nil && t.Kind() == k && t != reflect.TypeFor[time.Time]() && t != reflect.TypeFor[[]byte]()
}

// Path is a member or a path of two.
func (g *Generator) Path(t reflect.Type) string {
	name, inner := g.member(behind(t))
	if isKind(inner, reflect.Struct) {
		next, _ := g.member(inner)
		return name + "." + next
	}
	return name
}

// Expression makes an expression to evaluate on a value of a type, and says
// what type its result is, or nil.
func (g *Generator) Expression(t reflect.Type, depth int) (string, reflect.Type) {
	t = behind(t)
	if depth <= 0 {
		if isKind(t, reflect.Struct) || isKind(t, reflect.Map) {
			return g.member(t)
		}
		return "@", t
	}
	inner := func() string { e, _ := g.Expression(t, depth-1-g.IntN(2)); return e }
	choice := g.IntN(16)
	if (choice == 5 || choice == 6) && !isKind(t, reflect.Struct) {
		choice = 10 // the value may be null, from which the library selects
	}
	switch choice {
	case 0:
		return g.literal(), nil
	case 1:
		return fmt.Sprintf("%s %s %s", g.operand(t, depth), g.Pick("==", "!=", "<", "<=", ">", ">="), g.operand(t, depth)), nil
	case 2:
		return fmt.Sprintf("(%s) %s (%s)", inner(), g.Pick("&&", "||"), inner()), nil
	case 3:
		return fmt.Sprintf("%s %s %s", g.operand(t, depth), g.Pick("&&", "||"), g.operand(t, depth)), nil
	case 4:
		return "!" + g.operand(t, depth), nil
	case 5:
		return fmt.Sprintf("[%s, %s]%s", inner(), inner(), g.Pick("", "", "[]", "[0]", "[*].Name")), nil
	case 6:
		return fmt.Sprintf("{a: %s, b: %s}%s", inner(), inner(), g.Pick("", ".a", ".b", ".*", ".[b, a]")), nil
	case 7, 8:
		return g.call(t, depth), nil
	case 9:
		left, lt := g.Expression(t, depth-1)
		right, rt := g.steps("@", lt, depth-1)
		return left + " | " + right, rt
	default:
		return g.steps("", t, depth)
	}
}

func (g *Generator) fieldType(depth int) reflect.Type {
	scalars := []reflect.Type{
		reflect.TypeFor[*string](), reflect.TypeFor[Shade](), reflect.TypeFor[*int32](), reflect.TypeFor[bool](),
		reflect.TypeFor[*time.Time](), reflect.TypeFor[any](), reflect.TypeFor[*Machine](),
	}
	if depth <= 0 {
		return scalars[g.IntN(len(scalars))]
	}
	switch g.IntN(5) {
	case 0:
		return reflect.PointerTo(g.StructType(depth))
	case 1:
		return reflect.SliceOf(g.StructType(depth))
	case 2:
		return reflect.MapOf(reflect.TypeFor[string](), g.StructType(depth))
	case 3:
		return reflect.SliceOf(reflect.TypeFor[Shade]())
	default:
		return scalars[g.IntN(len(scalars))]
	}
}

// member picks a member of a type, or a name that is none if there are none.
func (g *Generator) member(t reflect.Type) (string, reflect.Type) {
	if isKind(t, reflect.Struct) {
		for range 20 {
			f := t.Field(g.IntN(t.NumField()))
			if f.IsExported() && !f.Anonymous && f.Name != "ResultMetadata" {
				return f.Name, behind(f.Type)
			}
		}
	}
	if isKind(t, reflect.Map) {
		return g.Pick("a", "b", "z"), behind(t.Elem())
	}
	return g.Pick("None", `"no name"`, "a"), nil
}

// operand is an expression that needs no brackets.
func (g *Generator) operand(t reflect.Type, depth int) string {
	switch g.IntN(4) {
	case 0:
		return g.literal()
	case 1:
		e, _ := g.Expression(t, depth-2)
		return "(" + e + ")"
	case 2:
		return g.call(t, depth-1)
	default:
		e, _ := g.steps("", t, depth-1)
		return e
	}
}

func (g *Generator) literal() string {
	if g.Wide && g.One(6) {
		return g.Pick("`-0`", "`9007199254740993`", "`1e21`", "`1e-7`", "`[[1], []]`", "`[null]`", "`{\"b\": null}`", "`[\"%}\", {\"}\": \"%\"}]`",
			"'%}'", "')'", "'](`'", "'a) and (b'", `'say "x"'`, `'back\slash'`, "`\"new\\nline\\u0000\"`", "`\"\\ud83d\\ude00 \\u2028\"`", "'\"'")
	}
	return g.Pick("`0`", "`1`", "`-1.5`", "`true`", "`false`", "`null`", "`[]`", "`{}`", "`[1, 2]`", "`[\"Web\"]`", "`{\"a\": 1}`",
		"'Web'", "'InService'", "'a'", "''", "`\"12\"`", `'it\'s'`, "`\"tick\\`\"`")
}

// steps follows a base into its members and elements.
func (g *Generator) steps(base string, t reflect.Type, depth int) (string, reflect.Type) {
	var b strings.Builder
	b.WriteString(base)
	for range 1 + g.IntN(max(depth, 0)+2) {
		t = behind(t)
		switch {
		case isKind(t, reflect.Struct) || isKind(t, reflect.Map):
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			var step string
			step, t = g.memberStep(t, depth)
			b.WriteString(step)
		case isKind(t, reflect.Slice):
			elem := behind(t.Elem())
			switch g.IntN(7) {
			case 0:
				fmt.Fprintf(&b, "[%d]", g.IntN(5)-2)
			case 1:
				fmt.Fprintf(&b, "[%s:%s:%s]", g.bound(), g.bound(), g.Pick("", "1", "2", "-1", "-2"))
			case 2:
				b.WriteString("[*]")
			case 3, 4:
				condition, _ := g.Expression(elem, depth-1)
				fmt.Fprintf(&b, "[?%s]", condition)
			default:
				b.WriteString("[]")
			}
			t = elem
		default:
			if b.Len() == 0 {
				return "@", t
			}
			if t == nil && g.One(3) {
				b.WriteString(g.Pick("[]", "[*]", "[0]", ".a", ".None", "[].Name", "[?@]"))
				continue
			}
			return b.String(), t
		}
	}
	return b.String(), t
}

// memberStep goes on from a structure or a map: to all members, a list or an object
// made of them, or one.
func (g *Generator) memberStep(t reflect.Type, depth int) (step string, inner reflect.Type) {
	switch g.IntN(12) {
	case 0:
		if t.Kind() == reflect.Map {
			inner = behind(t.Elem())
		}
		return "*", inner
	case 1:
		a, _ := g.Expression(t, depth-2)
		c, _ := g.Expression(t, depth-2)
		return fmt.Sprintf("[%s, %s]", a, c), nil
	case 2:
		a, _ := g.Expression(t, depth-2)
		return fmt.Sprintf("{x: %s}", a), nil
	default:
		return g.member(t)
	}
}

func (g *Generator) bound() string { return g.Pick("", "", "0", "1", "-1", "2", "-3", "9") }

// call is a call of a function on what suits it or not.
func (g *Generator) call(t reflect.Type, depth int) string {
	arg, at := g.Expression(t, depth-1)
	elem := reflect.Type(nil)
	if isKind(at, reflect.Slice) {
		elem = at.Elem()
	}
	body, _ := g.Expression(elem, 1)
	other := func() string { e, _ := g.Expression(t, depth-2); return e }
	choice := g.IntN(15)
	if g.Wide && (choice == 5 || choice == 6) && !g.One(4) { // to_string() is not translated
		return fmt.Sprintf("%s(%s, &%s)%s", g.Pick("sort_by", "sort_by", "max_by", "min_by"), arg, body, g.Pick("", "[0]", "[].Name", "[::-1]"))
	}
	switch choice {
	case 13:
		return fmt.Sprintf("%s(%s, %s)", g.Pick("starts_with", "ends_with", "contains"), arg, g.Pick("'W'", "'eb'", "'é✓'", "'✓'", "''", "`1`"))
	case 0:
		return fmt.Sprintf("%s(%s)", g.Pick("abs", "ceil", "floor"), arg)
	case 1:
		return fmt.Sprintf("%s(%s)", g.Pick("avg", "sum"), arg)
	case 2:
		return fmt.Sprintf("%s(%s)", g.Pick("max", "min", "sort"), arg)
	case 3:
		return fmt.Sprintf("%s(%s, &%s)", g.Pick("max_by", "min_by"), arg, g.Path(elem))
	case 4:
		return fmt.Sprintf("contains(%s, %s)", arg, g.operand(t, depth-1))
	case 5:
		return fmt.Sprintf("%s(to_string(%s), %s)", g.Pick("starts_with", "ends_with", "contains"), arg, g.Pick("'W'", "'a'", "'1'", "`1`", "''"))
	case 6:
		return fmt.Sprintf("join(', ', %s[].to_string(@))", g.Pick("Zones", "Hosts", "Names"))
	case 7:
		return fmt.Sprintf("%s(%s)", g.Pick("keys", "values"), arg)
	case 8:
		return fmt.Sprintf("merge(%s, %s)", arg, g.Pick("`{\"a\": 1}`", "`{}`", other()))
	case 9:
		return fmt.Sprintf("map(&%s, %s)", body, arg)
	case 10:
		return fmt.Sprintf("not_null(%s, %s)", arg, other())
	case 11:
		return fmt.Sprintf("reverse(%s)", arg)
	case 12:
		return fmt.Sprintf("%s(%s)", g.Pick("to_array", "to_number", "to_string", "type"), arg)
	default:
		return fmt.Sprintf("length(%s)", arg)
	}
}
