package loopback

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// limitedListener has no more than a number of connections open; others wait until one
// ends.
type limitedListener struct {
	net.Listener

	free   chan struct{} // takes one a connection
	closed chan struct{}
	close  sync.Once
}

func newLimitedListener(l net.Listener, most int) *limitedListener {
	return &limitedListener{Listener: l, free: make(chan struct{}, most), closed: make(chan struct{})}
}

// Accept implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
	select {
	case l.free <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.free
		return nil, err
	}
	return &limitedConn{Conn: c, release: sync.OnceFunc(func() { <-l.free })}, nil
}

// Close implements net.Listener.
func (l *limitedListener) Close() error {
	l.close.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type limitedConn struct {
	net.Conn

	release func()
}

func (c *limitedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// LimitBody gives the handler a body of at most the bytes, which has to come within the
// time.
func LimitBody(bytes int64, within time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			body := &timedBody{ReadCloser: http.MaxBytesReader(w, r.Body, bytes), connection: http.NewResponseController(w)}
			// A writer that has no deadlines is that of a test.
			_ = body.connection.SetReadDeadline(time.Now().Add(within))
			r.Body = body
		}
		next.ServeHTTP(w, r)
	})
}

// timedBody takes the deadline back when it has been read: the server reads on to see
// whether the client is still there.
type timedBody struct {
	io.ReadCloser

	connection *http.ResponseController
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.connection.SetReadDeadline(time.Time{})
	}
	return n, err
}
