// Package report shows an execution of a state machine, of AWS or of a run here, as
// one HTML page and as text. It says what its poll loops saw of their jobs and when,
// what it cost, and what happened in every state. The page needs nothing but itself.
package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/graph"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

var (
	//go:embed page.gohtml
	pageText string
	//go:embed page.css
	pageStyle string
	//go:embed page.js
	script string
)

var page = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageText)) })

// view is what the page shows.
type view struct {
	Style                        template.CSS
	Marks                        template.HTML
	Script                       template.JS
	ScriptHash                   string
	Title, Status, Mood, Comment string
	Error, Cause, Input, Output  string
	Times                        string
	Ends                         []endView
	Marked                       map[string]bool // classes of marks that occur in lanes
	Notes                        []string
	Figures                      []figure
	Ribbons, MoreRibbons         []ribbon
	Crowd                        []template.HTML // jobs behind the ribbons
	CrowdDrawing                 template.HTML
	Loops                        []loopView
	Lanes                        []laneView
	Ticks                        []tickGroup
	Zoomable                     bool
	Running                      bool // the page is live
	HasDefinition                bool
	Picture                      template.HTML
	States                       []stateView
	NotTaken                     []string
	Strands                      []strandView
	Events                       []eventTable
}

// figure is a number of the head of the page.
type figure struct {
	Name, Value string
	// Share is that of what there may be, in percent; 0 if there is no limit.
	Share int
}

// endView is a state at which the execution ended otherwise than in success.
type endView struct {
	stateLink

	Text, Mood string
	Event      int64
}

type laneView struct {
	Name          string
	Number        int
	Indent        int
	Outcome, Mood string
	Drawing       template.HTML
}

// tickGroup are the ticks for a width, in times wider than a phone.
type tickGroup struct {
	Class string
	Ticks []tick
}

type stateView struct {
	Number                            int
	Name, Type                        string
	Indent                            int
	Visits, Attempts, Failures, Total string
	Class                             string
	Outcome, Mood                     string
}

// mostRibbons is how many ribbons stand open in a page.
const mostRibbons = 6

// Options say how an execution is read.
type Options struct {
	// Said are the meanings that the user gives to statuses which the catalogue does not know, as lint.Options has them.
	Said map[string]lint.Meaning
}

// loops are the poll loops of the machine, if that is known.
func (o *Options) loops(e *history.Execution) []lint.Loop {
	if e.Machine == nil {
		return nil
	}
	return lint.Loops(e.Machine, lint.Options{Express: e.Express, Said: o.Said})
}

