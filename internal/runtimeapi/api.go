package runtimeapi

import (
	"encoding/base64"
	"io"
	"net/http"
	"strconv"
	"time"
)

// The header and, for a response whose writing failed half-way, the trailers
// in which a process names the type of an error.
const (
	headerErrorType = "Lambda-Runtime-Function-Error-Type"
	headerErrorBody = "Lambda-Runtime-Function-Error-Body"
)

// refusal is a request of the process that the Runtime API does not grant.
type refusal struct {
	status    int
	errorType string
	message   string
}

var (
	refuseTruncated  = &refusal{http.StatusBadRequest, "TruncatedHTTPRequest", "the request ended before its body was complete"}
	refuseRequestID  = &refusal{http.StatusBadRequest, "InvalidRequestID", "this is not the request ID of the invocation that the process was handed last"}
	refuseAnswered   = &refusal{http.StatusForbidden, "InvalidStateTransition", "the invocation has been answered; ask for the next one"}
	refusePending    = &refusal{http.StatusForbidden, "InvalidStateTransition", "the last invocation has not been answered"}
	refuseInitOver   = &refusal{http.StatusForbidden, "InvalidStateTransition", "the process has asked for an event, so its start is over"}
	refuseInitFailed = &refusal{http.StatusForbidden, "InvalidStateTransition", "the start has failed; exit"}
	refuseTooLarge   = &refusal{http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "expected at most " + strconv.Itoa(maxResponse) + " bytes"}
	refuseNoRoute    = &refusal{http.StatusNotFound, "NotFound", "the Runtime API has no such route"}
)

// routes returns the Runtime API of the sandbox:
// https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
func (s *sandbox) routes() http.Handler {
	const root = "/2018-06-01/runtime/"
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+root+"invocation/next", s.serveNext)
	mux.HandleFunc("POST "+root+"invocation/{id}/response", s.serveResponse)
	mux.HandleFunc("POST "+root+"invocation/{id}/error", s.serveError)
	mux.HandleFunc("POST "+root+"init/error", s.serveInitError)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { reply(w, refuseNoRoute) })
	return mux
}

// serveNext answers when there is an event for the process, which may be never.
func (s *sandbox) serveNext(w http.ResponseWriter, r *http.Request) {
	if refused := s.ask(); refused != nil {
		reply(w, refused)
		return
	}
	select {
	case <-r.Context().Done():
	case inv := <-s.next:
		s.mu.Lock()
		s.current = inv
		s.mu.Unlock()
		now := time.Now()
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Lambda-Runtime-Aws-Request-Id", inv.id)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(now.Add(inv.limit).UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", s.arn)
		h.Set("Lambda-Runtime-Trace-Id", newTraceID(now))
		_, _ = w.Write(inv.payload) // a process that is gone is noticed by its end
	}
}

func (s *sandbox) serveResponse(w http.ResponseWriter, r *http.Request) {
	body, refused := readBody(r)
	switch {
	case refused == refuseTooLarge:
		if unknown := s.settle(r.PathValue("id"), &answer{failure: responseTooLarge()}); unknown != nil {
			refused = unknown
		}
	case refused != nil:
	case r.Trailer.Get(headerErrorType) != "":
		// An encoding error leaves an empty body, which readPostedError replaces.
		cause, _ := base64.StdEncoding.DecodeString(r.Trailer.Get(headerErrorBody))
		refused = s.settle(r.PathValue("id"), &answer{failure: readPostedError(cause, r.Trailer.Get(headerErrorType))})
	default:
		refused = s.settle(r.PathValue("id"), &answer{body: body})
	}
	reply(w, refused)
}

func (s *sandbox) serveError(w http.ResponseWriter, r *http.Request) {
	body, refused := readBody(r)
	if refused == nil {
		refused = s.settle(r.PathValue("id"), &answer{failure: readPostedError(body, r.Header.Get(headerErrorType))})
	}
	reply(w, refused)
}

func (s *sandbox) serveInitError(w http.ResponseWriter, r *http.Request) {
	body, refused := readBody(r)
	if refused == nil {
		refused = s.fail(readPostedError(body, r.Header.Get(headerErrorType)))
	}
	reply(w, refused)
}

// ask notes that the process wants an event: the invocation before is done.
func (s *sandbox) ask() *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.failed != nil:
		return refuseInitFailed
	case s.current != nil && s.current.answer == nil:
		return refusePending
	case s.current != nil:
		close(s.current.done)
		s.current = nil
	}
	s.asked = true
	return nil
}

// settle keeps the answer to the invocation that the process was handed.
func (s *sandbox) settle(id string, a *answer) *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.current == nil || s.current.id != id:
		return refuseRequestID
	case s.current.answer != nil:
		return refuseAnswered
	}
	s.current.answer = a
	return nil
}

// fail keeps the failure of the process's start.
func (s *sandbox) fail(e *FunctionError) *refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.asked:
		return refuseInitOver
	case s.failed != nil:
		return refuseInitFailed
	}
	s.failed = e
	close(s.initFailed)
	return nil
}

// readBody reads what the process posts, to the end even if it is too large:
// a process that is still writing would not see the answer.
func readBody(r *http.Request) ([]byte, *refusal) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxResponse+1))
	if err != nil {
		return nil, refuseTruncated
	}
	if len(body) <= maxResponse {
		return body, nil
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, refuseTruncated
	}
	return nil, refuseTooLarge
}

// reply accepts the request, or refuses it.
func reply(w http.ResponseWriter, refused *refusal) {
	if refused != nil {
		writeJSON(w, refused.status, errorBody{Type: refused.errorType, Message: refused.message}.encode())
		return
	}
	writeJSON(w, http.StatusAccepted, []byte(`{"status":"OK"}`))
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // there is nobody to tell if the peer is gone
}
