package handler

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// log writes one record for an invocation: which execution, poller and job, which check,
// and how it went. Requests, arguments and outputs stay out of it.
func (p *Handler) log(ctx context.Context, handler string, event Event, result *Result, err error) {
	attrs := namesOf(event.Key)
	if result != nil {
		attrs = append(attrs, jobAttrs(result.logged.job, idOf(result.Job))...)
		p.Log.Log(ctx, result.level(), handler, append(attrs, result.attrs()...)...)
		result.logged = logged{}
		return
	}
	if named, ok := errors.AsType[*Error](err); ok {
		attrs = append(attrs, jobAttrs(named.job, named.id)...)
	}
	p.Log.WarnContext(ctx, handler, append(attrs, errorAttrs(err)...)...)
	// A message may quote a waiter or a service's answer.
	p.Log.DebugContext(ctx, handler, append(attrs, "error", nameOf(err), "detail", err.Error())...)
}

// logPanic writes one record for an invocation that panics, and lets the panic go on.
func (p *Handler) logPanic(ctx context.Context, key startrecord.Key, panicked any) {
	if panicked != nil {
		p.Log.ErrorContext(ctx, "panic", append(namesOf(key), "stack", string(debug.Stack()))...)
		panic(panicked)
	}
}

// namesOf are what a line of the log names a wait by.
func namesOf(key startrecord.Key) []any {
	return []any{"execution", key.ExecutionARN, "poller", key.Poller, "scope", key.Scope}
}

// jobAttrs name a job, as far as it is known.
func jobAttrs(job, id string) []any {
	var attrs []any
	if job != "" {
		attrs = append(attrs, "job", job)
	}
	if id != "" {
		attrs = append(attrs, "id", id)
	}
	return attrs
}

// level is WARN for a wait that has ended and is no success.
func (r *Result) level() slog.Level {
	if r.Status == pollcore.Failed || r.Status == pollcore.TimedOut {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// attrs are what a line of the log says of a result besides its job.
func (r *Result) attrs() []any {
	attrs := []any{"status", r.Status}
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

// errorAttrs are what a line of the log says of an error besides its job.
func errorAttrs(err error) []any { return []any{"error", nameOf(err), "reason", reason(err)} }

// nameOf is the name of an error in the log.
func nameOf(err error) string {
	if named, ok := errors.AsType[*Error](err); ok {
		return named.Name
	}
	return "unnamed"
}
