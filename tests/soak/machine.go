package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/startrecordtest"
)

// model is one execution whose invocations run an operation at a time: the state
// machine around them, and the truth that they are held to.
type model struct {
	execution

	store    *operations
	records  *startrecordtest.Expiring
	clock    *virtual
	handlers []*handler.Handler // with clocks that differ
	skew     time.Duration
	maxWait  time.Duration
	minDelay time.Duration
	leave    bool
	name     string

	active []*invocation
	// The state machine: polling or starting, until when it waits, and whether its
	// invocation is under way or it has ended.
	polling   bool
	wakeAt    time.Time
	busy      bool
	over      bool
	retries   int
	result    *handler.Result // the last of CheckStatus
	first     *handler.Result // the first end that was reported
	firstWait int             // the redrives there were then
}

// stopRequested is in the reason of a job that a check was about to stop.
const stopRequested = "a stop was requested at"

// waits are the longest waits of requests, with their delays.
var waits = []struct{ maxWait, minDelay time.Duration }{
	{2 * time.Minute, 5 * time.Second},
	{10 * time.Minute, 5 * time.Second},
	{5 * time.Hour, 10 * time.Minute},
	{3 * day, 3 * time.Hour},
	{40 * day, 2 * day},
	{45*day + 23*time.Hour, 5 * day},
}

func newModel(o ModelOptions, n int, counts *Counts) (*model, error) {
	random := rand.New(rand.NewPCG(o.Seed, uint64(n))) //nolint:gosec // repeatable by design
	clock := &virtual{now: time.Date(2026, 11, 20, 9, 30, 14, 0, time.UTC)}
	expiry := o.Expiry
	if expiry == nil {
		expiry = []startrecordtest.Expiry{startrecordtest.ByAge(retention), startrecordtest.ByAttribute}[n%2]
	}
	records := startrecordtest.NewExpiring(clock.Now, expiry)
	var store startrecord.Store = records
	if o.Wrap != nil {
		store = o.Wrap(store)
	}
	wait := waits[random.IntN(len(waits))]
	m := &model{
		records: records, clock: clock, maxWait: wait.maxWait, minDelay: wait.minDelay, leave: random.IntN(3) == 0,
		store: &operations{Store: store, random: random, counts: counts},
		name:  fmt.Sprintf("seed %d, execution %d", o.Seed, n),
	}
	m.execution = execution{
		options: Options{Pace: 1}, arn: fmt.Sprintf("arn:aws:states:us-east-1:123456789012:execution:Model:run-%d", n),
		begun: clock.Now(), class: classes[n/2%len(classes)], place: Place{Store: m.store, Clock: clock},
		counts: counts, random: random, ids: map[string]bool{},
	}
	if m.class.Window == 0 && random.IntN(2) == 0 {
		// The windows of tokens are counted on the functions' clocks.
		m.skew = maxSkew
	}
	m.service = &service{
		idempotency: m.class.Idempotency, clock: clock, counts: counts, random: random,
		life: time.Duration(random.Int64N(int64(wait.maxWait + wait.maxWait/2))), end: []string{"DONE", "DONE", "BROKEN", ""}[random.IntN(4)],
	}
	if random.IntN(3) == 0 { // right at the deadline
		m.service.life = wait.maxWait - time.Duration(random.Int64N(int64(10*time.Second)))
	}
	var driver jobs.Driver = m.service
	if m.class.Class == jobs.ByNaturalKey {
		driver = searchable{m.service}
	}
	registry, err := jobs.NewRegistry(localloop.AroundDriver(driver, mortal))
	if err != nil {
		return nil, err
	}
	for _, skew := range []time.Duration{-m.skew, 0, m.skew} {
		handlers, err := handler.New(handler.Config{
			Store: localloop.AroundStore(m.store, mortal), Jobs: registry, Random: random.Int64N, NoDwell: true,
			Now: func() time.Time { return clock.Now().Add(skew) },
		})
		if err != nil {
			return nil, err
		}
		m.handlers = append(m.handlers, handlers)
	}
	m.Handler = m.handlers[1]
	return m, nil
}

