package external_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/npm"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

const root = "../.."

// templateOf is the file of the template in a folder that the app is synthesized to.
func templateOf(folder string) string { return filepath.Join(folder, "JobPoller.template.json") }

// cdk returns the command that the package-lock.json of the module has.
func cdk(t *testing.T) string {
	t.Helper()
	files := npm.Files{}
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		files[name] = text
	}
	folder, err := npm.Install(t.Context(), "cdk", files)
	require.NoError(t, err)
	return filepath.Join(folder, "node_modules", ".bin", "cdk")
}

// synthShipped is synth for the app of the module, with all definitions and this store.
func synthShipped(t *testing.T, module, store, out string) {
	t.Helper()
	synth(t, module, out,
		"-c", "jobs=all", "-c", "dashboard=true", "-c", "store="+store,
		"-c", "rds-snapshot-export:iam:PassRole=arn:aws:iam::123456789012:role/export",
		"-c", "comprehend-entities:iam:PassRole=arn:aws:iam::123456789012:role/comprehend",
		"-c", "bedrock-model-invocation:iam:PassRole=arn:aws:iam::123456789012:role/batch",
		"-c", "cloudformation-stack:iam:PassRole=arn:aws:iam::123456789012:role/deploy")
}

// synth runs cdk synth in a copy of the module, without credentials, into a folder.
func synth(t *testing.T, module, out string, arguments ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), cdk(t), append([]string{"synth", "--quiet", "--no-notices", "--no-lookups", "--output", out}, arguments...)...)
	command.Dir = module
	// No credentials, no region, no configuration.
	command.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "AWS_") || strings.HasPrefix(v, "CDK_") }),
		"AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull, "AWS_EC2_METADATA_DISABLED=true",
		"CDK_DISABLE_CLI_TELEMETRY=true", "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=20")
	text, err := command.CombinedOutput()
	require.NoError(t, err, "%s", text)
}

// notCopied are the folders that are made of what is in the others.
var notCopied = []string{"node_modules", "cdk.out", "dist", "bin"}

// copyModule copies the module to another folder, whose path is longer.
func copyModule(t *testing.T) string {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "another", "place")
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (slices.Contains(notCopied, name) || strings.HasPrefix(name, ".") && name != ".."):
			return fs.SkipDir
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(copied, relative), 0o750)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(copied, relative), text, 0o600)
	}))
	return copied
}

// assets are the hashes of the Lambda functions' packages, by what they are.
func assets(t *testing.T, folder string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "JobPoller.assets.json"))
	require.NoError(t, err)
	var manifest struct {
		Files map[string]struct {
			DisplayName string `json:"displayName"`
			Source      struct {
				Path string `json:"path"`
			} `json:"source"`
		} `json:"files"`
	}
	require.NoError(t, json.Unmarshal(text, &manifest))
	hashes := map[string]string{}
	for hash, file := range manifest.Files {
		if strings.HasSuffix(file.Source.Path, ".zip") {
			require.FileExists(t, filepath.Join(folder, file.Source.Path))
			hashes[file.DisplayName] = hash
		}
	}
	return hashes
}

// finding is what a program says of a template.
type finding struct {
	File     string `json:"file"`
	Tool     string `json:"tool"`
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Resource string `json:"resource"` // its logical ID
	Message  string `json:"message"`
}

func (f finding) String() string {
	return filepath.Base(filepath.Dir(f.File)) + ": " + f.Tool + " " + f.Rule + " (" + f.Severity + ") of " + f.Resource + ": " + f.Message
}

var tools = []string{"cdk-nag", "cloudformation-validate"}

// find checks templates.
func find(t *testing.T, templates ...string) []finding {
	t.Helper()
	node := exec.CommandContext(t.Context(), "node", append([]string{filepath.Join(validatorFolder(t), "templates.js")}, templates...)...)
	node.Env = append(os.Environ(), "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=20")
	var errs bytes.Buffer
	node.Stderr = &errs
	out, err := node.Output()
	require.NoError(t, err, "%s", &errs)
	var all []finding
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var found finding
		err := decoder.Decode(&found)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, found)
	}
}

// suppression is a finding that is none, and why.
type suppression struct {
	Tool     string `json:"tool"`
	Rule     string `json:"rule"`
	Resource string `json:"resource"` // an expression for its logical ID without the hash
	Reason   string `json:"reason"`

	resource *regexp.Regexp
}

func (s suppression) suppresses(f finding) bool {
	return s.Tool == f.Tool && s.Rule == f.Rule && s.resource.MatchString(f.Resource)
}

