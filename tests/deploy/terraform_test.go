package deploy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

const examples = "../../docs/example"

var buildTofu = sync.OnceValues(func() (string, error) {
	out, err := exec.CommandContext(context.Background(), "go", "-C", "tofu", "tool", "-n", "tofu").Output()
	return strings.TrimSpace(string(out)), err
})

// tofu runs OpenTofu in a folder, with this program as the AWS provider.
type tofu struct {
	file, folder string
	environment  []string
}

var (
	schemaOnce sync.Once
	schemaText []byte
)

// newTofu copies a sample into a folder of its own, with what it has the user
// build, and changes it.
func newTofu(t *testing.T, sample string, change ...string) *tofu {
	t.Helper()
	module := map[string][]byte{}
	for _, function := range []string{"runjob", "checkstatus"} {
		module["dist/"+function+"-arm64.zip"] = []byte("what make lambdas makes")
	}
	files, err := os.ReadDir(filepath.Join(examples, sample))
	require.NoError(t, err)
	for _, f := range files {
		module[f.Name()] = []byte(readSample(t, sample, f.Name()))
	}
	module["main.tf"] = []byte(readSample(t, sample, "main.tf", change...))
	return tofuOf(t, module)
}

// tofuOf writes the files of a module into a folder of its own.
func tofuOf(t *testing.T, module map[string][]byte) *tofu {
	t.Helper()
	file, err := buildTofu()
	require.NoError(t, err)
	schemaOnce.Do(func() {
		schemaText, err = json.Marshal(readSchema(t))
		require.NoError(t, err)
	})
	require.NotEmpty(t, schemaText)
	root := t.TempDir()
	write := func(name string, text []byte) string {
		name = filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o750))
		require.NoError(t, os.WriteFile(name, text, 0o600))
		return name
	}
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(root, "provider"), 0o750))
	require.NoError(t, os.Symlink(self, filepath.Join(root, "provider", providerFile)))
	for name, text := range module {
		write("sample/"+name, text)
	}
	configuration := `provider_installation {
  dev_overrides {
    "hashicorp/aws" = ` + string(must(json.Marshal(filepath.Join(root, "provider")))) + `
  }
}`
	return &tofu{file, filepath.Join(root, "sample"), append(os.Environ(),
		"TF_CLI_CONFIG_FILE="+write("tofu.rc", []byte(configuration)), schemaVariable+"="+write("schema.json", schemaText),
		"TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1", "TF_VAR_table_arn="+tableARN, "TF_VAR_export_bucket="+exportBucket, "TF_VAR_alarm_topic_arn="+topicARN)}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

const (
	tableARN     = "arn:aws:dynamodb:us-east-1:" + account + ":table/Orders"
	exportBucket = "exports"
	topicARN     = "arn:aws:sns:us-east-1:" + account + ":alarms"
)

func (f *tofu) run(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), f.file, append([]string{"-chdir=" + f.folder}, arguments...)...)
	command.Env = f.environment
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	err := command.Run()
	return out.String() + errs.String(), err
}

var terraformSamples = map[string]string{"terraform": "sam", "terraform-lambda": "sam-lambda"}

// The configurations are formatted and valid, and can be applied. What then would be
// there at AWS is what the SAM templates make.
func TestTerraformSamples(t *testing.T) {
	t.Parallel()
	for sample, twin := range terraformSamples {
		t.Run(sample, func(t *testing.T) {
			t.Parallel()
			f := newTofu(t, sample)
			out, err := f.run(t, "fmt", "-check", "-diff")
			require.NoError(t, err, out)
			require.Empty(t, f.problems(t))
			out, err = f.run(t, "apply", "-auto-approve", "-input=false", "-no-color")
			require.NoError(t, err, out)
			applied := f.applied(t)
			requireStateMachine(t, applied, sample)
			template, _, err := transformed(t, samTemplate(t, twin))
			require.NoError(t, err)
			require.Equal(t, samPolicies(t, template), terraformPolicies(t, applied))
			require.Equal(t, samAlarms(t, template), terraformAlarms(t, applied))
			require.Len(t, of(applied, "aws_cloudwatch_log_group"), logGroups(t, template))
			say("suite deploy: OpenTofu applied %s: %d resources", sample, len(slices.DeleteFunc(slices.Clone(applied), func(m managed) bool { return m.Mode != "managed" })))
			if sample == "terraform-lambda" {
				requireBucket(t, applied)
				requireFunctions(t, applied, template)
			}
		})
	}
}

