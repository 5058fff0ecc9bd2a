// Package report shows a run of a state machine as one HTML page: the picture
// with counts of visits, a timeline, the states, the data on its way through
// them, the events and the cost. The page needs nothing but itself.
package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strings"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/graph"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

//go:embed page.gohtml
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

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
	NotTaken  []string
	Output    string
	Comment   string
	Unvisited int
}

// figure is a number of the head of the page.
type figure struct{ Name, Value string }

type stateView struct {
	Name, Type, Indent string
	Visits, Attempts   int
	Total              string
}

type visitView struct {
	State, At, Took, Input, Output, Error string
	Skipped                               int
}

type eventView struct {
	ID, Previous   int64
	At, Type, What string
	Skipped        int
	Failure        bool
}

// HTML returns the page about a run of the machine.
func HTML(m *asl.StateMachine, r *sim.Result) ([]byte, error) {
	all := visits(r)
	states := rows(m, all)
	v := view{
		Title: r.ExecutionARN[strings.LastIndexByte(r.ExecutionARN, ':')+1:], Comment: m.Comment,
		Status: string(r.Status), Failed: r.Status != sim.StatusSucceeded, Error: r.Error, Cause: r.Cause,
		Output: cut(string(r.Output)),
		Figures: []figure{
			{"Duration", elapsed(r.Elapsed())},
			{"Transitions", fmt.Sprint(r.Transitions)},
			{"Cost", fmt.Sprintf("$%.6f", r.CostUSD())},
			{"Events", fmt.Sprintf("%d of %d", len(r.Events), sim.MaxEvents)},
		},
		Picture: picture(m, r), Timeline: timeline(states, r), NotTaken: notTaken(m, r),
		Visits: visitViews(all, r), Events: eventViews(r),
	}
	for _, row := range states {
		if len(row.visits) == 0 {
			v.Unvisited++
		}
		v.States = append(v.States, stateView{
			Name: row.state.Name, Type: string(row.state.Type), Indent: strings.Repeat("\u2003", row.depth),
			Visits: len(row.visits), Attempts: row.attempts, Total: elapsed(row.total),
		})
	}
	v.Figures = append(v.Figures, figure{"States visited", fmt.Sprintf("%d of %d", len(states)-v.Unvisited, len(states))})
	var b bytes.Buffer
	if err := page.Execute(&b, v); err != nil {
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

// notTaken names the transitions that the run did not take.
func notTaken(m *asl.StateMachine, r *sim.Result) []string {
	var out []string
	for s := range m.All {
		for _, way := range s.Transitions() {
			if r.Edges[sim.Edge{From: s.Name, To: way.To, Kind: way.Kind, Rule: way.Rule}] == 0 {
				out = append(out, s.Name+" → "+way.To)
			}
		}
	}
	return out
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
			State: v.state, At: elapsed(v.start.Sub(r.Start)), Took: elapsed(v.end.Sub(v.start)),
			Input: payload(v.input), Output: payload(v.output), Error: strings.TrimPrefix(v.err+": "+cut(v.cause), ": "),
		})
		if v.err == "" && v.cause == "" {
			out[len(out)-1].Error = ""
		}
	}
	return out
}

func eventViews(r *sim.Result) []eventView {
	var out []eventView
	for i, e := range r.Events {
		if left := len(r.Events) - mostEvents; left > 0 && i >= mostEvents/2 && i < mostEvents/2+left {
			if i == mostEvents/2 {
				out = append(out, eventView{Skipped: left})
			}
			continue
		}
		what := e.Details.Name
		for _, part := range []string{e.Details.State, e.Details.Resource, e.Details.Error, cut(e.Details.Cause)} {
			if part != "" {
				what = strings.TrimPrefix(what+" · "+part, " · ")
			}
		}
		if e.Details.Index != nil {
			what += fmt.Sprintf(" [%d]", *e.Details.Index)
		}
		out = append(out, eventView{
			ID: e.ID, Previous: e.PreviousEventID, At: elapsed(e.Timestamp.Sub(r.Start)), Type: string(e.Type), What: what,
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
