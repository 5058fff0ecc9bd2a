package handlertest_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/access"
)

// reports is a service that makes reports, and a driver of it.
type reports struct {
	now        func() time.Time
	lasts      time.Duration
	protection jobs.Idempotency
	forgetful  bool // of tokens
	once       bool // tells of an end once, and then knows the report no more

	started []report
	told    bool
}

type report struct {
	token   string
	at      time.Time
	stopped bool
}

var reportMade = pollcore.MustNew("ReportMade",
	pollcore.Succeed(pollcore.Output("Status").Is("MADE")),
	pollcore.Fail(pollcore.Output("Status").Is("GONE")),
	pollcore.Delay(3*time.Minute, 10*time.Minute))

func (*reports) Name() string                                { return "shop:Report" }
func (*reports) Waiter() *pollcore.Waiter                    { return reportMade }
func (*reports) Permissions() []access.Permission            { return nil }
func (s *reports) Idempotency(jobs.Request) jobs.Idempotency { return s.protection }

func (s *reports) Start(_ context.Context, r jobs.Request) (jobs.Ref, error) {
	if s.protection.Class == jobs.ByToken && !s.forgetful {
		if ref, found, _ := s.find(r.Token); found {
			return ref, nil
		}
	}
	s.started = append(s.started, report{token: r.Token, at: s.now()})
	return ref(len(s.started) - 1), nil
}

func ref(n int) jobs.Ref { return jobs.Ref{"Id": fmt.Sprintf("report-%d", n+1)} }

func (s *reports) Describe(_ context.Context, r jobs.Ref) (any, error) {
	for n, made := range s.started {
		switch {
		case ref(n)["Id"] != r["Id"]:
		case made.stopped, s.once && s.told:
			return map[string]any{"Status": "GONE"}, nil
		case s.now().Sub(made.at) < s.lasts:
			return map[string]any{"Status": "BUSY"}, nil
		default:
			s.told = true
			return map[string]any{"Status": "MADE", "Pages": 7}, nil
		}
	}
	return nil, errors.New("no such report")
}

func (s *reports) find(token string) (jobs.Ref, bool, error) {
	for n, r := range s.started {
		if r.token == token {
			return ref(n), true, nil
		}
	}
	return nil, false, nil
}

// stoppable are reports that can be stopped and found.
type stoppable struct{ *reports }

func (s stoppable) Stop(context.Context, jobs.Ref) error {
	for n := range s.started {
		s.started[n].stopped = true
	}
	return nil
}

func (s stoppable) Find(_ context.Context, r jobs.Request) (jobs.Ref, bool, error) {
	return s.find(r.Token)
}
