package awsjob

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
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
	to = awscall.Endpoint{Region: cfg.Region, SigningName: cmp.Or(s.SigningName, s.Prefix)}
	settings, err := awscall.SettingsOf(cfg, op.Service.Name)
	kind, asked := chooseKind(s, settings)
	switch {
	case err != nil:
		return awscall.Endpoint{}, false, fmt.Errorf("%s: %w", operationName(op), err)
	case cfg.EndpointResolver != nil || cfg.EndpointResolverWithOptions != nil: //nolint:staticcheck // so as not to ignore what is set
		return unsupported("an EndpointResolver of the configuration is set, which this driver does not support", "remove it, or "+useTheSDK)
	case cfg.AccountIDEndpointMode == aws.AccountIDEndpointModeRequired && op.Service.Key == "dynamodb":
		return unsupported("AWS_ACCOUNT_ID_ENDPOINT_MODE requires account-based endpoints, which this driver does not support", "remove it, or "+useTheSDK)
	case settings.Base != nil && asked != "":
		return unsupported(asked+" is set beside an endpoint", "set one of them")
	case settings.Base != nil:
		to.URL = settings.Base
		return to, true, nil
	case kind == nil:
		return unsupported(fmt.Sprintf("%s is set, and %s has no such endpoint", asked, op.Service.Name), "unset it for this call")
	}
	host, region := findHost(kind, cfg.Region)
	if host == "" {
		in := awscall.PartitionOf(cfg.Region)
		lack := fmt.Sprintf("%s has no endpoint in the partition %s", op.Service.Name, in.Name)
		if asked != "" {
			lack = fmt.Sprintf("%s is set, and %s", asked, lack)
		}
		return unsupported(lack, "call it in another partition")
	}
	if !strings.Contains(op.HostPrefix, "{") { // else it is filled in for each call
		host = op.HostPrefix + host
	}
	to.Region, to.URL = cmp.Or(region, to.Region), &url.URL{Scheme: "https", Host: host}
	return to, false, nil
}

// chooseKind returns the endpoint of the kind that the configuration asks for, nil if
// there is none, and names the settings that ask for another than the usual.
func chooseKind(of *catalog.Endpoint, settings awscall.Settings) (kind *catalog.Endpoint, asked string) {
	const fips, dual = "AWS_USE_FIPS_ENDPOINT", "AWS_USE_DUALSTACK_ENDPOINT"
	switch {
	case settings.FIPS && settings.DualStack:
		return of.FIPSDual, fips + " and " + dual
	case settings.FIPS:
		return of.FIPS, fips
	case settings.DualStack:
		return of.Dual, dual
	default:
		return of, ""
	}
}

// findHost returns the host name of an endpoint in a region, empty if there is none,
// and the region to sign for where that is another.
func findHost(e *catalog.Endpoint, region string) (host, signed string) {
	in := awscall.PartitionOf(region)
	global, isGlobal := e.Global[in.Name]
	switch {
	case isGlobal:
		return global.Hostname, global.Region
	case len(e.Global) > 0, slices.Contains(e.Without, in.Name):
		return "", ""
	case e.Hosts[region] != "":
		return e.Hosts[region], ""
	case e.DualStack:
		return fmt.Sprintf("%s.%s.%s", e.Prefix, region, in.DualStack), ""
	default:
		return fmt.Sprintf("%s.%s.%s", e.Prefix, region, in.Suffix), ""
	}
}
