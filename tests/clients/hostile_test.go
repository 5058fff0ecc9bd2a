package clients_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sendRaw sends the text of a request, and returns the answer; nil if the server closes
// the connection instead.
func sendRaw(t *testing.T, host, head, body string) (answer *http.Response, text string) {
	t.Helper()
	connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", host)
	require.NoError(t, err)
	defer connection.Close() // the server may have closed it
	require.NoError(t, connection.SetDeadline(time.Now().Add(patience)))
	go func() {
		// The server may refuse a request before it has read all of it.
		_, _ = fmt.Fprintf(connection, "%s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", strings.ReplaceAll(head, "\n", "\r\n"), len(body), body)
	}()
	answer, err = http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		return nil, ""
	}
	read, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<20)) // the connection may end, too
	_ = answer.Body.Close()
	return answer, string(read)
}

// hostile are requests that a page of another site can have a browser send, or that a
// client sends to do harm. HOST is the server's address. Status 0: the server closes
// the connection, or answers any 4xx.
func hostile() map[string]struct {
	head, body string
	status     int
} {
	const (
		create = `{"name": "evil", "roleArn": "` + role + `", "definition": "{\"StartAt\": \"A\", \"States\": {\"A\": {\"Type\": \"Succeed\"}}}"}`
		target = "\nContent-Type: application/x-amz-json-1.0\nX-Amz-Target: AWSStepFunctions.CreateStateMachine"
		form   = "\nContent-Type: application/x-www-form-urlencoded"
	)
	return map[string]struct {
		head, body string
		status     int
	}{
		"foreign origin":               {"POST / HTTP/1.1\nHost: HOST\nOrigin: https://evil.example" + target, create, 403},
		"opaque origin":                {"POST / HTTP/1.1\nHost: HOST\nOrigin: null" + target, create, 403},
		"origin of another port":       {"POST / HTTP/1.1\nHost: HOST\nOrigin: http://127.0.0.1:1" + target, create, 403},
		"two origins":                  {"POST / HTTP/1.1\nHost: HOST\nOrigin: http://HOST\nOrigin: https://evil.example" + target, create, 403},
		"other site without an origin": {"POST / HTTP/1.1\nHost: HOST\nSec-Fetch-Site: cross-site" + target, create, 403},
		"other port without an origin": {"POST / HTTP/1.1\nHost: HOST\nSec-Fetch-Site: same-site" + target, create, 403},
		"own origin without the token": {"POST / HTTP/1.1\nHost: HOST\nOrigin: http://HOST" + target, create, 403},
		"rebound name":                 {"POST / HTTP/1.1\nHost: evil.example:PORT\nOrigin: http://evil.example:PORT" + target, create, 421},
		"rebound name, no origin":      {"POST / HTTP/1.1\nHost: evil.example" + target, create, 421},
		"sync of a rebound name":       {"POST / HTTP/1.1\nHost: sync-evil.example:PORT" + target, create, 421},
		"no host":                      {"POST / HTTP/1.0\nAccept: */*" + target, create, 421},
		"preflight":                    {"OPTIONS / HTTP/1.1\nHost: HOST\nOrigin: https://evil.example\nAccess-Control-Request-Method: POST\nAccess-Control-Request-Headers: x-amz-target", "", 405},
		"preflight of private network": {"OPTIONS / HTTP/1.1\nHost: HOST\nOrigin: https://evil.example\nAccess-Control-Request-Private-Network: true", "", 405},
		"proxy request":                {"POST http://evil.example/ HTTP/1.1\nHost: HOST" + target, create, 400},
		"tunnel":                       {"CONNECT 127.0.0.1:22 HTTP/1.1\nHost: HOST", "", 400},
		"form":                         {"POST / HTTP/1.1\nHost: HOST\nOrigin: https://evil.example" + form, "Action=CreateStateMachine&name=evil", 403},
		"text":                         {"POST / HTTP/1.1\nHost: HOST\nOrigin: https://evil.example\nContent-Type: text/plain", create, 403},
		"target in the path":           {"POST /?X-Amz-Target=AWSStepFunctions.CreateStateMachine HTTP/1.1\nHost: HOST\nContent-Type: text/plain", create, 0},
		"no target":                    {"POST / HTTP/1.1\nHost: HOST\nContent-Type: text/plain", create, 0},
		"clock by a form":              {"POST /_jobpoller/clock HTTP/1.1\nHost: HOST" + form, "advance=24h", 403},
		"clock by text":                {"POST /_jobpoller/clock HTTP/1.1\nHost: HOST\nContent-Type: text/plain", `{"advance": "24h"}`, 0},
		"clock by a page":              {"POST /_jobpoller/clock HTTP/1.1\nHost: HOST\nOrigin: https://evil.example\nContent-Type: application/json", `{"advance": "24h"}`, 403},
		"clock by an image":            {"GET /_jobpoller/clock HTTP/1.1\nHost: HOST\nSec-Fetch-Site: cross-site\nSec-Fetch-Dest: image", "", 403},
		"events by a page":             {"GET /_jobpoller/events HTTP/1.1\nHost: HOST\nOrigin: https://evil.example\nAccept: text/event-stream", "", 403},
		"WebSocket":                    {"GET /_jobpoller/events HTTP/1.1\nHost: HOST\nOrigin: https://evil.example\nUpgrade: websocket\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\nSec-WebSocket-Version: 13", "", 403},
		"page in a frame":              {"GET /_jobpoller/ HTTP/1.1\nHost: HOST\nSec-Fetch-Site: cross-site\nSec-Fetch-Dest: iframe", "", 403},
		"huge header":                  {"POST / HTTP/1.1\nHost: HOST\nX-Big: " + strings.Repeat("a", 2<<20) + target, create, 0},
		"many headers":                 {"POST / HTTP/1.1\nHost: HOST" + strings.Repeat("\nX-Many: "+strings.Repeat("a", 100), 20_000) + target, create, 0},
		"huge target":                  {"POST / HTTP/1.1\nHost: HOST\nContent-Type: application/x-amz-json-1.0\nX-Amz-Target: AWSStepFunctions." + strings.Repeat("A", 100_000), create, 0},
		"huge body":                    {"POST / HTTP/1.1\nHost: HOST" + target, strings.Repeat(" ", 64<<20) + create, 0},
		"two lengths":                  {"POST / HTTP/1.1\nHost: HOST\nContent-Length: 5" + target, create, 0},
		"deep JSON":                    {"POST / HTTP/1.1\nHost: HOST" + target, strings.Repeat("[", 1<<20), 0},
		"not HTTP":                     {"\x16\x03\x01\x02\x00", "", 0},
		"path to a file":               {"GET /_jobpoller/../../../../etc/passwd HTTP/1.1\nHost: HOST", "", 0},
		"encoded path to a file":       {"GET /_jobpoller/%2e%2e/%2e%2e/etc/passwd HTTP/1.1\nHost: HOST", "", 0},
	}
}

