package source

import (
	"bytes"
	"path"
	"strings"
)

// program is a program that makes state machines: a tool by the words of its source, and
// how its definitions come out of it.
type program struct{ words, print string }

// programs are the tools, those first whose words are the surest.
var programs = []program{
	{"aws-cdk-lib|aws_cdk|awscdk|@aws-cdk/|software.amazon.awscdk", "an app of the CDK, so its machines are not read. Run cdk synth, then jobpoller lint cdk.out"},
	{"@pulumi/|pulumi_aws|pulumi.", "a program of Pulumi, so its machines are not read. Run pulumi preview --json > preview.json, then jobpoller lint preview.json"},
	{"@serverless/typescript|frameworkVersion|serverless-step-functions", "a configuration of the Serverless Framework, so its machines are not read. " +
		"Run serverless package, then jobpoller lint .serverless/cloudformation-template-update-stack.json"},
	{"sst.config|$config(", "a program of SST, so its machines are not read. Deploy it, then pass the answer of aws stepfunctions describe-state-machine"},
	{"CfnDsl|CloudFormation do", "a program of cfndsl, so its machines are not read. Run cfndsl %s | jobpoller lint -"},
	{"troposphere", "a program of Troposphere, so its machines are not read. Run python %s | jobpoller lint -"},
}

// runners run a program that prints a definition.
var runners = map[string]string{
	".py": "python %s", ".ts": "npx tsx %s", ".mts": "npx tsx %s", ".js": "node %s", ".mjs": "node %s", ".cjs": "node %s", ".go": "go run %s", ".rb": "ruby %s",
	".sh": "sh %s", ".java": "java %s", ".cs": "dotnet run", ".kts": "kotlin %s", ".php": "php %s",
}

// program refuses a program that the user names; nil for another file.
func (l *loader) program(f *file) *Definition {
	run, ok := runners[path.Ext(f.name)]
	if !ok || startsAsJSON(f.bytes) {
		return nil
	}
	at := max(0, bytes.Index(f.bytes, []byte("StartAt")))
	message := "a program, so its machines are not read. Let it print the definition as JSON, and run " + run + " | jobpoller lint -"
	for _, p := range programs {
		if hasAny(f.bytes, p.words) {
			message = p.print
			break
		}
	}
	return refuse(f, at, "this file is "+strings.ReplaceAll(message, "%s", nameInCommand(f)))
}

// hasAny tells whether a text has one of the words, which bars part.
func hasAny(text []byte, words string) bool {
	for word := range strings.SplitSeq(words, "|") {
		if bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	return false
}
