package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/plan"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// load is what so many jobs at once need of the quotas of an account in a region.
type load struct {
	Jobs int `json:"jobs"`
	// Quotas are those that the strategy needs.
	Quotas []quotaUse `json:"quotas"`
	// Breaks is the quota that breaks first as the number of jobs grows: empty if none
	// does with so many.
	Breaks string `json:"breaks,omitempty"`
	// MostJobs is how many jobs at once the quotas allow.
	MostJobs int `json:"mostJobs"`
	// Others are the other strategies.
	Others []strategyLoad `json:"others"`
}

// quotaUse is what is needed of a quota.
type quotaUse struct {
	Quota   string  `json:"quota"`
	Needs   float64 `json:"needs"`
	Allowed float64 `json:"allowed"` // 0 where nobody publishes it
	// PerSecond: both are rates.
	PerSecond bool `json:"perSecond"`
}

// share is how much of the quota is needed.
func (q quotaUse) share() float64 {
	if q.Allowed == 0 {
		return 0
	}
	return q.Needs / q.Allowed
}

// strategyLoad says of a strategy which quota it breaks.
type strategyLoad struct {
	Strategy string `json:"strategy"`
	Breaks   string `json:"breaks,omitempty"`
	Note     string `json:"note,omitempty"`

	most int
}

// newLoad is the load of so many jobs at once that end and are replaced by others.
func (c coster) newLoad(jobs int, s pollcore.Planned, subject *planSubject) *load {
	l := &load{Jobs: jobs, Quotas: c.quotas(c.strategy, jobs, s, subject.entry), Others: []strategyLoad{}}
	l.Breaks, l.MostJobs = firstToBreak(l.Quotas, jobs)
	for _, other := range compile.Strategies() {
		if note, ok := takes(other, subject.entry); ok && other != c.strategy {
			one := strategyLoad{Strategy: string(other), Note: note}
			one.Breaks, one.most = firstToBreak(c.quotas(other, jobs, s, subject.entry), jobs)
			l.Others = append(l.Others, one)
		}
	}
	slices.SortStableFunc(l.Others, func(a, b strategyLoad) int { return b.most - a.most })
	return l
}

// historyQuota is of each job, however many others there are.
const historyQuota = "events of a history"

// firstToBreak is the quota with the least room. It is empty if all are wide enough.
func firstToBreak(all []quotaUse, jobs int) (name string, most int) {
	worst := quotaUse{}
	for _, q := range all {
		if q.Quota == historyQuota {
			if q.share() > 1 {
				return q.Quota, 0
			}
			continue
		}
		if q.share() > worst.share() {
			worst = q
		}
	}
	if share := worst.share(); share > 0 {
		most = int(float64(jobs) / share)
	}
	if worst.share() > 1 {
		name = worst.Quota
	}
	return name, most
}

// takes tells whether a strategy can wait for a job, and what it needs.
func takes(s compile.Strategy, e *catalog.Entry) (note string, ok bool) {
	switch isJob := e != nil && e.Job != nil; {
	case s.Waits():
		if isJob && e.Job.Sync != "" {
			return "by " + e.Job.Sync, true
		}
		return "", false
	case s.NeedsCollector():
		if isJob && e.Job.Event != nil {
			return "by events of " + e.Job.Event.Source + ", " + string(e.Job.Event.Delivery), true
		}
		return "", false
	case s.UsesFunctions():
		return "", isJob
	}
	return "", true
}

// rareJob is the quantile of the durations that a history must have room for.
const rareJob = 0.999

// safetyPoll is how often the collector looks at a job of which it is told by events.
const safetyPoll = 15 * time.Minute

