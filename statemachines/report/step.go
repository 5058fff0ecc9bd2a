package report

import (
	"cmp"
	"fmt"
	"html"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/graph"
	"github.com/jobpoller/jobpoller/statemachines/history"
)

// What the page shows of data. Texts that are longer are cut, and say how long they
// are.
const (
	mostPayload    = 4 << 10   // bytes of one
	mostData       = 420 << 10 // bytes of all: the visits behind that have a line each
	mostCause      = 200
	mostEventCause = 60
	mostEventName  = 40
	mostName       = 120
	mostChanges    = 12  // lines of one comparison
	mostValue      = 80  // bytes of a value in a comparison
	mostColumns    = 4   // of the table of turns
	lineBytes      = 80  // of the page for a line of a comparison, besides its texts
	stepBytes      = 400 // of the page for a step, besides its data
)

// strandView is the visits of one branch or iteration, folded.
type strandView struct {
	Title string // empty for those of the machine itself
	Steps []stepView
}

// stepView is a visit, or the turns of a loop.
type stepView struct {
	States          []stateLink
	Times, Every    string // of a loop
	At, Until, Took string
	Clock           string // of At
	Form, Status    string // of its polls
	Outcome, Mood   string // what came of it, and the class of its colour
	Calls           string // that failed, and were retried
	Open            bool
	Data            []dataView
	Series          []seriesView
	More            int
	Turns           template.HTML
	Columns         []string
	// Line is all that the page says of the step where there is no room for more.
	Line template.HTML
}

// stateLink leads to the state in the table.
type stateLink struct {
	Name   string
	Number int
}

// dataView is what went through a visit.
type dataView struct {
	stateLink
	Event int64
	Parts []part
	// Changes are those since the visit before, if that is shown.
	Changes []change
	More    int
}

// part is a text of a visit.
type part struct{ Name, Text, Mood string }

// seriesView is what changed between turns at a path.
type seriesView struct {
	State, Path, First, Last string
	Distinct                 int
}

// stepWriter makes the steps of a page.
type stepWriter struct {
	axis     axis
	e        *history.Execution
	rows     map[string]*row
	polls    map[*history.Visit]*history.Poll
	comparer comparer
	left     int // bytes of data
}

// take cuts a text, and takes its bytes in the page from what is left.
func (w *stepWriter) take(text string, limit int) string {
	text = cut(text, limit)
	w.left -= len(html.EscapeString(text)) + lineBytes
	return text
}

// cut shortens a long text, and says so: of one that may be long, how long it is.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	short := strings.ToValidUTF8(text[:limit], "") + "…"
	if limit >= mostName {
		short += " (" + FormatCount(len(text)) + " bytes in all)"
	}
	return short
}

func (w *stepWriter) link(v *history.Visit) stateLink {
	link := stateLink{Name: nameOf(v)}
	if r := w.rows[link.Name]; r != nil {
		link.Number = r.number
	}
	return link
}

// write makes the steps of all strands.
func (w *stepWriter) write(strands []*strand) []strandView {
	var all []strandView
	for i, s := range strands {
		v := strandView{}
		if i > 0 || s.id != 0 {
			first := s.groups[0].first()[0]
			v.Title = fmt.Sprintf("%s, %s", nameOf(first), w.axis.when(first.Start))
			if w.left <= 0 {
				v.Title = fmt.Sprintf("%s, %s", cutEscaped(nameOf(first), leastName), w.axis.since(first.Start))
			}
		}
		before := map[string]*history.Visit{}
		for _, g := range s.groups {
			v.Steps = append(v.Steps, w.step(g, before))
		}
		all = append(all, v)
	}
	return all
}

