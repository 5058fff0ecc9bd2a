package loopback_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/loopback"
)

// startGuarded serves a handler that answers "let in" behind a guard.
func startGuarded(t *testing.T, hosts ...string) (*loopback.Server, *loopback.Guard) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	guard := loopback.NewGuard(loopback.GuardOptions{Port: port, Hosts: hosts, Own: "/_own/"})
	server := loopback.Serve(listener, guard.Protect(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "let in")
	})), nil)
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		server.Wait()
	})
	return server, guard
}

// sendRaw sends the text of a request, in which PORT and TOKEN are the server's, and
// returns the status and the header.
func sendRaw(t *testing.T, server *loopback.Server, guard *loopback.Guard, text string) (int, http.Header, string) {
	t.Helper()
	_, port, err := net.SplitHostPort(server.Address())
	require.NoError(t, err)
	head, body, _ := strings.Cut(strings.NewReplacer("PORT", port, "TOKEN", guard.Token()).Replace(text), "\n\n")
	connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Address())
	require.NoError(t, err)
	defer func() { require.NoError(t, connection.Close()) }()
	_, err = fmt.Fprintf(connection, "%s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", strings.ReplaceAll(head, "\n", "\r\n"), len(body), body)
	require.NoError(t, err)
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	require.NoError(t, err)
	text = ""
	if all, err := io.ReadAll(answer.Body); err == nil {
		text = string(all)
	}
	require.NoError(t, answer.Body.Close())
	return answer.StatusCode, answer.Header, text
}

