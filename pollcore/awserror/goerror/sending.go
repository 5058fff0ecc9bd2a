package goerror

import (
	"context"
	"fmt"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
)

// Sending watches whether the HTTP requests of a call get a connection.
type Sending struct{ wanted, got atomic.Bool }

// Watch returns a context for one call of a service. HTTP requests that are made
// in it tell the Sending how they fare, as those of all SDK clients do.
func Watch(ctx context.Context) (context.Context, *Sending) {
	s := &Sending{}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { s.wanted.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { s.got.Store(true) },
	}), s
}

// Mark returns the error of the call that was watched. Its class is [awserror.NotSent] if
// requests wanted a connection and none got one. A request that got one may have
// been sent, whatever the call's last error is.
func (s *Sending) Mark(err error) error {
	switch class := Classify(err); {
	case err == nil, !s.wanted.Load(), class == awserror.Refused:
		return err
	case !s.got.Load():
		return Mark(awserror.NotSent, fmt.Errorf("nothing was sent: %w", err))
	case class == awserror.NotSent:
		return Mark(awserror.Unclear, fmt.Errorf("%w: an earlier request of the call was sent", err))
	default:
		return err
	}
}
