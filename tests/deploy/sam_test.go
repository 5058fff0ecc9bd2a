package deploy_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/npm"
	"github.com/jobpoller/jobpoller/internal/pypi"
)

var samSamples = []string{"sam", "sam-lambda"}

// readSample is a file of a sample, with a change.
func readSample(t *testing.T, sample, name string, change ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(examples, sample, name))
	require.NoError(t, err)
	for i := 0; i < len(change); i += 2 {
		require.Contains(t, string(text), change[i], "%s/%s", sample, name)
		text = bytes.Replace(text, []byte(change[i]), []byte(change[i+1]), 1)
	}
	return string(text)
}

// samTemplate is a copy of a template in a folder with what belongs to it.
func samTemplate(t *testing.T, sample string, change ...string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"template.yaml":   readSample(t, sample, "template.yaml", change...),
		"export.asl.json": readSample(t, sample, "export.asl.json"),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	return filepath.Join(folder, "template.yaml")
}

func pythonCommand(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	packages, err := pypi.Install(t.Context(), "requirements.txt")
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), pypi.Python(), arguments...)
	command.Env = append(os.Environ(), "PYTHONPATH="+packages, "AWS_DEFAULT_REGION=us-east-1")
	return command
}

// transformed is the CloudFormation template that AWS makes of a SAM template, and
// its file.
func transformed(t *testing.T, template string) (resources map[string]resource, file string, err error) {
	t.Helper()
	command := pythonCommand(t, "transform.py", template)
	var errs bytes.Buffer
	command.Stderr = &errs
	out, err := command.Output()
	if err != nil {
		return nil, "", errors.New(errs.String())
	}
	file = filepath.Join(filepath.Dir(template), "transformed.json")
	require.NoError(t, os.WriteFile(file, out, 0o600))
	var result struct {
		Resources map[string]resource `json:"Resources"`
	}
	require.NoError(t, json.Unmarshal(out, &result))
	return result.Resources, file, nil
}

// resource is one of a CloudFormation template.
type resource struct {
	Type           string         `json:"Type"`
	DeletionPolicy string         `json:"DeletionPolicy"`
	Properties     map[string]any `json:"Properties"`
}

// cfnLint is what cfn-lint finds in templates, by their files.
func cfnLint(t *testing.T, templates ...string) map[string][]string {
	t.Helper()
	command := pythonCommand(t, append([]string{"-c", "import sys; from cfnlint.runner import main; sys.exit(main())", "--format", "json", "--"}, templates...)...)
	var errs bytes.Buffer
	command.Stderr = &errs
	out, err := command.Output()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	var found []struct {
		Filename string `json:"Filename"`
		Message  string `json:"Message"`
		Rule     struct {
			ID string `json:"Id"`
		} `json:"Rule"`
	}
	require.NoError(t, json.Unmarshal(out, &found), "%s%s", out, &errs)
	require.Equal(t, len(found) > 0, err != nil, "%s", &errs)
	problems := map[string][]string{}
	for _, f := range found {
		problems[f.Filename] = append(problems[f.Filename], f.Rule.ID+": "+f.Message)
	}
	return problems
}

// ignored are remarks of CloudFormation Validate, with the reason.
var ignored = map[string]string{
	"I9001": "a log group is replaced when it is renamed: so it is, and loses nothing of use",
	"I9040": "resources could have tags: which, the user knows",
}

// cloudFormationValidate is what AWS's validator finds.
func cloudFormationValidate(t *testing.T, templates ...string) map[string][]string {
	t.Helper()
	files := npm.Files{}
	for _, name := range []string{"package.json", "package-lock.json", "validate.js"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		files[name] = text
	}
	folder, err := npm.Install(t.Context(), "deploy", files)
	require.NoError(t, err)
	out, err := exec.CommandContext(t.Context(), "node", append([]string{filepath.Join(folder, "validate.js")}, templates...)...).Output()
	require.NoError(t, err)
	problems := map[string][]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var found struct {
			File    string `json:"file"`
			Rule    string `json:"rule"`
			Message string `json:"message"`
		}
		err := decoder.Decode(&found)
		if errors.Is(err, io.EOF) {
			return problems
		}
		require.NoError(t, err)
		if ignored[found.Rule] == "" {
			problems[found.File] = append(problems[found.File], found.Rule+": "+found.Message)
		}
	}
}

// The templates become CloudFormation templates, in which and in themselves nobody
// finds anything wrong.
func TestSAMTemplates(t *testing.T) {
	t.Parallel()
	var files []string
	for _, sample := range samSamples {
		template := samTemplate(t, sample)
		resources, file, err := transformed(t, template)
		require.NoError(t, err)
		files = append(files, template, file)
		requireMachine(t, resources, sample)
		if sample == "sam-lambda" {
			requireRecords(t, resources)
		}
	}
	require.Empty(t, cfnLint(t, files...))
	require.Empty(t, cloudFormationValidate(t, files...))
	say("suite deploy: the SAM translator, cfn-lint and CloudFormation Validate passed %d of %d templates", len(samSamples), len(samSamples))
}

// requireMachine wants the state machine to log and to trace, and a value for each
// placeholder of its definition.
func requireMachine(t *testing.T, resources map[string]resource, sample string) {
	t.Helper()
	machine := resources["Export"]
	require.Equal(t, "AWS::StepFunctions::StateMachine", machine.Type)
	p := machine.Properties
	require.Equal(t, "STANDARD", p["StateMachineType"])
	require.Equal(t, map[string]any{"Enabled": true}, p["TracingConfiguration"])
	logging, _ := p["LoggingConfiguration"].(map[string]any)
	require.Equal(t, "ERROR", logging["Level"])
	require.Equal(t, false, logging["IncludeExecutionData"])
	substitutions, _ := p["DefinitionSubstitutions"].(map[string]any)
	given := slices.Sorted(maps.Keys(substitutions))
	require.Equal(t, placeholders(readSample(t, sample, "export.asl.json")), given)
}

