package callbacks

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/access"
)

const jobName = "soak:Job"

var waiter = pollcore.MustNew("JobDone",
	pollcore.Succeed(pollcore.Output("State").Is("DONE")),
	pollcore.Fail(pollcore.Output("State").Is("BROKEN")),
	pollcore.Fail(pollcore.Output("State").Is("STOPPED")),
	pollcore.Delay(5*time.Second, time.Minute))

var errThrottled = &smithy.GenericAPIError{Code: "ThrottlingException", Message: "slow down", Fault: smithy.FaultClient}

// service runs the job of a wait, and is its driver.
type service struct {
	world       *world
	idempotency jobs.Idempotency
	life        time.Duration // of a job
	end         string        // its status after that

	mu         sync.Mutex
	jobs       []job
	stopsTaken int // stop calls that have reached the service
}

type job struct {
	token   string
	begun   time.Time
	stopped time.Time // zero: not stopped
}

var (
	_ jobs.Stopper    = (*service)(nil)
	_ jobs.StopTeller = (*service)(nil)
	_ jobs.Announcer  = (*service)(nil)
	_ jobs.Finder     = searchable{}
)

var serviceFaults = []fault{lostBefore, lostAfter, throttled, slow, diesBefore, diesAfter}

// startFaults have no slow effect: a lease outlasts the requests that its owner has sent.
var startFaults = []fault{lostBefore, lostAfter, throttled, diesBefore, diesAfter}

func (*service) Name() string                                { return jobName }
func (*service) Waiter() *pollcore.Waiter                    { return waiter }
func (*service) Permissions() []access.Permission            { return nil }
func (s *service) Idempotency(jobs.Request) jobs.Idempotency { return s.idempotency }

// Start implements jobs.Driver.
func (s *service) Start(ctx context.Context, r jobs.Request) (jobs.Ref, error) {
	return call(ctx, "Start", startFaults, func() (jobs.Ref, error) { //nolint:contextcheck // an event is an invocation of its own
		s.mu.Lock()
		defer s.mu.Unlock()
		for n, j := range s.jobs {
			remembered := s.idempotency.Window == 0 || time.Since(j.begun) < s.idempotency.Window
			if s.world.breach != ForgottenTokens && s.idempotency.Class == jobs.ByToken && j.token == r.Token && remembered {
				return refOf(n), nil
			}
		}
		s.jobs = append(s.jobs, job{token: r.Token, begun: time.Now()})
		s.world.jobBegins()
		if s.world.breach == UnansweredStarts {
			return nil, errLost
		}
		return refOf(len(s.jobs) - 1), nil
	})
}

func refOf(n int) jobs.Ref { return jobs.Ref{"Id": fmt.Sprint(n)} }

// Describe implements jobs.Driver.
func (s *service) Describe(ctx context.Context, ref jobs.Ref) (any, error) {
	return call(ctx, "Describe", serviceFaults, func() (any, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		state := s.state(s.job(ref), time.Now())
		if s.world.breach == WrongDescriptions {
			state = map[string]string{"DONE": "BROKEN", "BROKEN": "DONE", "RUNNING": "RUNNING", "STOPPED": "STOPPED"}[state]
		}
		return map[string]any{"State": state}, nil
	})
}

// Stop implements jobs.Stopper.
func (s *service) Stop(ctx context.Context, ref jobs.Ref) error {
	return callFor(ctx, "Stop", serviceFaults, func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.world.breach == UnheardStops {
			return nil
		}
		s.stopsTaken++
		if j := s.job(ref); s.state(j, time.Now()) == "RUNNING" {
			j.stopped = time.Now()
		}
		return nil
	})
}

// WasStopped implements jobs.StopTeller.
func (*service) WasStopped(output any) (stopped, known bool) {
	members, ok := output.(map[string]any)
	return members["State"] == "STOPPED", ok
}

// JobIDs implements jobs.Announcer.
func (*service) JobIDs(ref jobs.Ref) ([]string, error) { return []string{ref["Id"]}, nil }

// ReadEvent implements jobs.Announcer.
func (*service) ReadEvent(event map[string]any) (id string, ok bool) {
	detail, _ := event["detail"].(map[string]any)
	id, ok = detail["id"].(string)
	return id, ok
}

func (s *service) job(ref jobs.Ref) *job {
	var n int
	if _, err := fmt.Sscan(ref["Id"], &n); err != nil || n >= len(s.jobs) {
		panic(fmt.Sprintf("there is no job %q", ref["Id"]))
	}
	return &s.jobs[n]
}

func (s *service) state(j *job, now time.Time) string {
	switch {
	case !j.stopped.IsZero():
		return "STOPPED"
	case now.Sub(j.begun) >= s.life:
		return s.end
	default:
		return "RUNNING"
	}
}

// searchable is a service whose jobs have names by which they are found.
type searchable struct{ *service }

// Find implements jobs.Finder.
func (s searchable) Find(ctx context.Context, r jobs.Request) (ref jobs.Ref, found bool, err error) {
	found, err = call(ctx, "Find", serviceFaults, func() (bool, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.jobs) > 0 && s.jobs[0].token == r.Token, nil
	})
	return refOf(0), found, err
}
