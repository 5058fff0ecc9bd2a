package forward

import (
	"context"
	"net"
	"net/http/httptrace"
	"sync/atomic"
)

// connection is one to the other server. A server may answer, and close its side, before
// it has taken the whole request. What cannot be sent any more is dropped, for an error
// would end the transport's reading of the answer. If there is no answer, reading fails.
type connection struct {
	net.Conn

	began atomic.Bool // the server has taken a part of this request
}

// Write implements net.Conn. Where nothing of a request was taken it fails, so that the
// transport tries another connection.
func (c *connection) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err == nil {
		c.began.Store(true)
	} else if c.began.Load() {
		return len(p), nil
	}
	return n, err
}

// dialer dials as a function does, for connections of this kind.
func dialer(dial func(context.Context, string, string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &connection{Conn: c}, nil
	}
}

// beginRequest tells a connection that the next request is sent on it.
var beginRequest = &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
	if c, ok := got.Conn.(*connection); ok {
		c.began.Store(false)
	}
}}
