package handler_test

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/access"
)

const jobName = "test:Job"

var jobWaiter = pollcore.MustNew("JobDone",
	pollcore.Succeed(pollcore.Output("State").Is("DONE")),
	pollcore.FailWithMessage(pollcore.Output("State").Is("BROKEN"), "Why"),
	pollcore.Again(pollcore.ErrorType("NotYet")),
	pollcore.Delay(10*time.Second, 2*time.Minute))

// delay is how late the effect of a lost call may come: within the default of
// the lease margin.
const delay = 4 * time.Second

// service is an external service that runs jobs, and its driver.
type service struct {
	clock       *clock
	idempotency jobs.Idempotency
	needs       []access.Permission

	mu        sync.Mutex
	jobs      []job
	starts    int // calls of Start
	describes int
	stops     int
	nameless  bool // Start does not say which job it started
	onStop    any  // the output of Describe after a Stop
	output    any
	err       error
	delayed   []effect
	slow      func() // what happens while the answer of Describe is on its way
	// timeline is what Describe returns of a job, instead of output and err.
	timeline func(id string) (any, error)
	stopped  map[string]bool // the jobs that Stop was called for
	batches  []int           // the sizes of calls for many jobs
}

type job struct {
	token string
	at    time.Time
	ref   jobs.Ref
}

type effect struct {
	at time.Time
	do func()
}

var _ jobs.Driver = (*service)(nil)

func (*service) Name() string { return jobName }

func (*service) Waiter() *pollcore.Waiter { return jobWaiter }

func (s *service) Idempotency(jobs.Request) jobs.Idempotency { return s.idempotency }

func (s *service) Permissions() []access.Permission { return s.needs }

func (s *service) Start(ctx context.Context, r jobs.Request) (jobs.Ref, error) {
	s.mu.Lock()
	s.starts++
	s.mu.Unlock()
	return operate(ctx, "Start", errLost, s.later, func() (jobs.Ref, error) { return s.start(r.Token), nil })
}

func (s *service) Describe(ctx context.Context, ref jobs.Ref) (any, error) {
	output, err := operate(ctx, "Describe", errLost, nil, func() (any, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.describes++
		if s.timeline != nil {
			return s.timeline(ref["Id"])
		}
		return s.output, s.err
	})
	if s.slow != nil {
		s.slow()
	}
	return output, err
}

// EndTime implements jobs.EndTimer.
func (*service) EndTime(output any) (at time.Time, ok bool) {
	members, _ := output.(map[string]any)
	text, _ := members["EndedAt"].(string)
	at, err := time.Parse(time.RFC3339, text)
	return at, err == nil
}

// start runs a job, or returns the one of a token that is remembered.
func (s *service) start(token string) jobs.Ref {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	for _, j := range s.jobs {
		remembered := s.idempotency.Window == 0 || now.Sub(j.at) < s.idempotency.Window
		if s.idempotency.Class == jobs.ByToken && j.token == token && remembered {
			return j.ref
		}
	}
	ref := jobs.Ref{"Id": "job-" + strconv.Itoa(len(s.jobs)+1)}
	if s.nameless {
		ref = jobs.Ref{}
	}
	s.jobs = append(s.jobs, job{token: token, at: now, ref: ref})
	return ref
}

// later has an effect come when the clock has moved a little.
func (s *service) later(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delayed = append(s.delayed, effect{s.clock.Now().Add(delay), do})
}

// due takes the first effect that is due by then.
func (s *service) due(by time.Time) (effect, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.delayed) == 0 || s.delayed[0].at.After(by) {
		return effect{}, false
	}
	first := s.delayed[0]
	s.delayed = s.delayed[1:]
	return first, true
}

// says makes Describe return this.
func (s *service) says(output any, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.output, s.err = output, err
}

// count returns how many jobs have been started.
func (s *service) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.jobs)
}

// searchable is a service whose jobs can be found.
type searchable struct{ *service }

var _ jobs.Finder = searchable{}

func (s searchable) Find(ctx context.Context, r jobs.Request) (ref jobs.Ref, found bool, err error) {
	ref, err = operate(ctx, "Find", errLost, func(func()) {}, func() (jobs.Ref, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, j := range s.jobs {
			if j.token == r.Token {
				return j.ref, nil
			}
		}
		return jobs.Ref{}, nil
	})
	return ref, len(ref) > 0, err
}

// stoppable is a service whose jobs can be stopped.
type stoppable struct{ *service }

var _ jobs.Stopper = stoppable{}

// Stop has the job end as onStop says.
func (s stoppable) Stop(ctx context.Context, ref jobs.Ref) error {
	_, err := operate(ctx, "Stop", errLost, nil, func() (any, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stops++
		if s.stopped != nil {
			s.stopped[ref["Id"]] = true
		}
		s.output = s.onStop
		return nil, nil
	})
	return err
}
