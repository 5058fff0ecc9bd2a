package jsonata

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// textWriter writes values as JSON, for $string and messages.
type textWriter struct {
	m      *machine
	out    []byte
	indent bool
	// whole says that numbers have all their digits.
	whole bool
}

// text is a value as a text, as $string gives it.
func (m *machine) text(v any, indent bool) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			m.throw(&Error{Code: "D3001", Message: "Attempting to invoke string function on Infinity or NaN"})
		}
	}
	if isFunctionValue(v) {
		return ""
	}
	w := &textWriter{m: m, indent: indent}
	w.value(v, 0)
	return string(w.out)
}

// excerpt is a value as messages show it.
func (m *machine) excerpt(v any) string {
	if isFunctionValue(v) {
		return "a function"
	}
	w := &textWriter{m: m, whole: true}
	w.value(v, 0)
	return string(w.out)
}

// charge holds the bytes that were written since a place.
func (w *textWriter) charge(since int) {
	w.m.hold(2 * (len(w.out) - since))
}

func (w *textWriter) value(v any, level int) {
	w.m.step(1)
	since := len(w.out)
	switch kindOf(v) {
	case kindUndefined, kindNull:
		w.out = append(w.out, "null"...)
	case kindBoolean:
		w.out = strconv.AppendBool(w.out, v == true)
	case kindNumber:
		w.number(v)
	case kindString:
		s, _ := v.(string)
		w.m.hold(len(s))
		w.m.scan(s)
		w.quote(s)
	case kindArray:
		w.array(v, level)
		return
	case kindObject:
		w.object(v, level)
		return
	default:
		w.out = append(w.out, `""`...)
	}
	w.charge(since)
}

// number writes 15 digits, as $string does.
func (w *textWriter) number(v any) {
	if n, ok := v.(json.Number); ok && isInteger(string(n)) {
		w.out = append(w.out, n...)
		return
	}
	w.m.read(v)
	f, _ := number(v)
	if w.whole {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			w.out = append(w.out, "null"...)
			return
		}
		w.out = append(w.out, formatNumber(f)...)
		return
	}
	w.m.finite(f)
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'e', 14, 64), 64)
	w.out = append(w.out, formatNumber(rounded)...)
}

func (w *textWriter) array(v any, level int) {
	w.m.nest(level)
	items, _ := itemsOf(v)
	if len(items) == 0 {
		w.out = append(w.out, "[]"...)
		return
	}
	w.out = append(w.out, '[')
	for i, item := range items {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.line(level + 1)
		w.value(item, level+1)
	}
	w.line(level)
	w.out = append(w.out, ']')
}

func (w *textWriter) object(v any, level int) {
	w.m.nest(level)
	w.out = append(w.out, '{')
	count := 0
	for _, name := range w.m.namesOf(v) {
		value := member(v, name)
		if value == undefined {
			continue
		}
		if count++; count > 1 {
			w.out = append(w.out, ',')
		}
		w.line(level + 1)
		since := len(w.out)
		w.m.hold(len(name))
		w.m.scan(name)
		w.quote(name)
		w.out = append(w.out, ':')
		if w.indent {
			w.out = append(w.out, ' ')
		}
		w.charge(since)
		w.value(value, level+1)
	}
	if count > 0 {
		w.line(level)
	}
	w.out = append(w.out, '}')
}

// line begins a line.
func (w *textWriter) line(level int) {
	if w.indent {
		w.m.hold(4 * level)
		w.out = append(append(w.out, '\n'), strings.Repeat("  ", level)...)
	}
}

const hexDigits = "0123456789abcdef"

// quote writes a text in quotes, with the escape sequences of JavaScript.
func (w *textWriter) quote(s string) {
	w.out = append(w.out, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			w.out = append(w.out, '\\', c)
		case c == '\n':
			w.out = append(w.out, '\\', 'n')
		case c == '\r':
			w.out = append(w.out, '\\', 'r')
		case c == '\t':
			w.out = append(w.out, '\\', 't')
		case c == '\b':
			w.out = append(w.out, '\\', 'b')
		case c == '\f':
			w.out = append(w.out, '\\', 'f')
		case c < ' ':
			w.out = append(w.out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		case c == 0xED && i+2 < len(s) && s[i+1] >= 0xA0: // half of a surrogate pair
			unit := uint64(0xD000) | uint64(s[i+1]&0x3F)<<6 | uint64(s[i+2]&0x3F)
			w.out = append(append(w.out, '\\', 'u'), strconv.FormatUint(unit, 16)...)
			i += 2
		default:
			w.out = append(w.out, c)
		}
	}
	w.out = append(w.out, '"')
}

// characters counts the characters of a text. Half of a surrogate pair is one.
func characters(s string) int {
	n := 0
	for i := 0; i < len(s); n++ {
		i += width(s[i:])
	}
	return n
}

// width is how many bytes the first character takes.
func width(s string) int {
	if s[0] < utf8.RuneSelf {
		return 1
	}
	if s[0] == 0xED && len(s) > 2 && s[1] >= 0xA0 {
		return 3
	}
	_, n := utf8.DecodeRuneInString(s)
	return n
}

// offsetOf is the byte at which a character begins.
func offsetOf(s string, character int) int {
	i := 0
	for ; character > 0 && i < len(s); character-- {
		i += width(s[i:])
	}
	return i
}

// units counts the UTF-16 code units of a text.
func units(s string) int {
	n := 0
	for i := 0; i < len(s); n++ {
		w := width(s[i:])
		if w == 4 {
			n++
		}
		i += w
	}
	return n
}

// validText is for what $base64decode and half of a surrogate pair make: JSON
// has no text that is not Unicode.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var out []byte
	for i := 0; i < len(s); {
		w := width(s[i:])
		if r, size := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && size <= 1 {
			out = append(out, "\ufffd"...)
		} else {
			out = append(out, s[i:i+w]...)
		}
		i += w
	}
	return string(out)
}
