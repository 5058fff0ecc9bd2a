package terminal

import (
	"io"
	"strings"
)

// ColumnsOf is how many columns a text may have: 80 where nobody says how wide it is shown.
func ColumnsOf(out io.Writer) int {
	if display := DisplayOf(out); display != nil {
		return display.Columns()
	}
	return defaultColumns
}

// Wrap breaks a text into lines between its words. They are indented as the text is, and by two columns more
// behind the first.
func Wrap(text string, columns int) []string {
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	var lines []string
	line := indent
	for word := range strings.FieldsSeq(text) {
		if strings.TrimSpace(line) != "" {
			if Width(line)+1+Width(word) > columns {
				lines = append(lines, line)
				line = indent + "  "
			} else {
				line += " "
			}
		}
		line += word
	}
	return append(lines, line)
}
