//go:build e2e

package cdkapp_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/cdkapp"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// queryArguments name all that a query of Athena is on.
func queryArguments(bucket *string) *map[string]any {
	return &map[string]any{
		"QueryString": "SELECT 1", "WorkGroup": "etl",
		"QueryExecutionContext": map[string]any{"Catalog": "AwsDataCatalog", "Database": "sales"},
		"ResultConfiguration":   map[string]any{"OutputLocation": "s3://" + *bucket + "/results/"},
	}
}

// The policy of a poller names what its literal arguments name, by a machine that calls
// the service itself as by functions.
func TestE2EPolicyFollowsLiteralArguments(t *testing.T) {
	t.Parallel()
	for strategy, role := range map[compile.Strategy]string{compile.Variables: "QueryRole", compile.LambdaLoop: "QueryFunctionsRunJobRole"} {
		all := synth(t, func(stack awscdk.Stack) {
			bucket := awss3.Bucket_FromBucketName(stack, new("Results"), new("results"))
			cdkapp.NewJobPoller(stack, new("Query"), &cdkapp.JobPollerProps{
				Job: fromCatalog("athena:StartQueryExecution"), Strategy: strategy, MaxWait: seconds(3600), Arguments: queryArguments(bucket.BucketName()),
				Grants: &[]awsiam.PolicyStatement{awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
					Actions: jsii.Strings("s3:GetObject"), Resources: jsii.Strings("arn:aws:s3:::data/*"),
				})},
			})
		})
		allowed := map[string][]string{}
		for _, s := range statementsOf(t, all, all.named(t, "AWS::IAM::Role", role).id) {
			for _, action := range s.actions {
				allowed[action] = append(allowed[action], s.resources...)
			}
		}
		require.Equal(t, []string{"arn:aws:athena:us-east-1:123456789012:workgroup/etl"}, allowed["athena:StartQueryExecution"])
		require.Contains(t, allowed["s3:PutObject"], "arn:aws:s3:::results/*") // beside the bucket of the start records
		require.Contains(t, allowed["s3:ListBucket"], "arn:aws:s3:::results")
		require.Subset(t, allowed["s3:GetObject"], []string{"arn:aws:s3:::results/*", "arn:aws:s3:::data/*"})
		require.Contains(t, allowed["glue:GetTable"], "arn:aws:glue:us-east-1:123456789012:table/sales/*")
		for action, resources := range allowed {
			if service, _, _ := strings.Cut(action, ":"); service == "athena" || service == "s3" || service == "glue" {
				require.NotContains(t, resources, "*", action)
			}
		}
	}
}

// A role is named by an argument, and its service by a condition.
func TestE2EPassRoleFollowsTheArgument(t *testing.T) {
	t.Parallel()
	all := synth(t, func(stack awscdk.Stack) {
		service := awsiam.NewServicePrincipal(new("backup.amazonaws.com"), nil)
		role := awsiam.NewRole(stack, new("Backups"), &awsiam.RoleProps{AssumedBy: service})
		cdkapp.NewJobPoller(stack, new("Backup"), &cdkapp.JobPollerProps{
			Job: fromCatalog("backup:StartBackupJob"), MaxWait: seconds(3600),
			Arguments: &map[string]any{"BackupVaultName": "nightly", "ResourceArn": "{% $states.input.arn %}", "IamRoleArn": role.RoleArn()},
		})
	})
	for _, s := range statementsOf(t, all, all.named(t, "AWS::IAM::Role", "BackupRole").id) {
		if s.actions[0] == "iam:PassRole" {
			require.Equal(t, []string{"{" + all.named(t, "AWS::IAM::Role", "Backups").id + ".Arn}"}, s.resources)
			require.JSONEq(t, `{"StringEquals": {"iam:PassedToService": ["backup.amazonaws.com"]}}`, asJSON(t, s.conditions))
			return
		}
	}
	t.Fatal("no iam:PassRole")
}
