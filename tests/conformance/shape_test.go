package conformance_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jmespath/jmespathtest"
)

// goShapes are the shapes of a model in Smithy's JSON AST, by ID.
type goShapes map[string]any

// goTypes are the types that the SDK gives simple shapes.
var goTypes = map[string]reflect.Type{
	"blob":      reflect.TypeFor[[]byte](),
	"boolean":   reflect.TypeFor[*bool](),
	"byte":      reflect.TypeFor[*int8](),
	"short":     reflect.TypeFor[*int16](),
	"integer":   reflect.TypeFor[*int32](),
	"long":      reflect.TypeFor[*int64](),
	"float":     reflect.TypeFor[*float32](),
	"double":    reflect.TypeFor[*float64](),
	"string":    reflect.TypeFor[*string](),
	"timestamp": reflect.TypeFor[*time.Time](),
	"document":  reflect.TypeFor[any](),
	"unit":      reflect.TypeFor[*struct{}](),
	"union":     reflect.TypeFor[any](),
}

// side is the type of an operation's input or output: an empty structure if it
// has none.
func (s goShapes) side(operation, side string) (reflect.Type, error) {
	shape, _ := s[operation].(map[string]any)
	reference, ok := shape[side]
	if !ok {
		return reflect.TypeFor[*struct{}](), nil
	}
	return s.target(reference, 0)
}

// target is the type of the shape that is referred to, so many shapes deep.
func (s goShapes) target(reference any, depth int) (reflect.Type, error) {
	id, _ := reference.(map[string]any)["target"].(string)
	if depth > 16 {
		return nil, fmt.Errorf("shape %s is too deep for a type that is made at run time", id)
	}
	shape, ok := s[id].(map[string]any)
	if name, prelude := strings.CutPrefix(id, "smithy.api#"); prelude {
		shape = map[string]any{"type": strings.ToLower(name[:1]) + name[1:]}
	} else if !ok {
		return nil, fmt.Errorf("there is no shape %s", id)
	}
	switch typ, _ := shape["type"].(string); typ {
	case "structure":
		return s.structure(shape, depth)
	case "list":
		elem, err := s.target(shape["member"], depth+1)
		if err != nil {
			return nil, err
		}
		return reflect.SliceOf(value(elem)), nil
	case "map":
		elem, err := s.target(shape["value"], depth+1)
		if err != nil {
			return nil, err
		}
		return reflect.MapOf(reflect.TypeFor[string](), value(elem)), nil
	default:
		if simple, ok := goTypes[typ]; ok {
			return simple, nil
		}
		return nil, fmt.Errorf("shape %s of type %q has no Go type", id, typ)
	}
}

// structure is a pointer to a struct with a field for each member.
func (s goShapes) structure(shape map[string]any, depth int) (reflect.Type, error) {
	members, _ := shape["members"].(map[string]any)
	var fields []reflect.StructField
	for _, name := range slices.Sorted(maps.Keys(members)) {
		t, err := s.target(members[name], depth+1)
		if err != nil {
			return nil, err
		}
		field := jmespathtest.GoName(name)
		if field == "" || slices.ContainsFunc(fields, func(f reflect.StructField) bool { return f.Name == field }) {
			return nil, fmt.Errorf("member %q can be no Go field", name)
		}
		fields = append(fields, reflect.StructField{Name: field, Type: t})
	}
	return reflect.PointerTo(reflect.StructOf(fields)), nil
}

// value is the type of an element: the SDK has no pointers in lists and maps.
func value(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

func TestGoShapes(t *testing.T) {
	t.Parallel()
	model, err := readIDL(`
		namespace a
		operation Get { input: In, output: Out }
		structure In {}
		structure Out { jobs: Jobs, byName: Names, done: Boolean, when: Timestamp, any: Either }
		list Jobs { member: Job }
		map Names { key: String, value: Job }
		union Either { a: String }
		structure Job { size: Long, bits: Blob, none: Unit, tags: Tags }
		list Tags { member: Tag }
		string Tag
		operation Other { input: Gone, output: Endless }
		structure Gone { x: Nowhere }
		structure Endless { again: Endless }
		operation Odd { input: Twice, output: Op }
		structure Twice { a: String, A: String }
		operation Op {}`)
	require.NoError(t, err)
	shapes := goShapes(model["shapes"].(map[string]any))
	in, err := shapes.side("a#Get", "input")
	require.NoError(t, err)
	require.Equal(t, reflect.TypeFor[*struct{}](), in)
	out, err := shapes.side("a#Get", "output")
	require.NoError(t, err)
	type job = struct {
		Bits []byte
		None *struct{}
		Size *int64
		Tags []string
	}
	require.Equal(t, reflect.TypeFor[*struct {
		Any    any
		ByName map[string]job
		Done   *bool
		Jobs   []job
		When   *time.Time
	}](), out)
	for at, want := range map[[2]string]string{
		{"a#Other", "input"}:  "there is no shape a#Nowhere",
		{"a#Other", "output"}: "shape a#Endless is too deep",
		{"a#Odd", "input"}:    `member "a" can be no Go field`,
		{"a#Odd", "output"}:   `shape a#Op of type "operation" has no Go type`,
	} {
		_, err := shapes.side(at[0], at[1])
		require.ErrorContains(t, err, want)
	}
	none, err := shapes.side("a#Op", "input")
	require.NoError(t, err)
	require.Equal(t, reflect.TypeFor[*struct{}](), none)
}
