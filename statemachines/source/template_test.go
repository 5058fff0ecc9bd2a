package source_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// machine is a template with one state machine of these properties.
func machine(properties string) string {
	return "Parameters:\n  Given: {Type: Number, Default: 7}\n  Empty: {Type: String, Default: ''}\n  Open: {Type: String}\n" +
		"  Stored: {Type: 'AWS::SSM::Parameter::Value<String>', Default: /name}\n" +
		"Mappings:\n  Waits: {prod: {Seconds: 60}}\n" +
		"Resources:\n  M:\n    Type: AWS::StepFunctions::StateMachine\n    Properties:\n" + indent(properties)
}

func indent(text string) string {
	return "      " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n      ") + "\n"
}

// definitionOf is an inline definition with one Pass state and a result.
func definitionOf(result string) string {
	return machine("Definition:\n  StartAt: A\n  States:\n    A: {Type: Pass, End: true, Result: " + result + "}")
}

// stateOf returns the state A of a definition.
func stateOf(t *testing.T, d *source.Definition) map[string]any {
	t.Helper()
	var definition map[string]map[string]map[string]any
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(d.Text, &members), "%s", d.Text)
	require.NoError(t, json.Unmarshal([]byte(`{"States": `+string(members["States"])+`}`), &definition))
	return definition["States"]["A"]
}

