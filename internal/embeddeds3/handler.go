package embeddeds3

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/internal/loopback"
)

const (
	maxKey    = 1024 // bytes
	maxDelete = 1000 // keys in one DeleteObjects
	timeForm  = "2006-01-02T15:04:05.000Z"
)

// handler serves the operations on objects and buckets that programs of a run
// and people use. Any other is NotImplemented: multipart uploads, versions,
// access lists, tags, policies and lifecycle rules.
type handler struct {
	backend backend
	now     func() time.Time
}

// withDate sets the Date header, which net/http would fill with the real time.
func withDate(next http.Handler, now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", now().UTC().Format(http.TimeFormat))
		next.ServeHTTP(w, r)
	})
}

// refuseUnsigned answers a request whose signature is missing or wrong.
func refuseUnsigned(w http.ResponseWriter, r *http.Request, refusal *loopback.Refusal) {
	(&failure{Status: refusal.Status, Code: refusal.Code, Message: refusal.Message}).reply(w, r)
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Server", "jobpoller")
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	var err error
	switch {
	case bucket == "":
		err = h.serveService(w, r)
	case key == "":
		err = h.serveBucket(w, r, bucket)
	case len(key) > maxKey:
		err = failArgument("KeyTooLongError", fmt.Sprintf("Your key is too long: %d bytes, at most %d", len(key), maxKey))
	default:
		err = h.serveObject(w, r, bucket, key)
	}
	if err != nil {
		asFailure(err).reply(w, r)
	}
}

// takes refuses query parameters that the operation does not have: they would
// make it another one.
func takes(r *http.Request, names ...string) error {
	for name := range r.URL.Query() {
		if name != "x-id" && !slices.Contains(names, name) {
			return notImplemented(fmt.Sprintf("%s with the query parameter %q", r.Method, name))
		}
	}
	return nil
}

type bucketEntry struct {
	Name         string `xml:"Name"`
	CreationDate string `xml:"CreationDate"`
}

func (h *handler) serveService(w http.ResponseWriter, r *http.Request) error {
	if err := takes(r); err != nil {
		return err
	}
	if r.Method != http.MethodGet {
		return notImplemented(r.Method + " without a bucket")
	}
	names, err := h.backend.buckets()
	if err != nil {
		return err
	}
	answer := struct {
		XMLName xml.Name      `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListAllMyBucketsResult"`
		Buckets []bucketEntry `xml:"Buckets>Bucket"`
	}{}
	for _, name := range names {
		answer.Buckets = append(answer.Buckets, bucketEntry{name, time.Unix(0, 0).UTC().Format(timeForm)})
	}
	replyXML(w, http.StatusOK, answer)
	return nil
}

func (h *handler) serveBucket(w http.ResponseWriter, r *http.Request, bucket string) error {
	query := r.URL.Query()
	switch {
	case r.Method == http.MethodPost && query.Has("delete"):
		return h.deleteObjects(w, r, bucket)
	case r.Method == http.MethodGet && query.Has("location"):
		return h.locate(w, r, bucket)
	case r.Method == http.MethodGet:
		return h.list(w, r, bucket)
	}
	if err := takes(r); err != nil {
		return err
	}
	switch r.Method {
	case http.MethodHead:
		return h.backend.scan(bucket, "", func(string, *object) bool { return false })
	case http.MethodPut:
		return h.putBucket(w, bucket)
	case http.MethodDelete:
		if err := h.backend.deleteBucket(bucket); err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	default:
		return notImplemented(r.Method + " of a bucket")
	}
}

var bucketName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`) })

func (h *handler) putBucket(w http.ResponseWriter, name string) error {
	if !bucketName().MatchString(name) {
		return failArgument("InvalidBucketName", "The specified bucket is not valid: expected 3 to 63 of a-z, 0-9, dot and hyphen.")
	}
	created, err := h.backend.createBucket(name)
	if err != nil {
		return err
	}
	if !created {
		return &failure{Status: http.StatusConflict, Code: "BucketAlreadyOwnedByYou", Message: "The bucket is there already."}
	}
	w.Header().Set("Location", "/"+name)
	return nil
}

func (h *handler) locate(w http.ResponseWriter, r *http.Request, bucket string) error {
	if err := takes(r, "location"); err != nil {
		return err
	}
	if err := h.backend.scan(bucket, "", func(string, *object) bool { return false }); err != nil {
		return err
	}
	replyXML(w, http.StatusOK, struct { // empty: us-east-1
		XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ LocationConstraint"`
	}{})
	return nil
}

func (h *handler) serveObject(w http.ResponseWriter, r *http.Request, bucket, key string) error {
	if err := takes(r); err != nil {
		return err
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return h.getObject(w, r, bucket, key)
	case http.MethodPut:
		return h.putObject(w, r, bucket, key)
	case http.MethodDelete:
		condition := condition{etag: r.Header.Get("If-Match")}
		if err := h.delete(bucket, key, condition); err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	default:
		return notImplemented(r.Method + " of an object")
	}
}

