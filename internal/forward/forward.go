// Package forward sends requests of AWS clients on to another server, such as an
// emulator of other services, as they came: path, query, host, headers and body stay,
// for the client has signed them.
package forward

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/jobpoller/jobpoller/internal/loopback"
)

const (
	viaHeader = "Via"
	// idleConnections is how many connections to the other server wait for requests.
	idleConnections = 64
)

// New returns a handler that sends requests to the server at a URL. Answers that could
// not be had go to errorLog.
func New(to *url.URL, errorLog *log.Logger) http.Handler {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // an answer stays as it is
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = idleConnections, idleConnections
	if to.Scheme == "http" { // of TLS, the transport knows another type of connection
		transport.DialContext = dialer(transport.DialContext)
	}
	via := "1.1 jobpoller-" + loopback.NewSecret()
	proxy := &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1, // answers are streams
		ErrorLog:      errorLog,
		Rewrite: func(r *httputil.ProxyRequest) {
			out := r.Out
			path := r.In.URL.EscapedPath()
			out.URL.Scheme, out.URL.Host, out.URL.RawQuery = to.Scheme, to.Host, r.In.URL.RawQuery
			if base := strings.TrimSuffix(to.EscapedPath(), "/"); base != "" {
				out.URL.Path, out.URL.RawPath = strings.TrimSuffix(to.Path, "/")+r.In.URL.Path, base+path
			}
			out.Host = r.In.Host
			for name, values := range r.In.Header {
				if name == "Forwarded" || strings.HasPrefix(name, "X-Forwarded-") {
					out.Header[name] = slices.Clone(values)
				}
			}
			out.Header.Add(viaHeader, via)
		},
		ModifyResponse: func(r *http.Response) error {
			for name := range r.Header {
				if strings.HasPrefix(name, "Access-Control-") { // the guard lets no other site in
					r.Header.Del(name)
				}
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() != nil {
				return // the client has gone
			}
			errorLog.Printf("--forward: no answer of %s: %s", to.Host, reason(err))
			const problem = "no answer of %s://%s, where --forward sends what is not for Step Functions: %s"
			http.Error(w, fmt.Sprintf(problem, to.Scheme, to.Host, reason(err)), http.StatusBadGateway)
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slices.ContainsFunc(r.Header.Values(viaHeader), func(value string) bool { return strings.Contains(value, via) }) {
			http.Error(w, "--forward leads back to this server: name the URL of the other server", http.StatusLoopDetected)
			return
		}
		// Else net/http reads the body to its end and closes it when the answer begins. The
		// transport, which still reads it, would break the answer off.
		_ = http.NewResponseController(w).EnableFullDuplex()                    // only the writer of a test has none
		r = r.WithContext(httptrace.WithClientTrace(r.Context(), beginRequest)) // a copy, which may have another body
		if r.ContentLength != 0 {
			body := &readBody{ReadCloser: r.Body}
			r.Body, w = body, &answer{w, body}
		}
		proxy.ServeHTTP(w, r)
	})
}

// readBody is the body of a request. It knows whether it has been read.
type readBody struct {
	io.ReadCloser

	ended atomic.Bool
}

// Read implements io.Reader.
func (b *readBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.ended.Store(true)
	}
	return n, err
}

// answer closes the connection behind an answer that begins before the request has been
// read: in full duplex net/http cannot read another request from it.
type answer struct {
	http.ResponseWriter

	request *readBody
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if status >= http.StatusOK && !a.request.ended.Load() {
		a.Header().Set("Connection", "close")
	}
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController flush.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// reason is an error without the path and query of the request, which may have
// secrets.
func reason(err error) string {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err.Error()
	}
	return err.Error()
}
