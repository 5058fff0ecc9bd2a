package embeddeds3

import (
	"crypto/md5" //nolint:gosec // S3's ETags are MD5 sums
	"encoding/hex"
	"net/http"
	"strings"
	"time"
)

// object is what is stored under a key. It is not changed once it is stored.
type object struct {
	Body     []byte            `json:"body"`
	Header   map[string]string `json:"header,omitempty"` // what the client says of the body, and its own metadata
	ETag     string            `json:"etag"`             // with quotes
	Modified time.Time         `json:"modified"`
}

// kept are the headers of a PUT that a GET gives back, besides x-amz-meta-*.
var kept = []string{"Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Type", "Expires"}

const metadata = "X-Amz-Meta-"

func newObject(h http.Header, body []byte, now time.Time) *object {
	sum := md5.Sum(body) //nolint:gosec // see the import
	o := &object{Body: body, Header: map[string]string{}, ETag: `"` + hex.EncodeToString(sum[:]) + `"`, Modified: now.UTC()}
	for _, name := range kept {
		if value := h.Get(name); value != "" {
			o.Header[name] = value
		}
	}
	for name := range h {
		if strings.HasPrefix(name, metadata) {
			o.Header[name] = strings.Join(h.Values(name), ",")
		}
	}
	return o
}

// condition is what If-None-Match and If-Match ask of the object that is there.
type condition struct {
	absent bool   // If-None-Match: *
	etag   string // If-Match: an ETag, or * for any
}

// readCondition reads the condition of a write. S3 knows no other forms.
func readCondition(h http.Header) (condition, *failure) {
	c := condition{etag: h.Get("If-Match")}
	switch value := h.Get("If-None-Match"); {
	case value == "*" && c.etag == "":
		c.absent = true
	case value != "":
		return c, notImplemented("If-None-Match takes * alone, without If-Match")
	}
	return c, nil
}

// check returns nil if the object that is there, or nil, is as the condition
// asks.
func (c condition) check(stored *object) *failure {
	switch {
	case c.absent && stored != nil:
		return failPrecondition("If-None-Match")
	case c.etag != "" && stored == nil:
		return failMissing("NoSuchKey", "The specified key does not exist.")
	case c.etag != "" && c.etag != "*" && strings.Trim(c.etag, `"`) != strings.Trim(stored.ETag, `"`):
		return failPrecondition("If-Match")
	default:
		return nil
	}
}
