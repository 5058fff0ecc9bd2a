package source_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// waits is a definition that waits for so many Seconds, with a Comment.
func waits(seconds, comment string) string {
	return "{\"StartAt\": \"A\",\n\"States\": {\"A\": {\"Type\": \"Wait\", \"Seconds\": " + seconds + ", \"Comment\": \"" + comment + "\", \"End\": true}}}"
}

// A file that is JSON or YAML only when it is rendered has one message, with the first
// place and the command.
func TestFilesToRender(t *testing.T) {
	t.Parallel()
	const yaml = "StartAt: A\nStates:\n  A: {Type: Wait, Seconds: 1, End: true}\n"
	tests := []struct{ name, file, text, want string }{
		{"Jinja", "a.asl.json.j2", waits("{{ seconds }}", ""), `2:45: warning: "{{ seconds }}" is Jinja, so this file is not checked. Render it first: jinja2 a.asl.json.j2 values.yml | jobpoller lint -, where values.yml has the values that it puts in`},
		{"Jinja by its keywords", "a.json", strings.Replace(waits("5", ""), `"States"`, `{% if x %}"States"`, 1), `2:1: warning: "{% if x %}" is Jinja`},
		{"Jinja in strings alone", "a.json.jinja", waits("5", "{{ x }}"), `"{{ x }}" is Jinja`},
		{"a comment of Jinja", "a.json", "{# x #}" + waits("5", ""), `1:1: warning: "{# x #}" is Jinja`},
		{"Jinja in YAML", "a.yaml.j2", strings.Replace(yaml, "1", "{{ s }}", 1), `3:28: warning: "{{ s }}" is Jinja`},
		{"Handlebars", "a.json.hbs", waits("{{{s}}}", ""), `2:45: warning: "{{{s}}}" is Handlebars`},
		{"Mustache", "a.json.mustache", waits("{{s}}", ""), `"{{s}}" is Mustache, so this file is not checked. Render it first: mustache values.json a.json.mustache`},
		{"Mustache by its signs", "a.json", waits("{{{s}}}", ""), `"{{{s}}}" is Mustache`},
		{"braces of nobody", "a.json", waits("{{s}}", ""), `"{{s}}" is Jinja, Mustache or Handlebars`},
		{"Jinja's statements in YAML", "a.asl.yaml", strings.Replace(yaml, "  A:", "  {% if x %}\n  A:", 1) + "  {% endif %}\n", `3:3: warning: "{% if x %}" is Jinja`},
		{"Helm's statements", "a.asl.yaml", strings.Replace(yaml, "  A:", "  {{- if .Values.x }}\n  A:", 1) + "  {{- end }}\n", `3:3: warning: "{{- if .Values.x }}" is Helm`},
		{"Helm", "a.yaml", strings.Replace(yaml, "1", "{{ .Values.seconds }}", 1), `3:28: warning: "{{ .Values.seconds }}" is Helm, so this file is not checked. Render it first: helm template CHART | jobpoller lint -`},
		{"ERB", "a.json.erb", waits("<%= s %>", ""), `2:45: warning: "<%= s %>" is ERB, so this file is not checked. Render it first: erb a.json.erb | jobpoller lint -`},
		{"EJS", "a.json.ejs", waits("<%- s %>", ""), `"<%- s %>" is EJS, so this file is not checked. Render it first: npx ejs a.json.ejs`},
		{"a directive of Terraform", "a.tftpl", waits("%{ if x }5%{ else }6%{ endif }", ""), `2:45: warning: "%{ if x }" is Terraform's template language, which Terraform renders`},
		{"a name of a shell", "a.json", waits("$SECONDS", "$NAME"), `2:45: warning: $SECONDS is no JSON: a program puts a value in for it, so this file is not checked. Put the value in first: SECONDS=VALUE envsubst < a.json | jobpoller lint -`},
		{"a token of sed", "a.json", waits("__SECONDS__", ""), `2:45: warning: __SECONDS__ is no JSON: a program puts a value in for it, so this file is not checked. Put the value in first: sed 's/__SECONDS__/VALUE/' a.json | jobpoller lint -`},
		{"a token of Windows", "a.json", waits("%SECONDS%", ""), `2:45: warning: %SECONDS% is no JSON`},
		{"a token of Maven", "a.json", waits("@seconds@", ""), `2:45: warning: @seconds@ is no JSON`},
		{"two of the kind", "a.json", waits("@@SECONDS@@", ""), `2:45: warning: @@SECONDS@@ is no JSON`},
		{"quotes in braces in a string", "a.json", waits("5", `{{ m["x"] }}`), `2:60: warning: "{{ m[\"x\"] }}" is Jinja, Mustache or Handlebars`},
		{"quotes in braces in a string of YAML", "a.asl.yaml", strings.Replace(yaml, "1", `"{{ m["x"] }}"`, 1), `3:29: warning: "{{ m[\"x\"] }}" is Jinja`},
		{"braces as a name of YAML", "a.asl.yaml", strings.Replace(yaml, "A:", "{{ a }}:", 1), `3:3: warning: "{{ a }}" is Jinja`},
		{"members of Terraform", "a.json", strings.Replace(waits("5", ""), `"Seconds"`, `${retry} "Seconds"`, 1), `2:34: warning: "${retry}" stands in the place of members or items, so a program puts a text in for it`},
		{"members before a comma", "a.json", strings.Replace(waits("5", ""), `"Seconds"`, `${jsonencode(r)}, "Seconds"`, 1), `2:34: warning: "${jsonencode(r)}" stands`},
		{"members behind a member", "a.json", strings.Replace(waits("5", ""), `, "End"`, ` ${more}, "End"`, 1), `"${more}" stands`},
		{"members alone", "a.json", strings.Replace(waits("5", ""), `"Type": "Wait", "Seconds": 5, "Comment": "", "End": true`, `${state}`, 1), `"${state}" stands`},
		{"a name with a blank", "a b.json.j2", waits("{{ s }}", ""), "jinja2 'a b.json.j2' values.yml"},
		{"a template of CloudFormation", "t.json", `{"Resources": {"M": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {{ p }}}}}`, `1:80: warning: "{{ p }}" is Jinja, Mustache or Handlebars`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := source.Options{FS: filesOf(map[string]string{tt.file: tt.text})}
			for _, name := range []string{tt.file, "."} {
				d, err := source.LoadOne(t.Context(), name, o)
				require.NoError(t, err)
				require.Nil(t, d.Text)
				require.Len(t, d.Problems, 1)
				require.Contains(t, d.Problems[0].String(), tt.want)
			}
		})
	}
}

