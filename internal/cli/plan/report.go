package plan

import (
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/pastjobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/plan"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// planReport is a plan. Its JSON members are a contract: see docs/reference/json.md.
type planReport struct {
	Service   string            `json:"service,omitempty"`
	Name      string            `json:"name,omitempty"`
	Durations planDurations     `json:"durations"`
	Late      string            `json:"late"`
	Method    plan.Method       `json:"method"`
	Why       string            `json:"why"`
	Bound     float64           `json:"bound"`
	Schedule  pollcore.Planned  `json:"schedule"`
	Strategy  string            `json:"strategy"`
	Region    string            `json:"region"`
	Schedules []plannedSchedule `json:"schedules"`
	Load      *load             `json:"load,omitempty"`
	Notes     []string          `json:"notes,omitempty"`

	title  string
	known  *knowledge
	ofMean bool // the goal
	// allowed is the mean lateness with the jobs of unseen lengths that the plan allows for,
	// unseen their share.
	allowed time.Duration
	unseen  float64
}

// planDurations is what is known of the durations.
type planDurations struct {
	Source          string    `json:"source"`
	Count           int       `json:"count,omitempty"`
	Intervals       int       `json:"intervals,omitempty"`
	MeanSeconds     float64   `json:"meanSeconds"`
	P5Seconds       float64   `json:"p5Seconds"`
	P50Seconds      float64   `json:"p50Seconds"`
	P95Seconds      float64   `json:"p95Seconds"`
	Variation       float64   `json:"variation"`
	ModesSeconds    []float64 `json:"modesSeconds,omitempty"`
	ShortestSeconds float64   `json:"shortestSeconds,omitempty"`
	LongestSeconds  float64   `json:"longestSeconds,omitempty"`
}

// plannedSchedule is a row of the table: what a schedule costs for a job.
type plannedSchedule struct {
	Name            string           `json:"name"`
	Calls           float64          `json:"calls"`
	MeanLateSeconds float64          `json:"meanLateSeconds"`
	P95LateSeconds  float64          `json:"p95LateSeconds"`
	MaxLateSeconds  float64          `json:"maxLateSeconds"`
	Transitions     float64          `json:"transitions"`
	Events          float64          `json:"events"`
	CostUSD         float64          `json:"costUSD"`
	LongestSeconds  float64          `json:"longestWaitSeconds"`
	Missed          float64          `json:"missed,omitempty"`
	Schedule        pollcore.Planned `json:"schedule"`

	polls []float64 // times in seconds, of a run; nil are those of Schedule
}

// The names of the rows.
const (
	todayName    = "today"
	fixedName    = "fixed"
	doublingName = "doubling"
	plannedName  = "planned"
	// compiledName is what a machine does whose strategy cannot hold the planned one.
	compiledName = "compiled"
)

// firstBackoff is the first delay of the backoff in the table. It doubles without an end.
const firstBackoff = 5 * time.Second

// backoff is the schedule of a client that treats a running job as a failing server.
func backoff() pollcore.Planned {
	p := pollcore.Planned{Then: firstBackoff}
	for p.Then < pollcore.MaxPlannedDelay/2 { //nolint:mnd // it doubles
		p.Delays = append(p.Delays, p.Then)
		p.Then *= 2
	}
	return p
}

// roughJobs is from how many jobs on a learned plan has no note: fewer do not tell well how
// far others spread.
const roughJobs = 100

func newPlanReport(o planOptions, goal plan.Goal, today *planSubject, known *knowledge) (*planReport, error) {
	best, err := plan.Best(known.distribution, goal, plan.Limits{Jitter: o.jitter})
	if err != nil {
		return nil, kit.Usage("--late %s: %w", o.late, err)
	}
	p := &planReport{
		Durations: newPlanDurations(known), Late: goal.String(), Method: best.Method, Why: best.Why, Bound: roundTo(best.Bound, 1000),
		Schedule: best.Schedule, Strategy: o.strategy, Region: o.region, Notes: known.notes,
		title: today.name, known: known, ofMean: goal.At == plan.Mean,
	}
	all, unseen := known.distribution.WithUnseen()
	p.allowed, p.unseen = plan.MeasurePlanned(all, best.Schedule).Mean, unseen
	if today.entry != nil {
		p.Service, p.Name = today.entry.Service.Key, today.entry.Name
	}
	if n := p.Durations.Count; n > 0 && n < roughJobs {
		p.Notes = append(p.Notes, fmt.Sprintf("a plan from %s is rough, and can be later than asked: plan again when %d have ended", kit.Plural(n, "job"), roughJobs))
	}
	p.Notes = append(p.Notes, today.notes...)
	strategy := compile.Strategy(o.strategy)
	costs := coster{known.recorded, strategy, o.region}
	if today.schedule != nil {
		p.Schedules = append(p.Schedules, costs.today(today))
	}
	if fixed := best.Fixed; fixed.Then > 0 {
		if known.summary != nil {
			fixed = costs.findFixed(goal, best)
		}
		p.Schedules = append(p.Schedules, costs.row(fixedName, fixed, nil))
	}
	p.Schedules = append(p.Schedules, costs.row(doublingName, backoff(), nil))
	planned := costs.row(plannedName, p.Schedule, strategy.PhaseEnds(p.Schedule))
	p.Schedules = append(p.Schedules, planned)
	if fits := pastjobs.Seconds(planned.LongestSeconds); fits < known.distribution.Quantile(rareJob) && fits < asl.MaxStandardTime {
		p.Notes = append(p.Notes, fmt.Sprintf("a history has room for %s of these polls, and %s may run longer: "+
			"allow more lateness, or take the strategy %s", fitText(fits), shareOfJobs(1-known.distribution.Below(fits)), compile.LambdaEvents))
	}
	if held, same := strategy.Hold(p.Schedule); !same {
		p.Schedules = append(p.Schedules, costs.row(compiledName, held, strategy.PhaseEnds(held)))
		p.Notes = append(p.Notes, fmt.Sprintf("a machine of the strategy %s has fewer delays than the schedule: the row %s", strategy, compiledName))
	}
	if o.concurrent > 0 {
		p.Load = costs.newLoad(o.concurrent, p.Schedule, today)
	}
	return p, nil
}

func newPlanDurations(k *knowledge) planDurations {
	d := k.distribution
	s := func(t time.Duration) float64 { return roundTo(t.Seconds(), 1000) }
	out := planDurations{
		Source: k.source, MeanSeconds: s(d.Mean()), P5Seconds: s(d.Quantile(0.05)), P50Seconds: s(d.Quantile(0.5)),
		P95Seconds: s(d.Quantile(0.95)), Variation: roundTo(d.Variation(), 1000),
	}
	if k.summary == nil {
		return out
	}
	m := k.summary
	out.Count, out.Intervals, out.MeanSeconds, out.Variation = m.Count, m.Intervals, s(m.Mean), roundTo(m.Variation, 1000)
	out.ShortestSeconds, out.P5Seconds, out.P50Seconds, out.P95Seconds, out.LongestSeconds = s(m.Shortest), s(m.P5), s(m.P50), s(m.P95), s(m.Longest)
	for _, mode := range m.Modes {
		out.ModesSeconds = append(out.ModesSeconds, s(mode))
	}
	return out
}

// coster says what schedules cost.
type coster struct {
	durations plan.Distribution
	strategy  compile.Strategy
	region    string
}

// delaysOf are the delays before the calls, without an end.
func delaysOf(s pollcore.Planned) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		n := 1
		for yield(s.Before(n)) {
			n++
		}
	}
}