// step makes the view of a group. before has the visit of each state that was shown
// last.
func (w *stepWriter) step(g *group, before map[string]*history.Visit) stepView {
	if w.left <= 0 {
		return stepView{Line: w.line(g)}
	}
	w.left -= stepBytes
	v := stepView{At: w.axis.since(g.start()), Clock: w.axis.clock(g.start()), Took: FormatDuration(g.end().Sub(g.start()))}
	for _, visit := range g.first() {
		v.States = append(v.States, w.link(visit))
		v.Data = append(v.Data, w.data(visit, before[visit.State]))
		before[visit.State] = visit
		v.Open = v.Open || visit.Open
		switch n := visit.Failures(); {
		case visit.Outcome != "" && visit.Outcome != graph.Retried:
			v.Outcome, v.Mood = cut(visit.Describe(), mostName), outcomeMood(visit.Outcome)
		case n > 0:
			v.Calls = plural(n, "failed call") + ", retried"
		}
	}
	if len(g.polls) > 0 {
		v.Form, v.Status = forms[g.polls[0].Verdict], cut(g.polls[0].Status, mostName)
	}
	if len(g.turns) > 1 {
		v.Times, v.Until = FormatCount(len(g.turns)), w.axis.when(g.end())
		v.Every = g.every()
		w.follow(g, &v)
	}
	return v
}

// outcomeMood is the class of the colour of an outcome.
func outcomeMood(o graph.Outcome) string {
	switch o {
	case graph.Failed, graph.TimedOut:
		return "bad"
	case graph.Caught, graph.Aborted:
		return "warn"
	default:
		return "soft"
	}
}

// line says of each turn when it was, in which states, how long, and what it came to.
func (w *stepWriter) line(g *group) template.HTML {
	var b strings.Builder
	for i, turn := range g.turns {
		b.WriteString(w.eventLink(turn[0]))
		said := ""
		for _, visit := range turn {
			b.WriteString(" " + html.EscapeString(cutEscaped(nameOf(visit), leastName)))
			said = cmp.Or(visit.Outcome.Word(), said)
		}
		if last := turn[len(turn)-1]; last.Open {
			b.WriteString(" open")
		} else {
			b.WriteString(" " + FormatDuration(last.End.Sub(turn[0].Start)))
		}
		if i < len(g.polls) {
			b.WriteString(" " + string(g.polls[i].Verdict) + " " + html.EscapeString(cutEscaped(g.polls[i].Status, leastDetail)))
		}
		if said != "" {
			b.WriteString(" " + said)
		}
		b.WriteString("<br>\n")
	}
	return template.HTML(b.String()) //nolint:gosec // texts are escaped where they are written
}

// data is what went through a visit: all of it, or what differs from the one before.
func (w *stepWriter) data(v, before *history.Visit) dataView {
	d := dataView{stateLink: w.link(v), Event: eventID(w.e, v, v.First)}
	add := func(name, text, mood string) {
		if text != "" {
			d.Parts = append(d.Parts, part{cut(name, mostName), w.take(text, mostPayload), mood})
		}
	}
	if v.Error != "" || v.Cause != "" {
		add("Error", strings.Trim(v.Error+": "+v.Cause, ": "), outcomeMood(v.Outcome))
	}
	result, input := resultOf(v), v.Input
	if before != nil {
		w.addChanges(&d, before, v)
		return d
	}
	add("Input", input, "soft")
	if n := len(v.Attempts); n > 0 {
		add("Arguments", v.Attempts[n-1].Parameters, "soft")
	}
	if result != v.Output {
		add("Result", result, "soft")
	}
	switch {
	case v.Output == input && v.Output != "":
		add("Output", "the input", "soft")
	default:
		add("Output", v.Output, "soft")
	}
	for _, name := range slices.Sorted(maps.Keys(v.Assigned)) {
		add("$"+name, v.Assigned[name], "soft")
	}
	return d
}

// resultOf is what the last call of a Task returned.
func resultOf(v *history.Visit) string {
	if n := len(v.Attempts); n > 0 {
		return v.Attempts[n-1].Output
	}
	return ""
}

// text is a text of a visit under a name.
type text struct{ name, text string }

