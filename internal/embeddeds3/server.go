// Package embeddeds3 is an S3 server on the loopback interface, for local runs
// and tests. It keeps objects in memory or in a folder, takes its time from the
// caller, and answers only requests that are signed with its keys. Conditional
// writes and deletes are right and atomic. See handler for what it serves.
package embeddeds3

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/jobpoller/jobpoller/internal/loopback"
)

// Options say how a server keeps its objects and its time.
type Options struct {
	// Now is the server's clock, which drives Last-Modified and the Date
	// header. It may be far from the real time, and is called by several
	// goroutines at once. Nil means the real time, to which signatures are
	// bound then.
	Now func() time.Time
	// Dir is the folder that holds the objects; it is created if it does not
	// exist. One process at a time can use it. Empty keeps them in memory.
	Dir string
	// Keys are taken besides the server's own, for clients that sign with
	// others.
	Keys []loopback.Keys
	// Known are keys that others may know, too, such as those of an emulator. They are
	// taken below SecretURL alone.
	Known []loopback.Keys
	// Middleware, if set, wraps the S3 handler, so that a test can change,
	// count or break requests. It sees only those that are signed.
	Middleware func(http.Handler) http.Handler
}

// Server is a running S3 server. Close ends it.
type Server struct {
	backend backend
	keys    loopback.Keys
	secret  string // the path of SecretURL
	signed  http.Handler
	http    *loopback.Server

	socket    *http.Transport
	client    *s3.Client
	direct    *s3.Client
	closeOnce sync.Once
	closeErr  error
}

// Start starts a server on a free port of 127.0.0.1, with keys of its own.
func Start(o Options) (*Server, error) {
	virtual := o.Now != nil
	if !virtual {
		o.Now = time.Now
	}
	store, err := openBackend(o.Dir)
	if err != nil {
		return nil, err
	}
	var open http.Handler = &handler{backend: store, now: o.Now}
	if o.Middleware != nil {
		open = o.Middleware(open)
	}
	s := &Server{backend: store, keys: loopback.NewKeys(), secret: loopback.NewSecret(), socket: &http.Transport{MaxIdleConnsPerHost: 64}}
	signed := loopback.Signed{
		Service: loopback.S3, Keys: append([]loopback.Keys{s.keys}, o.Keys...), AnyTime: virtual, Refuse: refuseUnsigned,
	}
	own := signed.Require(open)
	signed.Keys = o.Known
	known := signed.Require(http.StripPrefix("/"+s.secret, open))
	s.signed = withDate(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(o.Known) > 0 && loopback.HasPath(r, s.secret) {
			known.ServeHTTP(w, r)
			return
		}
		own.ServeHTTP(w, r)
	}), o.Now)
	if s.http, err = loopback.Start(s.signed, nil); err != nil {
		return nil, errors.Join(fmt.Errorf("embedded S3 server cannot listen: %w", err), store.close())
	}
	s.client = newClient(s.URL(), s.keys, s.socket)
	s.direct = newClient(s.URL(), s.keys, inProcess{withDate(open, o.Now)})
	return s, nil
}

// URL is the endpoint, for path-style requests.
func (s *Server) URL() string { return s.http.URL() }

// SecretURL is the endpoint for clients that sign with the known keys: its path is a
// secret. Never log it.
func (s *Server) SecretURL() string { return s.URL() + "/" + s.secret }

// Keys are what clients sign with. They are drawn for this server: never log
// them.
func (s *Server) Keys() loopback.Keys { return s.keys }

// Handler is the server without its socket. It takes signed requests alone.
func (s *Server) Handler() http.Handler { return s.signed }

// Client returns a client of the server over its socket, with its keys and
// path-style requests.
func (s *Server) Client() *s3.Client { return s.client }

// DirectClient returns a client whose requests are handled in process, without
// a socket. It is for runs in virtual time with thousands of requests.
func (s *Server) DirectClient() *s3.Client { return s.direct }

// CreateBucket creates a bucket. It is no error if the bucket is there.
func (s *Server) CreateBucket(name string) error {
	if !bucketName().MatchString(name) {
		return fmt.Errorf("bucket %q: expected 3 to 63 of a-z, 0-9, dot and hyphen", name)
	}
	if _, err := s.backend.createBucket(name); err != nil {
		return fmt.Errorf("bucket %q cannot be created: %w", name, err)
	}
	return nil
}

// Close ends the server and its connections and releases its folder. What was
// written to a folder stays. Closing again does nothing.
func (s *Server) Close() error {
	s.closeOnce.Do(func() {
		err := s.http.Close()
		s.socket.CloseIdleConnections()
		s.closeErr = errors.Join(err, s.backend.close())
	})
	return s.closeErr
}
