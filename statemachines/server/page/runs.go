package page

import (
	"cmp"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/report"
)

// What the page of runs shows at once.
const (
	runsPerPage     = 50
	machinesPerPage = 30
	mostPast        = 50 // runs behind the durations of a machine
	leastPast       = 5  // runs that a judgement needs
)

// statuses are those of executions, in the order of the filter.
var statuses = []string{history.StatusRunning, history.StatusSucceeded, history.StatusFailed, history.StatusTimedOut, history.StatusAborted}

// runsView is the page of runs.
type runsView struct {
	frame

	Statuses []choice
	Search   string
	List     runList
}

// choice is a value of a form that may be chosen.
type choice struct {
	Value  string
	Chosen bool
}

// runList is the part of the page that is live.
type runList struct {
	Rows             []runRow
	First, Last, All int
	Newer, Older     string
	Nobody           bool // nobody has started an execution

	Machines                               []machineRow
	FirstMachine, LastMachine, AllMachines int
	MachinesBefore, MachinesAfter          string
}

// runRow is a line of the list.
type runRow struct {
	summary

	Path, Name, Machine, MachinePath string
	Status, Mood                     string
	Started, Age                     string
	// Odd says why somebody may want to look at it.
	Odd string
}

// query is what the reader asks for.
type query struct {
	status, search string
	skip, machines int // runs and state machines before those of the page
}

func readQuery(values url.Values) query {
	count := func(name string) int {
		n, _ := strconv.Atoi(values.Get(name)) // anything else is the first page
		return max(n, 0)
	}
	return query{status: values.Get("status"), search: strings.TrimSpace(values.Get("search")), skip: count("skip"), machines: count("machines")}
}

// takes tells whether a run is one that the reader asks for.
func (q query) takes(r *Run) bool {
	if q.status != "" && r.Status != q.status {
		return false
	}
	return q.search == "" || containsFold(r.Name, q.search) || containsFold(r.Machine, q.search)
}

