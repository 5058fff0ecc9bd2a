package direct_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/dynamostore"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/dynamostore/direct"
)

const table = "records"

var key = startrecord.Key{ExecutionARN: "arn:aws:states:us-east-1:123456789012:execution:Orders:1", Poller: "Export"}

// sink is an HTTP client that keeps the requests and answers all alike.
type sink struct {
	status   int
	header   http.Header
	body     string
	requests []*http.Request
	bodies   []string
}

var errNowhere = errors.New("nothing is sent")

func (s *sink) Do(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	s.requests, s.bodies = append(s.requests, r), append(s.bodies, string(body))
	if s.status == 0 {
		return nil, errNowhere
	}
	header := http.Header{"Date": {time.Now().UTC().Format(http.TimeFormat)}}
	maps.Copy(header, s.header)
	return &http.Response{StatusCode: s.status, Header: header, Request: r, Body: io.NopCloser(bytes.NewReader([]byte(s.body)))}, nil
}

func config(client aws.HTTPClient) aws.Config {
	return aws.Config{
		Region: "eu-west-1", HTTPClient: client, AppID: "an-app",
		Credentials: credentials.StaticCredentialsProvider{
			Value:  aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret", SessionToken: "token"},
			Source: []aws.CredentialSource{aws.CredentialSourceEnvVars},
		},
	}
}

// settings are a source of configuration such as the SDK's loader makes.
type settings struct {
	fips      aws.FIPSEndpointState
	dualStack aws.DualStackEndpointState
}

func (s settings) GetUseFIPSEndpoint(context.Context) (aws.FIPSEndpointState, bool, error) {
	return s.fips, s.fips != aws.FIPSEndpointStateUnset, nil
}

func (s settings) GetUseDualStackEndpoint(context.Context) (aws.DualStackEndpointState, bool, error) {
	return s.dualStack, s.dualStack != aws.DualStackEndpointStateUnset, nil
}

// sdkStore is the store of the SDK's client.
func sdkStore(cfg aws.Config, table, prefix string) (startrecord.Store, error) {
	return dynamostore.New(dynamodb.NewFromConfig(cfg), table, prefix)
}

type maker func(cfg aws.Config, table, prefix string) (startrecord.Store, error)

// sentTo is where a store sends a request, and what it is signed for: empty if it sends
// nothing.
func sentTo(t *testing.T, makes maker, cfg aws.Config, table string) string {
	t.Helper()
	to := &sink{}
	cfg.HTTPClient = to
	cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
	store, err := makes(cfg, table, "")
	if err != nil {
		require.ErrorIs(t, err, startrecord.ErrConfiguration)
		return ""
	}
	_, err = store.Load(t.Context(), key)
	if len(to.requests) == 0 {
		require.ErrorIs(t, err, startrecord.ErrConfiguration)
		return ""
	}
	require.ErrorIs(t, err, errNowhere)
	scope := regexp.MustCompile(`Credential=key/\d+/([^,]*)`).FindStringSubmatch(to.requests[0].Header.Get("Authorization"))
	return to.requests[0].URL.String() + " " + scope[1]
}

// Requests go where those of the SDK's client go, whatever is set.
func TestEndpointsAreTheSDKs(t *testing.T) {
	t.Parallel()
	regions := []string{
		"us-east-1", "eu-west-1", "us-gov-east-1", "us-gov-west-1", "cn-north-1", "cn-northwest-1", "eusc-de-east-1",
		"us-iso-east-1", "us-isob-east-1", "eu-isoe-west-1", "us-isof-south-1",
	}
	tables := []string{
		table, "arn:aws:dynamodb:eu-west-1:210987654321:table/records", "arn:aws-us-gov:dynamodb:us-gov-east-1:210987654321:table/records",
	}
	bases := []*string{
		nil, aws.String("https://example.com:8443/base/"), aws.String("https://dynamodb.eu-west-1.api.aws"), aws.String("https://dynamodb.eu-west-1.amazonaws.com"),
	}
	modes := []aws.AccountIDEndpointMode{"", aws.AccountIDEndpointModePreferred, aws.AccountIDEndpointModeRequired, aws.AccountIDEndpointModeDisabled}
	seen := map[string]bool{}
	compare := func(cfg aws.Config, table string) {
		got := sentTo(t, direct.New, cfg, table)
		require.Equal(t, sentTo(t, sdkStore, cfg, table), got, "region %q, settings %v, accounts %q of %v, table %s, endpoint %s",
			cfg.Region, cfg.ConfigSources, cfg.AccountIDEndpointMode, cfg.Credentials, table, aws.ToString(cfg.BaseEndpoint))
		seen[got] = true
	}
	for _, mode := range modes {
		for _, fips := range []aws.FIPSEndpointState{aws.FIPSEndpointStateDisabled, aws.FIPSEndpointStateEnabled} {
			for _, dualStack := range []aws.DualStackEndpointState{aws.DualStackEndpointStateUnset, aws.DualStackEndpointStateEnabled} {
				for _, account := range []string{"", "123456789012", "no account"} {
					cfg := config(nil)
					cfg.AccountIDEndpointMode, cfg.ConfigSources = mode, []any{settings{fips, dualStack}}
					cfg.Credentials = credentials.StaticCredentialsProvider{Value: aws.Credentials{AccessKeyID: "key", SecretAccessKey: "secret", AccountID: account}}
					for _, base := range bases {
						cfg.BaseEndpoint = base
						compare(cfg, table)
					}
					cfg.BaseEndpoint = nil
					for _, region := range regions {
						cfg.Region = region
						for _, name := range tables {
							compare(cfg, name)
						}
					}
				}
			}
		}
	}
	require.Len(t, seen, 60)
	for _, region := range []string{"", "x.example.com/"} { // it is refused, even if the endpoint is set
		cfg := config(nil)
		cfg.Region = region
		compare(cfg, table)
		cfg.BaseEndpoint = bases[1]
		require.Empty(t, sentTo(t, direct.New, cfg, table))
	}
}

