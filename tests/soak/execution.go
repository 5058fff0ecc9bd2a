package soak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
)

const (
	// maxWait is the deadline of the jobs.
	maxWait = 10 * time.Minute
	// maxRedrives ends an execution that does not come to an end.
	maxRedrives = 200
	// duplicates is how many invocations of RunJob are sent twice at once.
	duplicates = 0.3
)

// execution is a state machine with as many retries as the shipped definition
// has, or fewer, redriven whenever they are used up.
type execution struct {
	*handler.Handler

	options Options
	arn     string
	begun   time.Time
	class   class
	place   Place
	service *service
	counts  *Counts
	random  *rand.Rand

	redrives []time.Time

	mu  sync.Mutex
	ids map[string]bool // of the jobs that invocations returned
}

// class is how a job is protected from being started twice.
type class struct {
	jobs.Idempotency

	name string
}

var classes = []class{
	{jobs.Idempotency{Class: jobs.ByToken}, "token"},
	// Long enough for one takeover.
	{jobs.Idempotency{Class: jobs.ByToken, Window: 3 * time.Minute}, "forgetful token"},
	{jobs.Idempotency{Class: jobs.ByNaturalKey}, "naturalKey"},
	{jobs.Idempotency{Class: jobs.NoProtection}, "none"},
}

func (c class) String() string { return c.name }

func newExecution(o Options, name string, n int, place Place, counts *Counts) (*execution, error) {
	random := rand.New(rand.NewPCG(o.Seed, uint64(n)+1<<32)) //nolint:gosec // repeatable by design
	e := &execution{
		options: o, arn: "arn:aws:states:us-east-1:123456789012:execution:Soak:" + name,
		begun: place.Clock.Now().UTC().Truncate(time.Millisecond), class: classes[n%len(classes)],
		place: place, counts: counts, random: random, ids: map[string]bool{},
	}
	e.class.Window = o.scale(e.class.Window)
	// One in four jobs may well outlive its deadline.
	life := []int{400, 400, 400, 1000}[random.IntN(4)]
	e.service = &service{
		idempotency: e.class.Idempotency, clock: place.Clock, counts: counts, random: rand.New(rand.NewPCG(o.Seed, uint64(n)+2<<32)), //nolint:gosec // as above
		life: o.scale(time.Duration(random.IntN(life)) * time.Second), end: []string{"DONE", "DONE", "BROKEN", ""}[random.IntN(4)],
	}
	var driver jobs.Driver = e.service
	if e.class.Class == jobs.ByNaturalKey {
		driver = searchable{e.service}
	}
	registry, err := jobs.NewRegistry(localloop.AroundDriver(driver, mortal))
	if err != nil {
		return nil, err
	}
	e.Handler, err = handler.New(handler.Config{
		Store: localloop.AroundStore(place.Store, mortal), Jobs: registry, Now: place.Clock.Now, Random: random.Int64N, NoDwell: true, LeaseMargin: o.LeaseMargin,
	})
	return e, err
}

func (o Options) scale(d time.Duration) time.Duration { return time.Duration(float64(d) * o.Pace) }

// run starts the job, polls it to its end, and compares that with the truth.
func (e *execution) run(ctx context.Context) {
	e.counts.Add("executions")
	class := e.class.name
	if !e.repeat(ctx, e.RunJob, true, func(result *handler.Result, name string) bool {
		return result != nil || name == handler.ErrorJobStartUnknown
	}) {
		e.counts.Violate("%s (%s) did not get its job started", e.arn, class)
		return
	}
	if len(e.ids) == 0 {
		e.counts.Add("ended " + class + ": JobStartUnknown")
		e.verifyUnknown(ctx)
		return
	}
	var last *handler.Result
	if !e.repeat(ctx, e.CheckStatus, false, func(result *handler.Result, _ string) bool {
		if result != nil && result.Status == pollcore.Running {
			e.wait(time.Duration(max(1, result.WaitSeconds)) * time.Second)
			return false
		}
		last = result
		return result != nil
	}) {
		e.counts.Violate("%s (%s) did not come to an end", e.arn, class)
		return
	}
	e.counts.Add("ended " + class + ": " + string(last.Status))
	e.verify(ctx, last)
}

