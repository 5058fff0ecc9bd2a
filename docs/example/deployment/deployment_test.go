package deployment_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/codedeploy"
	"github.com/aws/aws-sdk-go-v2/service/codedeploy/types"

	"github.com/jobpoller/jobpoller/docs/example/deployment"
	"github.com/jobpoller/jobpoller/lambdas/handler/handlertest"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
)

func TestDeployment(t *testing.T) {
	t.Parallel()
	jobstest.Run(t, jobstest.Case{
		Maker: deployment.New, Service: codeDeploy, Output: codedeploy.GetDeploymentOutput{},
		Arguments: `{"ApplicationName": "shop", "DeploymentGroupName": "blue"}`, Required: []string{"ApplicationName"},
		Statuses: jobstest.Statuses{
			Running: []string{"Created", "Queued", "InProgress", "Baking", "Ready"}, Success: []string{"Succeeded"}, Failure: []string{"Failed", "Stopped"},
		},
		Enum: jobstest.Values(types.DeploymentStatus("").Values()), Reason: "no space left", Timestamps: []string{"DeploymentInfo.CreateTime"},
	})
}

// A deployment of 20 minutes in the shipped loop, with a crash at every call.
func TestDeploymentInTheLoop(t *testing.T) {
	t.Parallel()
	handlertest.Run(t, handlertest.Case{
		Request: `{"job": "codedeploy:CreateDeployment", "maxWaitSeconds": 3600, "arguments": {"ApplicationName": "shop", "DeploymentGroupName": "blue"}}`,
		Driver: func(w *handlertest.World) jobs.Driver {
			service := codeDeploy(t)
			w.AfterFunc(20*time.Minute, func() { service.SetStatus("Succeeded") })
			return w.NewDriver(deployment.New, service)
		},
	}).RequireSucceeded().RequireElapsedBetween(20*time.Minute, 22*time.Minute)
}

// codeDeploy is CodeDeploy as far as the driver calls it.
func codeDeploy(*testing.T) jobstest.Service {
	deployments := jobstest.NewJobs("Created")
	none := jobstest.Refusal{Code: "DeploymentDoesNotExistException", Message: "no such deployment"}
	return jobstest.JSONService{Jobs: deployments, Version: "1.1", Target: "CodeDeploy_20141006", Operations: map[string]func(map[string]any) (any, error){
		"CreateDeployment": func(in map[string]any) (any, error) {
			job, err := deployments.Start("", in, jobstest.Refusal{})
			return map[string]any{"deploymentId": job.ID}, err
		},
		"GetDeployment": func(in map[string]any) (any, error) {
			job, ok := deployments.ByID(in["deploymentId"].(string))
			if !ok {
				return nil, none
			}
			info := map[string]any{"deploymentId": job.ID, "status": job.Status, "createTime": 1795000000.5}
			if job.Status == "Failed" || job.Status == "Stopped" {
				info["errorInformation"] = map[string]any{"code": "HEALTH_CONSTRAINTS", "message": "no space left"}
			}
			return map[string]any{"deploymentInfo": info}, nil
		},
		"StopDeployment": func(in map[string]any) (any, error) {
			switch job, ok := deployments.ByID(in["deploymentId"].(string)); {
			case !ok:
				return nil, none
			case job.Status == "Succeeded" || job.Status == "Failed" || job.Status == "Stopped":
				return nil, jobstest.Refusal{Code: "DeploymentAlreadyCompletedException", Message: "it has ended"}
			default:
				deployments.SetJobStatus(job.ID, "Stopped")
				return map[string]any{"status": "Succeeded"}, nil
			}
		},
	}}
}

// A stack asks the driver for its name, waiter and permissions, without a client.
func ExampleDriver() {
	var driver deployment.Driver
	fmt.Println(driver.Name())
	for _, p := range driver.Permissions() {
		fmt.Println(p.Action)
	}
	// Output:
	// codedeploy:CreateDeployment
	// codedeploy:CreateDeployment
	// codedeploy:GetDeployment
	// codedeploy:StopDeployment
	// codedeploy:GetDeployment
}
