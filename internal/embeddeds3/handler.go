package embeddeds3

import (
	"io"
	"log"
	"net/http"
	"time"
)

// timeSource is the server's clock as gofakes3 wants it. HTTP dates are in
// Greenwich time, and gofakes3 prints the zone it is given.
type timeSource func() time.Time

func (t timeSource) Now() time.Time { return t().UTC() }

func (t timeSource) Since(then time.Time) time.Duration { return t().Sub(then) }

// silent takes what net/http has to say of connections that a test breaks.
var silent = log.New(io.Discard, "", 0)

// withoutToken hides the session token of temporary credentials, which gofakes3
// would store with the object, send out again, and count as metadata.
func withoutToken(next http.Handler) http.Handler {
	const header = "X-Amz-Security-Token"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(header) != "" {
			r = r.Clone(r.Context())
			r.Header.Del(header)
		}
		next.ServeHTTP(w, r)
	})
}

// dated sets the Date header, which net/http would fill with the real time.
func dated(next http.Handler, now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", now().UTC().Format(http.TimeFormat))
		next.ServeHTTP(w, r)
	})
}
