package plan

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/pastjobs"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// print writes the plan in the form that was asked for.
func (o *planOptions) print(c *cobra.Command, p *planReport) error {
	out := c.OutOrStdout()
	var err error
	switch o.output {
	case "json":
		err = kit.WriteJSON(out, p)
	case "schedule":
		err = kit.WriteJSON(out, p.Schedule)
	case "svg":
		_, err = io.WriteString(out, p.plot().svg())
	default:
		_, err = io.WriteString(out, p.text(terminal.ColumnsOf(out), terminal.ColoursOf(out)))
	}
	if err != nil {
		return kit.WithCode(kit.ExitFailed, fmt.Errorf("write the plan: %w", err))
	}
	return nil
}

// plot is the picture of the plan.
func (p *planReport) plot() *plot {
	title := p.title
	if title == "" {
		title = "When to poll"
	}
	pl := newPlot(title, p.known)
	pl.subtitle = "jobs take " + p.Durations.Source
	if p.Durations.Count > 0 {
		pl.subtitle = fmt.Sprintf("%s of %s", many(p.Durations.Count, "job"), p.Durations.Source)
	}
	pl.goal = "planned to see their end " + goalText(p.Late)
	for _, s := range p.Schedules {
		about := fmt.Sprintf("%.1f calls, %s late", s.Calls, lateText(s.MeanLateSeconds))
		if s.seesNone() {
			about = fmt.Sprintf("%.1f calls, the end not seen", s.Calls)
		}
		polls := s.polls
		if polls == nil {
			polls = pollTimes(s.Schedule, pl.to)
		}
		pl.add(s.Name, about, polls)
	}
	return pl
}

// goalText is a goal as the end of a sentence.
func goalText(late string) string {
	most, at, _ := strings.Cut(late, " ")
	if strings.HasSuffix(most, "%") {
		most += " of its length"
	}
	switch {
	case at == "mean":
		return most + " late on average"
	case strings.HasPrefix(at, "p"):
		return "at most " + most + " late in " + at[1:] + " % of the cases"
	}
	return "at most " + most + " late"
}

// mostDrawn bounds what is drawn of the polls of a schedule.
const mostDrawn = 100_000

// pollTimes are the times of the polls of a schedule up to a time, in seconds.
func pollTimes(s pollcore.Planned, until float64) []float64 {
	var all []float64
	now := (s.Jitter / 2).Seconds() //nolint:mnd // the middle
	for delay := range delaysOf(s) {
		if now += delay.Seconds(); now > until || len(all) == mostDrawn {
			break
		}
		all = append(all, now)
	}
	return all
}

// text is the plan for people.
func (p *planReport) text(columns int, colours terminal.Colours) string {
	var b strings.Builder
	wrapped := func(text string) {
		for _, line := range terminal.Wrap(text, columns) {
			terminal.Fprintf(&b, "%s\n", line)
		}
	}
	if p.title != "" {
		wrapped(p.title)
	}
	wrapped(p.Durations.text())
	b.WriteString(p.plot().text(columns, colours))
	b.WriteString("\n")
	for i, line := range p.table(columns) {
		if i > 0 && p.Schedules[i-1].Name == plannedName {
			terminal.Fprintf(&b, "%s\n", colours.Paint(terminal.Strong, line))
		} else {
			terminal.Fprintf(&b, "%s\n", line)
		}
	}
	b.WriteString("\n")
	wrapped(p.Why)
	if p.Durations.Count > 0 {
		wrapped(fmt.Sprintf("The table is of these jobs. The plan is for jobs of about these lengths, and for one in %s of another length: "+
			"all of those it finds %s late on average.",
			thousands(math.Round(1/p.unseen)), lateText(p.allowed.Seconds())))
	}
	if p.ofMean && p.Bound < 0.995 && p.Durations.Variation > 0 { //nolint:mnd // at least a percent
		wrapped(fmt.Sprintf("The spread of the durations allows at most %.0f %% fewer calls than a fixed delay.", 100*(1-p.Bound))) //nolint:mnd // percent
	}
	wrapped("schedule: " + scheduleText(p.Schedule))
	if p.Load != nil {
		b.WriteString(p.Load.text(p.Strategy, p.Region, columns))
	}
	for _, note := range p.Notes {
		wrapped("note: " + note)
	}
	return b.String()
}

// tableColumn is a column of the table. Columns with the highest number go first where
// the terminal is narrow.
type tableColumn struct {
	heading string
	width   int
	goes    int
	cell    func(s *plannedSchedule) string
}

// seesNone tells that the loop gives up before the end of every job: nobody knows how
// late it would be.
func (s *plannedSchedule) seesNone() bool { return s.Missed == 1 }

func (s *plannedSchedule) late(seconds float64) string {
	if s.seesNone() {
		return "-"
	}
	return lateText(seconds)
}

