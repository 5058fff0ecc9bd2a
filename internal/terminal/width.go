package terminal

import "unicode"

// wide are the characters that fill two columns: those of East Asia, and pictures.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1}, {0x2e80, 0xa4cf, 1}, {0xac00, 0xd7a3, 1}, {0xf900, 0xfaff, 1}, {0xfe30, 0xfe6f, 1}, {0xff00, 0xff60, 1}, {0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{{0x1f300, 0x1faff, 1}, {0x20000, 0x3fffd, 1}},
}

// columnsOf is how many columns a character fills.
func columnsOf(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.Is(wide, r):
		return 2 //nolint:mnd // columns
	default:
		return 1
	}
}

// Width is how many columns of a terminal a text of one line fills.
func Width(text string) int {
	n := 0
	for _, r := range text {
		n += columnsOf(r)
	}
	return n
}

// Cut is the beginning of a text of one line that fills so many columns at most.
func Cut(text string, columns int) string {
	for at, r := range text {
		if columns -= columnsOf(r); columns < 0 {
			return text[:at]
		}
	}
	return text
}
