//go:build unix

// Package definitions_test mutates state machine definitions that people and
// AWS have written, and lets everything read and run what comes of it.
package definitions_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// mutator changes a definition as its bytes say.
type mutator struct {
	bytes []byte
	root  any
}

// next takes a number below n.
func (m *mutator) next(n int) int {
	if len(m.bytes) == 0 || n < 2 {
		return 0
	}
	number := int(m.bytes[0])
	m.bytes = m.bytes[1:]
	if n > 256 && len(m.bytes) > 0 {
		number = number<<8 + int(m.bytes[0])
		m.bytes = m.bytes[1:]
	}
	return number % n
}

// slot is where a value stands: in a member or an element.
type slot struct {
	object map[string]any
	name   string
	array  []any
	index  int
}

func (s slot) get() any {
	if s.object != nil {
		return s.object[s.name]
	}
	return s.array[s.index]
}

func (s slot) set(value any) {
	if s.object != nil {
		s.object[s.name] = value
	} else {
		s.array[s.index] = value
	}
}

// slots lists all values below one, in the order of the text.
func slots(value any, to []slot) []slot {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			to = slots(v[name], append(to, slot{object: v, name: name}))
		}
	case []any:
		for i := range v {
			to = slots(v[i], append(to, slot{array: v, index: i}))
		}
	}
	return to
}

// hostile are values that readers and runners have met with surprise.
var hostile = []any{
	nil, true, false, "", "$", "$$", "$.a", "$..*", "$..a..b..c", "$.a[?(@.b == 1)]", "$.a[0:99999999]", "$.a[99999999]", "$$.Map.Item.Value",
	json.Number("0"), json.Number("-1"), json.Number("1.5"), json.Number("1e308"), json.Number("99999999"), json.Number("123456789012345678901234567890"),
	[]any{},
	map[string]any{},
	[]any{nil},
	map[string]any{"": nil},
	strings.Repeat("long ", 20_000), "\x1b[31m\u202e\n",
	"States.Format('{}', $)", "States.ArrayRange(1, 1000, 1)", "States.MathRandom(1, 999)", "States.StringToJson('[[[[')", "States.JsonMerge($, $, true)",
	"{% $states.input %}", "{% $states.context %}", "{% [1..1000] %}", "{% $reduce([1..30], function($a, $b) { $a & $a }) %}", "{% ($f := function($n) { $f($n + 1) }; $f(1)) %}",
	"{% $formatInteger(1/0, 'w') %}", "{% $pad('x', 100000000) %}", "{% $match('aaaaaaaaaaaaaaaaaaaaaaaaaa!', /(a+)+$/) %}", "{% $sort([1..1000], function($l, $r) { true }) %}",
	"States.ALL", "States.Runtime", "States.DataLimitExceeded", "JSONata", "JSONPath", "DISTRIBUTED", "2026-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
	"arn:aws:states:::aws-sdk:dynamodb:describeExport", "arn:aws:states:::states:startExecution.sync:2", "${Placeholder}",
}

// fields are the names of the language.
var fields = strings.Fields(`Type Next End Default Choices Variable Condition And Or Not StringEquals NumericGreaterThan TimestampEqualsPath IsPresent
	Seconds SecondsPath Timestamp TimestampPath Resource Parameters Arguments ResultSelector ResultPath InputPath OutputPath Output Assign Retry Catch
	ErrorEquals IntervalSeconds MaxAttempts BackoffRate MaxDelaySeconds JitterStrategy TimeoutSeconds TimeoutSecondsPath HeartbeatSeconds Credentials
	Branches ItemProcessor Iterator ProcessorConfig Mode ExecutionType ItemsPath Items ItemSelector ItemReader ItemBatcher MaxItemsPerBatch BatchInput
	ReaderConfig MaxItems ResultWriter Label MaxConcurrency ToleratedFailurePercentage ToleratedFailureCount StartAt States QueryLanguage Comment Version
	Error ErrorPath Cause CausePath Result`)

var types = strings.Fields(`Task Pass Choice Wait Succeed Fail Parallel Map`)

// mutate changes the definition once for every few bytes, a dozen times at most.
func (m *mutator) mutate() {
	const most = 12
	for range most {
		all := slots(m.root, nil)
		if len(m.bytes) == 0 || len(all) == 0 {
			return
		}
		m.change(all[m.next(len(all))], all)
	}
}

// change changes the definition once, at a place.
func (m *mutator) change(at slot, all []slot) {
	object, _ := at.get().(map[string]any)
	switch m.next(10) {
	case 0:
		at.set(copied(hostile[m.next(len(hostile))]))
	case 1:
		at.set(copied(all[m.next(len(all))].get()))
	case 2:
		other := all[m.next(len(all))]
		mine, its := copied(at.get()), copied(other.get())
		at.set(its)
		other.set(mine)
	case 3:
		if at.object != nil {
			delete(at.object, at.name)
		}
	case 4:
		if at.object != nil {
			at.object[fields[m.next(len(fields))]] = copied(at.get())
		}
	case 5:
		if object != nil {
			object[fields[m.next(len(fields))]] = copied(hostile[m.next(len(hostile))])
		}
	case 6:
		if object != nil && object["Type"] != nil {
			object["Type"] = types[m.next(len(types))]
		}
	case 7:
		m.repeat(at)
	case 8: // the whole inside of a Map or Parallel of itself
		if object != nil {
			inner := copied(m.root)
			object["Type"], object["ItemProcessor"], object["Branches"] = "Map", inner, []any{copied(inner)}
		}
	case 9:
		if at.object != nil && strings.HasSuffix(at.name, "Path") {
			at.object[at.name] = nil
		}
	}
}

// repeat fills an array with one of its items.
func (m *mutator) repeat(at slot) {
	array, _ := at.get().([]any)
	if len(array) == 0 {
		return
	}
	item := array[m.next(len(array))]
	repeated := make([]any, 40)
	for i := range repeated {
		repeated[i] = copied(item)
	}
	at.set(repeated)
}

// copied is a deep copy. All that is put into a definition is one, so that no
// value contains itself and runs of the fuzzer share nothing.
func copied(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = copied(member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = copied(item)
		}
		return out
	default:
		return value
	}
}

// text is the definition. One that has become larger than any that AWS takes is
// cut, which makes it no JSON.
func (m *mutator) text() []byte {
	const largest = 1 << 20
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(m.root) != nil {
		return nil
	}
	return b.Bytes()[:min(b.Len(), largest)]
}
