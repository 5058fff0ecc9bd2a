package page

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"strconv"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/history"
)

// How often a page is brought up to date: ten times a second at most, and less often
// where that takes long.
const (
	leastPause = 100 * time.Millisecond
	// steadyPause is that for what only time changes.
	steadyPause = time.Second
	// share is how much of its time a stream may draw: one part of so many.
	share = 5
	// writeTimeout ends a stream whose reader takes nothing.
	writeTimeout = 20 * time.Second
)

var seed = maphash.MakeSeed()

// stream is the patches of one open page.
type stream struct {
	*request

	control *http.ResponseController
	least   time.Duration // between two looks
	sent    map[string]uint64
	drawn   time.Duration // that the last drawing took
}

// errTooManyStreams refuses a page to be live.
var errTooManyStreams = &refusal{http.StatusServiceUnavailable, fmt.Sprintf("%d pages are live: close some", mostStreams)}

// openStream begins a stream, and ends it when f does.
func (q *request) openStream(f func(*stream) error) error {
	select {
	case q.streams <- struct{}{}:
		defer func() { <-q.streams }()
	default:
		return errTooManyStreams
	}
	q.w.Header().Set("Content-Type", "text/event-stream")
	s := &stream{request: q, control: http.NewResponseController(q.w), least: leastPause, sent: map[string]uint64{}}
	if err := f(s); err != nil && q.r.Context().Err() == nil && errors.Is(err, errNoRun) {
		return err // nothing was written
	}
	return nil
}

// lastEvent is the version that the reader has: that of the page, or of the last patch
// before the connection broke.
func (s *stream) lastEvent() int64 {
	n, err := strconv.ParseInt(cmp.Or(s.r.Header.Get("Last-Event-ID"), s.r.URL.Query().Get("after")), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// send writes the parts that differ from what the reader has, and the version that it
// has then.
func (s *stream) send(all []fragment, version int64) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	for _, f := range all {
		hash := maphash.String(seed, string(f.HTML))
		if before, has := s.sent[f.ID]; has && before == hash {
			continue
		}
		s.sent[f.ID] = hash
		b.WriteString("event: patch\ndata: ")
		if err := encoder.Encode(f); err != nil { // with a line feed
			return err
		}
		b.WriteString("\n")
	}
	if b.Len() == 0 {
		return nil
	}
	fmt.Fprintf(&b, "id: %d\nevent: version\ndata: %d\n\n", version, version)
	return s.write(b.Bytes())
}

// know notes what the reader has without sending it.
func (s *stream) know(all []fragment) {
	for _, f := range all {
		s.sent[f.ID] = maphash.String(seed, string(f.HTML))
	}
}

func (s *stream) write(text []byte) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := s.w.Write(text); err != nil {
		return err
	}
	return s.control.Flush()
}

// pause waits as long as a stream does between two looks; false when the reader is gone.
func (s *stream) pause() bool {
	timer := time.NewTimer(max(s.least, share*s.drawn))
	defer timer.Stop()
	select {
	case <-s.r.Context().Done():
		return false
	case <-timer.C:
		return true
	}
}

// follow draws when the version or, once a second, the time changed, until the reader
// is gone.
func (s *stream) follow(version func() (int64, bool), draw func() ([]fragment, int64, error)) error {
	last := s.lastEvent()
	var drawnAt time.Time // of this machine's clock
	var shown Clock
	begun := false
	for {
		now, known := version()
		if !known {
			if !begun {
				return errNoRun
			}
			return nil
		}
		clock := s.o.World.Clock()
		if !begun || now != last || clock != shown && time.Since(drawnAt) >= steadyPause {
			started := time.Now()
			all, drawn, err := draw()
			if err != nil {
				return err
			}
			switch {
			case !begun && drawn == last:
				s.know(all)
				err = s.write([]byte("retry: 1000\n\n"))
			case !begun:
				s.knowEvents(all, last)
				err = s.send(all, drawn)
			default:
				err = s.send(all, drawn)
			}
			if err != nil {
				return err
			}
			begun, last, drawnAt, shown = true, drawn, time.Now(), clock
			s.drawn = drawnAt.Sub(started)
		}
		if !s.pause() {
			return nil
		}
	}
}

// knowEvents notes which tables of events the reader has: the full ones up to the last
// event that it knows.
func (s *stream) knowEvents(all []fragment, last int64) {
	for _, f := range all {
		if f.last > 0 && f.last <= last {
			s.sent[f.ID] = maphash.String(seed, string(f.HTML))
		}
	}
}

func (q *request) streamRun() error {
	arn := q.r.PathValue("arn")
	return q.openStream(func(s *stream) error {
		ended := int64(-1) // the version of an execution that has ended: nothing but the clock changes it
		return s.follow(func() (int64, bool) { return q.o.World.Version(arn) }, func() ([]fragment, int64, error) {
			if version, known := q.o.World.Version(arn); known && version == ended {
				clock, err := q.drawClock(q.runPath(arn))
				return []fragment{clock}, version, err
			}
			d, found := q.o.World.Run(arn)
			if !found {
				return nil, 0, errNoRun
			}
			if ended = -1; d.Status != history.StatusRunning {
				ended = d.Version
			}
			all, err := q.fragments(d)
			return all, d.Version, err
		})
	})
}

// drawClock draws the bar with the time for a page.
func (q *request) drawClock(here string) (fragment, error) {
	f := q.frame("", "")
	f.Here = here
	text, err := q.fill("clock", f)
	return fragment{ID: "clock", HTML: text}, err
}

// streamRuns sends the list once a second at most: it changes with every run.
func (q *request) streamRuns() error {
	asked := readQuery(q.r.URL.Query())
	return q.openStream(func(s *stream) error {
		s.least = steadyPause
		version := s.lastEvent() // what the reader has is old: the first list is another version
		return s.follow(func() (int64, bool) { version++; return version, true }, func() ([]fragment, int64, error) {
			list, err := q.fill("list", q.listRuns(asked))
			if err != nil {
				return nil, 0, err
			}
			clock, err := q.drawClock(q.o.Path + asked.encode(asked.skip, asked.machines))
			return []fragment{clock, {ID: "list", HTML: list}}, version, err
		})
	})
}
