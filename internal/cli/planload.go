package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// least is the share of a quota above which the text names it.
const least = 0.01

// text says which quotas are wide enough: those that matter, and the first to break.
func (l *load) text(strategy, region string, columns int) string {
	var b strings.Builder
	b.WriteString("\n")
	for _, lines := range [][]string{
		{fmt.Sprintf("%s at once in %s, with %s:", l.jobs(), region, strategy)},
		l.listQuotas(), l.listSources(), l.listBreaks(columns), l.listBursts(),
	} {
		for _, line := range lines {
			if strings.HasPrefix(line, "  ") && terminal.Width(line) <= columns { // a row
				terminal.Fprintf(&b, "%s\n", line)
				continue
			}
			for _, part := range wrapWords(line, columns) {
				terminal.Fprintf(&b, "%s\n", part)
			}
		}
	}
	return b.String()
}

func (l *load) jobs() string {
	if l.Jobs == 1 {
		return "1 job"
	}
	return thousands(float64(l.Jobs)) + " jobs"
}

// listQuotas are the rows of the quotas that matter.
func (l *load) listQuotas() []string {
	width := 0
	for i := range l.Quotas {
		width = max(width, len(l.Quotas[i].Quota))
	}
	var rows []string
	for i := range l.Quotas {
		if q := &l.Quotas[i]; q.Allowed == 0 || q.share() >= least || q.Source != "" {
			rows = append(rows, q.text(width))
		}
	}
	return rows
}

// unknownQuotas are those that no table here has.
const unknownQuotas = "How many jobs a service runs at once is a quota of its own, which is not known here."

// listBreaks say which quota breaks first, and what the other strategies break.
func (l *load) listBreaks(columns int) []string {
	var lines []string
	switch l.Breaks {
	case "":
		return []string{fmt.Sprintf("No known quota breaks: they allow %s jobs at once. %s", thousands(float64(l.MostJobs)), unknownQuotas)}
	case historyQuota:
		lines = append(lines, "The longest jobs fill the history, however few run at once.")
	default:
		lines = append(lines, fmt.Sprintf("%s breaks first: at %s jobs at once.", l.Breaks, thousands(float64(l.MostJobs))))
	}
	for _, o := range l.Others {
		for _, line := range wrapWords(o.text(), columns-2) { //nolint:mnd // indented
			lines = append(lines, "  "+line)
		}
	}
	lines = append(lines, unknownQuotas)
	for i := range l.Quotas {
		if q := &l.Quotas[i]; q.isStart && q.breaks {
			lines = append(lines, q.Quota+" breaks however the jobs are polled: start them more slowly, or ask AWS for more.")
		}
	}
	return lines
}

// listBursts say how long the quotas hold up what all jobs do together.
func (l *load) listBursts() []string {
	var lines []string
	for _, when := range []string{whenStart, whenPoll, whenEnd} {
		var parts []string
		for _, one := range l.Bursts {
			if one.When == when {
				parts = append(parts, one.Quota+" "+wholeText(one.Seconds))
			}
		}
		if len(parts) > 0 {
			lines = append(lines, fmt.Sprintf("%s, the quotas let them through in: %s.", whenText[when], strings.Join(parts, ", ")))
		}
	}
	if runs := (l.Jobs + asl.MaxMapRunConcurrency - 1) / asl.MaxMapRunConcurrency; l.needs("StartExecution") && l.Jobs > asl.MapRunStartsPerSecond {
		lines = append(lines, fmt.Sprintf("As children of distributed Maps they need %s of %s open Map Runs, each of which starts %d a second.",
			thousands(float64(runs)), thousands(asl.MaxOpenMapRuns), asl.MapRunStartsPerSecond))
	}
	return lines
}

var whenText = map[string]string{whenStart: "If all start together", whenPoll: "If all are polled together", whenEnd: "If all end together"}

func (l *load) needs(quota string) bool {
	for i := range l.Quotas {
		if l.Quotas[i].Quota == quota {
			return true
		}
	}
	return false
}

// listSources say who knows the quotas of services.
func (l *load) listSources() []string {
	var all []string
	for i := range l.Quotas {
		q := &l.Quotas[i]
		service, _, _ := strings.Cut(q.Quota, ":")
		if line := fmt.Sprintf("The quotas of %s are known %s.", service, q.Source); q.Source != "" && !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	return all
}

func (q *quotaUse) text(width int) string {
	unit, allowed, mark := "", "not published", ""
	if q.PerSecond {
		unit = "/s"
	}
	if q.Allowed > 0 {
		allowed = thousands(q.Allowed) + unit
	}
	if q.breaks {
		mark = fmt.Sprintf("  BREAKS: %.1f times", q.share())
	}
	return fmt.Sprintf("  %-*s %12s of %s%s", width, q.Quota, thousands(q.Needs)+unit, allowed, mark)
}

func (o strategyLoad) text() string {
	name := o.Strategy
	if name == todayName {
		name = "today's loop"
	}
	if o.Note != "" {
		name += " (" + o.Note + ")"
	}
	switch o.Breaks {
	case "":
		return fmt.Sprintf("%s keeps all quotas: up to %s jobs at once", name, thousands(float64(o.MostJobs)))
	case historyQuota:
		return name + " fills the history, too"
	}
	return fmt.Sprintf("%s breaks %s at %s", name, o.Breaks, thousands(float64(o.MostJobs)))
}

// thousands writes a number with commas, without a fraction where it is large.
func thousands(n float64) string {
	if n < 100 && n != float64(int(n)) { //nolint:mnd // a tenth counts
		return fmt.Sprintf("%.1f", n)
	}
	digits := fmt.Sprintf("%.0f", n)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
