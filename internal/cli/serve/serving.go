package serve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/jobpoller/jobpoller/internal/awscall"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/eventpost"
	"github.com/jobpoller/jobpoller/internal/forward"
	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/internal/loopback"
	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/server"
	"github.com/jobpoller/jobpoller/statemachines/server/control"
	"github.com/jobpoller/jobpoller/statemachines/server/journal"
	"github.com/jobpoller/jobpoller/statemachines/server/page"
	"github.com/jobpoller/jobpoller/statemachines/server/throttle"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// runServe serves until a signal comes, or until the command ends.
func runServe(c *cobra.Command, o *serveOptions) (err error) {
	serveLongLived()
	log := &serveLog{out: c.ErrOrStderr(), quiet: o.quiet || len(o.command) > 0 && !o.verbose, verbose: o.verbose}
	listener, err := o.listenOn(c.Context())
	if err != nil {
		return err
	}
	s, err := newServing(c.Context(), o, listener, log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	removeAccess, err := o.saveAccess(log)
	if err != nil {
		return errors.Join(err, s.close(context.WithoutCancel(c.Context())))
	}
	o.announce(c.OutOrStdout(), c.ErrOrStderr())
	s.follow(c.Context(), os.Getenv)
	if len(o.command) > 0 {
		env := o.clientEnvironment(c.Context(), os.Getenv)
		err = runClient(o.command, addVariables(os.Environ(), env), c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr())
	} else {
		<-c.Context().Done()
		s.tellEnd()
	}
	return errors.Join(err, removeAccess(), s.close(context.WithoutCancel(c.Context())))
}

// serving is a server with all that works beside it.
type serving struct {
	options  *serveOptions
	log      *serveLog
	tasks    *serveTasks
	server   *server.Server
	journal  *journal.Journal // nil without --data
	follower *follower
	http     *loopback.Server
	drain    context.CancelFunc // ends the calls that wait for work

	stop   context.CancelFunc // ends what changes the server
	unhear context.CancelFunc // ends what follows it
	under  sync.WaitGroup
}

// newServing starts a server.
func newServing(ctx context.Context, o *serveOptions, listener net.Listener, log *serveLog) (*serving, error) {
	_, port, _ := net.SplitHostPort(listener.Addr().String()) // of a listener, so it has one
	o.port, _ = strconv.Atoi(port)
	if err := o.checkForward(); err != nil { // of a free port
		return nil, kit.Usage("%w", err)
	}
	if len(o.ownerFlags()) > 0 {
		o.access = newAccess(o.url())
	}
	s := &serving{options: o, log: log, stop: func() {}, unhear: func() {}} // until follow
	var err error
	if s.tasks, err = newServeTasks(ctx, o, log); err != nil {
		return nil, err
	}
	clock, err := o.clock.newClock()
	if err != nil {
		return nil, errors.Join(kit.Usage("--time: %w", err), s.tasks.close())
	}
	s.follower = newFollower(log)
	settings := server.Options{Clock: clock, Log: log.newStructured(), Prepare: s.tasks.prepare}
	if o.limits != "" {
		s.follower.limiter = &throttle.Limiter{}
	}
	if o.eventsTo != "" {
		to, putEvents, _ := o.readEventsTo()                                                                               // validate has checked it
		s.follower.poster = eventpost.New(eventpost.Options{URL: to, PutEvents: putEvents, Lost: s.follower.unposted.add}) //nolint:contextcheck // close ends it
	}
	if err := s.open(settings); err != nil {
		return nil, errors.Join(err, s.tasks.close())
	}
	s.follower.server = s.server
	guard := loopback.NewGuard(loopback.GuardOptions{Port: port, Hosts: o.hosts, Own: ownPaths})
	var draining context.Context
	draining, s.drain = context.WithCancel(context.WithoutCancel(ctx))
	api := http.Handler(s.server)
	if s.follower.limiter != nil {
		api = throttleCalls(s.follower.limiter, api)
	}
	doors := o.route(draining, api, s.own(clock, guard.Token()), log)
	if o.access != nil {
		doors = o.access.protect(o, doors)
	}
	s.http = loopback.Serve(listener, guard.Protect(doors), log.newConnections())
	return s, nil
}

// open makes the server, with what the folder of --data has.
func (s *serving) open(settings server.Options) (err error) {
	if s.options.data == "" {
		s.server = server.New(settings)
		return nil
	}
	if err := loopback.CheckFolder(s.options.data, "journal.jsonl", "journal.jsonl.new", "lock", localloop.RecordsFolder); err != nil {
		return kit.Usage("--data: %w", err)
	}
	if s.journal, err = journal.Open(s.options.data, "jobpoller "+kit.Version()); err != nil {
		return kit.Usage("--data %s: %w", s.options.data, err)
	}
	settings.Journal = s.journal
	if s.server, err = server.Open(settings); err != nil {
		return errors.Join(kit.WithCode(kit.ExitFailed, terminal.Errorf("--data %s: %w", s.options.data, err)), s.journal.Close())
	}
	return nil
}

// own is what the server has beside the API: the control endpoint and the page, whose
// forms carry the token.
func (s *serving) own(clock *sim.Clock, token string) http.Handler {
	options := control.Options{
		World: s.server.World(), Clock: control.NewClock(clock), Ring: s.follower.ring, Find: s.server.ExecutionsNamed,
		Version: kit.Version(), Operations: s.server.Operations(), Throttled: func() int { return int(s.follower.throttled.Load()) },
		Dropped: s.follower.unposted.count, Lost: func(events int64) { s.follower.unread.add(int(events), errTooSlow) },
	}
	endpoint := control.New(ownPaths, options)
	mux := http.NewServeMux()
	for _, path := range []string{"clock", "executions/", "events", "health"} {
		mux.Handle(ownPaths+path, endpoint)
	}
	path := ownPaths
	if s.options.access != nil {
		path = s.options.access.page
	}
	mux.Handle(path, page.New(page.Options{
		World: s.server.PageWorld(), Path: path, Token: token, Models: models.Load, Compare: compareStrategies,
	}))
	return mux
}

// follow begins what works beside the server, and returns when the machines of --watch
// are loaded.
func (s *serving) follow(ctx context.Context, getenv func(string) string) {
	var background, following context.Context
	background, s.stop = context.WithCancel(ctx)
	following, s.unhear = context.WithCancel(context.WithoutCancel(ctx))
	s.follower.begin(following, &s.under)
	if len(s.options.watch) == 0 {
		return
	}
	values, _ := kit.Substitutions(s.options.substitutes).Values() // validate has checked them
	w := &watcher{
		names: s.options.watch, values: values, express: s.options.express, functions: s.options.functions,
		simulated: s.options.simulated, statuses: &s.tasks.said, api: s.options.client(ctx, s.server, getenv), log: s.log, loaded: map[string]string{},
	}
	ready := make(chan struct{})
	s.under.Go(func() { w.run(background, ready) })
	<-ready
}

// tellEnd says that the server ends, and when.
func (s *serving) tellEnd() {
	s.log.tell("shutting down: open requests have %s to end; press Ctrl-C again to stop at once", drainTime)
}

// close ends the server. Requests that have come have a limited time to be answered, and
// then events have one to be sent.
func (s *serving) close(ctx context.Context) error {
	draining, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	s.stop()
	s.drain()
	s.follower.ring.Close()
	if err := s.http.Drain(draining); err != nil {
		s.log.warn("some requests are cut off: %v", err)
	}
	closed := s.http.Close()
	s.server.Close()
	s.unhear()
	s.under.Wait()
	if s.follower.poster != nil {
		posting, cancel := context.WithTimeout(ctx, postTime)
		defer cancel()
		s.follower.poster.Close(posting)
	}
	s.follower.close()
	s.log.tellSkipped()
	if s.journal != nil {
		closed = errors.Join(closed, s.journal.Close())
	}
	return errors.Join(closed, s.tasks.close())
}

// serveLongLived collects garbage early: this command's memory lives long, and is large.
func serveLongLived() {
	const percent = 50
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// listenOn opens the port.
func (o *serveOptions) listenOn(ctx context.Context) (net.Listener, error) {
	listener, err := loopback.Listen(ctx, net.JoinHostPort(o.host(), strconv.Itoa(o.port)))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, kit.WithCode(kit.ExitFailed, fmt.Errorf("port %d is in use, perhaps by another jobpoller serve: end that, or pass --port 0 for a free port",
			o.port))
	case err != nil:
		return nil, kit.WithCode(kit.ExitFailed, err)
	}
	return listener, nil
}

const (
	// ownPaths begins the paths of the page and of the control endpoint. Others are
	// those of S3 and of other services, with --forward.
	ownPaths = "/_jobpoller/"
	// maxOwnBody is that of requests that are not forwarded: the largest that the server takes.
	maxOwnBody = 8 << 20
)

// route tells the requests of the API, of the page and the control endpoint, and of
// other services apart.
func (o *serveOptions) route(draining context.Context, api, own http.Handler, log *serveLog) http.Handler {
	var others http.Handler
	if o.forward != "" {
		to, _ := awscall.ParseEndpoint(o.forward) // validate has checked it
		others = loopback.LimitBody(math.MaxInt64, loopback.BodyTimeout, forward.New(to, log.newLines()))
	}
	api = loopback.LimitBody(maxOwnBody, loopback.BodyTimeout, endLongPolls(draining, api))
	own = loopback.LimitBody(maxOwnBody, loopback.BodyTimeout, endLongPolls(draining, own))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, ownPaths):
			own.ServeHTTP(w, r)
		case isForPage(r):
			http.Redirect(w, r, ownPaths, http.StatusFound)
		case o.isForwarded(r):
			others.ServeHTTP(w, r)
		default:
			api.ServeHTTP(w, r)
		}
	})
}

// isForwarded tells whether a request is for another service.
func (o *serveOptions) isForwarded(r *http.Request) bool {
	return o.forward != "" && !strings.HasPrefix(r.URL.Path, ownPaths) && !isForPage(r) && !isForStepFunctions(r)
}

func isForStepFunctions(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get(targetHeader), targetPrefix)
}

// isForPage tells whether a browser asks for the root.
func isForPage(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Path == "/" && !isSigned(r) && !isForStepFunctions(r)
}

// isSigned tells whether a client of AWS sends a request; a browser signs none.
func isSigned(r *http.Request) bool {
	query := r.URL.Query()
	return r.Header.Get("Authorization") != "" || query.Has("X-Amz-Signature") || query.Has("Signature")
}

// endLongPolls ends the calls that wait for work, and the streams of pages, when the
// server ends.
func endLongPolls(draining context.Context, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(targetHeader) != targetPrefix+"GetActivityTask" && !strings.HasSuffix(r.URL.Path, "live") {
			next.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(draining, cancel)()
		next.ServeHTTP(w, r.WithContext(ctx)) //nolint:contextcheck // it is that of the request
	})
}
