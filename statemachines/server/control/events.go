package control

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const (
	// mostStreams bounds the clients that follow events.
	mostStreams = 64
	// batch is how many events are written at once.
	batch = 256
	// beat keeps a connection alive on which nothing happens.
	beat = 15 * time.Second
	// writeTimeout ends a client that reads nothing.
	writeTimeout = 30 * time.Second
)

// streamed is an event of the stream.
type streamed struct {
	ExecutionARN string     `json:"executionArn"`
	Event        *sim.Event `json:"event"`
}

// stream is one client that follows events.
type stream struct {
	endpoint *endpoint
	w        http.ResponseWriter
	out      *http.ResponseController

	execution *sim.Execution // nil for all
	last      int64          // what the client has: an event of the execution, or a number of the ring
}

// events streams history events as server-sent events: all from now on, or those of one
// execution from its first. A client that comes again says what it has by the header
// Last-Event-ID.
func (e *endpoint) events(w http.ResponseWriter, r *http.Request) {
	s := &stream{endpoint: e, w: w, out: http.NewResponseController(w)}
	s.last, _ = e.Ring.newest()
	if name := r.URL.Query().Get("execution"); name != "" {
		x, err := e.find(name)
		if err != nil {
			answer(w, nil, err)
			return
		}
		s.execution, s.last = x, 0
	}
	if id := r.Header.Get("Last-Event-ID"); id != "" {
		last, err := strconv.ParseInt(id, 10, 64)
		if err != nil || last < 0 {
			answer(w, nil, refuse(http.StatusBadRequest, "Last-Event-ID: expected the id of an event of this stream"))
			return
		}
		if s.last = last; s.execution == nil {
			newest, _ := e.Ring.newest()
			s.last = min(last, newest) // the client may know a server that has ended since
		}
	}
	if !e.Ring.enter() {
		answer(w, nil, refuse(http.StatusServiceUnavailable, "%d clients follow events already", mostStreams))
		return
	}
	defer e.Ring.leave()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	s.follow(r.Context().Done(), e.Ring.closed)
}

// follow sends events until the client goes or the server ends.
func (s *stream) follow(gone, closed <-chan struct{}) {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	if !s.send(": events\n\n") {
		return
	}
	for {
		_, more := s.endpoint.Ring.newest() // before the look, so that no event is missed
		text := s.next()
		if text != "" {
			if !s.send(text) {
				return
			}
			continue
		}
		select {
		case <-more:
		case <-ticker.C:
			if !s.send(":\n\n") {
				return
			}
		case <-gone:
			return
		case <-closed:
			return
		}
	}
}

func (s *stream) send(text string) bool {
	_ = s.out.SetWriteDeadline(time.Now().Add(writeTimeout)) // a writer of a test has none
	_, err := s.w.Write([]byte(text))
	return err == nil && s.out.Flush() == nil
}

// next returns events that the client does not have yet; empty for none.
func (s *stream) next() string {
	text := []byte(nil)
	if s.execution != nil {
		for _, event := range s.execution.Events(s.last, batch) {
			text = s.lose(text, event.ID-s.last-1) // an execution that has ended may keep its last events alone
			s.last = event.ID
			text = appendEvent(text, event.ID, s.execution.ARN(), &event)
		}
		return string(text)
	}
	first, references := s.endpoint.Ring.after(s.last, batch)
	lost := int64(0)
	if len(references) > 0 {
		lost = first - s.last - 1
	}
	for i, reference := range references {
		s.last = first + int64(i)
		if reference.execution == "" {
			lost += reference.id
			continue
		}
		event, found := s.find(reference)
		if !found {
			lost++
			continue
		}
		text = appendEvent(s.lose(text, lost), s.last, reference.execution, &event)
		lost = 0
	}
	return string(s.lose(text, lost))
}

// find returns the event of a reference, unless it was forgotten meanwhile.
func (s *stream) find(r reference) (event sim.Event, found bool) {
	x := s.endpoint.World.Execution(r.execution)
	if x == nil {
		return event, false
	}
	events := x.Events(r.id-1, 1)
	if len(events) == 0 || events[0].ID != r.id {
		return event, false
	}
	return events[0], true
}

// lose tells the client how many events it does not get, and the log.
func (s *stream) lose(text []byte, events int64) []byte {
	if events <= 0 {
		return text
	}
	if s.endpoint.Lost != nil {
		s.endpoint.Lost(events)
	}
	return fmt.Appendf(text, "event: lost\ndata: {\"events\":%d}\n\n", events)
}

func appendEvent(text []byte, id int64, arn string, event *sim.Event) []byte {
	body, err := json.Marshal(streamed{arn, event})
	if err != nil {
		return text // an event always encodes
	}
	return fmt.Appendf(text, "id: %d\ndata: %s\n\n", id, body)
}
