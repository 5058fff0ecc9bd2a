package plan

import (
	"math"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/pastjobs"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/plan"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// plot is a picture of durations, with the polls of schedules below them on one time
// axis. The text and the SVG are drawn from it.
type plot struct {
	title     string
	subtitle  string // what is known of the jobs
	goal      string
	durations plan.Distribution
	// from and to are what the axis shows, in seconds. On a logarithmic axis, which shows
	// durations of very different lengths, from is above 0.
	from, to    float64
	logarithmic bool
	lines       []plotLine
}

// plotLine is a schedule and when it polls, in seconds.
type plotLine struct {
	name, about string
	polls       []float64
}

// What the axis shows: all but the longest jobs.
const (
	plotShortest = 0.005
	plotLongest  = 0.99
	plotMargin   = 1.05
	// plotFar is how many times the median the longest duration may be on a linear axis.
	plotFar = 8
)

// newPlot returns the picture of durations. Of past ones it shows not much more than the
// longest.
func newPlot(title string, k *knowledge) *plot {
	d := k.distribution
	p := &plot{title: title, durations: d, to: plotMargin * d.Quantile(plotLongest).Seconds()}
	if k.summary != nil {
		p.to = min(p.to, 2*plotMargin*k.summary.Longest.Seconds()) //nolint:mnd // room for longer ones
	}
	p.to = max(p.to, 1)
	if median := d.Quantile(0.5).Seconds(); p.to > plotFar*median { //nolint:mnd // the median
		p.logarithmic = true
		p.from = max(1, min(d.Quantile(plotShortest).Seconds(), p.to/plotFar)/1.5) //nolint:mnd // some room
	}
	return p
}

// add adds the line of a schedule.
func (p *plot) add(name, about string, polls []float64) {
	p.lines = append(p.lines, plotLine{name, about, polls})
}

// place is where a time stands: 0 at the left of the axis, 1 at its right.
func (p *plot) place(seconds float64) float64 {
	if p.logarithmic {
		return math.Log(max(seconds, p.from/10)/p.from) / math.Log(p.to/p.from) //nolint:mnd // well left of the axis
	}
	return seconds / p.to
}

// at is the time of a place.
func (p *plot) at(place float64) float64 {
	if p.logarithmic {
		return p.from * math.Pow(p.to/p.from, place)
	}
	return p.to * place
}

// shares are the shares of the jobs that end in each of so many equal parts of the axis.
func (p *plot) shares(parts int) []float64 {
	all := make([]float64, parts)
	below := p.durations.Below(pastjobs.Seconds(p.from))
	if !p.logarithmic {
		below = 0
	}
	for i := range all {
		next := p.durations.Below(pastjobs.Seconds(p.at(float64(i+1) / float64(parts))))
		all[i], below = next-below, next
	}
	return all
}

// steps are the distances between two labels of a linear axis.
var steps = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
}

// labels are the times that the axis names, so many at most: two or more.
func (p *plot) labels(most int) []time.Duration {
	const day = 24 * time.Hour
	var all []time.Duration
	if p.logarithmic {
		for _, t := range []time.Duration{
			time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, day, 7 * day, 30 * day, asl.MaxStandardTime,
		} {
			if s := t.Seconds(); s >= p.from && s <= p.to {
				all = append(all, t)
			}
		}
		return all
	}
	step := steps[0]
	for i := 0; p.to/step.Seconds() > float64(most-1) && step <= math.MaxInt64/2; i++ {
		if i < len(steps) {
			step = steps[i]
		} else {
			step = day << (i - len(steps))
		}
	}
	for i := range 1 + min(most-1, int(p.to/step.Seconds())) { // a sum of steps may be more than time.Duration holds
		all = append(all, time.Duration(i)*step)
	}
	return all
}

// The parts of the picture in a terminal.
const (
	plotRows  = 4  // of the bars
	plotNames = 10 // columns before the axis
	plotLabel = 9  // columns of a label with its distance to the next
)

// bars are the eighths of a character.
var bars = []rune(" ▁▂▃▄▅▆▇█")

// text draws the picture in so many columns.
func (p *plot) text(columns int, colours terminal.Colours) string {
	width := max(columns-plotNames-1, plotLabel) // a label at least
	var b strings.Builder
	shares := p.shares(width)
	highest := 0.0
	for _, share := range shares {
		highest = max(highest, share)
	}
	for row := plotRows - 1; row >= 0; row-- {
		line := make([]rune, width)
		for i, share := range shares {
			eighths := 0
			if highest > 0 {
				eighths = int(math.Round(share / highest * plotRows * 8))
			}
			if share > 0 && eighths == 0 && share > 1e-4 {
				eighths = 1 // there are some
			}
			line[i] = bars[min(8, max(0, eighths-8*row))]
		}
		name := ""
		if row == plotRows-1 {
			name = "jobs end"
		}
		terminal.Fprintf(&b, "%s\n", strings.TrimRight(padRight(name, plotNames)+string(line), " "))
	}
	b.WriteString(p.axisText(width))
	for _, l := range p.lines {
		line := strings.TrimRight(p.ticks(l.polls, width), " ")
		terminal.Fprintf(&b, "%s%s\n", padRight(terminal.Cut(l.name, plotNames-1), plotNames), colours.Paint(terminal.Active, line))
	}
	return b.String()
}

func padRight(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-terminal.Width(text)))
}

// axisText is the axis with its labels, in one line.
func (p *plot) axisText(width int) string {
	line := []rune(strings.Repeat("-", width))
	free := 0
	for _, t := range p.labels(max(2, width/plotLabel)) {
		at := int(math.Round(p.place(t.Seconds()) * float64(width)))
		label := []rune("+" + kit.ShortDuration(t))
		if at < free || at+len(label) > width {
			continue
		}
		copy(line[at:], label)
		free = at + len(label) + 1
	}
	return padRight("", plotNames) + string(line) + "\n"
}

// ticks are the polls of a schedule: | is one, # are several.
func (p *plot) ticks(polls []float64, width int) string {
	counts := make([]int, width)
	for _, t := range polls {
		at := int(p.place(t) * float64(width))
		if at >= 0 && at < width && p.place(t) >= 0 {
			counts[at]++
		}
	}
	line := make([]byte, width)
	for i, n := range counts {
		line[i] = " |#"[min(n, 2)] //nolint:mnd // several
	}
	return string(line)
}
