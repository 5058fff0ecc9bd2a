package catalogimport

import (
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// protocolOrder are the protocols by their names in the catalogue, in the order
// in which AWS's SDKs prefer them.
var protocolOrder = []catalog.Protocol{catalog.CBOR, catalog.AWSJSON, catalog.RESTJSON, catalog.RESTXML, catalog.AWSQuery, catalog.EC2Query}

// wordList is a list of words for a message.
func wordList[S ~string](words []S) string {
	var b strings.Builder
	for i, word := range words {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(word))
	}
	return b.String()
}

// setDerivedNames sets the names of a service that follow from its sdkId where no table
// says them. Step Functions calls services as the AWS SDK for Java does: the
// words of the sdkId with one capital each. Compared with the list of
// integrations in the Step Functions developer guide of 2023, 243 of 246 names
// follow the rule.
func (m *model) setDerivedNames() {
	prefix := javasdk.ServiceName(m.service.Name)
	m.service.ErrorPrefix = prefix
	m.service.ARNName = strings.ToLower(prefix)
	m.service.IAMPrefix = m.signing
}

// keyOf is the AWS CLI's name of a service: its sdkId in lower case with
// hyphens, but for services that are older than the rule.
func keyOf(sdkID string) string {
	if key, ok := oldKeys[sdkID]; ok {
		return key
	}
	return strings.ReplaceAll(strings.ToLower(sdkID), " ", "-")
}

// oldKeys are the AWS CLI's names that do not follow the rule, by sdkId.
var oldKeys = map[string]string{
	"API Gateway":                     "apigateway",
	"App Mesh":                        "appmesh",
	"Application Auto Scaling":        "application-autoscaling",
	"Application Discovery Service":   "discovery",
	"Auto Scaling":                    "autoscaling",
	"Auto Scaling Plans":              "autoscaling-plans",
	"CloudHSM V2":                     "cloudhsmv2",
	"CloudSearch Domain":              "cloudsearchdomain",
	"CloudWatch Logs":                 "logs",
	"Cognito Identity Provider":       "cognito-idp",
	"Config Service":                  "config",
	"Cost Explorer":                   "ce",
	"Cost and Usage Report Service":   "cur",
	"Data Pipeline":                   "datapipeline",
	"Database Migration Service":      "dms",
	"Device Farm":                     "devicefarm",
	"Direct Connect":                  "directconnect",
	"Directory Service":               "ds",
	"Directory Service Data":          "ds-data",
	"DynamoDB Streams":                "dynamodbstreams",
	"Elastic Beanstalk":               "elasticbeanstalk",
	"Elastic Load Balancing":          "elb",
	"Elastic Load Balancing v2":       "elbv2",
	"Elasticsearch Service":           "es",
	"EventBridge":                     "events",
	"Global Accelerator":              "globalaccelerator",
	"IoT Data Plane":                  "iot-data",
	"IoT Jobs Data Plane":             "iot-jobs-data",
	"IoT Wireless":                    "iotwireless",
	"Kinesis Analytics":               "kinesisanalytics",
	"Kinesis Analytics V2":            "kinesisanalyticsv2",
	"Kinesis Video":                   "kinesisvideo",
	"Lex Model Building Service":      "lex-models",
	"Lex Models V2":                   "lexv2-models",
	"Lex Runtime Service":             "lex-runtime",
	"Lex Runtime V2":                  "lexv2-runtime",
	"Machine Learning":                "machinelearning",
	"Marketplace Commerce Analytics":  "marketplacecommerceanalytics",
	"Marketplace Entitlement Service": "marketplace-entitlement",
	"Marketplace Metering":            "meteringmarketplace",
	"Migration Hub":                   "mgh",
	"Pinpoint SMS Voice":              "sms-voice",
	"Resource Groups Tagging API":     "resourcegroupstaggingapi",
	"Route 53":                        "route53",
	"Route 53 Domains":                "route53domains",
	"S3 Control":                      "s3control",
	"SFN":                             "stepfunctions",
	"Secrets Manager":                 "secretsmanager",
	"ServerlessApplicationRepository": "serverlessrepo",
	"Service Catalog":                 "servicecatalog",
	"Service Catalog AppRegistry":     "servicecatalog-appregistry",
	"SimpleDB":                        "sdb",
	"Storage Gateway":                 "storagegateway",
}
