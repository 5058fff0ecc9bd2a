package cdkapp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
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
	var actions []string
	for _, s := range statements {
		role.AddToPrincipalPolicy(s)
		actions = append(actions, texts(s.Actions())...)
	}
	return actions
}

func actionsOfGrants(grants []awsiam.Grant) []string {
	var actions []string
	for _, granted := range grants {
		for _, s := range *granted.PrincipalStatements() {
			actions = append(actions, texts(s.Actions())...)
		}
	}
	return actions
}

// warnUnchanged names the actions that a role of the user's needs, if the CDK cannot
// add them to it. The CDK itself does as if it had added them.
func warnUnchanged(scope constructs.Construct, role awsiam.IRole, of string, actions []string) {
	for _, child := range *role.Node().FindAll(constructs.ConstructOrder_PREORDER) {
		if r, ok := child.(awscdk.CfnResource); ok && *r.CfnResourceType() == "AWS::IAM::Policy" {
			return
		}
	}
	slices.Sort(actions)
	awscdk.Annotations_Of(scope).AddWarningV2(new("jobpoller:role"), new(fmt.Sprintf(
		"the role of %s is imported and cannot be changed: its policies must allow %s", of, strings.Join(slices.Compact(actions), ", "))))
}
