package handler

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/smithy-go/logging"
)

// The variables by which the Lambda service tells a function how to log
// (https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-advanced.html).
const (
	envLambdaFormat = "AWS_LAMBDA_LOG_FORMAT" // JSON or Text
	envLambdaLevel  = "AWS_LAMBDA_LOG_LEVEL"  // TRACE to FATAL
)

var lambdaLevels = map[string]slog.Level{
	"trace": slog.LevelDebug - 4, "debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn,
	"error": slog.LevelError, "fatal": slog.LevelError + 4,
}

// logger returns the log of a Lambda function: JSON, unless the service asks for
// text, with the names of members that the service filters by, and the request's
// ID. EnvLogLevel says more than the service's level.
func (e *environment) logger() *slog.Logger {
	level := choice(e, envLambdaLevel, lambdaLevels)
	if own := e.get(EnvLogLevel); own != "" {
		level = e.level(EnvLogLevel)
	}
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: lambdacontext.ReplaceAttr}
	if choice(e, envLambdaFormat, map[string]bool{"json": false, "text": true}) {
		return slog.New(requestLog{slog.NewTextHandler(os.Stderr, options)})
	}
	return slog.New(requestLog{slog.NewJSONHandler(os.Stderr, options)})
}

// requestLog adds the ID of the Lambda request that a record belongs to.
type requestLog struct{ slog.Handler }

// Handle implements slog.Handler.
func (h requestLog) Handle(ctx context.Context, r slog.Record) error {
	if request, ok := lambdacontext.FromContext(ctx); ok && request.AwsRequestID != "" {
		r.AddAttrs(slog.String("requestId", request.AwsRequestID))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h requestLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestLog{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h requestLog) WithGroup(name string) slog.Handler {
	return requestLog{h.Handler.WithGroup(name)}
}

// sdkLog writes what the AWS SDK says of its calls, such as warnings, into the
// function's log.
type sdkLog struct {
	to  *slog.Logger
	ctx context.Context //nolint:containedctx // the SDK passes the context of a call so
}

var _ logging.ContextLogger = sdkLog{}

// Logf implements logging.Logger.
func (l sdkLog) Logf(classification logging.Classification, format string, v ...any) {
	level := slog.LevelWarn
	if classification == logging.Debug {
		level = slog.LevelDebug
	}
	l.to.Log(l.ctx, level, "AWS SDK", "text", fmt.Sprintf(format, v...))
}

// WithContext implements logging.ContextLogger.
func (l sdkLog) WithContext(ctx context.Context) logging.Logger { //nolint:ireturn // as the SDK declares it
	return sdkLog{l.to, ctx}
}

// runtimeLog is where the package log writes in a Lambda function: into the
// function's log. The runtime writes each error with its message, which may quote a
// request, a job's output or what a service said. The handlers log their errors
// themselves; of any other, such as a panic, the log has the type and the stack.
type runtimeLog struct{ to *slog.Logger }

// Write gets one line a call. The runtime's is an error as JSON.
func (l runtimeLog) Write(line []byte) (int, error) {
	var reported struct {
		Type  string          `json:"errorType"`
		Stack json.RawMessage `json:"stackTrace"`
	}
	text := bytes.TrimSpace(line)
	switch err := json.Unmarshal(text, &reported); {
	case err != nil || reported.Type == "":
		l.to.Error("runtime", "text", string(text))
	case !strings.HasPrefix(reported.Type, "JobPoller."):
		l.to.Error("runtime", "error", reported.Type, "stack", string(reported.Stack))
	}
	return len(line), nil
}
