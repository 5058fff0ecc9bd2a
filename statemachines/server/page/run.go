package page

import (
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/report"
)

// runView is the page of an execution.
type runView struct {
	frame

	ARN, Name            string
	Machine, MachinePath string
	Version              int64
	Running              bool
	Parts                []fragment // the report's, but for its tables of events
	Events               []fragment
	State                template.HTML
	Hands                template.HTML
	Places               template.HTML
	Strategies           template.HTML
}

// fragment is a part of a page that is sent again when it changes.
type fragment struct {
	ID   string        `json:"id"`
	HTML template.HTML `json:"html"`
	// In names the element that the part goes into when the page does not have it.
	In string `json:"in,omitempty"`
	// last is the last event that the part shows; 0 if it shows more than events.
	last int64
}

// errNoRun is for a page of an execution that does not exist.
var errNoRun = &refusal{http.StatusNotFound, "there is no such execution: it may be of an earlier start of the server"}

func (q *request) showRun() error {
	arn := q.r.PathValue("arn")
	d, found := q.o.World.Run(arn)
	if !found {
		return errNoRun
	}
	all, err := q.fragments(d)
	if err != nil {
		return err
	}
	v := runView{
		frame: q.frame(d.Status+": "+d.Name, q.runPath(arn)+"/live"), ARN: arn, Name: d.Name, Machine: d.Machine, MachinePath: q.machinePath(d.MachineARN),
		Version: d.Version, Running: d.Status == history.StatusRunning,
	}
	for _, f := range all {
		switch f.ID {
		case "clock": // it is in the frame
		case "state":
			v.State = f.HTML
		case "hands":
			v.Hands = f.HTML
		case "places":
			v.Places = f.HTML
		case "strategies":
			v.Strategies = f.HTML
		default:
			if f.In != "" {
				v.Events = append(v.Events, f)
			} else {
				v.Parts = append(v.Parts, f)
			}
		}
	}
	q.render(http.StatusOK, "run", v)
	return nil
}

// stateView is what the page says of the execution's status.
type stateView struct{ Status, Mood string }

// handsView are the forms about a whole execution.
type handsView struct {
	frame

	ARN, MachinePath string
	Running          bool
	Redrivable       bool
	Reason           string
	Tasks            []string
}

// whyNot says why a run that did not succeed cannot be redriven.
func whyNot(d *Detail) string {
	if d.Status == history.StatusSucceeded || d.Redrivable {
		return ""
	}
	return d.Reason
}

// tasksOf are the Tasks of a run whose answers can be set.
func tasksOf(e *history.Execution) []string {
	var names []string
	if e.Machine == nil || e.HasEnded() {
		return nil
	}
	for s := range e.Machine.All {
		if s.Type == asl.TypeTask && asl.ParseResource(s.Task.Resource).Service != "activity" { // its answer comes from a worker
			names = append(names, s.Name)
		}
	}
	return names
}

// placesView are the states that an execution is in.
type placesView struct {
	frame

	ARN    string
	Places []placeView
	More   int
}

type placeView struct {
	Place

	Since, Left string
	Path        string // of iterations
}

// What the page shows of the states that an execution is in.
const (
	mostPlaces  = 20
	mostPayload = 4 << 10 // bytes of an input or the variables
)

// fragments are the live parts of the page.
func (q *request) fragments(d *Detail) ([]fragment, error) {
	clock := q.o.World.Clock()
	live := report.Live{Now: clock.Now}
	for _, p := range d.Places {
		live.Places = append(live.Places, report.Place{State: p.State, Until: p.Until})
	}
	parts, err := report.Parts(d.History, live)
	if err != nil {
		return nil, err
	}
	var all []fragment
	f := q.frame("", "")
	f.Here, f.Clock = q.runPath(d.ARN), q.newClockView(clock)
	running := d.Status == history.StatusRunning
	for _, part := range []struct {
		id   string
		data any
	}{
		{"clock", f},
		{"state", stateView{d.Status, report.Mood(d.Status)}},
		{"places", q.newPlaces(d, f, clock.Now)},
		{"hands", handsView{f, d.ARN, q.machinePath(d.MachineARN), running, d.Redrivable, whyNot(d), tasksOf(d.History)}},
		{"strategies", q.compareStrategies(q.r.Context(), d)},
	} {
		text, err := q.fill(part.id, part.data)
		if err != nil {
			return nil, err
		}
		all = append(all, fragment{ID: part.id, HTML: text})
	}
	for _, p := range parts {
		part := fragment{ID: "part-" + p.ID, HTML: p.HTML, last: p.Last}
		if p.Last > 0 {
			part.In = "events"
		}
		all = append(all, part)
	}
	return all, nil
}

func (q *request) newPlaces(d *Detail, f frame, now time.Time) placesView {
	v := placesView{frame: f, ARN: d.ARN, More: max(0, len(d.Places)-mostPlaces)}
	for _, p := range d.Places[:len(d.Places)-v.More] {
		place := placeView{Place: p, Since: report.FormatDuration(max(0, now.Sub(p.Entered)))}
		if !p.Until.IsZero() {
			place.Left = report.FormatDuration(max(0, p.Until.Sub(now)))
		}
		place.Input, place.Variables = shorten(p.Input), shorten(p.Variables)
		for _, i := range p.Iterations {
			place.Path += " item " + report.FormatCount(i)
		}
		v.Places = append(v.Places, place)
	}
	return v
}

// shorten cuts a long text, and says so.
func shorten(text string) string {
	if len(text) <= mostPayload {
		return text
	}
	return strings.ToValidUTF8(text[:mostPayload], "") + "… (" + report.FormatCount(len(text)) + " bytes in all)"
}

// errNoMachine is for a page of a state machine that does not exist.
var errNoMachine = &refusal{http.StatusNotFound, "there is no such state machine"}