// run takes the execution from its start to its last end, within a year.
func (m *model) run(ctx context.Context) {
	m.counts.Add("executions")
	year := m.begun.Add(365 * day)
	for !m.over && m.clock.Now().Before(year) && len(m.counts.Violations()) == 0 {
		switch {
		case len(m.active) > 0 && m.random.Float64() < 0.9:
			inv := m.active[m.random.IntN(len(m.active))]
			m.step(inv, m.mustDie(inv))
		case m.busy:
			m.pass()
		case m.clock.Now().Before(m.wakeAt) && len(m.active) == 0:
			m.clock.Wait(m.wakeAt.Sub(m.clock.Now()))
		case m.clock.Now().Before(m.wakeAt):
			m.pass()
		default:
			m.call(ctx)
		}
		if started, _, _ := m.service.truth(); started > 1 {
			m.violation("%d jobs were started", started)
		}
	}
	for len(m.active) > 0 {
		m.step(m.active[0], true)
	}
	m.judge(ctx)
}

func (m *model) violation(format string, args ...any) {
	m.counts.Violate("%s (%s, wait %s, skew %s, %d redrives): %s", m.name, m.class, m.maxWait, m.skew, len(m.redrives), fmt.Sprintf(format, args...))
}

// call sends the machine's invocation, and at times others of either handler with the
// same event: Lambda delivers some twice.
func (m *model) call(ctx context.Context) {
	m.busy = true
	payload := m.event()
	m.invokeModel(ctx, m.polling, payload, m.next)
	for len(m.active) < 4 && m.random.Float64() < duplicates {
		m.counts.Add("invocations sent twice")
		m.invokeModel(ctx, m.polling, payload, func(*handler.Result, string) {})
	}
}

func (m *model) invokeModel(ctx context.Context, polling bool, payload json.RawMessage, end func(*handler.Result, string)) {
	p := m.handlers[m.random.IntN(len(m.handlers))]
	function := p.RunJob
	if polling {
		function = p.CheckStatus
	}
	waits := len(m.redrives)
	var result *handler.Result
	var name string
	m.start(ctx,
		func(ctx context.Context) { result, name = m.invokeOnce(ctx, function, payload) },
		func() {
			m.hold(result, waits)
			end(result, name)
		})
}

// next is what the machine does with the end of its invocation.
func (m *model) next(result *handler.Result, name string) {
	m.busy = false
	now := m.clock.Now()
	const retry = 2 * time.Second
	switch {
	case m.random.Float64() < 0.01:
		m.counts.Add("aborts")
		m.endExecution()
	case result == nil && name == handler.ErrorJobStartInProgress:
		m.wakeAt = now.Add(20 * time.Second)
	case result == nil && m.retries < 6 && name != handler.ErrorJobStartUnknown && name != handler.ErrorFailed:
		m.retries++
		m.wakeAt = now.Add(retry << m.retries)
	case result == nil:
		if name == handler.ErrorJobStartUnknown && (m.class.Class == jobs.ByNaturalKey || m.class.Class == jobs.ByToken && m.class.Window == 0) {
			m.violation("it gave up, although the job is protected")
		}
		m.endExecution()
	case result.Status == pollcore.Running:
		m.polling, m.retries = true, 0
		m.wakeAt = now.Add(time.Duration(max(1, result.WaitSeconds)) * time.Second)
	default:
		m.result = result
		m.endExecution()
	}
}

// endExecution ends the execution, which may be redriven within 14 days, at the last
// moment as often as not. A redrive goes on from the state that failed.
func (m *model) endExecution() {
	m.retries = 0
	again := 0.9
	if m.result != nil && m.result.Status != pollcore.TimedOut {
		again = 0.3 // another state has failed
	}
	if m.random.Float64() >= again {
		m.over = true
		return
	}
	d := time.Duration(m.random.Int64N(int64(redriveWindow)))
	if m.random.IntN(2) == 0 {
		d = redriveWindow - time.Hour
	}
	m.wakeAt = m.clock.Now().Add(d)
	m.redrives = append(m.redrives, m.wakeAt)
	m.counts.Add("redrives")
}

// event is what the machine sends.
func (m *model) event() json.RawMessage {
	redrive, onTimeout := "", ""
	if n := len(m.redrives); n > 0 {
		redrive = fmt.Sprintf(`, "RedriveCount": %d, "RedriveTime": %q`, n, m.redrives[n-1].UTC().Format(time.RFC3339Nano))
	}
	if m.leave {
		onTimeout = `, "onTimeout": "leave"`
	}
	return json.RawMessage(fmt.Sprintf(`{"Execution": {"Id": %q, "StartTime": %q, "Input": {"job": %q, "maxWaitSeconds": %d, "minDelay": %d%s}%s}}`,
		m.arn, m.begun.Format(time.RFC3339Nano), jobName, int(m.maxWait/time.Second), int(m.minDelay/time.Second), onTimeout, redrive))
}

