package report

import (
	"fmt"
	"html"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/graph"
	"github.com/jobpoller/jobpoller/statemachines/history"
)

// Measures of a lane. A drawing is as wide as its place: what is across is in
// percent, and the rest in pixels.
const (
	laneHeight = 22
	barTop     = 4
	barHeight  = 14
	// drawnWidth is how wide a drawing is expected to be: bars that would be closer
	// than a pixel there become one, whose shade says how much of the time they
	// take.
	drawnWidth = 800
	least      = 2      // pixels that a bar measures at least, by its stroke
	slightest  = 0.0001 // percent that it measures without, or it would not be drawn
	cellWidth  = 6      // pixels of a shade
	shades     = 5
	// mostTips is how many bars of a lane say what they are.
	mostTips = 500
)

// zooms are how many times wider a reader can have a drawing.
var zooms = []int{1, 8, 64}

// bar is something that lasts.
type bar struct {
	from, to time.Time
	what     string // for one alone
}

// cell is what is drawn of bars.
type cell struct {
	left, right float64 // percent
	count       int
	shade       int // from 1; shades is a bar alone
	from, to    time.Time
	first       *bar
}

// mergeBars makes cells of bars, which are sorted by their start, for a zoom. near
// tells whether one stands for bars that a larger zoom tells apart.
func (a axis) mergeBars(bars []bar, zoom int) (cells []cell, near bool) {
	pixel := 100 / float64(drawnWidth*zoom)
	for i := 0; i < len(bars); {
		run := i
		right, end := max(a.at(bars[i].to), a.at(bars[i].from)+least*pixel), bars[i].to
		for i++; i < len(bars) && a.at(bars[i].from) < right+pixel; i++ {
			near = near || bars[i].from.After(bars[i-1].from) && !bars[i].from.Before(end)
			if bars[i].to.After(end) {
				end = bars[i].to
			}
			right = max(right, a.at(bars[i].to), a.at(bars[i].from)+least*pixel)
		}
		if i-run == 1 {
			b := &bars[run]
			cells = append(cells, cell{a.at(b.from), max(a.at(b.to), a.at(b.from)+slightest), 1, shades, b.from, b.to, b})
			continue
		}
		cells = append(cells, a.shadeBars(bars[run:i], right, cellWidth*pixel)...)
	}
	return cells, near
}

// shadeBars makes cells of bars that are too close to tell apart.
func (a axis) shadeBars(bars []bar, right, width float64) []cell {
	left := a.at(bars[0].from)
	n := max(1, int((right-left)/width+0.5))
	width = (right - left) / float64(n)
	share, count := make([]float64, n), make([]int, n)
	from, to := make([]time.Time, n), make([]time.Time, n)
	for i := range bars {
		b := &bars[i]
		start, end := a.at(b.from), a.at(b.to)
		first := min(int((start-left)/width), n-1)
		if count[first]++; count[first] == 1 {
			from[first] = b.from
		}
		for j := first; j < n && left+float64(j)*width <= end; j++ {
			share[j] += max(0, min(end, left+float64(j+1)*width)-max(start, left+float64(j)*width)) / width
			if b.to.After(to[j]) {
				to[j] = b.to
			}
		}
	}
	var cells []cell
	for j := range n {
		if count[j] == 0 && share[j] == 0 {
			continue
		}
		shade := 1 + min(int(share[j]*shades), shades-1)
		at := left + float64(j)*width
		if last := len(cells) - 1; last >= 0 && cells[last].shade == shade && cells[last].right > at-width/2 {
			cells[last].right, cells[last].count, cells[last].to = at+width, cells[last].count+count[j], to[j]
			continue
		}
		if from[j].IsZero() {
			from[j] = a.start.Add(time.Duration(at / 100 * float64(a.whole())))
		}
		cells = append(cells, cell{at, at + width, count[j], shade, from[j], to[j], nil})
	}
	return cells
}

// lane is a state in the timeline.
type lane struct {
	row *row
	// Drawing is the SVG, and zoomable tells that more of it shows at a zoom.
	zoomable bool
	marked   []string // classes of bars that occur
	Drawing  template.HTML
}

// drawLane draws when the execution was in a state: a bar for each visit. In that of
// a Task that was called again there is one for each call, so that the waits for
// retries show. What failed lies above: red if the execution ended there.
func drawLane(a axis, r *row) lane {
	l := lane{row: r}
	bars, marked := newBars(a, r)
	for _, m := range marked {
		if len(m.bars) > 0 {
			l.marked = append(l.marked, m.class)
		}
	}
	again := map[time.Time]*history.Visit{}
	for _, v := range r.visits {
		if len(v.Attempts) > 1 {
			again[v.Start] = v
		}
	}
	label := r.name
	if r.ending.Text != "" {
		label += ", " + cut(r.ending.Text, mostName)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="lane %s" role="img" aria-label="%s" width="100%%" height="%d">`, kind(r.kind), html.EscapeString(label), laneHeight)
	zoom := 0
	for i, z := range zooms {
		cells, near := a.mergeBars(bars, z)
		var over []string
		for _, m := range marked {
			cells, markedNear := a.mergeBars(m.bars, z)
			near = near || markedNear
			over = append(over, drawMarked(a, m.class, cells))
		}
		last := !near || i == len(zooms)-1
		fmt.Fprintf(&b, `<g class="z%d`, z)
		for _, further := range zooms[i+1:] {
			if last {
				fmt.Fprintf(&b, " z%d", further)
			}
		}
		b.WriteString(`">`)
		for _, c := range cells {
			v := again[c.from]
			if c.count != 1 || c.first == nil {
				v = nil
			}
			drawCell(&b, a, &c, v)
		}
		b.WriteString(strings.Join(over, "") + "</g>")
		if zoom = z; last {
			break
		}
	}
	l.zoomable = zoom > 1
	b.WriteString("</svg>")
	l.Drawing = template.HTML(b.String()) //nolint:gosec // names are escaped where they are written
	return l
}

