// Package server is AWS Step Functions as an HTTP handler, for SDKs and every other client
// of its API. Package sim runs the executions.
//
// The rules of requests come from the service's model: a request that breaks them is
// answered in AWS's words. State is kept by account and region. Signatures are read for the account and the region, and never
// verified.
package server

import (
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
}

// Server answers the operations of Step Functions. It is safe for concurrent use.
type Server struct {
	clock  *sim.Clock
	models typecheck.Models
	log    *slog.Logger
	api    *catalog.Service
	sealer *sealer
	// operations are by name.
	operations map[string]operation

	mu       sync.Mutex
	accounts map[caller]*account
}

// New returns a server without state machines.
func New(o Options) *Server {
	s := &Server{clock: o.Clock, models: o.Models, log: o.Log, operations: allOperations(), accounts: map[caller]*account{}, sealer: newSealer()}
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
	return s
}

// request is one call of an operation.
type request struct {
	caller
	ctx       context.Context //nolint:containedctx // a request lives as long as its context
	server    *Server
	account   *account
	operation string
}

// now is the time on the server's clock.
func (r *request) now() time.Time { return r.server.clock.Now() }

// maxBody bounds a request: a definition of the largest size, of which each character
// may be written as an escape, and something beside it.
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
	operation, model := s.operations[name], s.api.Operations[name]
	if operation.do == nil || model == nil {
		return nil, refuse(unknownOperation, "")
	}
	members, err := readInput(input, model.Input)
	if err != nil {
		return nil, err
	}
	a, err := s.accountOf(who)
	if err != nil {
		return nil, err
	}
	output, err := operation.do(&request{caller: who, ctx: ctx, server: s, account: a, operation: name}, members)
	if err != nil {
		return nil, err
	}
	return writeOutput(output)
}

var errPanic = errors.New("an operation panicked")

// refusalOf is what the client is told of an error.
func (s *Server) refusalOf(err error, id string) *refusal {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
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
