package page

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/history"
	"github.com/jobpoller/jobpoller/statemachines/report"
)

// summary is what the list says of the polls of a run, and of its failure.
type summary struct {
	Verdict, Next, Polls, Late, Cost string
	// Error is that of a run that failed; Cause says more, where there is more.
	Error, Cause string

	next time.Time
}

// summaries keeps those of the runs that the list showed last.
type summaries struct {
	mu   sync.Mutex
	kept map[string]versioned
}

// versioned is a summary of a version of a run.
type versioned struct {
	version int64
	summary summary
}

const (
	mostSummaries = 2_000
	// mostRead is how many events a list reads. Runs behind that have an older summary,
	// or none until the next time.
	mostRead = 100_000
)

// of summarizes a run.
func (s *summaries) of(w World, arn string, budget *int) summary {
	version, known := w.Version(arn)
	if !known {
		return summary{}
	}
	s.mu.Lock()
	found, has := s.kept[arn]
	s.mu.Unlock()
	if has && found.version == version || *budget <= 0 {
		return found.summary
	}
	d, known := w.Run(arn)
	if !known {
		return summary{}
	}
	*budget -= len(d.History.Events)
	for _, child := range d.History.Children {
		*budget -= len(child.Events)
	}
	made := versioned{d.Version, summarize(d)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil || len(s.kept) >= mostSummaries {
		s.kept = map[string]versioned{}
	}
	s.kept[arn] = made
	return made.summary
}

// summarize reads the polls of a run.
func summarize(d *Detail) summary {
	e := d.History
	s := summary{Error: e.Error, Cause: report.ExplainCause(e.Cause)}
	if !e.Express {
		usd, _ := e.CostUSD()
		s.Cost = fmt.Sprintf("$%.4f", usd)
	}
	for _, p := range d.Places {
		if !p.Until.IsZero() && (s.next.IsZero() || p.Until.Before(s.next)) {
			s.next = p.Until
		}
	}
	jobs := e.FindJobs(e.FindVisits())
	if len(jobs) == 0 {
		return s
	}
	polls := 0
	var last *history.Poll
	var late time.Duration
	known, exact := false, true
	var of *history.Job
	for _, j := range jobs {
		polls += len(j.Polls)
		if p := &j.Polls[len(j.Polls)-1]; last == nil || p.At.After(last.At) {
			last, of = p, j
		}
		if by, isExact, isKnown := j.Lateness(); isKnown {
			late, known, exact = max(late, by), true, exact && isExact
		}
	}
	s.Polls = report.FormatCount(polls)
	s.Verdict = of.State + ": " + cmp.Or(last.Status, string(last.Verdict))
	if known {
		s.Late = report.FormatDuration(late)
		if !exact {
			s.Late = "≤ " + s.Late
		}
	}
	return s
}
