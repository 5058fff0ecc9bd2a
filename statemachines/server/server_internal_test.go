package server

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A function that panics is a failure of the server. The client is told where to look, and
// the log has the rest.
func TestPanic(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := New(Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	t.Cleanup(s.Close)
	s.operations["ListStateMachines"] = serve(func(*request, *listInput) (*empty, error) { panic("a secret") })
	q := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("{}"))
	q.Header.Set("X-Amz-Target", "AWSStepFunctions.ListStateMachines")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, q)
	id := w.Header().Get("X-Amzn-Requestid")
	require.Equal(t, http.StatusInternalServerError, w.Code)
	require.JSONEq(t, `{"__type":"InternalFailure","message":"The server failed. Its log says why, under the request `+id+`."}`, w.Body.String())
	require.Contains(t, log.String(), id)
	require.Contains(t, log.String(), "a secret")
	require.Contains(t, log.String(), "server_internal_test.go")
}

func TestCaller(t *testing.T) {
	t.Parallel()
	const scope = "/20260101/eu-west-1/states/aws4_request, SignedHeaders=host, Signature=00"
	tests := []struct {
		header string
		want   caller
	}{
		{"", caller{"123456789012", "us-east-1"}},
		{"AWS4-HMAC-SHA256 Credential=111111111111" + scope, caller{"111111111111", "eu-west-1"}},
		{"AWS4-HMAC-SHA256 SignedHeaders=host, Credential=111111111111/20260101/us-gov-west-1/states/aws4_request", caller{"111111111111", "us-gov-west-1"}},
		{"AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE" + scope, caller{"123456789012", "eu-west-1"}},
		{"AWS4-HMAC-SHA256 Credential=1111111111111" + scope, caller{"123456789012", "eu-west-1"}},
		{"AWS4-HMAC-SHA256 Credential=111111111111/20260101/../states/aws4_request", caller{"123456789012", "us-east-1"}},
		{"Bearer 111111111111" + scope, caller{"123456789012", "us-east-1"}},
	}
	for _, tt := range tests {
		q := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
		q.Header.Set("Authorization", tt.header)
		require.Equal(t, tt.want, callerOf(q), tt.header)
	}
}
