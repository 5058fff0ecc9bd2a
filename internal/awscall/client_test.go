package awscall_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/awscall"
)

var errStopped = errors.New("no connection is wanted")

// sendTo calls an operation at a URL.
func sendTo(t *testing.T, cfg aws.Config, text string) error {
	t.Helper()
	to, err := url.Parse(text)
	require.NoError(t, err)
	return awscall.New(cfg, awscall.Options{Once: true}).Do(t.Context(), &awscall.Call{
		Service: "Ovens", Operation: "Bake", Agent: "a-test",
		Write: func(_ context.Context, request *smithyhttp.Request) error {
			request.Method, request.URL.Path = http.MethodPost, "/"
			return nil
		},
		Endpoint: func(aws.Credentials) (awscall.Endpoint, error) {
			return awscall.Endpoint{URL: to, Region: "eu-west-1"}, nil
		},
		Read: func(context.Context, *smithyhttp.Response, []byte) error { return nil },
	})
}

// A connection may take as long as the SDK's clients let it.
func TestConnectTimeoutIsTheModes(t *testing.T) {
	t.Parallel()
	for mode, want := range map[aws.DefaultsMode]time.Duration{
		aws.DefaultsModeLegacy:      30 * time.Second,
		aws.DefaultsModeStandard:    3100 * time.Millisecond,
		aws.DefaultsModeInRegion:    1100 * time.Millisecond,
		aws.DefaultsModeCrossRegion: 3100 * time.Millisecond,
	} {
		var deadline time.Time
		client := awshttp.NewBuildableClient().WithDialerOptions(func(d *net.Dialer) {
			d.ControlContext = func(ctx context.Context, _, _ string, _ syscall.RawConn) error {
				deadline, _ = ctx.Deadline()
				return errStopped
			}
		})
		began := time.Now()
		err := sendTo(t, aws.Config{DefaultsMode: mode, HTTPClient: client, Credentials: aws.AnonymousCredentials{}}, "https://127.0.0.1:1")
		require.ErrorIs(t, err, errStopped)
		require.WithinRange(t, deadline, began.Add(want), time.Now().Add(want), mode)
	}
}

func TestNoCredentials(t *testing.T) {
	t.Parallel()
	require.EqualError(t, sendTo(t, aws.Config{}, "https://127.0.0.1:1"),
		"operation error Ovens: Bake, failed to sign request: there are no credentials")
}

// do is an HTTP client.
type do func(*http.Request) (*http.Response, error)

func (d do) Do(r *http.Request) (*http.Response, error) { return d(r) }

// The body of a request is read with Read alone: the SDK's WriteTo breaks the
// connection under an answer that comes early.
func TestBodiesAreRead(t *testing.T) {
	t.Parallel()
	sent := ""
	client := awscall.New(aws.Config{Credentials: aws.AnonymousCredentials{}, HTTPClient: do(func(r *http.Request) (*http.Response, error) {
		require.NotImplements(t, (*io.WriterTo)(nil), r.Body)
		text, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		sent = string(text)
		return nil, errStopped
	})}, awscall.Options{Once: true})
	to, err := url.Parse("https://127.0.0.1:1")
	require.NoError(t, err)
	err = client.Do(t.Context(), &awscall.Call{
		Service: "Ovens", Operation: "Bake",
		Write: func(_ context.Context, request *smithyhttp.Request) error {
			request.Method = http.MethodPost
			streamed, err := request.SetStream(strings.NewReader("bread"))
			*request = *streamed
			return err
		},
		Endpoint: func(aws.Credentials) (awscall.Endpoint, error) { return awscall.Endpoint{URL: to}, nil },
	})
	require.ErrorIs(t, err, errStopped)
	require.Equal(t, "bread", sent)
}

// A try that could not begin before the deadline is not waited for: the call ends with
// the error of the last one.
func TestTriesEndBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		client := awscall.New(aws.Config{
			Credentials: aws.AnonymousCredentials{}, RetryMaxAttempts: 50,
			HTTPClient: do(func(*http.Request) (*http.Response, error) {
				tries++
				return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
			}),
		}, awscall.Options{})
		to, err := url.Parse("https://127.0.0.1:1")
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		err = client.Do(ctx, &awscall.Call{
			Service: "Ovens", Operation: "Bake",
			Write:    func(context.Context, *smithyhttp.Request) error { return nil },
			Endpoint: func(aws.Credentials) (awscall.Endpoint, error) { return awscall.Endpoint{URL: to}, nil },
		})
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		require.Less(t, time.Since(began), time.Minute)
		require.Greater(t, tries, 3)
	})
}
