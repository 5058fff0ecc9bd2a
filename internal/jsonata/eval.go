package jsonata

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"time"
)

// Environment is what an expression is evaluated with.
type Environment struct {
	// Input is what $, $$ and the first name of a path mean. Step Functions has
	// none: nil is undefined. A json.RawMessage is read as JSON whose members keep
	// their order.
	Input any
	// Variables are the values of the variables by name without the dollar
	// sign.
	Variables map[string]any
	// States is the value of $states, which Step Functions reserves; nil is
	// undefined, or the variable of this name.
	States map[string]any
	// Now is the time that $now and $millis give.
	Now time.Time
	// Random is where $random and $shuffle get their numbers. It serves one
	// evaluation at a time.
	Random *rand.Rand
	// UUID makes what $uuid gives.
	UUID func() string
	// Limits bound the evaluation; nil are those of Step Functions.
	Limits *Limits
}

// Eval evaluates the expression and gives a JSON value. It fails with
// [ErrUndefined], with [ErrUnsupported], with an [*Error] or [*InternalError], or with the error of the
// context if that has ended. The same expression on the same environment always ends in the same
// way: its limits count what it does, and no clock.
func (e *Expression) Eval(ctx context.Context, env Environment) (value any, err error) {
	limits := StepFunctions
	if env.Limits != nil {
		limits = *env.Limits
	}
	m := &machine{budget: newBudget(ctx, limits), env: &env, input: undefined}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case thrown:
			value, err = nil, r.err
		default:
			value, err = nil, &Error{Message: internalFailure}
		}
	}()
	m.look()
	m.input = m.readInput(env.Input)
	result := m.eval(e.root, m.input, &frame{})
	if l, ok := result.(*list); ok && l.outer {
		result = l.items[0]
	}
	if result == undefined {
		return nil, ErrUndefined
	}
	return m.result(result)
}

// readInput makes the input a context: one that is an array is one value.
func (m *machine) readInput(v any) any {
	text, isText := v.(json.RawMessage)
	if isText {
		v = parseFunction(m, &arguments{args: []any{string(text)}})
	}
	switch {
	case v == nil && !isText:
		return undefined
	case kindOf(v) == kindArray:
		return &list{items: []any{v}, sequence: true, outer: true}
	}
	return v
}

// internalFailure is the message for a fault of the evaluator.
const internalFailure = "the evaluation failed inside: please report the expression"

// leastMapBytes are what a Go map takes, however few members it has.
const leastMapBytes = 320

// output makes a result a JSON value.
type output struct {
	m     *machine
	bytes int
}

func (m *machine) result(v any) (any, error) {
	// All but the result is garbage now.
	m.bytes = 0
	o := &output{m: m}
	out := o.value(v, 0)
	return out, nil
}

func (o *output) count(bytes int) {
	if o.bytes += bytes; o.bytes > memoryLimit && o.m.limits.Bytes <= StepFunctions.Bytes {
		o.m.throw(errMemory)
	}
}

// value copies what it changes.
func (o *output) value(v any, level int) any {
	o.m.nest(level)
	o.m.step(1)
	switch v := v.(type) {
	case undefinedType:
		return nil
	case nil, bool:
		return v
	case string:
		o.count(len(v))
		return validText(v)
	case float64:
		o.count(8)
		return jsonNumber(v)
	case int, int64:
		o.count(8)
		f, _ := number(v)
		return jsonNumber(f)
	case json.Number:
		o.count(8)
		if isInteger(string(v)) {
			return v
		}
		f, _ := number(v)
		return jsonNumber(f)
	case []any:
		return o.items(v, level)
	case *list:
		return o.items(v.items, level)
	case map[string]any:
		return o.members(v, level)
	case *object:
		o.m.hold(leastMapBytes + len(v.names)*memberBytes)
		members := make(map[string]any, len(v.names))
		for i, name := range v.names {
			o.count(len(name))
			members[validText(name)] = o.value(v.values[i], level+1)
		}
		return members
	default:
		o.m.throw(ErrUnsupported)
	}
	return nil
}

// items copies an array where a value of it changes.
func (o *output) items(items []any, level int) []any {
	out := items
	for i, item := range items {
		value := o.value(item, level+1)
		if &out[0] == &items[0] {
			if isSame(item, value) {
				continue
			}
			o.m.hold(listBytes + len(items)*slotBytes)
			out = make([]any, len(items))
			copy(out, items[:i])
		}
		out[i] = value
	}
	if out == nil {
		return []any{}
	}
	return out
}

func (o *output) members(members map[string]any, level int) any {
	var out map[string]any
	for name, m := range members {
		value := o.value(m, level+1)
		if out == nil {
			if isSame(m, value) {
				continue
			}
			o.m.hold(leastMapBytes + len(members)*memberBytes)
			out = make(map[string]any, len(members))
			maps.Copy(out, members)
		}
		out[name] = value
	}
	if out == nil {
		return members
	}
	return out
}

// isSame says that output gave a value as it was.
func isSame(before, after any) bool {
	switch v := before.(type) {
	case []any, map[string]any:
		return same(before, after)
	case string, bool, nil, json.Number:
		return v == after
	}
	return false
}

// jsonNumber writes a number as JavaScript does. JSON has no infinity: Step
// Functions writes the word as a string.
func jsonNumber(f float64) any {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		return formatInfinity(f)
	}
	return json.Number(formatNumber(f))
}
