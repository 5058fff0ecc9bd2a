//go:build e2e

package cdkapp_test

import (
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/cdkapp"
)

func hours(n float64) awscdk.Duration { return awscdk.Duration_Hours(jsii.Number(n)) }
func days(n float64) awscdk.Duration  { return awscdk.Duration_Days(jsii.Number(n)) }

// newRole is a role that gets the grants of a test.
func newRole(scope constructs.Construct) awsiam.Role {
	return awsiam.NewRole(scope, jsii.String("Role"), &awsiam.RoleProps{AssumedBy: awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil)})
}

func TestE2ERecordBucket(t *testing.T) {
	t.Parallel()
	inStack(t, func(stack awscdk.Stack) {
		cdkapp.NewRecordBucket(stack, jsii.String("Records"), nil)
		synthesized, all := templateOf(stack)
		synthesized.HasResource(jsii.String("AWS::S3::Bucket"), map[string]any{
			"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain",
			"Properties": map[string]any{
				"BucketEncryption": map[string]any{"ServerSideEncryptionConfiguration": []any{
					map[string]any{"ServerSideEncryptionByDefault": map[string]any{"SSEAlgorithm": "AES256"}},
				}},
				"PublicAccessBlockConfiguration": map[string]any{
					"BlockPublicAcls": true, "BlockPublicPolicy": true, "IgnorePublicAcls": true, "RestrictPublicBuckets": true,
				},
				"OwnershipControls":       map[string]any{"Rules": []any{map[string]any{"ObjectOwnership": "BucketOwnerEnforced"}}},
				"VersioningConfiguration": assertions.Match_Absent(),
				"LifecycleConfiguration": map[string]any{"Rules": []any{map[string]any{
					"Id": "records", "Status": "Enabled", "Prefix": "jobpoller/", "ExpirationInDays": 60,
					"AbortIncompleteMultipartUpload": map[string]any{"DaysAfterInitiation": 1},
				}}},
			},
		})
		// Nobody gets in without TLS, nor with an old one.
		policy := all.only(t, "AWS::S3::BucketPolicy")
		bucket := all.only(t, "AWS::S3::Bucket").id
		require.JSONEq(t, `{"Bucket": {"Ref": "`+bucket+`"}, "PolicyDocument": {"Version": "2012-10-17", "Statement": [
			{"Effect": "Deny", "Action": "s3:*", "Principal": {"AWS": "*"}, "Condition": {"Bool": {"aws:SecureTransport": "false"}},
			 "Resource": [{"Fn::GetAtt": ["`+bucket+`", "Arn"]}, {"Fn::Join": ["", [{"Fn::GetAtt": ["`+bucket+`", "Arn"]}, "/*"]]}]},
			{"Effect": "Deny", "Action": "s3:*", "Principal": {"AWS": "*"}, "Condition": {"NumericLessThan": {"s3:TlsVersion": 1.2}},
			 "Resource": [{"Fn::GetAtt": ["`+bucket+`", "Arn"]}, {"Fn::Join": ["", [{"Fn::GetAtt": ["`+bucket+`", "Arn"]}, "/*"]]}]}
		]}}`, asJSON(t, policy.properties))
	})
}

// Records outlive the last redrive, whatever the longest wait is.
func TestE2ERecordsOutliveTheLongestWait(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		wait, retention float64 // days
		want            float64
	}{
		"default":              {0, 0, 60},
		"short wait":           {1, 0, 60},
		"long wait":            {46, 0, 61},
		"longest wait":         {365, 0, 380},
		"own":                  {10, 25, 25},
		"own without a wait":   {0, 15, 15},
		"part of a day":        {50.5, 0, 65},
		"own, a part of a day": {0.5, 15, 15},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := synth(t, func(stack awscdk.Stack) {
				props := cdkapp.RecordBucketProps{}
				if tt.wait > 0 {
					props.MaxWait = hours(24 * tt.wait)
				}
				if tt.retention > 0 {
					props.Retention = days(tt.retention)
				}
				store := cdkapp.NewRecordBucket(stack, jsii.String("Records"), &props)
				require.Equal(t, tt.want, *store.Retention().ToDays(nil))
			})
			rules := all.only(t, "AWS::S3::Bucket").properties["LifecycleConfiguration"].(map[string]any)["Rules"].([]any)
			require.Equal(t, tt.want, rules[0].(map[string]any)["ExpirationInDays"])
			require.Greater(t, tt.want, tt.wait+14)
		})
	}
}