// textsOf are the texts of a visit that a comparison looks at.
func textsOf(v *history.Visit) []text {
	result := resultOf(v)
	all := []text{{"input", v.Input}}
	if result != v.Output {
		all = append(all, text{"result", result})
	}
	if v.Output != v.Input {
		all = append(all, text{"output", v.Output})
	}
	for _, name := range slices.Sorted(maps.Keys(v.Assigned)) {
		all = append(all, text{"$" + name, v.Assigned[name]})
	}
	return all
}

// addChanges adds what differs from a visit before.
func (w *stepWriter) addChanges(d *dataView, before, v *history.Visit) {
	old := map[string]string{}
	for _, t := range textsOf(before) {
		old[t.name] = t.text
	}
	for _, t := range textsOf(v) {
		for _, c := range w.comparer.compare(old[t.name], t.text) {
			if len(d.Changes) == mostChanges || w.left <= 0 {
				d.More++
				continue
			}
			c.Path, c.Before, c.After = w.take(t.name+strings.TrimPrefix(c.Path, "$"), mostName), w.take(c.Before, mostValue), w.take(c.After, mostValue)
			d.Changes = append(d.Changes, c)
		}
	}
}

// follow says what changed between the turns of a loop, and lists all turns.
func (w *stepWriter) follow(g *group, v *stepView) {
	var columns []series
	add := func(visit *history.Visit, texts []string, name string) {
		found, more := w.comparer.follow(texts)
		v.More += more
		for _, s := range found {
			s.Path = name + strings.TrimPrefix(s.Path, "$")
			if w.left <= 0 {
				v.More++
				continue
			}
			v.Series = append(v.Series, seriesView{
				w.take(nameOf(visit), mostName), w.take(s.Path, mostName), w.take(s.First, mostValue), w.take(s.Last, mostValue), s.Distinct,
			})
			columns = append(columns, s)
		}
	}
	for k, visit := range g.first() {
		for _, name := range slices.Sorted(maps.Keys(visit.Assigned)) {
			values := make([]string, len(g.turns))
			for i, turn := range g.turns {
				values[i] = turn[k].Assigned[name]
			}
			add(visit, values, "$"+name)
		}
		texts := make([]string, len(g.turns))
		passes := true
		for i, turn := range g.turns {
			texts[i] = turn[k].Output
			passes = passes && turn[k].Output == turn[k].Input
			if result := resultOf(turn[k]); result != "" {
				texts[i] = result
			}
		}
		if !passes {
			add(visit, texts, "$")
		}
	}
	slices.SortStableFunc(columns, func(a, b series) int { return b.Distinct - a.Distinct })
	columns = columns[:min(len(columns), mostColumns)]
	for _, c := range columns {
		v.Columns = append(v.Columns, cut(c.Path, mostName))
	}
	v.Turns = w.turns(g, columns)
}

// turns writes a line for each turn.
func (w *stepWriter) turns(g *group, columns []series) template.HTML {
	var b strings.Builder
	for i, turn := range g.turns {
		last := turn[len(turn)-1]
		fmt.Fprintf(&b, "<tr><td>%d<td>%s<td>%s", i+1, w.eventLink(turn[0]), FormatDuration(last.End.Sub(turn[0].Start)))
		for _, c := range columns {
			text := "…"
			if w.left > 0 {
				text = html.EscapeString(cut(c.values[i], mostValue))
			}
			w.left -= len(text)
			b.WriteString("<td>" + text)
		}
		b.WriteString("\n")
	}
	return template.HTML(b.String()) //nolint:gosec // texts are escaped where they are written
}

// eventLink is when a visit began, as a link to its first event.
func (w *stepWriter) eventLink(v *history.Visit) string {
	at := w.axis.since(v.Start)
	id := eventID(w.e, v, v.First)
	if id == 0 {
		return at
	}
	return fmt.Sprintf("<a href=#e%d>%s</a>", id, at)
}
