package jobs

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http/httptrace"
	"sync/atomic"
)

// ErrNotSent means that provably nothing of a call was sent, so that it had no
// effect: see NotSent.
var ErrNotSent = errors.New("nothing was sent")

// errSent means that a call may have been sent although its last error was that
// of a connection: an earlier request of the call had one.
var errSent = errors.New("an earlier request of the call was sent")

// Sending watches whether the HTTP requests of a call get a connection.
type Sending struct{ wanted, got atomic.Bool }

// WatchSending returns a context for one call of a driver. HTTP requests that are
// made in it tell the Sending how they fare, as those of all SDK clients do.
func WatchSending(ctx context.Context) (context.Context, *Sending) {
	s := &Sending{}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { s.wanted.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { s.got.Store(true) },
	}), s
}

// Mark returns the error of the call that was watched. It wraps ErrNotSent if
// requests wanted a connection and none got one: a name was not found, a
// connection refused, a handshake failed, or the caller gave up before. A request
// that got one may have been sent, whatever the call's last error is.
func (s *Sending) Mark(err error) error {
	switch {
	case err == nil || !s.wanted.Load():
		return err
	case !s.got.Load():
		return fmt.Errorf("%w: %w", ErrNotSent, err)
	case notSent(err):
		return fmt.Errorf("%w: %w", err, errSent)
	default:
		return err
	}
}

// notSent reports whether an error says by itself that nothing was sent. A reset
// connection does not, and a failed handshake only where this side refused the
// certificate: TLS 1.3 sends data before it knows the other's opinion.
func notSent(err error) bool {
	if errors.Is(err, errSent) {
		return false
	}
	if errors.Is(err, ErrNotSent) {
		return true
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && (op.Op == "dial" || op.Op == "proxyconnect")
}