func TestE2ERecordBucketWithAKeyAndAccessLogs(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) {
		store := cdkapp.NewRecordBucket(stack, jsii.String("Records"), &cdkapp.RecordBucketProps{
			Prefix:                 jsii.String("pollers/nightly/"),
			EncryptionKey:          awskms.NewKey(stack, jsii.String("Key"), nil),
			ServerAccessLogsBucket: awss3.Bucket_FromBucketName(stack, jsii.String("Access"), jsii.String("access-logs")),
			ServerAccessLogsPrefix: jsii.String("records/"),
			RemovalPolicy:          awscdk.RemovalPolicy_DESTROY,
		})
		require.Equal(t, "pollers/nightly", *store.Prefix())
		require.Nil(t, store.Table())
		store.GrantRecords(newRole(stack))
	})
	bucket, key := all.only(t, "AWS::S3::Bucket"), all.only(t, "AWS::KMS::Key").id
	require.Equal(t, "Delete", bucket.all["DeletionPolicy"])
	require.JSONEq(t, `{"ServerSideEncryptionConfiguration": [{"BucketKeyEnabled": true, "ServerSideEncryptionByDefault":
		{"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": {"Fn::GetAtt": ["`+key+`", "Arn"]}}}]}`, asJSON(t, bucket.properties["BucketEncryption"]))
	require.JSONEq(t, `{"DestinationBucketName": "access-logs", "LogFilePrefix": "records/"}`, asJSON(t, bucket.properties["LoggingConfiguration"]))
	require.JSONEq(t, `[
		{"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject"],
		 "Resource": {"Fn::Join": ["", [{"Fn::GetAtt": ["`+bucket.id+`", "Arn"]}, "/pollers/nightly/*"]]}},
		{"Effect": "Allow", "Action": "s3:ListBucket", "Resource": {"Fn::GetAtt": ["`+bucket.id+`", "Arn"]},
		 "Condition": {"StringLike": {"s3:prefix": "pollers/nightly/*"}}},
		{"Effect": "Allow", "Action": ["kms:Decrypt", "kms:GenerateDataKey"], "Resource": {"Fn::GetAtt": ["`+key+`", "Arn"]}}
	]`, asJSON(t, all.statements(t, "Role")))
}

func TestE2EGivenBucket(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) {
		store := cdkapp.NewRecordBucket(stack, jsii.String("Records"), &cdkapp.RecordBucketProps{
			Bucket: awss3.Bucket_FromBucketName(stack, jsii.String("Given"), jsii.String("given")),
		})
		store.GrantRecords(newRole(stack))
	})
	require.Empty(t, all.of("AWS::S3::Bucket"))
	require.Empty(t, all.of("AWS::S3::BucketPolicy"))
	require.JSONEq(t, `[
		{"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject"],
		 "Resource": {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":s3:::given/jobpoller/*"]]}},
		{"Effect": "Allow", "Action": "s3:ListBucket", "Resource": {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":s3:::given"]]},
		 "Condition": {"StringLike": {"s3:prefix": "jobpoller/*"}}}
	]`, asJSON(t, all.statements(t, "Role")))
}

// A function that is itself a job writes its status, and no start record.
func TestE2EGrantJobStatus(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) {
		cdkapp.NewRecordBucket(stack, jsii.String("Records"), nil).GrantJobStatus(newRole(stack))
	})
	bucket := all.only(t, "AWS::S3::Bucket").id
	require.JSONEq(t, `[
		{"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject"],
		 "Resource": {"Fn::Join": ["", [{"Fn::GetAtt": ["`+bucket+`", "Arn"]}, "/jobpoller/jobs/*"]]}},
		{"Effect": "Allow", "Action": "s3:ListBucket", "Resource": {"Fn::GetAtt": ["`+bucket+`", "Arn"]},
		 "Condition": {"StringLike": {"s3:prefix": "jobpoller/jobs/*"}}}
	]`, asJSON(t, all.statements(t, "Role")))
}

func TestE2ERecordTable(t *testing.T) {
	t.Parallel()
	inStack(t, func(stack awscdk.Stack) {
		store := cdkapp.NewRecordTable(stack, jsii.String("Records"), nil)
		require.Nil(t, store.Bucket())
		store.GrantRecords(newRole(stack))
		synthesized, all := templateOf(stack)
		synthesized.HasResource(jsii.String("AWS::DynamoDB::Table"), map[string]any{
			"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain",
			"Properties": map[string]any{
				"KeySchema":                        []any{map[string]any{"AttributeName": "key", "KeyType": "HASH"}},
				"AttributeDefinitions":             []any{map[string]any{"AttributeName": "key", "AttributeType": "S"}},
				"BillingMode":                      "PAY_PER_REQUEST",
				"TimeToLiveSpecification":          map[string]any{"AttributeName": "expiresAt", "Enabled": true},
				"PointInTimeRecoverySpecification": map[string]any{"PointInTimeRecoveryEnabled": false},
				"DeletionProtectionEnabled":        assertions.Match_Absent(),
				"SSESpecification":                 assertions.Match_Absent(),
			},
		})
		table := all.only(t, "AWS::DynamoDB::Table").id
		require.JSONEq(t, `[{"Effect": "Allow", "Action": ["dynamodb:GetItem", "dynamodb:PutItem"], "Resource": {"Fn::GetAtt": ["`+table+`", "Arn"]}}]`,
			asJSON(t, all.statements(t, "Role")))
	})
}

