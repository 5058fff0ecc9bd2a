package report

import (
	"cmp"
	"fmt"
	"html"
	"strings"
	"unicode/utf8"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/statemachines/history"
)

// Measures of a picture, in pixels. Its texts can be read at 340 pixels and at 700.
const (
	pictureWidth  = 380
	pictureMargin = 10
	pictureLine   = 16 // from one line of text to the next
	pictureText   = 56 // characters of a line
	pictureItems  = 6  // of a legend
	letter        = 7  // what a character of a smaller text takes, at most
	ticksHeight   = 24
	// closest is how close marks of one kind stand; closer ones are one band.
	closest = 3
)

// SVG returns the polls of an execution's jobs as a picture that needs nothing but
// itself: each job's life above, its polls below, and how late its end was seen. Polls
// that are too close to tell apart are a band.
func SVG(e *history.Execution) []byte {
	jobs := e.FindJobs(e.FindVisits())
	a := axis{start: e.Start, stop: e.Stop, relative: true}
	p := picture{height: pictureMargin}
	p.line(Mood(e.Status), describeEnd(e))
	for i, j := range jobs {
		if i == mostRibbons {
			p.line("soft", "and "+plural(len(jobs)-i, "more job"))
			break
		}
		p.line("", fmt.Sprintf("%s polls %s", cut(j.State, mostName), j.Operation))
		p.legend(j)
		for _, f := range facts(a, j) {
			if f.Bad {
				p.line("warn", f.Text)
			}
		}
		d := drawing{axis: a, job: j, polls: func(b *strings.Builder) { drawBands(b, a, j) }, label: labelWide}
		p.nest(ribbonHeight, d.draw())
	}
	p.nest(ticksHeight, drawTicks(a))
	p.height += pictureMargin / 2
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d">
<title>%[3]s</title>
<style>
%[4]s</style>
%[5]s<rect class="back" width="100%%" height="100%%"/>
%[6]s</svg>
`, pictureWidth, p.height, strings.Map(xmlCharacter, html.EscapeString(describeEnd(e))), ribbonStyle, marks, strings.Map(xmlCharacter, p.body.String()))
}

// xmlCharacter is a character that XML may have.
func xmlCharacter(r rune) rune {
	if r < ' ' && r != '\n' && r != '\t' || r == 0xFFFE || r == 0xFFFF {
		return utf8.RuneError
	}
	return r
}

// picture is an SVG that grows downwards.
type picture struct {
	height int
	body   strings.Builder
}

// line adds a line of text.
func (p *picture) line(class, text string) {
	if terminal.Width(text) > pictureText {
		text = terminal.Cut(text, pictureText-1) + "…"
	}
	p.height += pictureLine
	fmt.Fprintf(&p.body, `<text class="line %s" x="%d" y="%d">%s</text>`+"\n", class, pictureMargin, p.height-pictureLine/4, html.EscapeString(text))
}

// legend adds what the polls of a job saw, with their marks.
func (p *picture) legend(j *history.Job) {
	const gap = 12 // between items, and around a mark
	x := pictureWidth
	add := func(verdict history.Verdict, name string, n int, noun string) {
		text := fmt.Sprintf("%s: %s", cut(cmp.Or(name, noStatus), mostValue), plural(n, noun))
		width := 2*gap + letter*terminal.Width(text)
		if x+width > pictureWidth {
			x = pictureMargin + gap/2
			p.height += pictureLine
		}
		fmt.Fprintf(&p.body, `<g transform="translate(%d %d) scale(.7)"><use href="#%s"/></g><text class="item" x="%d" y="%d">%s</text>`+"\n",
			x, p.height-pictureLine-1, forms[verdict], x+gap, p.height-pictureLine/4, html.EscapeString(text))
		x += width
	}
	changes := j.Changes()
	for i, c := range changes {
		if i == pictureItems {
			p.line("soft", "and "+plural(len(changes)-i, "more change"))
			break
		}
		add(c.Verdict, c.Status, countAnswers(j.Polls[c.First:c.Last+1]), "poll")
	}
	failures := j.Failures()
	for _, f := range failures[:min(len(failures), pictureItems)] {
		add(history.CallFailed, f.Error, f.Count, "call")
	}
}

// countAnswers counts the polls that were answered.
func countAnswers(polls []history.Poll) int {
	n := 0
	for i := range polls {
		if polls[i].Verdict != history.CallFailed {
			n++
		}
	}
	return n
}

// labelWide is the name of a status in a picture, if it is not wider than its stage.
func labelWide(status string, width float64) string {
	if 10+float64(letter*terminal.Width(status)) > width/100*(pictureWidth-2*pictureMargin) {
		return ""
	}
	return `<text x="5" y="11">` + html.EscapeString(status) + `</text>`
}

// nest adds a drawing.
func (p *picture) nest(height int, drawing string) {
	fmt.Fprintf(&p.body, `<svg x="%d" y="%d" width="%d" height="%d" overflow="visible">%s</svg>`+"\n",
		pictureMargin, p.height, pictureWidth-2*pictureMargin, height, drawing)
	p.height += height
}

// drawBands draws the polls of a job: of those with one verdict the first has its
// mark, and so has each that stands apart.
func drawBands(b *strings.Builder, a axis, j *history.Job) {
	const near = 100 * float64(closest) / (pictureWidth - 2*pictureMargin)
	for i := 0; i < len(j.Polls); {
		first, last := i, i
		for i++; i < len(j.Polls) && j.Polls[i].Verdict == j.Polls[first].Verdict && a.at(j.Polls[i].At)-a.at(j.Polls[last].At) < near; i++ {
			last = i
		}
		form, left := forms[j.Polls[first].Verdict], a.at(j.Polls[first].At)
		if width := a.at(j.Polls[last].At) - left; width > 0 {
			fmt.Fprintf(b, `<rect class="band m-%s" x="%s" y="8" width="%s" height="10"/>`, form, round(left), round(width))
		}
		fmt.Fprintf(b, `<use href="#%s" x="%s"/>`, form, round(left))
	}
}

// drawTicks draws the round times of the axis.
func drawTicks(a axis) string {
	var b strings.Builder
	b.WriteString(`<svg class="ticks">`)
	for _, t := range a.placeTicks(4, 1) {
		fmt.Fprintf(&b, `<line x1="%[1]s" x2="%[1]s" y1="0" y2="6"/><text x="%[1]s" y="18" text-anchor="%[2]s">%[3]s</text>`, t.At, t.Anchor, t.Text)
	}
	b.WriteString("</svg>")
	return b.String()
}
