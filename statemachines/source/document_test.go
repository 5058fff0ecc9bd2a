package source_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

const (
	flowObject = `{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}`
	flowString = `"{\"StartAt\": \"A\", \"States\": {\"A\": {\"Type\": \"Succeed\"}}}"`
)

const flowTemplate = `{"Resources": {"M": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {"Definition": ` + flowObject + `}}}}`

// A state machine has the nearest name, and the type that its document says.
func TestDocuments(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, text string
		want             []string // names, types
		copied           bool
	}{
		{"DescribeStateMachine", "a.json", `{"stateMachineArn": "arn", "name": "nightly", "type": "EXPRESS", "definition": ` + flowString + `}`, []string{"a.json#nightly EXPRESS"}, true},
		{
			"an encrypted one that may be read", "a.json", `{"stateMachineArn": "arn", "name": "m", "creationDate": 1.5, "definition": ` + flowString + `, "encryptionConfiguration": {"kmsKeyId": "k"}}`,
			[]string{"a.json#m "},
			true,
		},
		{"the input of an update, with an object", "a.json", `{"stateMachineArn": "arn", "definition": ` + flowObject + `, "encryptionConfiguration": {"kmsKeyId": "k"}}`, []string{"a.json "}, false},
		{"answers in a row", "a.jsonl", `{"stateMachineArn": "arn", "name": "m", "definition": ` + flowString + "}\n" + `{"stateMachineArn": "arn", "name": "n", "definition": ` + flowString + "}\n", []string{"a.jsonl#m ", "a.jsonl#n "}, true},
		{
			"what --keep has written", "kept.jsonl", "{\"began\": \"2026-11-30T10:00:00Z\"}\n" + `{"stateMachineArn": "arn", "type": "EXPRESS", "definition": ` + flowString + "}\n" + `{"stateMachineArn": "arn2", "type": "EXPRESS", "definition": ` + flowString + "}\n{\"done\": true}\n",
			[]string{"kept.jsonl#1/definition EXPRESS", "kept.jsonl#2/definition EXPRESS"},
			true,
		},
		{"two answers", "a.json", `{"machines": [{"stateMachineArn": "arn", "name": "m", "definition": ` + flowString + `}, {"stateMachineArn": "arn", "name": "n", "definition": ` + flowString + `}]}`, []string{"a.json#m ", "a.json#n "}, true},
		{"a definition that is asked for alone", "a", flowString, []string{"a "}, true},
		{"a definition that is asked for alone, as JSON", "a.json", flowString + "\n", []string{"a.json "}, true},
		{"a template that is asked for alone", "a", quoted("Resources:\n  M: {Type: AWS::StepFunctions::StateMachine, Properties: {Definition: " + flowObject + "}}\n"), []string{"a#M "}, true},
		{"GetTemplate, as an object", "a.json", `{"TemplateBody": {"Resources": {"M": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {"Definition": ` + flowObject + `}}}}}`, []string{"a.json#M "}, true},
		{
			"GetTemplate, as JSON in a text", "a.json", `{"TemplateBody": "{\"Resources\": {\"M\": {\"Type\": \"AWS::StepFunctions::StateMachine\", \"Properties\": {\"Definition\": {\"StartAt\": \"A\", \"States\": {\"A\": {\"Type\": \"Succeed\"}}}}}}}"}`,
			[]string{"a.json#M "},
			true,
		},
		{"a bare fragment", "a.yml", "definition:\n  StartAt: A\n  States: {A: {Type: Succeed}}\n", []string{"a.yml "}, false},
		{"a key", "a.yml", "machines:\n  nightly: {type: STANDARD, definition: " + flowObject + "}\n", []string{"a.yml#nightly STANDARD"}, false},
		{"a key before a name with a variable", "a.yml", "nightly: {name: 'x-${Stage}', definition: " + flowObject + "}\n", []string{"a.yml#nightly "}, false},
		{"two of one name", "a.yml", "- {name: m, definition: " + flowObject + "}\n- {name: m, definition: " + flowObject + "}\n", []string{"a.yml#/0/definition ", "a.yml#/1/definition "}, false},
		{
			"several documents", "a.yaml", "kind: Role\n---\nmetadata: {name: m}\nspec: {definition: '" + flowObject + "'}\n---\n---\nmetadata: {name: n}\nspec: {forProvider: {definition: '" + flowObject + "'}}\n",
			[]string{"a.yaml#m ", "a.yaml#n "},
			false,
		},
		{"YAML in a text", "a.yaml", "metadata: {name: m}\nspec:\n  definition: |\n    StartAt: A\n    States:\n      A: {Type: Succeed}\n", []string{"a.yaml#m "}, false},
		{
			"two templates with one logical ID", "a.json", `[{"TemplateBody": ` + flowTemplate + `}, {"TemplateBody": ` + quoted(flowTemplate) + `}]`,
			[]string{"a.json#/0/TemplateBody/Resources/M ", "a.json#/1/TemplateBody/Resources/M "},
			true,
		},
		{
			"two templates in a text", "a.json", `{"TemplateBody": ` + quoted("Resources: &r {M: {Type: AWS::StepFunctions::StateMachine, Properties: {Definition: "+flowObject+"}}}\n---\nResources: {M: {Type: AWS::StepFunctions::StateMachine, Properties: {Definition: "+flowObject+"}}}\n") + `}`,
			[]string{"a.json#/TemplateBody/0/Resources/M ", "a.json#/TemplateBody/1/Resources/M "},
			true,
		},
		{
			"two stacks of a plan", "plan.json", `{"format_version": "1.2", "planned_values": {"root_module": {"resources": [{"address": "aws_cloudformation_stack.a", "type": "aws_cloudformation_stack", "values": {"template_body": ` + quoted(flowTemplate) + `}},
			{"address": "aws_cloudformation_stack.b", "type": "aws_cloudformation_stack", "values": {"template_body": ` + quoted(flowTemplate) + `}}]}}}`,
			[]string{"plan.json#/aws_cloudformation_stack.a/template_body/Resources/M ", "plan.json#/aws_cloudformation_stack.b/template_body/Resources/M "},
			true,
		},
		{
			"one ID in both sections of serverless.yml", "serverless.yml", "stepFunctions: {stateMachines: {M: {definition: " + flowObject + "}}}\nresources: " + flowTemplate,
			[]string{"serverless.yml#/stepFunctions/stateMachines/M ", "serverless.yml#/resources/Resources/M "},
			false,
		},
		{
			"Pulumi's preview of an update", "a.json", `{"steps": [{"oldState": {"inputs": {"name": "m", "definition": ` + flowString + `}}, "newState": {"inputs": {"name": "m", "definition": ` + flowString + `}, "outputs": {"name": "m", "definition": ` + flowString + `}}}]}`,
			[]string{"a.json#m "},
			true,
		},
		{"Pulumi's stack", "a.json", `{"version": 3, "deployment": {"resources": [{"urn": "u", "outputs": {"name": "m", "type": "EXPRESS", "definition": ` + flowString + `}}]}}`, []string{"a.json#m EXPRESS"}, true},
		{"AWS Config", "a.json", `{"configurationItems": [{"resourceName": "m", "configuration": {"DefinitionString": ` + flowString + `}}]}`, []string{"a.json#m "}, true},
		{
			"AWS Config, as a text", "a.json", `{"configurationItem": {"configuration": ` + quoted(`{"StateMachineName": "m", "StateMachineType": "EXPRESS", "DefinitionString": `+flowString+`}`) + `}}`,
			[]string{"a.json#m EXPRESS"},
			true,
		},
		{
			"Ansible", "playbook.yml", "- hosts: all\n  tasks:\n    - name: make it\n      community.aws.stepfunctions_state_machine:\n        name: m\n        definition: \"{{ lookup('file', 'm.json') }}\"\n",
			[]string{"playbook.yml#m "},
			false,
		},
		{
			"a role of Ansible", "tasks/main.yml", "- stepfunctions_state_machine:\n    name: m\n    definition: \"{{ lookup('ansible.builtin.file', 'role.json') | from_json }}\"\n",
			[]string{"tasks/main.yml#m "},
			false,
		},
		{
			"values of Ansible", "playbook.yml", "- module:\n    name: m\n    definition: |\n      {\"StartAt\": \"A\", \"States\": {\"A\": {\"Type\": \"Wait\", \"Seconds\": {{ seconds }}, \"Next\": \"B\"},\n        \"B\": {\"Type\": \"Task\", \"Resource\": \"{{ arn }}\", \"End\": true}}}\n",
			[]string{"playbook.yml#m "},
			false,
		},
		{
			"quotes and braces in values of Ansible", "playbook.yml", "- module:\n    name: m\n    definition: |\n      {\"StartAt\": \"A\", \"States\": {\"A\": {\"Type\": \"Wait\", \"Seconds\": {{ {\"a\": 1}[\"a\"] }}, \"Next\": \"B\"},\n        \"B\": {\"Type\": \"Task\", \"Resource\": \"{{ arns[\"b\"] }}\", \"End\": true}}}\n",
			[]string{"playbook.yml#m "},
			false,
		},
		{
			"values of Ansible in an object", "playbook.yml", "- module:\n    name: m\n    definition:\n      StartAt: \"{{ start }}\"\n      TimeoutSeconds: \"{{ t | int }}\"\n      States:\n        A: {Type: Wait, Seconds: \"{{ s }}\", Next: \"{{ next }}\"}\n        B: {Type: Task, Resource: \"arn:aws:lambda:{{ region }}:1:function:f\", Next: C}\n        C: {Type: Succeed}\n",
			[]string{"playbook.yml#m "},
			false,
		},
		{"a function that gives an object", "a.yml", "m: {definition: !If [C, " + flowObject + ", {}]}\n", []string{"a.yml#m "}, false},
		{"a function of CloudFormation", "a.yml", "m: {definition: !Sub '" + flowObject + "'}\n", []string{"a.yml#m "}, false},
		{
			"a plan", "plan.json", `{"format_version": "1.2", "planned_values": {"root_module": {"resources": [{"address": "aws_sfn_state_machine.m[\"a#b\"]", "type": "aws_sfn_state_machine", "values": {"name": "x", "type": "EXPRESS", "definition": ` + flowString + `}}],
			"child_modules": [{"child_modules": [{"resources": [{"address": "module.a.module.b.aws_sfn_state_machine.m", "type": "aws_sfn_state_machine", "values": {"definition": ` + flowString + `}}]}]}]}},
			"prior_state": {"values": {"root_module": {"resources": [{"address": "old", "values": {"definition": ` + flowString + `}}]}}}}`,
			[]string{`plan.json#aws_sfn_state_machine.m["a#b"] EXPRESS`, "plan.json#module.a.module.b.aws_sfn_state_machine.m "},
			true,
		},
		{
			"another provider's machine", "plan.json", `{"format_version": "1.2", "planned_values": {"root_module": {"resources": [{"address": "awscc_stepfunctions_state_machine.m", "type": "awscc_stepfunctions_state_machine", "values": {"definition_string": ` + flowString + `}},
			{"address": "aws_cloudformation_stack.s", "type": "aws_cloudformation_stack", "values": {"template_body": "Resources:\n  M: {Type: AWS::StepFunctions::StateMachine, Properties: {Definition: {StartAt: A, States: {A: {Type: Succeed}}}}}"}}]}}}`,
			[]string{"plan.json#awscc_stepfunctions_state_machine.m ", "plan.json#M "},
			true,
		},
		{
			"a state", "terraform.tfstate", `{"version": 4, "terraform_version": "1.11.4", "lineage": "x", "resources": [
			{"module": "module.a[0]", "mode": "managed", "type": "aws_sfn_state_machine", "name": "m", "instances": [{"index_key": "k", "attributes": {"type": "EXPRESS", "definition": ` + flowString + `}}, {"index_key": 1, "attributes": {"definition": ` + flowString + `}}]},
			{"mode": "data", "type": "aws_sfn_state_machine", "name": "d", "instances": [{"attributes": {"definition": ` + flowString + `}}]},
			{"mode": "managed", "type": "aws_sfn_state_machine", "name": "old", "instances": [{"attributes_flat": {"definition": ` + flowString + `}}]}]}`,
			[]string{`terraform.tfstate#module.a[0].aws_sfn_state_machine.m["k"] EXPRESS`, "terraform.tfstate#module.a[0].aws_sfn_state_machine.m[1] ", "terraform.tfstate#data.aws_sfn_state_machine.d ", "terraform.tfstate#aws_sfn_state_machine.old "},
			true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tree := filesOf(map[string]string{tt.file: tt.text, "m.json": flowObject, "files/role.json": flowObject})
			all, err := source.Load(t.Context(), []string{tt.file}, source.Options{FS: tree})
			require.NoError(t, err)
			var got []string
			for _, d := range all {
				got = append(got, fmt.Sprintf("%s %s", d.Name, d.Type))
				require.Empty(t, d.Validate(asl.Standard))
				require.NotNil(t, d.Text)
				require.Equal(t, tt.copied, d.Copied)
				one, err := source.LoadOne(t.Context(), d.Name, source.Options{FS: tree})
				require.NoError(t, err)
				require.Equal(t, d.Text, one.Text)
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// A machine whose definition only a deployment knows has one message.
func TestDefinitionsThatNobodyKnows(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, file, text, want string }{
		{
			"encrypted", "a.json", `{"stateMachineArn": "arn:m", "name": "m", "creationDate": 1.5, "encryptionConfiguration": {"kmsKeyId": "arn:k", "type": "CUSTOMER_MANAGED_KMS_KEY"}}`,
			"warning: the definition is encrypted, so it is not in this answer: whoever asks needs kms:Decrypt on the key arn:k. Then run: aws stepfunctions describe-state-machine --state-machine-arn arn:m",
		},
		{
			"Pulumi", "a.json", `{"steps": [{"newState": {"type": "aws:sfn/stateMachine:StateMachine", "inputs": {"name": "m", "definition": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"}}}]}`,
			"note: the definition of m is known only when it is deployed, so it is not checked",
		},
		{
			"a plan", "a.json", `{"format_version": "1.2", "planned_values": {"root_module": {"resources": [{"address": "aws_sfn_state_machine.m[0]", "type": "aws_sfn_state_machine", "values": {"name": "x"}}]}},
			"configuration": {"root_module": {"resources": [{"address": "aws_sfn_state_machine.m", "type": "aws_sfn_state_machine", "expressions": {"definition": {"references": ["aws_lambda_function.f.arn", "aws_lambda_function.f"]}}}]}}}`,
			"note: the definition of aws_sfn_state_machine.m[0] is known only when Terraform has made what it refers to (aws_lambda_function.f.arn), so it is not checked",
		},
		{
			"a plan without values", "a.json", `{"format_version": "1.2", "planned_values": {"root_module": {"resources": [{"address": "aws_sfn_state_machine.m", "type": "aws_sfn_state_machine"}, {"address": "a.b"}, null]}}}`,
			"note: the definition of aws_sfn_state_machine.m is known only when Terraform has made what it refers to, so it is not checked",
		},
		{
			"a state without attributes", "a.json", `{"terraform_version": "1", "lineage": "l", "resources": [{"type": "aws_sfn_state_machine", "name": "m", "instances": [{}]}, {"type": "a", "instances": [null, {"attributes": null}]}, null]}`,
			"note: the definition of aws_sfn_state_machine.m is known only when Terraform has made what it refers to, so it is not checked",
		},
		{
			"a function without a name", "machines.yml", "- {definition: !Foo {StartAt: A, States: {}}}\n",
			"warning: the definition of machines is known at deployment only, so it is not checked",
		},
		{
			"a template of Ansible", "a.yml", "- stepfunctions_state_machine: {name: m, definition: \"{{ lookup('template', 'm.json.j2') }}\"}\n",
			`warning: Ansible renders "m.json.j2", so the definition of m is not checked`,
		},
		{
			"statements in a text of Ansible", "a.yml", "- m: {name: n, definition: '{\"StartAt\": \"A\", \"States\": {{% if x %}\"A\": {\"Type\": \"Succeed\"}{% endif %}}}'}\n",
			`1:57: warning: "{% if x %}" is Jinja, so the definition of n is not checked: lint it as it is rendered`,
		},
		{
			"statements in YAML in a text of Helm", "a.yml", "metadata: {name: n}\nspec:\n  definition: |\n    StartAt: A\n    States:\n      {{- if .Values.x }\n      A: {Type: Succeed}\n",
			`6:7: warning: "{{- if .Values.x }" is Helm, so the definition of n is not checked: lint it as it is rendered`,
		},
		{
			"a file of Ansible that is not there", "a.yml", "- stepfunctions_state_machine: {name: m, definition: \"{{ lookup('file', 'nowhere.json') }}\"}\n",
			"the file of the definition cannot be read: open nowhere.json: file does not exist",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, err := source.LoadOne(t.Context(), tt.file, source.Options{FS: filesOf(map[string]string{tt.file: tt.text})})
			require.NoError(t, err)
			require.Nil(t, d.Text)
			require.Len(t, d.Problems, 1)
			require.Contains(t, d.Problems[0].String(), tt.want)
			_, err = d.Parse()
			require.Error(t, err)
		})
	}
}

// Documents of something else have no state machine, and a folder passes over them.
func TestDocumentsOfSomethingElse(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"words.json":     `{"definition": "StartAt and States are the members of a definition"}`,
		"type.json":      `{"definition": {"type": "object"}, "StartAt": "States"}`,
		"unknown.yml":    "a: {definition: 'StartAt States'}\n",
		"plan.json":      `{"format_version": "1.2", "planned_values": {"root_module": {"resources": [{"address": "a", "type": "aws_sqs_queue", "values": {"name": "StartAt States"}}]}}}`,
		"task.yml":       "- ecs_taskdefinition: {definition: \"{{ lookup('file', 'StartAt States') }}\"}\n",
		"described.yml":  "description: |\n  StartAt: A\n  States: {}\n",
		"serverless.yml": "service: s\ncustom: {stepFunctions: x}\n",
		"plain.json":     `{"stateMachineArn": "a", "kmsKeyId": "x"}`,
		"update.json":    `{"stateMachineArn": "a", "roleArn": "r", "encryptionConfiguration": {"kmsKeyId": "x"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			passed := 0
			_, err := source.Load(t.Context(), []string{"."}, source.Options{FS: filesOf(map[string]string{name: text}), Passed: func(string) { passed++ }})
			require.ErrorContains(t, err, "has no state machine definition")
			require.Equal(t, 1, passed)
		})
	}
}

// A definition in a text of a text has its slips where they stand.
func TestSlipInATextOfADocument(t *testing.T) {
	t.Parallel()
	text := strings.Replace(`{"name": "m", "definition": `+flowString+`}`, `\"Succeed\"`, `\"Succeed\", \"Wrong\": 1`, 1)
	d, err := source.LoadOne(t.Context(), "a.json", source.Options{FS: filesOf(map[string]string{"a.json": text})})
	require.NoError(t, err)
	problems := d.Validate(asl.Standard)
	at := slices.IndexFunc(problems, func(p diag.Problem) bool { return p.Pointer == "/States/A/Wrong" })
	require.GreaterOrEqual(t, at, 0)
	require.Equal(t, strings.Index(text, `\"Wrong\"`)+1, problems[at].Column)
	second, err := source.LoadOne(t.Context(), "a.json#m", source.Options{FS: filesOf(map[string]string{"a.json": "{}\n" + text})})
	require.NoError(t, err)
	problems = second.Validate(asl.Standard)
	require.Equal(t, [2]int{2, strings.Index(text, `\"Wrong\"`) + 1}, [2]int{problems[at].Line, problems[at].Column})
	text = strings.Replace(text, `\"Succeed\",`, `\"Succeed,`, 1)
	d, err = source.LoadOne(t.Context(), "a.json", source.Options{FS: filesOf(map[string]string{"a.json": text})})
	require.NoError(t, err)
	require.Contains(t, d.Validate(asl.Standard)[0].Message, "not valid JSON")
}

// What AWS has holds no placeholders, so a text that looks like one is told.
func TestPlaceholdersAtAWS(t *testing.T) {
	t.Parallel()
	const told = "AWS has the text \"${Done}\" as it stands"
	text := `{"StartAt": "A", "States": {"A": {"Type": "Choice", "Choices": [{"Variable": "$.x", "StringEquals": "${Done}", "Next": "B"}], "Default": "B"}, "B": {"Type": "Succeed", "Comment": "${Done}"}}}`
	deployed := source.Deployed{ARN: "arn:aws:states:us-east-1:123456789012:stateMachine:m", Text: []byte(text)}
	described, err := source.LoadOne(t.Context(), "a.json", source.Options{FS: filesOf(map[string]string{"a.json": `{"stateMachineArn": "arn", "name": "m", "definition": ` + quoted(text) + `}`})})
	require.NoError(t, err)
	for _, d := range []*source.Definition{deployed.Definition(), described} {
		require.Len(t, d.Problems, 1)
		require.Contains(t, d.Problems[0].String(), told)
		m, err := d.Parse()
		require.NoError(t, err)
		require.Empty(t, m.Placeholders)
	}
}

// The command that renders a template of Ansible names the file where Ansible finds it.
func TestTemplatesOfAnsible(t *testing.T) {
	t.Parallel()
	const task = "- stepfunctions_state_machine: {name: m, definition: \"{{ lookup('template', 'm.j2') }}\"}\n"
	for _, c := range []struct{ book, template, want string }{
		{"book.yml", "m.j2", `'src=m.j2 dest=rendered.json'`},
		{"book.yml", "templates/m.j2", `'src=templates/m.j2 dest=rendered.json'`},
		{"roles/r/tasks/main.yml", "roles/r/templates/m.j2", `'src=roles/r/templates/m.j2 dest=rendered.json'`},
		{"a b/book.yml", "a b/templates/m.j2", `'src="a b/templates/m.j2" dest=rendered.json'`},
		{"book.yml", "elsewhere/m.j2", `'src=m.j2 dest=rendered.json'`},
	} {
		t.Run(c.template, func(t *testing.T) {
			t.Parallel()
			d, err := source.LoadOne(t.Context(), c.book, source.Options{FS: filesOf(map[string]string{c.book: task, c.template: "{{ x }}"})})
			require.NoError(t, err)
			require.Contains(t, d.Problems[0].Message, "Render it first: ansible localhost -m template -a "+c.want+" -e @vars.yml, where vars.yml has the variables of the play")
		})
	}
}
