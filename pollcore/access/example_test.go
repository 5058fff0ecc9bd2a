package access_test

import (
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore/access"
)

func ExamplePermission() {
	p := access.Permission{
		Action: "codedeploy:CreateDeployment", For: access.ForStart,
		Resource: "arn:${Partition}:codedeploy:${Region}:${Account}:deploymentgroup:shop/${DeploymentGroupName}",
	}
	fmt.Println(p.For, "needs", p.Action)
	// Output: Start needs codedeploy:CreateDeployment
}
