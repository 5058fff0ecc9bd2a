package httpjob_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/httpjob"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// answerRaw returns the address of a server that answers every request with
// the text and holds the connection for the client to close, and a driver that
// may call it. What it gets is how each connection ended: nil if the client
// closed it.
func answerRaw(t *testing.T, text string) (address string, driver *httpjob.Driver, ended <-chan error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	ends := make(chan error, 10)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
				reader := bufio.NewReader(conn)
				if request, err := http.ReadRequest(reader); err == nil {
					_, _ = io.Copy(io.Discard, request.Body)
				}
				_, _ = io.WriteString(conn, text)
				_, err := io.Copy(io.Discard, reader)
				ends <- err
			}()
		}
	}()
	address = listener.Addr().String()
	driver, err = httpjob.New(httpjob.Config{Hosts: []string{address}, Loopback: true})
	require.NoError(t, err)
	return address, driver, ends
}

// After a 101 the connection is not HTTP any more, so nothing limits what would
// be read of it.
func TestSwitchingProtocols(t *testing.T) {
	t.Parallel()
	address, driver, ended := answerRaw(t, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
	_, err := driver.Describe(t.Context(), jobs.Ref{"DescribeUrl": "http://" + address + "/"})
	require.EqualError(t, err, "GET http://"+address+" answered 101 Switching Protocols")
	require.NoError(t, <-ended, "the client waits for more")
	_, err = driver.Start(t.Context(), jobs.Request{Token: "token-1", Arguments: fmt.Appendf(nil,
		`{"Start": {"Url": "http://%[1]s/"}, "Describe": {"Url": "http://%[1]s/"}}`, address)})
	require.True(t, goerror.Classify(err).MayHaveActed())
	require.NoError(t, <-ended)
}

// No text of an answer that is not HTTP, or leads nowhere, is told.
func TestMalformedAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, answer, want string
		transient          bool
	}{
		{"Location", "HTTP/1.1 302 Found\r\nLocation: http://bad host/hunter2\r\nContent-Length: 0\r\n\r\n", "the answer's Location is not a URL", false},
		{"Location that cannot be joined", "HTTP/1.1 307 Found\r\nLocation: %zz?hunter2\r\nContent-Length: 0\r\n\r\n", "the answer's Location is not a URL", false},
		{"status line", "hunter2 and more\r\n\r\n", "the answer is not HTTP", true},
		{"status", "HTTP/1.1 hunter2 OK\r\n\r\n", "the answer is not HTTP", true},
		{"header", "HTTP/1.1 200 OK\r\nhunter2 is a secret\r\n\r\n", "the answer is not HTTP", true},
		{"length", "HTTP/1.1 200 OK\r\nContent-Length: hunter2\r\n\r\n", "the answer is not HTTP", true},
		{"coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: hunter2\r\n\r\n", "the answer is not HTTP", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			address, driver, ended := answerRaw(t, tt.answer)
			_, err := driver.Describe(t.Context(), jobs.Ref{"DescribeUrl": "http://" + address + "/hunter2"})
			require.ErrorContains(t, err, "GET http://"+address+": ")
			require.ErrorContains(t, err, tt.want)
			require.NotContains(t, err.Error(), "hunter2")
			require.Equal(t, tt.transient, goerror.Passes(err))
			require.NoError(t, <-ended)

			_, err = driver.Start(t.Context(), jobs.Request{Token: "token-1", Arguments: fmt.Appendf(nil,
				`{"Start": {"Url": "http://%[1]s/"}, "Describe": {"Url": "http://%[1]s/"}}`, address)})
			require.True(t, goerror.Classify(err).MayHaveActed())
			require.NotContains(t, err.Error(), "hunter2")
			require.NoError(t, <-ended)
		})
	}
}

// A URL may hold what is meant for its server alone.
func TestRedirectsTellNoReferer(t *testing.T) {
	t.Parallel()
	var referer []string
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		referer = r.Header["Referer"]
		fmt.Fprint(w, `{}`)
	})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.url+"/y", http.StatusFound) }, other.host)
	_, err := s.driver.Describe(t.Context(), jobs.Ref{"DescribeUrl": s.url + "/job?signature=hunter2"})
	require.NoError(t, err)
	require.Equal(t, []string{"GET /y"}, other.take())
	require.Nil(t, referer)
}
