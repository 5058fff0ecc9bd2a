package trial

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// differ returns what two runs of one script differ in. again is the first machine once more
// under other circumstances: what it does otherwise then is volatile, and only its type
// counts. nil says that nothing is.
func differ(a, b, again *observed) []Difference {
	if again == nil {
		again = a
	}
	var all []Difference
	if a.Status != b.Status {
		all = append(all, Difference{What: End, Before: a.String(), After: b.String()})
	}
	for _, c := range []struct {
		what        What
		a, b, again any
	}{{Error, a.Error, b.Error, again.Error}, {Cause, a.cause, b.cause, again.cause}, {Output, a.output, b.output, again.output}} {
		if !same(c.a, c.b, c.again) {
			all = append(all, Difference{What: c.what, Before: textOf(c.a), After: textOf(c.b)})
		}
	}
	all = append(all, differInCalls(a, b, again)...)
	for _, key := range slices.Sorted(maps.Keys(a.polls)) {
		x, y, z := a.polls[key], b.polls[key], again.polls[key]
		for i := range min(len(x), len(y)) {
			volatile := x[i]
			if i < len(z) {
				volatile = z[i]
			}
			if !same(x[i], y[i], volatile) {
				return append(all, Difference{What: Poll, Before: textOf(x[i]), After: textOf(y[i])})
			}
		}
	}
	return all
}

// differInCalls compares the calls of each flow in their order.
func differInCalls(a, b, again *observed) []Difference {
	x, y, z := byFlow(a.calls), byFlow(b.calls), byFlow(again.calls)
	flows := maps.Clone(x)
	maps.Copy(flows, y)
	var all []Difference
	for _, flow := range slices.Sorted(maps.Keys(flows)) {
		old, made := x[flow], y[flow]
		beside := flow != b.flow
		if least := min(len(old), len(made)); a.Status == PollsOn && (b.Status == PollsOn || !beside) { // until its history is full, or as far as it ran
			made = slices.Concat(made[:least], slices.DeleteFunc(slices.Clone(made[least:]), func(c call) bool { // of further laps
				return b.Status == PollsOn || slices.ContainsFunc(old, func(lap call) bool { return lap.task == c.task })
			}))
			old = old[:least]
		}
		if beside && b.Status == failed && len(made) > len(old) { // a later failure lets others do more
			made = made[:len(old)]
		}
		if d := differInFlow(old, made, z[flow]); d != nil {
			d.Beside = beside
			all = append(all, *d)
		}
	}
	return all
}

// differInFlow returns the first call of a flow that differs; nil if none does.
func differInFlow(old, made, again []call) *Difference {
	for i := range min(len(old), len(made)) {
		if one, two := old[i], made[i]; one.task == two.task && one.steady && !two.steady {
			return &Difference{What: Retry, Before: one.sent, After: two.sent}
		}
	}
	for i := range max(len(old), len(made)) {
		switch {
		case i >= len(old):
			return &Difference{What: Calls, Before: notMade, After: made[i].String()}
		case i >= len(made):
			again := slices.ContainsFunc(made, func(c call) bool { return c.task == old[i].task })
			return &Difference{What: Calls, Before: old[i].String(), After: notMade, Task: old[i].task, Again: again}
		}
		one, two, volatile := old[i], made[i], old[i]
		if len(again) > i {
			volatile = again[i]
		}
		if !slices.ContainsFunc(made[i:], func(c call) bool { return c.task == one.task }) {
			return &Difference{What: Calls, Before: one.String(), After: two.String(), Task: one.task}
		}
		if one.task != two.task || !same(one.arguments, two.arguments, volatile.arguments) {
			return &Difference{What: Calls, Before: one.String(), After: two.String()}
		}
	}
	return nil
}

// notMade is what a call is that a machine does not make.
const notMade = "not made"

// leaveOut takes out the members that may differ. The output of a Map or Parallel has several values.
func (o *Options) leaveOut(task string, value any) {
	if all, ok := value.([]any); ok && task == "" {
		for _, one := range all {
			o.leaveOut(task, one)
		}
		return
	}
	for _, m := range o.Except {
		if m.Task != task {
			continue
		}
		names := strings.Split(m.Path, ".")
		at, _ := value.(map[string]any)
		for _, name := range names[:len(names)-1] {
			at, _ = at[name].(map[string]any)
		}
		delete(at, names[len(names)-1])
	}
}

func byFlow(calls []call) map[string][]call {
	flows := map[string][]call{}
	for _, c := range calls {
		flows[c.flow] = append(flows[c.flow], c)
	}
	return flows
}

// same tells whether two values are equal but for what differs between a value and itself
// at another time. Texts of JSON are compared as values.
func same(a, b, again any) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	switch x := a.(type) {
	case map[string]any:
		y, isObject := b.(map[string]any)
		z, _ := again.(map[string]any)
		if !isObject || len(x) != len(y) {
			return false
		}
		for name, value := range x {
			other, there := y[name]
			if !there || !same(value, other, orSame(z, name, value)) {
				return false
			}
		}
		return true
	case []any:
		y, isArray := b.([]any)
		z, _ := again.([]any)
		if !isArray || len(x) != len(y) {
			return false
		}
		for i, value := range x {
			volatile := value
			if len(z) == len(x) {
				volatile = z[i]
			}
			if !same(value, y[i], volatile) {
				return false
			}
		}
		return true
	case string:
		y, isText := b.(string)
		z, _ := again.(string)
		if !isText {
			return false
		}
		if inner, otherInner, ok := bothJSON(x, y); ok {
			volatile, _, _ := bothJSON(z, z)
			return same(inner, otherInner, volatile)
		}
		return x != z
	default:
		return !reflect.DeepEqual(a, again) && reflect.TypeOf(a) == reflect.TypeOf(b)
	}
}

func orSame(object map[string]any, name string, value any) any {
	if volatile, there := object[name]; there {
		return volatile
	}
	return value
}

// bothJSON reads two texts that hold an object or an array.
func bothJSON(a, b string) (x, y any, ok bool) {
	if !strings.HasPrefix(a, "{") && !strings.HasPrefix(a, "[") {
		return nil, nil, false
	}
	x, y = readJSON(a), readJSON(b)
	return x, y, x != nil && y != nil
}

// readJSON reads a text as encoding/json does; nil if it is no JSON.
func readJSON(text string) any {
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return nil
	}
	return value
}
