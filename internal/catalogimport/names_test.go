package catalogimport_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/catalogimport"
)

// The names of services without a table, from AWS's lists of SDK integrations
// and of commands.
func TestNames(t *testing.T) {
	t.Parallel()
	for sdkID, want := range map[string][2]string{ // key, prefix of errors
		"ACM PCA":                    {"acm-pca", "AcmPca"},
		"AIOps":                      {"aiops", "AiOps"},
		"amp":                        {"amp", "Amp"},
		"API Gateway":                {"apigateway", "ApiGateway"},
		"AmplifyUIBuilder":           {"amplifyuibuilder", "AmplifyUiBuilder"},
		"ApiGatewayV2":               {"apigatewayv2", "ApiGatewayV2"},
		"b2bi":                       {"b2bi", "B2Bi"},
		"CloudWatch Logs":            {"logs", "CloudWatchLogs"},
		"Config Service":             {"config", "Config"},
		"Database Migration Service": {"dms", "DatabaseMigration"},
		"Directory Service Data":     {"ds-data", "DirectoryServiceData"},
		"DynamoDB":                   {"dynamodb", "DynamoDb"},
		"EC2":                        {"ec2", "Ec2"},
		"Elastic Load Balancing v2":  {"elbv2", "ElasticLoadBalancingV2"},
		"IoTFleetWise":               {"iotfleetwise", "IoTFleetWise"},
		"IoT Wireless":               {"iotwireless", "IotWireless"},
		"Lex Model Building Service": {"lex-models", "LexModelBuilding"},
		"Pinpoint SMS Voice V2":      {"pinpoint-sms-voice-v2", "PinpointSmsVoiceV2"},
		"Route 53":                   {"route53", "Route53"},
		"Route53 Recovery Cluster":   {"route53-recovery-cluster", "Route53RecoveryCluster"},
		"S3Tables":                   {"s3tables", "S3Tables"},
		"SFN":                        {"stepfunctions", "Sfn"},
		"SESv2":                      {"sesv2", "SesV2"},
		"SimpleDBv2":                 {"simpledbv2", "SimpleDbV2"},
		"WAFV2":                      {"wafv2", "Wafv2"},
		"Amazon Made Up Service":     {"amazon-made-up-service", "MadeUp"},
		"Service":                    {"service", "Service"},
	} {
		model := catalogimport.File{Name: sdkID, Text: []byte(`{"smithy": "2.0", "shapes": {
			"a#S": {"type": "service", "version": "1", "traits": {"aws.api#service": {"sdkId": "` + sdkID + `"}}, "operations": [{"target": "a#Get"}]},
			"a#Get": {"type": "operation", "traits": {"smithy.waiters#waitable": {"Done": {"acceptors": [{"state": "success", "matcher": {"success": true}}]}}}}}}`)}
		c, err := catalogimport.Import(catalogimport.Sources{Smithy: []catalogimport.File{model}})
		require.NoError(t, err)
		require.Equal(t, want, [2]string{c.Services[0].Key, c.Services[0].ErrorPrefix}, sdkID)
	}
}