// What looks like a language and is none keeps its meaning.
func TestFilesThatNothingRenders(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, file, text, want string }{
		{"JSONata", "a.json", strings.Replace(waits(`"{% $if %}"`, "{% if x %}"), `"StartAt"`, `"QueryLanguage": "JSONata", "StartAt"`, 1), ""},
		{"JSONata in YAML", "a.yaml", "QueryLanguage: JSONata\nStartAt: A\nStates:\n  A: {Type: Wait, Seconds: \"{% $x %}\", End: true}\n", ""},
		{"braces in a text", "a.json", waits("5", "{{ x }}"), ""},
		{"a name in a text", "a.json", waits("5", "$NAME __NAME__"), ""},
		{"a slip behind braces in a text", "a.json", waits("5,", "{{ x }}"), "not valid JSON: invalid character ','"},
		{"a slip in YAML with JSONata", "a.asl.yaml", "StartAt: A\nStates:\n  A: {Type: Wait, Seconds: \"{% $x %}\"\n", "not valid YAML"},
		{"a slip in YAML with braces elsewhere", "a.asl.yaml", "Comment: |\n  {{ x }}\nStartAt: A\nStates:\n  A: {Type: Wait, Seconds: 1\n", "not valid YAML"},
		{"JSONata without quotes in YAML", "a.asl.yaml", "QueryLanguage: JSONata\nStartAt: A\nStates:\n  A: {Type: Wait, Seconds: {% $x %}, End: true}\n", `not valid YAML: found character that cannot start any token; put the value that begins with "{%" in quotes`},
		{"JSONata without quotes on a line", "a.asl.yaml", "QueryLanguage: JSONata\nStartAt: A\nStates:\n  A:\n    Type: Pass\n    Output: {% $x %}\n    End: true\n", `; put the value that begins with "{%" in quotes`},
		{"a reference of CloudFormation without quotes", "a.asl.yaml", "StartAt: A\nStates:\n  A:\n    Type: Pass\n    Comment: {{resolve:ssm:/x}}\n    End: true\n", `; put the value that begins with "{{resolve:" in quotes`},
		{"JSONata without quotes", "a.json", waits("{% $x %}", "{{ x }}"), "not valid JSON"},
		{"JSONata with a word of Jinja, without quotes", "a.json", waits("{% filter.x %}", "{{ x }}"), "not valid JSON"},
		{"a slip in YAML near braces in a comment", "a.asl.yaml", "StartAt: A\nStates:\n  A: # {{ x }}\n    {Type: Wait, Seconds: 1\n", "not valid YAML"},
		{"a slip in YAML near braces in words", "a.asl.yaml", "StartAt: A\nStates:\n  A:\n    Type: Succeed\n    Comment: it's run {{ x }} first\n\tEnd: true\n", "not valid YAML"},
		{"a value with a comma missing", "a.json", strings.Replace(waits("${s}", ""), `${s},`, `${s}`, 1), "not valid JSON"},
		{"one in an object", "a.asl.yaml", "StartAt: A\nStates:\n  A: {Type: Pass, Result: {{resolve:ssm:/x}}, End: true}\n", `; put the value that begins with "{{resolve:" in quotes`},
		{"an extension alone", "a.json.j2", waits("5", ""), ""},
		{"Terraform's template without directives", "a.tftpl", waits("${seconds}", "${jsonencode(x)}"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, err := source.LoadOne(t.Context(), tt.file, source.Options{FS: filesOf(map[string]string{tt.file: tt.text})})
			require.NoError(t, err)
			problems := d.Validate(asl.Standard)
			if tt.want == "" {
				for _, p := range problems {
					require.NotEqual(t, diag.Error, p.Severity, "%s", p)
				}
				require.NotNil(t, d.Text)
				return
			}
			require.Contains(t, problems[0].String(), tt.want)
		})
	}
}

