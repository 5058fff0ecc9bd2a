package soak

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/jobpoller/jobpoller/internal/embeddeds3"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
)

const bucket = "records"

// virtual is a clock that moves when its execution waits.
type virtual struct {
	mu  sync.Mutex
	now time.Time
}

func (c *virtual) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *virtual) Wait(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Embed opens a place on an embedded S3 server of its own, on a virtual
// clock, with faults in front of it. Wrap, if it is not nil, comes between the
// faults and the server.
func Embed(wrap func(http.Handler) http.Handler) func(string, *rand.Rand, *Counts) (Place, error) {
	return func(_ string, random *rand.Rand, c *Counts) (Place, error) {
		clock := &virtual{now: time.Date(2026, 11, 20, 9, 30, 14, 0, time.UTC)}
		server, err := embeddeds3.Start(embeddeds3.Options{Now: clock.Now, Middleware: func(next http.Handler) http.Handler {
			if wrap != nil {
				next = wrap(next)
			}
			return &faults{next: next, counts: c, random: random}
		}})
		if err != nil {
			return Place{}, err
		}
		if err := server.CreateBucket(bucket); err != nil {
			return Place{}, err
		}
		client := s3.New(server.Client().Options(), func(o *s3.Options) { o.Retryer = Prompt{o.Retryer} })
		// As at AWS itself: behind an endpoint the store would be probed.
		store, err := s3store.New(struct{ s3store.API }{client}, bucket, "")
		return Place{Store: store, Clock: clock, Close: server.Close}, err
	}
}

// Prompt is a retryer without pauses.
type Prompt struct{ aws.Retryer }

// RetryDelay implements aws.Retryer.
func (Prompt) RetryDelay(int, error) (time.Duration, error) { return 0, nil }

// faults breaks requests to an S3 server before or after they take effect.
type faults struct {
	next   http.Handler
	counts *Counts

	mu     sync.Mutex
	random *rand.Rand
	nonce  string // of the last record that the server took
}

var nonce = regexp.MustCompile(`"nonce":"([^"]*)"`)

func (f *faults) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method, kinds := "reads", readFaults
	if r.Method == http.MethodPut {
		method, kinds = "writes", writeFaults
	}
	f.counts.Add("requests to S3: " + method)
	broken, late := f.draw(kinds)
	if late {
		f.counts.Add("late requests to S3")
		<-time.After(time.Millisecond)
	}
	if broken == "" {
		f.serve(w, r)
		return
	}
	f.counts.Add("requests to S3 that fail: " + method)
	f.counts.Add("fault: " + broken)
	if strings.HasPrefix(broken, "effect, ") {
		f.serve(httptest.NewRecorder(), r)
	}
	switch broken {
	case error500, late500:
		refuse(w, http.StatusInternalServerError, "InternalError")
	case error503, late503:
		refuse(w, http.StatusServiceUnavailable, "SlowDown")
	case error409:
		refuse(w, http.StatusConflict, "ConditionalRequestConflict")
	default:
		panic(http.ErrAbortHandler)
	}
}

// The ways in which a request fails.
const (
	error500  = "500"
	error503  = "503"
	error409  = "409"
	reset     = "reset before the effect"
	lateReset = "effect, then reset"
	late500   = "effect, then 500"
	late503   = "effect, then 503"
)

var (
	readFaults  = []string{error500, error503, reset}
	writeFaults = []string{error500, error503, error409, reset, lateReset, late500, late503}
)

// draw returns how a request fails, if it does, and whether it is late.
func (f *faults) draw(kinds []string) (broken string, late bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	late = f.random.Float64() < lateShare
	if f.random.Float64() < faultShare {
		broken = kinds[f.random.IntN(len(kinds))]
	}
	return broken, late
}

// serve passes a request on, and notes a write that the server refuses because
// of itself: the SDK sends it again when the first answer was lost.
func (f *faults) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	watched := &status{ResponseWriter: w}
	f.next.ServeHTTP(watched, r)
	if r.Method != http.MethodPut {
		return
	}
	found := nonce.FindSubmatch(body)
	if found == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case watched.code == http.StatusPreconditionFailed && f.nonce == string(found[1]):
		f.counts.Add("writes refused because of themselves (412)")
	case watched.code == http.StatusOK || watched.code == 0:
		f.nonce = string(found[1])
	}
}

// status notes the status of an answer.
type status struct {
	http.ResponseWriter

	code int
}

func (s *status) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

func refuse(w http.ResponseWriter, code int, name string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, "<Error><Code>"+name+"</Code><Message>said the soak</Message></Error>")
}
