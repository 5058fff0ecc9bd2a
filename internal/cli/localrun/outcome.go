package localrun

import (
	"slices"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// runOutcome is what the JSON output of a run says of its times, states and jobs.
type runOutcome struct {
	StartDate time.Time               `json:"startDate"`
	StopDate  time.Time               `json:"stopDate"`
	Outcomes  map[string]stateOutcome `json:"outcomes,omitempty"`
	Jobs      []polledJob             `json:"polledJobs,omitempty"`

	at []string // the states at which the run ended, if it did not succeed, and what came of them
}

// mostAt is how many of these states a run names.
const mostAt = 5

// stateOutcome is the worst that came of a state.
type stateOutcome struct {
	Outcome string `json:"outcome"`
	Text    string `json:"text"`
}

// polledJob is a job that the run polled. What is not known is not there.
type polledJob struct {
	State           string     `json:"state"`
	Operation       string     `json:"operation"`
	ID              string     `json:"id,omitempty"`
	Polls           int        `json:"polls"`
	EndDate         *time.Time `json:"endDate,omitempty"`
	SeenDate        *time.Time `json:"seenDate,omitempty"`
	LatenessSeconds *float64   `json:"latenessSeconds,omitempty"`
}

// newRunOutcome reads what became of a run. The text of one that succeeded does not need its
// states and jobs, which take time to find. One whose history is full has ended anywhere.
func newRunOutcome(m *asl.StateMachine, r *sim.Result, output string) runOutcome {
	o := runOutcome{StartDate: r.Start.UTC(), StopDate: r.Stop.UTC()}
	if output == "text" && (r.Status == sim.StatusSucceeded || len(r.Events) >= asl.MaxEvents) {
		return o
	}
	e := history.FromRun(m, r)
	visits := e.FindVisits()
	for _, culprit := range visits.FindCulprits(e) {
		at := culprit.State
		if what := culprit.Describe(); what != "failed: "+r.Error { // which has a row
			at += " " + what
		}
		if len(o.at) < mostAt && !slices.Contains(o.at, at) {
			o.at = append(o.at, at)
		}
	}
	if output == "text" {
		return o
	}
	o.Outcomes = map[string]stateOutcome{}
	for state, ending := range visits.FindEndings() {
		o.Outcomes[state] = stateOutcome{string(ending.Outcome), ending.Text}
	}
	for _, j := range e.FindJobs(visits) {
		job := polledJob{State: j.State, Operation: j.Operation, ID: j.ID, Polls: len(j.Polls)}
		if late, exact, known := j.Lateness(); known {
			seconds, seen := late.Seconds(), j.Polls[j.EndPoll()].Answered
			job.LatenessSeconds, job.SeenDate = &seconds, &seen
			if exact {
				ended := j.Ended
				job.EndDate = &ended
			}
		}
		o.Jobs = append(o.Jobs, job)
	}
	return o
}
