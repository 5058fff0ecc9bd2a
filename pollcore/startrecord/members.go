package startrecord

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// members are those of a JSON object, each with its text, which is not copied. Records
// are read at each poll of a job: package json would look at each byte four times.
type members []struct {
	name  []byte // without its quotes
	value []byte
}

// find returns the text of the last member of a name; nil if there is none. Null stands
// for none.
func (m members) find(name string) []byte {
	for _, member := range slices.Backward(m) {
		switch {
		case string(member.name) != name:
		case string(member.value) == "null":
			return nil
		default:
			return member.value
		}
	}
	return nil
}

// isObject reports whether a text is a JSON object.
func isObject(text []byte) bool {
	s := splitter{text: text}
	s.skipSpace()
	return json.Valid(text) && text[s.at] == '{'
}

// splitObject returns the members of a text that is a JSON object.
func splitObject(text []byte) (m members) {
	s := splitter{text: text}
	s.skipSpace()
	m = make(members, 0, 24)
	for s.at++; ; s.at++ { // behind the brace or a comma
		s.skipSpace()
		if s.text[s.at] == '}' {
			return m
		}
		name := s.value()
		if bytes.IndexByte(name, '\\') >= 0 {
			var plain string
			if err := json.Unmarshal(name, &plain); err != nil {
				panic(err) // the text is valid
			}
			name = []byte(`"` + plain + `"`)
		}
		s.skipSpace()
		s.at++ // the colon
		s.skipSpace()
		value := s.value()
		m = append(m, struct{ name, value []byte }{name[1 : len(name)-1], value})
		s.skipSpace()
		if s.text[s.at] == '}' {
			return m
		}
	}
}

// splitter reads a text that is valid JSON.
type splitter struct {
	text []byte
	at   int
}

func (s *splitter) skipSpace() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\n' || s.text[s.at] == '\t' || s.text[s.at] == '\r') {
		s.at++
	}
}

// value returns the text of the value that begins here, and goes behind it.
func (s *splitter) value() []byte {
	begin, depth := s.at, 0
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '"':
			s.skipText()
			if depth == 0 {
				return s.text[begin:s.at]
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 { // behind a number or a word
				return s.text[begin:s.at]
			}
			if depth--; depth == 0 {
				s.at++
				return s.text[begin:s.at]
			}
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return s.text[begin:s.at]
			}
		}
		s.at++
	}
	return s.text[begin:s.at]
}

// skipText goes behind a string that begins here.
func (s *splitter) skipText() {
	for s.at++; ; s.at++ {
		switch s.text[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			return
		}
	}
}

// readInto reads a value that is valid JSON, as package json does.
func readInto(dst any, raw []byte) error {
	plain := raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0
	switch dst := dst.(type) {
	case *string:
		if plain {
			*dst = string(raw[1 : len(raw)-1])
			return nil
		}
	case *Status:
		if plain {
			*dst = Status(raw[1 : len(raw)-1])
			return nil
		}
	case *time.Time:
		return dst.UnmarshalJSON(raw)
	}
	return json.Unmarshal(raw, dst)
}
