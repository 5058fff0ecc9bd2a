package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// least is the share of a quota above which the text names it.
const least = 0.01

// text says which quotas are wide enough: those that matter, and the first to break.
func (l *load) text(strategy, region string, columns int) string {
	var lines []string
	say := func(sentences ...string) {
		for _, s := range sentences {
			lines = append(lines, terminal.Wrap(s, columns)...)
		}
	}
	say(fmt.Sprintf("%s at once in %s, with %s:", many(l.Jobs, "job"), region, strategy))
	lines = append(lines, l.listQuotas(columns)...)
	say(l.listSources()...)
	say(l.firstText())
	if l.Breaks != "" {
		for _, o := range l.Others {
			lines = append(lines, indent(terminal.Wrap(o.text(), columns-2), 2)...) //nolint:mnd // as rows
		}
		say(unknownQuotas)
		say(l.listStarts()...)
	}
	say(l.listBursts()...)
	return "\n" + strings.Join(lines, "\n") + "\n"
}

// indent moves lines to the right.
func indent(lines []string, columns int) []string {
	for i, line := range lines {
		lines[i] = strings.Repeat(" ", columns) + line
	}
	return lines
}

// listQuotas are the rows of the quotas that matter. Where one does not fit the terminal,
// all have their numbers below the name.
func (l *load) listQuotas(columns int) []string {
	width, fits := 0, true
	for i := range l.Quotas {
		width = max(width, len(l.Quotas[i].Quota))
	}
	var rows, names, numbers []string
	for i := range l.Quotas {
		if q := &l.Quotas[i]; q.Allowed == 0 || q.share() >= least || q.Source != "" {
			needs, allowed := q.spell()
			row := fmt.Sprintf("  %-*s %12s%s", width, q.Quota, needs, allowed)
			fits = fits && terminal.Width(row) <= columns
			rows, names, numbers = append(rows, row), append(names, q.Quota), append(numbers, needs+allowed)
		}
	}
	if fits {
		return rows
	}
	rows = nil
	for i, name := range names {
		rows = append(rows, "  "+name)
		rows = append(rows, indent(terminal.Wrap(numbers[i], columns-4), 4)...) //nolint:mnd // below the name
	}
	return rows
}

// unknownQuotas are those that no table here has.
const unknownQuotas = "How many jobs a service runs at once is a quota of its own, which is not known here."

// firstText says which quota breaks first.
func (l *load) firstText() string {
	switch l.Breaks {
	case "":
		return fmt.Sprintf("No known quota breaks: they allow %s at once. %s", many(l.MostJobs, "job"), unknownQuotas)
	case historyQuota:
		return "The longest jobs fill the history, however few run at once."
	}
	return fmt.Sprintf("%s breaks first: above %s at once.", l.Breaks, many(l.MostJobs, "job"))
}

// listStarts names the quotas of start calls that break: no way to poll changes that.
func (l *load) listStarts() (lines []string) {
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
		lines = append(lines, fmt.Sprintf("As children of distributed Maps they need %s of %s open Map Runs. Each starts %d a second.",
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
		if line := fmt.Sprintf("The quotas of %s are from %s.", service, q.Source); q.Source != "" && !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	return all
}

// spell writes what is needed, and what is allowed.
func (q *quotaUse) spell() (needs, allowed string) {
	unit := ""
	if q.PerSecond {
		unit = "/s"
	}
	switch {
	case q.Allowed == 0:
		allowed = ", quota not published"
	case q.breaks:
		allowed = fmt.Sprintf(" of %s%s  BREAKS", thousands(q.Allowed), unit)
		if times := fmt.Sprintf("%.1f", q.share()); times != "1.0" {
			allowed += ": " + times + " times"
		}
	default:
		allowed = " of " + thousands(q.Allowed) + unit
	}
	return thousands(q.Needs) + unit, allowed
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
		return fmt.Sprintf("%s keeps all quotas: up to %s at once", name, many(o.MostJobs, "job"))
	case historyQuota:
		return name + " fills the history, too"
	}
	return fmt.Sprintf("%s breaks %s at %s", name, o.Breaks, thousands(float64(o.MostJobs)))
}

// many writes a number of things with commas.
func many(n int, noun string) string {
	_, noun, _ = strings.Cut(kit.Plural(n, noun), " ")
	return thousands(float64(n)) + " " + noun
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
