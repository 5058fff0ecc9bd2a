package jsonata

import (
	"encoding/base64"
	"strconv"
	"strings"
	"unicode/utf8"
)

func base64Encode(m *machine, c *arguments) any {
	s, ok := c.at(0).(string)
	if !ok {
		return undefined
	}
	m.hold(3 * len(s))
	m.scan(s)
	return base64.StdEncoding.EncodeToString([]byte(s))
}

func base64Decode(m *machine, c *arguments) any {
	s, ok := c.at(0).(string)
	if !ok {
		return undefined
	}
	m.hold(2 * len(s))
	m.scan(s)
	out, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	if err != nil {
		m.step(10)
		m.throw(&InternalError{ID: m.env.UUID()})
	}
	return string(out)
}

// Characters that stay as they are in a URL.
const (
	unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()"
	reserved   = ";/?:@&=+$,#"
)

const upperDigits = "0123456789ABCDEF"

func urlEncoder(name, plain string) implementation {
	return func(m *machine, c *arguments) any {
		s, ok := c.at(0).(string)
		if !ok {
			return undefined
		}
		m.hold(6 * len(s))
		m.step(len(s) / 8)
		// Half of a surrogate pair is not a character, and JSON has made of it the
		// character that replaces what is none.
		if strings.ContainsRune(s, utf8.RuneError) {
			m.throw(failURL(name))
		}
		out := make([]byte, 0, len(s))
		for i := range len(s) {
			if strings.IndexByte(plain, s[i]) >= 0 {
				out = append(out, s[i])
			} else {
				out = append(out, '%', upperDigits[s[i]>>4], upperDigits[s[i]&15])
			}
		}
		return string(out)
	}
}

func failURL(name string) error {
	return &Error{Code: "D3140", Message: "Malformed URL passed to $" + name + "()"}
}

// urlDecoder leaves what is encoded of a set of characters.
func urlDecoder(name, kept string) implementation {
	return func(m *machine, c *arguments) any {
		s, ok := c.at(0).(string)
		if !ok {
			return undefined
		}
		m.hold(2 * len(s))
		m.step(len(s) / 8)
		out := make([]byte, 0, len(s))
		for i := 0; i < len(s); i++ {
			if s[i] != '%' {
				out = append(out, s[i])
				continue
			}
			b, err := strconv.ParseUint(s[min(i+1, len(s)):min(i+3, len(s))], 16, 8)
			if err != nil || i+3 > len(s) {
				m.throw(failURL(name))
			}
			if strings.IndexByte(kept, byte(b)) >= 0 {
				out = append(out, s[i:i+3]...)
			} else {
				out = append(out, byte(b))
			}
			i += 2
		}
		if !utf8.Valid(out) {
			m.throw(failURL(name))
		}
		return string(out)
	}
}
