package awsjob

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/jobpoller/jobpoller/internal/awscall"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// newEndpoint finds the endpoint of an operation: one that the configuration
// names for the service or for all, which is taken as it is (configured), else by
// the rule of AWS's host names.
func newEndpoint(cfg *aws.Config, op *catalog.Operation) (to awscall.Endpoint, configured bool, err error) {
	unsupported := func(lack, advice string) (awscall.Endpoint, bool, error) {
		return awscall.Endpoint{}, false, &UnsupportedError{Operation: operationName(op), Lack: lack, Advice: advice}
	}
	if err := awscall.CheckRegion(cfg.Region); err != nil {
		return awscall.Endpoint{}, false, fmt.Errorf("%s: %w", operationName(op), err)
	}
	s := &op.Service.Endpoint
	if op.Endpoint != nil {
		s = op.Endpoint
	}
	signed := awscall.Endpoint{Region: cfg.Region, SigningName: s.SigningName}
	if signed.SigningName == "" {
		signed.SigningName = s.Prefix
	}
	settings, err := awscall.SettingsOf(cfg, op.Service.Name)
	set := findFixedEndpoint(cfg, settings)
	switch {
	case err != nil:
		return awscall.Endpoint{}, false, fmt.Errorf("%s: %w", operationName(op), err)
	case set != "":
		return unsupported(set+" is set, which this driver does not support", "remove it, or "+useTheSDK)
	case cfg.AccountIDEndpointMode == aws.AccountIDEndpointModeRequired && op.Service.Key == "dynamodb":
		return unsupported("AWS_ACCOUNT_ID_ENDPOINT_MODE requires account-based endpoints, which this driver does not support", "remove it, or "+useTheSDK)
	case settings.Base != nil:
		signed.URL = settings.Base
		return signed, true, nil
	}
	in := awscall.PartitionOf(cfg.Region)
	host := fmt.Sprintf("%s.%s.%s", s.Prefix, cfg.Region, in.Suffix)
	if s.DualStack {
		host = fmt.Sprintf("%s.%s.%s", s.Prefix, cfg.Region, in.DualStack)
	}
	if own := s.Hosts[cfg.Region]; own != "" {
		host = own
	}
	if len(s.Global) > 0 {
		global, ok := s.Global[in.Name]
		if !ok {
			return unsupported(fmt.Sprintf("%s has no endpoint in the partition %s", op.Service.Name, in.Name), "call it in another partition")
		}
		host, signed.Region = global.Hostname, global.Region
	}
	if !strings.Contains(op.HostPrefix, "{") { // else it is filled in for each call
		host = op.HostPrefix + host
	}
	signed.URL = &url.URL{Scheme: "https", Host: host}
	return signed, false, nil
}

// findFixedEndpoint names a setting of the configuration that asks for endpoints
// of another kind, empty if there is none.
func findFixedEndpoint(cfg *aws.Config, settings awscall.Settings) string {
	switch {
	case cfg.EndpointResolver != nil || cfg.EndpointResolverWithOptions != nil: //nolint:staticcheck // so as not to ignore what is set
		return "an EndpointResolver of the configuration"
	case settings.FIPS:
		return "the use of FIPS endpoints (AWS_USE_FIPS_ENDPOINT)"
	case settings.DualStack:
		return "the use of dual-stack endpoints (AWS_USE_DUALSTACK_ENDPOINT)"
	default:
		return ""
	}
}
