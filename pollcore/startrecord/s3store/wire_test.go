package s3store_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// fault answers a request in the server's stead.
type fault func(next http.Handler, w http.ResponseWriter, r *http.Request)

// wire records the requests that reach the server and injects faults.
type wire struct {
	mu       sync.Mutex
	requests []string
	path     string
	faults   []fault // for the PUTs to come, in order; nil means none
	gets     []fault // for the GETs to come
}

func (w *wire) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if f := w.record(r); f != nil {
			f(next, rw, r)
			return
		}
		next.ServeHTTP(rw, r)
	})
}

func (w *wire) record(r *http.Request) fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := r.Method
	for _, name := range []string{"If-Match", "If-None-Match"} {
		if value := r.Header.Get(name); value != "" {
			line += fmt.Sprintf(" %s=%s", name, value)
		}
	}
	w.requests = append(w.requests, strings.TrimSpace(line+" "+r.Header.Get("Content-Type")))
	w.path = r.URL.Path
	queue := &w.faults
	if r.Method == http.MethodGet {
		queue = &w.gets
	}
	if len(*queue) == 0 {
		return nil
	}
	f := (*queue)[0]
	*queue = (*queue)[1:]
	return f
}

// fail sets the faults of the next PUTs.
func (w *wire) fail(faults ...fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = faults
}

// failGets sets the faults of the next GETs.
func (w *wire) failGets(faults ...fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gets = faults
}

// take returns the requests since the last take.
func (w *wire) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	requests := w.requests
	w.requests = nil
	return requests
}

// methods is take without the headers.
func (w *wire) methods() string {
	requests := w.take()
	for i, request := range requests {
		requests[i], _, _ = strings.Cut(request, " ")
	}
	return strings.Join(requests, " ")
}

// refuse answers with an S3 error and does nothing.
func refuse(status int, code string) fault {
	return func(_ http.Handler, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		if code != "" {
			fmt.Fprintf(w, "<Error><Code>%s</Code><Message>injected</Message></Error>", code)
		}
	}
}

// reset drops the connection before the request is handled.
func reset(http.Handler, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// commit handles the request and then answers as the fault does.
func commit(then fault) fault {
	return func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(httptest.NewRecorder(), r)
		then(next, w, r)
	}
}

// omit handles the request and leaves headers out of the answer.
func omit(names ...string) fault {
	return func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		maps.Copy(w.Header(), answer.Header())
		for _, name := range names {
			w.Header()[http.CanonicalHeaderKey(name)] = nil // keeps net/http from setting Date
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}
}

// cut announces the whole body and drops the connection in the middle of it.
func cut(next http.Handler, w http.ResponseWriter, r *http.Request) {
	answer := httptest.NewRecorder()
	next.ServeHTTP(answer, r)
	maps.Copy(w.Header(), answer.Header())
	w.Header().Set("Content-Length", fmt.Sprint(answer.Body.Len()))
	_, _ = w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// times repeats a fault.
func times(n int, f fault) []fault { return slices.Repeat([]fault{f}, n) }

// promptRetryer retries what the SDK's own retryer does, but without a pause.
type promptRetryer struct{ aws.Retryer }

func (promptRetryer) RetryDelay(int, error) (time.Duration, error) { return 0, nil }
