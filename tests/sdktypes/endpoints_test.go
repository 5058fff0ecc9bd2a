package sdktypes_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/globalaccelerator"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/tests/wire"
)

// global make the clients of more services that have one endpoint for many regions.
var global = map[string]func(aws.Config) any{
	"globalaccelerator": func(c aws.Config) any { return globalaccelerator.NewFromConfig(c) },
	"route53":           func(c aws.Config) any { return route53.NewFromConfig(c) },
	"sts":               func(c aws.Config) any { return sts.NewFromConfig(c) },
}

// addressed are the operations whose endpoints are compared, with their inputs.
var addressed = []struct {
	service, operation string
	input              map[string]any
}{
	{"autoscaling", "DescribeAutoScalingGroups", nil},
	{"cloudformation", "DescribeStacks", nil},
	{"cloudfront", "ListDistributions", nil},
	{"cloudfront", "GetDistribution", map[string]any{"Id": "E1"}},
	{"ec2", "DescribeInstances", nil},
	{"elasticache", "DescribeCacheClusters", nil},
	{"elbv2", "DescribeLoadBalancers", nil},
	{"globalaccelerator", "ListAccelerators", nil},
	{"iam", "GetUser", nil},
	{"rds", "DescribeDBInstances", nil},
	{"redshift", "DescribeClusters", nil},
	{"route53", "ListHostedZones", nil},
	{"route53", "GetChange", map[string]any{"Id": "C1"}},
	{"s3", "ListBuckets", nil},
	{"s3", "ListDirectoryBuckets", nil},
	{"s3", "CreateBucket", map[string]any{"Bucket": "records"}},
	{"s3", "HeadBucket", map[string]any{"Bucket": "records"}},
	{"s3", "HeadBucket", map[string]any{"Bucket": "my.records"}},
	{"s3", "HeadBucket", map[string]any{"Bucket": "a-name-s3alias"}},
	{"s3", "HeadObject", map[string]any{"Bucket": "records", "Key": "a b/c+ü//d"}},
	{"s3", "HeadObject", map[string]any{"Bucket": "my.records", "Key": "/a//.b"}},
	{"s3", "ListObjectsV2", map[string]any{"Bucket": "records", "Prefix": "a b/"}},
	{"sns", "ListTopics", nil},
	{"sqs", "ListQueues", nil},
	{"sts", "GetCallerIdentity", nil},
}

// regions are of every partition, and some that nobody knows yet. In those of GovCloud
// the rules of some services have names for FIPS that the catalogue has for known ones.
var regions = []string{
	"us-east-1", "us-east-2", "us-west-2", "ca-central-1", "ca-west-1", "eu-west-1", "ap-east-2", "il-central-1", "mx-central-1",
	"us-gov-east-1", "us-gov-west-1", "cn-north-1", "cn-northwest-1", "us-iso-east-1", "us-iso-west-1",
	"us-isob-east-1", "us-isob-west-1", "eu-isoe-west-1", "us-isof-south-1", "us-isof-east-1", "eusc-de-east-1",
	"eu-north-9", "mars-east-1", "cn-south-9",
}

// kind is a source of configuration that asks for a kind of endpoint.
type kind struct{ fips, dual bool }

func (k kind) GetUseFIPSEndpoint(context.Context) (aws.FIPSEndpointState, bool, error) {
	if k.fips {
		return aws.FIPSEndpointStateEnabled, true, nil
	}
	return aws.FIPSEndpointStateUnset, false, nil
}

func (k kind) GetUseDualStackEndpoint(context.Context) (aws.DualStackEndpointState, bool, error) {
	if k.dual {
		return aws.DualStackEndpointStateEnabled, true, nil
	}
	return aws.DualStackEndpointStateUnset, false, nil
}

// went is where a request went, and what it is signed for; empty if none did.
func (e *exchange) went() string {
	if e.sent == nil {
		return ""
	}
	_, rest, _ := strings.Cut(e.sent.Header.Get("Authorization"), "Credential=")
	scope, _, _ := strings.Cut(rest, ",")
	parts := strings.Split(scope, "/") // key, date, region, service, aws4_request
	if len(parts) != 5 {
		return "not signed"
	}
	u := e.sent.URL
	went := fmt.Sprintf("%s://%s%s for %s in %s", u.Scheme, u.Host, strings.TrimSuffix(u.EscapedPath(), "/"), parts[3], parts[2])
	if e.sent.Header.Get("X-Amz-Content-Sha256") != "" {
		went += " with the hash of the body"
	}
	return went
}

// Requests go where the generated clients send them, in every partition and for every
// kind of endpoint, and are signed for the same region and service. Where the clients
// have no endpoint, awsjob has none.
func TestEndpointsOfAllProtocols(t *testing.T) {
	all := maps.Clone(clients)
	maps.Copy(all, global)
	all["s3"] = func(c aws.Config) any { return s3.NewFromConfig(c) }
	var lines []string
	compared := 0
	for _, a := range addressed {
		service, err := models.Load(a.service)
		require.NoError(t, err)
		op := service.Operations[a.operation]
		require.NotNil(t, op, a.operation)
		for _, region := range regions {
			for _, k := range []kind{{}, {fips: true}, {dual: true}, {fips: true, dual: true}} {
				cfg := aws.Config{
					Region: region, ConfigSources: []any{k}, Retryer: func() aws.Retryer { return aws.NopRetryer{} },
					Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "secret", ""),
				}
				want := sees(cfg, func(cfg aws.Config) {
					method := reflect.ValueOf(all[a.service](cfg)).MethodByName(op.Name)
					in := reflect.New(method.Type().In(1).Elem())
					assign(op.Input, a.input, in.Elem())
					method.Call([]reflect.Value{reflect.ValueOf(t.Context()), in})
				})
				got := sees(cfg, func(cfg aws.Config) { _, _ = awsjob.New(cfg).Call(t.Context(), op, maps.Collect(maps.All(a.input))) })
				compared++
				if want != got {
					lines = append(lines, fmt.Sprintf("%s:%s %v in %s, %+v: the SDK goes to %q, awsjob to %q", a.service, a.operation, a.input, region, k, want, got))
				}
			}
		}
	}
	slices.Sort(lines)
	require.Empty(t, lines, strings.Join(lines, "\n"))
	require.Equal(t, len(addressed)*len(regions)*4, compared)
}

// sees is where a call goes.
func sees(cfg aws.Config, call func(aws.Config)) string {
	e := &exchange{answer: wire.Answer{Status: http.StatusBadRequest, Header: http.Header{}}}
	cfg.HTTPClient = e
	call(cfg)
	return e.went()
}