// A request is that of the SDK's client, but for the name of the caller.
func TestRequestsAreTheSDKs(t *testing.T) {
	t.Parallel()
	requests := func(t *testing.T, makes maker, mode aws.AccountIDEndpointMode) (sent []map[string]any) {
		to := &sink{status: http.StatusOK, body: `{}`}
		cfg := config(to)
		cfg.AccountIDEndpointMode = mode
		cfg.APIOptions = []func(*middleware.Stack) error{smithyhttp.AddHeaderValue("X-Mine", "yes")}
		store, err := makes(cfg, table, "team <&> é")
		require.NoError(t, err)
		_, err = store.Load(t.Context(), key)
		require.ErrorIs(t, err, startrecord.ErrNotFound)
		_, err = store.Create(t.Context(), key, record())
		require.NoError(t, err)
		_, err = store.Replace(t.Context(), key, record(), "v")
		require.NoError(t, err)
		index := store.(startrecord.Indexed) //nolint:forcetypeassert // the test fails else
		_, err = index.Find(t.Context(), "job-1")
		require.ErrorIs(t, err, startrecord.ErrNotFound)
		withJob := record()
		withJob.Callback.JobIDs = []string{"job-1"}
		_, err = index.ReplaceIndexed(t.Context(), key, withJob, "v")
		require.NoError(t, err)
		for i, r := range to.requests {
			header := r.Header.Clone()
			require.NotEmpty(t, header.Get("Amz-Sdk-Invocation-Id"))
			header.Del("Amz-Sdk-Invocation-Id")
			header.Set("Authorization", regexp.MustCompile(`Signature=.*`).ReplaceAllString(header.Get("Authorization"), ""))
			header.Set("User-Agent", regexp.MustCompile(` api/[^ ]*`).ReplaceAllString(header.Get("User-Agent"), " api"))
			body := regexp.MustCompile(`(nonce\\":\\"|"version":\{"S":"|"ClientRequestToken":")[A-Z0-9]+`).ReplaceAllString(to.bodies[i], "$1")
			require.EqualValues(t, len(to.bodies[i]), r.ContentLength)
			sent = append(sent, map[string]any{"to": r.Method + " " + r.URL.String(), "header": header, "body": decode(t, body)})
		}
		return sent
	}
	for _, mode := range []aws.AccountIDEndpointMode{"", aws.AccountIDEndpointModePreferred, aws.AccountIDEndpointModeDisabled} {
		synctest.Test(t, func(t *testing.T) { // requests hold the time in which they were written
			want := requests(t, sdkStore, mode)
			require.Len(t, want, 8)
			require.Equal(t, want, requests(t, direct.New, mode))
		})
	}
}

// record is one that can be written.
func record() startrecord.Record {
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	return startrecord.Record{ExecutionStartTime: at, Status: startrecord.StatusStarting, Generation: 1, StartedAt: at, ExpiresAt: at.AddDate(0, 1, 0)}
}

func decode(t *testing.T, text string) any {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal([]byte(text), &value), text)
	return value
}

// What fails is tried again as often as by the SDK's client.
func TestRetriesAreTheSDKs(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*aws.Config)
		want   map[string]int // tries, by AWS_NEW_RETRIES_2026
	}{
		{"as they are", func(*aws.Config) {}, map[string]int{"": 3, "true": 4}},
		{"adaptive", func(c *aws.Config) { c.RetryMode = aws.RetryModeAdaptive }, map[string]int{"": 3, "true": 4}},
		{"a number", func(c *aws.Config) { c.RetryMaxAttempts = 6 }, map[string]int{"": 6, "true": 6}},
		{"a defaults mode", func(c *aws.Config) { c.DefaultsMode = aws.DefaultsModeInRegion }, map[string]int{"": 3, "true": 4}},
		{"a retryer", func(c *aws.Config) { c.Retryer = func() aws.Retryer { return aws.NopRetryer{} } }, map[string]int{"": 1, "true": 1}},
	} {
		for retries, want := range tt.want {
			t.Run(tt.name+retries, func(t *testing.T) {
				t.Setenv("AWS_NEW_RETRIES_2026", retries)
				for name, makes := range map[string]maker{"SDK": sdkStore, "direct": direct.New} {
					synctest.Test(t, func(t *testing.T) {
						to := &sink{status: http.StatusInternalServerError, body: `{"__type": "InternalServerError"}`}
						cfg := config(to)
						tt.change(&cfg)
						store, err := makes(cfg, table, "")
						require.NoError(t, err)
						_, err = store.Load(t.Context(), key)
						require.ErrorIs(t, err, startrecord.ErrUnavailable)
						require.Len(t, to.requests, want, name)
					})
				}
			})
		}
	}
}
