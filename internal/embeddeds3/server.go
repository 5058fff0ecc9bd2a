// Package embeddeds3 is an S3 server on the loopback interface, for local runs
// and tests. It keeps objects in memory or in a folder, takes its time from the
// caller, and does not check signatures. Conditional writes are right and
// atomic; conditional deletes and lifecycle rules are not implemented.
package embeddeds3

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/johannesboyne/gofakes3"
)

// Options say how a server keeps its objects and its time.
type Options struct {
	// Now is the server's clock, which drives Last-Modified and the Date
	// header; nil means time.Now. It may be far from the real time, and is
	// called by several goroutines at once.
	Now func() time.Time
	// Dir is the folder that holds the objects; it is created if it does not
	// exist. One process at a time can use it. Empty keeps them in memory.
	Dir string
	// Middleware, if set, wraps the S3 handler, so that a test can change,
	// count or break requests.
	Middleware func(http.Handler) http.Handler
}

// Server is a running S3 server. Close ends it.
type Server struct {
	backend backend
	handler http.Handler
	http    *http.Server
	url     string
	served  chan struct{}

	socket    *http.Transport
	client    *s3.Client
	direct    *s3.Client
	closeOnce sync.Once
	closeErr  error
}

// Start starts a server on a free port of 127.0.0.1.
func Start(o Options) (*Server, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	store, err := openBackend(o.Dir, timeSource(o.Now))
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("embedded S3 server cannot listen: %w", err), store.Close())
	}
	handler := gofakes3.New(store,
		gofakes3.WithTimeSource(timeSource(o.Now)),
		gofakes3.WithTimeSkewLimit(0), // clients sign with the real time
		gofakes3.WithLogger(gofakes3.DiscardLog()),
	).Server()
	if o.Middleware != nil {
		handler = o.Middleware(handler)
	}
	s := &Server{
		backend: store,
		handler: dated(withoutToken(handler), o.Now),
		url:     "http://" + listener.Addr().String(),
		served:  make(chan struct{}),
		socket:  &http.Transport{MaxIdleConnsPerHost: 64},
	}
	s.http = &http.Server{Handler: s.handler, ReadHeaderTimeout: 10 * time.Second, ErrorLog: silent}
	s.client = newClient(s.url, s.socket)
	s.direct = newClient(s.url, inProcess{s.handler})
	go func() {
		defer close(s.served)
		_ = s.http.Serve(listener) // always ends with http.ErrServerClosed
	}()
	return s, nil
}

// URL is the endpoint, for path-style requests.
func (s *Server) URL() string { return s.url }

// Handler is the server without its socket.
func (s *Server) Handler() http.Handler { return s.handler }

// Client returns a client of the server over its socket, with path-style
// requests and fixed credentials that mean nothing.
func (s *Server) Client() *s3.Client { return s.client }

// DirectClient returns a client whose requests are handled in process, without
// a socket. It is for runs in virtual time with thousands of requests.
func (s *Server) DirectClient() *s3.Client { return s.direct }

// CreateBucket creates a bucket. It is no error if the bucket is there.
func (s *Server) CreateBucket(name string) error {
	if err := gofakes3.ValidateBucketName(name); err != nil {
		return fmt.Errorf("bucket %q: %w", name, err)
	}
	if err := s.backend.CreateBucket(name); err != nil && !gofakes3.HasErrorCode(err, gofakes3.ErrBucketAlreadyExists) {
		return fmt.Errorf("bucket %q cannot be created: %w", name, err)
	}
	return nil
}

// Close ends the server and its connections and releases its folder. What was
// written to a folder stays. Closing again does nothing.
func (s *Server) Close() error {
	s.closeOnce.Do(func() {
		err := s.http.Close()
		<-s.served
		s.socket.CloseIdleConnections()
		s.closeErr = errors.Join(err, s.backend.Close())
	})
	return s.closeErr
}