// A program that the user names has one message. A folder passes over it.
func TestPrograms(t *testing.T) {
	t.Parallel()
	tests := []struct{ file, text, want string }{
		{"stack.py", "import json\nD = {\"StartAt\": \"A\"}\n", "2:7: warning: this file is a program in Python, so its machines are not read. Let it print the definition as JSON, and run python stack.py | jobpoller lint -"},
		{"app.py", "from aws_cdk import App\n", "1:1: warning: this file is an app of the CDK in Python, so its machines are not read. Run cdk synth, then jobpoller lint cdk.out"},
		{"stack.ts", "import * as sfn from 'aws-cdk-lib/aws-stepfunctions'\n", "cdk synth"},
		{"index.ts", "import * as aws from '@pulumi/aws'\n", "pulumi preview --json > preview.json"},
		{"serverless.ts", "import type { AWS } from '@serverless/typescript'\n", "serverless package, then jobpoller lint .serverless/cloudformation-template-update-stack.json"},
		{"machine.rb", "CloudFormation do\n", "cfndsl machine.rb | jobpoller lint -"},
		{"main.go", "package main\n", "go run main.go | jobpoller lint -"},
		{"m.js", "module.exports = {}\n", "node m.js | jobpoller lint -"},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			o := source.Options{FS: filesOf(map[string]string{tt.file: tt.text, "m.json": flowObject})}
			d, err := source.LoadOne(t.Context(), tt.file, o)
			require.NoError(t, err)
			require.Len(t, d.Problems, 1)
			require.Contains(t, d.Problems[0].String(), tt.want)
			all, err := source.Load(t.Context(), []string{"."}, o)
			require.NoError(t, err)
			require.Len(t, all, 1)
			require.Equal(t, "m.json", all[0].Name)
		})
	}
}

// An expression of Terraform outside of strings is a value that nobody knows.
func TestBareExpressions(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, file, text, want string }{
		{"a function", "a.json", waits("${max(5, n)}", ""), `"Seconds": "${max-5-n}"`},
		{"a string in an expression", "a.json", waits(`${lookup(m, "a{\"b")}`, ""), `"Seconds": "${lookup-m-a-b}"`},
		{"lines", "a.json", waits("${max({\n  a = 5})}", ""), `"Seconds": "${max-a-5}"`},
		{"an expression in a string", "a.tftpl", waits("5", "${upper(x)}"), `"Comment": "${upper-x}"`},
		{"a string in an expression in a string", "a.json", waits("5", `x-${join("-", list)}-y`), `"Comment": "x-${join---list}-y"`},
		{"both", "a.json.tpl", waits("${ seconds }", "${a} ${b.c[0]}"), `"Seconds": "${seconds}", "Comment": "${a} ${b.c-0}"`},
		{"text that is JSON stays", "a.json", waits("5", "${upper(x)}"), `"Comment": "${upper(x)}"`},
		{"JSONata stays", "a.json", waits("5", "{% $x.a${'k': v} %}"), "$x.a${'k': v}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, err := source.LoadOne(t.Context(), tt.file, source.Options{FS: filesOf(map[string]string{tt.file: tt.text})})
			require.NoError(t, err)
			require.Contains(t, string(d.Text), tt.want)
			require.Empty(t, d.Validate(asl.Standard))
			m, err := d.Parse()
			require.NoError(t, err)
			end := d.LocatePosition(m.State("A").Position)
			require.Equal(t, [2]int{2, 12}, [2]int{end.Line, end.Column})
		})
	}
	d, err := source.LoadOne(t.Context(), "a.json", source.Options{FS: filesOf(map[string]string{"a.json": waits("${f(x)}", "") + "x"})})
	require.NoError(t, err)
	require.Contains(t, d.Validate(asl.Standard)[0].String(), "2:83: not valid JSON: invalid character 'x' after top-level value")
}

// An expression that is the whole of a value of YAML is a value that nobody knows.
func TestExpressionsInYAML(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"a.asl.yaml", "a.yaml.tftpl"} {
		text := "StartAt: A\nStates:\n  A: {Type: Wait, Seconds: ${max(5, n)}, Next: B}\n  B:\n    Type: Wait\n    Seconds: ${jsonencode(w)}\n    Next: ${x ? \"C\" : \"D\"}\n" +
			"  C:\n    Type: Pass\n    Comment: it is ${upper(x)}\n    End: true\n  D:\n    Type: Pass\n    Next: ${y[\"a\"]} # there\n"
		d, err := source.LoadOne(t.Context(), file, source.Options{FS: filesOf(map[string]string{file: text})})
		require.NoError(t, err)
		require.Empty(t, d.Validate(asl.Standard))
		require.Contains(t, string(d.Text), `"Next": "${x-C-:-D}"`)
		require.Contains(t, string(d.Text), "it is ${upper(x)}")
	}
}
