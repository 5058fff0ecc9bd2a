package goerror_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// hello accepts connections and does with each what a test says after the first
// bytes have come, which are those of a handshake.
func hello(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 1024))
			answer(conn)
		}
	}()
	return "https://" + listener.Addr().String()
}

// What was sent is a fact of the connection, not of the error: a call that was cut
// off has the same error before and after its request was written.
func TestCallsOfWhichNothingWasSent(t *testing.T) {
	t.Parallel()
	call := func(ctx context.Context, t *testing.T, url string, client aws.HTTPClient) error {
		t.Helper()
		cfg := endpoint(t, func(http.ResponseWriter, *http.Request) {})
		cfg.BaseEndpoint = &url
		if client != nil {
			cfg.HTTPClient = client
		}
		return describeExport(ctx, cfg)
	}
	tests := []struct {
		name string
		call func(ctx context.Context, t *testing.T) error
		want awserror.Class
	}{
		{"no server", func(ctx context.Context, t *testing.T) error { return call(ctx, t, "http://127.0.0.1:1", nil) }, awserror.NotSent},
		{"no such host", func(ctx context.Context, t *testing.T) error { return call(ctx, t, "http://nowhere.invalid", nil) }, awserror.NotSent},
		{"a certificate that nobody trusts", func(ctx context.Context, t *testing.T) error {
			server := httptest.NewTLSServer(nil)
			t.Cleanup(server.Close)
			return call(ctx, t, server.URL, nil)
		}, awserror.NotSent},
		{"a server without TLS", func(ctx context.Context, t *testing.T) error {
			return call(ctx, t, hello(t, func(c net.Conn) { _, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }), nil)
		}, awserror.NotSent},
		{"a connection lost in the handshake", func(ctx context.Context, t *testing.T) error {
			return call(ctx, t, hello(t, func(c net.Conn) { _ = c.Close() }), nil)
		}, awserror.NotSent},
		{"given up in the handshake", func(ctx context.Context, t *testing.T) error {
			ctx, cancel := context.WithCancel(ctx)
			return call(ctx, t, hello(t, func(net.Conn) { cancel() }), nil)
		}, awserror.NotSent},
		{"given up before there is a connection", func(ctx context.Context, t *testing.T) error {
			ctx, cancel := context.WithCancel(ctx)
			return call(ctx, t, "http://127.0.0.1:1", &http.Client{Transport: &http.Transport{
				DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
					cancel()
					<-ctx.Done()
					return nil, ctx.Err()
				},
			}})
		}, awserror.NotSent},
		{"given up after the request", func(ctx context.Context, t *testing.T) error {
			ctx, cancel := context.WithCancel(ctx)
			cfg := endpoint(t, func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // else the server does not notice
				cancel()
				<-r.Context().Done()
			})
			return describeExport(ctx, cfg)
		}, awserror.Ended},
		{"reset after the request", func(ctx context.Context, t *testing.T) error {
			return describeExport(ctx, endpoint(t, hangUp("", true)))
		}, awserror.Unclear},
		{"sent, and no server for the second try", func(ctx context.Context, t *testing.T) error {
			_ = describeExport(ctx, endpoint(t, hangUp("", true)))
			return call(ctx, t, "http://127.0.0.1:1", nil)
		}, awserror.Unclear},
		{"another transport, refused", func(context.Context, *testing.T) error {
			return &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
		}, awserror.NotSent},
		{"another transport, certificate", func(context.Context, *testing.T) error {
			return &tls.CertificateVerificationError{Err: errors.New("expired")}
		}, awserror.NotSent},
		{"another transport, reset", func(context.Context, *testing.T) error {
			return &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
		}, awserror.Unclear},
		{"another transport, broken while writing", func(context.Context, *testing.T) error {
			return &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}
		}, awserror.Unclear},
		{"another transport, given up", func(context.Context, *testing.T) error { return context.Canceled }, awserror.Ended},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, sending := goerror.Watch(t.Context())
			cause := tt.call(ctx, t)
			require.Error(t, cause)
			err := sending.Mark(cause)
			require.ErrorIs(t, err, cause)
			require.Equal(t, tt.want, goerror.Classify(err), "%v", err)
		})
	}
	require.NoError(t, new(goerror.Sending).Mark(nil))
}