// Nobody but a program of this machine gets anything out of the server, or moves
// anything in it.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	s := startServe(t, "--time", "manual")
	address, err := url.Parse(s.url)
	require.NoError(t, err)
	_, before := s.clock(t, "")
	requests := hostile()
	t.Run("each", func(t *testing.T) {
		for name, request := range requests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				fill := strings.NewReplacer("HOST", address.Host, "PORT", address.Port())
				answer, text := sendRaw(t, address.Host, fill.Replace(request.head), request.body)
				if answer == nil {
					require.Zero(t, request.status, "the server closes the connection")
					return
				}
				if request.status != 0 {
					require.Equal(t, request.status, answer.StatusCode, text)
				}
				require.GreaterOrEqual(t, answer.StatusCode, 300, text)
				require.Less(t, answer.StatusCode, 500, text)
				for header := range answer.Header {
					require.False(t, strings.HasPrefix(header, "Access-Control-"), header)
				}
				require.NotContains(t, text, "arn:")
				require.NotContains(t, text, "root:")
			})
		}
	})
	machines := callAPI(t, s.endpoint, "ListStateMachines", `{}`)
	require.JSONEq(t, `{"stateMachines": []}`, machines, "nothing is created")
	_, after := s.clock(t, "")
	require.JSONEq(t, before, after, "the clock stands where it stood")
	require.NotContains(t, s.log.String(), "panic")
	say("suite clients: %d hostile requests got nothing", len(requests))
}

// callAPI calls an operation without an SDK, and requires success.
func callAPI(t *testing.T, to endpoint, operation, body string) string {
	t.Helper()
	status, text := postAPI(t, to, operation, body)
	require.Equal(t, http.StatusOK, status, text)
	return text
}

func postAPI(t *testing.T, to endpoint, operation, body string) (status int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, to.url, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "AWSStepFunctions."+operation)
	require.NoError(t, to.sign(request, body))
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	read, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode, string(read)
}

// Clients that send a byte now and then do not keep others out.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	s := startServe(t)
	address, err := url.Parse(s.url)
	require.NoError(t, err)
	for range 300 {
		connection, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address.Host)
		require.NoError(t, err)
		defer connection.Close() // the server may have closed it
		_, err = io.WriteString(connection, "POST / HTTP/1.1\r\nHost: "+address.Host+"\r\nX-Slow: ")
		require.NoError(t, err)
	}
	require.JSONEq(t, `{"stateMachines": []}`, callAPI(t, s.endpoint, "ListStateMachines", `{}`))
}
