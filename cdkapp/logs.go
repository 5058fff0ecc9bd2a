package cdkapp

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/constructs-go/constructs/v10"
)

// makeLogGroup makes the log group, unless one is given. Below /aws/vendedlogs/ it needs no place in
// the resource policy for log delivery, which a region has little of. The ID of
// the stack in its name keeps a stack that is made again from one that was left
// behind.
func (p *jobPoller) makeLogGroup(props *JobPollerProps) {
	switch logs := props.logs(); {
	case logs.Level == awsstepfunctions.LogLevel_OFF:
		return
	case logs.Destination != nil:
		var whole bool
		if p.logGroup, whole = logs.Destination.(awslogs.ILogGroup); !whole {
			p.logGroup = awslogs.LogGroup_FromLogGroupArn(p, new("Logs"), logs.Destination.LogGroupRef().LogGroupArn)
		}
		return
	}
	front := "/aws/vendedlogs/states/" + *awscdk.Names_UniqueResourceName(p, &awscdk.UniqueResourceNameOptions{MaxLength: new(200.0)}) + "-"
	stackID := awscdk.Fn_Select(new(2.0), awscdk.Fn_Split(new("/"), awscdk.Aws_STACK_ID(), nil))
	retention := props.LogRetention
	if retention == "" {
		retention = awslogs.RetentionDays_ONE_MONTH
	}
	removal := props.RemovalPolicy
	if removal == "" {
		removal = awscdk.RemovalPolicy_DESTROY
	}
	if props.EncryptionKey != nil {
		encryptLogs(p, props.EncryptionKey, front+"*")
	}
	p.logGroup = awslogs.NewLogGroup(p, new("Logs"), &awslogs.LogGroupProps{
		LogGroupName: new(front + *stackID), Retention: retention, EncryptionKey: props.EncryptionKey, RemovalPolicy: removal,
	})
}

// encryptLogs lets CloudWatch Logs use the key for log groups of these names. Its
// principal has the region in it, and in China another suffix.
// Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
func encryptLogs(scope constructs.Construct, key awskms.IKey, names string) {
	stack := awscdk.Stack_Of(scope)
	groups := stack.FormatArn(&awscdk.ArnComponents{
		Service: new("logs"), Resource: new("log-group"), ResourceName: &names, ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME,
	})
	actions := []string{
		"kms:Encrypt", "kms:Decrypt", "kms:ReEncryptFrom", "kms:ReEncryptTo", "kms:GenerateDataKey", "kms:GenerateDataKeyWithoutPlaintext", "kms:DescribeKey",
	}
	added := key.AddToResourcePolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Actions: pointers(actions), Resources: pointers([]string{anyResource}), // the key that has the policy
		Principals: &[]awsiam.IPrincipal{awsiam.NewServicePrincipal(new("logs."+*stack.Region()+"."+*stack.UrlSuffix()), nil)},
		Conditions: &map[string]any{"ArnLike": map[string]any{"kms:EncryptionContext:aws:logs:arn": groups}},
	}), new(true))
	if !*added.StatementAdded {
		awscdk.Annotations_Of(scope).AddWarningV2(new("jobpoller:keyPolicy"), new(
			"the EncryptionKey belongs to another app: its policy must allow CloudWatch Logs to use the key for the log groups "+names))
	}
}
