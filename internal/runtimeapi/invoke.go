package runtimeapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"sync"

	"github.com/jobpoller/jobpoller/internal/loopback"
)

const headerInvocationType = "X-Amz-Invocation-Type"

// maxAsyncPayload is the service's limit for the event of an asynchronous
// invocation, in bytes.
const maxAsyncPayload = 1 << 20

// functionReference matches a function's name, partial ARN or ARN, each with or
// without a version or alias.
var functionReference = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^(?:(?:arn:[a-z-]+:lambda:[a-z0-9-]+:)?(?:\d{12}:)?function:)?([\w-]+)(?::(\$?[\w-]+))?$`)
})

// invokeFunc is what InvokeHandler invokes.
type invokeFunc = func(ctx context.Context, payload []byte) ([]byte, error)

// serviceError is an error of the Lambda service itself, which the SDKs give to
// their callers by its code.
type serviceError struct {
	status  int
	code    string
	message string
}

// ServeInvoke serves InvokeHandler on the loopback interface to clients that sign
// with one of the keys.
func ServeInvoke(
	functions map[string]func(ctx context.Context, payload []byte) ([]byte, error),
	async func(run func(ctx context.Context)),
	keys ...loopback.Keys,
) (*loopback.Server, error) {
	signed := loopback.Signed{Service: loopback.Lambda, Keys: keys, Refuse: refuseUnsigned}
	server, err := loopback.Start(signed.Require(InvokeHandler(functions, async)), nil)
	if err != nil {
		return nil, fmt.Errorf("local Lambda service cannot listen: %w", err)
	}
	return server, nil
}

// refuseUnsigned answers a request whose signature is missing or wrong.
func refuseUnsigned(w http.ResponseWriter, _ *http.Request, refusal *loopback.Refusal) {
	replyServiceError(w, &serviceError{refusal.Status, refusal.Code, refusal.Message})
}

// InvokeHandler returns the Lambda service's Invoke operation over HTTP, so
// that a Lambda client of an AWS SDK whose endpoint is this handler's address
// invokes functions. Keys of functions are function names; a client may also
// name a function by its ARN.
//
// A *FunctionError of a function is answered as the service does, by status 200
// with the header X-Amz-Function-Error; any other error is a ServiceException.
// As at the service, a synchronous invocation goes on when its client leaves.
// An invocation of type Event runs through async, which starts the run in the
// background, owns its goroutine and gives it a context. It runs once: the
// service's two later tries of a failed event are not made.
//
// What this handler cannot do is refused with InvalidParameterValueException:
// the log tail, client contexts, tenants and durable executions.
// https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
func InvokeHandler(
	functions map[string]func(ctx context.Context, payload []byte) ([]byte, error),
	async func(run func(ctx context.Context)),
) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /2015-03-31/functions/{name}/invocations", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Amzn-Requestid", newRequestID())
		if refused := checkHeaders(r.Header); refused != nil {
			replyServiceError(w, refused)
			return
		}
		invoke, refused := lookUp(functions, r)
		if refused != nil {
			replyServiceError(w, refused)
			return
		}
		payload, refused := readEvent(r)
		if refused != nil {
			replyServiceError(w, refused)
			return
		}
		switch r.Header.Get(headerInvocationType) {
		case "DryRun":
			w.WriteHeader(http.StatusNoContent)
		case "Event":
			async(func(ctx context.Context) { _, _ = invoke(ctx, payload) })
			w.WriteHeader(http.StatusAccepted)
		default:
			body, err := invoke(context.WithoutCancel(r.Context()), payload)
			replyInvocation(w, body, err)
		}
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		replyServiceError(w, &serviceError{
			http.StatusNotFound, "UnknownOperationException",
			fmt.Sprintf("%s %s is not the Invoke operation, the only one served here", r.Method, r.URL.Path),
		})
	})
	return mux
}

// checkHeaders refuses what the request asks for and this handler cannot do.
func checkHeaders(h http.Header) *serviceError {
	for _, name := range []string{"X-Amz-Client-Context", "X-Amz-Durable-Execution-Name", "X-Amz-Tenant-Id"} {
		if h.Get(name) != "" {
			return invalidParameter("header %s is not supported here", name)
		}
	}
	if logType := h.Get("X-Amz-Log-Type"); logType != "" && logType != "None" {
		return invalidParameter("log type %q is not supported here: expected None", logType)
	}
	if kind := h.Get(headerInvocationType); kind != "" && kind != "RequestResponse" && kind != "Event" && kind != "DryRun" {
		return invalidParameter("invocation type %q: expected RequestResponse, Event or DryRun", kind)
	}
	return nil
}

// lookUp returns the function that the request names.
func lookUp(functions map[string]invokeFunc, r *http.Request) (invokeFunc, *serviceError) {
	reference := r.PathValue("name")
	parts := functionReference().FindStringSubmatch(reference)
	if parts == nil {
		return nil, invalidParameter("function name %q: expected a name, a partial ARN or an ARN", reference)
	}
	for _, qualifier := range []string{parts[2], r.URL.Query().Get("Qualifier")} {
		if qualifier != "" && qualifier != version {
			return nil, notFound(fmt.Sprintf("%s, version or alias %s (only %s exists here)", reference, qualifier, version))
		}
	}
	invoke, ok := functions[parts[1]]
	if !ok {
		return nil, notFound(reference)
	}
	return invoke, nil
}

// readEvent reads the event of an invocation. None is an empty object.
func readEvent(r *http.Request) ([]byte, *serviceError) {
	limit := MaxPayload
	if r.Header.Get(headerInvocationType) == "Event" {
		limit = maxAsyncPayload
	}
	payload, err := io.ReadAll(io.LimitReader(r.Body, int64(limit)+1))
	switch {
	case err != nil:
		return nil, &serviceError{http.StatusBadRequest, "InvalidRequestContentException", "cannot read the request body: " + err.Error()}
	case len(payload) > limit:
		return nil, &serviceError{
			http.StatusRequestEntityTooLarge, "RequestEntityTooLargeException",
			fmt.Sprintf("Request must be smaller than %d bytes for the InvokeFunction operation", limit),
		}
	case len(bytes.TrimSpace(payload)) == 0:
		return []byte("{}"), nil
	case !json.Valid(payload):
		return nil, &serviceError{http.StatusBadRequest, "InvalidRequestContentException", "Could not parse request body into json"}
	}
	return payload, nil
}

func replyInvocation(w http.ResponseWriter, body []byte, err error) {
	if err == nil && len(body) > maxResponse {
		err = responseTooLarge()
	}
	if failed, ok := errors.AsType[*FunctionError](err); ok {
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		body = failed.Body
	} else if err != nil {
		replyServiceError(w, &serviceError{http.StatusInternalServerError, "ServiceException", err.Error()})
		return
	}
	w.Header().Set("X-Amz-Executed-Version", version)
	writeJSON(w, http.StatusOK, body)
}

func replyServiceError(w http.ResponseWriter, e *serviceError) {
	fault := "User"
	if e.status >= http.StatusInternalServerError {
		fault = "Service"
	}
	w.Header().Set("X-Amzn-Errortype", e.code)
	// The operation's errors disagree on the case of the message's name.
	body, _ := json.Marshal(map[string]string{"Type": fault, "Message": e.message, "message": e.message}) // strings always encode
	writeJSON(w, e.status, body)
}

func invalidParameter(format string, args ...any) *serviceError {
	return &serviceError{http.StatusBadRequest, "InvalidParameterValueException", fmt.Sprintf(format, args...)}
}

func notFound(reference string) *serviceError {
	return &serviceError{http.StatusNotFound, "ResourceNotFoundException", "Function not found: " + reference}
}
