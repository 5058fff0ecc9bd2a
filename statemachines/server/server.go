// Package server is AWS Step Functions as an HTTP handler, for SDKs and every other client
// of its API. Package sim runs the executions.
//
// The rules of requests come from the service's model: a request that breaks them is
// answered in AWS's words. State is kept by account and region, which are read from the
// signature. The server does not verify that: put a handler before it that does.
package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/sim"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// Options say how a server works. The zero value is good.
type Options struct {
	// Clock is the time of the server; nil: that of the machine.
	Clock *sim.Clock
	// Models are the APIs of services, by which arguments and mocks of Tasks are checked;
	// nil: all of AWS's.
	Models typecheck.Models
	// Log is told what the server itself does wrong; nil: nobody is.
	Log *slog.Logger
	// Prepare, if not nil, is asked before each start of an execution: it adds handlers
	// of Tasks to the options. Its error refuses the start. Tasks that call Step
	// Functions and have no handler call the server.
	Prepare func(StartInfo, *sim.Options) error
	// KeepEvents is how many events are kept of an execution that has ended, as in
	// sim.Options; 0: all.
	KeepEvents int
	// KeepExecutions is how many executions that have ended an account keeps; 0:
	// DefaultKeepExecutions. The oldest are forgotten, with their names.
	KeepExecutions int
	// KeepBytes is how many bytes of memory those take, about, with the child executions of
	// Map Runs; 0: DefaultKeepBytes. The oldest are forgotten first, and the one that ended
	// last never is.
	KeepBytes int64
	// MaxOpenExecutions is how many executions an account has open at a time; 0:
	// DefaultMaxOpenExecutions.
	MaxOpenExecutions int
	// Journal keeps what the server is told, for Open; nil: nothing does.
	Journal Journal
}

// DefaultKeepExecutions is how many executions that have ended an account keeps.
const DefaultKeepExecutions = 50_000

// DefaultKeepBytes is how many bytes of memory the executions that have ended take in an
// account.
const DefaultKeepBytes = 1 << 30

// DefaultMaxOpenExecutions is how many executions an account has open at a time, in about
// a gigabyte. AWS has 1,000,000.
const DefaultMaxOpenExecutions = 250_000

// Server answers the operations of Step Functions. It is safe for concurrent use.
type Server struct {
	clock  *sim.Clock
	models typecheck.Models
	log    *slog.Logger
	api    *catalog.Service
	sealer *sealer
	world  *sim.World
	hub    hub
	next   nextAnswers
	// prepare is that of the options.
	prepare    func(StartInfo, *sim.Options) error
	keepEvents int
	keep       limits
	forgets    sync.Once // tells the log of it
	mostOpen   int       // executions of an account
	// operations are by name.
	operations map[string]operation

	journal sim.Journal // nil: nothing is kept
	replays atomic.Bool // the journal is replayed

	mu       sync.Mutex
	accounts map[caller]*account
	starts   *starts
}

