package fix

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Diff writes what differs between two texts as a unified diff, with three lines
// around each difference; empty if nothing does. The names stand in its head.
func Diff(oldName, newName string, before, after []byte) string {
	const around = 3
	a, b := splitLines(string(before)), splitLines(string(after))
	lines := compareLines(a, b)
	var out strings.Builder
	for i := 0; i < len(lines); {
		if lines[i].sign == ' ' {
			i++
			continue
		}
		first := max(0, i-around)
		last := i // after the last difference of the hunk
		for j := i; j < len(lines) && j < last+2*around+1; j++ {
			if lines[j].sign != ' ' {
				last = j + 1
			}
		}
		end := min(len(lines), last+around)
		if out.Len() == 0 {
			fmt.Fprintf(&out, "--- %s\n+++ %s\n", oldName, newName)
		}
		writeHunk(&out, lines[first:end])
		i = end
	}
	return out.String()
}

// diffLine is a line of a diff: ' ' in both texts, '-' in the first, '+' in the
// second; old and new are the lines before it.
type diffLine struct {
	sign     byte
	text     string
	old, new int
}

func writeHunk(out *strings.Builder, lines []diffLine) {
	olds, news := 0, 0
	for _, l := range lines {
		if l.sign != '+' {
			olds++
		}
		if l.sign != '-' {
			news++
		}
	}
	start := func(before, count int) int {
		if count == 0 {
			return before
		}
		return before + 1
	}
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", start(lines[0].old, olds), olds, start(lines[0].new, news), news)
	for _, l := range lines {
		fmt.Fprintf(out, "%c%s", l.sign, l.text)
		if !strings.HasSuffix(l.text, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// compareLines finds the shortest edit between two lists of lines (Myers, "An O(ND)
// Difference Algorithm", 1986).
func compareLines(a, b []string) []diffLine {
	most := len(a) + len(b)
	reach := map[int]int{1: 0} // by diagonal: how far in a
	var trace []map[int]int
	for d := 0; d <= most; d++ {
		trace = append(trace, maps.Clone(reach))
		for k := -d; k <= d; k += 2 {
			x := reach[k-1] + 1
			if k == -d || k != d && reach[k-1] < reach[k+1] {
				x = reach[k+1]
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			reach[k] = x
			if x >= len(a) && x-k >= len(b) {
				return walkBack(trace, a, b)
			}
		}
	}
	return nil
}

// walkBack reads the edit from its end.
func walkBack(trace []map[int]int, a, b []string) []diffLine {
	var reversed []diffLine
	x, y := len(a), len(b)
	for d, reach := range slices.Backward(trace) {
		k := x - y
		from := k - 1
		if k == -d || k != d && reach[k-1] < reach[k+1] {
			from = k + 1
		}
		px := reach[from]
		py := px - from
		for x > px && y > py {
			x, y = x-1, y-1
			reversed = append(reversed, diffLine{' ', a[x], x, y})
		}
		if d == 0 {
			break
		}
		if x == px {
			y--
			reversed = append(reversed, diffLine{'+', b[y], x, y})
		} else {
			x--
			reversed = append(reversed, diffLine{'-', a[x], x, y})
		}
	}
	lines := make([]diffLine, len(reversed))
	for i, l := range reversed {
		lines[len(reversed)-1-i] = l
	}
	return lines
}
