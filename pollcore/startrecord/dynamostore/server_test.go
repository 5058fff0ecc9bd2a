//go:build e2e

package dynamostore_test

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// open returns a store with a prefix of its own. The configuration has no endpoint,
// so that the store makes no requests of a probe: its transport leads to the server.
func (makes maker) open(t *testing.T, cfg aws.Config) startrecord.Store {
	t.Helper()
	client, ok := cfg.HTTPClient.(*http.Client)
	require.True(t, ok)
	cfg.BaseEndpoint, cfg.HTTPClient = nil, &http.Client{Transport: toServer{client.Transport}}
	store, err := makes(cfg, table, rand.Text())
	require.NoError(t, err)
	return store
}

// openOn returns a store whose requests the wire sees.
func (makes maker) openOn(t *testing.T, w *wire) startrecord.Store {
	t.Helper()
	return makes.open(t, w.config())
}

// toServer sends requests for DynamoDB in AWS to the server of the tests.
type toServer struct{ next http.RoundTripper }

func (s toServer) RoundTrip(r *http.Request) (*http.Response, error) {
	to, err := url.Parse(server.URL())
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = to.Scheme, to.Host
	return s.next.RoundTrip(r)
}
