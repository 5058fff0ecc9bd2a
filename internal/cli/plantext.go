package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

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
		err = writeJSON(out, p)
	case "schedule":
		err = writeJSON(out, p.Schedule)
	case "svg":
		_, err = io.WriteString(out, p.plot().svg())
	default:
		columns := 80
		if display := terminal.DisplayOf(out); display != nil {
			columns = display.Columns()
		}
		_, err = io.WriteString(out, p.text(columns, terminal.ColoursOf(out)))
	}
	if err != nil {
		return &exitError{exitFailed, fmt.Errorf("write the plan: %w", err)}
	}
	return nil
}

// plot is the picture of the plan.
func (p *planReport) plot() *plot {
	title := p.Durations.Source
	if p.title != "" {
		title = p.title + ": " + title
	}
	pl := newPlot(title, p.known)
	for _, s := range p.Schedules {
		about := fmt.Sprintf("%.1f calls, %s late", s.Calls, lateText(s.MeanLateSeconds))
		pl.add(s.Name, about, pollTimes(s.Schedule, pl.to))
	}
	return pl
}

// mostDrawn bounds what is drawn of the polls of a schedule.
const mostDrawn = 100_000

// pollTimes are the times of the polls of a schedule up to a time, in seconds.
func pollTimes(s pollcore.Planned, until float64) []float64 {
	var all []float64
	now := 0.0
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
	if p.title != "" {
		terminal.Fprintf(&b, "%s\n", p.title)
	}
	wrapped := func(text string) {
		for _, line := range wrapWords(text, columns) {
			terminal.Fprintf(&b, "%s\n", line)
		}
	}
	wrapped(p.Durations.text())
	b.WriteString(p.plot().text(columns, colours))
	terminal.Fprintf(&b, "\n%-9s%6s%11s%8s%8s%12s%7s%10s%8s\n", "", "calls", "late: mean", "p95", "worst", "transitions", "events", "USD/1,000", "fits")
	for _, s := range p.Schedules {
		line := fmt.Sprintf("%-9s%6.1f%11s%8s%8s%12.1f%7.0f%10.4f%8s", s.Name, s.Calls, lateText(s.MeanLateSeconds), lateText(s.P95LateSeconds),
			lateText(s.MaxLateSeconds), s.Transitions, s.Events, 1000*s.CostUSD, fitText(seconds(s.LongestSeconds))) //nolint:mnd // of 1,000 jobs
		if s.Name == plannedName {
			terminal.Fprintf(&b, "%s\n", colours.Paint(terminal.Strong, line))
		} else {
			terminal.Fprintf(&b, "%s\n", line)
		}
	}
	b.WriteString("\n")
	wrapped(p.Why)
	if p.Bound < 0.995 { //nolint:mnd // at least a percent
		wrapped(fmt.Sprintf("The spread of the durations allows at most %.0f %% fewer calls than a fixed delay.", 100*(1-p.Bound))) //nolint:mnd // percent
	}
	wrapped("schedule: " + scheduleText(p.Schedule))
	if p.Load != nil {
		b.WriteString(p.Load.text(p.Strategy, p.Region))
	}
	for _, note := range p.Notes {
		wrapped("note: " + note)
	}
	return b.String()
}

// text says what is known of the durations.
func (d planDurations) text() string {
	text := d.Source
	if d.Count > 0 {
		text = fmt.Sprintf("%s has %s", d.Source, plural(d.Count, "duration"))
		if d.Intervals > 0 {
			text += fmt.Sprintf(" (%d between two polls)", d.Intervals)
		}
	}
	text += fmt.Sprintf(": median %s, mean %s, 90 %% between %s and %s, spread %.2f (standard deviation / mean)",
		wholeText(d.P50Seconds), wholeText(d.MeanSeconds), wholeText(d.P5Seconds), wholeText(d.P95Seconds), d.Variation)
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
	d := seconds(s)
	switch {
	case d >= 10*time.Hour: //nolint:mnd // minutes do
		return shortDuration(d.Round(time.Minute))
	case d >= 10*time.Second: //nolint:mnd // whole seconds do
		return shortDuration(d.Round(time.Second))
	}
	return shortDuration(d.Round(100 * time.Millisecond)) //nolint:mnd // a tenth of a second
}

// lateText writes a lateness in at most seven characters.
func lateText(s float64) string {
	d := seconds(s)
	switch {
	case d >= 48*time.Hour: //nolint:mnd // days
		return fmt.Sprintf("%.0fd", d.Hours()/24) //nolint:mnd // hours of a day
	case d >= time.Hour:
		return shortDuration(d.Round(time.Minute))
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
		return shortDuration(d.Truncate(time.Second))
	}
	return shortDuration(d.Truncate(time.Hour))
}

// scheduleText is a schedule in a line: its first delays, and the last.
func scheduleText(s pollcore.Planned) string {
	const most = 8
	var parts []string
	for i, d := range s.Delays {
		if i == most {
			parts = append(parts, fmt.Sprintf("... (%s, see -o schedule)", plural(len(s.Delays), "delay")))
			break
		}
		parts = append(parts, shortDuration(d))
	}
	return strings.Join(parts, ", ") + ", then every " + shortDuration(s.Then)
}

// wrapWords breaks a text into lines.
func wrapWords(text string, columns int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && terminal.Width(line)+1+terminal.Width(word) > columns {
			lines = append(lines, line)
			line = "  "
		}
		if strings.TrimSpace(line) != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
