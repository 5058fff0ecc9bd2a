package typecheck

import (
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// functionKinds are the types that functions of JSONata give; missing where an
// argument may be.
var functionKinds = map[string]kinds{
	"string": texts, "substring": texts, "substringBefore": texts, "substringAfter": texts, "lowercase": texts, "uppercase": texts,
	"trim": texts, "pad": texts, "replace": texts, "join": texts, "base64encode": texts, "base64decode": texts,
	"encodeUrlComponent": texts, "encodeUrl": texts, "decodeUrlComponent": texts, "decodeUrl": texts, "formatNumber": texts,
	"formatBase": texts, "formatInteger": texts, "type": texts, "fromMillis": texts, "now": texts, "uuid": texts, "hash": texts,
	"length": numbers, "sum": numbers, "count": numbers, "max": numbers, "min": numbers, "average": numbers, "number": numbers,
	"floor": numbers, "ceil": numbers, "round": numbers, "abs": numbers, "sqrt": numbers, "power": numbers, "parseInteger": numbers,
	"toMillis": numbers, "millis": numbers, "random": numbers,
	"contains": booleans, "boolean": booleans, "not": booleans, "exists": booleans,
	"split": arrays, "match": arrays | objects,
}

// operandsOf are the types that functions of JSONata take as the first argument, as far
// as they tell something.
var operandsOf = map[string]kinds{
	"substring": texts, "substringBefore": texts, "substringAfter": texts, "lowercase": texts, "uppercase": texts, "trim": texts, "pad": texts,
	"replace": texts, "split": texts, "contains": texts, "match": texts, "length": texts, "base64encode": texts, "base64decode": texts,
	"encodeUrlComponent": texts, "encodeUrl": texts, "decodeUrlComponent": texts, "decodeUrl": texts, "parse": texts, "parseInteger": texts,
	"number": numbers, "floor": numbers, "ceil": numbers, "round": numbers, "abs": numbers, "sqrt": numbers, "power": numbers,
	"fromMillis": numbers, "formatNumber": numbers, "formatBase": numbers, "formatInteger": numbers,
	"sum": arrays, "max": arrays, "min": arrays, "average": arrays, "count": arrays, "map": arrays, "filter": arrays, "reduce": arrays,
	"sort": arrays, "reverse": arrays, "distinct": arrays, "zip": arrays, "single": arrays, "merge": arrays, "join": arrays,
	"not": booleans, "keys": objects, "lookup": objects, "each": objects, "sift": objects,
}

// mayFindNothing are the functions that may give nothing for an argument that is there.
var mayFindNothing = map[string]bool{"max": true, "min": true, "average": true, "match": true}

// findsNothing tells whether a function may give nothing for arguments that are there: $toMillis does if a
// text is not as its picture.
func findsNothing(function string, arguments int) bool {
	return mayFindNothing[function] || function == "toMillis" && arguments > 1
}

// always are the functions that give a value whatever their arguments are.
var always = map[string]bool{"count": true, "millis": true, "random": true, "now": true, "uuid": true, "exists": true}

// function is what a call gives.
func (x *scene) function(p *jsonata.Part, context Value) Value {
	_, bound := x.local(p.Text)
	own := bound || x.c.assigned[p.Text] // a function of the expression or the machine, not of the language
	if !own && mergesItems(p) {
		return x.mergeItems(p.Parts[0].Parts, context)
	}
	if p.Text == "exists" {
		x.excused++
		defer func() { x.excused-- }()
	}
	values := make([]Value, len(p.Parts))
	for i := range p.Parts {
		if values[i] = x.eval(&p.Parts[i], context); values[i].IsNothing() {
			return values[i]
		}
	}
	if f := x.localFunction(p.Text); f != nil {
		return x.apply(f, values...)
	}
	if own {
		return Value{}
	}
	p, values, known := x.withContext(p, values, context)
	switch {
	case !known:
		x.demandOperands(p, values)
		return Value{}
	case p.Text == "sort" && len(values) > 0:
		return x.sortBy(p, values[0], context)
	case p.Text == "lookup":
		x.checkKeys(p, values)
	case p.Text == "each":
		x.checkTable(p, context)
	}
	x.demandOperands(p, values)
	return x.resultOfCall(p, values, context)
}

// mergesItems tells whether a call merges the items that an array constructor lists.
func mergesItems(p *jsonata.Part) bool {
	return p.Text == "merge" && len(p.Parts) == 1 && p.Parts[0].Kind == jsonata.PartArray && len(p.Parts[0].Filters) == 0
}

// demandOperands notes what a function of the language takes as its arguments.
func (x *scene) demandOperands(p *jsonata.Part, values []Value) {
	switch {
	case len(values) == 0:
	case p.Text == "toMillis":
		values[0].demandTime()
	case operandsOf[p.Text] != 0:
		values[0].demandKinds(operandsOf[p.Text])
	}
	if len(values) == 0 || p.Text != "contains" && p.Text != "match" {
		return
	}
	values[0].demandMatch(patternIn(p))
	if len(p.Parts) > 1 {
		x.checkPattern(values[0], &p.Parts[1])
		demandWordOf(values[0], values[1])
	}
}

// resultOfCall is what a function of the language gives for its arguments.
func (x *scene) resultOfCall(p *jsonata.Part, values []Value, context Value) Value {
	switch {
	case p.Text == "error":
		if x.raised != nil {
			*x.raised = true
		}
		return Nothing()
	case p.Text == "merge" && len(values) == 1:
		return join(merge(values[0]), absent)
	case p.Text == "parse" && len(values) == 1 && values[0].demandOf() != nil:
		return values[0].demandJSON()
	case changesCase[p.Text] && len(values) == 1 && values[0].demandOf() != nil:
		return values[0] // a text that is compared with the result gives itself
	}
	if out, ok := x.applyToItems(p, values, context); ok {
		return out
	}
	t := x.trendOfCall(p.Text, values)
	if known, ok := x.c.clock.read(p.Text, len(values)); ok {
		return x.noteTrend(known, t)
	}
	if known, ok := fold(p, values...); ok {
		return x.noteTrend(known, t)
	}
	if made, ok := combine(p.Text, values); ok {
		return made
	}
	return x.noteTrend(x.kindOfCall(p.Text, values), t)
}

// changesCase are the functions that give a text that is compared with their result for the same text.
var changesCase = map[string]bool{"lowercase": true, "uppercase": true, "trim": true}

// patternIn is the pattern with which $contains or $match compares: a regular expression, or one in which * stands
// for any text. It is empty if it is not written there.
func patternIn(call *jsonata.Part) string {
	if len(call.Parts) < 2 { //nolint:mnd // of a text
		return ""
	}
	pattern := call.Parts[1]
	word, isText := pattern.Value.(string)
	switch {
	case pattern.Kind == jsonata.PartRegex:
		return pattern.Text
	case pattern.Kind == jsonata.PartLiteral && isText:
		return "*" + strings.NewReplacer(`\`, `\\`, `*`, `\*`).Replace(word) + "*"
	default:
		return ""
	}
}

// demandWordOf notes that a value is looked for in a text, as a status in the names of those that go on: each word of it.
func demandWordOf(text, word Value) {
	if list, known := text.Literals(); known && len(list) == 1 && word.demandOf() != nil {
		for _, one := range strings.FieldsFunc(list[0], func(r rune) bool { return strings.ContainsRune(" ,;|/", r) }) {
			word.demandLiteral(textOf(one))
		}
	}
}

// combine is the result of a function that puts together the parts of its arguments; not ok for any other.
func combine(function string, values []Value) (Value, bool) {
	if len(values) == 0 {
		return Value{}, false
	}
	switch function {
	case "distinct":
		return distinctItems(values[0]), true
	case "reverse":
		return reversed(values[0]), true
	case "lookup":
		return lookUp(values), true
	case "append":
		return appendItems(values), true
	case "join":
		return joinTexts(values)
	default:
		return Value{}, false
	}
}

// answerOf is the truth or the number that a function gives, if it is known of its argument.
func answerOf(function string, values []Value) (Value, bool) {
	if len(values) != 1 {
		return Value{}, false
	}
	switch function {
	case "not", "boolean":
		yes, no := truthiness(values[0])
		return truthOf(yes == (function == "boolean")), yes != no && !values[0].may(missing)
	case "count":
		n, ok := countItems(values)
		return numberOf(float64(n)), ok
	default:
		return Value{}, false
	}
}

// kindOfCall is the kind of value that a function of the language gives.
func (x *scene) kindOfCall(function string, values []Value) Value {
	if known, ok := answerOf(function, values); ok {
		return known
	}
	k, ok := functionKinds[function]
	if !ok {
		return Value{}
	}
	if !always[function] && (findsNothing(function, len(values)) || len(values) == 0 || values[0].may(missing)) {
		k |= missing
	}
	if x.seeksLack() && k&missing != 0 && len(values) > 0 && values[0].kinds() == missing {
		return absent
	}
	return ofKinds(k)
}

// checkKeys reports the keys of an object in the expression that $lookup never looks for.
func (x *scene) checkKeys(p *jsonata.Part, values []Value) {
	if len(values) != 2 || p.Parts[0].Kind != jsonata.PartObject { //nolint:mnd // the object and the name
		return
	}
	for i := 0; i+1 < len(p.Parts[0].Parts); i += 2 {
		if key := &p.Parts[0].Parts[i]; key.Kind == jsonata.PartLiteral {
			x.checkLiteral(values[1], key)
		}
	}
}

// lookUp is the member of an object by a name that is known, as $lookup finds it.
func lookUp(values []Value) Value {
	if len(values) != 2 || values[0].kinds()&^missing != objects { //nolint:mnd // the object and the name
		return Value{}
	}
	names, ok := values[1].constants()
	if r := values[0].record(); !ok && r != nil && r.shape == nil && r.demand == nil && r.rest.kinds() == missing {
		out := absent // or any that it lists
		for _, f := range r.fieldsOf() {
			if !meet(values[1], textOf(f.name)).IsNothing() {
				out = join(out, f.value)
			}
		}
		return out
	}
	if !ok || len(names) == 0 {
		return Value{}
	}
	out := Nothing()
	for _, name := range names {
		text, ok := name.(string)
		if !ok {
			return Value{}
		}
		out = join(out, memberOf(values[0], text))
	}
	return out
}

// merge is the object that $merge makes of an array of objects.
func merge(v Value) Value {
	l := v.list()
	if l == nil || v.kinds() != arrays || l.others().kinds() != missing {
		return ofKinds(objects)
	}
	out := newObject(nil)
	for _, item := range l.items {
		out = mergeInto(out, item.only(objects).record())
	}
	return objectOf(out)
}

// mergeItems is the object that $merge makes of the items of an array constructor. An
// item that is an array stands for its own items.
func (x *scene) mergeItems(items []jsonata.Part, context Value) Value {
	out := newObject(nil)
	for i := range items {
		v := x.eval(&items[i], context)
		item := v.only(objects).record()
		switch {
		case v.demandOf() != nil:
			v.demandKinds(objects)
		case v.may(arrays):
			item = nil
		}
		merged := mergeInto(out, item)
		if v.may(missing) {
			merged = join(objectOf(merged), objectOf(out)).record()
		}
		if out = merged; out == nil {
			out = &record{}
		}
	}
	return objectOf(out)
}

// mergeInto is an object with the members of another, of which nothing may be known.
func mergeInto(out, r *record) *record {
	switch {
	case len(out.fields) == 0 && out.shape == nil && out.rest.kinds() == missing && r != nil:
		return r
	case r == nil || r.shape == nil && r.rest.kinds() != missing || r.shape != nil && r.shape.Type == catalog.Map:
		// It may have any member: only those that are always there are known.
		open := &record{rest: Value{}}
		for _, f := range r.fieldsOf() {
			if !f.value.may(missing) {
				open = open.with(f.name, f.value)
			}
		}
		return open
	}
	for _, name := range r.names() {
		value := r.get(name)
		if value.may(missing) {
			value = join(value.without(missing), out.get(name))
		}
		out = out.with(name, value)
	}
	return out
}