// Each function gives what is known before a deployment, and else a placeholder.
func TestFunctionsOfTemplates(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, value, want string }{
		{"a parameter with a default", "!Ref Given", `"7"`},
		{"one in long form", "{Ref: Given}", `"7"`},
		{"without a default", "!Ref Open", `"${Open}"`},
		{"with an empty default, which is there to be replaced", "!Ref Empty", `"${Empty}"`},
		{"with the name of a stored value", "!Ref Stored", `"${Stored}"`},
		{"a resource", "!Ref Topic", `"${Topic}"`},
		{"a pseudo parameter", "!Ref AWS::Region", `"${AWS::Region}"`},
		{"an attribute", "!GetAtt Function.Arn", `"${Function.Arn}"`},
		{"an attribute as a list", "{'Fn::GetAtt': [Function, Arn]}", `"${Function.Arn}"`},
		{"a text", "!Sub 'x ${Given} ${Open} ${AWS::Partition} ${!Kept} $ {'", `"x 7 ${Open} ${AWS::Partition} ${Kept} $ {"`},
		{"a text with variables", "!Sub ['${A} ${B} ${C}', {A: 1, B: !Ref Open, C: !Sub 'c${Given}'}]", `"1 ${B} c7"`},
		{"a joined text", "!Join ['-', [a, !Ref Given, {Ref: Open}, !Join ['', [b, c]]]]", `"a-7-${Open}-bc"`},
		{"a joined list that is not known", "!Join [',', !Ref Open]", `"${Fn::Join}"`},
		{"an import", "!ImportValue 'other stack'", `"${Fn::ImportValue.other-stack}"`},
		{"a value of a map", "!FindInMap [Waits, prod, Seconds]", `60`},
		{"of a map that is not known", "!FindInMap [Waits, !Ref Open, Seconds]", `"${Fn::FindInMap.Waits.Seconds}"`},
		{"a condition on texts", "!If [Prod, a, b]", `"${Fn::If.Prod.a.b}"`},
		{"a condition on parts of the definition", "!If [Prod, !Ref AWS::NoValue, {a: 1}]", `{"a": 1}`},
		{"no value in an object", "{a: 1, b: !Ref AWS::NoValue, c: {Ref: 'AWS::NoValue'}}", `{"a": 1}`},
		{"no value in a list", "[1, !Ref AWS::NoValue, 2]", `[1, 2]`},
		{"another function", "!Select [0, !GetAZs '']", `"${Fn::Select.0}"`},
		{"a JSON text", "{'Fn::ToJsonString': {a: !Ref Given}}", `"{\n\"a\": \"7\"}"`},
		{"no function", "{Ref: a, Other: b}", `{"Ref": "a", "Other": "b"}`},

		{"numbers", "[1, 1.50, -2, 1e3, 0x1F, 1_000, +5, .5, 5., 12345678901234567890]", `[1, 1.50, -2, 1e3, 31, 1000, 5, 0.5, 5, 12345678901234567890]`},
		{"what JSON has not", "[.inf, .nan, 2020-01-02, 2020-01-02T03:04:05Z]", `[".inf", ".nan", "2020-01-02", "2020-01-02T03:04:05Z"]`},
		{"booleans and their words", "[true, False, yes, No, on, OFF, y]", `[true, false, "yes", "No", "on", "OFF", "y"]`},
		{"null and what looks like it", "[null, ~, NULL, '', 'null']", `[null, null, null, "", "null"]`},
		{"tags of YAML", "[!!str 5, !!int '5', ! x]", `["5", 5, "x"]`},
		{"names that are no strings", "{1: a, true: b, 2020-01-02: c}", `{"1": "a", "true": "b", "2020-01-02": "c"}`},
		{"anchors", "[&a {x: 1, y: 2}, *a]", `[{"x": 1, "y": 2}, {"x": 1, "y": 2}]`},
		{"merge keys", "[&a {x: 1}, {<<: *a, y: 3}, {<<: [*a, {z: 4}], x: 5}]", `[{"x": 1}, {"x": 1, "y": 3}, {"x": 5, "z": 4}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := load(t, map[string]string{"t.yaml": definitionOf(tt.value)})
			require.Empty(t, d.Problems)
			result, err := json.Marshal(stateOf(t, d)["Result"])
			require.NoError(t, err)
			require.JSONEq(t, tt.want, string(result))
		})
	}
}

// A definition comes from where the template says, with the template's values and
// those that the user gives, which win.
func TestTemplates(t *testing.T) {
	t.Parallel()
	file := `{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": ${Wait}, "Comment": "${Wait} ${Other}", "End": true}}}`
	yaml := "StartAt: A\nStates:\n  A: {Type: Wait, Seconds: ${Wait}, Comment: 'x ${Wait} ${Other}', End: true}\n"
	tests := []struct {
		name, template string
		values         map[string]string
		want           string // the state
		form           source.Form
	}{
		{
			"a file of JSON", machine("DefinitionUri: m.json\nDefinitionSubstitutions: {Wait: 5, Other: !Ref Open}"), nil,
			`{"Type": "Wait", "Seconds": 5, "Comment": "5 ${Other}", "End": true}`, source.FormFile,
		},
		{
			"a file of JSON with what is not known", machine("DefinitionUri: ./m.json"), nil,
			`{"Type": "Wait", "Seconds": "${Wait}", "Comment": "${Wait} ${Other}", "End": true}`, source.FormFile,
		},
		{
			"a file of YAML", machine("DefinitionS3Location: m.yaml\nDefinitionSubstitutions: {Wait: !Ref Given}"), nil,
			`{"Type": "Wait", "Seconds": 7, "Comment": "x 7 ${Other}", "End": true}`, source.FormFile,
		},
		{
			"a file of YAML with what is not known", machine("DefinitionUri: m.yaml"), nil,
			`{"Type": "Wait", "Seconds": "${Wait}", "Comment": "x ${Wait} ${Other}", "End": true}`, source.FormFile,
		},
		{
			"a file that the CDK uploads", machine("DefinitionS3Location: {Bucket: !Sub 'b-${AWS::Region}', Key: m.json}"),
			map[string]string{"Wait": "9"},
			`{"Type": "Wait", "Seconds": 9, "Comment": "9 ${Other}", "End": true}`, source.FormFile,
		},
		{
			"an object", machine("Definition: {StartAt: A, States: {A: {Type: Wait, Seconds: '${Wait}', End: true}}}\nDefinitionSubstitutions: {Wait: 5}"), nil,
			`{"Type": "Wait", "Seconds": "5", "End": true}`, source.FormInline,
		},
		{
			"a text", machine("DefinitionString: |\n  {\"StartAt\": \"A\", \"States\": {\"A\":\n    {\"Type\": \"Wait\", \"Seconds\": ${Wait}, \"End\": true}}}"),
			map[string]string{"Wait": "3"},
			`{"Type": "Wait", "Seconds": 3, "End": true}`, source.FormText,
		},
		{
			"a text with functions", machine("DefinitionString: !Sub |\n  {\"StartAt\": \"A\", \"States\": {\"A\":\n    {\"Type\": \"Wait\", \"Seconds\": ${Given}, \"End\": true}}}"), nil,
			`{"Type": "Wait", "Seconds": 7, "End": true}`, source.FormComposed,
		},
		{
			"the value of the user for a parameter", machine("DefinitionString: !Sub |\n  {\"StartAt\": \"A\", \"States\": {\"A\":\n    {\"Type\": \"Wait\", \"Seconds\": ${Given}, \"End\": true}}}"),
			map[string]string{"Given": "8"},
			`{"Type": "Wait", "Seconds": 8, "End": true}`, source.FormComposed,
		},
		{
			"the value of the user for a substitution", machine("DefinitionUri: m.json\nDefinitionSubstitutions: {Wait: 5, Other: !Ref Open}"),
			map[string]string{"Wait": "6", "Open": "o"},
			`{"Type": "Wait", "Seconds": 6, "Comment": "6 o", "End": true}`, source.FormFile,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tree := fstest.MapFS{"sub/t.yaml": {Data: []byte(tt.template)}}
			for _, name := range []string{"sub/m.json", "sub/asset.m.json"} {
				tree[name] = &fstest.MapFile{Data: []byte(file)}
			}
			tree["sub/m.yaml"] = &fstest.MapFile{Data: []byte(yaml)}
			d, err := source.LoadOne(t.Context(), "sub/t.yaml", source.Options{FS: tree, Values: tt.values})
			require.NoError(t, err)
			require.Empty(t, d.Problems)
			require.Equal(t, tt.form, d.Form)
			state, err := json.Marshal(stateOf(t, d))
			require.NoError(t, err)
			require.JSONEq(t, tt.want, string(state))
		})
	}
}

// What cannot be read says what is wrong, where, and what to do. What AWS may take
// is no ERROR.
func TestWhatTemplatesCannotGive(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 600) + strings.Repeat("]", 600)
	tests := []struct{ name, template, want string }{
		{
			"no definition", machine("RoleArn: x"),
			"9:3: /Resources/M/Properties: the state machine M has no definition: give it one of Definition, DefinitionString, DefinitionUri, DefinitionS3Location",
		},
		{
			"properties of a function", machine("Fn::If: [C, {}, {}]"),
			"12:7: /Resources/M/Properties: warning: the definition of M is known at deployment only, so it is not checked",
		},
		{
			"properties with a transform", machine("Fn::Transform: {Name: AWS::Include}\nName: x"),
			"12:7: /Resources/M/Properties: warning: the definition of M is known at deployment only, so it is not checked",
		},
		{
			"no properties", "Resources:\n  M: {Type: AWS::StepFunctions::StateMachine}",
			"2:3: /Resources/M/Properties: the state machine M has no definition",
		},
		{
			"two definitions", machine("DefinitionUri: a.json\nDefinitionString: '{}'"),
			"13:7: /Resources/M/Properties/DefinitionString: the state machine M has a definition already, in DefinitionUri; keep one",
		},
		{
			"a file that is not there", machine("DefinitionUri: a.json"),
			"12:22: /Resources/M/Properties/DefinitionUri: the file of the definition cannot be read: open a.json: file does not exist; expected a path relative to the template",
		},
		{
			"a folder", machine("DefinitionUri: folder"),
			"12:22: /Resources/M/Properties/DefinitionUri: the file of the definition cannot be read: folder is no regular file; expected a path relative to the template",
		},
		{
			"a URL", machine("DefinitionUri: s3://bucket/key"),
			"12:22: /Resources/M/Properties/DefinitionUri: warning: the definition of M is at s3://bucket/key, so it is not checked: only local files are read",
		},
		{
			"a bucket", machine("DefinitionS3Location: {Bucket: b, Key: k}"),
			"12:29: /Resources/M/Properties/DefinitionS3Location: warning: the definition of M is in S3 (s3://b/k), so it is not checked: check the file that is uploaded there",
		},
		{
			"an absolute path", machine("DefinitionUri: /etc/passwd"),
			`12:22: /Resources/M/Properties/DefinitionUri: warning: "/etc/passwd" is not read: expected a path relative to the template, with slashes`,
		},
		{
			"a path that leaves the folder", machine("DefinitionUri: ../../etc/passwd"),
			`12:22: /Resources/M/Properties/DefinitionUri: warning: "../../etc/passwd" lies outside of the template's folder and of the working directory, ` +
				"so it is not read: run jobpoller in a folder that has both",
		},
		{
			"a path that is not known", machine("DefinitionUri: !Sub '${Open}.json'"),
			"12:22: /Resources/M/Properties/DefinitionUri: warning: where the definition of M lies is known at deployment only, so it is not checked",
		},
		{
			"an object that is not known", machine("Definition: !Ref Open"),
			"12:19: /Resources/M/Properties/Definition: warning: the definition of M is known at deployment only, so it is not checked",
		},
		{
			"a text that is not known", machine("DefinitionString: !Ref Open"),
			"12:25: /Resources/M/Properties/DefinitionString: warning: the definition of M is known at deployment only, so it is not checked",
		},
		{
			"a text of one value that is not known", machine("DefinitionString: !Sub ['${X} ', {X: {Fn::Transform: {Name: AWS::Include}}}]"),
			"12:25: /Resources/M/Properties/DefinitionString: warning: the definition of M is known at deployment only, so it is not checked",
		},
		{
			"a state that is not known", machine("Definition:\n  StartAt: A\n  States:\n    A: !FindInMap [A, B, C]"),
			"15:14: /States/A: warning: ${Fn::FindInMap.A.B.C} stands for a state, which only the deployment knows: the definition is not checked",
		},
		{
			"a text as an object", machine("Definition: '{}'"),
			"12:19: /Resources/M/Properties/Definition: expected a definition, which is an object, found a string; a text goes to DefinitionString",
		},
		{
			"a text as an object of SAM", "Resources:\n  M:\n    Type: AWS::Serverless::StateMachine\n    Properties: {Definition: '{}'}\n",
			"4:30: /Resources/M/Properties/Definition: expected a definition, which is an object, found a string; write it as an object",
		},
		{
			"an object as a text", machine("DefinitionString: {StartAt: A}"),
			"12:25: /Resources/M/Properties/DefinitionString: expected the text of a definition, found an object; an object goes to Definition",
		},
		{
			"YAML in a text", machine("DefinitionString: |\n  StartAt: A\n  States: {A: {Type: Succeed}}"),
			"12:25: /Resources/M/Properties/DefinitionString: AWS reads a DefinitionString as JSON, and this one is not: write it as an object under Definition",
		},
		{
			"a name twice", machine("Definition: {StartAt: A, StartAt: A, States: {A: {Type: Succeed}}}"),
			`12:32: /StartAt: member "StartAt" stands twice in this object; keep one`,
		},
		{"a name that is none", machine("Definition: {? [a] : b}"), "12:22: /Resources/M/Properties/Definition: expected a name, which is a string, found an array"},
		{
			"an alias inside of what it names", machine("Definition: &a {States: *a}"),
			"12:31: /Resources/M/Properties/Definition/States: the alias *a stands inside of what it names, which would never end",
		},
		{"an alias that is not there", machine("Definition: *a"), "not valid YAML: unknown anchor 'a' referenced"},
		{"a merge of what is no mapping", machine("Definition: {<<: [1]}"), "12:19: /Resources/M/Properties/Definition: << merges mappings, found a number"},
		{"more than nests", machine("Definition: {a: " + deep + "}"), "the definition nests deeper than 512 values"},
		{"another document", machine("Definition: {}") + "---\na: 1\n", "14:1: another YAML document starts here; a file has one definition or template: put each document into a file of its own"},
		{"no YAML", machine("Definition: {"), "not valid YAML: "},
		{"no UTF-8", machine("Definition: {StartAt: '\xff'}"), "not valid YAML: invalid"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tree := fstest.MapFS{"t.yaml": {Data: []byte(tt.template)}, "folder/x": {}}
			d, err := source.LoadOne(t.Context(), "t.yaml", source.Options{FS: tree})
			require.NoError(t, err)
			problems := d.Validate(asl.Standard)
			require.NotEmpty(t, problems)
			require.Contains(t, problems[0].String(), tt.want)
			if d.Text == nil {
				_, err := d.Parse()
				require.ErrorContains(t, err, strings.TrimPrefix(tt.want, "warning: "))
			}
		})
	}
}