// repeat invokes a handler until done says so, with the retries and redrives of
// the state machine.
func (e *execution) repeat(ctx context.Context, function lambdaFunction, mayDouble bool, done func(result *handler.Result, name string) bool) bool {
	for range maxRedrives {
		transient, inProgress, retries := 0, 0, 1+e.random.IntN(6)
		for transient < retries && inProgress < 15 {
			twice := mayDouble && e.random.Float64() < duplicates
			result, name := e.invoke(ctx, function, twice)
			if done(result, name) {
				return true
			}
			switch {
			case result != nil: // it runs
				transient, inProgress = 0, 0
			case name == handler.ErrorJobStartInProgress:
				inProgress++
				e.wait(5 * time.Second)
			default:
				e.wait(2 * time.Second << transient)
				transient++
			}
		}
		e.redrives = append(e.redrives, e.place.Clock.Now())
		e.counts.Add("redrives")
	}
	return false
}

func (e *execution) wait(d time.Duration) { e.place.Clock.Wait(e.options.scale(d)) }

type lambdaFunction = func(context.Context, json.RawMessage) (*handler.Result, error)

// invoke sends one invocation, or two at once, where the first counts, and
// returns its result or the name of its error.
func (e *execution) invoke(ctx context.Context, function lambdaFunction, twice bool) (result *handler.Result, name string) {
	payload := e.payload()
	deaths := []death{e.death()}
	if twice {
		deaths = append(deaths, e.death())
		e.counts.Add("invocations sent twice at once")
	}
	results, names := make([]*handler.Result, len(deaths)), make([]string, len(deaths))
	var both sync.WaitGroup
	for i, d := range deaths {
		both.Go(func() {
			results[i], names[i] = e.invokeOnce(d.in(ctx), function, payload)
		})
	}
	both.Wait()
	return results[0], names[0]
}

func (e *execution) invokeOnce(ctx context.Context, function lambdaFunction, payload json.RawMessage) (result *handler.Result, name string) {
	e.counts.Add("invocations")
	// An invocation without a limit has the poller's own.
	if e.options.Invocation > 0 {
		limited, cancel := context.WithTimeout(ctx, e.options.Invocation)
		defer cancel()
		ctx = limited
	}
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(killed); !ok {
				panic(p)
			}
			e.counts.Add("invocations that died")
			result, name = nil, "killed"
		}
	}()
	result, err := function(ctx, payload)
	if failure, ok := errors.AsType[messages.InvokeResponse_Error](err); ok {
		e.counts.Add("error " + failure.Type)
		switch failure.Type {
		case handler.ErrorStoreUnavailable, handler.ErrorServiceUnavailable, handler.ErrorJobStartInProgress, handler.ErrorJobStartUnknown, handler.ErrorFailed:
		default:
			e.counts.Violate("%s (%s): %s: %s", e.arn, e.class, failure.Type, failure.Message)
		}
		return nil, failure.Type
	}
	if err != nil {
		e.counts.Violate("%s (%s): an error without a name: %v", e.arn, e.class, err)
		return nil, "unnamed"
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ids[result.Job["Id"]] = true
	return result, ""
}

// death draws whether and when an invocation dies.
func (e *execution) death() death {
	if e.random.Float64() >= faultShare {
		return death{}
	}
	return death{1 + e.random.IntN(4), moment(e.random.IntN(2))}
}

// payload is what the state machine sends.
func (e *execution) payload() json.RawMessage {
	redrive := ""
	if n := len(e.redrives); n > 0 {
		redrive = fmt.Sprintf(`, "RedriveCount": %d, "RedriveTime": %q`, n, e.redrives[n-1].UTC().Format(time.RFC3339Nano))
	}
	return json.RawMessage(fmt.Sprintf(`{"Execution": {"Id": %q, "StartTime": %q, "Input": {"job": %q, "maxWaitSeconds": %d}%s}}`,
		e.arn, e.begun.Format(time.RFC3339Nano), jobName, int(e.options.scale(maxWait)/time.Second), redrive))
}

