package poller

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// RuntimeLog is for log.SetOutput in a main that gives the handlers to
// lambda.Start: it writes what package log writes, but for the errors of the
// handlers. The runtime logs each with its message, which may quote a job's
// output or what a service said; the handlers log it by its name.
func RuntimeLog(to io.Writer) io.Writer { return runtimeLog{to} }

type runtimeLog struct{ to io.Writer }

// Write gets one line a call. The runtime's is the time and the error as JSON.
func (l runtimeLog) Write(line []byte) (int, error) {
	var reported struct {
		Type string `json:"errorType"`
	}
	if at := bytes.IndexByte(line, '{'); at >= 0 && json.Unmarshal(line[at:], &reported) == nil && strings.HasPrefix(reported.Type, "JobPoller.") {
		return len(line), nil
	}
	return l.to.Write(line)
}

// log writes one record for an invocation: which execution and poller, which
// check, and how it went. Requests, arguments and outputs stay out of it.
func (p *Poller) log(ctx context.Context, handler string, event Event, result *Result, err error) {
	attrs := []any{"execution", event.Key.ExecutionARN, "poller", event.Key.Poller, "scope", event.Key.Scope}
	if result != nil {
		if result.Attempt > 0 {
			attrs = append(attrs, "attempt", result.Attempt)
		}
		attrs = append(attrs, "status", result.Status, "elapsedSeconds", result.ElapsedSeconds)
		p.Log.InfoContext(ctx, handler, attrs...)
		return
	}
	name := "unnamed"
	if named, ok := errors.AsType[*Error](err); ok {
		name = named.Name
	}
	if name == ErrorRunning {
		p.Log.InfoContext(ctx, handler, append(attrs, "error", name)...)
		return
	}
	p.Log.WarnContext(ctx, handler, append(attrs, "error", name)...)
	// A message may quote a waiter or a service's answer.
	p.Log.DebugContext(ctx, handler, append(attrs, "message", err.Error())...)
}