// problems are the errors and warnings of tofu validate, other than the one that
// the provider is another.
func (f *tofu) problems(t *testing.T) []string {
	t.Helper()
	out, _ := f.run(t, "validate", "-json") // the answer has the error
	var result struct {
		Valid       bool `json:"valid"`
		Diagnostics []struct {
			Severity string `json:"severity"`
			Summary  string `json:"summary"`
			Detail   string `json:"detail"`
		} `json:"diagnostics"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &result), out)
	var problems []string
	for _, d := range result.Diagnostics {
		if d.Summary != "Provider development overrides are in effect" {
			problems = append(problems, d.Severity+": "+d.Summary+": "+d.Detail)
		}
	}
	require.Equal(t, len(problems) == 0, result.Valid)
	return problems
}

// managed is a resource that was applied.
type managed struct {
	Mode   string         `json:"mode"`
	Type   string         `json:"type"`
	Name   string         `json:"name"`
	Index  any            `json:"index"`
	Values map[string]any `json:"values"`
}

func (f *tofu) applied(t *testing.T) []managed {
	t.Helper()
	out, err := f.run(t, "show", "-json")
	require.NoError(t, err, out)
	var state struct {
		Values struct {
			RootModule struct {
				Resources []managed `json:"resources"`
			} `json:"root_module"`
		} `json:"values"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &state))
	return state.Values.RootModule.Resources
}

func of(applied []managed, typeName string) []managed {
	return slices.DeleteFunc(slices.Clone(applied), func(m managed) bool { return m.Type != typeName })
}

// requireStateMachine wants the definition of the sample with the values of what
// was made, and logs and traces.
func requireStateMachine(t *testing.T, applied []managed, sample string) {
	t.Helper()
	machines := of(applied, "aws_sfn_state_machine")
	require.Len(t, machines, 1)
	values := map[string]string{"TableArn": tableARN, "ExportBucket": exportBucket}
	for _, f := range of(applied, "aws_lambda_function") {
		values[map[any]string{"runjob": "RunJob", "checkstatus": "CheckStatus"}[f.Index]], _ = f.Values["arn"].(string)
	}
	machine := machines[0].Values
	definition, _ := machine["definition"].(string)
	require.Equal(t, string(asl.Substitute([]byte(readSample(t, sample, "export.asl.json")), values)), definition)
	require.Empty(t, placeholders(definition))
	require.Empty(t, asl.Validate([]byte(definition), asl.Standard))
	require.Equal(t, "STANDARD", machine["type"])
	logs := of(applied, "aws_cloudwatch_log_group")
	i := slices.IndexFunc(logs, func(m managed) bool { return m.Name == "export" })
	require.GreaterOrEqual(t, i, 0)
	require.Equal(t, []any{map[string]any{"level": "ERROR", "include_execution_data": false, "log_destination": logs[i].Values["arn"].(string) + ":*"}}, //nolint:forcetypeassert // the type is the schema's
		machine["logging_configuration"])
	require.Equal(t, []any{map[string]any{"enabled": true}}, machine["tracing_configuration"])
}

// document is a policy.
type document struct {
	Statement []struct {
		Effect   string `json:"Effect"`
		Action   any    `json:"Action"`
		Resource any    `json:"Resource"`
	} `json:"Statement"`
}

// allowed are the actions of a policy, each with how many resources it has, or
// with an asterisk if it has all.
func allowed(t *testing.T, policy any) []string {
	t.Helper()
	text, isText := policy.(string)
	if !isText {
		text = string(must(json.Marshal(policy)))
	}
	var d document
	require.NoError(t, json.Unmarshal([]byte(text), &d), text)
	list := func(v any) []any {
		if many, ok := v.([]any); ok {
			return many
		}
		return []any{v}
	}
	var actions []string
	for _, s := range d.Statement {
		require.Equal(t, "Allow", s.Effect)
		on := fmt.Sprintf(" on %d", len(list(s.Resource)))
		if s.Resource == "*" {
			on = " on all"
		}
		for _, action := range list(s.Action) {
			require.NotContains(t, action, "*")
			actions = append(actions, fmt.Sprint(action)+on)
		}
	}
	return actions
}

