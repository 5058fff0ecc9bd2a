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
// none does, it waits until one ends.
type limitedListener struct {
	net.Listener

	free   chan struct{} // takes one a connection
	closed chan struct{}
	close  sync.Once

	mu   sync.Mutex
	open map[*limitedConn]bool
}

func newLimitedListener(l net.Listener, most int) *limitedListener {
	return &limitedListener{Listener: l, free: make(chan struct{}, most), closed: make(chan struct{}), open: map[*limitedConn]bool{}}
}

// Accept implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	select {
	case l.free <- struct{}{}:
	default:
		l.closeIdlest()
		select {
		case l.free <- struct{}{}:
		case <-l.closed:
			return nil, errors.Join(net.ErrClosed, accepted.Close())
		}
	}
	c := &limitedConn{Conn: accepted}
	c.release = sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.open, c)
		<-l.free
	})
	c.waitForClient()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[c] = true
	return c, nil
}

// Close implements net.Listener.
func (l *limitedListener) Close() error {
	l.close.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// closeIdlest closes the connection that waits longest for its client.
func (l *limitedListener) closeIdlest() {
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
}

type limitedConn struct {
	net.Conn

	release func()
	// since is from when on it waits for its client, in nanoseconds; 0: it does not.
	since atomic.Int64
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

func (c *limitedConn) waitForClient() { c.since.Store(time.Now().UnixNano()) }

func (c *limitedConn) work() { c.since.Store(0) }

type connectionKey struct{}

// findPlace is the connection of a request, nil for one of a test without a Server.
func findPlace(ctx context.Context) *limitedConn {
	c, _ := ctx.Value(connectionKey{}).(*limitedConn)
	return c
}

// LimitBody gives the handler a body of at most the bytes, which has to come within the
// time.
func LimitBody(bytes int64, within time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limitBody(w, r, bytes, within)
		next.ServeHTTP(w, r)
	})
}

func limitBody(w http.ResponseWriter, r *http.Request, bytes int64, within time.Duration) {
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	body := &timedBody{
		ReadCloser: http.MaxBytesReader(w, r.Body, bytes), connection: http.NewResponseController(w), place: findPlace(r.Context()),
	}
	// A writer that has no deadlines is that of a test.
	_ = body.connection.SetReadDeadline(time.Now().Add(within))
	if body.place != nil {
		body.place.waitForClient()
	}
	r.Body = body
}

// timedBody takes the deadline back when it has been read: the server reads on to see
// whether the client is still there.
type timedBody struct {
	io.ReadCloser

	connection *http.ResponseController
	place      *limitedConn // nil for none
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.connection.SetReadDeadline(time.Time{})
		if b.place != nil {
			b.place.work()
		}
	}
	return n, err
}
