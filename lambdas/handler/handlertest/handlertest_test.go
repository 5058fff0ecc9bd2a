package handlertest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler/handlertest"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const request = `{"job": "shop:Report", "maxWaitSeconds": 3600}`

var byToken = jobs.Idempotency{Class: jobs.ByToken}

func of(change func(s *reports) jobs.Driver) func(*handlertest.World) jobs.Driver {
	return func(w *handlertest.World) jobs.Driver {
		return change(&reports{now: w.Now, lasts: 20 * time.Minute, protection: byToken})
	}
}

// Drivers that keep their promises run to their end, wherever a function dies.
func TestGoodDrivers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		driver func(s *reports) jobs.Driver
		err    string
	}{
		"by token": {func(s *reports) jobs.Driver { return s }, ""},
		"by token, for an hour": {func(s *reports) jobs.Driver {
			s.protection.Window = time.Hour
			return s
		}, ""},
		"by a natural key": {func(s *reports) jobs.Driver {
			s.protection.Class = jobs.ByNaturalKey
			return stoppable{s}
		}, ""},
		"unprotected": {func(s *reports) jobs.Driver {
			s.protection.Class = jobs.NoProtection
			return s
		}, ""},
		"stopped when its time is up": {func(s *reports) jobs.Driver {
			s.lasts = 2 * time.Hour
			return stoppable{s}
		}, "JobPoller.TimedOut"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := handlertest.Run(t, handlertest.Case{Request: request, Driver: of(test.driver)})
			require.Equal(t, test.err, run.Error, run.Cause)
		})
	}
}

// spy is a T that keeps what a test says when it fails.
type spy struct {
	testing.TB

	said string
}

var errFailed = errors.New("failed")

func (*spy) Helper()                    {}
func (s *spy) Context() context.Context { return s.TB.Context() }
func (s *spy) Fatalf(format string, args ...any) {
	s.said = fmt.Sprintf(format, args...)
	panic(errFailed)
}

// fail returns what a test of the driver says.
func fail(t *testing.T, c handlertest.Case) string {
	t.Helper()
	s := &spy{TB: t}
	require.PanicsWithValue(t, errFailed, func() { handlertest.Run(s, c) })
	return s.said
}

// A driver that breaks a promise is told at which call, and what came of it.
func TestBadDrivers(t *testing.T) {
	t.Parallel()
	require.Equal(t, `runjob dies after call 2 (Start): the job was started twice: {"Id":"report-1"} and {"Id":"report-2"}
The driver says that a token protects it: pass Request.Token to the service in Start, the same each time.
The calls of this run:
    1  0s        runjob       Create    done
>   2  0s        runjob       Start     started {"Id":"report-1"}, and the function dies
`, first(fail(t, handlertest.Case{Request: request, Driver: of(func(s *reports) jobs.Driver {
		s.forgetful = true
		return s
	})}), 5))

	lost := fail(t, handlertest.Case{Request: request, Driver: of(func(s *reports) jobs.Driver {
		s.once = true
		return s
	})})
	require.Regexp(t, `^checkstatus dies after call \d+ \(Describe\): the result was lost: the execution ended as FAILED with JobPoller.Failed
without the crash it ends as SUCCEEDED with the result SUCCEEDED of the job {"Id":"report-1"}: {"Pages":7,"Status":"MADE"}
cause: `, lost)
	require.Regexp(t, `\n2 of \d+ crashes go wrong\. The others: checkstatus dies before call \d+ \(Replace\)$`, lost)
}

// twice is a service that is asked for a report twice by one Start.
type twice struct {
	jobstest.Service // nil: its requests are the driver's own

	*reports
}

func (s twice) Starts() int { return len(s.started) }

func (s twice) ServeHTTP(http.ResponseWriter, *http.Request) {}

func (s twice) Start(ctx context.Context, r jobs.Request) (jobs.Ref, error) {
	first := r
	first.Token += "-first"
	if _, err := s.reports.Start(ctx, first); err != nil {
		return nil, err
	}
	return s.reports.Start(ctx, r)
}

