package typecheck

import (
	"strconv"

	"github.com/jobpoller/jobpoller/internal/intrinsic"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// template is what a template gives. at is its JSON pointer.
func (x *scene) template(t *asl.Template, at string) Value {
	switch t.Kind {
	case asl.TemplatePath:
		return x.readInTemplate(t.Path, at)
	case asl.TemplateIntrinsic:
		return x.intrinsic(t.Intrinsic, at)
	case asl.TemplateExpression:
		return x.expression(t.Expression, at)
	case asl.TemplateObject:
		fields := make([]field, len(t.Object))
		dead := false
		for i, m := range t.Object {
			fields[i] = field{m.Name, x.template(m.Value, x.below(at, m.Field))}
			dead = dead || fields[i].value.IsNothing()
		}
		if dead {
			return Nothing()
		}
		return objectOf(distinct(fields))
	case asl.TemplateArray:
		items := make([]Value, len(t.Array))
		for i, item := range t.Array {
			if items[i] = x.template(item, x.below(at, strconv.Itoa(i))); items[i].IsNothing() {
				return items[i]
			}
		}
		return arrayOf(newTuple(items))
	default:
		return x.c.literal(t)
	}
}

// literal is the value of a template in which nothing is computed.
func (c *Checker) literal(t *asl.Template) Value {
	return c.once(t, func() Value { return c.constant(t.Literal) })
}

// templateOr is what a template gives, or the value if there is none.
func (x *scene) templateOr(t *asl.Template, otherwise Value, field ...string) Value {
	if t == nil {
		return otherwise
	}
	return x.template(t, x.at(field...))
}

// intrinsic is what a call of an intrinsic function gives.
func (x *scene) intrinsic(call *intrinsic.Call, at string) Value {
	arguments := call.Arguments()
	values := make([]Value, len(arguments))
	for i, a := range arguments {
		if values[i] = x.argument(a, at); values[i].IsNothing() {
			return values[i]
		}
	}
	demandArguments(call.Function(), values)
	if known, ok := x.foldIntrinsic(call, at); ok {
		return known
	}
	switch call.Function() {
	case "Format", "JsonToString", "Base64Encode", "Base64Decode", "Hash", "UUID":
		return anyText
	case "MathRandom", "MathAdd":
		return anyNumber
	case "ArrayLength":
		return lengthOf(values[0])
	case "ArrayContains":
		return anyBoolean
	case "Array":
		return arrayOf(newTuple(values))
	case "ArrayUnique":
		return arrayOf(newList(values[0].list().element()))
	case "ArrayPartition":
		return arrayOf(newList(arrayOf(newList(values[0].list().element()))))
	case "ArrayRange":
		return arrayOf(newList(anyNumber))
	case "StringSplit":
		return arrayOf(newList(anyText))
	case "ArrayGetItem":
		if i, ok := oneNumber(values[1]); ok && values[0].kinds() == arrays {
			if item, ok := itemAt(values[0], i); ok && i >= 0 && !item.may(missing) {
				return item
			}
		}
		return join(values[0].list().element(), ofKinds(null))
	case "JsonMerge":
		return ofKinds(objects)
	default: // StringToJson
		return values[0].demandJSON().without(missing)
	}
}

// demandArguments notes what an intrinsic function takes.
func demandArguments(function string, values []Value) {
	for i, v := range values {
		switch function {
		case "Format":
			v.demandKinds(texts | numbers | booleans | null)
		case "Base64Encode", "Base64Decode", "StringSplit":
			v.demandKinds(texts)
		case "MathRandom", "MathAdd", "ArrayRange":
			v.demandKinds(numbers)
		case "ArrayLength", "ArrayUnique", "ArrayContains", "ArrayPartition", "ArrayGetItem":
			switch {
			case i == 0:
				v.demandKinds(arrays)
			case function != "ArrayContains":
				v.demandKinds(numbers)
				v.demand(func(d *Demand) { d.index = d.index || function == "ArrayGetItem" })
				if _, known := oneNumber(v); !known && function == "ArrayGetItem" {
					values[0].demandPicked()
				}
			}
		case "JsonMerge":
			v.demandKinds(objects)
		}
	}
}

func (x *scene) argument(a intrinsic.Argument, at string) Value {
	switch {
	case a.Path != nil:
		return x.read(a.Path, at)
	case a.Call != nil:
		return x.intrinsic(a.Call, at)
	default:
		return x.c.constant(a.Literal)
	}
}