func TestE2ERecordTableWithOptions(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) {
		store := cdkapp.NewRecordTable(stack, jsii.String("Records"), &cdkapp.RecordTableProps{
			EncryptionKey:       awskms.NewKey(stack, jsii.String("Key"), nil),
			PointInTimeRecovery: jsii.Bool(true),
			DeletionProtection:  jsii.Bool(true),
			RemovalPolicy:       awscdk.RemovalPolicy_DESTROY,
		})
		store.GrantRecords(newRole(stack))
	})
	table, key := all.only(t, "AWS::DynamoDB::Table"), all.only(t, "AWS::KMS::Key").id
	require.Equal(t, "Delete", table.all["DeletionPolicy"])
	require.Equal(t, true, table.properties["DeletionProtectionEnabled"])
	require.JSONEq(t, `{"PointInTimeRecoveryEnabled": true}`, asJSON(t, table.properties["PointInTimeRecoverySpecification"]))
	require.JSONEq(t, `{"SSEEnabled": true, "SSEType": "KMS", "KMSMasterKeyId": {"Fn::GetAtt": ["`+key+`", "Arn"]}}`,
		asJSON(t, table.properties["SSESpecification"]))
	require.JSONEq(t, `[
		{"Effect": "Allow", "Action": ["dynamodb:GetItem", "dynamodb:PutItem"], "Resource": {"Fn::GetAtt": ["`+table.id+`", "Arn"]}},
		{"Effect": "Allow", "Action": "kms:Decrypt", "Resource": {"Fn::GetAtt": ["`+key+`", "Arn"]}}
	]`, asJSON(t, all.statements(t, "Role")))
}

func TestE2EStoreProps(t *testing.T) {
	t.Parallel()
	bucket := func(props cdkapp.RecordBucketProps) func(awscdk.Stack) {
		return func(stack awscdk.Stack) { cdkapp.NewRecordBucket(stack, jsii.String("Records"), &props) }
	}
	given := func(stack awscdk.Stack) awss3.IBucket {
		return awss3.Bucket_FromBucketName(stack, jsii.String("Given"), jsii.String("given"))
	}
	for _, tt := range []struct {
		prop, want string
		build      func(awscdk.Stack)
	}{
		{"Prefix", `expected 1 to 200 bytes, such as "jobpoller", found ""`, bucket(cdkapp.RecordBucketProps{Prefix: jsii.String("/")})},
		{"Prefix", `which mean something else in IAM policies`, bucket(cdkapp.RecordBucketProps{Prefix: jsii.String("team-*")})},
		{"MaxWait", "it must be whole seconds, from 1 to a year, is 8784h0m0s", func(stack awscdk.Stack) {
			bucket(cdkapp.RecordBucketProps{MaxWait: days(366)})(stack)
		}},
		{"Retention", "expected more than MaxWait (24h0m0s) and the 14 days in which an execution can be redriven, found 15 days; " +
			"keep records for at least 16 days, or wait less", func(stack awscdk.Stack) {
			bucket(cdkapp.RecordBucketProps{MaxWait: hours(24), Retention: days(15)})(stack)
		}},
		{"Retention", "expected more than MaxWait (0s) and the 14 days", func(stack awscdk.Stack) {
			bucket(cdkapp.RecordBucketProps{Retention: days(14)})(stack)
		}},
		{"Retention", "expected whole days, at most 3650, found 492h0m0s", func(stack awscdk.Stack) {
			bucket(cdkapp.RecordBucketProps{Retention: hours(492)})(stack)
		}},
		{"EncryptionKey", "it is for a new one, but Bucket is given: leave one of the two out", func(stack awscdk.Stack) {
			bucket(cdkapp.RecordBucketProps{Bucket: given(stack), EncryptionKey: awskms.NewKey(stack, jsii.String("Key"), nil)})(stack)
		}},
		{"RemovalPolicy", "it is for a new one, but Bucket is given", func(stack awscdk.Stack) {
			bucket(cdkapp.RecordBucketProps{Bucket: given(stack), RemovalPolicy: awscdk.RemovalPolicy_DESTROY})(stack)
		}},
		{"PointInTimeRecovery", "it is for a new one, but Table is given", func(stack awscdk.Stack) {
			cdkapp.NewRecordTable(stack, jsii.String("Records"), &cdkapp.RecordTableProps{
				Table:               awsdynamodb.Table_FromTableName(stack, jsii.String("Given"), jsii.String("given")),
				PointInTimeRecovery: jsii.Bool(true),
			})
		}},
	} {
		t.Run(tt.prop, func(t *testing.T) {
			t.Parallel()
			err := problem(t, tt.build)
			require.Equal(t, "Stack/Records", err.Path)
			require.Equal(t, tt.prop, err.Prop)
			require.Contains(t, err.Problem, tt.want)
		})
	}
}