// A job of which the driver says nothing is counted by the service.
func TestStartOfTwoJobs(t *testing.T) {
	t.Parallel()
	require.Regexp(t, `^handlertest: even without a crash, the service has started 2 jobs, and Start returned the reference of one: let Start send one request that starts a job
The last calls of this run:
`, fail(t, handlertest.Case{Request: request, Driver: func(w *handlertest.World) jobs.Driver {
		s := twice{reports: &reports{now: w.Now, lasts: 20 * time.Minute, protection: byToken}}
		return w.NewDriver(func(jobs.Environment) (jobs.Driver, error) { return s, nil }, s)
	}}))
}

// first returns the first lines of a text.
func first(text string, lines int) string {
	end := 0
	for i, c := range text {
		if c == '\n' {
			if lines--; lines == 0 {
				end = i + 1
			}
		}
	}
	return text[:end]
}

// starting is a driver whose start call is another.
type starting struct {
	*reports

	start func(ctx context.Context) (jobs.Ref, error)
}

func (s starting) Start(ctx context.Context, _ jobs.Request) (jobs.Ref, error) { return s.start(ctx) }

func startBy(start func(ctx context.Context) (jobs.Ref, error)) handlertest.Case {
	return handlertest.Case{Request: request, Driver: of(func(s *reports) jobs.Driver { return starting{s, start} })}
}

// A loop that cannot get to its end without a crash says why, and shows its calls.
func TestDriversThatFailWithoutACrash(t *testing.T) {
	t.Parallel()
	said := fail(t, startBy(func(context.Context) (jobs.Ref, error) { return jobs.Ref{}, nil }))
	require.Contains(t, said, "handlertest: the loop gives up even without a crash, with JobPoller.ServiceUnavailable: ")
	require.Contains(t, said, "shop:Report returned no reference to the job")
	require.Regexp(t, `\nThe last calls of this run:\n(.*\n){4}.* Start     started {}\n.* Replace   done$`, said)

	defer func() {
		require.Regexp(t, `^no printer\n(.*\n)*.*TestDriversThatFailWithoutACrash`, recover(), "the panic, and where it came from")
	}()
	handlertest.Run(t, startBy(func(context.Context) (jobs.Ref, error) { panic("no printer") }))
}

func TestDriverThatBlocks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		require.Equal(t, `handlertest: call 2 (Start) did not return within 10s. Time is virtual: let the service answer at once and read the time from World.Now
The last calls of this run:
    1  0s        runjob       Create    done
    2  0s        runjob       Start     does not return`, fail(t, startBy(func(ctx context.Context) (jobs.Ref, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})))
	})
}

func TestCasesThatCannotRun(t *testing.T) {
	t.Parallel()
	require.Regexp(t, "^handlertest: the loop makes [0-9]+ calls, and handlertest tries at most 200: let the job end sooner, or poll it less often$",
		fail(t, handlertest.Case{Request: `{"job": "shop:Report", "maxWaitSeconds": 86400, "minDelay": 60, "maxDelay": 60}`, Driver: of(func(s *reports) jobs.Driver {
			s.lasts = 24 * time.Hour
			return s
		})}))
	require.Contains(t, fail(t, handlertest.Case{Request: request, Definition: `{"StartAt": "None"}`, Driver: of(func(s *reports) jobs.Driver { return s })}), "definition: ")
	require.Contains(t, fail(t, handlertest.Case{Request: request, Driver: func(w *handlertest.World) jobs.Driver {
		return w.NewDriver(func(jobs.Environment) (jobs.Driver, error) { return nil, errors.New("no table") }, nil)
	}}), "make the driver: no table")
	require.Equal(t, "handlertest: Case.Driver returned no driver",
		fail(t, handlertest.Case{Request: request, Driver: func(*handlertest.World) jobs.Driver { return nil }}))
	require.Contains(t, fail(t, handlertest.Case{Request: request, Driver: func(w *handlertest.World) jobs.Driver {
		w.AfterFunc(time.Minute, func() { panic("out of reports") })
		return &reports{now: w.Now, lasts: time.Hour, protection: byToken}
	}}), "out of reports")
	require.Equal(t, sim.StatusFailed, handlertest.Run(t, handlertest.Case{Request: `{"job": "shop:Order"}`, Driver: of(func(s *reports) jobs.Driver { return s })}).Status)
}
