package loopback

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Clients that send half a request, a head without its body, or nothing, and those that
// keep a connection for later, do not shut others out.
func TestHalfSentRequestsHoldNoPlaces(t *testing.T) {
	t.Parallel()
	for name, sent := range map[string]string{
		"nothing":     "",
		"half a head": "POST / HTTP/1.1\r\nHost: localhost\r\n",
		"refused":     "POST / HTTP/1.1\r\nHost: elsewhere\r\nContent-Length: 100\r\n\r\nhalf",
		"half a body": "POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 100\r\n\r\nhalf",
		"unread":      "POST /unread HTTP/1.1\r\nHost: HOST\r\nContent-Length: 100\r\n\r\nhalf",
		"half a form": "POST /_own/act HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nhalf",
		"kept":        "GET / HTTP/1.1\r\nHost: HOST\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			listener, err := Listen(t.Context(), "127.0.0.1:0")
			require.NoError(t, err)
			const most = 8
			read := LimitBody(MaxBody, time.Hour, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/unread" { // as a stream of events
					_ = http.NewResponseController(w).Flush()
					<-r.Context().Done()
				}
				_, _ = io.Copy(io.Discard, r.Body)
			}))
			_, port, err := net.SplitHostPort(listener.Addr().String())
			require.NoError(t, err)
			guard := NewGuard(GuardOptions{Port: port, Own: "/_own/"})
			server := serve(newLimitedListener(listener, most), guard.Protect(read), nil)
			t.Cleanup(func() {
				require.NoError(t, server.Close())
				server.Wait()
			})
			for range 3 * most {
				c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Address())
				require.NoError(t, err)
				t.Cleanup(func() { _ = c.Close() })
				_, err = io.WriteString(c, strings.ReplaceAll(sent, "HOST", server.Address()))
				require.NoError(t, err)
				if name == "kept" {
					answer, err := http.ReadResponse(bufio.NewReader(c), nil)
					require.NoError(t, err)
					require.NoError(t, answer.Body.Close())
				}
			}
			requireAnswer(t, server)
		})
	}
}

// A connection whose request is worked on keeps its place, and no deadline of its body
// ends the work, whether the handler reads the body or not.
func TestRequestsThatAreWorkedOnKeepTheirPlaces(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"no body": "", "unread body": "unread", "body in memory": "read"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requirePlaceKept(t, body)
		})
	}
}

func requirePlaceKept(t *testing.T, body string) {
	t.Helper()
	listener, err := Listen(t.Context(), "127.0.0.1:0")
	require.NoError(t, err)
	begun, proceed := make(chan struct{}), make(chan struct{})
	work := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			begun <- struct{}{}
			<-proceed
			if r.Context().Err() != nil {
				http.Error(w, "the work was ended", http.StatusInternalServerError)
			}
		}
	})
	limited := LimitBody(MaxBody, time.Nanosecond, work)
	server := serve(newLimitedListener(listener, 2), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body == "read" { // as a Signed does
			text, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(strings.NewReader(string(text)))
		}
		limited.ServeHTTP(w, r)
	}), nil)
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		server.Wait()
	})
	answered := make(chan error)
	go func() {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, server.URL()+"/slow", strings.NewReader(body))
		if err != nil {
			answered <- err
			return
		}
		answer, err := (&http.Client{Transport: &http.Transport{}}).Do(r)
		if err == nil {
			err = answer.Body.Close()
		}
		if err == nil && answer.StatusCode != http.StatusOK {
			err = errors.New(answer.Status)
		}
		answered <- err
	}()
	<-begun
	for range 8 {
		requireAnswer(t, server)
	}
	close(proceed)
	require.NoError(t, <-answered)
}

func requireAnswer(t *testing.T, server *Server) {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Address())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_, err = fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", server.Address())
	require.NoError(t, err)
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
}
