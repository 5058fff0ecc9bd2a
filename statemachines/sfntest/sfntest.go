// Package sfntest gives tests a Step Functions of their own: the client of the AWS SDK,
// and behind it, in the same process, a server with a clock.
//
// The clock is virtual: it jumps to the next moment at which something happens, so that
// an execution that waits for a day ends at once, with a history that shows the day. It
// stands while a Task waits for its token. Code that must see an execution RUNNING, such
// as a waiter, needs [Manual]: the clock stands until the test moves it.
package sfntest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/jobpoller/jobpoller/statemachines/server"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
)

// Account and Region are where the client of a Server works.
const (
	Account = sim.DefaultAccount
	Region  = sim.DefaultRegion
)

// T is what a Server needs of a *testing.T.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
	Context() context.Context
	Cleanup(f func())
}

// Server is a Step Functions for one test.
type Server struct {
	// Client calls the server. It works for synchronous executions and TestState, too.
	Client *sfn.Client
	// Clock is the time of all executions.
	Clock *sim.Clock
	// Handler is the server. An httptest.Server makes it known to other clients.
	Handler http.Handler

	t       T
	world   *sim.World
	mu      sync.Mutex
	scripts map[string]*mock.Script
	config  *mock.Config
}

// Option changes how a Server works.
type Option func(*options)

type options struct{ clock *sim.Clock }

// Manual lets the clock stand until the test moves it with Advance of the clock.
func Manual() Option {
	return func(o *options) {
		clock, err := sim.NewClock(sim.DefaultStart(), 0)
		if err != nil {
			panic(err) // 0 is a factor
		}
		o.clock = clock
	}
}

// RealTime lets the clock show the time of the machine.
func RealTime() Option { return func(o *options) { o.clock = sim.NewRealClock() } }

// Start starts a server, which ends with the test.
func Start(t T, choices ...Option) *Server {
	t.Helper()
	o := options{clock: sim.NewVirtualClock(sim.DefaultStart())}
	for _, choose := range choices {
		choose(&o)
	}
	s := &Server{t: t, Clock: o.clock, scripts: map[string]*mock.Script{}}
	handler := server.New(server.Options{Clock: o.clock, Prepare: s.prepare})
	t.Cleanup(handler.Close)
	s.Handler, s.world = handler, handler.World()
	s.Client = sfn.New(sfn.Options{
		Region: Region, Credentials: credentials.NewStaticCredentialsProvider(Account, "none", ""),
		BaseEndpoint: aws.String("http://localhost"), HTTPClient: &http.Client{Transport: inProcess{handler}},
		Retryer: aws.NopRetryer{},
	})
	return s
}

// On gives the answers of a state, or of a resource, in all state machines that have it,
// to the executions that start later. It returns a script to add them to, which these
// executions share. Without one a Task fails.
func (s *Server) On(stateOrResource string) *mock.Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	script := s.scripts[stateOrResource]
	if script == nil {
		script = mock.New()
		s.scripts[stateOrResource] = script
	}
	return script
}

// MockFile reads a MockConfigFile.json. A test case is named at the end of the ARN of the
// state machine in StartExecution: "ARN#Case".
func (s *Server) MockFile(path string) {
	s.t.Helper()
	text, err := os.ReadFile(path) //nolint:gosec // the test names it
	var config *mock.Config
	if err == nil {
		config, err = mock.Read(text)
	}
	if err != nil {
		s.t.Fatalf("the mocks in %s: %v", path, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.config = config
}

// Advance moves the clock on, and does all that is due until then.
func (s *Server) Advance(d time.Duration) {
	s.t.Helper()
	if err := s.Clock.Advance(s.t.Context(), s.Clock.Now().Add(d)); err != nil {
		s.t.Fatalf("the clock could not advance by %s: %v", d, err)
	}
}

// Wait waits until an execution has ended, and describes it. On a clock that stands it
// never ends: Advance comes first.
func (s *Server) Wait(executionARN string) *sfn.DescribeExecutionOutput {
	s.t.Helper()
	if x := s.world.Execution(executionARN); x != nil {
		select {
		case <-x.Done():
		case <-s.t.Context().Done():
			s.t.Fatalf("the execution %s still runs at the end of the test", executionARN)
		}
	}
	out, err := s.Client.DescribeExecution(s.t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: &executionARN})
	if err != nil {
		s.t.Fatalf("the execution %s: %v", executionARN, err)
	}
	return out
}

// prepare gives an execution its handlers.
func (s *Server) prepare(start server.StartInfo, o *sim.Options) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	targets := mock.TargetsOf(start.Machine)
	handlers := map[string]sim.Handler{}
	for name, script := range s.scripts {
		if targets.Check(name) == nil {
			handlers[name] = script.Handle
		}
	}
	if err := targets.Bind(o, handlers); err != nil {
		return err
	}
	if start.TestCase == "" {
		return nil
	}
	config := s.config
	if config == nil {
		config = &mock.Config{} // says that it has no test case
	}
	return config.Apply(start.Machine, start.StateMachineName+"#"+start.TestCase, o)
}

// inProcess hands requests to the server, whatever their host is: that of some
// operations begins with "sync-".
type inProcess struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (p inProcess) RoundTrip(q *http.Request) (*http.Response, error) {
	served := q.Clone(q.Context())
	if served.Body == nil {
		served.Body = http.NoBody
	}
	w := &answer{header: http.Header{}, status: http.StatusOK}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer served.Body.Close()
		p.handler.ServeHTTP(w, served)
	}()
	select {
	case <-done:
	case <-q.Context().Done():
		return nil, context.Cause(q.Context())
	}
	return &http.Response{
		Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: q,
	}, nil
}

// answer is a response in memory.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) { a.status = status }

// Write implements http.ResponseWriter.
func (a *answer) Write(text []byte) (int, error) { return a.body.Write(text) }
