package compile

import (
	"math"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// Report says what a compiled machine costs, without the retries of faults.
type Report struct {
	Strategy       Strategy `json:"strategy"`
	MaxWaitSeconds int      `json:"maxWaitSeconds"`
	// TransitionsPerPoll and EventsPerPoll are what one turn of the loop takes,
	// and EventsPerFault a call that is retried in place.
	TransitionsPerPoll int `json:"transitionsPerPoll"`
	EventsPerPoll      int `json:"eventsPerPoll"`
	EventsPerFault     int `json:"eventsPerFault"`
	// Worst is a job that does not end, with the shortest delays that can be
	// drawn. Its lateness is the most of any job that takes the first of
	// JobSeconds at least.
	Worst Cost `json:"worst"`
	// Expected is the mean over jobs that succeed at any time between the two of
	// JobSeconds.
	Expected    Cost   `json:"expected"`
	JobSeconds  [2]int `json:"jobSeconds"`
	Redrivable  bool   `json:"redrivable"`
	RedriveNote string `json:"redriveNote"`
	// SignalNote says how the machine learns of the end besides polls; empty where it
	// does not.
	SignalNote string `json:"signalNote,omitempty"`
	// Choice and Warnings are those of [Compiled].
	Choice   string   `json:"choice,omitempty"`
	Warnings []string `json:"warnings"`
}

// Cost is what an execution takes.
type Cost struct {
	Polls       float64 `json:"polls"`
	Transitions float64 `json:"transitions"`
	Events      float64 `json:"events"`
	USD         float64 `json:"usd"` // of the transitions, in asl.DefaultRegion, in millionths
	// LatenessSeconds is the time from the end of the job to its verdict.
	LatenessSeconds float64 `json:"latenessSeconds"`
}

// With is the report of a machine that has more transitions and events besides
// its polls.
func (r Report) With(transitions, events int) Report {
	for _, c := range []*Cost{&r.Worst, &r.Expected} {
		c.Transitions += float64(transitions)
		c.Events += float64(events)
		c.USD = round(asl.TransitionCost(c.Transitions), 1e6)
	}
	return r
}

// cost is that of so many polls, of going on to so many phases and of steps besides.
func (t turn) cost(polls, phases float64, besides steps, lateness float64) Cost {
	transitions := polls*float64(t.transitions) + phases*float64(t.next.transitions) + float64(besides.transitions)
	events := polls*float64(t.events) + phases*float64(t.next.events) + float64(besides.events)
	return Cost{
		Polls: round(polls, 100), Transitions: round(transitions, 100), Events: round(events, 100),
		USD: round(asl.TransitionCost(transitions), 1e6), LatenessSeconds: round(lateness, 10),
	}
}

// round leaves out what is finer than one part of a whole.
func round(v, parts float64) float64 { return math.Round(v*parts) / parts }

// Report works out what the machine costs for jobs that end between Options.JobFrom
// and Options.JobTo.
func (c *Compiled) Report() Report {
	p := c.plan
	t := p.turn()
	r := Report{
		Strategy: p.options.Strategy, MaxWaitSeconds: p.total,
		TransitionsPerPoll: t.transitions, EventsPerPoll: t.events, EventsPerFault: 3,
		JobSeconds: [2]int{0, p.total},
		Choice:     c.Choice, Warnings: c.Warnings,
	}
	if to := p.options.JobTo; to > 0 {
		r.JobSeconds = [2]int{int(p.options.JobFrom / time.Second), int(to / time.Second)}
	}
	switch {
	case p.collected:
		r.SignalNote = p.eventNote()
	case p.told:
		r.SignalNote = p.syncNote()
	}
	latest := p.hi
	if p.delays == even && p.planned == nil {
		latest = p.low
	}
	r.RedriveNote = "Redriving cannot help: it re-enters the Fail state."
	var polls, phases, late float64
	from, to := float64(r.JobSeconds[0]), float64(r.JobSeconds[1])
	if p.told {
		latest = p.syncJob().SyncDelay
		polls, late = 1, float64(latest)/2
		r.RedriveNote += " Redriving an execution that was stopped while the job ran starts the job again."
	} else {
		polls, phases, late = p.expectDrawn(from, to)
	}
	r.Worst = t.cost(float64(p.strategy.polls(p)), 0, t.most, float64(max(latest, p.initial+p.jitter-r.JobSeconds[0])))
	r.Expected = t.cost(polls, phases, t.success, late)
	if p.redrivable() {
		r.Redrivable = true
		r.RedriveNote = "Redriving resumes the wait at CheckStatus, with the whole max wait."
	}
	return r
}
