package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/access"
)

// jobName is the job that all executions ask for.
const jobName = "soak:Job"

var waiter = pollcore.MustNew("JobDone",
	pollcore.Succeed(pollcore.Output("State").Is("DONE")),
	pollcore.FailWithMessage(pollcore.Output("State").Is("BROKEN"), "Why"),
	pollcore.Fail(pollcore.Output("State").Is("STOPPED")),
	pollcore.Delay(5*time.Second, time.Minute))

// The errors of calls.
var (
	errLost      = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	errThrottled = &smithy.GenericAPIError{Code: "ThrottlingException", Message: "slow down", Fault: smithy.FaultClient}
	errRefused   = &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "not for you", Fault: smithy.FaultClient}
)

// service runs the jobs of one execution, and is their driver.
type service struct {
	idempotency jobs.Idempotency

	clock  Clock
	counts *Counts
	// life is how long a job works, and end its State then; a job whose end
	// is empty works for ever.
	life time.Duration
	end  string

	mu     sync.Mutex
	random *rand.Rand
	calm   bool // no more faults
	jobs   []job
}

type job struct {
	token   string
	begun   time.Time
	stopped time.Time // zero: not stopped
}

var (
	_ jobs.Driver  = (*service)(nil)
	_ jobs.Stopper = (*service)(nil)
	_ jobs.Finder  = searchable{}
)

func (*service) Name() string                                { return jobName }
func (*service) Waiter() *pollcore.Waiter                    { return waiter }
func (*service) Permissions() []access.Permission            { return nil }
func (s *service) Idempotency(jobs.Request) jobs.Idempotency { return s.idempotency }

func (s *service) Start(_ context.Context, r jobs.Request) (ref jobs.Ref, err error) {
	err = s.call("start", true, func() { ref = s.start(r.Token) })
	return ref, err
}

func (s *service) Describe(_ context.Context, ref jobs.Ref) (output any, err error) {
	err = s.call("describe", false, func() {
		var n int
		if _, err := fmt.Sscanf(ref["Id"], "job-%d", &n); err == nil && n < len(s.jobs) {
			output = map[string]any{"State": s.state(s.jobs[n], s.clock.Now()), "Id": ref["Id"]}
		}
	})
	return output, err
}

func (s *service) Stop(_ context.Context, ref jobs.Ref) error {
	return s.call("stop", false, func() {
		var n int
		if _, err := fmt.Sscanf(ref["Id"], "job-%d", &n); err == nil && n < len(s.jobs) && s.state(s.jobs[n], s.clock.Now()) == "RUNNING" {
			s.jobs[n].stopped = s.clock.Now()
		}
	})
}

// searchable is a service whose jobs have natural keys.
type searchable struct{ *service }

// Find implements jobs.Finder.
func (s searchable) Find(_ context.Context, r jobs.Request) (ref jobs.Ref, found bool, err error) {
	err = s.call("find", false, func() {
		for n, j := range s.jobs {
			if j.token == r.Token {
				ref, found = s.ref(n), true
				return
			}
		}
	})
	return ref, found && err == nil, err
}

// call carries out one call, or has it fail before or after its effect.
func (s *service) call(name string, refusable bool, effect func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Add("calls of the job service")
	draw := s.random.Float64()
	if s.calm || draw >= faultShare {
		effect()
		return nil
	}
	switch kind := s.random.IntN(8); {
	case kind < 3:
		s.counts.Add("fault: " + name + " lost before its effect")
		return errLost
	case kind < 6:
		effect()
		if name == "start" && s.mayHide() && kind == 5 {
			// The client has sent the request again, and tells of that one.
			s.counts.Add("fault: start done, answer lost, then refused")
			return errRefused
		}
		s.counts.Add("fault: " + name + " done, answer lost")
		return errLost
	case kind == 6 && refusable:
		s.counts.Add("fault: " + name + " refused")
		return errRefused
	default:
		s.counts.Add("fault: " + name + " throttled")
		return errThrottled
	}
}

// mayHide tells whether the client may repeat a start: a second one does no harm
// as long as its token is remembered.
func (s *service) mayHide() bool {
	return s.idempotency.Class == jobs.ByToken && s.idempotency.Window == 0
}

// start begins a job, or returns that of a token that is remembered.
func (s *service) start(token string) jobs.Ref {
	if s.idempotency.Class == jobs.ByToken {
		for n, j := range s.jobs {
			remembered := s.idempotency.Window == 0 || s.clock.Now().Sub(j.begun) < s.idempotency.Window
			if j.token == token && remembered {
				return s.ref(n)
			}
		}
	}
	s.jobs = append(s.jobs, job{token: token, begun: s.clock.Now()})
	return s.ref(len(s.jobs) - 1)
}

func (*service) ref(n int) jobs.Ref { return jobs.Ref{"Id": fmt.Sprintf("job-%d", n)} }

// state is the truth about a job.
func (s *service) state(j job, now time.Time) string {
	switch {
	case !j.stopped.IsZero():
		return "STOPPED"
	case s.end != "" && now.Sub(j.begun) >= s.life:
		return s.end
	default:
		return "RUNNING"
	}
}

// truth returns the jobs there are, and the state of the first.
func (s *service) truth() (started int, first job, state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.jobs) == 0 {
		return 0, job{}, ""
	}
	return len(s.jobs), s.jobs[0], s.state(s.jobs[0], s.clock.Now())
}

// calmDown ends the faults.
func (s *service) calmDown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calm = true
}
