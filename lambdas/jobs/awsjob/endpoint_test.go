package awsjob_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// nowhere is an HTTP client that only sees where requests would go.
type nowhere struct{ url, scope string }

var errNowhere = errors.New("nothing is sent")

func (n *nowhere) Do(r *http.Request) (*http.Response, error) {
	n.url = r.URL.Scheme + "://" + r.URL.Host
	parts := strings.Split(r.Header.Get("Authorization"), "/")
	n.scope = parts[2] + "/" + parts[3]
	return nil, errNowhere
}

// sentTo is where a call goes, and what it is signed for.
func sentTo(t *testing.T, op *catalog.Operation, region string, input any) string {
	t.Helper()
	cfg := config("")
	client := &nowhere{}
	cfg.BaseEndpoint, cfg.HTTPClient, cfg.Region, cfg.RetryMaxAttempts = nil, client, region, 1
	_, err := awsjob.New(cfg).Call(t.Context(), op, input)
	require.ErrorIs(t, err, errNowhere)
	return client.url + " " + client.scope
}

// sdkPartition is a partition in the SDK's list, as far as it counts here.
type sdkPartition struct {
	ID          string         `json:"id"`
	RegionRegex string         `json:"regionRegex"`
	Regions     map[string]any `json:"regions"`
	Outputs     struct {
		DNSSuffix          string `json:"dnsSuffix"`
		DualStackDNSSuffix string `json:"dualStackDnsSuffix"`
	} `json:"outputs"`
}

func sdkPartitions(t *testing.T) []sdkPartition {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/aws/aws-sdk-go-v2")
	folder, err := command.Output()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(folder)), "internal/endpoints/awsrulesfn/partitions.json"))
	require.NoError(t, err)
	var file struct {
		Partitions []sdkPartition `json:"partitions"`
	}
	require.NoError(t, json.Unmarshal(text, &file))
	require.NotEmpty(t, file.Partitions)
	return file.Partitions
}

// Every region that the SDK knows, in every partition.
func TestRegions(t *testing.T) {
	t.Parallel()
	op := describeBakes(t)
	dual := *op.Service
	dual.Endpoint.DualStack = true
	dualOp := *op
	dualOp.Service = &dual
	for _, p := range sdkPartitions(t) {
		regions := 0
		for region := range p.Regions {
			if !regexp.MustCompile(p.RegionRegex).MatchString(region) {
				continue // a name for all regions, which is not in host names
			}
			regions++
			require.Equal(t, "https://ovens."+region+"."+p.Outputs.DNSSuffix+" "+region+"/oven", sentTo(t, op, region, oneBake))
			require.Equal(t, "https://ovens."+region+"."+p.Outputs.DualStackDNSSuffix+" "+region+"/oven", sentTo(t, &dualOp, region, oneBake))
		}
		require.Positive(t, regions, p.ID)
	}
}

// With FIPS and dual-stack, too, requests go where the SDK's go.
func TestKindsOfEndpointsAreTheSDKs(t *testing.T) {
	t.Parallel()
	for _, tt := range sdkCalls {
		for _, kind := range []settings{
			{fips: aws.FIPSEndpointStateEnabled},
			{dualStack: aws.DualStackEndpointStateEnabled},
			{fips: aws.FIPSEndpointStateEnabled, dualStack: aws.DualStackEndpointStateEnabled},
		} {
			for _, region := range []string{"us-east-1", "eu-west-1", "us-gov-west-1", "cn-north-1", "us-iso-east-1", "eusc-de-east-1"} {
				cfg := config("")
				client := &nowhere{}
				cfg.BaseEndpoint, cfg.HTTPClient, cfg.Region, cfg.RetryMaxAttempts = nil, client, region, 1
				cfg.AccountIDEndpointMode = aws.AccountIDEndpointModeDisabled
				cfg.ConfigSources = []any{kind}
				_, err := tt.sdk(t, cfg)
				require.ErrorIs(t, err, errNowhere)
				want := *client
				_, err = awsjob.New(cfg).Call(t.Context(), operation(t, tt.service, tt.operation), json.RawMessage(tt.input))
				require.ErrorIs(t, err, errNowhere)
				require.Equal(t, want, *client, "%s in %s", tt.operation, region)
			}
		}
	}
}

