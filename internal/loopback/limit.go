package loopback

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// limitedListener has no more than a number of connections open. One more takes the place
// of the one that waits longest for its client: for a request, or for the rest of one. If
// none does, it waits until one does, or ends.
type limitedListener struct {
	net.Listener

	free   chan struct{} // takes one a connection
	idle   chan struct{} // has one since a connection waits for its client
	closed chan struct{}
	close  sync.Once

	mu   sync.Mutex
	open map[*limitedConn]bool
}

func newLimitedListener(l net.Listener, most int) *limitedListener {
	return &limitedListener{
		Listener: l, free: make(chan struct{}, most), idle: make(chan struct{}, 1), closed: make(chan struct{}), open: map[*limitedConn]bool{},
	}
}

// Accept implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if !l.takePlace() {
		return nil, errors.Join(net.ErrClosed, accepted.Close())
	}
	c := &limitedConn{Conn: accepted, idle: l.idle}
	c.release = sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.open, c)
		<-l.free
	})
	l.mu.Lock()
	l.open[c] = true
	l.mu.Unlock()
	c.waitForClient(time.Now())
	return c, nil
}

// Close implements net.Listener.
func (l *limitedListener) Close() error {
	l.close.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// takePlace takes a place for one more connection, unless the listener is closed.
func (l *limitedListener) takePlace() bool {
	for {
		select {
		case l.free <- struct{}{}:
			return true
		default:
		}
		if l.closeIdlest() {
			continue
		}
		select {
		case l.free <- struct{}{}:
			return true
		case <-l.idle:
		case <-l.closed:
			return false
		}
	}
}

// closeIdlest closes the connection that waits longest for its client, if one does.
func (l *limitedListener) closeIdlest() bool {
	l.mu.Lock()
	var idlest *limitedConn
	least := int64(math.MaxInt64)
	for c := range l.open {
		if since := c.since.Load(); since != 0 && since < least {
			idlest, least = c, since
		}
	}
	l.mu.Unlock()
	if idlest != nil {
		_ = idlest.Close() // nobody waits for what it says
	}
	return idlest != nil
}

type limitedConn struct {
	net.Conn

	idle    chan<- struct{} // that of the listener
	release func()
	// since is from when on it waits for its client, in nanoseconds; 0: it does not.
	since atomic.Int64
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

func (c *limitedConn) waitForClient(since time.Time) {
	c.since.Store(since.UnixNano())
	select {
	case c.idle <- struct{}{}:
	default:
	}
}

func (c *limitedConn) work() { c.since.Store(0) }

type connectionKey struct{}

// findPlace is the connection of a request, nil for one of a test without a Server.
func findPlace(ctx context.Context) *limitedConn {
	c, _ := ctx.Value(connectionKey{}).(*limitedConn)
	return c
}

// LimitBody gives the handler a body of at most the bytes, which has to come within the
// time from its first byte that is asked for. While the server waits for the body, the
// connection's place goes to another client first.
func LimitBody(bytes int64, within time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := limitBody(w, r, bytes, within)
		if body == nil {
			next.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(&drainingWriter{ResponseWriter: w, body: body}, r)
		if !body.ended.Load() {
			body.await() // net/http reads on
		}
	})
}

// limitBody limits the body of a request; nil if it has none.
func limitBody(w http.ResponseWriter, r *http.Request, bytes int64, within time.Duration) *timedBody {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	body := &timedBody{
		ReadCloser: http.MaxBytesReader(w, r.Body, bytes), within: within, asksFirst: r.Header.Get("Expect") != "",
		connection: http.NewResponseController(w), place: findPlace(r.Context()),
	}
	r.Body = body
	return body
}

// timedBody has a deadline only while it is read: the server reads on behind it to see
// whether the client is still there, and a handler may work long before it reads.
type timedBody struct {
	io.ReadCloser

	within     time.Duration
	asksFirst  bool // the client sends nothing before it is asked for
	connection *http.ResponseController
	place      *limitedConn // nil for none
	ended      atomic.Bool

	mu       sync.Mutex
	began    time.Time // when it was first read
	deadline time.Time
}

func (b *timedBody) Read(p []byte) (int, error) {
	if b.ended.Load() {
		return b.ReadCloser.Read(p)
	}
	b.await()
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.ended.Store(true)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = b.connection.SetReadDeadline(time.Time{})
	if b.place != nil {
		b.place.work()
	}
	return n, err
}

// await waits for the client from now on.
func (b *timedBody) await() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.began.IsZero() {
		b.began = time.Now()
		if b.deadline.IsZero() {
			b.deadline = b.began.Add(b.within)
		}
	}
	_ = b.connection.SetReadDeadline(b.deadline) // a writer that has no deadlines is that of a test
	if b.place != nil {
		b.place.waitForClient(b.began)
	}
}

func (b *timedBody) isBegun() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.began.IsZero()
}

// cut ends the wait for the client.
func (b *timedBody) cut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deadline = time.Unix(1, 0)
	_ = b.connection.SetReadDeadline(b.deadline)
}

// drainingWriter reads what a handler has left of the body before it answers, as
// net/http does: but with the deadline of the body.
type drainingWriter struct {
	http.ResponseWriter

	body    *timedBody
	drained bool
}

// maxDrained is as much as net/http reads.
const maxDrained = 1 << 18

// WriteHeader implements http.ResponseWriter.
func (w *drainingWriter) WriteHeader(status int) {
	if status >= http.StatusOK {
		w.drain()
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *drainingWriter) Write(p []byte) (int, error) {
	w.drain()
	return w.ResponseWriter.Write(p)
}

// EnableFullDuplex lets the handler answer before it has read the body.
func (w *drainingWriter) EnableFullDuplex() error {
	w.drained = true
	return http.NewResponseController(w.ResponseWriter).EnableFullDuplex()
}

// FlushError implements http.ResponseController's Flush.
func (w *drainingWriter) FlushError() error {
	w.drain()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap is for http.ResponseController.
func (w *drainingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *drainingWriter) drain() {
	if w.drained || w.body.ended.Load() {
		return
	}
	w.drained = true
	if w.Header().Get("Connection") == "close" {
		return
	}
	if w.body.asksFirst && !w.body.isBegun() {
		w.Header().Set("Connection", "close")
		return
	}
	if _, err := io.CopyN(io.Discard, w.body, maxDrained); !errors.Is(err, io.EOF) {
		w.Header().Set("Connection", "close") // something of it is left
	}
}
