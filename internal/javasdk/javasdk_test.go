package javasdk_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
)

func TestServiceName(t *testing.T) {
	t.Parallel()
	for sdkID, want := range map[string]string{
		"DynamoDB": "DynamoDb", "EC2": "Ec2", "S3": "S3", "SFN": "Sfn", "RDS": "Rds", "SageMaker": "SageMaker",
		"API Gateway": "ApiGateway", "ACM PCA": "AcmPca", "ElastiCache": "ElastiCache", "DocDB": "DocDb",
		"CloudWatch Logs": "CloudWatchLogs", "EventBridge": "EventBridge", "Secrets Manager": "SecretsManager",
		"Database Migration Service": "DatabaseMigration", "Elastic Load Balancing v2": "ElasticLoadBalancingV2",
		"Lex Models V2": "LexModelsV2", "SESv2": "SesV2", "S3Tables": "S3Tables", "AmplifyUIBuilder": "AmplifyUiBuilder",
		"Route 53": "Route53", "IoT": "Iot", "IoTFleetWise": "IoTFleetWise", "WorkSpaces": "WorkSpaces", "mgn": "Mgn", "AWSHealth": "Health", "Amazon Q": "Q",
		"Service": "Service", "Amazon": "Amazon",
	} {
		require.Equal(t, want, javasdk.ServiceName(sdkID), sdkID)
	}
}

// The names that errors of SDK integrations were seen to have on AWS, with the
// shape of the model that they are of; of an error that the model does not
// declare the shape is empty.
func TestSeenOnAWS(t *testing.T) {
	t.Parallel()
	const (
		localStack = "recorded by the LocalStack project"
		tinyASL    = "recorded by gabrielmoreira/tiny-asl-machine, April 2026"
		sfnx       = "measured by iwamot/sfnx with TestState, 24 September 2026"
		prober     = "probe of a conditional write by a public project"
	)
	for _, seen := range []struct{ sdkID, shape, name, where string }{
		{"DynamoDB", "ResourceNotFoundException", "DynamoDb.ResourceNotFoundException", localStack},
		{"DynamoDB", "", "DynamoDb.DynamoDbException", localStack},
		{"S3", "NoSuchKey", "S3.NoSuchKeyException", localStack},
		{"S3", "NoSuchBucket", "S3.NoSuchBucketException", localStack},
		{"S3", "NoSuchBucket", "S3.NoSuchBucketException", tinyASL},
		{"S3", "", "S3.S3Exception", prober},
		{"Secrets Manager", "", "SecretsManager.SecretsManagerException", localStack},
		{"SFN", "InvalidToken", "Sfn.InvalidTokenException", localStack},
		{"SFN", "InvalidArn", "Sfn.InvalidArnException", sfnx},
		{"SQS", "QueueDoesNotExist", "Sqs.QueueDoesNotExistException", sfnx},
		{"CloudWatch Logs", "AccessDeniedException", "CloudWatchLogs.AccessDeniedException", sfnx},
		{"EventBridge", "AccessDeniedException", "EventBridge.AccessDeniedException", sfnx},
		{"RDS", "", "Rds.RdsException", sfnx},
		{"EC2", "", "Ec2.Ec2Exception", sfnx},
		{"ElastiCache", "", "ElastiCache.ElastiCacheException", sfnx},
		{"API Gateway", "", "ApiGateway.ApiGatewayException", sfnx},
		{"Lambda", "", "Lambda.LambdaException", sfnx},
	} {
		class := javasdk.ServiceException(seen.sdkID)
		if seen.shape != "" {
			class = javasdk.ExceptionName(seen.sdkID, seen.shape)
		}
		require.Equal(t, seen.name, javasdk.ServiceName(seen.sdkID)+"."+class, "%s: %s", seen.where, seen.shape)
	}
}

func TestExceptionName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ sdkID, shape, want string }{
		{"RDS", "DBInstanceNotFoundFault", "DbInstanceNotFoundException"},
		{"RDS", "DBInstanceNotFound", "DbInstanceNotFoundException"},
		{"DynamoDB", "InternalServerError", "InternalServerErrorException"},
		{"Lambda", "EC2AccessDeniedException", "Ec2AccessDeniedException"},
		{"Lambda", "ENILimitReachedException", "EniLimitReachedException"},
		{"KMS", "KMSInvalidStateException", "KmsInvalidStateException"},
		{"Organizations", "AWSOrganizationsNotInUseException", "AwsOrganizationsNotInUseException"},
		{"Kinesis", "KMSThrottlingException", "KmsThrottlingException"},
		{"S3", "NoSuchBucket", "NoSuchBucketException"},
		{"EFS", "ThroughputLimitExceeded", "ThroughputLimitExceededException"},
		{"Service Catalog", "ThrottledIdAlreadyInUse", "ThrottledIdAlreadyInUseException"},
		{"API Gateway", "Error2Many", "Error2ManyException"},
		{"API Gateway", "ErrorV2Gone", "ErrorV2GoneException"},
		{"API Gateway", "thing.not-found", "ThingNotFoundException"},
		{"API Gateway", "4xxFault", "4XxException"},
		{"API Gateway", "Faulty", "FaultyException"},
		{"API Gateway", "Fault", "Exception"},
		{"DynamoDB", "DynamoDBException", "DefaultDynamoDbException"},
		{"Elastic Load Balancing", "AccessPointNotFoundException", "LoadBalancerNotFoundException"},
		{"Elastic Load Balancing", "InvalidEndPointException", "InvalidInstanceException"},
		{"Elastic Load Balancing v2", "LoadBalancerNotFoundException", "LoadBalancerNotFoundException"},
	} {
		require.Equal(t, tt.want, javasdk.ExceptionName(tt.sdkID, tt.shape), tt.shape)
	}
}
