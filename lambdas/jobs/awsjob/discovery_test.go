package awsjob_test

import (
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
)

// switchboard answers requests by their operation, and keeps where they went.
type switchboard struct {
	bodies map[string]string // by the header X-Amz-Target
	went   []string
}

// Do implements aws.HTTPClient.
func (s *switchboard) Do(r *http.Request) (*http.Response, error) {
	target := r.Header.Get("X-Amz-Target")
	_, operation, _ := strings.Cut(target, ".")
	s.went = append(s.went, operation+" "+r.URL.Host)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(s.bodies[operation]))}, nil
}

// A service that gives its endpoint only on demand is asked for it once in the time
// that the service says.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	op := operation(t, "timestream-write", "DescribeBatchLoadTask")
	service := &switchboard{bodies: map[string]string{
		"DescribeEndpoints":     `{"Endpoints": [{"Address": "cell7.timestream.example.com", "CachePeriodInMinutes": 2}]}`,
		"DescribeBatchLoadTask": `{"BatchLoadTaskDescription": {"TaskId": "t"}}`,
	}}
	synctest.Test(t, func(t *testing.T) {
		cfg := config("")
		cfg.BaseEndpoint, cfg.HTTPClient = nil, service
		client := awsjob.New(cfg)
		for _, after := range []time.Duration{0, time.Minute, 2 * time.Minute} {
			<-time.After(after)
			_, err := client.Call(t.Context(), op, map[string]any{"TaskId": "t"})
			require.NoError(t, err)
		}
		require.Equal(t, []string{
			"DescribeEndpoints ingest.timestream.eu-west-1.amazonaws.com", "DescribeBatchLoadTask cell7.timestream.example.com",
			"DescribeBatchLoadTask cell7.timestream.example.com",
			"DescribeEndpoints ingest.timestream.eu-west-1.amazonaws.com", "DescribeBatchLoadTask cell7.timestream.example.com",
		}, service.went)
	})

	// No endpoint is kept for more than a day.
	synctest.Test(t, func(t *testing.T) {
		service := &switchboard{bodies: maps.Clone(service.bodies)}
		service.bodies["DescribeEndpoints"] = `{"Endpoints": [{"Address": "cell7.timestream.example.com", "CachePeriodInMinutes": 9007199254740993}]}`
		cfg := config("")
		cfg.BaseEndpoint, cfg.HTTPClient = nil, service
		client := awsjob.New(cfg)
		for range 2 {
			_, err := client.Call(t.Context(), op, map[string]any{"TaskId": "t"})
			require.NoError(t, err)
			<-time.After(25 * time.Hour)
		}
		require.Len(t, service.went, 4)
	})

	for answer, want := range map[string]string{
		`{"Endpoints": []}`: "it has no endpoint",
		`{"Endpoints": [{"Address": "http://u:p@x", "CachePeriodInMinutes": 1}]}`: "must be an http or https URL",
	} {
		service := &switchboard{bodies: map[string]string{"DescribeEndpoints": answer}}
		cfg := config("")
		cfg.BaseEndpoint, cfg.HTTPClient, cfg.Region = nil, service, "us-east-1"
		_, err := awsjob.New(cfg).Call(t.Context(), op, map[string]any{"TaskId": "t"})
		require.ErrorIs(t, err, awsjob.ErrAnswer)
		require.ErrorContains(t, err, want)
	}

	// An endpoint that the configuration names needs no question.
	service = &switchboard{bodies: service.bodies}
	cfg := config("https://timestream.test")
	cfg.HTTPClient = service
	cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	_, err := awsjob.New(cfg).Call(t.Context(), op, map[string]any{"TaskId": "t"})
	require.NoError(t, err)
	require.Equal(t, []string{"DescribeBatchLoadTask timestream.test"}, service.went)
}