// HTML returns the page about an execution.
func HTML(e *history.Execution, o Options) ([]byte, error) {
	var b bytes.Buffer
	if err := page().Execute(&b, newView(e, nil, o)); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// newView makes what the page shows; live is nil for a page that stands still.
func newView(e *history.Execution, live *Live, o Options) *view {
	visits := e.FindVisits()
	jobs := e.FindJobs(visits)
	loops := o.loops(e)
	planned := make([][]time.Time, len(jobs))
	for i, j := range jobs {
		planned[i] = live.plan(e, loops, j)
	}
	a := axis{start: e.Start, stop: live.stop(e, jobs, planned)}
	ribbons := &ribboner{axis: a, e: e, left: &room{mostTitles, mostRows, mostLabels}}
	if live != nil && !e.HasEnded() {
		ribbons.now = live.Now
	}
	rows, byName := newRows(e.Machine, visits)
	hash := sha256.Sum256([]byte(script))
	v := &view{
		Running: !ribbons.now.IsZero(),
		Style:   template.CSS(ribbonStyle + pageStyle), Marks: template.HTML(marks), Script: template.JS(script), //nolint:gosec // our own
		ScriptHash: base64.StdEncoding.EncodeToString(hash[:]),
		Title:      cut(cmp.Or(e.Title, untitled), mostName), Status: cut(e.Status, mostName), Mood: Mood(e.Status),
		Error: cut(e.Error, mostPayload), Cause: cut(ExplainCause(e.Cause), mostPayload),
		Input: cut(e.Input, mostPayload), Output: cut(e.Output, mostPayload),
		Figures: figures(e, visits, jobs), Events: newEventTables(a, e, visits, byName), Times: formatTimes(e), Marked: map[string]bool{},
	}
	v.addEnds(e, visits, byName)
	for _, note := range slices.Concat(e.Notes, delayNotes(visits)) {
		v.Notes = append(v.Notes, cut(note, mostPayload))
	}
	polls := pollsByVisit(jobs)
	for i, j := range jobs {
		number := 0
		if r := byName[cut(j.State, mostName)]; r != nil {
			number = r.number
		}
		if i >= mostDrawn {
			v.Crowd = append(v.Crowd, newCrowdRow(a, j, e, i+1, number))
			continue
		}
		r := ribbons.draw(j, planned[i], i+1, number)
		if i < mostRibbons {
			v.Ribbons = append(v.Ribbons, r)
		} else {
			v.MoreRibbons = append(v.MoreRibbons, r)
		}
	}
	if len(jobs) > mostDrawn {
		v.CrowdDrawing = drawCrowd(a, jobs[mostDrawn:], e, ribbons.left)
	}
	for _, r := range rows {
		v.addRow(a, r)
	}
	v.Ticks = newTickGroups(a, v.Zoomable)
	w := &stepWriter{axis: a, e: e, rows: byName, polls: polls, left: mostData}
	v.Strands = w.write(foldVisits(visits.All, polls))
	if e.Machine != nil {
		v.HasDefinition, v.Comment = true, e.Machine.Comment
		edges := e.CountEdges(e.Machine, visits)
		v.Loops = newLoopViews(loops, jobs)
		v.Picture = drawGraph(e.Machine, visits, edges, byName, live)
		missed, ways := notTaken(e.Machine, edges)
		v.NotTaken = missed
		visited, all := 0, 0
		for s := range e.Machine.All {
			all++
			if r := byName[s.Name]; r != nil && len(r.visits) > 0 {
				visited++
			}
		}
		v.Figures = append(v.Figures, figure{Name: "States visited", Value: fmt.Sprintf("%d of %d", visited, all)},
			figure{Name: "Transitions taken", Value: fmt.Sprintf("%d of %d", ways-len(missed), ways)})
	}
	return v
}

// mostEnds is how many states the head of a page names.
const mostEnds = 5

// addEnds adds at which states the execution ended, and which failures a Catch took
// before that, each state once.
func (v *view) addEnds(e *history.Execution, visits *history.Visits, rows map[string]*row) {
	known := map[string]bool{}
	for _, visit := range listEnds(e, visits) {
		if known[endKey(visit)] || len(v.Ends) == mostEnds {
			continue
		}
		known[endKey(visit)] = true
		end := endView{stateLink{Name: nameOf(visit)}, cut(describeVisit(visit), mostName), outcomeMood(visit.Outcome), eventID(e, visit, visits.FailureOf(visit))}
		if r := rows[end.Name]; r != nil {
			end.Number = r.number
		}
		v.Ends = append(v.Ends, end)
	}
}

// endKey tells the ends that the head names apart: failures of several items of a Map are
// several, but all that was stopped in a state is one.
func endKey(visit *history.Visit) string {
	if visit.Outcome == graph.Failed {
		return visit.State + "\x00" + visit.Place()
	}
	return visit.State
}

// listEnds are the visits that say why an execution did not succeed: those at which
// it ended, then those whose failure a Catch took, the last first.
func listEnds(e *history.Execution, visits *history.Visits) []*history.Visit {
	all := visits.FindCulprits(e)
	if len(all) == 0 {
		return nil
	}
	return slices.Concat(all, visits.FindCaught())
}

// describeVisit says what came of a visit, and in which item or branch that was.
func describeVisit(visit *history.Visit) string {
	if place := visit.Place(); place != "" {
		return "(" + place + ") " + visit.Describe()
	}
	return visit.Describe()
}

// ExplainCause puts the failure of a nested execution, which AWS gives as the JSON text
// of its description, into words; other causes stay as they are.
func ExplainCause(cause string) string {
	var nested struct {
		ARN    string `json:"ExecutionArn"`
		Status string `json:"Status"`
		Error  string `json:"Error"`
		Cause  string `json:"Cause"`
	}
	if json.Unmarshal([]byte(cause), &nested) != nil || nested.ARN == "" || nested.Status == "" {
		return cause
	}
	text := "nested execution " + nested.ARN + " " + nested.Status
	if nested.Error != "" {
		text += ": " + nested.Error
	}
	if nested.Cause != "" {
		text += ": " + ExplainCause(nested.Cause)
	}
	return text
}

// formatTimes says when the execution began and ended.
func formatTimes(e *history.Execution) string {
	text := "Started " + formatDate(e.Start)
	if e.HasEnded() {
		text += ", ended " + formatDate(e.Stop)
	}
	return text
}

// pollsByVisit are the polls of all jobs.
func pollsByVisit(jobs []*history.Job) map[*history.Visit]*history.Poll {
	polls := map[*history.Visit]*history.Poll{}
	for _, j := range jobs {
		for k := range j.Polls {
			polls[j.Polls[k].Visit] = &j.Polls[k]
		}
	}
	return polls
}

// addRow adds a state.
func (v *view) addRow(a axis, r *row) {
	s := stateView{Number: r.number, Name: r.name, Type: cut(string(r.kind), mostName), Indent: r.depth, Class: kind(r.kind)}
	if r.attempts > 0 {
		s.Attempts = FormatCount(r.attempts)
	}
	if r.failures > 0 {
		s.Failures = FormatCount(r.failures)
	}
	if r.ending.Outcome != "" {
		s.Outcome, s.Mood = cut(r.ending.Text, mostName), outcomeMood(r.ending.Outcome)
	}
	if len(r.visits) > 0 {
		s.Visits, s.Total = FormatCount(len(r.visits)), FormatDuration(r.total)
		l := drawLane(a, r)
		v.Zoomable = v.Zoomable || l.zoomable
		v.Lanes = append(v.Lanes, laneView{s.Name, r.number, r.depth, s.Outcome, s.Mood, l.Drawing})
		for _, class := range l.marked {
			v.Marked[class] = true
		}
	}
	v.States = append(v.States, s)
}

// figures are the meter: what the execution cost, and of what there is a limit.
func figures(e *history.Execution, visits *history.Visits, jobs []*history.Job) []figure {
	calls, polls := 0, 0
	for _, v := range visits.All {
		calls += len(v.Attempts)
	}
	for _, j := range jobs {
		polls += len(j.Polls)
	}
	all := []figure{{Name: "Duration", Value: FormatDuration(e.Duration())}}
	if !e.Express {
		usd, region := e.CostUSD()
		all = append(all, figure{Name: "Transitions", Value: FormatCount(e.Transitions)}, figure{Name: "Cost in " + region, Value: fmt.Sprintf("$%.4f", usd)})
	}
	events := figure{Name: "Events", Value: FormatCount(len(e.Events))}
	if n := len(e.Events); !e.Express && n > 0 && e.Events[n-1].ID <= asl.MaxEvents {
		events.Name, events.Share = "Events of "+FormatCount(asl.MaxEvents), max(1, int(100*e.Events[n-1].ID/asl.MaxEvents))
	}
	all = append(all, events, figure{Name: "Calls", Value: FormatCount(calls)})
	if len(jobs) > 0 {
		all = append(all, figure{Name: "Polls", Value: FormatCount(polls)})
	}
	if n := e.CountRedrives(); n > 0 {
		all = append(all, figure{Name: "Redrives", Value: FormatCount(n)})
	}
	if len(jobs) == 1 {
		if late, exact, known := jobs[0].Lateness(); known {
			name := "Late"
			if !exact {
				name = "Late at most"
			}
			all = append(all, figure{Name: name, Value: FormatDuration(late)})
		}
	}
	return all
}

// newTickGroups are the ticks of each zoom, for a phone and for a desk.
func newTickGroups(a axis, zoomable bool) []tickGroup {
	var all []tickGroup
	for _, zoom := range zooms {
		for _, width := range []struct {
			name string
			most int
		}{{"narrow", 4}, {"broad", 10}} {
			g := tickGroup{Class: fmt.Sprintf("z%d %s", zoom, width.name)}
			g.Ticks = a.placeTicks(width.most*zoom, zoom)
			all = append(all, g)
		}
		if !zoomable {
			break
		}
	}
	return all
}

// drawGraph draws the machine with what the execution went through. Its states link
// to the table.
func drawGraph(m *asl.StateMachine, visits *history.Visits, edges map[graph.Edge]int, rows map[string]*row, live *Live) template.HTML {
	links := map[string]string{}
	for name, r := range rows {
		links[name] = fmt.Sprintf("s%d", r.number)
	}
	o := graph.Options{
		Title: "What the execution went through", Visits: visits.CountVisits(), Edges: edges, Endings: visits.FindEndings(), Links: links,
	}
	if live != nil {
		o.Current = map[string]bool{}
		for _, p := range live.Places {
			o.Current[p.State] = true
		}
	}
	svg := graph.New(m, o).SVG()
	return template.HTML(svg) //nolint:gosec // graph escapes what it writes
}

// notTaken names the transitions that the execution did not take, and counts all.
func notTaken(m *asl.StateMachine, edges map[graph.Edge]int) (names []string, all int) {
	for s := range m.All {
		ways := s.Transitions()
		if s.End {
			ways = append(ways, asl.Transition{})
		}
		for _, way := range ways {
			all++
			if edges[graph.Edge{From: s.Name, To: way.To, Kind: way.Kind, Rule: way.Rule}] == 0 {
				names = append(names, s.Name+" → "+target(s, way))
			}
		}
	}
	return names, all
}

// target says where a transition leads and what takes it there.
func target(s *asl.State, way asl.Transition) string {
	switch {
	case way.To == "":
		return "end"
	case way.Kind == asl.TransitionRule:
		return fmt.Sprintf("%s (choice %d)", way.To, way.Rule+1)
	case way.Kind == asl.TransitionDefault:
		return way.To + " (default)"
	case way.Kind == asl.TransitionCatch:
		return way.To + " (catch " + strings.Join(s.Catch[way.Rule].ErrorEquals, ", ") + ")"
	default:
		return way.To
	}
}
