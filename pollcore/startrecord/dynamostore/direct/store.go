// Package direct keeps start records in a DynamoDB table as the package dynamostore
// does, but speaks to DynamoDB itself. The SDK's client of DynamoDB takes a
// millisecond of each start of a Lambda function.
package direct

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/jobpoller/jobpoller/internal/awscall"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/dynamostore/internal/table"
)

// New returns the store of dynamostore.New, without a client of the SDK. It reads of
// cfg what that reads, with these exceptions: it runs no Interceptors and
// ServiceOptions, only the middleware of APIOptions; and it does not ask DynamoDB for
// its endpoint (AWS_ENABLE_ENDPOINT_DISCOVERY), which is always that of the region. An
// EndpointResolver of the configuration is an error.
func New(cfg aws.Config, tableName, prefix string) (startrecord.Store, error) {
	settings, err := awscall.SettingsOf(&cfg, service)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", startrecord.ErrConfiguration, err)
	}
	if cfg.EndpointResolver != nil || cfg.EndpointResolverWithOptions != nil { //nolint:staticcheck // so as not to ignore what is set
		return nil, fmt.Errorf("%w: the configuration has an EndpointResolver, which is not known here: set BaseEndpoint, or use dynamostore.New",
			startrecord.ErrConfiguration)
	}
	endpoint := endpointRules{settings, cfg.Region, cfg.AccountIDEndpointMode}
	return table.New(newClient(cfg, endpoint), tableName, prefix, settings.Base != nil)
}
