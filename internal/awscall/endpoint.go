package awscall

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Endpoint is where an operation is called, and for which region and service a
// request is signed.
type Endpoint struct {
	URL         *url.URL
	Region      string
	SigningName string
}

// apply makes the URL of a request, which has a path and a query, one below the
// endpoint.
func (e Endpoint) apply(u *url.URL) {
	u.Scheme, u.Host = e.URL.Scheme, e.URL.Host
	if base := strings.TrimSuffix(e.URL.EscapedPath(), "/"); base != "" {
		raw := base + u.EscapedPath()
		u.Path = strings.TrimSuffix(e.URL.Path, "/") + u.Path
		u.RawPath = raw
	}
}

// Partition is a group of regions of its own, by the SDK's partitions.json. Each has
// endpoints for FIPS and for dual-stack.
type Partition struct {
	Name      string
	Suffix    string   // of host names
	DualStack string   // of dual-stack host names
	regions   []string // what the names of its regions start with
}

// The first partition is that of all other regions.
var partitions = []Partition{
	{"aws", "amazonaws.com", "api.aws", nil},
	{"aws-cn", "amazonaws.com.cn", "api.amazonwebservices.com.cn", []string{"cn-"}},
	{"aws-us-gov", "amazonaws.com", "api.aws", []string{"us-gov-"}},
	{"aws-eusc", "amazonaws.eu", "api.amazonwebservices.eu", []string{"eusc-"}},
	{"aws-iso", "c2s.ic.gov", "api.aws.ic.gov", []string{"us-iso-"}},
	{"aws-iso-b", "sc2s.sgov.gov", "api.aws.scloud", []string{"us-isob-"}},
	{"aws-iso-e", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk", []string{"eu-isoe-"}},
	{"aws-iso-f", "csp.hci.ic.gov", "api.aws.hci.ic.gov", []string{"us-isof-"}},
}

// PartitionOf returns the partition of a region.
func PartitionOf(region string) Partition {
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

// CheckRegion returns an error for what is not a region's name.
func CheckRegion(region string) error {
	if region == "" {
		return errors.New("no region: set AWS_REGION")
	}
	if !regionName().MatchString(region) || strings.Contains(region, "fips") {
		return fmt.Errorf("%q is not the name of a region such as us-east-1", region)
	}
	return nil
}

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
	flagSource interface {
		GetFlagEndpoint(service string) (string, bool)
	}
	endpointSource interface {
		GetServiceBaseEndpoint(context.Context, string) (string, bool, error)
	}
)

// Settings are what a configuration says of the endpoints of a service.
type Settings struct {
	FIPS, DualStack bool
	// Base is the endpoint that is set for the service or for all, nil for none.
	Base *url.URL
}

// SettingsOf reads the configuration with the precedence that its sources have in
// the SDK's clients. The service has the name that the SDK gives it.
func SettingsOf(cfg *aws.Config, service string) (Settings, error) {
	var s Settings
	var err error
	if s.FIPS, err = usesFIPS(cfg); err != nil {
		return Settings{}, err
	}
	if s.DualStack, err = usesDualStack(cfg); err != nil {
		return Settings{}, err
	}
	base, err := baseEndpoint(cfg, service)
	if err != nil || base == "" {
		return s, err
	}
	if s.Base, err = ParseEndpoint(base); err != nil {
		return s, fmt.Errorf("the configured endpoint %w", err)
	}
	return s, nil
}

// The first source that knows the setting counts.

func usesFIPS(cfg *aws.Config) (bool, error) {
	for _, source := range cfg.ConfigSources {
		if s, ok := source.(fipsSource); ok {
			if state, found, err := s.GetUseFIPSEndpoint(context.Background()); err != nil || found {
				return state == aws.FIPSEndpointStateEnabled, err
			}
		}
	}
	return false, nil
}

func usesDualStack(cfg *aws.Config) (bool, error) {
	for _, source := range cfg.ConfigSources {
		if s, ok := source.(dualStackSource); ok {
			if state, found, err := s.GetUseDualStackEndpoint(context.Background()); err != nil || found {
				return state == aws.DualStackEndpointStateEnabled, err
			}
		}
	}
	return false, nil
}

// baseEndpoint is the endpoint that the configuration has for a service: empty if
// there is none.
func baseEndpoint(cfg *aws.Config, service string) (string, error) {
	for _, source := range cfg.ConfigSources {
		if s, ok := source.(flagSource); ok { // a flag counts more than a variable
			if own, found := s.GetFlagEndpoint(service); found {
				return own, nil
			}
		}
	}
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

// ParseEndpoint reads the URL of an endpoint. Its error shows nothing that may be a
// secret.
func ParseEndpoint(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "":
		return u, nil
	case strings.ContainsAny(text, "@?#"):
		return nil, errors.New("must be an http or https URL without user, query and fragment")
	default:
		return nil, fmt.Errorf("must be an http or https URL, is %q", text)
	}
}
