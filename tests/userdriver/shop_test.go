package main

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/codedeploy"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler/handlertest"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"

	"example.com/shop/deployment"
)

// The app builds its functions and synthesizes, and both state machines run with the
// driver behind the functions to SUCCEEDED: one told by an event, the other by polls, which
// the command runs, too.
func TestShop(t *testing.T) {
	t.Parallel()
	template, file := synthesized(t)
	functions := template.of("AWS::Lambda::Function")
	require.Len(t, functions, 3)
	for _, f := range functions {
		require.Contains(t, []string{"run-job", "check-status", "collector"}, f.Properties["Handler"])
		require.Equal(t, functions[0].Properties["Code"], f.Properties["Code"], "one package")
	}
	rules := template.of("AWS::Events::Rule")
	require.Len(t, rules, 1)
	require.Equal(t, []any{"aws.codedeploy"}, rules[0].Properties["EventPattern"].(map[string]any)["source"])
	for action, roles := range map[string]int{"codedeploy:CreateDeployment": 1, "codedeploy:GetDeployment": 2} { // of run-job; of the others
		found := 0
		for _, policy := range template.of("AWS::IAM::Policy") {
			text, err := json.Marshal(policy.Properties)
			require.NoError(t, err)
			if strings.Contains(string(text), action) {
				require.Contains(t, string(text), ":deploymentgroup:shop/*")
				found++
			}
		}
		require.Equal(t, roles, found, action)
	}

	machines := template.of("AWS::StepFunctions::StateMachine")
	require.Len(t, machines, 2)
	for _, machine := range machines {
		definition := strings.NewReplacer("${Partition}", "aws", "${RunJobFunction}", "jobpoller-runjob", "${CheckStatusFunction}", "jobpoller-checkstatus").
			Replace(machine.Properties["DefinitionString"].(string))
		const takes = 601 * time.Second // between two polls
		told := strings.Contains(definition, "waitForTaskToken")
		run := handlertest.Run(t, handlertest.Case{
			Request: `{"group": "blue"}`, Definition: definition,
			Driver: func(w *handlertest.World) jobs.Driver {
				deployments := jobstest.NewJobs("Created")
				w.AfterFunc(takes, func() {
					deployments.SetStatus("Succeeded")
					w.Announce(map[string]any{
						"source": "aws.codedeploy", "detail-type": "CodeDeploy Deployment State-change Notification",
						"detail": map[string]any{"deploymentId": "job-1", "state": "SUCCESS"},
					})
				})
				return w.NewDriver(deployment.New, codeDeploy(deployments))
			},
		}).RequireSucceeded()
		if told {
			run.RequireElapsedBetween(takes, takes)
		} else {
			run.RequireElapsedBetween(takes+1, takes+time.Minute)
		}
	}
	runHere(t, template, file)
}

// runHere runs the functions of the template as docs/guide/drivers.md says, on this
// machine: by their handlers and by their logical IDs, with run and with serve.
func runHere(t *testing.T, template template, file string) {
	t.Helper()
	command := filepath.Join(t.TempDir(), "jobpoller")
	do(t, "go", "build", "-C", "../..", "-o", command, "./cmd/jobpoller")
	service := httptest.NewServer(codeDeploy(jobstest.NewJobs("Succeeded")))
	t.Cleanup(service.Close)
	handlers := []string{"--lambda", "run-job=go:./functions", "--lambda", "check-status=go:./functions"}
	var ids []string
	machine := ""
	for id, r := range template.Resources {
		switch {
		case r.Type == "AWS::Lambda::Function" && r.Properties["Handler"] != "collector":
			ids = append(ids, "--lambda", id+"=go:./functions")
		case r.Type == "AWS::StepFunctions::StateMachine" && strings.HasPrefix(id, "Polled"):
			machine = id
		}
	}
	for _, functions := range [][]string{handlers, ids} {
		flags := append(functions, "--endpoint-url", "codedeploy="+service.URL, "--region", "us-east-1")
		require.Contains(t, do(t, command, append([]string{"run", file + "#" + machine, "--input", `{"group": "blue"}`}, flags...)...), "SUCCEEDED after")
		serve := append([]string{"serve", "--port", "0", "--watch", file}, flags...)
		require.Contains(t, do(t, command, append(serve, "--", command, "start", "stepfunctions", "StartExecution",
			"--param", "stateMachineArn=arn:aws:states:us-east-1:123456789012:stateMachine:"+machine, "--param", `input={"group": "blue"}`,
			"--region", "us-east-1", "--wait", "--initial-delay", "1s", "--delay", "1s")...), "SUCCEEDED after")
	}
}

// do runs a command, and returns what it prints.
func do(t *testing.T, name string, args ...string) string {
	t.Helper()
	said, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	require.NoError(t, err, string(said))
	return string(said)
}

// codeDeploy is CodeDeploy as far as the driver calls it.
func codeDeploy(deployments *jobstest.Jobs) jobstest.Service {
	return jobstest.JSONService{Jobs: deployments, Version: "1.1", Target: "CodeDeploy_20141006", Operations: map[string]func(map[string]any) (any, error){
		"CreateDeployment": func(in map[string]any) (any, error) {
			job, err := deployments.Start("", in, jobstest.Refusal{})
			return map[string]any{"deploymentId": job.ID}, err
		},
		"GetDeployment": func(in map[string]any) (any, error) {
			job, ok := deployments.ByID(in["deploymentId"].(string))
			if !ok {
				return nil, jobstest.Refusal{Code: "DeploymentDoesNotExistException", Message: "no such deployment"}
			}
			return map[string]any{"deploymentInfo": map[string]any{"deploymentId": job.ID, "status": job.Status}}, nil
		},
	}}
}

// The driver keeps the contract of drivers.
func TestDriver(t *testing.T) {
	t.Parallel()
	jobstest.Run(t, jobstest.Case{
		Maker: deployment.New, Output: codedeploy.GetDeploymentOutput{},
		Service:   func(*testing.T) jobstest.Service { return codeDeploy(jobstest.NewJobs("Created")) },
		Arguments: `{"ApplicationName": "shop", "DeploymentGroupName": "blue"}`, Required: []string{"ApplicationName"},
		Statuses: jobstest.Statuses{Running: []string{"Created", "InProgress"}, Success: []string{"Succeeded"}, Failure: []string{"Failed", "Stopped"}},
	})
}

type template struct{ Resources map[string]resource }

type resource struct {
	Type       string
	Properties map[string]any
}

func (t template) of(kind string) (found []resource) {
	for _, r := range t.Resources {
		if r.Type == kind {
			found = append(found, r)
		}
	}
	return found
}

// synthesized runs the app as the CDK's command does, without Docker.
func synthesized(t *testing.T) (all template, file string) {
	t.Helper()
	folder := t.TempDir()
	app := exec.CommandContext(t.Context(), "go", "run", ".")
	app.Env = append(os.Environ(), "CDK_OUTDIR="+folder, "CDK_DOCKER=there-is-no-docker")
	said, err := app.CombinedOutput()
	require.NoError(t, err, string(said))
	file = filepath.Join(folder, "Shop.template.json")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &all))
	return all, file
}
