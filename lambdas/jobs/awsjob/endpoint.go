package awsjob

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// endpoint is where an operation is called, and for which region and service a
// request is signed.
type endpoint struct {
	url         *url.URL
	region      string
	signingName string
}

// partition is a group of regions of its own, by the SDK's partitions.json.
type partition struct {
	name      string
	regions   []string // what the names of its regions start with
	suffix    string   // of host names
	dualStack string   // of dual-stack host names
}

// The first partition is that of all other regions.
var partitions = []partition{
	{"aws", nil, "amazonaws.com", "api.aws"},
	{"aws-cn", []string{"cn-"}, "amazonaws.com.cn", "api.amazonwebservices.com.cn"},
	{"aws-us-gov", []string{"us-gov-"}, "amazonaws.com", "api.aws"},
	{"aws-eusc", []string{"eusc-"}, "amazonaws.eu", "api.amazonwebservices.eu"},
	{"aws-iso", []string{"us-iso-"}, "c2s.ic.gov", "api.aws.ic.gov"},
	{"aws-iso-b", []string{"us-isob-"}, "sc2s.sgov.gov", "api.aws.scloud"},
	{"aws-iso-e", []string{"eu-isoe-"}, "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk"},
	{"aws-iso-f", []string{"us-isof-"}, "csp.hci.ic.gov", "api.aws.hci.ic.gov"},
}

func partitionOf(region string) partition {
	for _, p := range partitions {
		for _, prefix := range p.regions {
			if strings.HasPrefix(region, prefix) {
				return p
			}
		}
	}
	return partitions[0]
}

