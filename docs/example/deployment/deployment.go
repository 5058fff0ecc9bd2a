// Package deployment drives deployments of AWS CodeDeploy.
package deployment

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/codedeploy"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/access"
)

// ended says what "done" means for a deployment.
var ended = pollcore.MustNew("DeploymentEnded",
	pollcore.Succeed(pollcore.Output("DeploymentInfo.Status").Is("Succeeded")),
	pollcore.FailWithMessage(pollcore.Output("DeploymentInfo.Status").Is("Failed"), "DeploymentInfo.ErrorInformation.Message"),
	pollcore.FailWithMessage(pollcore.Output("DeploymentInfo.Status").Is("Stopped"), "DeploymentInfo.ErrorInformation.Message"),
	pollcore.Delay(15*time.Second, 2*time.Minute))

// Driver has the members of CreateDeployment as its arguments.
type Driver struct{ client *codedeploy.Client }

// New makes the driver, for the functions.
func New(e jobs.Environment) (jobs.Driver, error) {
	return Driver{codedeploy.NewFromConfig(e.AWS)}, nil
}

func (Driver) Name() string { return "codedeploy:CreateDeployment" }

func (Driver) Waiter() *pollcore.Waiter { return ended }

func (Driver) Idempotency(jobs.Request) jobs.Idempotency {
	// CreateDeployment takes no token, and a deployment has no name.
	return jobs.Idempotency{Class: jobs.NoProtection}
}

func (Driver) Permissions() []access.Permission {
	const group = "arn:${Partition}:codedeploy:${Region}:${Account}:deploymentgroup:${ApplicationName}/${DeploymentGroupName}"
	return []access.Permission{
		{Action: "codedeploy:CreateDeployment", For: access.ForStart, Resource: group},
		{Action: "codedeploy:GetDeployment", For: access.ForDescribe, Resource: group},
		{Action: "codedeploy:StopDeployment", For: access.ForStop, Resource: "*"},
		{Action: "codedeploy:GetDeployment", For: access.ForStop, Resource: group},
	}
}

func (d Driver) Start(ctx context.Context, r jobs.Request) (jobs.Ref, error) {
	in, err := jobs.Arguments[codedeploy.CreateDeploymentInput](d.Name(), r.Arguments, jobs.Require("ApplicationName"))
	if err != nil {
		return nil, err
	}
	// Without a token the client must not repeat the call.
	out, err := d.client.CreateDeployment(ctx, in, func(o *codedeploy.Options) { o.Retryer = aws.NopRetryer{} })
	if err != nil {
		return nil, err
	}
	if out.DeploymentId == nil {
		return nil, errors.New("CodeDeploy returned no DeploymentId")
	}
	return jobs.Ref{"DeploymentId": *out.DeploymentId}, nil
}

func (d Driver) Describe(ctx context.Context, ref jobs.Ref) (any, error) {
	return jobs.Describe(d.client.GetDeployment)(ctx, ref)
}

// Stop is optional. CodeDeploy refuses it for a deployment that has ended.
func (d Driver) Stop(ctx context.Context, ref jobs.Ref) error {
	_, err := d.client.StopDeployment(ctx, &codedeploy.StopDeploymentInput{DeploymentId: aws.String(ref["DeploymentId"])})
	return jobs.StopResult(ctx, d, ref, err)
}