// quotas are what jobs need that start as fast as they end.
func (c coster) quotas(s compile.Strategy, jobs int, schedule pollcore.Planned, e *catalog.Entry) []quotaUse {
	mean := max(1, c.durations.Mean().Seconds())
	starts := float64(jobs) / mean
	steps := s.Steps(schedule.Before(1) > 0)
	calls := plan.MeasureDelays(c.durations, delaysOf(schedule)).Calls
	polls := calls // of the service
	longest := 1 + float64(len(pollTimes(schedule, c.durations.Quantile(rareJob).Seconds())))
	switch {
	case s.Waits():
		calls, polls, longest = 1, 1, 1
	case s.NeedsCollector():
		polls = 1 + mean/safetyPoll.Seconds()
	}
	rate := func(name, operation string, needs float64) quotaUse {
		q, _ := asl.QuotaOf(operation, c.region, asl.Standard)
		return quotaUse{name, roundTo(needs, 10), float64(q.PerSecond), true}
	}
	all := []quotaUse{
		rate("state transitions", "StateTransition", starts*(calls*float64(steps.Transitions)+float64(steps.Besides.Transitions))),
		rate("StartExecution", "StartExecution", starts),
		{"open executions", float64(jobs), asl.MaxOpenExecutions, false},
		{historyQuota, longest*float64(steps.Events) + float64(steps.Besides.Events), asl.MaxEvents, false},
	}
	if s.NeedsCollector() {
		all = append(all, rate("SendTaskSuccess", "SendTaskSuccess", starts))
		if e.Job.Batch != nil {
			polls /= float64(e.Job.Batch.Max)
		}
	}
	if e != nil {
		operation := e.Operation.Name
		if s.NeedsCollector() && e.Job.Batch != nil {
			operation = e.Job.Batch.Operation
		}
		all = append(all, quotaUse{e.Service.Key + ":" + operation, roundTo(starts*polls, 10), serviceQuotas[e.Service.Key][operation], true})
	}
	return all
}

// serviceQuotas are how many calls of an operation services allow an account in a second,
// as far as that is known: Athena by an answer of AWS on re:Post, read on 2026-11-22.
var serviceQuotas = map[string]map[string]float64{"athena": {"GetQueryExecution": 100}}

// text says which quotas are wide enough.
func (l *load) text(strategy, region string) string {
	var b strings.Builder
	terminal.Fprintf(&b, "\n%s jobs at once in %s, with %s:\n", thousands(float64(l.Jobs)), region, strategy)
	for _, q := range l.Quotas {
		unit, allowed, mark := "", "not published", ""
		if q.PerSecond {
			unit = "/s"
		}
		if q.Allowed > 0 {
			allowed = thousands(q.Allowed) + unit
		}
		if q.share() > 1 {
			mark = fmt.Sprintf("  BREAKS: %.1f times", q.share())
		}
		terminal.Fprintf(&b, "  %-28s %12s of %s%s\n", q.Quota, thousands(q.Needs)+unit, allowed, mark)
	}
	if l.Breaks == "" {
		terminal.Fprintf(&b, "No known quota breaks: they allow %s jobs at once.\n", thousands(float64(l.MostJobs)))
		return b.String()
	}
	if l.Breaks == historyQuota {
		b.WriteString("The longest jobs fill the history, however few run at once.\n")
	} else {
		terminal.Fprintf(&b, "%s breaks first: at %s jobs at once.\n", l.Breaks, thousands(float64(l.MostJobs)))
	}
	for _, o := range l.Others {
		note := ""
		if o.Note != "" {
			note = " (" + o.Note + ")"
		}
		switch o.Breaks {
		case "":
			terminal.Fprintf(&b, "  %s%s does not break a quota: %s jobs at once\n", o.Strategy, note, thousands(float64(o.most)))
		case historyQuota:
			terminal.Fprintf(&b, "  %s%s fills the history, too\n", o.Strategy, note)
		default:
			terminal.Fprintf(&b, "  %s%s breaks %s at %s\n", o.Strategy, note, o.Breaks, thousands(float64(o.most)))
		}
	}
	return b.String()
}

// thousands writes a number with commas, without a fraction where it is large.
func thousands(n float64) string {
	if n < 100 && n != float64(int(n)) { //nolint:mnd // a tenth counts
		return fmt.Sprintf("%.1f", n)
	}
	digits := fmt.Sprintf("%.0f", n)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
