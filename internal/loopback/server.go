// Package loopback serves HTTP on 127.0.0.1 to one run of this program. Every
// process of the machine can connect there, and every page in a browser can try:
// so a server refuses hosts that are not its own and all cross-origin requests,
// and its handler asks for a secret of the run (Signed, RequirePath).
package loopback

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is an HTTP server on a free port of 127.0.0.1. Close ends it.
type Server struct {
	http     *http.Server
	listener net.Listener
	// connections counts those that the server has not closed.
	connections sync.WaitGroup

	served   chan struct{}
	servedBy error // why serving ended
	close    sync.Once
	closed   error
}

// Start serves the handler. What net/http reports of broken connections goes to
// errorLog; nil discards it.
func Start(handler http.Handler, errorLog *log.Logger) (*Server, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	if errorLog == nil {
		errorLog = log.New(io.Discard, "", 0)
	}
	s := &Server{listener: listener, served: make(chan struct{})}
	s.http = &http.Server{
		Handler:           refuseForeign(s.Address(), handler),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          errorLog,
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				s.connections.Add(1)
			case http.StateClosed:
				s.connections.Done()
			default:
			}
		},
	}
	go func() {
		defer close(s.served)
		s.servedBy = s.http.Serve(listener)
	}()
	return s, nil
}

// Address is the host and port.
func (s *Server) Address() string { return s.listener.Addr().String() }

// URL is the address as a URL.
func (s *Server) URL() string { return "http://" + s.Address() }

// Close ends the server and its connections. Handlers may still run: see Wait.
// Closing again does nothing.
func (s *Server) Close() error {
	s.close.Do(func() {
		_ = s.listener.Close() // http.Server closes it too, and says whether it could
		<-s.served             // from here on the server knows all of its connections
		s.closed = s.http.Close()
		if !errors.Is(s.servedBy, net.ErrClosed) && !errors.Is(s.servedBy, http.ErrServerClosed) {
			s.closed = errors.Join(s.servedBy, s.closed)
		}
		if errors.Is(s.closed, net.ErrClosed) { // by the line above
			s.closed = nil
		}
	})
	return s.closed
}

// Wait returns when the handlers of a closed server have returned.
func (s *Server) Wait() { s.connections.Wait() }

// refuseForeign refuses what only a web page sends. A page that has its own name
// resolve to 127.0.0.1 sends that name as the host; one that calls this address
// sends its origin. No client of a run does either, and no answer has a CORS
// header.
func refuseForeign(address string, next http.Handler) http.Handler {
	_, port, _ := net.SplitHostPort(address) // of a listener, so it has one
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Host != address && r.Host != "localhost:"+port:
			http.Error(w, "this server answers to the host "+address+" only", http.StatusMisdirectedRequest)
		case r.Header["Origin"] != nil || r.Header["Access-Control-Request-Method"] != nil:
			http.Error(w, "this server does not answer web pages", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}