// verify compares an end with the truth, and asks again for it.
func (e *execution) verify(ctx context.Context, last *handler.Result) {
	e.service.calmDown()
	started, job, state := e.service.truth()
	report := func(format string, args ...any) {
		e.counts.Violate("%s (%s): "+format, append([]any{e.arn, e.class}, args...)...)
	}
	if started != 1 {
		report("%d jobs were started", started)
	}
	if len(e.ids) != 1 {
		report("%d jobs were returned", len(e.ids))
	}
	// Stopped, or by itself while it was being stopped: both are time-outs.
	ended := job.begun.Add(e.service.life)
	if state == "STOPPED" {
		ended = job.stopped
	}
	deadline, latest := e.deadline(last.StartedAt, ended)
	timedOut := last.Status == pollcore.TimedOut
	switch right := map[pollcore.Status]string{pollcore.Succeeded: "DONE", pollcore.Failed: "BROKEN"}[last.Status]; {
	case last.Status == pollcore.Failed && state == "STOPPED" && !latest && strings.Contains(last.Reason, stopRequested):
		// Nobody knew that the stop of an earlier wait had been taken.
		e.counts.Add("stops of an earlier wait")
	case !timedOut && state != right, timedOut && state == "RUNNING":
		report("it ended as %s (%s), but the job is %s", last.Status, last.Reason, state)
	case timedOut && ended.Before(deadline), state == "STOPPED" && ended.Before(deadline):
		report("it ended as %s (%s) with the job %s at %s, which had until %s", last.Status, last.Reason, state, ended, deadline)
	}
	for what, function := range map[string]lambdaFunction{"check": e.CheckStatus, "start": e.RunJob} {
		again, name := e.calm(ctx, function)
		if again == nil {
			report("another %s after the end gave %s", what, name)
			continue
		}
		first, _ := json.Marshal(last)   //nolint:errchkjson // results are JSON
		second, _ := json.Marshal(again) //nolint:errchkjson // as above
		if string(first) != string(second) {
			report("the end changed from %s to %s", first, second)
		}
	}
	if started, _, _ := e.service.truth(); started != 1 {
		report("%d jobs were started by asking again", started)
	}
}

// deadline is that of the wait in which something happened, and whether it is the
// last wait.
func (e *execution) deadline(startedAt, happened time.Time) (deadline time.Time, last bool) {
	since, last := startedAt, true
	for _, redriven := range e.redrives {
		if last = redriven.Before(happened); last && redriven.After(since) {
			since = redriven
		}
	}
	return since.Add(e.options.scale(maxWait)), last
}

// verifyUnknown holds a poller that gave up to its word: at most one job, only
// where nothing protects it for good, and the same answer again.
func (e *execution) verifyUnknown(ctx context.Context) {
	e.service.calmDown()
	if e.class.Class != jobs.NoProtection && e.class.Window == 0 {
		e.counts.Violate("%s (%s): it gave up, although the job is protected", e.arn, e.class)
	}
	result, name := e.calm(ctx, e.RunJob)
	for tries := 0; (name == handler.ErrorJobStartInProgress || name == handler.ErrorStoreUnavailable) && tries < 100; tries++ {
		// The invocation that gave up could not write that it did, or the store was too slow.
		e.wait(5 * time.Second)
		result, name = e.calm(ctx, e.RunJob)
	}
	if started, _, _ := e.service.truth(); started > 1 {
		e.counts.Violate("%s (%s): %d jobs were started", e.arn, e.class, started)
	}
	// An invocation that was thought dead may have recorded its job by now.
	if result == nil && name != handler.ErrorJobStartUnknown {
		e.counts.Violate("%s (%s): after JobStartUnknown came %s", e.arn, e.class, name)
	}
}

// calm invokes a handler that does not die until its store answers.
func (e *execution) calm(ctx context.Context, function lambdaFunction) (result *handler.Result, name string) {
	for range 20 {
		if result, name = e.invokeOnce(ctx, function, e.payload()); name != handler.ErrorStoreUnavailable {
			break
		}
	}
	return result, name
}
