package awserror_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
)

// The messages are those of AWS, with other names in them.
func TestWhatADeniedCallLacks(t *testing.T) {
	t.Parallel()
	const (
		me  = "User: arn:aws:sts::123456789012:assumed-role/poller/f is not authorized to perform: "
		key = " on resource: arn:aws:kms:eu-west-1:123456789012:key/e7b0fb1b"
	)
	for name, tt := range map[string]struct {
		code, message string
		want          string // the advice for a call that needs test:Describe
	}{
		"DynamoDB":                 {"AccessDeniedException", me + "dynamodb:DescribeExport on resource: arn:aws:dynamodb:eu-west-1:123456789012:table/t because no identity-based policy allows the dynamodb:DescribeExport action", "grant the role dynamodb:DescribeExport"},
		"before reasons were said": {"AccessDeniedException", me + "athena:GetQueryExecution", "grant the role athena:GetQueryExecution"},
		"S3 quotes the resource":   {"AccessDenied", me + `s3:ListBucket on resource: "arn:aws:s3:::records" because no identity-based policy allows the s3:ListBucket action`, "grant the role s3:ListBucket"},
		"S3 says nothing":          {"AccessDenied", "Access Denied", "grant the role test:Describe"},
		"KMS, by the key's policy": {"AccessDeniedException", me + "kms:Decrypt" + key + " because no resource-based policy allows the kms:Decrypt action", "a resource-based policy must allow the role kms:Decrypt"},
		"KMS, unnamed":             {"AccessDeniedException", "The ciphertext refers to a customer master key that does not exist, does not exist in this region, or you are not allowed to access.", "grant the role test:Describe"},
		"no boundary allows":       {"AccessDenied", me + "glue:GetJobRun on resource: r because no permissions boundary allows the glue:GetJobRun action", "a permissions boundary must allow the role glue:GetJobRun"},
		"no endpoint allows":       {"AccessDenied", me + "s3:GetObject on resource: r because no VPC endpoint policy allows the s3:GetObject action", "a VPC endpoint policy must allow the role s3:GetObject"},
		"no SCP allows":            {"AccessDenied", me + "batch:DescribeJobs because no service control policy allows the batch:DescribeJobs action", "a service control policy must allow the role batch:DescribeJobs"},
		"no session policy allows": {"AccessDenied", me + "batch:DescribeJobs because no session policy allows the batch:DescribeJobs action", "a session policy must allow the role batch:DescribeJobs"},
		"SCP denies":               {"AccessDeniedException", me + "kms:DisableKey" + key + " with an explicit deny in a service control policy: arn:aws:organizations::123456789012:policy/o-aaabbbccc/service_control_policy/p-0xn1knc2", "a service control policy denies the role kms:DisableKey: change that policy, a grant does not help"},
		"RCP denies":               {"AccessDenied", me + `s3:GetObject on resource: "arn:aws:s3:::b/k" with an explicit deny in a resource control policy`, "a resource control policy denies the role s3:GetObject: change that policy, a grant does not help"},
		"key's policy denies":      {"AccessDeniedException", me + "kms:Decrypt" + key + " with an explicit deny in a resource-based policy", "a resource-based policy denies the role kms:Decrypt: change that policy, a grant does not help"},
		"own policy denies":        {"AccessDenied", me + `s3:GetObject on resource: "r" with an explicit deny in an identity-based policy: arn:aws:iam::aws:policy/AWSCompromisedKeyQuarantineV3`, "an identity-based policy denies the role s3:GetObject: change that policy, a grant does not help"},
		"denies, nobody says what": {"AccessDenied", me + "s3:PutObject on resource: r with an explicit deny", "a policy denies the role s3:PutObject: change that policy, a grant does not help"},
		"EC2": {
			"UnauthorizedOperation",
			"You are not authorized to perform this operation. " + me + "ec2:RunInstances on resource: arn:aws:ec2:us-east-2:123456789012:instance/* with an explicit deny in a permissions boundary: arn:aws:iam::123456789012:policy/lab. Encoded authorization failure message: g4oZPBqZ4Bni8dE5",
			"a permissions boundary denies the role ec2:RunInstances: change that policy, a grant does not help",
		},
		"EC2, encoded alone":       {"UnauthorizedOperation", "You are not authorized to perform this operation. Encoded authorization failure message: 0l-KPWQJ8q5z3YatP3Ybgb5lf0dib", "grant the role test:Describe"},
		"Athena":                   {"AccessDeniedException", "You are not authorized to perform: athena:StartQueryExecution on the resource. After your AWS administrator or you have updated your permissions, please try again.", "grant the role athena:StartQueryExecution"},
		"Athena, of Glue":          {"AccessDeniedException", "Insufficient permissions to execute the query. " + me + "glue:GetDatabase on resource: arn:aws:glue:eu-west-1:123456789012:catalog", "grant the role glue:GetDatabase"},
		"Lake Formation":           {"AccessDeniedException", "Insufficient Lake Formation permission(s): Required Create Database on Catalog", "Lake Formation must allow the role Create Database"},
		"Lake Formation, of table": {"AccessDeniedException", "Insufficient Lake Formation permission(s): Required Describe on metrics", "Lake Formation must allow the role Describe"},
		"a role to pass":           {"AccessDeniedException", me + "iam:PassRole on resource: arn:aws:iam::123456789012:role/job because no identity-based policy allows the iam:PassRole action", "grant the role iam:PassRole"},
		"an action of somebody's":  {"AccessDeniedException", "zq 7 User: x is not authorized to perform: zq:Secret on resource: r", "grant the role test:Describe"},
		"a value of somebody's":    {"AccessDeniedException", "zq is not authorized to perform: zq:Secret on resource: r", "grant the role test:Describe"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			denial, ok := awserror.ReadDenial(tt.code, tt.message)
			require.True(t, ok)
			require.Equal(t, tt.want, denial.Advice("the role", "test:Describe"))
			_, ok = awserror.ReadDenial("ValidationException", tt.message)
			require.False(t, ok)
		})
	}
	require.Equal(t, "grant s3:GetObject", awserror.Denial{}.Advice("", "s3:GetObject"))
}