// Requests as a hostile page can have a browser send them, and as clients do.
func TestGuard(t *testing.T) {
	t.Parallel()
	server, guard := startGuarded(t, "sfn.test", "Mapped.test:9000")
	for name, test := range map[string]struct {
		request string
		want    int
	}{
		"address":                    {"POST / HTTP/1.1\nHost: 127.0.0.1:PORT\nContent-Type: application/x-amz-json-1.0\n\n{}", 200},
		"localhost":                  {"POST / HTTP/1.1\nHost: localhost:PORT", 200},
		"localhost in capitals":      {"POST / HTTP/1.1\nHost: LocalHost:PORT", 200},
		"name below localhost":       {"GET / HTTP/1.1\nHost: sfn.localhost:PORT", 200},
		"IPv6":                       {"GET / HTTP/1.1\nHost: [::1]:PORT", 200},
		"sync of an address":         {"POST / HTTP/1.1\nHost: sync-127.0.0.1:PORT", 200},
		"sync of localhost":          {"POST / HTTP/1.1\nHost: sync-localhost:PORT", 200},
		"sync of a name":             {"POST / HTTP/1.1\nHost: sync-sfn.test:PORT", 200},
		"named host":                 {"POST / HTTP/1.1\nHost: sfn.test:PORT", 200},
		"named host and port":        {"POST / HTTP/1.1\nHost: mapped.test:9000", 200},
		"page of its own":            {"GET /_own/ HTTP/1.1\nHost: localhost:PORT\nSec-Fetch-Site: same-origin\nSec-Fetch-Mode: navigate", 200},
		"address typed by a user":    {"GET / HTTP/1.1\nHost: localhost:PORT\nSec-Fetch-Site: none", 200},
		"write of its own page":      {"POST /_own/stop HTTP/1.1\nHost: localhost:PORT\nOrigin: http://localhost:PORT\nContent-Type: application/x-www-form-urlencoded\n\nname=x&token=TOKEN", 200},
		"script of its own page":     {"POST /_own/clock HTTP/1.1\nHost: localhost:PORT\nOrigin: http://localhost:PORT\nContent-Type: application/json\nX-Jobpoller-Token: TOKEN\n\n{}", 200},
		"program on the control":     {"POST /_own/clock HTTP/1.1\nHost: localhost:PORT\nContent-Type: application/json\n\n{}", 200},
		"program on a form":          {"POST /_own/act/stop HTTP/1.1\nHost: localhost:PORT\nContent-Type: application/json\n\n{}", 200},
		"form for another service":   {"POST / HTTP/1.1\nHost: localhost:PORT\nContent-Type: application/x-www-form-urlencoded\n\nAction=GetUser", 200},
		"rebound name":               {"POST / HTTP/1.1\nHost: evil.example:PORT", 421},
		"rebound name without port":  {"POST / HTTP/1.1\nHost: evil.example", 421},
		"name that begins as ours":   {"POST / HTTP/1.1\nHost: localhost.evil.example:PORT", 421},
		"name that ends as ours":     {"POST / HTTP/1.1\nHost: evillocalhost:PORT", 421},
		"name with our address":      {"POST / HTTP/1.1\nHost: 127.0.0.1.evil.example:PORT", 421},
		"sync of another":            {"POST / HTTP/1.1\nHost: sync-evil.example:PORT", 421},
		"sync twice":                 {"POST / HTTP/1.1\nHost: sync-sync-localhost:PORT", 421},
		"other port":                 {"POST / HTTP/1.1\nHost: localhost:1", 421},
		"no port":                    {"POST / HTTP/1.1\nHost: localhost", 421},
		"user before the host":       {"POST / HTTP/1.1\nHost: localhost@evil.example:PORT", 400},
		"address of another machine": {"POST / HTTP/1.1\nHost: 192.0.2.1:PORT", 421},
		"named host, other port":     {"POST / HTTP/1.1\nHost: sfn.test:1", 421},
		"empty host":                 {"POST / HTTP/1.1\nHost:", 421},
		"no host":                    {"POST / HTTP/1.0", 421},
		"two hosts":                  {"POST / HTTP/1.1\nHost: localhost:PORT\nHost: evil.example", 400},
		"absolute form":              {"POST http://localhost:PORT/ HTTP/1.1\nHost: localhost:PORT", 400},
		"absolute form of another":   {"POST http://evil.example/ HTTP/1.1\nHost: localhost:PORT", 400},
		"tunnel":                     {"CONNECT evil.example:443 HTTP/1.1\nHost: localhost:PORT", 400},
		"foreign origin":             {"POST / HTTP/1.1\nHost: localhost:PORT\nOrigin: https://evil.example", 403},
		"foreign origin, read":       {"GET /_own/ HTTP/1.1\nHost: localhost:PORT\nOrigin: https://evil.example", 403},
		"null origin":                {"POST / HTTP/1.1\nHost: localhost:PORT\nOrigin: null", 403},
		"origin of another port":     {"POST / HTTP/1.1\nHost: localhost:PORT\nOrigin: http://localhost:3000", 403},
		"origin over TLS":            {"POST / HTTP/1.1\nHost: localhost:PORT\nOrigin: https://localhost:PORT", 403},
		"own origin by another name": {"POST / HTTP/1.1\nHost: localhost:PORT\nOrigin: http://127.0.0.1:PORT", 403},
		"two origins":                {"POST / HTTP/1.1\nHost: localhost:PORT\nOrigin: http://localhost:PORT\nOrigin: https://evil.example", 403},
		"empty origin":               {"POST / HTTP/1.1\nHost: localhost:PORT\nOrigin:", 403},
		"other site":                 {"GET /_own/events HTTP/1.1\nHost: localhost:PORT\nSec-Fetch-Site: cross-site", 403},
		"other port's page":          {"GET /_own/ HTTP/1.1\nHost: localhost:PORT\nSec-Fetch-Site: same-site", 403},
		"two sites":                  {"GET / HTTP/1.1\nHost: localhost:PORT\nSec-Fetch-Site: none\nSec-Fetch-Site: cross-site", 403},
		"preflight":                  {"OPTIONS / HTTP/1.1\nHost: localhost:PORT\nOrigin: https://evil.example\nAccess-Control-Request-Method: POST", 405},
		"options of the server":      {"OPTIONS * HTTP/1.1\nHost: localhost:PORT", 405},
		"own page without token":     {"POST /_own/stop HTTP/1.1\nHost: localhost:PORT\nOrigin: http://localhost:PORT\nContent-Type: application/x-www-form-urlencoded\n\nname=x", 403},
		"own page, wrong token":      {"POST /_own/stop HTTP/1.1\nHost: localhost:PORT\nOrigin: http://localhost:PORT\nContent-Type: application/x-www-form-urlencoded\n\ntoken=wrong", 403},
		"token in the address":       {"POST /_own/stop?token=TOKEN HTTP/1.1\nHost: localhost:PORT\nOrigin: http://localhost:PORT\nContent-Type: application/x-www-form-urlencoded\n\nname=x", 403},
		"form without an origin":     {"POST /_own/clock HTTP/1.1\nHost: localhost:PORT\nContent-Type: text/plain\n\n{\"advance\":\"1h\"}", 403},
		"no content type":            {"POST /_own/clock HTTP/1.1\nHost: localhost:PORT\n\n{\"advance\":\"1h\"}", 403},
		"script without token":       {"POST / HTTP/1.1\nHost: localhost:PORT\nOrigin: http://localhost:PORT\nContent-Type: application/x-amz-json-1.0\n\n{}", 403},
		"browser without an origin":  {"POST / HTTP/1.1\nHost: localhost:PORT\nSec-Fetch-Site: same-origin\n\n{}", 403},
		"large form":                 {"POST /_own/stop HTTP/1.1\nHost: localhost:PORT\nContent-Type: application/x-www-form-urlencoded\n\nname=" + strings.Repeat("x", 3<<20), 400},
	} {
		status, header, body := sendRaw(t, server, guard, test.request)
		require.Equal(t, test.want, status, "%s: %s", name, body)
		require.Equal(t, test.want == 200, body == "let in", name)
		for name := range header {
			require.False(t, strings.HasPrefix(name, "Access-Control"), name)
		}
	}
}

