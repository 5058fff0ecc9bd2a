// Package report shows a run of a state machine as one HTML page. It has the
// picture with counts of visits, a timeline, the states, the data on its way
// through them, the events and the cost. The page needs nothing but itself.
package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"
	"sync"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/graph"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

//go:embed page.gohtml
var pageText string

var page = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageText)) })

// What the page shows of a long run.
const (
	mostVisits  = 200
	mostEvents  = 400
	mostPayload = 4 << 10 // bytes
)

// view is what the page shows.
type view struct {
	Title     string
	Status    string
	Failed    bool
	Error     string
	Cause     string
	Figures   []figure
	Picture   template.HTML
	Timeline  template.HTML
	States    []stateView
	Visits    []visitView
	Events    []eventView
	Legend    []figure
	NotTaken  []string
	Output    string
	Comment   string
	Unvisited int
}

// figure is a number of the head of the page.
type figure struct{ Name, Value string }

type stateView struct {
	Name, Type, Indent         string
	Visits, Attempts, Failures int
	Total                      string
}

type visitView struct {
	State, At, Took, Input, Output, Error string
	Failures                              int // attempts that failed
	Skipped                               int
}

type eventView struct {
	ID, Previous          int64
	At, Type, State, What string
	Skipped               int
	Failure               bool
}

// legend is what the bars of the timeline stand for, with their classes.
var legend = []figure{
	{"Task", "task"},
	{"failed call", "failed"},
	{"Task with failed calls, and the waits for their retries", "between"},
	{"Wait", "wait"},
	{"Map, Parallel", "map"},
	{"other", ""},
}

// HTML returns the page about a run of the machine.
func HTML(m *asl.StateMachine, r *sim.Result) ([]byte, error) {
	h := newHistory(r)
	all := visits(h, r)
	states := rows(m, all)
	v := view{
		Title: r.ExecutionARN[strings.LastIndexByte(r.ExecutionARN, ':')+1:], Comment: m.Comment,
		Status: string(r.Status), Failed: r.Status != sim.StatusSucceeded, Error: r.Error, Cause: r.Cause,
		Output: cut(string(r.Output)),
		Figures: []figure{
			{"Duration", formatDuration(r.Duration())},
			{"Transitions", fmt.Sprint(r.Transitions)},
			{"Cost", fmt.Sprintf("$%.6f", r.CostUSD())},
			{"Events", events(len(r.Events))},
		},
		Picture: picture(m, r), Timeline: timeline(states, r), Legend: legend,
		Visits: visitViews(all, r), Events: eventViews(h, r),
	}
	for _, row := range states {
		if len(row.visits) == 0 {
			v.Unvisited++
		}
		v.States = append(v.States, stateView{
			Name: row.state.Name, Type: string(row.state.Type), Indent: strings.Repeat("\u2003", row.depth),
			Visits: len(row.visits), Attempts: row.attempts, Failures: row.failures, Total: formatDuration(row.total),
		})
	}
	missed, ways := notTaken(m, r)
	v.NotTaken = missed
	v.Figures = append(v.Figures,
		figure{"States visited", fmt.Sprintf("%d of %d", len(states)-v.Unvisited, len(states))},
		figure{"Transitions taken", fmt.Sprintf("%d of %d", ways-len(v.NotTaken), ways)},
	)
	var b bytes.Buffer
	if err := page().Execute(&b, v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// picture draws the machine with what the run went through.
func picture(m *asl.StateMachine, r *sim.Result) template.HTML {
	edges := make(map[graph.Edge]int, len(r.Edges))
	for e, n := range r.Edges {
		edges[graph.Edge(e)] = n
	}
	svg := graph.New(m, graph.Options{Title: "What the run went through", Visits: r.Visits, Edges: edges}).SVG()
	if _, after, ok := bytes.Cut(svg, []byte("?>")); ok && bytes.HasPrefix(svg, []byte("<?xml")) {
		svg = after
	}
	return template.HTML(svg) //nolint:gosec // graph escapes what it writes
}

// events writes how many events there are, and how many AWS allows if the run
// kept to that.
func events(n int) string {
	if n > asl.MaxEvents {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d of %d", n, asl.MaxEvents)
}

// notTaken names the transitions that the run did not take, and counts all.
func notTaken(m *asl.StateMachine, r *sim.Result) (names []string, all int) {
	for s := range m.All {
		ways := s.Transitions()
		if s.End {
			ways = append(ways, asl.Transition{})
		}
		for _, way := range ways {
			all++
			if r.Edges[sim.Edge{From: s.Name, To: way.To, Kind: way.Kind, Rule: way.Rule}] == 0 {
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

func visitViews(all []*visit, r *sim.Result) []visitView {
	var out []visitView
	for i, v := range all {
		if left := len(all) - mostVisits; left > 0 && i >= mostVisits/2 && i < mostVisits/2+left {
			if i == mostVisits/2 {
				out = append(out, visitView{Skipped: left})
			}
			continue
		}
		out = append(out, visitView{
			State: v.state, At: formatDuration(v.start.Sub(r.Start)), Took: formatDuration(v.end.Sub(v.start)),
			Input: payload(v.input), Output: payload(v.output), Error: failure(v), Failures: v.failures(),
		})
	}
	return out
}

// failure is the error of a visit with its cause; empty if it has none.
func failure(v *visit) string {
	if v.err != "" && v.cause != "" {
		return v.err + ": " + cut(v.cause)
	}
	return v.err + cut(v.cause)
}

func eventViews(h *history, r *sim.Result) []eventView {
	var out []eventView
	for i, e := range r.Events {
		if left := len(r.Events) - mostEvents; left > 0 && i >= mostEvents/2 && i < mostEvents/2+left {
			if i == mostEvents/2 {
				out = append(out, eventView{Skipped: left})
			}
			continue
		}
		var parts []string
		for _, part := range []string{e.Details.Resource, e.Details.Location, e.Details.Error, cut(e.Details.Cause)} {
			if part != "" {
				parts = append(parts, part)
			}
		}
		if e.Details.Index != nil {
			parts = append(parts, fmt.Sprintf("item %d", *e.Details.Index))
		}
		if e.Details.Length != nil {
			parts = append(parts, fmt.Sprintf("%d items", *e.Details.Length))
		}
		state := e.Details.Name
		if v := h.of[e.ID]; state == "" && v != nil {
			state = v.state
		}
		out = append(out, eventView{
			ID: e.ID, Previous: e.PreviousEventID, At: formatDuration(e.Timestamp.Sub(r.Start)), Type: string(e.Type), State: state, What: strings.Join(parts, " · "),
			Failure: strings.HasSuffix(string(e.Type), "Failed") || strings.HasSuffix(string(e.Type), "TimedOut"),
		})
	}
	return out
}

func payload(p *sim.Payload) string {
	if p == nil {
		return ""
	}
	return cut(string(p.JSON()))
}

// cut shortens a long text, and says so.
func cut(text string) string {
	if len(text) <= mostPayload {
		return text
	}
	return strings.ToValidUTF8(text[:mostPayload], "") + fmt.Sprintf("… (%d bytes in all)", len(text))
}