// regionName is what a region is called. A region is part of a host name, so
// nothing else is taken for one.
var regionName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z]{2,8}(-[a-z]{1,16}){1,3}-[0-9]{1,2}$`) })

// Those of the SDK's sources of configuration that are asked here: what the
// package config loads, or what another loader gives the same methods.
type (
	fipsSource interface {
		GetUseFIPSEndpoint(context.Context) (aws.FIPSEndpointState, bool, error)
	}
	dualStackSource interface {
		GetUseDualStackEndpoint(context.Context) (aws.DualStackEndpointState, bool, error)
	}
	ignoreSource interface {
		GetIgnoreConfiguredEndpoints(context.Context) (bool, bool, error)
	}
	endpointSource interface {
		GetServiceBaseEndpoint(context.Context, string) (string, bool, error)
	}
)

// newEndpoint finds the endpoint of an operation: one that the configuration
// names for the service or for all, which is taken as it is, else by the rule of
// AWS's host names.
func newEndpoint(cfg *aws.Config, op *catalog.Operation) (endpoint, error) {
	unsupported := func(lack, advice string) (endpoint, error) {
		return endpoint{}, &UnsupportedError{Operation: operationName(op), Lack: lack, Advice: advice}
	}
	if cfg.Region == "" {
		return endpoint{}, fmt.Errorf("%s: there is no region: set AWS_REGION", operationName(op))
	}
	if !regionName().MatchString(cfg.Region) || strings.Contains(cfg.Region, "fips") {
		return endpoint{}, fmt.Errorf("%s: %q is no name of a region, such as us-east-1", operationName(op), cfg.Region)
	}
	s := &op.Service.Endpoint
	if op.Endpoint != nil {
		s = op.Endpoint
	}
	signed := endpoint{region: cfg.Region, signingName: s.SigningName}
	if signed.signingName == "" {
		signed.signingName = s.Prefix
	}
	switch set, err := findFixedEndpoint(cfg); {
	case err != nil:
		return endpoint{}, fmt.Errorf("%s: %w", operationName(op), err)
	case set != "":
		return unsupported(set+" is set, which is not known here", "leave it out, or "+useTheSDK)
	case cfg.AccountIDEndpointMode == aws.AccountIDEndpointModeRequired && op.Service.Key == "dynamodb":
		return unsupported("the use of account-based endpoints (AWS_ACCOUNT_ID_ENDPOINT_MODE) is required, which is not known here", "leave it out, or "+useTheSDK)
	case op.Discovered:
		return unsupported("its endpoint must be asked for with the service's DescribeEndpoints", useTheSDK)
	}
	configured, err := baseEndpoint(cfg, op.Service.Name)
	if err != nil {
		return endpoint{}, fmt.Errorf("%s: %w", operationName(op), err)
	}
	if configured != "" {
		signed.url, err = parseEndpoint(configured)
		if err != nil {
			return endpoint{}, fmt.Errorf("%s: %w", operationName(op), err)
		}
		return signed, nil
	}
	if strings.Contains(op.HostPrefix, "{") {
		return unsupported("its host name has a part of the input", useTheSDK)
	}
	in := partitionOf(cfg.Region)
	host := fmt.Sprintf("%s.%s.%s", s.Prefix, cfg.Region, in.suffix)
	if s.DualStack {
		host = fmt.Sprintf("%s.%s.%s", s.Prefix, cfg.Region, in.dualStack)
	}
	if own := s.Hosts[cfg.Region]; own != "" {
		host = own
	}
	if len(s.Global) > 0 {
		global, ok := s.Global[in.name]
		if !ok {
			return unsupported(fmt.Sprintf("%s has no endpoint in the partition %s", op.Service.Name, in.name), "call it in another")
		}
		host, signed.region = global.Hostname, global.Region
	}
	signed.url = &url.URL{Scheme: "https", Host: op.HostPrefix + host}
	return signed, nil
}

// findFixedEndpoint names a setting of the configuration that asks for endpoints
// of another kind, empty if there is none.
func findFixedEndpoint(cfg *aws.Config) (setting string, err error) {
	if cfg.EndpointResolver != nil || cfg.EndpointResolverWithOptions != nil { //nolint:staticcheck // so as not to ignore what is set
		return "an EndpointResolver of the configuration", nil
	}
	for _, source := range cfg.ConfigSources {
		if s, ok := source.(fipsSource); ok {
			if state, found, err := s.GetUseFIPSEndpoint(context.Background()); err != nil {
				return "", err
			} else if found && state == aws.FIPSEndpointStateEnabled {
				return "the use of FIPS endpoints (AWS_USE_FIPS_ENDPOINT)", nil
			}
		}
		if s, ok := source.(dualStackSource); ok {
			if state, found, err := s.GetUseDualStackEndpoint(context.Background()); err != nil {
				return "", err
			} else if found && state == aws.DualStackEndpointStateEnabled {
				return "the use of dual-stack endpoints (AWS_USE_DUALSTACK_ENDPOINT)", nil
			}
		}
	}
	return "", nil
}

// baseEndpoint is the endpoint that the configuration has for a service, with
// the precedence that it has in the SDK's clients: empty if there is none.
func baseEndpoint(cfg *aws.Config, service string) (string, error) {
	base := aws.ToString(cfg.BaseEndpoint)
	const all = "AWS_ENDPOINT_URL"
	_, forAll := os.LookupEnv(all)
	_, forThis := os.LookupEnv(all + "_" + strings.ReplaceAll(strings.ToUpper(service), " ", "_"))
	if forAll && !forThis {
		return base, nil // the variable counts more than a file
	}
	ctx := context.Background()
	for _, source := range cfg.ConfigSources {
		if s, ok := source.(ignoreSource); ok {
			if ignored, found, err := s.GetIgnoreConfiguredEndpoints(ctx); err == nil && found {
				if ignored {
					return base, nil
				}
				break
			}
		}
	}
	for _, source := range cfg.ConfigSources {
		if s, ok := source.(endpointSource); ok {
			if own, found, err := s.GetServiceBaseEndpoint(ctx, service); err != nil || found {
				return own, err
			}
		}
	}
	return base, nil
}

func parseEndpoint(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the configured endpoint is no URL: %w", err)
	}
	if u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("the configured endpoint %q is no http or https URL of a host, without user, query and fragment", u.Redacted())
	}
	return u, nil
}
