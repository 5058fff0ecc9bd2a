package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

var (
	//go:embed live.css
	liveStyle string
	//go:embed planned.svg
	liveMarks string
)

// Live is what the history of a running execution does not tell.
type Live struct {
	// Now is the time of its clock.
	Now time.Time
	// Places are the states that it is in.
	Places []Place
}

// Place is a state that an execution is in.
type Place struct {
	State string
	// Until is when it goes on by itself; zero if that is not known.
	Until time.Time
}

// Part is a part of the page about an execution.
type Part struct {
	// ID names the part: "timeline". The tables of events are "events1", "events2" and
	// so on.
	ID string
	// Last is the last event of a table of events; 0 for other parts.
	Last int64
	HTML template.HTML
}

// partNames are the templates of the page that are parts, in the order of the page.
var partNames = []string{"outcome", "figures", "data", "timeline", "jobs", "loops", "graph", "states", "steps"}

// Parts returns the parts of the page about an execution that runs. Those without
// content are empty.
func Parts(e *history.Execution, l Live) ([]Part, error) {
	v := newView(e, &l, Options{})
	var all []Part
	render := func(id, name string, last int64, data any) error {
		var b bytes.Buffer
		if err := page().ExecuteTemplate(&b, name, data); err != nil {
			return err
		}
		all = append(all, Part{id, last, template.HTML(strings.TrimSpace(b.String()))}) //nolint:gosec // a template made it
		return nil
	}
	for _, name := range partNames {
		if err := render(name, name, 0, v); err != nil {
			return nil, err
		}
	}
	for i, table := range v.Events {
		if err := render(fmt.Sprintf("events%d", i+1), "events", table.Last, table); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Style is the style sheet of a page with the parts.
func Style() string { return ribbonStyle + pageStyle + liveStyle }

// Marks are the symbols that the parts use, for an SVG of the page.
func Marks() string { return marks + liveMarks }

// Script links the parts that are about one state.
func Script() string { return script }

// mostPlanned is how many polls to come a ribbon shows.
const mostPlanned = 5

// plan returns when the poller polls a job again: the first time is that of the state
// that waits now, the others follow at the distance of the polls before.
func (l *Live) plan(e *history.Execution, loops []lint.Loop, j *history.Job) []time.Time {
	if l == nil || e.HasEnded() {
		return nil
	}
	next := l.next(loops, j)
	if next.IsZero() || !j.Deadline.IsZero() && next.After(j.Deadline) {
		return nil
	}
	all := []time.Time{next}
	n := len(j.Polls)
	if n < 2 {
		return all
	}
	distance := next.Sub(j.Polls[n-1].At)
	if distance <= 0 {
		return all
	}
	for len(all) < mostPlanned {
		next = next.Add(distance)
		if !j.Deadline.IsZero() && next.After(j.Deadline) {
			break
		}
		all = append(all, next)
	}
	return all
}

// next is when the state ends that keeps the loop of a job from its next poll; zero
// if the execution is elsewhere.
func (l *Live) next(loops []lint.Loop, j *history.Job) time.Time {
	for i := range loops {
		loop := &loops[i]
		if loop.Poll == nil || loop.Poll.Name != j.State {
			continue
		}
		for _, p := range l.Places {
			if !p.Until.IsZero() && slices.Contains(loop.Turn.States, p.State) {
				return p.Until
			}
		}
	}
	for _, p := range l.Places {
		if p.State == j.State { // a retry
			return p.Until
		}
	}
	return time.Time{}
}

// stop is where the axis of a page ends: behind the polls to come, and behind a
// deadline that is not far.
func (l *Live) stop(e *history.Execution, jobs []*history.Job, planned [][]time.Time) time.Time {
	stop := e.Stop
	if l == nil || e.HasEnded() {
		return stop
	}
	if l.Now.After(stop) {
		stop = l.Now
	}
	for _, times := range planned {
		if n := len(times); n > 0 && times[n-1].After(stop) {
			stop = times[n-1]
		}
	}
	const near = 2 // times what the axis spans
	for _, j := range jobs {
		if !j.Deadline.IsZero() && j.Deadline.After(stop) && j.Deadline.Sub(e.Start) < near*stop.Sub(e.Start) {
			stop = j.Deadline
		}
	}
	return stop
}

// drawPlanned draws the polls to come, and the time of the clock.
func (d *drawing) drawPlanned(b *strings.Builder) {
	for i, at := range d.planned {
		text := "planned poll, " + d.axis.when(at)
		if i > 0 {
			text = "poll if the delay stays, " + d.axis.when(at)
		}
		fmt.Fprintf(b, `<use href="#planned" x="%s"><title>%s</title></use>`, round(d.axis.at(at)), text)
	}
}

// drawNow draws the time of the clock.
func (d *drawing) drawNow(b *strings.Builder) {
	if d.now.IsZero() {
		return
	}
	fmt.Fprintf(b, `<line class="now" x1="%[1]s" x2="%[1]s" y1="%[2]d" y2="%[3]d"><title>now, %[4]s</title></line>`,
		round(d.axis.at(d.now)), lifeTop, tickTop+22, d.axis.when(d.now))
}
