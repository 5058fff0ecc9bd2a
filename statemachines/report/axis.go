package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// axis is the time that a picture shows.
type axis struct {
	start, stop time.Time
	relative    bool // there is no room for times of the day
}

// whole is the time that it spans, above 0.
func (a axis) whole() time.Duration { return max(a.stop.Sub(a.start), time.Millisecond) }

// at is where a time stands, in percent of the width.
func (a axis) at(t time.Time) float64 {
	return min(max(100*float64(t.Sub(a.start))/float64(a.whole()), 0), 100)
}

// since is how long after the start a time is.
func (a axis) since(t time.Time) string {
	d := t.Sub(a.start)
	if d < 0 { // a history may have such times
		return FormatDuration(d)
	}
	return "+" + FormatDuration(d)
}

// clock is the time of the day in UTC, with the date if that is another than at the
// start.
func (a axis) clock(t time.Time) string {
	t = t.UTC()
	layout := "15:04:05"
	if t.Format(time.DateOnly) != a.start.UTC().Format(time.DateOnly) {
		layout = "01-02 " + layout
	}
	if t.Truncate(time.Second) != t {
		layout += ".000"
	}
	return t.Format(layout)
}

// when is how long after the start a time is, and the time of the day.
func (a axis) when(t time.Time) string {
	if a.relative {
		return a.since(t)
	}
	return a.since(t) + " (" + a.clock(t) + ")"
}

// formatDate writes a time with its date and zone.
func formatDate(t time.Time) string { return t.UTC().Format(time.DateTime) + " UTC" }

// round writes a place or a width of a drawing, without what no zoom shows.
func round(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(v, 'f', 4, 64), "0"), ".") + "%"
}

// steps are the round times between two ticks.
var steps = func() []time.Duration {
	all := []time.Duration{}
	for _, unit := range []time.Duration{time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond} {
		all = append(all, unit, 2*unit, 5*unit)
	}
	for _, seconds := range []int{1, 2, 5, 10, 15, 30, 60, 2 * 60, 5 * 60, 10 * 60, 15 * 60, 30 * 60} {
		all = append(all, time.Duration(seconds)*time.Second)
	}
	for _, hours := range []int{1, 2, 3, 6, 12, 24, 2 * 24, 5 * 24, 10 * 24, 30 * 24, 60 * 24, 180 * 24, 1000 * 24, 5000 * 24, 20_000 * 24, 50_000 * 24} {
		all = append(all, time.Duration(hours)*time.Hour)
	}
	return all
}()

// ticks are round times of an axis, so many at most.
func (a axis) ticks(most int) []time.Duration {
	step := steps[len(steps)-1]
	for _, s := range steps {
		if int(a.whole()/s) <= most {
			step = s
			break
		}
	}
	var all []time.Duration
	for at := time.Duration(0); at <= a.whole() && len(all) <= most; at += step {
		all = append(all, at)
	}
	return all
}

// coarse is how long an axis is whose ticks have no milliseconds.
const coarse = 10 * time.Second

// tick is a round time at its place; its text stands on one side of it or around it.
type tick struct{ At, Text, Clock, Anchor string }

// placeTicks are so many ticks at most, in a drawing that is so many times wider than
// its place.
func (a axis) placeTicks(most, zoom int) []tick {
	var all []tick
	for _, at := range a.ticks(most) {
		place := a.at(a.start.Add(at))
		of := a.start.Add(at)
		if a.whole() >= coarse { // there is no room for more, nor need
			of = of.Truncate(time.Second)
		}
		t := tick{At: round(place), Text: FormatDuration(at), Clock: a.clock(of), Anchor: "middle"}
		switch {
		case at == 0:
			t.Anchor = "start"
		case place > 100-3/float64(zoom):
			t.Anchor = "end"
		}
		all = append(all, t)
	}
	return all
}

// FormatDuration writes a duration for people: the parts that are not 0, with
// milliseconds where it is short.
func FormatDuration(d time.Duration) string {
	if d < 0 {
		return "-" + FormatDuration(d.Abs()) // the least duration has no opposite
	}
	switch {
	case d >= time.Minute:
		d = d.Round(time.Second)
	case d >= time.Second:
		d = d.Round(100 * time.Millisecond)
	default:
		d = d.Round(time.Millisecond)
	}
	if d < time.Minute {
		return d.String()
	}
	const day = 24 * time.Hour
	var b strings.Builder
	for _, part := range []struct {
		unit time.Duration
		name string
	}{{day, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if n := d / part.unit; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, part.name)
			d %= part.unit
		}
	}
	return b.String()
}

// FormatCount writes a number with commas.
func FormatCount(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// formatClock writes the time of an event: "3:51:25.250", or "5.0" in the first
// minute.
func formatClock(d time.Duration) string {
	d = d.Round(time.Millisecond)
	sign := ""
	if d < 0 {
		d, sign = d.Abs(), "-"
	}
	h, m, s, ms := d/time.Hour, d/time.Minute%60, d/time.Second%60, d/time.Millisecond%1000
	fraction := ""
	if ms > 0 {
		fraction = fmt.Sprintf(".%03d", ms)
	}
	switch {
	case h > 0:
		return fmt.Sprintf("%s%d:%02d:%02d%s", sign, h, m, s, fraction)
	case m > 0:
		return fmt.Sprintf("%s%d:%02d%s", sign, m, s, fraction)
	default:
		return fmt.Sprintf("%s%d%s", sign, s, cmp.Or(fraction, ".0"))
	}
}
