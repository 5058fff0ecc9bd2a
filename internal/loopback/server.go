// Package loopback serves HTTP on this machine. Every process of the machine can
// connect there, and every page in a browser can try: so a server refuses hosts that
// are not its own and all cross-origin requests (Guard), and a server of one run asks
// for a secret of the run (Signed, RequirePath).
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

// Server is an HTTP server. Close ends it.
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

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	// maxHeader is more than any client of AWS sends.
	maxHeader = 64 << 10
	// maxConnections leaves files to the rest of the program.
	maxConnections = 4096
)

// Start serves the handler on a free port of 127.0.0.1, to programs alone. What
// net/http reports of broken connections goes to errorLog; nil discards it.
func Start(handler http.Handler, errorLog *log.Logger) (*Server, error) {
	listener, err := Listen(context.Background(), "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String()) // of a listener, so it has one
	guard := NewGuard(GuardOptions{Port: port})
	guard.noPages = true
	return Serve(listener, guard.Protect(handler), errorLog), nil
}

// Listen opens a port of this machine, or of the address that the user wants.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp", address)
}

// Serve serves the handler, which a Guard protects, to whom the listener accepts.
func Serve(listener net.Listener, handler http.Handler, errorLog *log.Logger) *Server {
	return serve(newLimitedListener(listener, maxConnections), handler, errorLog)
}

func serve(listener net.Listener, handler http.Handler, errorLog *log.Logger) *Server {
	if errorLog == nil {
		errorLog = log.New(io.Discard, "", 0)
	}
	s := &Server{listener: listener, served: make(chan struct{})}
	answer := handler
	handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if place := findPlace(r.Context()); place != nil {
			place.work()
		}
		answer.ServeHTTP(w, r)
	})
	s.http = &http.Server{
		Handler:                      handler,
		ReadHeaderTimeout:            headerTimeout,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               maxHeader,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     errorLog,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connectionKey{}, c)
		},
		ConnState: func(c net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				s.connections.Add(1)
			case http.StateIdle:
				if place, limited := c.(*limitedConn); limited {
					place.waitForClient(time.Now())
				}
			case http.StateClosed:
				s.connections.Done()
			default:
			}
		},
	}
	go func() {
		defer close(s.served)
		s.servedBy = s.http.Serve(s.listener)
	}()
	return s
}

// Address is the host and port.
func (s *Server) Address() string { return s.listener.Addr().String() }

// URL is the address as a URL.
func (s *Server) URL() string { return "http://" + s.Address() }

// Drain takes no new connections, and lets the requests that have come be answered,
// until ctx ends. Close ends what is left.
func (s *Server) Drain(ctx context.Context) error { return s.http.Shutdown(ctx) }

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
