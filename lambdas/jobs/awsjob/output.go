package awsjob

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/document"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// output is what a call returns.
type output struct {
	call  *call
	spell spelling
	value map[string]any
}

// Deserialize implements smithy.Deserializable.
func (out *output) Deserialize(from smithy.ShapeDeserializer) error {
	p := &parser{from: from, spell: out.spell}
	value, err := p.structure(out.call.op.Output, out.call.schema.Output)
	out.value = value
	return err
}

// parser makes JSON values of an answer, by the shapes of the model.
type parser struct {
	from  smithy.ShapeDeserializer
	spell spelling
	depth int // of the value that is read
}

// structure reads a structure. Members that the model does not know are
// skipped, and so are nulls.
func (p *parser) structure(shape *catalog.Shape, schema *smithy.Schema) (map[string]any, error) {
	object := map[string]any{}
	err := smithy.ReadStruct(p.from, schema, func(member *smithy.Schema) error {
		return p.member(object, shape, member)
	})
	return object, err
}

// member reads a member of a structure or union into an object.
func (p *parser) member(object map[string]any, shape *catalog.Shape, member *smithy.Schema) error {
	m := shape.Member(member.MemberName())
	value, ok, err := p.value(m.Shape, member)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name, err)
	}
	// The SDK's outputs cannot tell an enum that is empty from one that is
	// not there.
	if value == "" && len(m.Shape.Enum) > 0 {
		ok = false
	}
	if !ok {
		return nil
	}
	name := p.spell(m.Name)
	if before, more := object[name].([]any); more && m.Flat {
		// A list without an element around it goes on behind elements of another name.
		value = slices.Concat(before, value.([]any)) //nolint:forcetypeassert // it is the same member
	}
	object[name] = value
	return nil
}

// element reads what a list or map holds, which may be null.
func (p *parser) element(shape *catalog.Shape, schema *smithy.Schema) (value any, ok bool, err error) {
	if isNull, err := p.from.ReadNil(schema); isNull || err != nil {
		return nil, false, err
	}
	return p.value(shape, schema)
}

// value reads a value that is not null, and says whether there is one: a union
// without a member that the model knows has none.
func (p *parser) value(shape *catalog.Shape, schema *smithy.Schema) (value any, ok bool, err error) {
	if p.depth++; p.depth > maxDepth {
		return nil, false, errTooDeep
	}
	defer func() { p.depth-- }()
	return p.inner(shape, schema)
}

// inner reads a value that is not too deep.
func (p *parser) inner(shape *catalog.Shape, schema *smithy.Schema) (value any, ok bool, err error) {
	switch shape.Type {
	case catalog.Structure:
		value, err = p.structure(shape, schema)
	case catalog.Union:
		object := map[string]any{}
		err = smithy.ReadUnion(p.from, schema, func(member *smithy.Schema) error { return p.member(object, shape, member) })
		return object, len(object) > 0, err
	case catalog.List:
		value, err = p.list(shape, schema)
	case catalog.Map:
		value, err = p.mapping(shape, schema)
	case catalog.String:
		var v string
		err = p.from.ReadString(schema, &v)
		value = v
	case catalog.Boolean:
		var v bool
		err = p.from.ReadBool(schema, &v)
		value = v
	case catalog.Integer:
		var v int32
		err = p.from.ReadInt32(schema, &v)
		value = json.Number(strconv.Itoa(int(v)))
	case catalog.Long:
		var v int64
		err = p.from.ReadInt64(schema, &v)
		value = json.Number(strconv.FormatInt(v, 10))
	case catalog.Float:
		var v float32
		err = p.from.ReadFloat32(schema, &v)
		value = number(float64(v), v)
	case catalog.Double:
		var v float64
		err = p.from.ReadFloat64(schema, &v)
		value = number(v, v)
	case catalog.Blob:
		var v []byte
		err = p.from.ReadBlob(schema, &v)
		value = base64.StdEncoding.EncodeToString(v)
	case catalog.Timestamp:
		var v time.Time
		err = p.from.ReadTime(schema, &v)
		value = v.UTC().Format(time.RFC3339Nano)
	case catalog.Document:
		value, err = p.document(schema)
	default:
		err = fmt.Errorf("an output cannot hold a value of the type %s", shape.Type)
	}
	return value, true, err
}

func (p *parser) list(shape *catalog.Shape, schema *smithy.Schema) ([]any, error) {
	list := []any{}
	err := readList(p.from, schema, func() error {
		value, ok, err := p.element(shape.Element.Shape, schema.ListMember())
		if err != nil {
			return fmt.Errorf("item %d: %w", len(list), err)
		}
		if ok {
			list = append(list, value)
		}
		return nil
	})
	return list, err
}

// readList is smithy.ReadList, which takes an answer that breaks off for the
// end of a list.
func readList(from smithy.ShapeDeserializer, schema *smithy.Schema, item func() error) error {
	if err := from.ReadList(schema); err != nil {
		return err
	}
	for {
		more, err := from.ReadListItem(schema.ListMember())
		if err != nil || !more {
			return err
		}
		if err := item(); err != nil {
			return err
		}
	}
}

func (p *parser) mapping(shape *catalog.Shape, schema *smithy.Schema) (map[string]any, error) {
	object := map[string]any{}
	if err := p.from.ReadMap(schema); err != nil {
		return nil, err
	}
	for {
		key, more, err := p.from.ReadMapKey(schema.MapKey())
		if err != nil || !more {
			return object, err
		}
		value, ok, err := p.element(shape.Element.Shape, schema.MapValue())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		if ok {
			object[key] = value
		}
	}
}

func (p *parser) document(schema *smithy.Schema) (any, error) {
	var v document.Value
	if err := p.from.ReadDocument(schema, &v); err != nil {
		return nil, err
	}
	if opaque, ok := v.(document.Opaque); ok {
		return opaque.Value, nil
	}
	return nil, fmt.Errorf("the document is a %T", v)
}

// number is a float as encoding/json writes it, or the string that the JSON
// protocols have for one that is not a number of JSON's.
func number(v float64, exact any) any {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	text, err := json.Marshal(exact)
	if err != nil {
		panic(err) // floats that are finite have a text
	}
	return json.Number(text)
}
