package tests_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/jobpoller/jobpoller/internal/localloop"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/access"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/memstore"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/compile"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

const (
	deployPage    = "../docs/guide/sam-terraform.md"
	deploySamples = "../docs/example"
)

// sampleValues are what the placeholders of the definitions become.
var sampleValues = map[string]string{
	"TableArn":     "arn:aws:dynamodb:us-east-1:123456789012:table/Orders",
	"ExportBucket": "exports",
	"RunJob":       "arn:aws:lambda:us-east-1:123456789012:function:export-orders-runjob",
	"CheckStatus":  "arn:aws:lambda:us-east-1:123456789012:function:export-orders-checkstatus",
}

// tableExports is DynamoDB, as far as it exports tables.
type tableExports struct {
	clock   *sim.Clock
	lasts   time.Duration
	ends    string
	started []map[string]any
}

func (e *tableExports) call(operation string, in map[string]any) (any, error) {
	status := "IN_PROGRESS"
	switch operation {
	case "ExportTableToPointInTime":
		e.started = append(e.started, in)
	case "DescribeExport":
		if in["ExportArn"] != "arn:export" {
			return nil, fmt.Errorf("described %v", in)
		}
		if e.clock.Now().Sub(sim.DefaultStart()) >= e.lasts {
			status = e.ends
		}
	default:
		return nil, fmt.Errorf("no operation %s", operation)
	}
	return map[string]any{"ExportDescription": map[string]any{"ExportArn": "arn:export", "ExportStatus": status, "FailureMessage": "no such bucket"}}, nil
}

// handlers answer both samples: the SDK integrations, and the Lambda functions with
// the built-in driver, which calls over HTTP.
func (e *tableExports) handlers(t *testing.T) map[string]sim.Handler {
	t.Helper()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in map[string]any
		text, _ := io.ReadAll(r.Body) // what is cut off is not JSON
		_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		out, err := any(nil), json.Unmarshal(text, &in)
		if err == nil {
			out, err = e.call(operation, in)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(out) //nolint:errchkjson // a client that is gone is no concern here
	}))
	t.Cleanup(service.Close)
	registry, err := jobs.Build(jobs.Environment{AWS: aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(service.URL),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	}}, awsjob.Catalogue)
	require.NoError(t, err)
	functions, err := handler.New(handler.Config{Store: memstore.New(e.clock.Now), Jobs: registry, Now: e.clock.Now, NoDwell: true})
	require.NoError(t, err)
	invoked := localloop.Functions(functions)
	integration := func(operation string) sim.Handler {
		return func(_ context.Context, c sim.Call) (sim.Reply, error) {
			in, _ := c.Arguments.(map[string]any)
			out, err := e.call(operation, in)
			return sim.Reply{Output: out}, err
		}
	}
	return map[string]sim.Handler{
		"arn:aws:states:::aws-sdk:dynamodb:exportTableToPointInTime": integration("ExportTableToPointInTime"),
		"arn:aws:states:::aws-sdk:dynamodb:describeExport":           integration("DescribeExport"),
		"arn:aws:states:::lambda:invoke": sim.LambdaInvoke(map[string]sim.LambdaFunction{
			"export-orders-runjob": invoked[statemachines.RunJobFunction], "export-orders-checkstatus": invoked[statemachines.CheckStatusFunction],
		}),
	}
}

// The definitions of the samples are valid, and export the table that the
// template names.
func TestDeployDefinitions(t *testing.T) {
	t.Parallel()
	for _, sample := range []string{"sam", "sam-lambda", "terraform", "terraform-lambda"} {
		text, err := os.ReadFile(filepath.Join(deploySamples, sample, "export.asl.json"))
		require.NoError(t, err)
		for _, read := range [][]byte{text, asl.Substitute(text, sampleValues)} {
			require.Empty(t, asl.Validate(read, asl.Standard), sample)
		}
		definition := asl.Substitute(text, sampleValues)
		require.NotContains(t, string(definition), "${", sample)
		machine, err := asl.Parse(definition)
		require.NoError(t, err)
		require.Empty(t, lint.Check(machine, lint.Options{}), sample)
		for _, run := range []struct {
			ends  string
			lasts time.Duration
			want  sim.Status
			err   string
		}{
			{"COMPLETED", 20 * time.Minute, sim.StatusSucceeded, ""},
			{"FAILED", 20 * time.Minute, sim.StatusFailed, "JobPoller.Failed"},
			{"COMPLETED", 3 * time.Hour, sim.StatusFailed, "JobPoller.TimedOut"},
		} {
			t.Run(fmt.Sprintf("%s %s after %s", sample, run.ends, run.lasts), func(t *testing.T) {
				t.Parallel()
				e := &tableExports{clock: sim.NewVirtualClock(sim.DefaultStart()), lasts: run.lasts, ends: run.ends}
				result, err := sim.Run(t.Context(), machine, []byte(`{}`), sim.Options{Clock: e.clock, Handlers: e.handlers(t)})
				require.NoError(t, err)
				require.Equal(t, run.want, result.Status, "%s: %s", result.Error, result.Cause)
				require.Equal(t, run.err, result.Error, result.Cause)
				require.Len(t, e.started, 1)
				require.Equal(t, sampleValues["TableArn"], e.started[0]["TableArn"])
				require.Equal(t, sampleValues["ExportBucket"], e.started[0]["S3Bucket"])
				require.NotEmpty(t, e.started[0]["ClientToken"])
			})
		}
	}
}

