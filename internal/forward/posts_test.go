package forward_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var posts = flag.Int("posts", 1000, "TestNoAnswerIsCutOff: how many requests to send")

// early is a server that answers before it has read the request. What it does then is in
// the header X-After: it reads the rest, ends the connection in good order, or hangs up.
// For "answer" it answers after the request, as most servers do.
type early struct{ requests atomic.Int64 }

func (e *early) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.requests.Add(1)
	if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
		panic(err)
	}
	if r.Header.Get("X-After") == "answer" {
		_, _ = io.Copy(io.Discard, r.Body)
	}
	size, _ := strconv.Atoi(r.Header.Get("X-Answer"))
	if r.Header.Get("X-After") == "hang up" {
		hangUp(w, strings.Repeat("a", size))
		return
	}
	if r.Header.Get("X-After") == "read" || r.Header.Get("X-Length") != "" {
		w.Header().Set("Content-Length", strconv.Itoa(size))
	}
	if r.Header.Get("X-After") == "close" {
		w.Header().Set("Connection", "close")
	}
	_, _ = io.WriteString(w, strings.Repeat("a", size))
	_ = http.NewResponseController(w).Flush()
	if r.Header.Get("X-After") == "read" {
		_, _ = io.Copy(io.Discard, r.Body) // of an answer without a length, this would delay the end
	}
}

func hangUp(w http.ResponseWriter, answer string) {
	connection, out, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = fmt.Fprintf(out, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(answer), answer)
	_ = out.Flush()
	_ = connection.Close()
}

// poster sends requests whose ends it holds back, on one connection after the other.
type poster struct {
	address    string
	random     *rand.Rand
	connection net.Conn
	in         *bufio.Reader
}

// post sends one request, and tells what is wrong with the answer.
func (p *poster) post() (err error) {
	if p.connection == nil {
		if p.connection, err = net.Dial("tcp", p.address); err != nil {
			return err
		}
		p.in = bufio.NewReader(p.connection)
	}
	_ = p.connection.SetDeadline(time.Now().Add(time.Minute)) // so that a failure ends
	pick := func(sizes ...int) int { return sizes[p.random.IntN(len(sizes))] }
	body, answer := strings.Repeat("b", pick(1, 100, 5_000, 70_000)), pick(0, 10, 3_000, 300_000)
	held := len(body) - pick(1, len(body), (len(body)+1)/2)
	after := []string{"read", "close", "close\r\nX-Length: 1", "hang up", "answer"}[p.random.IntN(5)]
	if after == "hang up" {
		answer = min(answer, 3_000) // of more, a reset takes what has not arrived
	}
	sending := make(chan error, 1)
	sendEnd := func() {
		_, err := io.WriteString(p.connection, body[held:])
		sending <- err
	}
	if _, err := fmt.Fprintf(p.connection, "POST / HTTP/1.1\r\nHost: x\r\nX-Answer: %d\r\nX-After: %s\r\nContent-Length: %d\r\n\r\n%s",
		answer, after, len(body), body[:held]); err != nil {
		return err
	}
	when := p.random.IntN(3)
	if after == "answer" {
		when = 0
	}
	if when == 0 {
		go sendEnd()
	}
	got, err := http.ReadResponse(p.in, nil)
	if err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	if when == 1 {
		go sendEnd()
	}
	text, err := io.ReadAll(got.Body)
	_ = got.Body.Close()
	if err != nil || got.StatusCode != http.StatusOK || string(text) != strings.Repeat("a", answer) {
		return fmt.Errorf("%s (%s, end sent at %d, body of %d): %d bytes of %d: %w", got.Status, after, when, len(body), len(text), answer, err)
	}
	if when == 2 {
		go sendEnd()
	}
	if err := <-sending; err != nil || got.Close {
		err = p.connection.Close()
		p.connection = nil
		return err
	}
	return nil
}

// The front closed a request's body while the request was still sent on, which broke the
// answer off. Clients then sent the request again, so that a create ran twice.
func TestNoAnswerIsCutOff(t *testing.T) {
	t.Parallel()
	back := &early{}
	front, logged := start(t, "", back.ServeHTTP)
	var all sync.WaitGroup
	var sent atomic.Int64
	failures := make(chan error, 8)
	for i := range cap(failures) {
		all.Go(func() {
			p := &poster{address: front.Listener.Addr().String(), random: rand.New(rand.NewPCG(1, uint64(i)))}
			for sent.Add(1) <= int64(*posts) {
				if err := p.post(); err != nil {
					failures <- err
					break
				}
			}
			if p.connection != nil {
				_ = p.connection.Close()
			}
		})
	}
	all.Wait()
	close(failures)
	for err := range failures {
		require.NoError(t, err)
	}
	require.Empty(t, logged.String())
	require.EqualValues(t, *posts, back.requests.Load())
}
