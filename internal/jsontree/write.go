package jsontree

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Compact returns the text of a value as encoding/json decodes it, without
// white space, with the members of objects in order of their names and no more
// escapes than needed. A value that JSON does not have makes it panic.
func Compact(value any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		panic("jsontree: a value that JSON does not have: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Quote returns the text as a JSON string.
func Quote(text string) []byte { return AppendString(nil, text, false) }

// AppendValue appends the compact JSON of a value as encoding/json decodes it,
// with numbers as json.Number. It writes what Compact writes.
func AppendValue(dst []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		return strconv.AppendBool(dst, v)
	case json.Number:
		if v == "" { // as encoding/json has it
			return append(dst, '0')
		}
		return append(dst, v...)
	case string:
		return AppendString(dst, v, false)
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendValue(dst, item)
		}
		return append(dst, ']')
	case map[string]any:
		return appendObject(dst, v)
	default:
		return append(dst, Compact(v)...)
	}
}

func appendObject(dst []byte, object map[string]any) []byte {
	var few [16]string
	dst = append(dst, '{')
	for i, name := range sortedNames(few[:0], object) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, name, false), ':')
		dst = AppendValue(dst, object[name])
	}
	return append(dst, '}')
}

func sortedNames(names []string, object map[string]any) []string {
	names = slices.AppendSeq(names, maps.Keys(object))
	slices.Sort(names)
	return names
}

// AppendString appends a JSON string as encoding/json writes it, with or without
// its escapes for HTML.
func AppendString[Text string | []byte](dst []byte, text Text, html bool) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	done := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' && (!html || c != '<' && c != '>' && c != '&') {
				i++
				continue
			}
			dst = append(append(dst, text[done:i]...), '\\')
			switch c {
			case '"', '\\':
				dst = append(dst, c)
			case '\b':
				dst = append(dst, 'b')
			case '\f':
				dst = append(dst, 'f')
			case '\n':
				dst = append(dst, 'n')
			case '\r':
				dst = append(dst, 'r')
			case '\t':
				dst = append(dst, 't')
			default:
				dst = append(dst, 'u', '0', '0', hex[c>>4], hex[c&0xF])
			}
			i++
			done = i
			continue
		}
		r, size := utf8.DecodeRuneInString(string(text[i:min(len(text), i+utf8.UTFMax)]))
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(append(dst, text[done:i]...), `\ufffd`...)
			done = i + size
		case r == '\u2028' || r == '\u2029': // no JavaScript of old takes these
			dst = append(append(dst, text[done:i]...), '\\', 'u', '2', '0', '2', hex[r&0xF])
			done = i + size
		}
		i += size
	}
	return append(append(dst, text[done:]...), '"')
}