// iamStatement is one of a template. Its resources are what they are before
// CloudFormation computes them.
type iamStatement struct {
	effect            string
	actions, resource []string
}

// rolePolicies are the statements of each role of a template by the name of the
// policy.
func rolePolicies(t *testing.T, file string) map[string]map[string][]iamStatement {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var template struct {
		Resources map[string]struct {
			Type       string
			Properties struct {
				Policies []struct {
					PolicyName     string `yaml:"PolicyName"`
					PolicyDocument struct {
						Statement []struct {
							Effect   string    `yaml:"Effect"`
							Action   yaml.Node `yaml:"Action"`
							Resource yaml.Node `yaml:"Resource"`
						} `yaml:"Statement"`
					} `yaml:"PolicyDocument"`
				} `yaml:"Policies"`
			} `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	require.NoError(t, yaml.Unmarshal(text, &template))
	list := func(n yaml.Node) []string {
		if n.Kind == yaml.ScalarNode {
			return []string{n.Value}
		}
		var values []string
		for _, item := range n.Content {
			values = append(values, item.Value)
		}
		return values
	}
	roles := map[string]map[string][]iamStatement{}
	for name, r := range template.Resources {
		for _, p := range r.Properties.Policies {
			for _, s := range p.PolicyDocument.Statement {
				if roles[name] == nil {
					roles[name] = map[string][]iamStatement{}
				}
				roles[name][p.PolicyName] = append(roles[name][p.PolicyName], iamStatement{s.Effect, list(s.Action), list(s.Resource)})
			}
		}
	}
	return roles
}

// withoutResource are actions on all resources, by who has the role: AWS documents
// them so.
var withoutResource = map[string][]string{
	"states.amazonaws.com": {
		"logs:CreateLogDelivery", "logs:DeleteLogDelivery", "logs:DescribeLogGroups", "logs:DescribeResourcePolicies",
		"logs:GetLogDelivery", "logs:ListLogDeliveries", "logs:PutResourcePolicy", "logs:UpdateLogDelivery",
		"xray:GetSamplingRules", "xray:GetSamplingTargets", "xray:PutTelemetryRecords", "xray:PutTraceSegments",
	},
	"lambda.amazonaws.com": {"xray:PutTelemetryRecords", "xray:PutTraceSegments"},
}

// Each role may do what jobpoller says that it must, and keep records, logs and
// traces. tests/deploy compares the Terraform configurations with these.
func TestDeployPolicies(t *testing.T) {
	t.Parallel()
	driver, err := awsjob.NewDriver(aws.Config{Region: "us-east-1"}, catalog.AWS(), "dynamodb:ExportTableToPointInTime")
	require.NoError(t, err)
	needed := map[access.Purpose][]string{}
	for _, p := range driver.Permissions() {
		needed[p.For] = append(needed[p.For], p.Action)
	}
	var printed compile.Policy
	text, err := os.ReadFile(filepath.Join(deploySamples, "terraform", "export.iam.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &printed))
	var compiled []string
	for _, s := range printed.Statement {
		compiled = append(compiled, s.Action...)
	}
	store := []string{"s3:GetObject", "s3:PutObject", "s3:ListBucket"}
	logs := []string{"logs:CreateLogStream", "logs:PutLogEvents"}
	for _, want := range []struct {
		sample, role string
		policies     map[string][]string
	}{
		{"sam", "ExportRole", map[string][]string{"export": compiled, "logs-and-traces": withoutResource["states.amazonaws.com"]}},
		{"sam-lambda", "ExportRole", map[string][]string{"functions": {"lambda:InvokeFunction"}, "logs-and-traces": withoutResource["states.amazonaws.com"]}},
		{"sam-lambda", "RunJobRole", map[string][]string{
			"export": slices.Concat(needed[access.ForStart], needed[access.ForFind]), "records": store,
			"logs-and-traces": slices.Concat(logs, withoutResource["lambda.amazonaws.com"]),
		}},
		{"sam-lambda", "CheckStatusRole", map[string][]string{
			"export": slices.Concat(needed[access.ForDescribe], needed[access.ForStop]), "records": store,
			"logs-and-traces": slices.Concat(logs, withoutResource["lambda.amazonaws.com"]),
		}},
	} {
		roles := rolePolicies(t, filepath.Join(deploySamples, want.sample, "template.yaml"))
		require.Len(t, roles[want.role], len(want.policies))
		for name, actions := range want.policies {
			var allowed []string
			for _, s := range roles[want.role][name] {
				require.Equal(t, "Allow", s.effect)
				allowed = append(allowed, s.actions...)
				for _, action := range s.actions {
					require.NotContains(t, action, "*")
				}
				if slices.Contains(s.resource, "*") {
					require.Subset(t, withoutResource["states.amazonaws.com"], s.actions, "%s %s", want.sample, want.role)
				}
			}
			require.ElementsMatch(t, actions, allowed, "%s %s %s", want.sample, want.role, name)
		}
	}
}
