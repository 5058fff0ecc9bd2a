package embeddeds3

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/jobpoller/jobpoller/internal/loopback"
)

func newClient(url string, keys loopback.Keys, transport http.RoundTripper) *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: aws.String(url),
		UsePathStyle: true,
		Region:       "us-east-1",
		HTTPClient:   &http.Client{Transport: transport},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: keys.AccessKeyID, SecretAccessKey: keys.SecretAccessKey}, nil
		}),
	})
}

// inProcess is an http.RoundTripper that calls a handler.
type inProcess struct{ handler http.Handler }

// errAborted is what a client sees of a handler that panics with
// http.ErrAbortHandler, which a server answers by dropping the connection.
var errAborted = errors.New("connection dropped by the server")

func (t inProcess) RoundTrip(r *http.Request) (_ *http.Response, err error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	// The request as a server sees it.
	in := r.Clone(r.Context())
	in.RequestURI = r.URL.RequestURI()
	in.RemoteAddr = "127.0.0.1:0"
	if in.Host == "" {
		in.Host = r.URL.Host
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	if r.ContentLength >= 0 {
		in.Header.Set("Content-Length", strconv.FormatInt(r.ContentLength, 10))
	}
	defer func() {
		switch p := recover(); p {
		case nil:
		case http.ErrAbortHandler:
			err = errAborted
		default:
			panic(p)
		}
	}()
	w := &recorder{header: http.Header{}}
	t.handler.ServeHTTP(w, in)
	return w.response(r), nil
}

// recorder is a http.ResponseWriter that keeps the response.
type recorder struct {
	header http.Header
	sent   http.Header // header when the status was written; later changes do not count
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header { return w.header }

func (w *recorder) WriteHeader(status int) {
	if w.sent == nil {
		w.status, w.sent = status, w.header.Clone()
	}
}

func (w *recorder) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

func (w *recorder) response(r *http.Request) *http.Response {
	w.WriteHeader(http.StatusOK)
	return &http.Response{
		Status:        strconv.Itoa(w.status) + " " + http.StatusText(w.status),
		StatusCode:    w.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        w.sent,
		Body:          io.NopCloser(&w.body),
		ContentLength: int64(w.body.Len()),
		Request:       r,
	}
}