// markedBars are bars of one class that lie above those of the visits.
type markedBars struct {
	class string
	bars  []bar
}

// newBars are the bars of the visits of a state, and those of what failed in it, the
// worst last.
func newBars(a axis, r *row) (bars []bar, marked []markedBars) {
	caught, aborted, failed := markedBars{class: "caught"}, markedBars{class: "aborted"}, markedBars{class: "failed"}
	for _, v := range r.visits {
		what := ""
		if len(r.visits) <= mostTips {
			what = tip(a, v)
		}
		whole := bar{v.Start, v.End, what}
		bars = append(bars, whole)
		ended := v.Outcome == graph.Failed || v.Outcome == graph.TimedOut
		for i := range v.Attempts {
			c := &v.Attempts[i]
			if !c.Failed || c.Polled {
				continue
			}
			call := bar{c.Start, c.End, ""}
			if r.failures <= mostTips {
				call.what = "call failed at " + a.when(c.End) + ", " + cut(c.Error, mostName)
			}
			if ended && i == len(v.Attempts)-1 {
				whole = call
				continue
			}
			caught.bars = append(caught.bars, call)
		}
		switch {
		case ended:
			failed.bars = append(failed.bars, whole)
		case v.Outcome == graph.Aborted:
			aborted.bars = append(aborted.bars, whole)
		case v.Outcome == graph.Caught && v.Failures() == 0:
			caught.bars = append(caught.bars, whole)
		}
	}
	marked = []markedBars{caught, aborted, failed}
	for _, all := range [][]bar{bars, caught.bars, aborted.bars, failed.bars} {
		slices.SortStableFunc(all, func(a, b bar) int { return a.from.Compare(b.from) })
	}
	return bars, marked
}

// drawMarked draws what failed, or was aborted.
func drawMarked(a axis, class string, cells []cell) string {
	more := 0 // the worse the higher, for readers who do not see the colour
	switch class {
	case "failed":
		more = barTop
	case "caught":
		more = -barTop
	}
	var b strings.Builder
	for _, c := range cells {
		text := fmt.Sprintf("%s times %s, %s to %s", FormatCount(c.count), class, a.when(c.from), a.when(c.to))
		if c.first != nil {
			text = c.first.what
		}
		fmt.Fprintf(&b, `<rect class="%s" x="%s" y="%d" width="%s" height="%d">%s</rect>`,
			class, round(c.left), barTop-more, round(c.right-c.left), barHeight+2*more, title(text))
	}
	return b.String()
}

// drawCell draws a cell, or the calls of a visit with several.
func drawCell(b *strings.Builder, a axis, c *cell, again *history.Visit) {
	text := fmt.Sprintf("%s visits, %s to %s", FormatCount(c.count), a.when(c.from), a.when(c.to))
	if c.first != nil {
		text = c.first.what
	}
	class := fmt.Sprintf("b d%d", c.shade)
	if again != nil {
		class = "b between"
	}
	fmt.Fprintf(b, `<rect class="%s" x="%s" y="%d" width="%s" height="%d">%s</rect>`,
		class, round(c.left), barTop, round(c.right-c.left), barHeight, title(text))
	if again == nil {
		return
	}
	for i := range again.Attempts {
		call := &again.Attempts[i]
		if call.Failed && !call.Polled {
			continue // it lies above
		}
		left := a.at(call.Start)
		fmt.Fprintf(b, `<rect class="b d%d" x="%s" y="%d" width="%s" height="%d"/>`, shades, round(left), barTop, round(max(a.at(call.End)-left, 0.1)), barHeight)
	}
}

// title is what a drawing says when it is pointed at.
func title(text string) string {
	if text == "" {
		return ""
	}
	return "<title>" + html.EscapeString(text) + "</title>"
}

// kind is the class of a type of state; empty for what a history takes for one.
func kind(t asl.Type) string {
	switch t {
	case asl.TypeTask, asl.TypeWait, asl.TypeChoice, asl.TypePass, asl.TypeMap, asl.TypeParallel, asl.TypeSucceed, asl.TypeFail:
		return strings.ToLower(string(t))
	default:
		return ""
	}
}

// tip is what the bar of a visit says when it is pointed at.
func tip(a axis, v *history.Visit) string {
	text := fmt.Sprintf("%s, %s", a.when(v.Start), FormatDuration(v.End.Sub(v.Start)))
	if n := v.Failures(); n > 0 && v.Outcome != graph.Retried {
		text += fmt.Sprintf(", %s failed", plural(n, "call"))
	}
	if said := v.Describe(); said != "" {
		text += ", " + cut(said, mostName)
	}
	if v.Open {
		text += ", still in it"
	}
	return text
}

// plural writes a number of things.
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return FormatCount(n) + " " + noun
}
