package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// String writes the loop as a table: its turn, a line for each row, what ends it,
// and in a last column what the rules found.
func (l *Loop) String() string {
	head := strings.Join(l.Turn.States, " -> ") + "   "
	if l.Operation != "" {
		head += "polls " + l.Operation
		if l.Chosen {
			head += fmt.Sprintf(" as %s %s", l.Entry.Service.Key, l.Entry.Name)
		}
	} else {
		head += "turns"
	}
	switch {
	case l.Turn.Longest > 0:
		head += " every " + pause(l.Turn.Wait) + " to " + pause(l.Turn.Longest)
	case l.Turn.Wait > 0:
		head += " every " + pause(l.Turn.Wait)
	default:
		head += ", with a delay that the definition does not say"
	}
	var lines [][]string // cells
	for _, row := range l.Rows {
		tag := ""
		if row.Rule != "" {
			tag = fmt.Sprintf("%-7s %s", row.Severity, row.Rule)
		}
		lines = append(lines, []string{row.value(), row.target(), row.Describe(), tag})
	}
	for _, row := range l.Errors {
		of := Row{Meaning: row.Meaning, Routes: row.Routes, Ends: row.Ends}
		lines = append(lines, []string{row.Value(), of.target(), of.Describe(), ""})
	}
	widths := make([]int, 3)
	for _, cells := range lines {
		for i := range widths {
			widths[i] = max(widths[i], utf8.RuneCountInString(cells[i]))
		}
	}
	rows := make([][2]string, len(lines))
	for i, cells := range lines {
		text := fmt.Sprintf("  %-*s  %-*s  %-*s", widths[0], cells[0], widths[1], cells[1], widths[2], cells[2])
		rows[i] = [2]string{strings.TrimRight(text, " "), cells[3]}
	}
	return oneLine.Replace(head) + "\n" + alignTags(rows) + alignTags(l.notes())
}

// alignTags writes lines with their tags below each other. The long lines of what
// ends a loop do not push the tags of the rows out of a terminal.
func alignTags(lines [][2]string) string {
	widest := 0
	for _, line := range lines {
		if line[1] != "" {
			widest = max(widest, utf8.RuneCountInString(line[0]))
		}
	}
	var b strings.Builder
	for _, line := range lines {
		text := line[0]
		if line[1] != "" {
			text += strings.Repeat(" ", max(0, widest-utf8.RuneCountInString(text))+3) + line[1]
		}
		b.WriteString(oneLine.Replace(text) + "\n")
	}
	return b.String()
}

// oneLine keeps the names of states from making lines of their own.
var oneLine = strings.NewReplacer("\n", `\n`, "\r", `\r`)

// Value names the errors, for people.
func (r *ErrorRow) Value() string {
	if slices.Contains(r.Names, asl.ErrorAll) {
		return "any error"
	}
	return "error " + strings.Join(r.Names, ", ")
}

func (r *Row) value() string {
	if len(r.Values) == 0 {
		return "any other"
	}
	return strings.Join(r.Values, ", ")
}

func (r *Row) target() string {
	if len(r.Routes) == 0 {
		return "-> no rule"
	}
	return "-> " + strings.Join(r.Routes, ", ")
}

// Describe says what the row's values mean and, where that is not what they lead to,
// what happens.
func (r *Row) Describe() string {
	does := map[End]string{PollsOn: "polls on", EndsSuccess: "succeeds", EndsFailure: "fails", GoesOn: "goes on", EndsUnknown: "may poll on"}[r.Ends]
	switch {
	case len(r.Either) > 0:
		words := make([]string, len(r.Either))
		for i, m := range r.Either {
			words[i] = string(m)
		}
		return strings.Join(words, " or ") + ", " + does
	case r.Meaning == MeansUnknown:
		return does
	case r.Meaning == MeansUnclear, r.Meaning == MeansEnding && r.Ends != PollsOn:
		return string(r.Meaning) + ", " + does
	case r.Ends == EndsUnknown, r.Rule != "", r.Meaning == MeansRunning && r.Ends != PollsOn:
		return string(r.Meaning) + ", but " + does
	default:
		return string(r.Meaning)
	}
}

// notes are the lines below the rows, each with what was found of it.
func (l *Loop) notes() [][2]string {
	tag := func(rules ...string) string {
		for _, f := range l.Findings {
			if slices.Contains(rules, f.Rule) {
				return fmt.Sprintf("%-7s %s", f.Severity, f.Rule)
			}
		}
		return ""
	}
	notes := [][2]string{{"  " + l.DescribeBound(), tag(UnboundedLoop, EventBudget, HotLoop)}}
	if needless := tag(PollNeedless); needless != "" {
		text := " has .sync: no loop needed"
		if job := l.Entry.Job; job.Sync == "" {
			text = fmt.Sprintf(" sends an event at the end (%s)", job.Event.Delivery)
		}
		notes = append(notes, [2]string{"  " + l.Entry.Service.Key + text, needless})
	}
	return notes
}

// DescribeBound says what ends the loop.
func (l *Loop) DescribeBound() string {
	if l.Express {
		return fmt.Sprintf("ends after %s, as Express workflows do", span(asl.MaxExpressTime))
	}
	cost := fmt.Sprintf("%s transitions, $%.2f", thousands(l.Bound.Transitions), l.Bound.USD)
	if l.Bound.After > 0 {
		cost = "after " + span(l.Bound.After) + ", " + cost
	}
	switch l.Bound.Kind {
	case Unbounded:
		return fmt.Sprintf("no bound: ends at %s events, %s", thousands(asl.MaxEvents), cost)
	case ByCount:
		return fmt.Sprintf("ends at %s polls, %s", thousands(l.Bound.Polls), cost)
	case ByTimeout:
		switch {
		case l.Bound.After == 0:
			return "ends by TimeoutSeconds"
		case l.Bound.Polls == 0:
			return "ends by TimeoutSeconds, after " + span(l.Bound.After)
		}
		return fmt.Sprintf("ends by TimeoutSeconds, %s", cost)
	case ByTime:
		return "ends at a time that a Choice looks at"
	default:
		return "ends by something that a Choice looks at"
	}
}

// pause writes a delay: "5 s", "10 min".
func pause(d time.Duration) string {
	if d >= 2*time.Minute && d%time.Minute == 0 {
		return fmt.Sprintf("%d min", int(d/time.Minute))
	}
	return fmt.Sprintf("%g s", d.Seconds())
}

// span writes a time: "3h51m", "45s".
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= 2*day:
		return fmt.Sprintf("%d days", int(d.Hours()/day.Hours()+0.5))
	case d >= time.Minute:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	default:
		return d.Round(time.Second).String()
	}
}

// thousands writes a number with commas.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
