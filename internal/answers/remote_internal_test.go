package answers

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// silent is a server that never answers.
type silent struct{}

// RoundTrip implements http.RoundTripper.
func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// A function that never answers ends with the TimeoutSeconds of its state, and at
// Lambda's limit without one.
func TestFunctionServerThatNeverAnswers(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[string]struct {
		failure string
		after   time.Duration
	}{
		"":                     {"Sandbox.Timedout", 15 * time.Minute},
		`"TimeoutSeconds": 7,`: {"States.Timeout", 7 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			settings := newLocalSettings(nil)
			settings.cfg = &aws.Config{Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("k", "s", "")}
			function, err := newRemote("f", "http://127.0.0.1:9000", silent{}, settings)
			require.NoError(t, err)
			const arn = "arn:aws:lambda:eu-west-1:123456789012:function:f"
			for call, handler := range map[string]sim.Handler{
				`"Resource": "` + LambdaInvoke + `", "Parameters": {"FunctionName": "f", "Payload": {}}`: sim.LambdaInvoke(map[string]sim.LambdaFunction{"f": function}),
				`"Resource": "` + arn + `"`: sim.LambdaDirect(function),
			} {
				m, err := asl.Parse([]byte(`{"StartAt": "Call", "States": {"Call": {"Type": "Task", ` + timeout + call + `, "End": true}}}`))
				require.NoError(t, err)
				result, err := sim.Run(t.Context(), m, nil, sim.Options{Clock: sim.NewRealClock(), StateHandlers: map[string]sim.Handler{"Call": handler}})
				require.NoError(t, err)
				require.Equal(t, want.failure, result.Error, call)
				require.Equal(t, want.after, result.Duration(), call)
			}
		})
	}
}

// The user's keys sign what goes to this machine or over TLS. Anybody on the way reads the
// rest.
func TestKeysOfFunctionURLs(t *testing.T) { //nolint:paralleltest // it sets variables
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "AKIAMINE", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "token", "AWS_PROFILE": "",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
	}
	for url, want := range map[string]struct{ key, token string }{
		"http://127.0.0.1:9000": {"AKIAMINE", "token"}, "http://localhost:9000": {"AKIAMINE", "token"}, "http://[::1]:9000": {"AKIAMINE", "token"},
		"https://lambda.example": {"AKIAMINE", "token"}, "http://lambda.example": {"local", ""}, "http://10.0.0.7:3001": {"local", ""},
		"http://127.0.0.1.example": {"local", ""}, "http://lambda.example/invoke": {},
	} {
		caught := &catching{}
		function, err := newRemote("f", url, caught, newLocalSettings(&Services{}))
		require.NoError(t, err)
		_, err = function(t.Context(), []byte(`{}`))
		require.NoError(t, err)
		require.Equal(t, want.token, caught.header.Get("X-Amz-Security-Token"), url)
		require.Equal(t, want.key != "", strings.Contains(caught.header.Get("Authorization"), "Credential="+want.key+"/"), url)
	}
}

// catching keeps the header of a request.
type catching struct{ header http.Header }

// RoundTrip implements http.RoundTripper.
func (c *catching) RoundTrip(r *http.Request) (*http.Response, error) {
	c.header = r.Header
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{}`)), Request: r}, nil
}
