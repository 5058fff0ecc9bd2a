package handler

import (
	"context"
	"errors"
	"log/slog"

	"github.com/jobpoller/jobpoller/pollcore"
)

// log writes one record for an invocation: which execution and poller, which
// check, and how it went. Requests, arguments and outputs stay out of it.
func (p *Handler) log(ctx context.Context, handler string, event Event, result *Result, err error) {
	attrs := []any{"execution", event.Key.ExecutionARN, "poller", event.Key.Poller, "scope", event.Key.Scope}
	if result != nil {
		p.Log.Log(ctx, result.level(), handler, append(attrs, result.attrs()...)...)
		result.logged = logged{}
		return
	}
	p.Log.WarnContext(ctx, handler, append(attrs, "error", nameOf(err), "reason", reason(err))...)
	// A message may quote a waiter or a service's answer.
	p.Log.DebugContext(ctx, handler, append(attrs, "detail", err.Error())...)
}

// level is WARN for a wait that has ended and is no success.
func (r *Result) level() slog.Level {
	if r.Status == pollcore.Failed || r.Status == pollcore.TimedOut {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// attrs are what a line of the log says of a result.
func (r *Result) attrs() []any {
	attrs := []any{"job", r.logged.job, "id", idOf(r.Job), "status", r.Status}
	if r.Attempt > 0 {
		attrs = append(attrs, "attempt", r.Attempt)
	}
	attrs = append(attrs, "elapsedSeconds", r.ElapsedSeconds)
	if r.logged.replayed {
		attrs = append(attrs, "replayed", true)
	}
	if r.logged.cause != "" {
		attrs = append(attrs, "reason", r.logged.cause)
	}
	return attrs
}

// nameOf is the name of an error in the log.
func nameOf(err error) string {
	if named, ok := errors.AsType[*Error](err); ok {
		return named.Name
	}
	return "unnamed"
}
