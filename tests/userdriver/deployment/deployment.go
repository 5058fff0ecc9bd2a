// Package deployment drives deployments of AWS CodeDeploy, as the job "codedeploy:DeployShop".
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

var ended = pollcore.MustNew("DeploymentEnded",
	pollcore.Succeed(pollcore.Output("DeploymentInfo.Status").Is("Succeeded")),
	pollcore.FailWithMessage(pollcore.Output("DeploymentInfo.Status").Is("Failed"), "DeploymentInfo.ErrorInformation.Message"),
	pollcore.FailWithMessage(pollcore.Output("DeploymentInfo.Status").Is("Stopped"), "DeploymentInfo.ErrorInformation.Message"),
	pollcore.Delay(15*time.Second, time.Minute))

// Driver is a jobs.Driver. The app of the CDK has it without a client.
type Driver struct{ client *codedeploy.Client }

// New is the driver's maker, for the functions.
func New(e jobs.Environment) (jobs.Driver, error) {
	return Driver{codedeploy.NewFromConfig(e.AWS)}, nil
}

func (Driver) Name() string             { return "codedeploy:DeployShop" }
func (Driver) Waiter() *pollcore.Waiter { return ended }
func (Driver) Idempotency(jobs.Request) jobs.Idempotency {
	return jobs.Idempotency{Class: jobs.NoProtection}
}

func (Driver) Permissions() []access.Permission {
	const group = "arn:${Partition}:codedeploy:${Region}:${Account}:deploymentgroup:shop/${DeploymentGroupName}"
	return []access.Permission{
		{Action: "codedeploy:CreateDeployment", For: access.ForStart, Resource: group},
		{Action: "codedeploy:GetDeployment", For: access.ForDescribe, Resource: group},
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

// CodeDeploy tells EventBridge when a deployment has ended: the rest is for that.

func (Driver) EventPattern() map[string]any {
	return map[string]any{
		"source": []string{"aws.codedeploy"}, "detail": map[string]any{"application": []string{"shop"}, "state": []string{"SUCCESS", "FAILURE", "STOP"}},
	}
}

func (Driver) JobIDs(ref jobs.Ref) ([]string, error) { return []string{ref["DeploymentId"]}, nil }

func (Driver) ReadEvent(event map[string]any) (id string, ok bool) {
	detail, _ := event["detail"].(map[string]any)
	id, ok = detail["deploymentId"].(string)
	return id, ok && event["source"] == "aws.codedeploy"
}