func suppressions(t *testing.T) []suppression {
	t.Helper()
	text, err := os.ReadFile("suppressions.json")
	require.NoError(t, err)
	var all []suppression
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&all))
	for i := range all {
		require.Contains(t, tools, all[i].Tool)
		require.Greater(t, len(all[i].Reason), 20, "%s: say why", all[i].Rule)
		all[i].resource = regexp.MustCompile("^(?:" + all[i].Resource + ")[0-9A-F]{8}$")
	}
	return all
}

// The app is synthesized by the real command without credentials, the packages of
// the functions are the same wherever they are built, and nobody finds anything wrong
// in the templates but what suppressions.json has.
func TestTemplatesOfTheApp(t *testing.T) { //nolint:tparallel // the templates are checked when both are there
	t.Parallel()
	synthesized := map[string]string{"bucket": t.TempDir(), "table": t.TempDir(), "signals": t.TempDir()}
	t.Run("synth", func(t *testing.T) {
		for store, module := range map[string]func(*testing.T) string{
			"bucket": func(*testing.T) string { return root },
			"table":  copyModule,
		} {
			t.Run(store, func(t *testing.T) {
				t.Parallel()
				synthShipped(t, module(t), store, synthesized[store])
			})
		}
		t.Run("signals", func(t *testing.T) {
			t.Parallel()
			synth(t, root, synthesized["signals"], "--app", "go run ./tests/cdk/signals")
		})
	})
	hashes := assets(t, synthesized["bucket"])
	require.Len(t, hashes, 2)
	require.Equal(t, hashes, assets(t, synthesized["table"]))
	say("suite external: cdk synth in two folders, packages of the Lambda functions with equal hashes")

	require.Len(t, assets(t, synthesized["signals"]), 3)

	templates := []string{templateOf(synthesized["bucket"]), templateOf(synthesized["table"]), templateOf(synthesized["signals"])}
	suppressed := suppressions(t)
	of := make([]int, len(suppressed))
	var wrong []string
	for _, found := range find(t, templates...) {
		i := slices.IndexFunc(suppressed, func(s suppression) bool { return s.suppresses(found) })
		switch {
		case i >= 0:
			of[i]++
		case found.Severity != "INFO":
			wrong = append(wrong, found.String())
		}
	}
	require.Empty(t, wrong)
	for i, s := range suppressed {
		require.Positive(t, of[i], "%s %s of %s is found no more: remove it from suppressions.json", s.Tool, s.Rule, s.Resource)
		say("  suppressed %d of %s %s: %s", of[i], s.Tool, s.Rule, s.Reason)
	}
	say("suite external: %s find nothing else in %d templates", strings.Join(tools, " and "), len(templates))
	checkDefinitions(t, templates)
}

// checkDefinitions validates the definitions in templates.
func checkDefinitions(t *testing.T, templates []string) {
	t.Helper()
	found, err := source.Load(t.Context(), templates, source.Options{Values: map[string]string{"Partition": "aws"}})
	require.NoError(t, err)
	definitions := make([]definition, len(found))
	for i, d := range found {
		require.Empty(t, d.Problems, d.Name)
		definitions[i] = definition{d.Name, string(d.Text)}
	}
	for _, result := range check(t, definitions) {
		for _, validator := range validators {
			require.Empty(t, result.Problems[validator], "%s: %s", validator, result.Name)
		}
	}
	say("suite external: %s passed %d definitions in %d templates", strings.Join(validators, " and "), len(definitions), len(templates))
}

// Both programs find what is wrong: without that, that they find nothing would mean
// nothing.
func TestToolsFindProblems(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "wrong.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"Resources": {
		"Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"BucketNam": "x"}},
		"Policy": {"Type": "AWS::IAM::Policy", "Properties": {"PolicyName": "p", "Users": ["u"],
			"PolicyDocument": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}}}
	}}`), 0o600))
	rules := map[string][]string{}
	for _, found := range find(t, file) {
		require.Equal(t, file, found.File)
		if found.Severity != "INFO" {
			rules[found.Tool] = append(rules[found.Tool], found.Rule+" "+found.Resource)
		}
	}
	require.Contains(t, rules["cdk-nag"], "AwsSolutions-S1 Bucket")
	require.Contains(t, rules["cdk-nag"], "AwsSolutions-IAM5[Action::s3:*] Policy")
	require.NotEmpty(t, rules["cloudformation-validate"])
}
