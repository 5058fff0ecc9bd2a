package graph

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sizes of text, in units of the drawing.
const (
	nameSize    = 13
	headingSize = 10.5
	labelSize   = 11
	nameLine    = 17
	labelLine   = 14
	outcomeLine = 14
	outcomeSize = labelSize * 1.07 // that a bold label takes

	maxNameWidth    = 190
	maxHeadingWidth = 210
	maxLabelWidth   = 150
	maxNameLines    = 5
	maxOutcomeLines = 3
	maxLabelLines   = 3 // of one transition
	maxLabelWays    = 6 // transitions whose readings one label shows
)

// textWidth estimates the width of a text. It rather errs to the wide side,
// because the font of the reader is not known.
func textWidth(s string, size float64) float64 {
	sum := 0.0
	for _, r := range s {
		sum += runeWidth(r)
	}
	return sum * size
}

// runeWidth is the width of a character in parts of the size of the font.
func runeWidth(r rune) float64 {
	const thin, narrow, normal, capital, wide, full = 0.32, 0.4, 0.6, 0.72, 0.92, 1.05
	switch {
	case strings.ContainsRune("ijl.,:;'|!", r):
		return thin
	case strings.ContainsRune("ftrI()[]{} \"-/\\`", r):
		return narrow
	case strings.ContainsRune("mwMW@%", r):
		return wide
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r < unicode.MaxASCII && unicode.IsUpper(r):
		return capital
	case r < unicode.MaxASCII:
		return normal
	case r < firstFullWidth:
		return capital
	default:
		return full
	}
}

// firstFullWidth is where the scripts begin that have square characters, and
// the symbols.
const firstFullWidth = 0x1100

// wrap breaks a text into lines no wider than the width, at spaces, after
// separators and between words in camel case where it can. A text that needs
// more lines than there may be is cut, with an ellipsis at its end.
func wrap(s string, size, width float64, maxLines int) []string {
	var lines []string
	rest := strings.TrimSpace(s)
	for rest != "" {
		if len(lines) == maxLines-1 {
			return append(lines, elide(rest, size, width))
		}
		cut := fit(rest, size, width)
		if cut < len(rest) {
			cut = lastBreak(rest, cut)
		}
		lines = append(lines, strings.TrimSpace(rest[:cut]))
		rest = strings.TrimSpace(rest[cut:])
	}
	if lines == nil {
		lines = []string{""}
	}
	return lines
}

// elide cuts a text that is too wide, with an ellipsis at its end.
func elide(s string, size, width float64) string {
	if textWidth(s, size) <= width {
		return s
	}
	return strings.TrimSpace(s[:fit(s, size, width-textWidth("…", size))]) + "…"
}

// fit returns how many bytes of a text fit into a width: at least one
// character.
func fit(s string, size, width float64) int {
	sum := 0.0
	for i, r := range s {
		sum += runeWidth(r) * size
		if sum > width && i > 0 {
			return i
		}
	}
	return len(s)
}

// lastBreak returns the last place to break a text at or before a byte but not
// in its first third: a space, else after a separator, else between words in
// camel case, else the byte itself.
func lastBreak(s string, at int) int {
	for _, good := range []func(before, after, next rune) bool{
		func(before, after, _ rune) bool { return unicode.IsSpace(before) || unicode.IsSpace(after) },
		func(before, _, _ rune) bool { return strings.ContainsRune("-_/.:,", before) },
		func(before, after, next rune) bool {
			return unicode.IsUpper(after) && (unicode.IsLower(before) || unicode.IsUpper(before) && unicode.IsLower(next))
		},
	} {
		for i := at; i > at/3; i-- {
			if !utf8.RuneStart(s[i]) {
				continue
			}
			before, _ := utf8.DecodeLastRuneInString(s[:i])
			after, size := utf8.DecodeRuneInString(s[i:])
			next, _ := utf8.DecodeRuneInString(s[i+size:])
			if good(before, after, next) {
				return i
			}
		}
	}
	return at
}