func containsFold(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// encode is the query of a page of the list.
func (q query) encode(skip, machines int) string {
	values := url.Values{}
	for name, value := range map[string]string{"status": q.status, "search": q.search} {
		if value != "" {
			values.Set(name, value)
		}
	}
	for name, count := range map[string]int{"skip": skip, "machines": machines} {
		if count > 0 {
			values.Set(name, strconv.Itoa(count))
		}
	}
	return "?" + values.Encode()
}

func (q *request) showRuns() error {
	asked := readQuery(q.r.URL.Query())
	v := runsView{frame: q.frame("Executions", q.o.Path+"live"+asked.encode(asked.skip, asked.machines)), Search: asked.search, List: q.listRuns(asked)}
	for _, status := range statuses {
		v.Statuses = append(v.Statuses, choice{status, status == asked.status})
	}
	q.render(http.StatusOK, "runs", v)
	return nil
}

// listRuns makes the list. It goes through all runs once and keeps those of the page.
func (q *request) listRuns(asked query) runList {
	var list runList
	past := map[string]*durations{}
	for _, m := range q.o.World.Machines() {
		past[m.ARN] = &durations{machine: m}
	}
	var shown []Run
	count := 0
	for r := range q.o.World.Runs {
		d := past[r.MachineARN]
		if d == nil { // its machine was deleted
			d = &durations{machine: Machine{ARN: r.MachineARN, Name: r.Machine}}
			past[r.MachineARN] = d
		}
		d.add(&r)
		if !asked.takes(&r) {
			continue
		}
		if count >= asked.skip && len(shown) < runsPerPage {
			shown = append(shown, r)
		}
		count++
	}
	list.All, list.Nobody = count, count == 0 && asked.search == "" && asked.status == ""
	clock := q.o.World.Clock()
	budget := mostRead
	for i := range shown {
		list.Rows = append(list.Rows, q.newRunRow(&shown[i], past[shown[i].MachineARN], clock.Now, &budget))
	}
	if len(shown) > 0 {
		list.First, list.Last = asked.skip+1, asked.skip+len(shown)
	}
	if asked.skip > 0 {
		list.Newer = q.o.Path + asked.encode(max(asked.skip-runsPerPage, 0), asked.machines)
	}
	if list.Last < count && len(shown) > 0 {
		list.Older = q.o.Path + asked.encode(list.Last, asked.machines)
	}
	q.addMachines(&list, past, asked)
	return list
}

func (q *request) newRunRow(r *Run, past *durations, now time.Time, budget *int) runRow {
	row := runRow{
		Path: q.runPath(r.ARN), Name: r.Name, Machine: r.Machine, MachinePath: q.machinePath(r.MachineARN),
		Status: r.Status, Mood: report.Mood(r.Status), Started: formatTime(r.Start), summary: q.summaries.of(q.o.World, r.ARN, budget),
	}
	age := r.Stop.Sub(r.Start)
	if r.Status == history.StatusRunning {
		age = max(0, now.Sub(r.Start))
		if !row.next.IsZero() {
			row.Next = "in " + report.FormatDuration(max(0, row.next.Sub(now)))
		}
	}
	row.Age = report.FormatDuration(age)
	if ended := past.sorted(); len(ended) >= leastPast && age > percentile(ended, 95) {
		row.Odd = "longer than 95 % of the last " + strconv.Itoa(len(ended)) + " runs"
	}
	return row
}

// durations are those of the last runs of a machine, the newest first.
type durations struct {
	machine Machine
	running int
	all     int
	past    []time.Duration
	failed  []bool
	ordered []time.Duration
}

func (d *durations) add(r *Run) {
	d.all++
	switch {
	case r.Status == history.StatusRunning:
		d.running++
	case len(d.past) < mostPast:
		d.past = append(d.past, r.Stop.Sub(r.Start))
		d.failed = append(d.failed, r.Status != history.StatusSucceeded)
	}
}

func (d *durations) sorted() []time.Duration {
	if d.ordered == nil {
		d.ordered = slices.Sorted(slices.Values(d.past))
	}
	return d.ordered
}

// percentile is the least duration that so many percent of all are not above.
func percentile(sorted []time.Duration, percent int) time.Duration {
	return sorted[max(0, (len(sorted)*percent+99)/100-1)]
}

// machineRow is a state machine with its last runs.
type machineRow struct {
	Path, Name  string
	Runs        string
	Running     int
	Median, P95 string
	Sparkline   template.HTML
}

func (q *request) addMachines(list *runList, past map[string]*durations, asked query) {
	all := make([]*durations, 0, len(past))
	for _, d := range past {
		if containsFold(d.machine.Name, asked.search) {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b *durations) int {
		return cmp.Or(cmp.Compare(b.running, a.running), strings.Compare(a.machine.Name, b.machine.Name), strings.Compare(a.machine.ARN, b.machine.ARN))
	})
	first := asked.machines
	if first >= len(all) {
		first = 0 // they are fewer now
	}
	last := min(first+machinesPerPage, len(all))
	list.FirstMachine, list.LastMachine, list.AllMachines = first+1, last, len(all)
	if first > 0 {
		list.MachinesBefore = q.o.Path + asked.encode(asked.skip, max(first-machinesPerPage, 0))
	}
	if last < len(all) {
		list.MachinesAfter = q.o.Path + asked.encode(asked.skip, last)
	}
	for _, d := range all[first:last] {
		row := machineRow{Path: q.machinePath(d.machine.ARN), Name: d.machine.Name, Runs: report.FormatCount(d.all), Running: d.running}
		if sorted := d.sorted(); len(sorted) > 0 {
			row.Median, row.P95 = report.FormatDuration(percentile(sorted, 50)), report.FormatDuration(percentile(sorted, 95))
			row.Sparkline = sparkline(d)
		}
		list.Machines = append(list.Machines, row)
	}
}

// sparkline draws the durations of runs, the newest to the right: a bar each, and one
// that failed is hollow.
func sparkline(d *durations) template.HTML {
	const width, height, bar = 4, 24, 3
	longest := max(d.sorted()[len(d.past)-1], 1)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="spark" width="%d" height="%d" role="img" aria-label="durations of the last %d runs">`, width*mostPast, height, len(d.past))
	for i, took := range d.past {
		h := max(1.5, float64(height-1)*float64(took)/float64(longest))
		class := ""
		if d.failed[i] {
			class = ` class="f"`
		}
		fmt.Fprintf(&b, `<rect%s x="%.1f" y="%.1f" width="%d" height="%.1f"><title>%s</title></rect>`,
			class, float64(width*(len(d.past)-1-i))+.5, float64(height)-h-.5, bar, h, report.FormatDuration(took))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) //nolint:gosec // numbers alone
}
