package direct

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsarn "github.com/aws/aws-sdk-go-v2/aws/arn"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/jobpoller/jobpoller/internal/awscall"
)

// endpointRules find DynamoDB's endpoint, as the rules in the SDK's client do. A test
// compares the two.
type endpointRules struct {
	awscall.Settings

	region   string
	accounts aws.AccountIDEndpointMode
}

// hasAccounts reports whether there are endpoints in the region with an account in
// their name. FIPS has none.
func (e endpointRules) hasAccounts() bool {
	switch e.region {
	case "us-gov-east-1", "us-gov-west-1", "cn-north-1", "cn-northwest-1":
		return !e.FIPS
	default:
		return !e.FIPS && awscall.PartitionOf(e.region).Name == "aws"
	}
}

// resolve returns the endpoint for the credentials of an account, empty if they do
// not say it, and a table, a name or an ARN.
func (e endpointRules) resolve(account, table string) (awscall.Endpoint, error) {
	to := awscall.Endpoint{URL: e.Base, Region: e.region, SigningName: "dynamodb"}
	if err := e.check(account); err != nil || e.Base != nil {
		return to, err
	}
	in := awscall.PartitionOf(e.region)
	suffix := in.Suffix
	if e.DualStack {
		suffix = in.DualStack
	}
	host := "dynamodb." + e.region
	switch owner, err := e.accountOf(account, table); {
	case err != nil:
		return to, err
	case owner != "":
		host = owner + ".ddb." + e.region
	case e.FIPS && (e.DualStack || in.Name != "aws-us-gov"): // there all endpoints are for FIPS
		host = "dynamodb-fips." + e.region
	}
	to.URL = &url.URL{Scheme: "https", Host: host + "." + suffix}
	return to, nil
}

// check returns an error for settings that no endpoint fits.
func (e endpointRules) check(account string) error {
	if err := awscall.CheckRegion(e.region); err != nil {
		return err
	}
	required := e.accounts == aws.AccountIDEndpointModeRequired
	switch {
	case required && account == "":
		return errors.New("AWS_ACCOUNT_ID_ENDPOINT_MODE is required, and the credentials do not say their account: set AWS_ACCOUNT_ID")
	case e.Base != nil && (e.FIPS || e.DualStack):
		return errors.New("endpoints for FIPS or dual-stack are asked for, and an endpoint is set: leave out the one or the other")
	case e.Base != nil && e.Base.Host == "dynamodb."+e.region+"."+awscall.PartitionOf(e.region).DualStack:
		return fmt.Errorf("the endpoint %s is set, which is for dual-stack: set AWS_USE_DUALSTACK_ENDPOINT instead", e.Base)
	case e.Base == nil && required && e.FIPS:
		return errors.New("AWS_ACCOUNT_ID_ENDPOINT_MODE is required, and endpoints for FIPS have no accounts: leave out the one or the other")
	case e.Base == nil && required && !e.hasAccounts():
		return fmt.Errorf("AWS_ACCOUNT_ID_ENDPOINT_MODE is required, and endpoints in %s have no accounts: leave it out", e.region)
	default:
		return nil
	}
}

// accountOf returns the account that the host's name has, empty for none: that of the
// table, or of the credentials.
func (e endpointRules) accountOf(account, table string) (string, error) {
	if !e.hasAccounts() || e.accounts == aws.AccountIDEndpointModeDisabled {
		return "", nil
	}
	if strings.HasPrefix(table, "arn:") {
		arn, err := awsarn.Parse(table)
		if err == nil && arn.Service == "dynamodb" && arn.Region == e.region && smithyhttp.ValidHostLabel(arn.AccountID) {
			return arn.AccountID, nil
		}
	}
	if account != "" && !smithyhttp.ValidHostLabel(account) {
		return "", fmt.Errorf("the credentials have the account %q, which is none: correct AWS_ACCOUNT_ID", account)
	}
	return account, nil
}
