package handler

import (
	"context"
	"errors"
	"strings"
)

// log writes one record for an invocation: which execution and poller, which
// check, and how it went. Requests, arguments and outputs stay out of it.
func (p *Handler) log(ctx context.Context, handler string, event Event, result *Result, err error) {
	attrs := []any{"execution", event.Key.ExecutionARN, "poller", event.Key.Poller, "scope", event.Key.Scope}
	if result != nil {
		if result.Attempt > 0 {
			attrs = append(attrs, "attempt", result.Attempt)
		}
		attrs = append(attrs, "status", result.Status, "elapsedSeconds", result.ElapsedSeconds)
		p.Log.InfoContext(ctx, handler, attrs...)
		return
	}
	name := nameOf(err)
	if name == ErrorRunning || strings.HasPrefix(name, ErrorRunning+".") {
		p.Log.InfoContext(ctx, handler, append(attrs, "error", name)...)
		return
	}
	p.Log.WarnContext(ctx, handler, append(attrs, "error", name, "reason", reason(err))...)
	// A message may quote a waiter or a service's answer.
	p.Log.DebugContext(ctx, handler, append(attrs, "detail", err.Error())...)
}

// nameOf is the name of an error in the log.
func nameOf(err error) string {
	if named, ok := errors.AsType[*Error](err); ok {
		return named.Name
	}
	return "unnamed"
}
