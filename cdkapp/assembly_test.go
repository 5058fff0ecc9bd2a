//go:build e2e

package cdkapp_test

import (
	"archive/zip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/stretchr/testify/require"
)

// assembly is what the CDK's command deploys: the template of a stack, and its
// assets.
type assembly struct {
	template

	assets map[string]string // their files, by the key that they get in the bucket for assets
}

// assemble synthesizes the stack that build fills, and reads what was written.
func assemble(t *testing.T, build func(stack awscdk.Stack)) assembly {
	t.Helper()
	var folder string
	inStack(t, func(stack awscdk.Stack) {
		build(stack)
		folder = *awscdk.App_Of(stack).Synth(nil).Directory()
	})
	var manifest struct {
		Artifacts map[string]struct {
			Type       string `json:"type"`
			Properties struct {
				TemplateFile string `json:"templateFile"`
				File         string `json:"file"`
			} `json:"properties"`
		} `json:"artifacts"`
	}
	readJSON(t, filepath.Join(folder, "manifest.json"), &manifest)
	require.Equal(t, "aws:cloudformation:stack", manifest.Artifacts["Stack"].Type)
	require.Equal(t, "cdk:asset-manifest", manifest.Artifacts["Stack.assets"].Type)
	a := assembly{assets: map[string]string{}}
	readJSON(t, filepath.Join(folder, manifest.Artifacts["Stack"].Properties.TemplateFile), &a.template)

	var assets struct {
		Files map[string]struct {
			Source struct {
				Path      string `json:"path"`
				Packaging string `json:"packaging"`
			} `json:"source"`
			Destinations map[string]struct {
				ObjectKey string `json:"objectKey"`
			} `json:"destinations"`
		} `json:"files"`
	}
	readJSON(t, filepath.Join(folder, manifest.Artifacts["Stack.assets"].Properties.File), &assets)
	for _, file := range assets.Files {
		for _, destination := range file.Destinations {
			require.Equal(t, "file", file.Source.Packaging) // as it is
			a.assets[destination.ObjectKey] = filepath.Join(folder, file.Source.Path)
		}
	}
	return a
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

// executable unpacks the package of a function, and returns its handler.
func (a assembly) executable(t *testing.T, function resource) string {
	t.Helper()
	key := function.properties["Code"].(map[string]any)["S3Key"].(string)
	archive, err := zip.OpenReader(a.assets[key])
	require.NoError(t, err)
	defer archive.Close()
	require.Len(t, archive.File, 1)
	packed := archive.File[0]
	require.Equal(t, function.properties["Handler"], packed.Name)
	content, err := packed.Open()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), packed.Name)
	unpacked, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, packed.Mode())
	require.NoError(t, err)
	_, err = io.Copy(unpacked, content)
	require.NoError(t, err)
	require.NoError(t, unpacked.Close())
	return path
}

// reference is what resolve leaves of a resource that is referred to.
var reference = regexp.MustCompile(`\{(\w+)(\.Arn)?\}`)

// physical puts names and ARNs in the place of the references of a text.
func (a assembly) physical(t *testing.T, text string) string {
	t.Helper()
	resources := a.template["Resources"].(map[string]any)
	return reference.ReplaceAllStringFunc(text, func(found string) string {
		parts := reference.FindStringSubmatch(found)
		r, ok := resources[parts[1]].(map[string]any)
		if !ok {
			return found // an expression of a definition
		}
		name, arn := parts[1], "arn:aws:"
		switch r["Type"] {
		case "AWS::S3::Bucket":
			name = strings.ToLower(name)
			arn += "s3:::" + name
		case "AWS::Lambda::Function":
			arn += "lambda:us-east-1:123456789012:function:" + name
		case "AWS::Lambda::Version":
			return a.physical(t, resolve(t, map[string]any{"Fn::GetAtt": []any{
				r["Properties"].(map[string]any)["FunctionName"].(map[string]any)["Ref"], "Arn",
			}}).(string)) + ":1"
		case "AWS::DynamoDB::Table":
			arn += "dynamodb:" + account + ":table/" + name
		case "AWS::SQS::Queue":
			arn += "sqs:" + account + ":" + name
			name = "https://sqs.us-east-1.amazonaws.com/123456789012/" + name
		case "AWS::StepFunctions::StateMachine":
			arn += "states:" + account + ":stateMachine:" + name
			name = arn
		case "AWS::Logs::LogGroup":
			arn += "logs:us-east-1:123456789012:log-group:" + name + ":*"
		default:
			require.Fail(t, "the test does not know the ARN of a "+r["Type"].(string))
		}
		if parts[2] != "" {
			return arn
		}
		return name
	})
}

// roleOfResource is the logical ID of the role that a function or a state machine
// has.
func roleOfResource(t *testing.T, r resource) string {
	t.Helper()
	role := r.properties["Role"]
	if role == nil {
		role = r.properties["RoleArn"]
	}
	return strings.TrimSuffix(strings.TrimPrefix(resolve(t, role).(string), "{"), ".Arn}")
}
