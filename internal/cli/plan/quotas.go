package plan

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/plan"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// load is what so many jobs at once need of the quotas of an account in a region. An
// execution is open until a poll has seen the end of its job.
type load struct {
	Jobs int `json:"jobs"`
	// Quotas are those that the strategy needs.
	Quotas []quotaUse `json:"quotas"`
	// Breaks is the quota that breaks first as the number of jobs grows: empty if none
	// does with so many.
	Breaks string `json:"breaks,omitempty"`
	// MostJobs is how many jobs at once the quotas allow.
	MostJobs int `json:"mostJobs"`
	// Bursts are how long calls take that all jobs make at the same time.
	Bursts []burst `json:"bursts"`
	// Others are today's loop and the other strategies.
	Others []strategyLoad `json:"others"`
}

// quotaUse is what is needed of a quota.
type quotaUse struct {
	Quota   string  `json:"quota"`
	Needs   float64 `json:"needs"`   // rounded
	Allowed float64 `json:"allowed"` // 0 where nobody publishes it
	// PerSecond: both are rates.
	PerSecond bool `json:"perSecond"`
	// Source is who says so, where AWS's page of quotas does not.
	Source string `json:"source,omitempty"`

	each    float64 // what a job needs, of a quota that all share
	most    int     // how many jobs at once it allows
	breaks  bool
	burst   int  // what may be at once, of a rate
	isStart bool // the call that starts the job
}

// share is how much of the quota is needed.
func (q *quotaUse) share() float64 {
	if q.Allowed == 0 {
		return 0
	}
	return q.Needs / q.Allowed
}

// settle says what so many jobs need, and how many the quota allows. That does not
// depend on the number of jobs.
func (q *quotaUse) settle(jobs int) {
	if q.each == 0 { // of each job, or of each Map Run
		q.most, q.breaks = mostConcurrent, q.share() > 1
		return
	}
	q.Needs = float64(jobs) * q.each
	if !q.PerSecond {
		q.Needs = math.Ceil(q.Needs * (1 - exact))
	}
	q.Needs = roundNeeds(q.Needs)
	q.most = mostConcurrent
	if q.Allowed > 0 {
		q.most = int(min(q.Allowed/q.each*(1+exact), mostConcurrent))
	}
	q.breaks = jobs > q.most
}

// exact is the share of a number that is nothing but rounding.
const exact = 1e-9

// roundNeeds rounds to three decimals, or what is below one to four digits.
func roundNeeds(n float64) float64 {
	const digits = 3
	if n <= 0 || n >= 1 {
		return roundTo(n, 1000) //nolint:mnd // a thousandth
	}
	return roundTo(n, math.Pow(10, digits-math.Floor(math.Log10(n)))) //nolint:mnd // decimal digits
}

// burst is what happens if all jobs do the same at the same time: start, poll or end.
type burst struct {
	When    string  `json:"when"`
	Quota   string  `json:"quota"`
	Count   float64 `json:"count"`
	Burst   int     `json:"burst"`
	Rate    float64 `json:"perSecond"`
	Seconds float64 `json:"seconds"`
}

// The times of bursts.
const (
	whenStart = "start"
	whenPoll  = "poll"
	whenEnd   = "end"
)

// strategyLoad says of a strategy which quota it breaks.
type strategyLoad struct {
	Strategy string `json:"strategy"`
	Breaks   string `json:"breaks,omitempty"`
	MostJobs int    `json:"mostJobs"`
	Note     string `json:"note,omitempty"`
}

// newLoad is the load of so many jobs at once that end and are replaced by others.
func (c coster) newLoad(jobs int, s pollcore.Planned, subject *planSubject) *load {
	polling := c.polling(c.strategy, s)
	l := &load{Jobs: jobs, Quotas: c.quotas(polling, jobs, subject), Bursts: c.bursts(polling, jobs, s.Jitter, subject), Others: []strategyLoad{}}
	l.Breaks, l.MostJobs = firstToBreak(l.Quotas)
	if subject.schedule != nil && subject.steps != nil {
		one := strategyLoad{Strategy: todayName}
		one.Breaks, one.MostJobs = firstToBreak(c.quotas(c.pollingToday(subject), jobs, subject))
		l.Others = append(l.Others, one)
	}
	for _, other := range compile.Strategies() {
		if note, ok := takes(other, subject.entry); ok && other != c.strategy {
			one := strategyLoad{Strategy: string(other), Note: note}
			one.Breaks, one.MostJobs = firstToBreak(c.quotas(c.polling(other, s), jobs, subject))
			l.Others = append(l.Others, one)
		}
	}
	slices.SortStableFunc(l.Others, func(a, b strategyLoad) int { return b.MostJobs - a.MostJobs })
	return l
}

