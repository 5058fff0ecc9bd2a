package compile

import (
	"errors"
	"strconv"
	"strings"
)

// glob is a pattern that is looked for in a text: pieces that must be there one
// behind the other.
type glob []string

// parseGlob reads a pattern in which * stands for any text, \* for an asterisk
// and \\ for a backslash, as in StringMatches of the Amazon States Language.
func parseGlob(pattern string) (glob, error) {
	g := glob{}
	var piece strings.Builder
	flush := func() {
		if piece.Len() > 0 {
			g = append(g, piece.String())
			piece.Reset()
		}
	}
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*':
			flush()
		case '\\':
			if i++; i == len(pattern) || pattern[i] != '*' && pattern[i] != '\\' {
				return nil, errors.New(`the pattern ` + strconv.Quote(pattern) + ` has a \ before a character other than * and \; write \\ for a backslash`)
			}
			piece.WriteByte(pattern[i])
		default:
			piece.WriteByte(c)
		}
	}
	if flush(); len(g) == 0 {
		return nil, errors.New("the pattern " + strconv.Quote(pattern) + " is in every text")
	}
	return g, nil
}

// stringMatches is the pattern for StringMatches, which looks at a whole text.
func (g glob) stringMatches() string {
	var b strings.Builder
	b.WriteByte('*')
	for _, piece := range g {
		b.WriteString(strings.NewReplacer(`\`, `\\`, `*`, `\*`).Replace(piece) + "*")
	}
	return b.String()
}

// jsonata looks for the pattern in the string that an expression gives.
func (g glob) jsonata(in string) string {
	conditions := make([]string, len(g))
	for i, piece := range g {
		conditions[i] = "$contains(" + in + ", " + text(piece) + ")"
		in = "$substringAfter(" + in + ", " + text(piece) + ")"
	}
	return strings.Join(conditions, " and ")
}
