package jsontree

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// readString reads the string whose opening quote is at the offset. It returns
// what the string says, without a copy if the text says the same, and where the
// text goes on.
func readString(text string, at int) (value string, end int, ok bool) {
	start, escaped, ascii := at+1, false, true
	for at = start; at < len(text); at++ {
		switch c := text[at]; {
		case c == '"':
			value = text[start:at]
			if escaped || !ascii && !utf8.ValidString(value) {
				value = decode(value)
			}
			return value, at + 1, true
		case c == '\\':
			size := escapeSize(text[at:])
			if size == 0 {
				return "", at, false
			}
			escaped = true
			at += size - 1
		case c < ' ':
			return "", at, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return "", at, false
}

// escapeSize is the length of the escape that the text begins with, or 0 if it is
// none of JSON's.
func escapeSize(text string) int {
	if len(text) < len(`\n`) || text[0] != '\\' {
		return 0
	}
	switch text[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return len(`\n`)
	case 'u':
		if len(text) >= len(`\u0000`) && isHex(text[2:6]) {
			return len(`\u0000`)
		}
	}
	return 0
}

func isHex(text string) bool {
	for i := range len(text) {
		c := text[i]
		if ('0' > c || c > '9') && ('a' > c || c > 'f') && ('A' > c || c > 'F') {
			return false
		}
	}
	return true
}

// decode returns what the text between two quotes says. As in encoding/json, a
// byte that is not UTF-8 and half a surrogate pair each mean U+FFFD.
func decode(quoted string) string {
	var b strings.Builder
	b.Grow(len(quoted))
	for i := 0; i < len(quoted); {
		c := quoted[i]
		if c < utf8.RuneSelf && c != '\\' {
			b.WriteByte(c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(quoted[i:])
		if c == '\\' {
			r, size = unescape(quoted[i:])
		}
		b.WriteRune(r)
		i += size
	}
	return b.String()
}

// CharOffset returns the byte of the document where a byte of what a string says
// stands.
func (n *Node) CharOffset(of int) int {
	at, said := n.Offset+1, 0
	for said < of && at < n.End-1 {
		r, size := utf8.DecodeRune(n.doc.text[at:])
		if r == '\\' {
			r, size = unescape(n.doc.decoded[at:])
		}
		at, said = at+size, said+utf8.RuneLen(r)
	}
	return at
}

// Unescape returns the character of the escape that a text begins with, and the
// length of the escape; 0 if it is none of JSON's.
func Unescape(text string) (r rune, size int) {
	if escapeSize(text) == 0 {
		return 0, 0
	}
	return unescape(text)
}

// unescape returns the character of the escape, or of the two escapes of a
// surrogate pair, that the text begins with.
func unescape(text string) (r rune, size int) {
	size = escapeSize(text)
	switch text[1] {
	case 'u':
		r = codeUnit(text)
	case 'b':
		r = '\b'
	case 'f':
		r = '\f'
	case 'n':
		r = '\n'
	case 'r':
		r = '\r'
	case 't':
		r = '\t'
	default:
		r = rune(text[1])
	}
	if rest := text[size:]; utf16.IsSurrogate(r) && escapeSize(rest) == size {
		if pair := utf16.DecodeRune(r, codeUnit(rest)); pair != utf8.RuneError {
			return pair, 2 * size
		}
	}
	return r, size
}

// codeUnit is the number of the escape, such as \u00e9, that the text begins with.
func codeUnit(text string) rune {
	v, _ := strconv.ParseUint(text[2:6], 16, 16) // the digits have been checked
	return rune(v)
}
