package server

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mostNesting is the depth of JSON that AWS's reader takes.
const mostNesting = 1000

const (
	validValue  = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')"
	anyOldInput = "Invalid execution input."
)

// jsonMistake is what is wrong with a text that should be JSON, in the words of the Java
// library that AWS reads it with. Two of the texts are recorded, the others are the
// library's.
type jsonMistake struct {
	message      string // empty for a text that is JSON
	line, column int    // behind what was read last, from 1
}

// findJSONMistake returns the first mistake of a text.
func findJSONMistake(text []byte) jsonMistake {
	r := &jsonReader{text: text}
	if r.skipSpace(); r.atEnd() {
		r.mistake = anyOldInput
	} else {
		r.document()
	}
	line, column := r.place(r.at)
	return jsonMistake{r.mistake, line, column}
}

// jsonReader reads JSON up to the first mistake. It keeps the open objects and arrays
// in a list: the text may be nested deeply.
type jsonReader struct {
	text    []byte
	at      int
	open    []openJSON
	mistake string
}

// openJSON is an object or array that has begun.
type openJSON struct {
	object bool
	at     int
}

// place is the line and the column of an offset.
func (r *jsonReader) place(at int) (line, column int) {
	before := r.text[:at]
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

func (r *jsonReader) atEnd() bool { return r.at >= len(r.text) }

func (r *jsonReader) skipSpace() {
	for !r.atEnd() && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

func (r *jsonReader) fail(format string, args ...any) { r.mistake = fmt.Sprintf(format, args...) }

// failAt names the character that should not be there.
func (r *jsonReader) failAt(expected string) {
	c, size := utf8.DecodeRune(r.text[r.at:])
	shown := fmt.Sprintf("'%c' (code %d)", c, c)
	if unicode.IsControl(c) {
		shown = fmt.Sprintf("(CTRL-CHAR, code %d)", c)
	}
	r.fail("Unexpected character (%s)%s", shown, expected)
	r.at += size
}

// document reads values until all that is open has ended.
func (r *jsonReader) document() {
	for r.mistake == "" {
		if opened := r.value(); opened || r.mistake != "" {
			continue
		}
		if r.closeAll() {
			r.end()
			return
		}
	}
}

// end refuses what follows the document.
func (r *jsonReader) end() {
	r.skipSpace()
	if r.mistake == "" && !r.atEnd() {
		r.mistake = anyOldInput
	}
}

// value reads a value, or the beginning of an object or array up to its first value;
// then it tells that one is open.
func (r *jsonReader) value() (opened bool) {
	r.skipSpace()
	if r.atEnd() {
		r.failEnd()
		return false
	}
	switch c := r.text[r.at]; {
	case c == '{', c == '[':
		return r.begin(c == '{')
	case c == '"':
		r.str("was expecting closing quote for a string value")
	case c == '-', c >= '0' && c <= '9':
		r.number()
	case c == '_', c == '$', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= utf8.RuneSelf:
		r.word()
	default:
		r.failAt(": expected a valid value " + validValue)
	}
	return false
}

// begin opens an object or array; an empty one ends at once.
func (r *jsonReader) begin(object bool) (opened bool) {
	if len(r.open) == mostNesting {
		r.fail("Document nesting depth (%d) exceeds the maximum allowed (%d, from `StreamReadConstraints.getMaxNestingDepth()`)", mostNesting+1, mostNesting)
		return false
	}
	r.open = append(r.open, openJSON{object, r.at})
	r.at++
	r.skipSpace()
	switch {
	case r.atEnd():
		r.failEnd()
		return false
	case r.text[r.at] == closer(object):
		r.at++
		r.open = r.open[:len(r.open)-1]
		return false
	case object:
		r.name()
	}
	return r.mistake == ""
}

func closer(object bool) byte {
	if object {
		return '}'
	}
	return ']'
}

// closeAll reads what follows a value, up to the next value. It tells whether nothing
// is open any more.
func (r *jsonReader) closeAll() bool {
	for len(r.open) > 0 && r.mistake == "" {
		innermost := r.open[len(r.open)-1]
		r.skipSpace()
		switch {
		case r.atEnd():
			r.failEnd()
		case r.text[r.at] == closer(innermost.object):
			r.at++
			r.open = r.open[:len(r.open)-1]
		case r.text[r.at] != ',':
			r.failAt(": was expecting comma to separate " + innermost.what() + " entries")
		default:
			r.at++
			if innermost.object {
				r.skipSpace()
				r.name()
			}
			return false
		}
	}
	return len(r.open) == 0
}

func (o openJSON) what() string {
	if o.object {
		return "Object"
	}
	return "Array"
}

// failEnd tells of a text that ends inside an object or array.
func (r *jsonReader) failEnd() {
	if len(r.open) == 0 {
		r.fail("Unexpected end-of-input")
		return
	}
	innermost := r.open[len(r.open)-1]
	line, column := r.place(innermost.at)
	r.fail("Unexpected end-of-input: expected close marker for %s (start marker at [Source: (String); line: %d, column: %d])", innermost.what(), line, column)
}

// name reads the name of a member and its colon.
func (r *jsonReader) name() {
	if r.atEnd() {
		r.failEnd()
		return
	}
	if r.text[r.at] != '"' {
		r.failAt(": was expecting double-quote to start field name")
		return
	}
	r.str("in field name")
	r.skipSpace()
	switch {
	case r.mistake != "":
	case r.atEnd():
		r.fail("Unexpected end-of-input within/between Object entries")
	case r.text[r.at] != ':':
		r.failAt(": was expecting a colon to separate field name and value")
	default:
		r.at++
	}
}

// str reads a string.
func (r *jsonReader) str(atEnd string) {
	r.at++
	for !r.atEnd() && r.mistake == "" {
		switch c := r.text[r.at]; {
		case c == '"':
			r.at++
			return
		case c < ' ':
			r.fail("Illegal unquoted character ((CTRL-CHAR, code %d)): has to be escaped using backslash to be included in string value", c)
		case c == '\\':
			r.escape()
		default:
			r.at++
		}
	}
	if r.mistake == "" {
		if !strings.HasPrefix(atEnd, "in ") {
			atEnd = ": " + atEnd
		} else {
			atEnd = " " + atEnd
		}
		r.fail("Unexpected end-of-input%s", atEnd)
	}
}

// escape reads an escape in a string.
func (r *jsonReader) escape() {
	const hexDigits = 4
	if r.at++; r.atEnd() {
		return
	}
	c, size := utf8.DecodeRune(r.text[r.at:])
	if !strings.ContainsRune(`"\/bfnrtu`, c) {
		r.fail("Unrecognized character escape '%c' (code %d)", c, c)
		return
	}
	r.at += size
	if c != 'u' {
		return
	}
	for range hexDigits {
		if r.atEnd() {
			return
		}
		if strings.IndexByte("0123456789abcdefABCDEF", r.text[r.at]) < 0 {
			r.failAt(": expected a hex-digit for character escape sequence")
			return
		}
		r.at++
	}
}

// number reads a number.
func (r *jsonReader) number() {
	if r.text[r.at] == '-' {
		r.at++
		if r.atEnd() || !isDigit(r.text[r.at]) {
			r.failNumber("expected digit (0-9) to follow minus sign, for valid numeric value")
			return
		}
	}
	if r.text[r.at] == '0' && r.at+1 < len(r.text) && isDigit(r.text[r.at+1]) {
		r.fail("Invalid numeric value: Leading zeroes not allowed")
		return
	}
	r.digits()
	if !r.atEnd() && r.text[r.at] == '.' {
		r.at++
		if r.digits() == 0 {
			r.failNumber("Decimal point not followed by a digit")
			return
		}
	}
	if !r.atEnd() && (r.text[r.at] == 'e' || r.text[r.at] == 'E') {
		r.at++
		if !r.atEnd() && (r.text[r.at] == '+' || r.text[r.at] == '-') {
			r.at++
		}
		if r.digits() == 0 {
			r.failNumber("Exponent indicator not followed by a digit")
			return
		}
	}
	if len(r.open) == 0 && !r.atEnd() && strings.IndexByte(" \t\r\n", r.text[r.at]) < 0 {
		r.failAt(": Expected space separating root-level values")
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (r *jsonReader) digits() (n int) {
	for ; !r.atEnd() && isDigit(r.text[r.at]); n++ {
		r.at++
	}
	return n
}

func (r *jsonReader) failNumber(expected string) {
	if r.atEnd() {
		r.fail("Unexpected end-of-input in a Number value")
		return
	}
	r.failAt(" in numeric value: " + expected)
}

// word reads true, false or null.
func (r *jsonReader) word() {
	start := r.at
	for !r.atEnd() {
		c, size := utf8.DecodeRune(r.text[r.at:])
		if c != '_' && c != '$' && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			break
		}
		r.at += size
	}
	switch word := string(r.text[start:r.at]); word {
	case "true", "false", "null":
	case "":
		r.failAt(": expected a valid value " + validValue)
	default:
		r.fail("Unrecognized token '%s': was expecting %s", word, validValue)
	}
}