// hold compares a result with the truth, and with the end that was reported before.
func (m *model) hold(result *handler.Result, waits int) {
	if result == nil || result.Status == pollcore.Running {
		return
	}
	if len(m.ids) > 1 {
		m.violation("%d jobs were returned", len(m.ids))
	}
	_, job, state := m.service.truth()
	ended := job.begun.Add(m.service.life)
	if state == "STOPPED" {
		ended = job.stopped
	}
	right := map[pollcore.Status]string{pollcore.Succeeded: "DONE", pollcore.Failed: "BROKEN"}[result.Status]
	switch {
	case result.Status == pollcore.TimedOut:
		deadline := m.deadlineOf(result, waits)
		if state == "STOPPED" || strings.Contains(result.Reason, stopRequested) { // for good, whichever wait it was in
			deadline = m.deadlineAt(result.StartedAt, ended)
		}
		if deadline = deadline.Add(-m.skew); state != "RUNNING" && ended.Before(deadline) {
			m.violation("it timed out (%s), but the job was %s at %s, which had until %s", result.Reason, state, ended, deadline)
		}
	case result.Status == pollcore.Failed && state == "STOPPED" && strings.Contains(result.Reason, stopRequested):
		m.counts.Add("stops of an earlier wait")
	case state != right:
		m.violation("it ended as %s (%s), but the job is %s", result.Status, result.Reason, state)
	}
	if m.first == nil || m.first.Status == pollcore.TimedOut && waits > m.firstWait {
		m.first, m.firstWait = result, waits
		m.counts.Add("ended " + m.class.name + ": " + string(result.Status))
		return
	}
	if waits < m.firstWait { // a stray of an earlier wait
		return
	}
	if was, is := text(m.first), text(result); was != is {
		m.violation("the end changed from %s to %s", was, is)
	}
}

// deadlineOf is the deadline of the wait in which a result was given, on the clock
// that the start was noted by.
func (m *model) deadlineOf(result *handler.Result, waits int) time.Time {
	since := result.StartedAt
	for i, redriven := range m.redrives {
		// A result that is replayed may be of any wait: the earliest is safe.
		if i < min(waits, m.firstWaitOf(result)) && redriven.After(since) {
			since = redriven
		}
	}
	return since.Add(m.maxWait)
}

// deadlineAt is the deadline of the wait in which something happened.
func (m *model) deadlineAt(startedAt, happened time.Time) time.Time {
	since := startedAt
	for _, redriven := range m.redrives {
		if redriven.After(since) && !redriven.After(happened) {
			since = redriven
		}
	}
	return since.Add(m.maxWait)
}

// firstWaitOf is the wait that a result belongs to, as far as that is known.
func (m *model) firstWaitOf(result *handler.Result) int {
	if m.first != nil && text(m.first) == text(result) {
		return m.firstWait
	}
	return len(m.redrives)
}

func text(result *handler.Result) string {
	out, _ := json.Marshal(result) //nolint:errchkjson // results are JSON
	return string(out)
}

// judge asks for the end once more, when all is calm.
func (m *model) judge(ctx context.Context) {
	if len(m.counts.Violations()) > 0 {
		return
	}
	m.service.calmDown()
	m.store.calm = true
	m.clock.Wait(2 * time.Minute) // leases end
	if m.first == nil && m.result == nil {
		m.counts.Add("closed without an end")
		result, name := m.invokeOnce(ctx, m.RunJob, m.event())
		if result == nil && name != handler.ErrorJobStartUnknown {
			m.violation("another start gave %s", name)
		}
	} else if result, name := m.invokeOnce(ctx, m.CheckStatus, m.event()); result == nil {
		m.violation("another check after the end gave %s", name)
	} else {
		m.hold(result, len(m.redrives))
	}
	if started, _, _ := m.service.truth(); started > 1 {
		m.violation("%d jobs were started by asking again", started)
	}
	if m.records.Removals() > 0 {
		m.counts.Add("records that expired")
	}
}