// samPolicies and terraformPolicies are what each role may do. The roles have the
// names of the SAM templates.
func samPolicies(t *testing.T, template map[string]resource) map[string][]string {
	t.Helper()
	roles := map[string][]string{}
	for name, r := range template {
		policies, _ := r.Properties["Policies"].([]any)
		for _, p := range policies {
			roles[name] = append(roles[name], allowed(t, p.(map[string]any)["PolicyDocument"])...) //nolint:forcetypeassert // the templates are valid
		}
		slices.Sort(roles[name])
	}
	maps.DeleteFunc(roles, func(_ string, actions []string) bool { return len(actions) == 0 })
	return roles
}

func terraformPolicies(t *testing.T, applied []managed) map[string][]string {
	t.Helper()
	roles := map[string][]string{}
	for _, p := range of(applied, "aws_iam_role_policy") {
		name := "ExportRole"
		if p.Index != nil {
			name = map[any]string{"runjob": "RunJobRole", "checkstatus": "CheckStatusRole"}[p.Index]
		}
		roles[name] = append(roles[name], allowed(t, p.Values["policy"])...)
		slices.Sort(roles[name])
	}
	return roles
}

// samAlarms and terraformAlarms are the alarms as text, without their names.
func samAlarms(t *testing.T, template map[string]resource) []string {
	t.Helper()
	var alarms []string
	for _, r := range template {
		if r.Type != "AWS::CloudWatch::Alarm" {
			continue
		}
		p := r.Properties
		dimensions, _ := p["Dimensions"].([]any)
		require.Len(t, dimensions, 1)
		dimension, _ := dimensions[0].(map[string]any)
		actions, _ := p["AlarmActions"].([]any)
		alarms = append(alarms, fmt.Sprint(p["Namespace"], " ", p["MetricName"], " by ", dimension["Name"], ": ", p["Statistic"], " ", p["ComparisonOperator"], " ",
			p["Threshold"], " in ", p["EvaluationPeriods"], " times ", p["Period"], ", missing is ", p["TreatMissingData"], ", tells ", len(actions)))
	}
	slices.Sort(alarms)
	require.NotEmpty(t, alarms)
	return alarms
}

func terraformAlarms(t *testing.T, applied []managed) []string {
	t.Helper()
	var alarms []string
	for _, a := range of(applied, "aws_cloudwatch_metric_alarm") {
		v := a.Values
		dimensions, _ := v["dimensions"].(map[string]any)
		require.Len(t, dimensions, 1)
		actions, _ := v["alarm_actions"].([]any)
		alarms = append(alarms, fmt.Sprint(v["namespace"], " ", v["metric_name"], " by ", slices.Collect(maps.Keys(dimensions))[0], ": ", v["statistic"], " ", v["comparison_operator"], " ",
			v["threshold"], " in ", v["evaluation_periods"], " times ", v["period"], ", missing is ", v["treat_missing_data"], ", tells ", len(actions)))
	}
	slices.Sort(alarms)
	return alarms
}

func logGroups(t *testing.T, template map[string]resource) int {
	t.Helper()
	groups := 0
	for _, r := range template {
		if r.Type == "AWS::Logs::LogGroup" {
			groups++
		}
	}
	require.Positive(t, groups)
	return groups
}

// one is the value of the one resource of its type.
func one(t *testing.T, applied []managed, typeName string) map[string]any {
	t.Helper()
	found := of(applied, typeName)
	require.Len(t, found, 1, typeName)
	return found[0].Values
}

