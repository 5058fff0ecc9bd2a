package javasdk_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
)

func TestMemberName(t *testing.T) {
	t.Parallel()
	for member, want := range map[string]string{
		// In state machines that run on AWS:
		// aws-samples/step-functions-workflows-collection, and public templates.
		"DBInstanceIdentifier": "DbInstanceIdentifier", "DBInstances": "DbInstances", "DBInstanceStatus": "DbInstanceStatus",
		"DBInstanceArn": "DbInstanceArn", "DBSubnetGroup": "DbSubnetGroup", "DBClusters": "DbClusters", "logGroups": "LogGroups",
		"arn": "Arn", "ETag": "ETag", "InstanceIds": "InstanceIds", "S3Bucket": "S3Bucket",
		// By the same rule.
		"KMSKeyId": "KmsKeyId", "SSEKMSKeyId": "SsekmsKeyId", "MultiAZ": "MultiAZ", "VPCZoneIdentifier": "VpcZoneIdentifier",
		"ARN": "Arn", "eTag": "ETag", "kMSKeyArn": "KmsKeyArn", "dbName": "DbName", "x": "X", "": "",
	} {
		require.Equal(t, want, javasdk.MemberName(member), member)
	}
}

func TestMemberPath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"tasks[0].lastStatus": "Tasks[0].LastStatus", "DBInstances[].DBInstanceStatus": "DbInstances[].DbInstanceStatus", "": ""} {
		require.Equal(t, want, javasdk.MemberPath(path))
	}
}