// SAM makes a number of a reference to a parameter of the type Number, and CloudFormation
// a string.
func TestNumberParameter(t *testing.T) {
	t.Parallel()
	const template = `{"Parameters": {"N": {"Type": "Number", "Default": 30}, "S": {"Type": "String", "Default": "30"}}, "Resources": {"M": {"Type": %q,
		"Properties": {"Definition": {"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": {"Ref": %q}, "End": true}}}}}}}`
	for _, c := range []struct {
		kind, parameter string
		valid           bool
	}{
		{"AWS::Serverless::StateMachine", "N", true},
		{"AWS::Serverless::StateMachine", "S", false},
		{"AWS::StepFunctions::StateMachine", "N", false},
	} {
		file := filepath.Join(t.TempDir(), "template.json")
		require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, template, c.kind, c.parameter), 0o600))
		definitions, err := source.Load(t.Context(), []string{file}, source.Options{})
		require.NoError(t, err)
		require.Len(t, definitions, 1)
		m, err := definitions[0].Parse()
		if !c.valid {
			require.ErrorContains(t, err, "found a string", c.kind)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, int64(30), m.State("W").Wait.Seconds.Literal)
	}
}

// A pseudo parameter in an ARN outside of Fn::Sub reaches AWS as it is.
func TestPseudoParameterThatNothingFillsIn(t *testing.T) {
	t.Parallel()
	const task = `{"StartAt":"A","States":{"A":{"Type":"Task","Resource":"arn:${AWS::Partition}:states:::sns:publish","Parameters":{"TopicArn":"t","Message":"m"},"End":true}}}`
	const topic = `{"StartAt":"A","States":{"A":{"Type":"Pass","Result":"arn:aws:sns:${AWS::Region}:1:t","End":true}}}`
	const rejects, misses = "error: ${AWS::Partition} stands outside of Fn::Sub", "danger: ${AWS::Region} stands outside of Fn::Sub"
	tests := map[string]struct{ properties, want string }{
		"a text":                   {"DefinitionString: '" + task + "'", rejects},
		"a joined text":            {"DefinitionString: !Join ['', ['" + task + "', !Ref Empty]]", rejects},
		"an ARN of an argument":    {"DefinitionString: '" + topic + "'", misses},
		"Fn::Sub":                  {"DefinitionString: !Sub '" + task + "'", ""},
		"Fn::Sub in a joined text": {"DefinitionString: !Join ['', [!Sub '" + task + "', '']]", ""},
		"a substitution":           {"DefinitionString: '" + task + "'\nDefinitionSubstitutions: {'AWS::Partition': aws}", ""},
		"an object": {
			"Definition:\n  StartAt: A\n  States:\n    A: {Type: Task, Resource: 'arn:${AWS::Partition}:states:::sns:publish', Parameters: {TopicArn: t, Message: m}, End: true}", rejects,
		},
		"an object with Fn::Sub": {
			"Definition:\n  StartAt: A\n  States:\n    A: {Type: Task, Resource: !Sub 'arn:${AWS::Partition}:states:::sns:publish', Parameters: {TopicArn: t, Message: m}, End: true}", "",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := fstest.MapFS{"t.yaml": {Data: []byte(machine(test.properties))}}
			found, err := source.LoadOne(t.Context(), "t.yaml", source.Options{FS: files})
			require.NoError(t, err)
			if test.want == "" {
				require.Empty(t, found.Problems)
				return
			}
			require.Len(t, found.Problems, 1)
			p := found.Problems[0]
			require.Contains(t, strings.ToLower(p.Severity.String())+": "+p.Message, test.want)
		})
	}
}
