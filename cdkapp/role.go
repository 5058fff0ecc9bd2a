package cdkapp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/constructs-go/constructs/v10"
)

// vpcActions are what Lambda does in the name of a function to bring it into a VPC.
// Source: https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html
var vpcActions = []string{
	"ec2:AssignPrivateIpAddresses", "ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface",
	"ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "ec2:UnassignPrivateIpAddresses",
}

// addStatements adds statements to a role, and returns their actions.
func addStatements(role awsiam.IRole, statements ...awsiam.PolicyStatement) []string {
	for _, s := range statements {
		role.AddToPrincipalPolicy(s)
	}
	return actionsOf(statements)
}

func actionsOf(statements []awsiam.PolicyStatement) []string {
	var actions []string
	for _, s := range statements {
		actions = append(actions, texts(s.Actions())...)
	}
	return actions
}

func actionsOfGrants(grants []awsiam.Grant) []string {
	var actions []string
	for _, granted := range grants {
		actions = append(actions, actionsOf(*granted.PrincipalStatements())...)
	}
	return actions
}

// isChangeable tells whether the statements that were added to a role have reached it. The
// CDK itself does as if they always had.
func isChangeable(role awsiam.IRole) bool {
	for _, child := range *role.Node().FindAll(constructs.ConstructOrder_PREORDER) {
		if r, ok := child.(awscdk.CfnResource); ok && *r.CfnResourceType() == "AWS::IAM::Policy" {
			return true
		}
	}
	return false
}

// warnUnchanged names the actions that a role of the user's needs, if the CDK cannot
// add them to it.
func warnUnchanged(scope constructs.Construct, role awsiam.IRole, of string, actions []string) {
	if len(actions) == 0 || isChangeable(role) {
		return
	}
	slices.Sort(actions)
	awscdk.Annotations_Of(scope).AddWarningV2(new("jobpoller:role"), new(fmt.Sprintf(
		"the role of %s is imported and cannot be changed: its policies must allow %s", of, strings.Join(slices.Compact(actions), ", "))))
}

// makeRole makes the role, if none is given, which only state machines of this account
// can assume, and no other service on their behalf. It adds what the machine needs, and
// returns the actions.
func (p *jobPoller) makeRole(props *JobPollerProps) []string {
	if p.role = orElse(props.StateMachineProps, awsstepfunctions.StateMachineProps{}).Role; p.role == nil {
		p.role = p.newRole()
	}
	given := addStatements(p.role, slices.Concat(statements(p, p.machine.needed, p.machine.narrowed), p.machine.given, p.machine.granted)...)
	if len(p.invoked) > 0 {
		var arns []string
		for _, f := range p.invoked {
			p.refuseRoleOf(f)
			arns = append(arns, f.granted...)
		}
		given = append(given, actionsOfGrants([]awsiam.Grant{allow(p.role, arns, nil, invokeAction)})...)
	}
	return given
}

// refuseRoleOf refuses a role that is the function's too: its policy would name the
// function, which CloudFormation makes after the policy.
func (p *jobPoller) refuseRoleOf(f invoked) {
	if of := f.function.Role(); of != nil && *of.Node().Addr() == *p.role.Node().Addr() && isChangeable(of) {
		where(*p.Node().Path()).refuse("StateMachineProps.Role",
			"it is the role of %s, too, and CloudFormation cannot make a policy before and after a function: give another role", f.id)
	}
}

// warnRole names the actions that the state machine needs, with those that the CDK
// adds, if its role cannot be changed.
func (p *jobPoller) warnRole(props *JobPollerProps, actions []string) {
	if p.logGroup != nil {
		actions = append(actions, "logs:CreateLogDelivery", "logs:DeleteLogDelivery", "logs:DescribeLogGroups", "logs:DescribeResourcePolicies",
			"logs:GetLogDelivery", "logs:ListLogDeliveries", "logs:PutResourcePolicy", "logs:UpdateLogDelivery")
	}
	if orElse(props.TracingEnabled, true) {
		actions = append(actions, "xray:GetSamplingRules", "xray:GetSamplingTargets", "xray:PutTelemetryRecords", "xray:PutTraceSegments")
	}
	if p.key != nil {
		actions = append(actions, "kms:Decrypt", "kms:GenerateDataKey")
	}
	warnUnchanged(p, p.role, "the state machine", actions)
}

func (p *jobPoller) newRole() awsiam.IRole {
	stack := awscdk.Stack_Of(p)
	machines := stack.FormatArn(&awscdk.ArnComponents{
		Service: new("states"), Resource: new("stateMachine"), ResourceName: new("*"), ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME,
	})
	return awsiam.NewRole(p, new("Role"), &awsiam.RoleProps{
		AssumedBy: awsiam.NewServicePrincipal(new("states.amazonaws.com"), &awsiam.ServicePrincipalOpts{Conditions: &map[string]any{
			"StringEquals": map[string]any{"aws:SourceAccount": stack.Account()},
			"ArnLike":      map[string]any{"aws:SourceArn": machines},
		}}),
		Description: new("What the state machine of a poller runs as."), // not with its path: IAM takes Latin-1 alone
	})
}
