package kit

import (
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// DateReader sends requests, and notes the date of the last answer.
type DateReader struct {
	client aws.HTTPClient

	mu   sync.Mutex
	off  time.Duration
	seen bool
}

// NewDateReader reads the dates of answers to an HTTP client.
func NewDateReader(client aws.HTTPClient) *DateReader {
	if client == nil {
		client = awshttp.NewBuildableClient()
	}
	return &DateReader{client: client}
}

// Do implements aws.HTTPClient.
func (r *DateReader) Do(request *http.Request) (*http.Response, error) {
	response, err := r.client.Do(request)
	if err != nil {
		return response, err
	}
	if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		r.mu.Lock()
		r.off, r.seen = time.Since(date).Truncate(time.Second), true
		r.mu.Unlock()
	}
	return response, nil
}

// Skew is how far this machine's clock is ahead of the date of the last answer.
func (r *DateReader) Skew() (time.Duration, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.off, r.seen
}