// New returns a server without state machines. Close it. Options with a Journal are for
// Open.
func New(o Options) *Server {
	s := &Server{
		clock: o.Clock, models: o.Models, log: o.Log, prepare: o.Prepare, keepEvents: o.KeepEvents,
		keep:       limits{cmp.Or(o.KeepExecutions, DefaultKeepExecutions), cmp.Or(o.KeepBytes, DefaultKeepBytes)},
		mostOpen:   cmp.Or(o.MaxOpenExecutions, DefaultMaxOpenExecutions),
		operations: allOperations(), accounts: map[caller]*account{}, starts: newStarts(), sealer: newSealer(),
	}
	if s.clock == nil {
		s.clock = sim.NewRealClock()
	}
	if s.models == nil {
		s.models = models.Load
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	api, err := models.Load("stepfunctions")
	if err != nil {
		panic(err) // it is part of the program
	}
	s.api = api
	w := sim.WorldOptions{Clock: s.clock, OnEvent: s.hub.tell, OnEnd: s.handleEnd, HasActivity: s.hasActivity}
	if o.Journal != nil {
		s.replays.Store(true)
		s.journal = &keptJournal{o.Journal, s}
		w.Journal = s.journal
	}
	s.world = sim.NewWorld(w)
	return s
}

// World is what the executions run in.
func (s *Server) World() *sim.World { return s.world }

// Close ends all executions' work, and waits for the handlers of Tasks.
func (s *Server) Close() { s.world.Close() }

// request is one call of an operation.
type request struct {
	caller
	ctx       context.Context //nolint:containedctx // a request lives as long as its context
	server    *Server
	account   *account
	operation string
	input     []byte
	at        time.Time // at which the journal has kept it; else zero
	ids       []string  // that were made up, or are to be
	replayed  bool
	revised   *machine // that the request has given a revision
	depth     int      // executions that wait for the one that the request starts
}

// now is the time on the server's clock.
func (r *request) now() time.Time {
	if !r.at.IsZero() {
		return r.at
	}
	return r.server.clock.Now()
}

// maxBody is the size of the largest request in bytes: the largest definition, whose characters
// may all be written as escapes, and the other members.
const maxBody = 8 << 20

const contentType = "application/x-amz-json-1.0"

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	id := newUUID()
	output, err := s.answer(w, q, id)
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("X-Amzn-Requestid", id)
	status := http.StatusOK
	if err != nil {
		r := s.refusalOf(err, id)
		h.Set("X-Amzn-Errortype", r.code)
		status, output = r.status(), r.body()
	}
	h.Set("Content-Length", strconv.Itoa(len(output)))
	w.WriteHeader(status)
	_, _ = w.Write(output) // if it fails, the client has gone
}

// answer reads a request and does its operation.
func (s *Server) answer(w http.ResponseWriter, q *http.Request, id string) (output []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("an operation panicked", "request", id, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errPanic
		}
	}()
	target := q.Header.Get("X-Amz-Target")
	name, ours := strings.CutPrefix(target, s.api.TargetPrefix+".")
	if q.Method != http.MethodPost || !ours {
		return nil, refuse(unknownOperation, "expected POST with the header X-Amz-Target: %s.<operation>", s.api.TargetPrefix)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, maxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, refuse(entityTooLarge, "Request size exceeded %d bytes", maxBody)
	} else if err != nil {
		return nil, refuse(serialization, "the request ended early")
	}
	return s.call(q.Context(), callerOf(q), name, body)
}

// call does one operation. Input and output are JSON.
func (s *Server) call(ctx context.Context, who caller, name string, input []byte) ([]byte, error) {
	r, members, err := s.newRequest(ctx, who, name, input)
	if err != nil {
		return nil, err
	}
	output, err := s.operations[name].do(r, members)
	if err != nil {
		return nil, err
	}
	return writeOutput(output)
}

// newRequest reads the request of an operation.
func (s *Server) newRequest(ctx context.Context, who caller, name string, input []byte) (*request, map[string]any, error) {
	operation, model := s.operations[name], s.api.Operations[name]
	if operation.do == nil || model == nil {
		return nil, nil, refuse(unknownOperation, "")
	}
	members, err := readInput(input, model.Input)
	if err != nil {
		return nil, nil, err
	}
	a, err := s.accountOf(who)
	if err != nil {
		return nil, nil, err
	}
	return &request{caller: a.caller, ctx: ctx, server: s, account: a, operation: name, input: input}, members, nil
}

var errPanic = errors.New("an operation panicked")

// refusalOf is what the client is told of an error.
func (s *Server) refusalOf(err error, id string) *refusal {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
	}
	if halted := s.world.Err(); errors.Is(halted, sim.ErrWorldClosed) && errors.Is(err, halted) {
		return &refusal{code: unavailable, message: "The server ends."}
	} else if halted != nil && errors.Is(err, halted) {
		return &refusal{code: unavailable, message: "The server takes no changes any more: " + halted.Error() + ". Start it again when that is mended."}
	}
	if !errors.Is(err, errPanic) && !errors.Is(err, context.Canceled) {
		s.log.Error("an operation failed", "request", id, "error", err)
	}
	return &refusal{code: internalFailure, message: "The server failed. Its log says why, under the request " + id + "."}
}

// writeOutput writes an answer.
func writeOutput(output any) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(output); err != nil {
		return nil, err
	}
	return []byte(strings.TrimSuffix(b.String(), "\n")), nil
}
