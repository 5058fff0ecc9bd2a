package direct_test

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/dynamostore/direct"
)

// What cannot be used is said when the store is made.
func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*aws.Config){
		"must be an http or https URL": func(c *aws.Config) { c.BaseEndpoint = aws.String("ftp://x") },
		"without user":                 func(c *aws.Config) { c.BaseEndpoint = aws.String("http://u:secret@x") },
		"set BaseEndpoint, or use":     func(c *aws.Config) { c.EndpointResolverWithOptions = aws.EndpointResolverWithOptionsFunc(nil) }, //nolint:staticcheck // it is refused
		"which has 3 to 255 of a-z":    func(*aws.Config) {},
		"no such source can be asked":  func(c *aws.Config) { c.ConfigSources = []any{broken{}} },
	} {
		cfg := config(nil)
		change(&cfg)
		_, err := direct.New(cfg, "x", "")
		require.ErrorIs(t, err, startrecord.ErrConfiguration)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "secret")
	}
}

// broken is a source of configuration that cannot be read.
type broken struct{ settings }

func (broken) GetServiceBaseEndpoint(context.Context, string) (endpoint string, found bool, err error) {
	return "", false, errors.New("no such source can be asked")
}

// An answer counts only if it is what DynamoDB sent.
func TestAnswers(t *testing.T) {
	t.Parallel()
	body := `{"Item": {"note": {"BOOL": true}}}`
	sum := func(of string) http.Header {
		return http.Header{"X-Amz-Crc32": {fmt.Sprint(crc32.ChecksumIEEE([]byte(of)))}}
	}
	for _, tt := range []struct {
		name   string
		status int
		header http.Header
		body   string
		want   error
		text   string
	}{
		{"nothing there", 200, sum(`{}`), `{}`, startrecord.ErrNotFound, ""},
		{"read whole", 200, sum(body), body, startrecord.ErrMalformed, `expected the attributes "record"`},
		{"of other bytes", 200, sum(body), `{}`, startrecord.ErrUnavailable, "its checksum is not"},
		{"a checksum that is none", 200, http.Header{"X-Amz-Crc32": {"x"}}, `{}`, startrecord.ErrUnavailable, "its checksum is not x"},
		{"no JSON", 200, nil, `<html>`, startrecord.ErrUnavailable, "the service's answer cannot be used"},
		{"another form", 200, nil, `{"Item": [1]}`, startrecord.ErrUnavailable, "the service's answer cannot be used"},
		{"nested without end", 200, nil, strings.Repeat(`{"Item":`, 1<<20), startrecord.ErrUnavailable, "the service's answer cannot be used"},
		{"too long", 200, nil, strings.Repeat(" ", 8<<20) + `{}`, startrecord.ErrUnavailable, "it is longer than"},
		{"refused", 400, nil, `{"__type": "x#AccessDeniedException", "Message": "no"}`, startrecord.ErrConfiguration, "access denied; grant dynamodb:GetItem"},
		{
			"a policy denies", 400, nil, `{"__type": "x#AccessDeniedException", "Message": "User: arn:aws:sts::123456789012:assumed-role/poller/f is not authorized to perform: dynamodb:GetItem on resource: t with an explicit deny in a service control policy"}`,
			startrecord.ErrConfiguration, "access denied; a service control policy denies dynamodb:GetItem: change that policy, a grant does not help",
		},
		{"refused without a word", 400, nil, ``, startrecord.ErrConfiguration, "UnknownError: Bad Request"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg := config(&sink{status: tt.status, header: tt.header, body: tt.body})
			cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
			store, err := direct.New(cfg, table, "")
			require.NoError(t, err)
			_, err = store.Load(t.Context(), key)
			require.ErrorIs(t, err, tt.want)
			require.ErrorContains(t, err, tt.text)
		})
	}
}