// For services that are linked in, requests go where the SDK's go.
func TestEndpointsAreTheSDKs(t *testing.T) {
	t.Parallel()
	for _, tt := range sdkCalls {
		for _, p := range sdkPartitions(t) {
			for region := range p.Regions {
				if !regexp.MustCompile(p.RegionRegex).MatchString(region) {
					continue
				}
				cfg := config("")
				client := &nowhere{}
				cfg.BaseEndpoint, cfg.HTTPClient, cfg.Region, cfg.RetryMaxAttempts = nil, client, region, 1
				cfg.AccountIDEndpointMode = aws.AccountIDEndpointModeDisabled // DynamoDB serves all accounts at either
				_, err := tt.sdk(t, cfg)
				require.ErrorIs(t, err, errNowhere)
				require.Equal(t, client.url+" "+client.scope, sentTo(t, operation(t, tt.service, tt.operation), region, json.RawMessage(tt.input)), tt.operation)
			}
		}
	}
}

func TestEndpointExceptions(t *testing.T) {
	t.Parallel()
	op := *describeBakes(t)
	s := *op.Service
	op.Service = &s
	op.HostPrefix = "api."
	require.Equal(t, "https://api.ovens.eu-west-1.amazonaws.com eu-west-1/oven", sentTo(t, &op, "eu-west-1", oneBake))
	op.HostPrefix = ""
	s.Endpoint.Hosts = map[string]string{"cn-north-1": "cn.ovens.cn-north-1.amazonaws.com.cn"}
	require.Equal(t, "https://cn.ovens.cn-north-1.amazonaws.com.cn cn-north-1/oven", sentTo(t, &op, "cn-north-1", oneBake))
	require.Equal(t, "https://ovens.cn-northwest-1.amazonaws.com.cn cn-northwest-1/oven", sentTo(t, &op, "cn-northwest-1", oneBake))
	s.Endpoint.Global = map[string]catalog.GlobalEndpoint{"aws": {Hostname: "ovens.us-east-1.amazonaws.com", Region: "us-east-1"}}
	require.Equal(t, "https://ovens.us-east-1.amazonaws.com us-east-1/oven", sentTo(t, &op, "eu-west-1", oneBake))
	cfg := config("")
	cfg.BaseEndpoint, cfg.Region = nil, "cn-north-1"
	require.EqualError(t, awsjob.New(cfg).Check(&op),
		"ovens:DescribeBakes cannot be called: Oven Control has no endpoint in the partition aws-cn; call it in another partition")
}

// settings are a source of configuration such as the SDK's loader makes.
type settings struct {
	fips      aws.FIPSEndpointState
	dualStack aws.DualStackEndpointState
	ignore    bool
	endpoints map[string]string
	err       error
}

func (s settings) GetUseFIPSEndpoint(context.Context) (aws.FIPSEndpointState, bool, error) {
	return s.fips, true, s.err
}

func (s settings) GetUseDualStackEndpoint(context.Context) (aws.DualStackEndpointState, bool, error) {
	return s.dualStack, true, nil
}

func (s settings) GetIgnoreConfiguredEndpoints(context.Context) (value, found bool, err error) {
	return s.ignore, true, nil
}

func (s settings) GetServiceBaseEndpoint(_ context.Context, service string) (endpoint string, found bool, err error) {
	endpoint, found = s.endpoints[service]
	return endpoint, found, nil
}