// placeholders are the names of those in a definition.
func placeholders(definition string) []string {
	names := map[string]bool{}
	for _, found := range regexp.MustCompile(`\$\{(\w+)\}`).FindAllStringSubmatch(definition, -1) {
		names[found[1]] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// requireRecords wants the bucket of the start records private, encrypted, for TLS
// alone, and emptied when the functions think that it is.
func requireRecords(t *testing.T, resources map[string]resource) {
	t.Helper()
	bucket := resources["Records"]
	require.Equal(t, "Retain", bucket.DeletionPolicy)
	text, err := json.Marshal(bucket.Properties)
	require.NoError(t, err)
	var p struct {
		PublicAccessBlockConfiguration map[string]bool `json:"PublicAccessBlockConfiguration"`
		BucketEncryption               struct {
			ServerSideEncryptionConfiguration []struct {
				ServerSideEncryptionByDefault struct {
					SSEAlgorithm string `json:"SSEAlgorithm"`
				} `json:"ServerSideEncryptionByDefault"`
			} `json:"ServerSideEncryptionConfiguration"`
		} `json:"BucketEncryption"`
		LifecycleConfiguration struct {
			Rules []struct {
				Status           string `json:"Status"`
				ExpirationInDays int    `json:"ExpirationInDays"`
			} `json:"Rules"`
		} `json:"LifecycleConfiguration"`
	}
	require.NoError(t, json.Unmarshal(text, &p))
	require.Equal(t, map[string]bool{"BlockPublicAcls": true, "BlockPublicPolicy": true, "IgnorePublicAcls": true, "RestrictPublicBuckets": true}, p.PublicAccessBlockConfiguration)
	require.Equal(t, "AES256", p.BucketEncryption.ServerSideEncryptionConfiguration[0].ServerSideEncryptionByDefault.SSEAlgorithm)
	require.Equal(t, "Enabled", p.LifecycleConfiguration.Rules[0].Status)
	require.Equal(t, retentionDays, p.LifecycleConfiguration.Rules[0].ExpirationInDays)
	policy, err := json.Marshal(resources["RecordsPolicy"].Properties)
	require.NoError(t, err)
	require.JSONEq(t, `{"Bucket": {"Ref": "Records"}, "PolicyDocument": {"Version": "2012-10-17", "Statement": [{
		"Sid": "OnlyTLS", "Effect": "Deny", "Principal": "*", "Action": "s3:*",
		"Resource": [{"Fn::GetAtt": ["Records", "Arn"]}, {"Fn::Sub": "${Records.Arn}/*"}],
		"Condition": {"Bool": {"aws:SecureTransport": "false"}}}]}}`, string(policy))
	for _, name := range []string{"RunJob", "CheckStatus"} {
		f := resources[name].Properties
		require.Equal(t, map[string]any{"Variables": map[string]any{
			"JOBPOLLER_BUCKET": map[string]any{"Ref": "Records"}, "JOBPOLLER_JOBS": "dynamodb:ExportTableToPointInTime", "JOBPOLLER_RETENTION_DAYS": "60",
		}}, f["Environment"])
		require.Equal(t, []any{"arm64"}, f["Architectures"])
		require.Equal(t, map[string]any{"Mode": "Active"}, f["TracingConfig"])
		code, _ := f["Code"].(map[string]any)
		require.Equal(t, "dist/"+strings.ToLower(name)+"-arm64.zip", code["S3Key"], "what make lambdas writes")
	}
}

const retentionDays = 60

// Whoever finds nothing wrong above finds what is wrong here, in one of the two forms:
// cfn-lint finds references to nothing in CloudFormation's alone.
func TestSAMProblemsAreFound(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, sample, old, changed string
		lintAlone                  bool // CloudFormation Validate does not find it
	}{
		{"property that SAM does not have", "sam", "DefinitionSubstitutions:", "DefinitionSubstitution:", true},
		{"property that CloudFormation does not have", "sam", "MetricName:", "Metric:", false},
		{"resource that there is not", "sam", "!GetAtt ExportLogs.Arn", "!GetAtt ExportLog.Arn", false},
		{"value out of the enum", "sam", "ComparisonOperator: GreaterThanOrEqualToThreshold", "ComparisonOperator: AtLeast", false},
		{"number", "sam-lambda", "ExpirationInDays: 60", "ExpirationInDays: sixty", false},
		{"policy", "sam-lambda", "Effect: Deny", "Effect: Refuse", true},
	}
	forms := make([][]string, len(tests))
	for i, tt := range tests {
		template := samTemplate(t, tt.sample, tt.old, tt.changed)
		forms[i] = []string{template}
		if _, file, err := transformed(t, template); err == nil {
			forms[i] = append(forms[i], file)
		}
	}
	all := slices.Concat(forms...)
	lint, validate := cfnLint(t, all...), cloudFormationValidate(t, all...)
	for i, tt := range tests {
		in := func(found map[string][]string) (problems []string) {
			for _, form := range forms[i] {
				problems = append(problems, found[form]...)
			}
			return problems
		}
		require.NotEmpty(t, in(lint), "cfn-lint: %s", tt.name)
		if !tt.lintAlone {
			require.NotEmpty(t, in(validate), "CloudFormation Validate: %s", tt.name)
		}
	}
	_, _, err := transformed(t, samTemplate(t, "sam", "DefinitionUri:", "DefinitionUrl:"))
	require.ErrorContains(t, err, "DefinitionUr")
}

// say prints a line of the result.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stdout, format+"\n", args...)
}
