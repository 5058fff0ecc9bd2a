package httpjob

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
)

// StatusError is an answer that says no by its HTTP status.
type StatusError struct {
	StatusCode int
	call       string // method, scheme and host
}

// Error tells the call and the status, and nothing of the answer's body.
func (e *StatusError) Error() string { return e.call + e.describe() }

// OwnWords is the text for logs: the call is the request's.
func (e *StatusError) OwnWords() string { return "the server" + e.describe() }

// HTTPStatusCode returns the status, by which goerror.Classify judges.
func (e *StatusError) HTTPStatusCode() int { return e.StatusCode }

// ErrorCode returns the name for errorType acceptors: Http.StatusCode.404 and
// the like, which is what Step Functions' HTTP task calls the error, less its
// "States.".
func (e *StatusError) ErrorCode() string { return "Http.StatusCode." + strconv.Itoa(e.StatusCode) }

// describe says what the status means.
func (e *StatusError) describe() string {
	text := fmt.Sprintf(" answered %d %s", e.StatusCode, http.StatusText(e.StatusCode))
	switch {
	case e.StatusCode >= 300 && e.StatusCode < 400:
		text += "; only describe calls follow redirects, so give the final URL"
	case e.StatusCode == http.StatusUnauthorized, e.StatusCode == http.StatusForbidden:
		text += "; give the call's Headers, or the function's transport, credentials that the server takes"
	}
	return text
}

// answer is what a server has answered.
type answer struct {
	status  int
	headers http.Header
	body    []byte
	bodyErr error // why there is no whole body
	call    string
}

// read takes an answer in. That its body cannot be read is told to whoever
// needs the body: a job runs all the same.
func read(call string, response *http.Response) *answer {
	a := &answer{status: response.StatusCode, headers: response.Header, call: call}
	if response.StatusCode == http.StatusSwitchingProtocols {
		// The body is the connection, which heeds no context.
		a.bodyErr = response.Body.Close()
		return a
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, jobs.MaxPayloadBytes+1))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		a.bodyErr = &smithyhttp.RequestSendError{Err: fmt.Errorf("%s: the answer ended early: %w", call, err)}
	} else if len(body) > jobs.MaxPayloadBytes {
		a.bodyErr = fmt.Errorf("%s: the answer is larger than %d bytes", call, jobs.MaxPayloadBytes)
	}
	a.body = body
	return a
}

// ok returns a StatusError unless the status says that the call was done.
func (a *answer) ok() error {
	if a.status < 200 || a.status > 299 {
		return &StatusError{a.status, a.call}
	}
	return nil
}

// document returns what expressions and waiters read, and why it has no Body
// if the answer's cannot be read.
func (a *answer) document() (map[string]any, error) {
	headers := map[string]any{}
	for name, values := range a.headers {
		if name != "Set-Cookie" { // a secret between client and server
			headers[name] = strings.Join(values, ", ")
		}
	}
	document := map[string]any{"StatusCode": json.Number(strconv.Itoa(a.status)), "Headers": headers}
	body := bytes.TrimSpace(a.body)
	if a.bodyErr != nil || len(body) == 0 {
		return document, a.bodyErr
	}
	doc, err := jsontree.Parse(body)
	if err != nil {
		return document, fmt.Errorf("%s: the answer has the type %q, which is not JSON", a.call, a.headers.Get("Content-Type"))
	}
	document["Body"] = doc.Root.Value()
	return document, nil
}

// place names a call without what may be secret: path and query.
func place(method string, u *url.URL) string { return method + " " + u.Scheme + "://" + u.Host }

var (
	errLocation = errors.New("the answer's Location is not a URL")
	errNoHTTP   = errors.New("the answer is not HTTP")
)

// located is a transport that refuses redirects to nowhere: net/http
// would quote them.
type located struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (l located) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := l.RoundTripper.RoundTrip(r)
	if err != nil || response.StatusCode < 300 || response.StatusCode > 399 {
		return response, err
	}
	if _, err := r.URL.Parse(response.Header.Get("Location")); err != nil {
		_ = response.Body.Close()
		return nil, errLocation
	}
	return response, nil
}

// withoutAnswer returns the error of a call that has no answer, without what
// net/http quotes of one that is not HTTP.
func withoutAnswer(err error) error {
	_, network := errors.AsType[net.Error](err)
	if network || errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "HTTP/1.x transport connection broken") {
		return err
	}
	return errNoHTTP
}
