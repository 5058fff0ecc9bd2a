package source

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// tool makes state machines out of programs.
type tool struct {
	words []string // of such a program
	what  string   // the program is
	do    string   // so that the definitions are there
}

// tools are those first whose words are the surest.
var tools = []tool{
	{[]string{"aws-cdk-lib", "aws_cdk", "awscdk", "@aws-cdk/", "software.amazon.awscdk"}, "an app of the CDK", "Run cdk synth, then jobpoller lint cdk.out"},
	{[]string{"@pulumi/", "pulumi_aws", "pulumi/pulumi"}, "a program of Pulumi", "Run pulumi preview --json > preview.json, then jobpoller lint preview.json"},
	{
		[]string{"@serverless/typescript", "frameworkVersion", serverlessPlugin},
		"a configuration of the Serverless Framework",
		"Run serverless package, then jobpoller lint .serverless/cloudformation-template-update-stack.json",
	},
	{[]string{"sst.config", "$config("}, "a program of SST", "Deploy it, then pass the answer of aws stepfunctions describe-state-machine"},
	{[]string{"CfnDsl", "CloudFormation do"}, "a program of cfndsl", "Run cfndsl %s | jobpoller lint -"},
	{[]string{"troposphere"}, "a program of Troposphere", "Run python %s | jobpoller lint -"},
}

// runtime is a language of programs, and the command that runs a file.
type runtime struct{ language, run string }

var runtimes = map[string]runtime{
	".py": {"Python", "python %s"}, ".rb": {"Ruby", "ruby %s"}, ".go": {"Go", "go run %s"}, ".sh": {"shell", "sh %s"}, ".php": {"PHP", "php %s"},
	".ts": {"TypeScript", "npx tsx %s"}, ".mts": {"TypeScript", "npx tsx %s"}, ".cts": {"TypeScript", "npx tsx %s"},
	".js": {"JavaScript", "node %s"}, ".mjs": {"JavaScript", "node %s"}, ".cjs": {"JavaScript", "node %s"},
	".java": {"Java", "java %s"}, ".kts": {"Kotlin", "kotlin %s"}, ".cs": {"C#", "dotnet run"},
}

// program refuses a program that the user names; nil for another file.
func (l *loader) program(f *file) *Definition {
	r, ok := runtimes[path.Ext(f.name)]
	if !ok || startsAsJSON(f.bytes) {
		return nil
	}
	made := tool{what: "a program", do: "Let it print the definition as JSON, and run " + r.run + " | jobpoller lint -"}
	for _, t := range tools {
		if slices.ContainsFunc(t.words, func(word string) bool { return bytes.Contains(f.bytes, []byte(word)) }) {
			made = t
			break
		}
	}
	at := max(0, bytes.Index(f.bytes, []byte("StartAt")))
	return refuse(f, at, "this file is "+made.what+" in "+r.language+", so its machines are not read. "+strings.ReplaceAll(made.do, "%s", nameInCommand(f)))
}
