package asl

import "strings"

// MatchString tells whether text fits a pattern in which "*" stands for any
// characters, "\*" for an asterisk and "\\" for a backslash.
func MatchString(text, pattern string) bool {
	var parts []string // between the asterisks
	var part strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '*':
			parts = append(parts, part.String())
			part.Reset()
		case c == '\\' && i+1 < len(pattern) && (pattern[i+1] == '*' || pattern[i+1] == '\\'):
			i++
			part.WriteByte(pattern[i])
		default:
			part.WriteByte(c)
		}
	}
	last := part.String()
	if len(parts) == 0 {
		return text == last
	}
	rest, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1:] {
		if _, rest, ok = strings.Cut(rest, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(rest, last)
}