func (h *handler) getObject(w http.ResponseWriter, r *http.Request, bucket, key string) error {
	o, err := h.backend.get(bucket, key)
	if err != nil {
		return err
	}
	if o == nil {
		return failMissing("NoSuchKey", "The specified key does not exist.")
	}
	for name, value := range o.Header {
		w.Header().Set(name, value)
	}
	if o.Header["Content-Type"] == "" {
		w.Header().Set("Content-Type", "binary/octet-stream")
	}
	w.Header().Set("ETag", o.ETag)
	// It knows ranges and the conditions of a read.
	http.ServeContent(w, r, "", o.Modified, bytes.NewReader(o.Body))
	return nil
}

func (h *handler) putObject(w http.ResponseWriter, r *http.Request, bucket, key string) error {
	condition, failed := readCondition(r.Header)
	if failed != nil {
		return failed
	}
	source := r.Header.Get("X-Amz-Copy-Source")
	if source != "" {
		return h.copyObject(w, r, bucket, key, source, condition)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, loopback.MaxBody))
	if err != nil {
		return failArgument("IncompleteBody", "the request ended before its body was complete, or is larger than this server takes")
	}
	stored, err := h.store(bucket, key, condition, func(now time.Time) *object { return newObject(r.Header, body, now) })
	if err != nil {
		return err
	}
	w.Header().Set("ETag", stored.ETag)
	return nil
}

func (h *handler) store(bucket, key string, c condition, create func(now time.Time) *object) (stored *object, err error) {
	return stored, h.backend.update(bucket, key, func(there *object) (*object, error) {
		if failed := c.check(there); failed != nil {
			return nil, failed
		}
		stored = create(h.now()) // within the update: times go with the order of writes
		return stored, nil
	})
}

func (h *handler) copyObject(w http.ResponseWriter, r *http.Request, bucket, key, source string, c condition) error {
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Amz-Copy-Source-") {
			return notImplemented("copies with the header " + name)
		}
	}
	path, err := url.PathUnescape(strings.TrimPrefix(source, "/"))
	fromBucket, fromKey, ok := strings.Cut(path, "/")
	if err != nil || !ok {
		return failArgument("InvalidArgument", "x-amz-copy-source: expected BUCKET/KEY")
	}
	from, err := h.backend.get(fromBucket, fromKey)
	if err != nil {
		return err
	}
	if from == nil {
		return failMissing("NoSuchKey", "The specified key does not exist.")
	}
	stored, err := h.store(bucket, key, c, func(now time.Time) *object {
		copied := newObject(r.Header, from.Body, now)
		if r.Header.Get("X-Amz-Metadata-Directive") != "REPLACE" {
			copied.Header = from.Header
		}
		return copied
	})
	if err != nil {
		return err
	}
	replyXML(w, http.StatusOK, struct {
		XMLName      xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ CopyObjectResult"`
		ETag         string   `xml:"ETag"`
		LastModified string   `xml:"LastModified"`
	}{ETag: stored.ETag, LastModified: stored.Modified.Format(timeForm)})
	return nil
}

// delete deletes an object. It is no error if there is none, unless the
// condition asks for one.
func (h *handler) delete(bucket, key string, c condition) error {
	return h.backend.update(bucket, key, func(there *object) (*object, error) {
		if failed := c.check(there); failed != nil {
			return nil, failed
		}
		return nil, nil
	})
}

type keyEntry struct {
	Key string `xml:"Key"`
}

func (h *handler) deleteObjects(w http.ResponseWriter, r *http.Request, bucket string) error {
	if err := takes(r, "delete"); err != nil {
		return err
	}
	var request struct {
		Quiet   bool       `xml:"Quiet"`
		Objects []keyEntry `xml:"Object"`
	}
	if err := xml.NewDecoder(http.MaxBytesReader(w, r.Body, loopback.MaxBody)).Decode(&request); err != nil {
		return failArgument("MalformedXML", "The XML you provided was not well-formed.")
	}
	if len(request.Objects) > maxDelete {
		return failArgument("MalformedXML", fmt.Sprintf("expected at most %d keys", maxDelete))
	}
	answer := struct {
		XMLName xml.Name   `xml:"http://s3.amazonaws.com/doc/2006-03-01/ DeleteResult"`
		Deleted []keyEntry `xml:"Deleted"`
	}{}
	for _, o := range request.Objects {
		if err := h.delete(bucket, o.Key, condition{}); err != nil {
			return err
		}
		if !request.Quiet {
			answer.Deleted = append(answer.Deleted, o)
		}
	}
	replyXML(w, http.StatusOK, answer)
	return nil
}
