package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// quotedValue is a value that became a string because its placeholder stands in
// quotes.
type quotedValue struct {
	at          int // byte of the text after the quote
	name, value string
}

// substituteJSON puts values in for the placeholders of a text of JSON, as
// asl.Substitute does. One without a value that stands outside of quotes gets
// quotes, so that the text is JSON and the value stays unknown.
func substituteJSON(t *text, value func(name string) (string, bool)) (out *text, quoted []quotedValue) {
	var w writer
	from := 0
	for _, form := range asl.FindPlaceholders(t.bytes) {
		w.copy(t, from, form.Start)
		from = form.End
		text, ok := value(form.Name)
		switch {
		case ok:
			if alone := form.Start > 0 && t.bytes[form.Start-1] == '"' && form.End < len(t.bytes) && t.bytes[form.End] == '"'; alone &&
				!form.Bare && json.Valid([]byte(text)) && text[0] != '"' {
				quoted = append(quoted, quotedValue{len(w.out.bytes), form.Name, text})
			}
			escaped := jsontree.Quote(text)
			w.replace(t, form, string(escaped[1:len(escaped)-1]))
		case form.Bare:
			w.put(`"`, t.origin(form.Start))
			w.copy(t, form.Start, form.End)
			w.put(`"`, t.origin(form.End-1))
		default:
			w.copy(t, form.Start, form.End)
		}
	}
	if from == 0 {
		return t, nil
	}
	w.copy(t, from, len(t.bytes))
	return w.text(t.file), quoted
}

// ExplainQuotes says of an error that Parse returned whether a value in quotes is
// the reason: it is a string then, whatever it looks like. Otherwise it returns
// nothing.
func (d *Definition) ExplainQuotes(err error) string {
	problems, _ := err.(diag.Problems) //nolint:errorlint // what Parse returns
	for _, p := range problems {
		for _, q := range d.quoted {
			line, column := new(ruler).place(d.text.file.bytes, d.text.origin(q.at-1))
			if p.Line == line && p.Column == column {
				return fmt.Sprintf("${%s} stands in quotes, so its value is a string. For the value %s, write ${%[1]s} without quotes", q.name, q.value)
			}
		}
	}
	return ""
}

// quoteYAML puts quotes around the placeholders that stand as values in brackets,
// which YAML would take for more brackets.
func quoteYAML(t *text) *text {
	var w writer
	from := 0
	for _, form := range asl.FindPlaceholders(t.bytes) {
		before := bytes.TrimRight(t.bytes[:form.Start], " ")
		after := bytes.TrimLeft(t.bytes[form.End:], " ")
		if len(before) > 0 && len(after) > 0 && strings.IndexByte(":,[{", before[len(before)-1]) >= 0 && strings.IndexByte(",]}\r\n", after[0]) >= 0 {
			w.copy(t, from, form.Start)
			w.put(`"`, t.origin(form.Start))
			w.copy(t, form.Start, form.End)
			w.put(`"`, t.origin(form.Start))
			from = form.End
		}
	}
	if from == 0 {
		return t
	}
	w.copy(t, from, len(t.bytes))
	return w.text(t.file)
}

// substituteYAML puts values in for the placeholders of a text of YAML before it
// is read, so that a number becomes a number.
func substituteYAML(t *text, value func(name string) (string, bool)) *text {
	var w writer
	from := 0
	for _, form := range asl.FindPlaceholders(t.bytes) {
		if text, ok := value(form.Name); ok {
			w.copy(t, from, form.Start)
			w.replace(t, form, text)
			from = form.End
		}
	}
	if from == 0 {
		return t
	}
	w.copy(t, from, len(t.bytes))
	return w.text(t.file)
}

// replace writes a value for a placeholder of a text. Its last byte comes from the
// placeholder's last, so that a value ends where the placeholder ends.
func (w *writer) replace(t *text, form asl.PlaceholderForm, value string) {
	if value == "" {
		return
	}
	last := len(value) - 1
	w.put(value[:last], t.origin(form.Start))
	w.put(value[last:], t.origin(form.End-1))
}
