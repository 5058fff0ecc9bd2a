// Package handlertest runs your driver, with its waiter, in the shipped loop of
// run-job and check-status. It runs in virtual time, and once more for each call at
// which a function can die. Package jobstest tests what one driver does; this package
// tests what the loop makes of it.
//
//	handlertest.Run(t, handlertest.Case{
//		Request: `{"job": "shop:Report", "maxWaitSeconds": 3600}`,
//		Driver:  func(w *handlertest.World) jobs.Driver { return newReport(newShop(w.Now)) },
//	}).RequireSucceeded()
package handlertest

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"

	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/simtest"
)

// T is what handlertest needs of a *testing.T. Fatalf must not return.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
	Context() context.Context
}

// Case is a job of your driver in the loop.
type Case struct {
	// Request is the input of the execution, a JSON object: see handler.Request.
	Request string
	// Driver returns the driver, with a service of its own that has no jobs yet.
	// Each run has another.
	Driver func(w *World) jobs.Driver
	// Getenv returns the environment variables of the functions, for a driver that
	// World.NewDriver makes and whose service has the URL. Nil stands for none.
	Getenv func(endpoint string) map[string]string
	// Definition is a state machine that invokes the functions by the names that
	// the shipped ones have; empty is statemachines.LambdaPoller. The collector answers
	// its Tasks that wait for a callback.
	Definition string
}

// World is what the service of one run lives in: its virtual clock, which moves
// from poll to poll.
type World struct {
	*sim.Clock

	t         T
	getenv    func(endpoint string) map[string]string
	closers   []func()
	services  []jobstest.Service
	collector *localloop.Collector
}

// Announce sends the collector an event of EventBridge.
func (w *World) Announce(event map[string]any) {
	w.t.Helper()
	if err := w.collector.Announce(event, 0); err != nil {
		w.t.Fatalf("handlertest: %v", err)
	}
}

// NewDriver makes a driver whose calls reach the service over HTTP until the run
// ends. The service counts the jobs, so that Run sees each that is one too many.
func (w *World) NewDriver(maker jobs.Maker, service jobstest.Service) jobs.Driver {
	w.t.Helper()
	server := httptest.NewServer(service)
	client := &http.Client{Transport: &http.Transport{}}
	w.closers = append(w.closers, client.CloseIdleConnections, server.Close)
	var variables map[string]string
	if w.getenv != nil {
		variables = w.getenv(server.URL)
	}
	driver, err := maker(jobstest.Environment(server.URL, client, func(name string) string { return variables[name] }))
	if err != nil {
		w.t.Fatalf("handlertest: cannot make the driver: %v", err)
	}
	w.services = append(w.services, service)
	return driver
}

// starts counts the jobs that the services of the run have started.
func (w *World) starts() int {
	n := 0
	for _, service := range w.services {
		n += service.Starts()
	}
	return n
}

func (w *World) close() {
	for _, end := range w.closers {
		end()
	}
}

// maxCalls bounds the calls of the run without a crash, for each has two more runs.
const maxCalls = 200

// Run runs the loop to its end, and returns that run. Then it runs the loop again
// for each call of the store and the driver: a function dies before the call's
// effect, and in another run after it, when the answer is lost; the state machine
// retries it. Run fails the test if such a run starts a second job, or does not end
// as the first did. Where a second start cannot be avoided by other means, an end
// as JobPoller.JobStartUnknown is right: see [jobs.Idempotency].
//
// Run tells jobs apart by the references that Start returns. A driver whose one Start
// starts two jobs and returns one reference, or the same reference for another job, is
// seen only if it is made by [World.NewDriver].
func Run(t T, c Case) *simtest.Run {
	t.Helper()
	if c.Definition == "" {
		c.Definition = statemachines.LambdaPoller()
	}
	calm := c.run(t, crash{})
	if calm.Error == handler.ErrorServiceUnavailable { // after the last retry, so a crash ends it otherwise
		t.Fatalf("handlertest: the loop gives up even without a crash, with %s: %s\n%s", calm.Error, calm.Cause, calm.lastCalls())
	}
	if problem := calm.findSecondJob(); problem != "" {
		t.Fatalf("handlertest: even without a crash, %s\n%s", problem, calm.lastCalls())
	}
	if n := len(calm.calls); n > maxCalls {
		t.Fatalf("handlertest: the loop makes %d calls, and handlertest tries at most %d: let the job end sooner, or poll it less often", n, maxCalls)
	}
	var wrong []failure
	runs := 0
	for n := range calm.calls {
		for _, moment := range []moment{beforeCall, afterCall} {
			runs++
			crashed := c.run(t, crash{n + 1, moment})
			if problem := crashed.compare(calm); problem != "" {
				wrong = append(wrong, failure{crashed, problem})
			}
		}
	}
	if len(wrong) > 0 {
		t.Fatalf("%s", describe(wrong, runs))
	}
	return calm.Run
}

// outcome is a run and the calls that it made.
type outcome struct {
	*simtest.Run
	*journal
}

// run runs the loop once.
func (c Case) run(t T, at crash) outcome {
	t.Helper()
	w := &World{Clock: sim.NewVirtualClock(sim.DefaultStart()), t: t, getenv: c.Getenv}
	w.collector = localloop.NewCollector(w.Clock, 10)
	w.closers = append(w.closers, func() { _ = w.collector.Close() }) // it has nothing that can fail
	defer w.close()
	driver := c.Driver(w)
	if driver == nil {
		t.Fatalf("handlertest: Case.Driver returned no driver")
	}
	j := &journal{t: t, clock: w.Clock, crash: at, protection: driver.Idempotency(jobs.Request{Arguments: c.arguments()})}
	registry, err := jobs.NewRegistry(localloop.AroundDriver(driver, j.around))
	if err != nil {
		t.Fatalf("handlertest: %v", err)
	}
	h, err := handler.New(handler.Config{
		Store: localloop.AroundStore(memstore.New(w.Now), j.around), Jobs: registry, Now: w.Now, NoDwell: true, Queue: w.collector, Tasks: w.collector,
		Random: rand.New(rand.NewPCG(1, 1)).Int64N, //nolint:gosec // jitter, the same in each run
	})
	if err != nil {
		t.Fatalf("handlertest: %v", err)
	}
	s := simtest.New(t, c.Definition)
	w.collector.Start(j.collect(h.Collect))
	s.Options.Clock, s.Options.Handlers = w.Clock, localloop.Handlers(j.functions(localloop.Functions(h)))
	invoke := "arn:aws:states:::lambda:invoke"
	s.Options.Handlers[invoke+".waitForTaskToken"] = w.collector.Handler(s.Options.Handlers[invoke])
	run := s.Run(c.Request)
	j.starts = w.starts()
	return outcome{run, j}
}

// arguments are those of the request; what is wrong with it is for RunJob to say.
func (c Case) arguments() json.RawMessage {
	var request struct {
		Arguments json.RawMessage `json:"arguments"`
	}
	_ = json.Unmarshal([]byte(c.Request), &request)
	return request.Arguments
}
