package page

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/report"
)

// strategies keeps what other loops would have taken for the jobs of runs.
type strategies struct {
	mu   sync.Mutex
	kept map[[sha256.Size]byte]strategiesView
}

// Comparison is a poll loop to compare with others.
type Comparison struct {
	Definition string
	Express    bool
	// Task polls the job, and Runs is how long the job ran.
	Task string
	Runs time.Duration
}

// Trial is what a loop takes for the job.
type Trial struct {
	Name               string
	Late               time.Duration
	Calls, Transitions int
	USD                float64
}

// strategiesView compares the loop of a run with compiled ones.
type strategiesView struct {
	Runs string // how long the job ran
	Rows []strategyRow
}

type strategyRow struct {
	Name, Late, Calls, Transitions, Cost string
}

const (
	mostComparisons = 200
	// longestTrial is how long a comparison may take.
	longestTrial = 2 * time.Second
	// longestJob is the longest job that is tried: the loop of a longer one takes
	// thousands of polls.
	longestJob = 24 * time.Hour
)

// compareStrategies compares the loop of a run that has ended, if it polled one job to
// its end.
func (p *Page) compareStrategies(ctx context.Context, d *Detail) strategiesView {
	if p.o.Compare == nil || d.Definition == "" || d.Status != history.StatusSucceeded {
		return strategiesView{}
	}
	c := Comparison{Definition: d.Definition, Express: d.Express}
	if c.Task, c.Runs = jobOf(d.History); c.Runs <= 0 || c.Runs > longestJob {
		return strategiesView{}
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%t\n%s", c.Task, c.Runs, c.Express, c.Definition))
	s := &p.strategies
	s.mu.Lock()
	found, has := s.kept[key]
	s.mu.Unlock()
	if has {
		return found
	}
	made := p.try(ctx, c)
	if ctx.Err() != nil {
		return made // the reader left before all loops were tried
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil || len(s.kept) >= mostComparisons {
		s.kept = map[[sha256.Size]byte]strategiesView{}
	}
	s.kept[key] = made
	return made
}

// jobOf is the Task that polled the one job of a run, and how long the job ran.
func jobOf(e *history.Execution) (state string, runs time.Duration) {
	jobs := e.FindJobs(e.FindVisits())
	if len(jobs) != 1 || len(e.Children) > 0 {
		return "", 0
	}
	j := jobs[0]
	seen := j.EndPoll()
	if seen < 0 || j.Polls[seen].Verdict != history.Success {
		return "", 0
	}
	from, to := j.Polls[0].At, j.Polls[seen].Answered
	if !j.Started.IsZero() {
		from = j.Started
	}
	if !j.Ended.IsZero() {
		to = j.Ended
	}
	return j.State, to.Sub(from).Round(time.Second)
}

// try makes the rows of a comparison, the loop of the run first.
func (p *Page) try(ctx context.Context, c Comparison) strategiesView {
	ctx, cancel := context.WithTimeout(ctx, longestTrial)
	defer cancel()
	v := strategiesView{Runs: report.FormatDuration(c.Runs)}
	for _, t := range p.o.Compare(ctx, c) {
		v.Rows = append(v.Rows, strategyRow{
			Name: t.Name, Late: report.FormatDuration(t.Late), Calls: report.FormatCount(t.Calls),
			Transitions: report.FormatCount(t.Transitions), Cost: fmt.Sprintf("$%.4f", t.USD),
		})
	}
	return v
}
