package source

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/diag"
	"github.com/jobpoller/jobpoller/internal/jsontree"
)

// readJSON reads a text of JSON.
func readJSON(t *text) (*value, diag.Problems) {
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
			chars, size := unescapeJSON(t.bytes[at:])
			w.put(chars, t.origin(at))
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

// unescapeJSON decodes an escape, and returns its length.
func unescapeJSON(raw []byte) (chars string, size int) {
	if len(raw) < len(`\n`) {
		return "", len(raw)
	}
	switch raw[1] {
	case 'b':
		return "\b", 2
	case 'f':
		return "\f", 2
	case 'n':
		return "\n", 2
	case 'r':
		return "\r", 2
	case 't':
		return "\t", 2
	case 'u':
		first, ok := unicodeEscape(raw)
		if !ok {
			return "", len(raw)
		}
		const length = len(`\u0000`)
		if utf16.IsSurrogate(first) {
			if second, ok := unicodeEscape(raw[length:]); ok {
				if pair := utf16.DecodeRune(first, second); pair != utf8.RuneError {
					return string(pair), 2 * length
				}
			}
			first = utf8.RuneError
		}
		return string(first), length
	default:
		return string(raw[1]), 2
	}
}

func unicodeEscape(raw []byte) (rune, bool) {
	const length = len(`\u0000`)
	if len(raw) < length || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	code, err := strconv.ParseInt(string(raw[2:length]), 16, 32)
	return rune(code), err == nil
}
