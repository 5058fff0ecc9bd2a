package jobstest

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// server puts a service on the wire, records what it is asked, and breaks what
// it answers.
type server struct {
	service Service
	url     string

	mu       sync.Mutex
	requests []request
	script   []fault // of the next requests, one each
	rest     fault   // of the requests after the script
}

// request is a request that a client has sent.
type request struct {
	operation string
	text      string // the URL, the headers and the body
}

// fault answers a request in place of the service. Nil lets the service answer.
type fault func(s Service, w http.ResponseWriter, r *http.Request)

func newServer(t *testing.T, service Service) *server {
	t.Helper()
	s := &server{service: service}
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	s.url = listening.URL
	return s
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var text strings.Builder
	text.WriteString(r.URL.String() + "\n")
	_ = r.Header.Write(&text) // a strings.Builder takes everything
	text.Write(body)
	if f := s.record(request{s.service.Operation(r), text.String()}); f != nil {
		f(s.service, w, r)
		return
	}
	s.service.ServeHTTP(w, r)
}

// record keeps the request and returns the fault that is meant for it.
func (s *server) record(r request) fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if len(s.script) == 0 {
		return s.rest
	}
	next := s.script[0]
	s.script = s.script[1:]
	return next
}

// breakAll lets all requests from now on meet the fault; nil heals the service.
func (s *server) breakAll(f fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script, s.rest = nil, f
}

// loseStart lets the next request that starts a job meet a fault, and all after
// it another. What a driver asks the service before it starts goes well.
func (s *server) loseStart(lost, rest fault) {
	s.breakAll(func(service Service, w http.ResponseWriter, r *http.Request) {
		started := service.Starts()
		answer := httptest.NewRecorder()
		service.ServeHTTP(answer, r)
		if service.Starts() > started {
			s.breakAll(rest)
			lost(recorded{service, answer}, w, r)
			return
		}
		recorded{service, answer}.ServeHTTP(w, r)
	})
}

// recorded is a service that has acted, and answers so.
type recorded struct {
	Service

	answer *httptest.ResponseRecorder
}

// ServeHTTP gives the answer.
func (s recorded) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	maps.Copy(w.Header(), s.answer.Header())
	w.WriteHeader(s.answer.Code)
	_, _ = w.Write(s.answer.Body.Bytes())
}

// breakFirst lets the next request meet a fault, and those after it another.
func (s *server) breakFirst(first, rest fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script, s.rest = []fault{first}, rest
}

// take returns the requests since the last take.
func (s *server) take() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.requests
	s.requests = nil
	return taken
}

// refuse answers that the caller may not do this.
func refuse(code string) fault {
	return func(s Service, w http.ResponseWriter, _ *http.Request) { s.Fail(w, http.StatusForbidden, code) }
}

func throttle(s Service, w http.ResponseWriter, _ *http.Request) {
	s.Fail(w, http.StatusTooManyRequests, "ThrottlingException")
}

func breakDown(s Service, w http.ResponseWriter, _ *http.Request) {
	s.Fail(w, http.StatusInternalServerError, "InternalServerError")
}

// loseRequest drops the connection before the service acts.
func loseRequest(Service, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// loseAnswer drops the connection after the service has acted.
func loseAnswer(s Service, _ http.ResponseWriter, r *http.Request) {
	s.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// cutAnswer drops the connection in the middle of the answer.
func cutAnswer(s Service, w http.ResponseWriter, r *http.Request) {
	whole := httptest.NewRecorder()
	s.ServeHTTP(whole, r)
	maps.Copy(w.Header(), whole.Header())
	w.Header().Set("Content-Length", strconv.Itoa(whole.Body.Len()))
	w.WriteHeader(whole.Code)
	_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}