// What is set and not known here is refused, not left out.
func TestCheck(t *testing.T) {
	t.Parallel()
	op := describeBakes(t)
	query := *op.Service
	query.Protocols = []catalog.Protocol{"morse"}
	queryOp := *op
	queryOp.Service = &query

	for _, tt := range []struct {
		name        string
		op          *catalog.Operation
		change      func(*aws.Config)
		want        string
		unsupported bool
	}{
		{"FIPS", op, func(c *aws.Config) { c.ConfigSources = []any{settings{fips: aws.FIPSEndpointStateEnabled}} }, "AWS_USE_FIPS_ENDPOINT", true},
		{"dual stack", op, func(c *aws.Config) { c.ConfigSources = []any{settings{dualStack: aws.DualStackEndpointStateEnabled}} }, "AWS_USE_DUALSTACK_ENDPOINT", true},
		{"bad setting", op, func(c *aws.Config) { c.ConfigSources = []any{settings{err: errNowhere}} }, errNowhere.Error(), false},
		{"no region", op, func(c *aws.Config) { c.Region = "" }, "no region", false},
		{"bad region", op, func(c *aws.Config) { c.Region = "evil.example.com/" }, `"evil.example.com/" is not the name of a region`, false},
		{"FIPS region", op, func(c *aws.Config) { c.Region = "us-east-1-fips" }, `"us-east-1-fips" is not the name of a region`, false},
		{"FIPS region before", op, func(c *aws.Config) { c.Region = "fips-us-east-1" }, `"fips-us-east-1" is not the name of a region`, false},
		{"no URL", op, func(c *aws.Config) { c.BaseEndpoint = aws.String("ftp://x") }, "must be an http or https URL", false},
		{"half a URL", op, func(c *aws.Config) { c.BaseEndpoint = aws.String("http://[::1") }, `the configured endpoint must be an http or https URL, is "http://[::1"`, false},
		{"a secret in the URL", op, func(c *aws.Config) { c.BaseEndpoint = aws.String("http://u:secret@x") }, "the configured endpoint must be an http or https URL without user, query and fragment", false},
		{"account-based", operation(t, "dynamodb", "DescribeTable"), func(c *aws.Config) { c.AccountIDEndpointMode = aws.AccountIDEndpointModeRequired }, "AWS_ACCOUNT_ID_ENDPOINT_MODE", true},
		{"protocol", &queryOp, func(*aws.Config) {}, "ovens:DescribeBakes cannot be called: Oven Control speaks [morse], which this package does not know; write", true},
	} {
		cfg := config("https://example.com")
		tt.change(&cfg)
		err := awsjob.New(cfg).Check(tt.op)
		require.ErrorContains(t, err, tt.want, tt.name)
		require.Equal(t, tt.unsupported, errors.Is(err, awsjob.ErrUnsupported), tt.name)
		_, callErr := awsjob.New(cfg).Call(t.Context(), tt.op, nil)
		require.Equal(t, err.Error(), callErr.Error(), tt.name)
	}
	require.NoError(t, awsjob.New(config("https://example.com")).Check(op))
}

// Endpoints of the configuration, for one service or for all.
func TestConfiguredEndpoints(t *testing.T) {
	t.Parallel()
	op := describeBakes(t)
	all, own := newScripted(t, answer{body: `{}`}), newScripted(t, answer{body: `{}`})
	for _, tt := range []struct {
		name    string
		sources []any
		want    *scripted
	}{
		{"for all", nil, all},
		{"for the service", []any{settings{endpoints: map[string]string{"Oven Control": own.URL}}}, own},
		{"for another", []any{settings{endpoints: map[string]string{"Ovens": own.URL}}}, all},
		{"ignored", []any{settings{ignore: true, endpoints: map[string]string{"Oven Control": own.URL}}}, all},
	} {
		cfg := config(all.URL)
		cfg.ConfigSources = tt.sources
		_, err := awsjob.New(cfg).Call(t.Context(), op, oneBake)
		require.NoError(t, err, tt.name)
		require.Len(t, tt.want.take(), 1, tt.name)
		require.Empty(t, all.take(), tt.name)
		require.Empty(t, own.take(), tt.name)
	}
}

// The variables for endpoints count as they do for the SDK's client.
func TestEndpointVariablesAreTheSDKs(t *testing.T) {
	call := sdkCalls[slices.IndexFunc(sdkCalls, func(c sdkCall) bool { return c.operation == "GetQueryExecution" })]
	op := operation(t, call.service, call.operation)
	variable := "https://variable.example.com"
	for _, tt := range []struct {
		name      string
		variables map[string]string
		base      *string
		sources   []any
	}{
		{"none", nil, nil, nil},
		{"for all", map[string]string{"AWS_ENDPOINT_URL": variable}, &variable, []any{settings{}}},
		{"a file for the service", nil, nil, []any{settings{endpoints: map[string]string{"Athena": "https://file.example.com"}}}},
		{"a variable for all over a file for the service", map[string]string{"AWS_ENDPOINT_URL": variable}, &variable, []any{settings{endpoints: map[string]string{"Athena": "https://file.example.com"}}}},
		{"a variable for the service", map[string]string{"AWS_ENDPOINT_URL": variable, "AWS_ENDPOINT_URL_ATHENA": "x"}, &variable, []any{settings{endpoints: map[string]string{"Athena": "https://own.example.com"}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, value := range tt.variables {
				t.Setenv(name, value)
			}
			cfg := config("")
			want, got := &nowhere{}, &nowhere{}
			cfg.BaseEndpoint, cfg.ConfigSources, cfg.RetryMaxAttempts = tt.base, tt.sources, 1
			cfg.HTTPClient = want
			_, err := call.sdk(t, cfg)
			require.ErrorIs(t, err, errNowhere)
			cfg.HTTPClient = got
			_, err = awsjob.New(cfg).Call(t.Context(), op, json.RawMessage(call.input))
			require.ErrorIs(t, err, errNowhere)
			require.Equal(t, want, got)
		})
	}
}
