package serve

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jobpoller/jobpoller/internal/eventpost"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/server"
	"github.com/jobpoller/jobpoller/statemachines/server/control"
	"github.com/jobpoller/jobpoller/statemachines/server/throttle"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// follower follows what happens to the executions of a server: for the log, the streams
// of events, the server of --events-to, and the quota of transitions.
type follower struct {
	server  *server.Server
	log     *serveLog
	ring    *control.Ring
	poster  *eventpost.Poster // nil without --events-to
	limiter *throttle.Limiter // nil without --limits

	throttled atomic.Int64 // transitions that AWS would have delayed

	missed   lostEvents // by the follower
	unread   lostEvents // by clients of the streams
	unposted lostEvents // by the server of --events-to
}

func newFollower(log *serveLog) *follower {
	return &follower{
		log: log, ring: control.NewRing(),
		missed:   lostEvents{log: log, text: "%d events are missing here and in the streams of events: %v"},
		unread:   lostEvents{log: log, text: "a client of the stream of events lost %s: %v"},
		unposted: lostEvents{log: log, text: "--events-to lost %s: %v"},
	}
}

const (
	// notices is how many events wait for the follower; a burst of 10,000 executions has
	// some 50,000.
	notices = 1 << 17
	// changes is how many changes of a status wait.
	changes = 1 << 14
)

var (
	errTooMuch = errors.New("too much happened at once")
	errTooSlow = errors.New("it was too slow, or away")
)

// begin follows until ctx ends, and then what has been noticed until then.
func (f *follower) begin(ctx context.Context, under *sync.WaitGroup) {
	all := f.server.Subscribe(notices, nil)
	under.Go(func() { // what has happened is told to the end
		read(ctx, all, f.notice, func(lost int) {
			f.missed.add(lost, errTooMuch)
			f.ring.Lose(int64(lost))
		})
	})
	if f.poster == nil {
		return
	}
	posted := f.server.Subscribe(changes, isPosted)
	under.Go(func() {
		read(ctx, posted, f.post, func(lost int) { f.poster.Lose(lost, errTooMuch) })
	})
}

// read reads a subscription, and tells how many notices are missing.
func read(ctx context.Context, sub *server.Subscription, notice func(server.Notice), lose func(int)) {
	defer context.AfterFunc(ctx, sub.Close)()
	for n := range sub.C {
		if lost := sub.Lost(); lost > 0 {
			lose(lost)
		}
		notice(*n)
	}
}

// close logs the lost events that the log does not have yet.
func (f *follower) close() {
	for _, l := range []*lostEvents{&f.missed, &f.unread, &f.unposted} {
		l.close()
	}
}

func (f *follower) notice(n server.Notice) {
	arn := n.Execution.ARN()
	f.ring.Add(arn, n.Event.ID)
	a := readStartedARN(arn)
	if f.limiter != nil && strings.HasSuffix(string(n.Event.Type), "StateEntered") {
		if !f.limiter.Allow(n.Event.Timestamp, "StateTransition", a.account, a.region, a.kind) {
			if f.throttled.Add(1) == 1 {
				f.log.warn("ExecutionThrottled: more transitions than AWS allows in %s; /_jobpoller/health counts them", a.region)
			}
		}
	}
	f.log.more("%s %d %s %s", a.name, n.Event.ID, n.Event.Type, n.Event.Details().Name)
	if n.Status == "" || a.child {
		return
	}
	switch failure := n.Event.Details().Error; {
	case failure != "":
		f.log.tell("%s %s of %s: %s", n.Status, a.name, a.machine, failure)
	default:
		f.log.tell("%s %s of %s", n.Status, a.name, a.machine)
	}
}

// isPosted tells whether a notice is of a change that EventBridge tells of.
func isPosted(n *server.Notice) bool {
	if n.Status == "" {
		return false
	}
	a := readStartedARN(n.Execution.ARN())
	return a.kind == asl.Standard && !a.child
}

// post sends the change of a status as EventBridge does.
func (f *follower) post(n server.Notice) {
	a := readStartedARN(n.Execution.ARN())
	var description map[string]any
	api := localAPI{server: f.server, account: a.account, region: a.region}
	if err := api.call(context.Background(), "DescribeExecution", map[string]any{"executionArn": n.Execution.ARN()}, &description); err != nil {
		f.poster.Lose(1, err)
		return
	}
	event, err := eventpost.StatusChange(n.Event.Timestamp, string(n.Status), description)
	if err != nil {
		f.poster.Lose(1, err)
		return
	}
	event.Account, event.Region = a.account, a.region
	f.poster.Post(event)
}

// startedARN is what the ARN of an execution says.
type startedARN struct {
	region, account, machine, name string
	kind                           asl.ExecutionType
	child                          bool // of a distributed Map
}

func readStartedARN(arn string) startedARN {
	const parts = 8 // arn:aws:states:REGION:ACCOUNT:execution:MACHINE:NAME, and an id of Express
	all := strings.SplitN(arn, ":", parts)
	if len(all) < parts {
		return startedARN{name: arn}
	}
	e := startedARN{region: all[3], account: all[4], machine: all[6], name: all[7], kind: asl.Standard, child: strings.Contains(all[6], "/")}
	if all[5] == "express" {
		e.kind = asl.Express
		e.name, _, _ = strings.Cut(e.name, ":")
	}
	return e
}

// newClock is the clock that --time asks for.
func (m clockMode) newClock() (*sim.Clock, error) {
	switch {
	case m.virtual:
		return sim.NewVirtualClock(time.Now().Truncate(time.Millisecond)), nil
	case m.factor == 1:
		return sim.NewRealClock(), nil
	}
	return sim.NewClock(time.Now().Truncate(time.Millisecond), m.factor)
}
