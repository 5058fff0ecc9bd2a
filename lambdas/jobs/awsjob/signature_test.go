package awsjob_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
)

// verifying is a service that lets nobody in whose signature is not what the
// SDK's signer makes of the request.
func verifying(keys aws.Credentials, region, signingName string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is gone
		}
		if got, want := r.Header.Get("Authorization"), resigned(r, body, keys, region, signingName); got != want {
			answerJSON(w, http.StatusForbidden, map[string]string{"__type": "SignatureDoesNotMatch", "message": want})
			return
		}
		answerJSON(w, http.StatusOK, map[string]any{})
	})
}

// resigned signs the headers that were signed once more.
func resigned(r *http.Request, body []byte, keys aws.Credentials, region, signingName string) string {
	_, rest, _ := strings.Cut(r.Header.Get("Authorization"), "SignedHeaders=")
	names, _, _ := strings.Cut(rest, ",")
	again, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+r.Host+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return err.Error()
	}
	for name := range strings.SplitSeq(names, ";") {
		if values := r.Header.Values(name); values != nil && name != "x-amz-date" && name != "x-amz-security-token" {
			again.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	if !strings.Contains(names, "content-length") {
		again.ContentLength = 0
	}
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil {
		return err.Error()
	}
	hash := sha256.Sum256(body)
	plainPath := func(o *v4.SignerOptions) { o.DisableURIPathEscaping = signingName == "s3" }
	if err := v4.NewSigner(plainPath).SignHTTP(r.Context(), keys, again, hex.EncodeToString(hash[:]), signingName, region, at); err != nil {
		return err.Error()
	}
	return again.Header.Get("Authorization")
}

func TestSignature(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		service, operation, signingName string
		input                           map[string]any
	}{
		{"ovens", "DescribeBakes", "oven", oneBake},
		{"gardens", "GetHarvest", "garden", map[string]any{"harvestId": "a b/ü"}},
		{"gardens", "CreateHarvest", "garden", map[string]any{"bedName": "a+b/ü", "tags": []string{"x y", "z"}, "requester": "me  you", "crops": []string{"kale"}}},
	} {
		op := fixture(t, tt.service, tt.operation)
		server := newScripted(t)
		cfg := config(server.URL)
		keys, err := cfg.Credentials.Retrieve(t.Context())
		require.NoError(t, err)
		server.Config.Handler = verifying(keys, "eu-west-1", tt.signingName)
		_, err = awsjob.New(cfg).Call(t.Context(), op, tt.input)
		require.NoError(t, err, tt.operation)

		server.Config.Handler = verifying(aws.Credentials{AccessKeyID: keys.AccessKeyID, SecretAccessKey: "another"}, "eu-west-1", tt.signingName)
		_, err = awsjob.New(cfg).Call(t.Context(), op, tt.input)
		require.ErrorContains(t, err, "SignatureDoesNotMatch", tt.operation)
	}
}

// signed is an HTTP client that keeps whether a signature is what the SDK's signer makes.
type signed struct {
	keys                aws.Credentials
	region, signingName string
	right               bool
}

// Do implements aws.HTTPClient.
func (s *signed) Do(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	r.Host = r.URL.Host
	s.right = r.Header.Get("Authorization") == resigned(r, body, s.keys, s.region, s.signingName)
	return nil, errNowhere
}

// Services with one endpoint for many regions are signed for its region, and S3 signs a
// path as it is.
func TestSignatureOfServicesThatSpeakXML(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		service, operation, region, signedFor, signingName string
		input                                              map[string]any
	}{
		{"iam", "GetUser", "eu-west-1", "us-east-1", "iam", map[string]any{"UserName": "a b"}},
		{"iam", "GetUser", "cn-northwest-1", "cn-north-1", "iam", map[string]any{"UserName": "a b"}},
		{"cloudfront", "GetDistribution", "eu-west-1", "us-east-1", "cloudfront", map[string]any{"Id": "E 1"}},
		{"route53", "GetChange", "eu-west-1", "us-east-1", "route53", map[string]any{"Id": "C 1"}},
		{"route53", "GetChange", "us-gov-east-1", "us-gov-west-1", "route53", map[string]any{"Id": "C 1"}},
		{"rds", "DescribeDBInstances", "eu-west-1", "eu-west-1", "rds", map[string]any{"DBInstanceIdentifier": "a&b"}},
		{"elbv2", "DescribeLoadBalancers", "eu-west-1", "eu-west-1", "elasticloadbalancing", map[string]any{"Names": []string{"a", "b"}}},
		{"s3", "HeadObject", "eu-west-1", "eu-west-1", "s3", map[string]any{"Bucket": "records", "Key": "a b/c+ü//d"}},
	} {
		cfg := config("")
		keys, err := cfg.Credentials.Retrieve(t.Context())
		require.NoError(t, err)
		client := &signed{keys: keys, region: tt.signedFor, signingName: tt.signingName}
		cfg.BaseEndpoint, cfg.HTTPClient, cfg.Region = nil, client, tt.region
		cfg.Retryer = func() aws.Retryer { return aws.NopRetryer{} }
		_, err = awsjob.New(cfg).Call(t.Context(), operation(t, tt.service, tt.operation), tt.input)
		require.ErrorIs(t, err, errNowhere)
		require.True(t, client.right, "%s in %s", tt.operation, tt.region)
	}
}
