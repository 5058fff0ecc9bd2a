package clitest

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
)

// Client is an HTTP client: it answers the requests of a test, each with its number.
type Client func(r *http.Request, number int) (*http.Response, error)

// Client answers by it.
func (f Client) Client() *CountingClient { return &CountingClient{respond: f} }

// CountingClient counts the requests.
type CountingClient struct {
	respond Client
	Number  atomic.Int32
}

// Do implements aws.HTTPClient.
func (c *CountingClient) Do(r *http.Request) (*http.Response, error) {
	return c.respond(r, int(c.Number.Add(1)))
}

// RespondJSON is an answer in JSON.
func RespondJSON(status int, body string) (*http.Response, error) {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// RefuseConnection is the answer of a server that is not there.
func RefuseConnection(r *http.Request) (*http.Response, error) {
	return nil, &url.Error{Op: r.Method, URL: r.URL.String(), Err: syscall.ECONNREFUSED}
}

// SaySilent is the answer of a server that never answers.
func SaySilent(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}