// requireBucket wants of the bucket what requireRecords wants of that of SAM.
func requireBucket(t *testing.T, applied []managed) {
	t.Helper()
	bucket := one(t, applied, "aws_s3_bucket")
	require.NotEqual(t, true, bucket["force_destroy"])
	for _, of := range []string{"public_access_block", "ownership_controls", "server_side_encryption_configuration", "lifecycle_configuration", "policy"} {
		require.Equal(t, bucket["id"], one(t, applied, "aws_s3_bucket_"+of)["bucket"])
	}
	access := one(t, applied, "aws_s3_bucket_public_access_block")
	for _, setting := range []string{"block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets"} {
		require.Equal(t, true, access[setting], setting)
	}
	ownership := one(t, applied, "aws_s3_bucket_ownership_controls")
	require.Equal(t, []any{map[string]any{"object_ownership": "BucketOwnerEnforced"}}, ownership["rule"])
	encryption, err := json.Marshal(one(t, applied, "aws_s3_bucket_server_side_encryption_configuration")["rule"])
	require.NoError(t, err)
	require.Contains(t, string(encryption), `"sse_algorithm":"AES256"`)
	var rules []struct {
		Status     string `json:"status"`
		Expiration []struct {
			Days int `json:"days"`
		} `json:"expiration"`
	}
	lifecycle, err := json.Marshal(one(t, applied, "aws_s3_bucket_lifecycle_configuration")["rule"])
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(lifecycle, &rules))
	require.Equal(t, "Enabled", rules[0].Status)
	require.Equal(t, retentionDays, rules[0].Expiration[0].Days)
	arn, _ := bucket["arn"].(string)
	policy, _ := one(t, applied, "aws_s3_bucket_policy")["policy"].(string)
	require.JSONEq(t, `{"Version": "2012-10-17", "Statement": [{
		"Sid": "OnlyTLS", "Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": ["`+arn+`", "`+arn+`/*"],
		"Condition": {"Bool": {"aws:SecureTransport": "false"}}}]}`, policy)
}

// requireFunctions wants the functions to be those of SAM.
func requireFunctions(t *testing.T, applied []managed, template map[string]resource) {
	t.Helper()
	bucket := one(t, applied, "aws_s3_bucket")
	functions := of(applied, "aws_lambda_function")
	require.Len(t, functions, 2)
	for _, f := range functions {
		twin := template[map[any]string{"runjob": "RunJob", "checkstatus": "CheckStatus"}[f.Index]].Properties
		require.NotNil(t, twin)
		for here, there := range map[string]string{"runtime": "Runtime", "handler": "Handler", "architectures": "Architectures", "memory_size": "MemorySize", "timeout": "Timeout"} {
			require.Equal(t, twin[there], f.Values[here], here)
		}
		require.Equal(t, "./dist/"+fmt.Sprint(f.Index)+"-arm64.zip", f.Values["filename"], "what make lambdas writes")
		require.Equal(t, []any{map[string]any{"variables": map[string]any{
			"JOBPOLLER_BUCKET": bucket["id"], "JOBPOLLER_JOBS": "dynamodb:ExportTableToPointInTime", "JOBPOLLER_RETENTION_DAYS": "60",
		}}}, f.Values["environment"])
		require.Equal(t, []any{map[string]any{"mode": "Active"}}, f.Values["tracing_config"])
	}
}

// What is wrong is found, by the schema or by what OpenTofu computes.
func TestTerraformProblemsAreFound(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, sample, old, changed, want string }{
		{"attribute", "terraform", "tracing_configuration {\n    enabled", "tracing_configuration {\n    active", `An argument named "active" is not expected here`},
		{"block", "terraform", "logging_configuration {", "logging_config {", `Blocks of type "logging_config" are not expected here`},
		{"required attribute", "terraform", "  role_arn = aws_iam_role.export.arn\n", "", `The argument "role_arn" is required`},
		{"computed attribute", "terraform", "  type     = \"STANDARD\"\n", "  arn = \"arn:1\"\n", `Value for unconfigurable attribute`},
		{"reference", "terraform", "= aws_iam_role.export.arn", "= aws_iam_role.export.amazon", `This object has no argument, nested block, or exported attribute named "amazon"`},
		{"type", "terraform", "retention_in_days = 30", "retention_in_days = \"thirty\"", "a number is required"},
		{"second block", "terraform", "tracing_configuration {", "tracing_configuration {\n}\ntracing_configuration {", `No more than 1 "tracing_configuration" blocks are allowed`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, strings.Join(newTofu(t, tt.sample, tt.old, tt.changed).problems(t), "\n"), tt.want)
		})
	}
	for _, tt := range []struct{ name, old, changed, want string }{
		{"action without a resource", "    \"s3:PutObjectAcl\"                   = local.exported\n", "", "The given key does not identify an element"},
		{"placeholder without a value", "    ExportBucket = var.export_bucket\n", "", "ExportBucket"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, err := newTofu(t, "terraform", tt.old, tt.changed).run(t, "plan", "-input=false", "-no-color")
			require.Error(t, err)
			require.Contains(t, strings.Join(strings.Fields(out), " "), tt.want)
		})
	}
}
