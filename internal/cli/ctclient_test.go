package cli

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
)

// respond is an HTTP client: it answers the requests of a test, each with its number.
type respond func(r *http.Request, number int) (*http.Response, error)

// client answers by it.
func (f respond) client() *countingClient { return &countingClient{respond: f} }

// countingClient counts the requests.
type countingClient struct {
	respond respond
	number  atomic.Int32
}

// Do implements aws.HTTPClient.
func (c *countingClient) Do(r *http.Request) (*http.Response, error) {
	return c.respond(r, int(c.number.Add(1)))
}

// respondJSON is an answer in JSON.
func respondJSON(status int, body string) (*http.Response, error) {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// refuseConnection is the answer of a server that is not there.
func refuseConnection(r *http.Request) (*http.Response, error) {
	return nil, &url.Error{Op: r.Method, URL: r.URL.String(), Err: syscall.ECONNREFUSED}
}

// saySilent is the answer of a server that never answers.
func saySilent(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}
