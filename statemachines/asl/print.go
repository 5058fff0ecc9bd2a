package asl

import (
	"bytes"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// fieldOrder is the order in which Print writes fields; others follow in the
// order of the definition.
var fieldOrder = slices.Concat([]string{"Comment", "QueryLanguage", "Version", "Type", "Variable"}, operatorNames, []string{
	"Mode", "ExecutionType", "Resource", "InputPath", "Parameters",
	"Arguments", "TimeoutSeconds", "TimeoutSecondsPath", "HeartbeatSeconds", "HeartbeatSecondsPath", "Credentials",
	"Seconds", "SecondsPath", "Timestamp", "TimestampPath", "Error", "ErrorPath", "Cause", "CausePath",
	"Items", "ItemsPath", "ItemReader", "ItemSelector", "ItemBatcher", "MaxConcurrency", "MaxConcurrencyPath",
	"ToleratedFailureCount", "ToleratedFailureCountPath", "ToleratedFailurePercentage", "ToleratedFailurePercentagePath", "Label",
	"ProcessorConfig", "StartAt", "States", "Branches", "ItemProcessor", "Iterator", "ResultWriter",
	"ErrorEquals", "IntervalSeconds", "MaxAttempts", "BackoffRate", "MaxDelaySeconds", "JitterStrategy",
	"And", "Or", "Not", "Condition", "Choices", "Result", "ResultSelector", "ResultPath", "OutputPath", "Assign", "Output",
	"Retry", "Catch", "Default", "Next", "End",
})

// verbatim are the fields whose members keep the order of the definition.
var verbatim = []string{
	"States", "Parameters", "Arguments", "Result", "ResultSelector", "Output", "Assign", "ItemSelector", "BatchInput", "Items", "Credentials",
}

// Print writes the definition in its canonical form: fields in one order,
// states in that of the definition, two spaces for each level, arrays of plain
// values on one line where they fit. What it writes parses to the same machine.
func Print(m *StateMachine) []byte { return bytes.Clone(m.canonical.of(m.root)) }

// canonical is the text that Print writes. It is kept, as many ask for it and no machine changes.
type canonical struct{ text atomic.Pointer[[]byte] }

func (c *canonical) of(root *jsontree.Node) []byte {
	if known := c.text.Load(); known != nil {
		return *known
	}
	w := &printer{}
	w.value(root, "", 0)
	w.out.WriteByte('\n')
	text := w.out.Bytes()
	c.text.Store(&text)
	return text
}

type printer struct{ out bytes.Buffer }

// lineWidth is where arrays of plain values break, in characters.
const lineWidth = 100

// value writes a value that stands in the field of that name; inside of a
// verbatim field, order is kept at all depths.
func (w *printer) value(n *jsontree.Node, field string, level int) {
	switch n.Kind {
	case jsontree.Object:
		w.object(n, field, level)
	case jsontree.Array:
		w.array(n, field, level)
	case jsontree.String:
		w.out.Write(jsontree.Quote(n.Text))
	default:
		w.out.Write(n.Raw())
	}
}

// state is the field that the members of States stand for: their fields have
// an order again.
const state = "State"

// free is the field of what is inside of a verbatim field.
const free = "Free"

func (w *printer) object(n *jsontree.Node, field string, level int) {
	members := slices.Clone(n.Members)
	keeps := slices.Contains(verbatim, field) || field == free
	if !keeps {
		slices.SortStableFunc(members, func(a, b jsontree.Member) int { return place(a.Name) - place(b.Name) })
	}
	w.list('{', '}', len(members), level, func(i int) {
		w.out.Write(jsontree.Quote(members[i].Name))
		w.out.WriteString(": ")
		inner := members[i].Name
		switch {
		case field == "States":
			inner = state
		case keeps:
			inner = free
		}
		w.value(members[i].Value, inner, level+1)
	})
}

func place(field string) int {
	if i := slices.Index(fieldOrder, field); i >= 0 {
		return i
	}
	return len(fieldOrder)
}

func (w *printer) array(n *jsontree.Node, field string, level int) {
	if line, ok := oneLine(n); ok && 2*level+utf8.RuneCountInString(line) <= lineWidth {
		w.out.WriteString(line)
		return
	}
	if slices.Contains(verbatim, field) {
		field = free
	}
	w.list('[', ']', len(n.Items), level, func(i int) { w.value(n.Items[i], field, level+1) })
}

// oneLine writes an array of plain values.
func oneLine(n *jsontree.Node) (string, bool) {
	items := make([]string, len(n.Items))
	for i, item := range n.Items {
		switch item.Kind {
		case jsontree.Object, jsontree.Array:
			return "", false
		case jsontree.String:
			items[i] = string(jsontree.Quote(item.Text))
		default:
			items[i] = string(item.Raw())
		}
	}
	return "[" + strings.Join(items, ", ") + "]", true
}

func (w *printer) list(open, end byte, length, level int, item func(int)) {
	w.out.WriteByte(open)
	for i := range length {
		if i > 0 {
			w.out.WriteByte(',')
		}
		w.line(level + 1)
		item(i)
	}
	if length > 0 {
		w.line(level)
	}
	w.out.WriteByte(end)
}

func (w *printer) line(level int) {
	w.out.WriteByte('\n')
	w.out.WriteString(strings.Repeat("  ", level))
}