var tableColumns = []tableColumn{
	{"", -9, 0, func(s *plannedSchedule) string { return s.Name }},
	{"calls", 6, 1, func(s *plannedSchedule) string { return fmt.Sprintf("%.1f", s.Calls) }},
	{"late: mean", 11, 2, func(s *plannedSchedule) string { return s.late(s.MeanLateSeconds) }},
	{"p95", 8, 3, func(s *plannedSchedule) string { return s.late(s.P95LateSeconds) }},
	{"worst", 8, 5, func(s *plannedSchedule) string { return s.late(s.MaxLateSeconds) }},
	{"transitions", 12, 8, func(s *plannedSchedule) string { return fmt.Sprintf("%.1f", s.Transitions) }},
	{"events", 7, 7, func(s *plannedSchedule) string { return fmt.Sprintf("%.0f", s.Events) }},
	{"USD/1,000", 10, 4, func(s *plannedSchedule) string { return fmt.Sprintf("%.4f", 1000*s.CostUSD) }}, //nolint:mnd // of 1,000 jobs
	{"fits", 8, 6, func(s *plannedSchedule) string { return fitText(pastjobs.Seconds(s.LongestSeconds)) }},
}

// table are the lines of the table, with the columns that the terminal has room for.
func (p *planReport) table(columns int) []string {
	shown, width := slices.Clone(tableColumns), 0
	for _, c := range shown {
		width += max(c.width, -c.width)
	}
	for width > columns && len(shown) > 2 { //nolint:mnd // the name and the calls
		last := slices.IndexFunc(shown, func(c tableColumn) bool {
			return !slices.ContainsFunc(shown, func(other tableColumn) bool { return other.goes > c.goes })
		})
		width -= shown[last].width
		shown = slices.Delete(shown, last, last+1)
	}
	lines := make([]string, 1+len(p.Schedules))
	for _, c := range shown {
		lines[0] += fmt.Sprintf("%*s", c.width, c.heading)
		for i := range p.Schedules {
			cell := fmt.Sprintf("%*s", c.width, c.cell(&p.Schedules[i]))
			if c.width > 0 && cell[0] != ' ' { // a long number moves what follows
				cell = " " + cell
			}
			lines[1+i] += cell
		}
	}
	return lines
}

// fewJobs is how many jobs it takes for one to be outside of 90 %.
const fewJobs = 20

// text says what is known of the durations.
func (d planDurations) text() string {
	text := d.Source
	if d.Count > 0 {
		text = fmt.Sprintf("%s has %s", d.Source, many(d.Count, "duration"))
		if d.Intervals > 0 {
			text += fmt.Sprintf(" (%s between two polls)", thousands(float64(d.Intervals)))
		}
	}
	if d.Variation == 0 {
		all := map[bool]string{true: "all jobs take ", false: "all took "}[d.Count == 0]
		if d.Count == 1 {
			all = ""
		}
		return text + ": " + all + wholeText(d.P50Seconds)
	}
	most := "90 %"
	if d.Count > 0 && d.Count < fewJobs { // their quantiles are the shortest and the longest
		most = "all"
	}
	text += fmt.Sprintf(": median %s, mean %s, %s between %s and %s, spread %.2f (standard deviation / mean)",
		wholeText(d.P50Seconds), wholeText(d.MeanSeconds), most, wholeText(d.P5Seconds), wholeText(d.P95Seconds), d.Variation)
	if len(d.ModesSeconds) > 1 {
		parts := make([]string, len(d.ModesSeconds))
		for i, m := range d.ModesSeconds {
			parts[i] = wholeText(m)
		}
		text += ", they gather around " + strings.Join(parts, ", ")
	}
	return text
}

// wholeText writes a duration without what nobody reads.
func wholeText(s float64) string {
	d := pastjobs.Seconds(s)
	switch {
	case d >= 10*time.Hour: //nolint:mnd // minutes do
		return kit.ShortDuration(d.Round(time.Minute))
	case d >= 10*time.Second: //nolint:mnd // whole seconds do
		return kit.ShortDuration(d.Round(time.Second))
	}
	return kit.ShortDuration(d.Round(100 * time.Millisecond)) //nolint:mnd // a tenth of a second
}

// lateText writes a lateness in at most seven characters.
func lateText(s float64) string {
	d := pastjobs.Seconds(s)
	switch {
	case d == 0:
		return "0s"
	case d >= 48*time.Hour: //nolint:mnd // days
		return fmt.Sprintf("%.0fd", d.Hours()/24) //nolint:mnd // hours of a day
	case d >= time.Hour:
		return kit.ShortDuration(d.Round(time.Minute))
	}
	return wholeText(s)
}

// fitText writes the longest wait.
func fitText(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= asl.MaxStandardTime:
		return "a year"
	case d >= 3*day: //nolint:mnd // some days
		return fmt.Sprintf("%dd", d/day)
	case d < time.Hour:
		return kit.ShortDuration(d.Truncate(time.Second))
	}
	return kit.ShortDuration(d.Truncate(time.Minute))
}

// scheduleText is a schedule in a line: its first delays, and the last.
func scheduleText(s pollcore.Planned) string {
	const most = 8
	var parts []string
	for i, d := range s.Delays {
		if i == most {
			parts = append(parts, fmt.Sprintf("... (%s, see -o schedule)", kit.Plural(len(s.Delays), "delay")))
			break
		}
		text := kit.ShortDuration(d)
		if i == 0 && s.Jitter > 0 {
			text += " to " + kit.ShortDuration(d+s.Jitter) + " (drawn once)"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ") + ", then every " + kit.ShortDuration(s.Then)
}
