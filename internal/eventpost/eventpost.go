// Package eventpost posts events to a server, as EventBridge sends them or as the
// PutEvents call of its API. A server that is slow or away holds nobody up: events
// wait in a queue, and those that find it full are lost. The server is told how many.
package eventpost

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"
)

const (
	// queueLength and queueBytes bound what waits: a burst of ordinary executions, but not
	// one of the largest inputs and outputs.
	queueLength = 1 << 14
	queueBytes  = 64 << 20
	tries       = 4
	firstPause  = 200 * time.Millisecond // it doubles
	sendTimeout = 10 * time.Second
	lastTimeout = 2 * time.Second // to tell what was lost when the time of Close has ended
	maxReply    = 64 << 10
)

// Options say where events go.
type Options struct {
	URL *url.URL
	// PutEvents sends the call of EventBridge's API; otherwise the body is the event.
	PutEvents bool
	// Lost is told how many events were lost, and why.
	Lost func(events int, why error)
	// Client sends; nil stands for one of its own.
	Client *http.Client
}

// Poster sends events one after the other. Close ends it.
type Poster struct {
	options Options
	queue   chan queued
	done    chan struct{}
	cancel  context.CancelFunc

	mu    sync.Mutex
	ended bool
	bytes int // of the events in the queue
	gap   int // events that were lost behind the last one in the queue
}

// queued is an event that waits, behind so many that were lost.
type queued struct {
	event Event
	lost  int
}

// New starts a Poster.
func New(o Options) *Poster {
	if o.Client == nil {
		o.Client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &Poster{options: o, queue: make(chan queued, queueLength), done: make(chan struct{}), cancel: cancel}
	go p.run(ctx)
	return p
}

var errFull = fmt.Errorf("%d events, or %d MiB of them, wait already: the server is too slow, or away", queueLength, queueBytes>>20)

// Post sends an event soon. It never waits.
func (p *Poster) Post(e Event) {
	p.mu.Lock()
	full := !p.ended
	if !p.ended && p.bytes+len(e.Detail) <= queueBytes {
		select {
		case p.queue <- queued{e, p.gap}:
			p.bytes += len(e.Detail)
			p.gap = 0
			full = false
		default:
		}
	}
	p.mu.Unlock()
	if full {
		p.Lose(1, errFull)
	}
}

// Lose notes events that do not come to Post.
func (p *Poster) Lose(events int, why error) {
	p.mu.Lock()
	p.gap += events
	p.mu.Unlock()
	p.options.Lost(events, why)
}

// Close sends what waits, until ctx ends. What is left is lost, and the server gets a moment
// more to learn how many events that are.
func (p *Poster) Close(ctx context.Context) {
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
}

// sender sends what comes out of the queue.
type sender struct {
	*Poster

	last Event // that was sent, or was to be
	lost int   // before the next, and the server does not know
}

func (p *Poster) run(ctx context.Context) {
	defer close(p.done)
	s := &sender{Poster: p}
	for {
		next, more := s.next(ctx)
		if !more {
			s.takeGap()
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTimeout)
			s.tellLost(last)
			cancel()
			return
		}
		s.last = next.event
		s.lost += next.lost
		s.tellLost(ctx)
		if err := p.send(ctx, next.event); err != nil {
			s.lost++
			p.options.Lost(1, err)
		}
	}
}

// next takes the next event. The server learns what was lost before, where it has to wait.
func (s *sender) next(ctx context.Context) (next queued, more bool) {
	select {
	case next, more = <-s.queue:
	default:
		s.takeGap()
		s.tellLost(ctx)
		next, more = <-s.queue
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes -= len(next.event.Detail)
	return next, more
}

// takeGap counts what was lost where no event waits that could tell it.
func (s *sender) takeGap() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost += s.gap
	s.gap = 0
}

// tellLost tells the server how many events it did not get. It tries once: the next event
// brings another try.
func (s *sender) tellLost(ctx context.Context) {
	if s.lost == 0 || s.last.Account == "" { // nobody knows yet of which account
		return
	}
	e := newLostEvent(s.lost, s.last)
	body, err := s.body(e)
	if err == nil && s.post(ctx, e, body) == nil {
		s.lost = 0
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