// A program learns which header it lacks, and a page that its token is old.
func TestGuardSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	server, guard := startGuarded(t)
	const form = "POST /_own/clock HTTP/1.1\nHost: localhost:PORT\nContent-Type: application/x-www-form-urlencoded\n"
	for want, request := range map[string]string{
		"expected the header Content-Type: application/json; ":                        form + "\n{\"advance\":\"1h\"}",
		"the page's token is missing, or of an earlier start of this server: load":    form + "Origin: http://localhost:PORT\n\nname=x",
		"the page's token is missing, or of an earlier start of this server: load it": form + "\ntoken=old",
	} {
		_, _, body := sendRaw(t, server, guard, request)
		require.True(t, strings.HasPrefix(body, strings.TrimSuffix(want, " it")), body)
	}
}

func TestLargeHeadersAreRefused(t *testing.T) {
	t.Parallel()
	server, guard := startGuarded(t)
	status, _, _ := sendRaw(t, server, guard, "GET / HTTP/1.1\nHost: localhost:PORT\nX-Large: "+strings.Repeat("x", 80<<10))
	require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, status)
}

// A body that is too long, or that never ends, ends the request and nothing else.
func TestLimitBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		read := make(chan error, 1)
		listener := &oneConnection{connection: there, closed: make(chan struct{})}
		server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: loopback.LimitBody(10, time.Second, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, err := io.ReadAll(r.Body)
			read <- err
			if err == nil {
				<-time.After(time.Hour) // the deadline was that of the body
				read <- r.Context().Err()
			}
		}))}
		go func() { _ = server.Serve(listener) }()
		_, err := fmt.Fprint(here, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody")
		require.NoError(t, err)
		require.NoError(t, <-read)
		require.NoError(t, <-read)
		go func() { _, _ = io.Copy(io.Discard, here) }()
		_, err = fmt.Fprint(here, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nbod")
		require.NoError(t, err)
		began := time.Now()
		require.Error(t, <-read)
		require.Equal(t, time.Second, time.Since(began))
		require.NoError(t, server.Close())
		require.NoError(t, here.Close())
	})
	server := serve(t, loopback.LimitBody(10, time.Second, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			_, _ = fmt.Fprintf(w, "%T", err)
		}
	})))
	_, body, _ := send(t, newRequest(t, http.MethodPost, server.URL(), strings.Repeat("x", 11)))
	require.Equal(t, "*http.MaxBytesError", body)
}

// oneConnection is a listener that accepts one connection.
type oneConnection struct {
	connection net.Conn
	closed     chan struct{}
}

func (l *oneConnection) Accept() (net.Conn, error) {
	if c := l.connection; c != nil {
		l.connection = nil
		return c, nil
	}
	<-l.closed
	return nil, net.ErrClosed
}

func (l *oneConnection) Close() error {
	close(l.closed)
	return nil
}

func (l *oneConnection) Addr() net.Addr { return &net.TCPAddr{} }

// A request that has come is answered before the server ends.
func TestDrain(t *testing.T) {
	t.Parallel()
	come, finish := make(chan struct{}), make(chan struct{})
	server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(come)
		<-finish
		_, _ = io.Copy(w, bytes.NewReader([]byte("done")))
	}))
	answered := make(chan string)
	go func() {
		answer, err := http.Get(server.URL())
		if err != nil {
			answered <- err.Error()
			return
		}
		text, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		answered <- string(text)
	}()
	<-come
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, server.Drain(ctx), context.Canceled)
	close(finish)
	require.Equal(t, "done", <-answered)
	require.NoError(t, server.Drain(t.Context()))
	_, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Address())
	require.Error(t, err)
}