// row is the row of a schedule in a machine of the strategy, which goes on to another
// phase at these times.
func (c coster) row(name string, s pollcore.Planned, phases []time.Duration) plannedSchedule {
	cost := plan.MeasurePlanned(c.durations, s)
	mean, most := c.stepsOfStrategy(c.strategy, s, phases)
	return c.rowOf(name, s, cost, mean, most)
}

// stepsOfStrategy are what a job takes in such a machine: on average, and if it goes on to
// every phase.
func (c coster) stepsOfStrategy(s compile.Strategy, schedule pollcore.Planned, phases []time.Duration) (mean, most loopSteps) {
	of := s.Steps(schedule.Before(1)+schedule.Jitter > 0)
	mean = loopSteps{transitions: float64(of.Transitions), events: float64(of.Events)}
	mean.besides.transitions, mean.besides.events = float64(of.Besides.Transitions), float64(of.Besides.Events)
	most = mean
	for _, end := range phases {
		mean.goOn(of, 1-c.durations.Below(end))
		most.goOn(of, 1)
	}
	return mean, most
}

// goOn adds what so many jobs take that go on to another phase.
func (s *loopSteps) goOn(of compile.Steps, jobs float64) {
	s.besides.transitions += jobs * float64(of.Phase.Transitions)
	s.besides.events += jobs * float64(of.Phase.Events)
}

// today is the row of today's loop: by its runs, or else as its machine says.
func (c coster) today(t *planSubject) plannedSchedule {
	if t.steps == nil { // the machine is not there yet
		return c.row(todayName, *t.schedule, nil)
	}
	cost := plan.MeasureDelays(c.durations, t.delays()...)
	row := c.rowOf(todayName, *t.schedule, cost, *t.steps, *t.steps)
	if t.measured != nil {
		row.polls = t.measured.times()
		if gaveUp := t.measured.gaveUp.Seconds(); gaveUp > 0 {
			row.LongestSeconds = min(row.LongestSeconds, gaveUp)
		}
	}
	return row
}

func (c coster) rowOf(name string, s pollcore.Planned, cost plan.Cost, mean, most loopSteps) plannedSchedule {
	price, _ := asl.TransitionPrice(c.region) // validate has refused others
	transitions := cost.Calls*mean.transitions + mean.besides.transitions
	return plannedSchedule{
		Name: name, Calls: roundTo(cost.Calls, 100), MeanLateSeconds: roundTo(cost.Mean.Seconds(), 10),
		P95LateSeconds: roundTo(cost.P95.Seconds(), 10), MaxLateSeconds: roundTo(cost.Worst.Seconds(), 10),
		Transitions: roundTo(transitions, 100), Events: roundTo(cost.Calls*mean.events+mean.besides.events, 100),
		CostUSD: roundTo(transitions*price, 1e7), LongestSeconds: longestWait(s, most).Seconds(),
		Missed: roundTo(cost.Missed, 10_000), Schedule: s,
	}
}

// longestWait is how long a history has room for the polls of a schedule.
func longestWait(s pollcore.Planned, steps loopSteps) time.Duration {
	if steps.events <= 0 {
		return asl.MaxStandardTime
	}
	polls := int((asl.MaxEvents - steps.besides.events) / steps.events)
	var waits time.Duration
	for n := 1; n <= min(polls, len(s.Delays)); n++ {
		if waits += s.Before(n); waits >= asl.MaxStandardTime {
			return asl.MaxStandardTime
		}
	}
	if more := polls - len(s.Delays); more > 0 {
		if s.Then > asl.MaxStandardTime/time.Duration(more) {
			return asl.MaxStandardTime
		}
		waits += s.Then * time.Duration(more)
	}
	return min(waits, asl.MaxStandardTime)
}

// roundTo leaves out what is finer than one part of a whole.
func roundTo(v, parts float64) float64 { return math.Round(v*parts) / parts }
