package source

import (
	"strconv"
	"unicode/utf8"
)

// unfoldYAML returns the characters of a scalar of YAML with their places, and
// the byte after it. What YAML reads and what stands there have the same
// characters in the same order, but for white space and escapes.
func unfoldYAML(t *text, start int, how spelling, decoded string) (out *text, end int) {
	var w writer
	at := openScalar(t.bytes, start, how)
	for i := 0; i < len(decoded); {
		r, size := utf8.DecodeRuneInString(decoded[i:])
		chars := decoded[i : i+size]
		i += size
		if isSpace(r) {
			if from, next, ok := spaceAt(t.bytes, at, how, r); ok {
				w.put(chars, t.origin(from))
				at = next
			} else {
				w.put(chars, t.origin(min(at, len(t.bytes))))
			}
			continue
		}
		from, next, ok := charAt(t.bytes, at, how, r)
		if !ok { // the places of the rest are not known
			w.put(decoded[i-size:], t.origin(start))
			return w.text(t.file), at
		}
		if next-from == size && string(t.bytes[from:next]) == chars {
			w.copy(t, from, next)
		} else {
			w.put(chars, t.origin(from))
		}
		at = next
	}
	if how == singleQuoted || how == doubleQuoted {
		for at < len(t.bytes) && t.bytes[at] != '"' && t.bytes[at] != '\'' {
			at++
		}
		at = min(at+1, len(t.bytes))
	}
	return w.text(t.file), at
}

// openScalar returns the byte where the characters of a scalar begin.
func openScalar(text []byte, start int, how spelling) int {
	at := skipProperties(text, start)
	if how == singleQuoted || how == doubleQuoted {
		at++
	}
	for how == blockScalar && at < len(text) && text[at] != '\n' && text[at] != '\r' {
		at++
	}
	return min(at, len(text))
}

// skipProperties returns the byte after the tag and the anchor of a node.
func skipProperties(text []byte, at int) int {
	for at < len(text) && (text[at] == '!' || text[at] == '&') {
		for at < len(text) && !isSpace(rune(text[at])) {
			at++
		}
		for at < len(text) && isSpace(rune(text[at])) {
			at++
		}
	}
	return at
}

func isSpace(r rune) bool { return r == ' ' || r == '\t' || isBreak(r) }

// spaceAt finds a white space that stands at a byte as it is or as an escape.
func spaceAt(text []byte, at int, how spelling, want rune) (from, next int, ok bool) {
	if at >= len(text) {
		return at, at, false
	}
	if how == doubleQuoted && text[at] == '\\' {
		if r, size, ok := unescapeYAML(text[at:]); ok && r == want {
			return at, at + size, true
		}
		return at, at, false
	}
	r, size := utf8.DecodeRune(text[at:])
	return at, at + size, r == want
}

// charAt finds the next character that is no white space.
func charAt(text []byte, at int, how spelling, want rune) (from, next int, ok bool) {
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		if how == doubleQuoted && r == '\\' {
			if r, size, ok = unescapeYAML(text[at:]); !ok {
				return at, at, false
			}
		}
		if how == singleQuoted && r == '\'' {
			size = len("''")
		}
		if r == want {
			return at, min(at+size, len(text)), true
		}
		if !isSpace(r) {
			return at, at, false
		}
		at += size
	}
	return at, at, false
}

// escapes are the escapes of a double-quoted scalar of one character, and
// escapeDigits how many digits the others have.
var (
	escapes = map[byte]rune{
		'0': 0, 'a': '\a', 'b': '\b', 't': '\t', '\t': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r', 'e': '\x1b',
		' ': ' ', '"': '"', '/': '/', '\\': '\\', '\'': '\'', 'N': '\u0085', '_': '\u00a0', 'L': '\u2028', 'P': '\u2029',
		'\n': '\n', '\r': '\r',
	}
	escapeDigits = map[byte]int{'x': 2, 'u': 4, 'U': 8}
)

// unescapeYAML decodes an escape of a double-quoted scalar. One at the end of a
// line stands for nothing: it is told as a line break.
func unescapeYAML(raw []byte) (r rune, size int, ok bool) {
	if len(raw) < len(`\n`) {
		return 0, 0, false
	}
	if r, plain := escapes[raw[1]]; plain {
		return r, len(`\n`), true
	}
	digits := escapeDigits[raw[1]]
	if digits == 0 || len(raw) < len(`\x`)+digits {
		return 0, 0, false
	}
	code, err := strconv.ParseInt(string(raw[2:2+digits]), 16, 32)
	return rune(code), 2 + digits, err == nil
}
