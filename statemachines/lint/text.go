package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// String writes the loop as a table: its turn, a line for each row, what ends it,
// and in a last column what the rules found.
func (l *Loop) String() string {
	head := strings.Join(l.Turn.States, " -> ") + "   "
	if l.Operation != "" {
		head += "polls " + l.asked()
		if l.Chosen {
			head += fmt.Sprintf(" as %s %s", l.Entry.Service.Key, l.Entry.Name)
		}
		if l.Derived != nil {
			head += fmt.Sprintf(" as %s %s (derived)", l.Derived.Service.Key, l.Derived.Name)
		}
	} else {
		head += "turns"
	}
	head += l.describeDelay()
	var lines [][]string // cells
	for _, row := range l.Rows {
		tag := ""
		if row.Rule != "" {
			tag = fmt.Sprintf("%-7s %s", row.Severity, row.Rule)
		}
		lines = append(lines, []string{l.valueOf(&row), row.target(), row.Describe(), tag})
	}
	for _, row := range l.Errors {
		of := row.row()
		lines = append(lines, []string{row.Value(), of.target(), of.Describe(), ""})
	}
	return oneLine.Replace(head) + "\n" + alignTags(layOut(lines)) + alignTags(l.notes())
}

// asked names what the loop polls, for people.
func (l *Loop) asked() string {
	if l.Target == "" {
		return l.Operation
	}
	return l.Operation + " " + l.Target
}

// Table lays rows of values, a target and what that means out as the table of a loop, with long lists in
// several lines.
func Table(rows [][3]string) string {
	lines := make([][]string, len(rows))
	for i, row := range rows {
		lines[i] = []string{row[0], "-> " + row[1], row[2], ""}
	}
	return alignTags(layOut(lines))
}

const (
	// textWidth is how wide a table is, where its words allow it; its first two columns
	// are as wide as leastWidth, if they need that.
	textWidth, leastWidth = 80, 24
	// columnGap stands between columns, and tagGap before the last.
	columnGap, tagGap = 2, 3
)

// measureCells measures how wide each column is, and how wide it is at least where its cells wrap.
func measureCells(lines [][]string) (widths, least []int) {
	widths, least = make([]int, 4), []int{leastWidth, leastWidth, 0}
	for _, cells := range lines {
		for i := range widths {
			widths[i] = max(widths[i], utf8.RuneCountInString(cells[i]))
		}
		for i := range least {
			if i == len(least)-1 && !isFork(cells[i]) {
				least[i] = max(least[i], utf8.RuneCountInString(cells[i]))
				continue
			}
			for _, word := range splitList(cells[i]) {
				least[i] = max(least[i], utf8.RuneCountInString(strings.TrimSuffix(word, ", "))+1)
			}
		}
	}
	return widths, least
}

// isFork tells whether a cell says where each of several ways ends.
func isFork(cell string) bool { return strings.Contains(cell, ", or \"") }

// layOut puts cells below each other. Of lines that are too long, the values and then the
// states go on below, and the ends of several ways.
func layOut(lines [][]string) [][2]string {
	widths, least := measureCells(lines)
	total := 3*columnGap + widths[0] + widths[1] + widths[2]
	if widths[3] > 0 {
		total += tagGap + widths[3]
	}
	for _, i := range []int{2, 0, 1} {
		if over := total - textWidth; over > 0 && widths[i] > least[i] {
			cut := min(over, widths[i]-least[i])
			widths[i], total = widths[i]-cut, total-cut
		}
	}
	var rows [][2]string
	for _, cells := range lines {
		values, states, ends := wrap(cells[0], widths[0]), wrap(cells[1], widths[1]), []string{cells[2]}
		if isFork(cells[2]) {
			ends = wrap(cells[2], widths[2])
		}
		for n := range max(len(values), len(states), len(ends)) {
			value, state, does, tag := at(values, n), at(states, n), at(ends, n), ""
			if n == 0 {
				tag = cells[3]
			} else if state != "" {
				state = "   " + state
			}
			text := fmt.Sprintf("  %-*s  %-*s  %-*s", widths[0], value, widths[1], state, widths[2], does)
			rows = append(rows, [2]string{strings.TrimRight(text, " "), tag})
		}
	}
	return rows
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}

// wrap breaks a list behind its commas into lines of a width, as far as its words allow.
func wrap(list string, width int) []string {
	lines := []string{""}
	for i, word := range splitList(list) {
		last := &lines[len(lines)-1]
		if i > 0 && utf8.RuneCountInString(*last+strings.TrimRight(word, " ")) > width {
			*last = strings.TrimRight(*last, " ")
			lines = append(lines, word)
			continue
		}
		*last += word
	}
	return lines
}