// historyQuota is of each job, however many others there are.
const historyQuota = "events of a history"

// firstToBreak is the quota with the least room. It is empty if all are wide enough.
func firstToBreak(all []quotaUse) (name string, most int) {
	most = mostConcurrent
	for _, q := range all {
		switch {
		case q.Quota == historyQuota && q.breaks:
			return q.Quota, 0
		case q.most < most:
			name, most = "", q.most
			if q.breaks {
				name = q.Quota
			}
		}
	}
	return name, most
}

// takes tells whether a strategy can wait for a job, and what it needs.
func takes(s compile.Strategy, e *catalog.Entry) (note string, ok bool) {
	switch isJob := e != nil && e.Job != nil; {
	case s.Waits():
		if isJob && e.Job.Sync != "" {
			return "by " + e.Job.Sync + ", lateness not measured", true
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

// polling is what a way to poll takes.
type polling struct {
	// steps are those of a job on average, most those of one that takes the most.
	steps, most loopSteps
	// turns are the polls of an execution, longest those of a rare job, and calls those
	// of the service.
	turns, longest, calls float64
	late                  time.Duration // how long the execution is open after its job
	collector             bool
}

// polling is what a strategy takes that is to have a schedule.
func (c coster) polling(s compile.Strategy, schedule pollcore.Planned) polling {
	schedule, _ = s.Hold(schedule)
	steps, most := c.stepsOfStrategy(s, schedule, s.PhaseEnds(schedule))
	switch {
	case s.Waits():
		return polling{steps: steps, most: most, turns: 1, longest: 1, calls: 1}
	case s.NeedsCollector():
		return polling{steps: steps, most: most, calls: 1 + c.durations.Mean().Seconds()/safetyPoll.Seconds(), collector: true}
	}
	cost := plan.MeasurePlanned(c.durations, schedule)
	return polling{steps: steps, most: most, turns: cost.Calls, longest: c.longest(schedule), calls: cost.Calls, late: cost.Mean}
}

// pollingToday is what today's loop takes.
func (c coster) pollingToday(t *planSubject) polling {
	cost := plan.MeasureDelays(c.durations, t.delays()...)
	longest := c.longest(*t.schedule)
	if t.measured != nil { // on a rare job; the loop may give up before its end
		longest = 0
		for _, list := range t.measured.lists {
			longest = max(longest, float64(len(list)))
		}
	}
	return polling{steps: *t.steps, most: *t.steps, turns: cost.Calls, longest: longest, calls: cost.Calls, late: cost.Mean}
}

// longest is how often a rare job is polled.
func (c coster) longest(s pollcore.Planned) float64 {
	return 1 + float64(len(pollTimes(s, c.durations.Quantile(rareJob).Seconds())))
}

// rate is the use of a quota of Step Functions.
func (c coster) rate(name, operation string, each float64) quotaUse {
	q, _ := asl.QuotaOf(operation, c.region, asl.Standard)
	return quotaUse{Quota: name, each: each, Allowed: float64(q.PerSecond), PerSecond: true, burst: q.Burst}
}

func serviceRate(service, operation string, each float64) quotaUse {
	q, _ := catalog.QuotaOf(service, operation)
	return quotaUse{Quota: service + ":" + operation, each: each, Allowed: float64(q.PerSecond), PerSecond: true, Source: q.Source, burst: q.Burst}
}

// mapRunStarts is the use of the quota that each run of a distributed Map has.
func mapRunStarts() quotaUse {
	return quotaUse{Quota: "starts of one Map Run", Allowed: asl.MapRunStartsPerSecond, PerSecond: true, burst: asl.MapRunStartsPerSecond}
}

// quotas are what jobs need that start as fast as they end.
func (c coster) quotas(p polling, jobs int, t *planSubject) []quotaUse {
	all := c.quotasOfJob(p, t)
	for i := range all {
		if i > 0 && all[i-1].Quota == mapRunsQuota { // the runs share the starts
			all[i].Needs = roundNeeds(float64(jobs) / max(1, c.durations.Mean().Seconds()) / all[i-1].Needs)
		}
		all[i].settle(jobs)
	}
	return all
}

// mapRunsQuota counts as many Map Runs as have room for the executions, and start them
// as fast as jobs end.
const mapRunsQuota = "open Map Runs"

// quotasOfJob are what one of many jobs needs.
func (c coster) quotasOfJob(p polling, t *planSubject) []quotaUse {
	mean := max(1, c.durations.Mean().Seconds())
	starts := 1 / mean
	open := 1 + p.late.Seconds()/mean
	all := []quotaUse{
		c.rate("state transitions", "StateTransition", starts*(p.turns*p.steps.transitions+p.steps.besides.transitions)),
		{Quota: "open executions", each: open, Allowed: asl.MaxOpenExecutions},
		{Quota: historyQuota, Needs: math.Round(p.longest*p.most.events + p.most.besides.events), Allowed: asl.MaxEvents},
	}
	if t.inMapRun {
		each := max(open/asl.MaxMapRunConcurrency, starts/asl.MapRunStartsPerSecond)
		all = append(all, quotaUse{Quota: mapRunsQuota, each: each, Allowed: asl.MaxOpenMapRuns}, mapRunStarts())
	} else {
		all = append(all, c.rate("StartExecution", "StartExecution", starts))
	}
	if p.collector {
		all = append(all, c.rate("SendTaskSuccess", "SendTaskSuccess", starts))
	}
	if t.http {
		all = append(all, c.rate("HTTP Task", "HTTPTask", starts*p.calls))
	}
	for _, call := range t.calls {
		all = append(all, serviceRate(call.service, call.operation, starts))
	}
	e := t.entry
	if e == nil {
		return all
	}
	operation, polls := e.Operation.Name, p.calls
	if p.collector && e.Job.Batch != nil {
		operation, polls = e.Job.Batch.Operation, polls/float64(e.Job.Batch.Max)
	}
	all = append(all, serviceRate(e.Service.Key, operation, starts*polls))
	if _, known := catalog.QuotaOf(e.Service.Key, e.Name); e.Job != nil && known {
		start := serviceRate(e.Service.Key, e.Name, starts)
		start.isStart = true
		all = append(all, start)
	}
	return all
}

// bursts are how long calls take if all jobs start, are polled or end at once: a bucket
// that is empty fills up slowly. A jitter spreads the polls of jobs that start at once.
func (c coster) bursts(p polling, jobs int, jitter time.Duration, t *planSubject) []burst {
	all := []burst{}
	add := func(when string, q quotaUse, count float64) {
		spread := 0.0
		if when == whenPoll {
			spread = jitter.Seconds()
		}
		if left := count - float64(q.burst); q.Allowed > 0 && left > q.Allowed*spread {
			all = append(all, burst{when, q.Quota, count, q.burst, q.Allowed, roundTo(left/q.Allowed, 10)})
		}
	}
	n := float64(jobs)
	if t.inMapRun {
		runs := math.Ceil(n / asl.MaxMapRunConcurrency)
		add(whenStart, mapRunStarts(), n/runs)
	} else {
		add(whenStart, c.rate("StartExecution", "StartExecution", 0), n)
	}
	if e := t.entry; e != nil && e.Job != nil {
		add(whenStart, serviceRate(e.Service.Key, e.Name, 0), n)
	}
	if p.turns > 0 {
		add(whenPoll, c.rate("state transitions", "StateTransition", 0), n*p.steps.transitions)
	}
	if e := t.entry; e != nil && !p.collector {
		add(whenPoll, serviceRate(e.Service.Key, e.Operation.Name, 0), n)
	}
	if p.collector {
		add(whenEnd, c.rate("SendTaskSuccess", "SendTaskSuccess", 0), n)
	}
	return all
}

// serviceCall is a call that an execution makes once.
type serviceCall struct{ service, operation string }

// readCalls finds what quotas the machine of a loop needs besides its poll and its start.
func (s *planSubject) readCalls(m *asl.StateMachine, poll string) {
	for state := range m.All {
		if state.Map != nil && state.Map.Distributed && slices.ContainsFunc(state.Flows(), func(f *asl.Flow) bool { return hasState(f, poll) }) {
			s.inMapRun = true
		}
		if state.Task == nil {
			continue
		}
		r := asl.ParseResource(state.Task.Resource)
		if state.Name == poll {
			s.http = r.Service == "http"
			continue
		}
		service, isSDK := r.SDK()
		if !isSDK {
			service = r.Service
		}
		if service == "" || r.Action == "" || r.Pattern != "" {
			continue
		}
		call := serviceCall{service, strings.ToUpper(r.Action[:1]) + r.Action[1:]}
		isStart := s.entry != nil && s.entry.Service.Key == service && s.entry.Name == call.operation
		if _, known := catalog.QuotaOf(call.service, call.operation); known && !isStart {
			s.calls = append(s.calls, call)
		}
	}
}

// hasState tells whether a state is in a flow or within its states.
func hasState(f *asl.Flow, name string) bool {
	if f.State(name) != nil {
		return true
	}
	return slices.ContainsFunc(f.States, func(s *asl.State) bool {
		return slices.ContainsFunc(s.Flows(), func(inner *asl.Flow) bool { return hasState(inner, name) })
	})
}
