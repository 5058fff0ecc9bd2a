package source

import (
	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// readJSON reads a text of JSON.
func readJSON(t *text) (*value, diag.Problems) {
	if problems := checkSize(t, false); problems != nil {
		return nil, problems
	}
	doc, err := jsontree.Parse(t.bytes)
	if err != nil {
		problems, _ := err.(diag.Problems) //nolint:errorlint // what Parse documents
		return nil, t.moveAll(problems)
	}
	return fromJSON(t, doc.Root), nil
}

func fromJSON(t *text, n *jsontree.Node) *value {
	v := &value{kind: n.Kind, text: n.Text, in: t, start: n.Offset, after: n.End}
	for _, item := range n.Items {
		v.items = append(v.items, fromJSON(t, item))
	}
	for _, m := range n.Members {
		name := &value{kind: jsontree.String, text: m.Name, in: t, start: m.Offset}
		v.members = append(v.members, member{name, fromJSON(t, m.Value)})
	}
	return v
}

// unquoteJSON returns the characters of a string of JSON with their places, and
// the byte after it.
func unquoteJSON(t *text, start int, decoded string) (out *text, end int) {
	var w writer
	at := start + 1
	for at < len(t.bytes) && t.bytes[at] != '"' {
		if t.bytes[at] == '\\' {
			r, size := jsontree.Unescape(string(t.bytes[at:min(len(t.bytes), at+len(`\u0000\u0000`))]))
			if size == 0 { // no text of JSON
				break
			}
			w.put(string(r), t.origin(at))
			at += size
			continue
		}
		from := at
		for at < len(t.bytes) && t.bytes[at] != '"' && t.bytes[at] != '\\' {
			at++
		}
		w.copy(t, from, at)
	}
	if string(w.out.bytes) != decoded { // no UTF-8: each wrong byte became another character
		w = writer{}
		w.put(decoded, t.origin(start))
	}
	return w.text(t.file), min(at+1, len(t.bytes))
}
