package statemachines

import (
	"math/rand/v2"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
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
	// drawn.
	Worst Cost `json:"worst"`
	// Expected is the mean over jobs that end at any time between the two.
	Expected    Cost   `json:"expected"`
	JobSeconds  [2]int `json:"jobSeconds"`
	Redrivable  bool   `json:"redrivable"`
	RedriveNote string `json:"redriveNote"`
}

// Cost is what an execution takes.
type Cost struct {
	Polls       float64 `json:"polls"`
	Transitions float64 `json:"transitions"`
	Events      float64 `json:"events"`
	USD         float64 `json:"usd"` // of the transitions, in us-east-1
	// LatenessSeconds is the time from the end of the job to its verdict.
	LatenessSeconds float64 `json:"latenessSeconds"`
}

// usdPerTransition is the price of a Standard workflow in us-east-1
// (https://aws.amazon.com/step-functions/pricing/).
const usdPerTransition = 0.025 / 1000

// turn is what one poll takes, and what stands before and behind the loop at
// most.
type turn struct{ transitions, events, otherTransitions, otherEvents int }

func (p *poller) turn() turn {
	t := turn{3, 9, 3, 8} // Start, a last Choice to an end; the execution's own two events
	switch p.options.Strategy {
	case RetryTask:
		t = turn{1, 4, 3, 12}
	case LambdaRetry:
		t = turn{1, 3, 4, 16}
	case LambdaLoop:
		t = turn{3, 9, 3, 11}
	case Loop, Variables:
	}
	if p.pollsAfterLook() { // CheckError
		t.transitions++
		t.events += 2
	}
	if p.initial > 0 {
		t.otherTransitions++
		t.otherEvents += 2
	}
	for _, called := range []bool{p.call.Start != nil, p.call.Stop != nil} {
		if called {
			t.otherTransitions++
			t.otherEvents += 5
		}
	}
	return t
}

func (t turn) cost(polls, lateness float64) Cost {
	c := Cost{
		Polls: polls, Transitions: polls*float64(t.transitions) + float64(t.otherTransitions),
		Events: polls*float64(t.events) + float64(t.otherEvents), LatenessSeconds: lateness,
	}
	c.USD = c.Transitions * usdPerTransition
	return c
}

// worstPolls is the largest number of calls.
func (p *poller) worstPolls() int {
	switch p.options.Strategy {
	case RetryTask:
		pending, _ := p.pending()
		calls := pending["MaxAttempts"].(int) + 1
		for _, c := range p.catches {
			if c.state == pollcore.Retry {
				calls += p.waits(c.names, p.errorWait())["MaxAttempts"].(int)
			}
		}
		return calls
	case LambdaRetry:
		return p.waits(nil, p.total-p.initial+p.hi)["MaxAttempts"].(int) + 1
	default:
		return (p.total-p.initial+p.low-1)/p.low + 1
	}
}

// report works out what the machine costs for jobs that end between two times.
func (p *poller) report() Report {
	t := p.turn()
	r := Report{
		Strategy: p.options.Strategy, MaxWaitSeconds: p.total,
		TransitionsPerPoll: t.transitions, EventsPerPoll: t.events, EventsPerFault: 3,
		Worst: t.cost(float64(p.worstPolls()), float64(p.hi)), JobSeconds: [2]int{0, p.total},
	}
	if to := p.options.JobTo; to > 0 {
		r.JobSeconds = [2]int{int(p.options.JobFrom / time.Second), int(to / time.Second)}
	}
	if p.options.Strategy == Loop {
		r.Worst.LatenessSeconds = float64(p.low)
	}
	polls, late := p.expect(r.JobSeconds[0], r.JobSeconds[1])
	r.Expected = t.cost(polls, late)
	r.RedriveNote = "a redrive runs the Fail state again, which fails again"
	if p.redrivable() {
		r.Redrivable = true
		r.RedriveNote = "a redrive goes on with CheckStatus, with new time for the job"
	}
	return r
}

// samples is how many jobs expect looks at.
const samples = 1000

// expect is the mean number of polls, and of seconds between the end of a job
// and the poll that finds it, over jobs that end at times spread evenly between
// the two.
func (p *poller) expect(from, to int) (polls, lateness float64) {
	draw := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // a mean needs no secrecy
	for i := range samples {
		end := float64(from) + (float64(i)+0.5)*float64(to-from)/samples
		now, n, delay := float64(p.initial), 1, p.low
		for ; now < end && now < float64(p.total); n++ {
			wait := float64(delay)
			switch p.options.Strategy {
			case Variables, LambdaLoop:
				wait = float64(p.low) + draw.Float64()*float64(delay-p.low)
				wait = min(wait, max(float64(p.total)-now, 1))
			case Loop:
				delay = p.low
			case RetryTask, LambdaRetry:
			}
			now += wait
			if p.options.Strategy != Loop {
				delay = min(2*delay, p.hi)
			}
		}
		polls += float64(n)
		lateness += max(0, now-end)
	}
	return polls / samples, lateness / samples
}

// fits refuses a schedule that can fill the poller's share of the history.
func (p *poller) fits() {
	t := p.turn()
	share := p.options.Events
	if share == 0 {
		share = DefaultEvents
	}
	needs := func() int { return p.worstPolls()*t.events + t.otherEvents }
	if needs() <= share {
		return
	}
	before, events := p.low, needs()
	for needs() > share && p.low < p.total {
		p.low++
		p.hi = max(p.hi, p.low)
	}
	if p.options.Fit {
		return
	}
	p.refuse("it can take %d events of the history, more than its share of %d: with a MinDelay of %d s instead of %d it fits (option Fit)",
		events, share, p.low, before)
}