// splitList splits a list behind its commas, but for those in quotes.
func splitList(list string) []string {
	var words []string
	from, quoted := 0, false
	for i := range len(list) {
		switch {
		case list[i] == '"' && (i == 0 || list[i-1] != '\\'):
			quoted = !quoted
		case !quoted && strings.HasSuffix(list[from:i+1], ", "):
			words, from = append(words, list[from:i+1]), i+1
		}
	}
	return append(words, list[from:])
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

// row is the row of a status that does the same.
func (r *ErrorRow) row() *Row {
	return &Row{Meaning: r.Meaning, Routes: r.Routes, Ends: r.Ends, Whole: r.Whole}
}

// Value names the errors, for people.
func (r *ErrorRow) Value() string {
	if slices.Contains(r.Names, asl.ErrorAll) {
		return "any error"
	}
	return "error " + strings.Join(r.Names, ", ")
}

// valueOf lists the values of a row, in quotes where a comma or a space in a status would make two of it. In front of those
// that are no texts stands the member that has them.
func (l *Loop) valueOf(r *Row) string {
	isText := func(value string) bool { _, isLiteral := l.Literals[value]; return !isLiteral }
	switch {
	case len(r.Values) == 0:
		return AnyOther
	case l.Status != wholePath && !slices.ContainsFunc(r.Values, isText):
		return lastName(l.Status) + " " + strings.Join(l.joinRanges(r.Values), ", ")
	}
	shown := slices.Clone(r.Values)
	for i, value := range shown {
		if isText(value) && strings.ContainsAny(value, ", ") {
			shown[i] = strconv.Quote(value)
		}
	}
	return strings.Join(shown, ", ")
}

func (r *Row) target() string {
	if r.Lacks || r.FailsAt != "" && len(r.Routes) == 0 {
		return "-> " + r.FailsAt
	}
	if len(r.Routes) == 0 {
		return "-> no rule"
	}
	return "-> " + joinNames(r.Routes)
}

// joinNames lists names of states, in quotes where a comma in one would make two of it.
func joinNames(names []string) string {
	shown := slices.Clone(names)
	for i, name := range shown {
		if strings.Contains(name, ",") {
			shown[i] = strconv.Quote(name)
		}
	}
	return strings.Join(shown, ", ")
}

// doesOf are the ends, for people.
var doesOf = map[End]string{
	PollsOn: "polls on", EndsSuccess: "succeeds", EndsFailure: "fails", StartsAgain: "starts again", NextJob: "polls the next job",
	GoesOn: "may end either way", EndsUnknown: "may poll on",
}

// Describe says what the row's values mean and, where that is not what they lead to,
// what happens.
func (r *Row) Describe() string {
	does := r.does()
	switch {
	case r.Lacks && r.Meaning == MeansFailure:
		return r.means() + ", " + does
	case r.Lacks && r.Meaning != MeansUnknown:
		return r.means() + ", but " + does
	case (r.Held || r.Usable) && r.Rule == "", len(r.Either) > 0, r.Compared, r.Meanwhile, r.OtherKind, r.Later && r.Meaning == MeansUnknown:
		return r.means() + ", " + does
	case r.Later:
		return r.means() + map[bool]string{false: ", " + does}[r.Ends == PollsOn]
	case r.Apart && r.Partial:
		return r.means() + ", " + does
	case r.Apart && r.Ends == PollsOn:
		return r.means() + ", " + does + " after other Tasks"
	case r.Apart:
		return r.means() + ", " + does + " on a path of its own"
	case r.Meaning == MeansUnknown:
		return does
	case r.forks():
		return r.means() + ": " + does
	case r.Whole != nil && r.Rule == "" && (r.Whole.Ends == GoesOn || r.By == ByName):
		return r.means() + ", " + does
	case r.Whole != nil:
		return r.means() + ", but " + does
	case r.isPlain():
		return r.means() + ", " + does
	case r.Seconds != nil && r.isGoing():
		return r.means() + ", but may fail"
	case r.By == ByName && r.Rule == "" && r.endsOtherwise(): // a name may be another's
		return r.means() + ", " + does
	case r.Ends == EndsUnknown, r.Rule != "", r.Seconds != nil, r.Meaning == MeansRunning && r.Ends != PollsOn && r.Ends != NextJob, r.endsOtherwise():
		return r.means() + ", but " + does
	case r.Split, r.Ends == StartsAgain, r.Ends == NextJob:
		return r.means() + ", " + does
	default:
		return r.means()
	}
}

// isPlain tells whether it is no surprise where the row leads, and yet does not follow from what its
// values mean.
func (r *Row) isPlain() bool {
	switch {
	case r.FailsAt != "" && r.Ends == PollsOn && r.isGoing():
		return true
	case r.Seconds != nil:
		return false
	default:
		return r.Meaning == MeansUnclear || r.Meaning == MeansEnding && r.Ends != PollsOn && r.Rule == "" || r.Meaning == MeansFailure && r.FailsAt != ""
	}
}

// isGoing tells whether the row is of a job that has not ended.
func (r *Row) isGoing() bool { return r.Meaning == MeansRunning || r.Meaning == MeansEnding }

// means says what the row's values mean.
func (r *Row) means() string {
	words := make([]string, len(r.Either))
	for i, m := range r.Either {
		words[i] = string(m)
	}
	switch {
	case len(words) > 0:
		return "waiters differ (" + strings.Join(words, ", ") + ")"
	case r.Compared:
		return "not known"
	case r.OtherKind:
		return "only with " + r.Kind
	case r.Later && r.Meaning == MeansUnknown:
		return "after a later call"
	case r.Later:
		return "ending after a later call"
	case r.Change:
		return "another change"
	case r.Partial:
		return "failure in part"
	case r.Held:
		return "waits for a call"
	case r.Usable:
		return string(r.Meaning) + ", usable"
	case r.By == ByName:
		return string(r.Meaning) + " by name"
	case r.By == ByModel:
		return string(r.Meaning) + " (derived)"
	default:
		return string(r.Meaning)
	}
}

// does says where the row leads.
func (r *Row) does() string {
	switch {
	case r.FailsAlike:
		return r.sayFailingAlike()
	case r.FailsAt != "":
		return r.sayFailing()
	case r.forks():
		return r.sayForks()
	case r.Whole != nil:
		return r.Whole.String()
	case r.Ends == StartsAgain && len(r.Routes) > 1, r.Restarts:
		return "may start again"
	case r.Ends == NextJob && r.Last != "":
		return doesOf[NextJob] + " or " + doesOf[r.Last]
	case r.Ends == EndsUnknown && r.isGoing():
		return "may leave the loop"
	case r.Ends == GoesOn && r.isGoing():
		return "leaves the loop"
	default:
		return doesOf[r.Ends]
	}
}

// sayFailing says what happens where a state fails on the way.
func (r *Row) sayFailing() string {
	if r.Lacks || len(r.Routes) == 0 {
		return "fails with " + r.Error + map[bool]string{true: " after its retries"}[r.Retried]
	}
	return doesOf[r.Ends] + " by a Catch of " + r.Error
}

// sayFailingAlike says what happens where a state fails if all jobs have the values.
func (r *Row) sayFailingAlike() string {
	text := fmt.Sprintf("%q fails with %s if all jobs have the status", r.FailsAt, r.Error)
	if r.forks() {
		text += ", or else " + r.sayForks()
	}
	return text
}

// forks tells whether the row says where each of its ways ends; a finding says it instead, but for jobs that the loop
// looks at together.
func (r *Row) forks() bool { return len(r.Forks) > 0 && (r.Rule == "" && r.Seconds == nil || r.Mixed) }

// sayForks says where each of several ways ends.
func (r *Row) sayForks() string {
	parts := make([]string, len(r.Forks))
	for i, f := range r.Forks {
		does := doesOf[f.Ends]
		if f.Whole != nil {
			does = f.Whole.String()
		}
		parts[i] = strconv.Quote(f.Route) + " " + does
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + ", or " + parts[last]
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
	var notes [][2]string
	if l.Unjudged != "" {
		notes = append(notes, [2]string{"  " + l.DescribeUnjudged(), ""})
	}
	if slices.ContainsFunc(l.Rows, func(r Row) bool { return r.Mixed }) {
		notes = append(notes, [2]string{"  looks at several jobs together: where a row has several states, the other jobs decide", ""})
	}
	ofBound, ofRunning := tag(UnboundedLoop, EventBudget, HotLoop, EarlyBound, BoundFirst), ""
	if l.Bound.Running != nil { // it has a line of its own
		ofBound, ofRunning = tag(UnboundedLoop, EventBudget, HotLoop, EarlyBound), tag(BoundFirst)
	}
	notes = append(notes, [2]string{"  " + l.DescribeBound(), ofBound})
	if running := l.DescribeRunning(); running != "" {
		notes = append(notes, [2]string{"  " + running, ofRunning})
	}
	if retried := l.DescribeRetried(); retried != "" {
		notes = append(notes, [2]string{"  " + retried, ""})
	}
	if past := l.Bound.DescribePast(); past != "" {
		notes = append(notes, [2]string{"  " + past, ""})
	}
	if needless := tag(PollNeedless); needless != "" {
		text := " has .sync: no loop needed"
		if job := l.Entry.Job; job.Sync == "" {
			sends := "sends"
			if job.Event.Note != "" {
				sends = "may send" // the finding says when
			}
			text = fmt.Sprintf(" %s an event at the end%s (%s)", sends, l.onlyWith(), job.Event.Delivery)
		}
		notes = append(notes, [2]string{"  " + l.Entry.Service.Key + text, needless})
	}
	return notes
}

// DescribeUnjudged says why the loop has no table; empty if it has one.
func (l *Loop) DescribeUnjudged() string {
	if l.Unjudged == "" {
		return ""
	}
	return "statuses not judged: " + l.Unjudged
}

// DescribeRetried says what runs the loop again where it fails; empty if nothing does.
func (l *Loop) DescribeRetried() string {
	if len(l.RetriedBy) == 0 {
		return ""
	}
	return fmt.Sprintf("where it fails, the Retry of %s runs it again: rows and bound are of one run", quoteAll(l.RetriedBy))
}
