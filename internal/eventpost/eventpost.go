// Package eventpost posts events to a server, as EventBridge sends them or as the
// PutEvents call of its API. A server that is slow or away holds nobody up: events
// wait in a queue, and those that find it full are dropped and counted.
package eventpost

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"sync"
	"time"
)

const (
	queueLength = 1000
	tries       = 4
	firstPause  = 200 * time.Millisecond // it doubles
	sendTimeout = 10 * time.Second
	// logEvery keeps a server that is away from filling the log.
	logEvery = 10 * time.Second
	maxReply = 64 << 10
)

// Options say where events go.
type Options struct {
	URL *url.URL
	// PutEvents sends the call of EventBridge's API; otherwise the body is the event.
	PutEvents bool
	// Log is told of events that are dropped.
	Log *log.Logger
	// Client sends; nil stands for one of its own.
	Client *http.Client
}

// Poster sends events one after the other. Close ends it.
type Poster struct {
	options Options
	queue   chan Event
	done    chan struct{}
	cancel  context.CancelFunc

	mu       sync.Mutex
	ended    bool
	dropped  int
	reported int // of those dropped
	told     time.Time
}

// New starts a Poster.
func New(o Options) *Poster {
	if o.Client == nil {
		o.Client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &Poster{options: o, queue: make(chan Event, queueLength), done: make(chan struct{}), cancel: cancel}
	go p.run(ctx)
	return p
}

// Post sends an event soon. It never waits.
func (p *Poster) Post(e Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	select {
	case p.queue <- e:
	default:
		p.drop(errors.New("the queue is full"))
	}
}

// CountDropped is how many events were not sent.
func (p *Poster) CountDropped() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dropped
}

// Close sends what waits until ctx ends, and returns how many events were dropped.
func (p *Poster) Close(ctx context.Context) int {
	p.mu.Lock()
	if !p.ended {
		p.ended = true
		close(p.queue)
	}
	p.mu.Unlock()
	stop := context.AfterFunc(ctx, p.cancel)
	<-p.done
	stop()
	p.cancel()
	p.options.Client.CloseIdleConnections()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dropped > p.reported {
		p.options.Log.Printf("--events-to: %d events were dropped", p.dropped)
		p.reported = p.dropped
	}
	return p.dropped
}

func (p *Poster) run(ctx context.Context) {
	defer close(p.done)
	for e := range p.queue {
		if err := p.send(ctx, e); err != nil {
			p.mu.Lock()
			p.drop(err)
			p.mu.Unlock()
		}
	}
}

// drop counts an event that is not sent, and tells it now and then.
func (p *Poster) drop(why error) {
	p.dropped++
	if now := time.Now(); now.Sub(p.told) >= logEvery {
		p.told, p.reported = now, p.dropped
		p.options.Log.Printf("--events-to: events dropped so far: %d; the last, because %v", p.dropped, why)
	}
}

// send posts an event, and tries again if the server does not take it.
func (p *Poster) send(ctx context.Context, e Event) error {
	body, err := p.body(e)
	if err != nil {
		return err
	}
	pause := firstPause
	for try := 1; ; try++ {
		if err = p.post(ctx, e, body); err == nil || try == tries || ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
		pause *= 2
	}
}

// body is what is posted: the event, or the request of PutEvents.
func (p *Poster) body(e Event) ([]byte, error) {
	if !p.options.PutEvents {
		return json.Marshal(e)
	}
	type entry struct {
		Time       int64    `json:"Time"`
		Source     string   `json:"Source"`
		DetailType string   `json:"DetailType"`
		Detail     string   `json:"Detail"`
		Resources  []string `json:"Resources"`
	}
	return json.Marshal(map[string][]entry{"Entries": {{e.Time.Unix(), e.Source, e.DetailType, string(e.Detail), e.Resources}}})
}

// post sends the body once. Its error quotes nothing of the URL's secrets.
func (p *Poster) post(ctx context.Context, e Event, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.options.URL.String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if p.options.PutEvents {
		r.Header.Set("Content-Type", "application/x-amz-json-1.1")
		r.Header.Set("X-Amz-Target", "AWSEvents.PutEvents")
		// Emulators read the account and the region here, and verify nothing.
		r.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s/%s/events/aws4_request, SignedHeaders=host, Signature=none",
			e.Account, time.Now().UTC().Format("20060102"), e.Region))
	}
	answer, err := p.options.Client.Do(r)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err
		}
		return err
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxReply))
	_ = answer.Body.Close()
	switch {
	case answer.StatusCode/100 != 2: //nolint:mnd // the class of success
		return fmt.Errorf("the server answers %s", answer.Status)
	case err != nil:
		return err
	case !p.options.PutEvents:
		return nil
	}
	var result struct {
		FailedEntryCount int `json:"FailedEntryCount"`
		Entries          []struct {
			ErrorCode string `json:"ErrorCode"`
		} `json:"Entries"`
	}
	if json.Unmarshal(text, &result) == nil && result.FailedEntryCount > 0 && len(result.Entries) > 0 {
		return fmt.Errorf("the server refuses it: %s", result.Entries[0].ErrorCode)
	}
	return nil
}
