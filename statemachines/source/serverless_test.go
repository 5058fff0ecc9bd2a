package source_test

import (
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

// filesOf makes a file system of names and texts.
func filesOf(texts map[string]string) fstest.MapFS {
	tree := fstest.MapFS{}
	for name, text := range texts {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return tree
}

// waitOf is a serverless.yml whose machine waits so many Seconds, with other sections.
func waitOf(seconds, sections string) string {
	return sections + "\nstepFunctions:\n  stateMachines:\n    m:\n      definition:\n        StartAt: A\n        States:\n          A: {Type: Wait, Seconds: " + seconds + ", End: true}\n"
}

// A variable has the value and the type that the files say, and else any.
func TestVariables(t *testing.T) {
	t.Parallel()
	const service = "service: s\nprovider:\n  stage: ${opt:stage, 'dev'}\ncustom:\n  n: 20\n  text: '20'\n  dev: {n: 7}\n  prod: {n: 9}\n  list: [3, 4]\n  'null': null\n  a: \"${self:custom.b}\"\n  b: ${self:custom.a}\n  loop: ${self:custom.loop.x}\n  again: \"${self:custom.again2.x, self:custom.again2.y}\"\n  again2: \"${self:custom.again.x, self:custom.again.y}\"\n  n2: ${self:custom.n}\n  whole: ${file(values.yml)}\n"
	tests := []struct{ name, seconds, want string }{
		{"a number", `"${self:custom.n}"`, "20"},
		{"a text", `"${self:custom.text}"`, `"20"`},
		{"a variable in a name", `"${self:custom.${self:provider.stage}.n}"`, "7"},
		{"a variable in a name, with a default", `"${self:custom.${opt:stage, 'prod'}.n}"`, "9"},
		{"an index", `"${self:custom.list.1}"`, "4"},
		{"a chain", `"${self:custom.n2}"`, "20"},
		{"another alternative", `"${self:custom.nothing, self:custom.n}"`, "20"},
		{"an alternative that is null", `"${self:custom.null, self:custom.n}"`, "20"},
		{"a literal", `"${self:custom.nothing, 5}"`, "5"},
		{"an option", `"${opt:seconds, 6}"`, "6"},
		{"an option without a default", `"${opt:seconds}"`, `"${opt:seconds}"`},
		{"the environment", `"${env:SECONDS}"`, `"${env:SECONDS}"`},
		{"the environment, which may be set", `"${env:SECONDS, 5}"`, `"${env:SECONDS-5}"`},
		{"a parameter of Systems Manager", `"${ssm:/seconds}"`, `"${ssm:-seconds}"`},
		{"an output of a stack", `"${cf:stack.Seconds, 5}"`, `"${cf:stack.Seconds-5}"`},
		{"a member of a file", `"${file(values.yml):seconds}"`, "11"},
		{"a member of a file in JSON", `"${file(./sub/values.json):a.b}"`, "12"},
		{"a file by a variable", `"${file(values.${self:nothing, 'yml'}):seconds}"`, "11"},
		{"a file in custom", `"${self:custom.whole.seconds}"`, "11"},
		{"a file that has a variable", `"${file(values.yml):same}"`, "20"},
		{"a member that is not there", `"${file(values.yml):other}"`, `"${file-values.yml-:other}"`},
		{"a file that is not there", `"${file(nowhere.yml):a, 3}"`, `"${file-nowhere.yml-:a-3}"`},
		{"a file outside", `"${file(/etc/passwd)}"`, `"${file-etc-passwd}"`},
		{"a program", `"${file(values.js):a}"`, `"${file-values.js-:a}"`},
		{"a circle", `"${self:custom.a}"`, `"${self:custom.b}"`},
		{"a circle of a path", `"${self:custom.loop}"`, `"${self:custom.loop.x}"`},
		{"a circle with alternatives", `"${self:custom.again}"`, `"${self:custom.again2.x-self:custom.again2.y}"`},
		{"CloudFormation", `"${AWS::Region}"`, `"${AWS::Region}"`},
		{"a pseudo parameter", `"#{AWS::Region}"`, `"${AWS::Region}"`},
		{"a function", `{"Fn::ImportValue": x}`, `"${Fn::ImportValue.x}"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tree := filesOf(map[string]string{
				"serverless.yml": waitOf(tt.seconds, service), "values.yml": "seconds: 11\nsame: ${self:custom.n}\n",
				"sub/values.json": `{"a": {"b": 12}}`, "values.js": "module.exports = {a: 1}",
			})
			d, err := source.LoadOne(t.Context(), "serverless.yml", source.Options{FS: tree})
			require.NoError(t, err)
			require.Empty(t, d.Problems)
			require.Contains(t, string(d.Text), `"Seconds": `+tt.want+",", tt.seconds)
			if strings.HasPrefix(tt.want, `"$`) || !strings.HasPrefix(tt.want, `"`) {
				require.Empty(t, d.Validate(asl.Standard))
			}
		})
	}
}

// Values of the user's win, and one that nothing uses is an error.
func TestVariableGivenByTheUser(t *testing.T) {
	t.Parallel()
	o := source.Options{FS: filesOf(map[string]string{"serverless.yml": waitOf(`"${opt:n, 5}"`, "")}), Values: map[string]string{"opt:n": "8"}}
	d, err := source.LoadOne(t.Context(), "serverless.yml", o)
	require.NoError(t, err)
	require.Contains(t, string(d.Text), `"Seconds": 8,`)
	o.Values["opt:m"] = "1"
	_, err = source.LoadOne(t.Context(), "serverless.yml", o)
	require.EqualError(t, err, "serverless.yml has no placeholder ${opt:m}")
}

// A machine of serverless.yml stands where its definition is written.
func TestServerlessMachines(t *testing.T) {
	t.Parallel()
	const flow = "StartAt: A\nStates:\n  A: {Type: Pass, End: true, Wrong: 1}\n"
	in := func(indent int) string {
		return "\n" + strings.ReplaceAll(strings.Repeat(" ", indent)+flow, "\n", "\n"+strings.Repeat(" ", indent))
	}
	tests := []struct {
		name  string
		texts map[string]string
		want  []string // definition, type and first problem
	}{
		{"in place", map[string]string{"serverless.yml": "stepFunctions:\n  stateMachines:\n    m:\n      type: EXPRESS\n      definition:" + in(8)}, []string{"serverless.yml#m EXPRESS serverless.yml:8:38 error"}},
		{"version 0", map[string]string{"serverless.yml": "stepFunctions:\n  stateMachines:\n    m:" + in(6)}, []string{"serverless.yml#m  serverless.yml:6:36 error"}},
		{"below stepFunctions", map[string]string{"serverless.yml": "stepFunctions:\n  m:\n    definition:" + in(6)}, []string{"serverless.yml#m  serverless.yml:6:36 error"}},
		{"a file", map[string]string{"serverless.yml": "stepFunctions:\n  stateMachines:\n    m:\n      definition: ${file(a/m.yml)}\n", "a/m.yml": flow}, []string{"serverless.yml#m  a/m.yml:3:30 error"}},
		{
			"JSON of a file",
			map[string]string{"serverless.yml": "stepFunctions:\n  stateMachines:\n    m:\n      definition: ${file(m.json)}\n", "m.json": `{"StartAt": "A", "States": {"A": {"Type": "Pass", "End": true, "Wrong": 1}}}`},
			[]string{"serverless.yml#m  m.json:1:64 error"},
		},
		{
			"all machines in a file",
			map[string]string{"serverless.yml": "stepFunctions: ${file(all.yml):a.b}\n", "all.yml": "a:\n  b:\n    stateMachines:\n      m: {definition: {StartAt: A, States: {A: {Type: Pass, End: true, Wrong: 1}}}}\n"},
			[]string{"serverless.yml#m  all.yml:4:72 error"},
		},
		{
			"a machine in a file",
			map[string]string{"serverless.yml": "stepFunctions:\n  stateMachines:\n    m: ${file(m.yml)}\n", "m.yml": "name: x\ntype: STANDARD\ndefinition:" + in(2)},
			[]string{"serverless.yml#m STANDARD m.yml:6:32 error"},
		},
		{
			"lists",
			map[string]string{"serverless.yml": "stepFunctions:\n  stateMachines:\n    - ${file(a.yml)}\n    - n:\n        definition:" + in(10), "a.yml": "m:\n  definition:" + in(4)},
			[]string{"serverless.yml#m  a.yml:5:34 error", "serverless.yml#n  serverless.yml:8:40 error"},
		},
		{
			"states of a file stand at the variable", map[string]string{
				"serverless.yml": "stepFunctions:\n  stateMachines:\n    m:\n      definition:\n        StartAt: A\n        States: ${file(states.yml)}\n", "states.yml": "A: {Type: Pass, End: true, Wrong: 1}\n",
			}, []string{"serverless.yml#m  serverless.yml:6:17 error"},
		},
		{
			"resources beside",
			map[string]string{"serverless.yml": "stepFunctions:\n  stateMachines:\n    m:\n      definition:" + in(8) + "\nresources:\n  Resources:\n    N: {Type: 'AWS::StepFunctions::StateMachine', Properties: {Definition: {StartAt: A, States: {A: {Type: Pass, End: true, Wrong: 1}}}}}\n"},
			[]string{"serverless.yml#m  serverless.yml:7:38 error", "serverless.yml#N  serverless.yml:11:125 error"},
		},
		{
			"lists of which two are not known",
			map[string]string{"serverless.yml": "stepFunctions:\n  stateMachines:\n    - ${file(a.js)}\n    - n:\n        definition:" + in(10) + "\n    - ${ssm:/m}\n"},
			[]string{"serverless.yml#/stepFunctions/stateMachines/0  serverless.yml:3:7 warning", "serverless.yml#n  serverless.yml:8:40 error", "serverless.yml#/stepFunctions/stateMachines/2  serverless.yml:10:7 warning"},
		},
		{"a text", map[string]string{"serverless.yml": "stepFunctions:\n  stateMachines:\n    m:\n      definition: '{\"StartAt\": \"A\", \"States\": {\"A\": {\"Type\": \"Succeed\"}}}'\n"}, []string{"serverless.yml#m  serverless.yml:4:19 error"}},
		{"no definition", map[string]string{"serverless.yml": "stepFunctions:\n  stateMachines:\n    m: {name: x}\n"}, []string{"serverless.yml#m  serverless.yml:3:5 error"}},
		{"a file that is not there", map[string]string{"serverless.yml": "stepFunctions:\n  stateMachines:\n    m:\n      definition: ${file(m.yml)}\n"}, []string{"serverless.yml#m  serverless.yml:4:19 error"}},
		{"a file that is no YAML", map[string]string{"serverless.yml": "stepFunctions:\n  stateMachines:\n    m:\n      definition: ${file(m.yml)}\n", "m.yml": "a: {"}, []string{"serverless.yml#m  m.yml:1:1 error"}},
		{"a file in custom that is not there", map[string]string{"serverless.yml": "custom: {m: \"${file(m.yml)}\"}\nstepFunctions:\n  stateMachines:\n    m:\n      definition: ${self:custom.m}\n"}, []string{"serverless.yml#m  serverless.yml:5:19 error"}},
		{"a member that is not there", map[string]string{"serverless.yml": "stepFunctions:\n  stateMachines:\n    m:\n      definition: ${file(m.yml):b}\n", "m.yml": "a: 1\n"}, []string{"serverless.yml#m  serverless.yml:4:19 error"}},
		{"a file whose name is not known", map[string]string{"serverless.yml": "stepFunctions:\n  stateMachines:\n    m:\n      definition: ${file(m.${opt:stage}.yml)}\n"}, []string{"serverless.yml#m  serverless.yml:4:19 warning"}},
		{"a program", map[string]string{"serverless.yml": "stepFunctions:\n  stateMachines:\n    m:\n      definition: ${file(m.js)}\n", "m.js": ""}, []string{"serverless.yml#m  serverless.yml:4:19 warning"}},
		{"not known", map[string]string{"serverless.yml": "stepFunctions:\n  stateMachines:\n    m:\n      definition: ${ssm:/m}\n"}, []string{"serverless.yml#m  serverless.yml:4:19 warning"}},
		{"none is known", map[string]string{"serverless.yml": "stepFunctions:\n  stateMachines: ${file(m.js)}\n"}, []string{"serverless.yml  serverless.yml:2:3 warning"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			all, err := source.Load(t.Context(), []string{"."}, source.Options{FS: filesOf(tt.texts)})
			require.NoError(t, err)
			requireProblems(t, tt.want, all)
		})
	}
}

// A folder has the machines of a file of which a variable takes something else, and those
// that it takes once.
func TestMachinesOfSharedFiles(t *testing.T) {
	t.Parallel()
	machine := "{StartAt: A, States: {A: {Type: Succeed}}}"
	tests := []struct {
		name  string
		texts map[string]string
		want  []string
	}{
		{
			"a value of another serverless.yml", map[string]string{
				"a/serverless.yml": waitOf("\"${file(../b/serverless.yml):custom.seconds}\"", ""), "b/serverless.yml": waitOf("5", "custom: {seconds: 7}"),
			}, []string{"a/serverless.yml#m", "b/serverless.yml#m"},
		},
		{
			"a definition of two", map[string]string{
				"serverless.yml": "stepFunctions: {stateMachines: {m: {definition: \"${file(both.yml):a.definition}\"}}}\n",
				"both.yml":       "a: {definition: " + machine + "}\nb: {definition: " + machine + "}\n",
			}, []string{"both.yml#b", "serverless.yml#m"},
		},
		{
			"the whole of a file", map[string]string{
				"serverless.yml": "stepFunctions: {stateMachines: {m: {definition: \"${file(m.yml)}\"}}}\n", "m.yml": machine,
			}, []string{"serverless.yml#m"},
		},
		{
			"a value of a definition",
			map[string]string{"x.json": `[{"name": "x", "definition": {"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": "${file(m.yml):States.A.Seconds}", "End": true}}}}]`, "m.yml": machine},
			[]string{"m.yml", "x.json#x"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			all, err := source.Load(t.Context(), []string{"."}, source.Options{FS: filesOf(tt.texts)})
			require.NoError(t, err)
			var got []string
			for _, d := range all {
				got = append(got, d.Name)
			}
			require.Equal(t, tt.want, got)
		})
	}
}

// A file in the working directory is read, also where serverless.yml has an absolute name.
func TestFilesOfTheWorkingDirectory(t *testing.T) {
	top := t.TempDir()
	for name, text := range map[string]string{
		"work/svc/serverless.yml": "stepFunctions: {stateMachines: {m: {definition: \"${file(../m.yml)}\"}, n: {definition: \"${file(../../n.yml)}\"}}}\n",
		"work/svc/t.yml":          "Resources: {M: {Type: AWS::Serverless::StateMachine, Properties: {DefinitionUri: ../m.yml}}}\n",
		"work/m.yml":              "StartAt: A\nStates: {A: {Type: Succeed}}\n",
		"n.yml":                   "StartAt: A\nStates: {A: {Type: Succeed}}\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(top, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(top, name), []byte(text), 0o600))
	}
	t.Chdir(filepath.Join(top, "work"))
	for _, folder := range []string{"svc", filepath.Join(top, "work", "svc")} {
		all, err := source.Load(t.Context(), []string{folder}, source.Options{})
		require.NoError(t, err)
		require.Len(t, all, 3)
		require.Empty(t, all[0].Problems)
		require.Contains(t, all[1].Problems.Brief(), "warning: ../../n.yml lies outside of the folder of serverless.yml and of the working directory, "+
			"so the definition of n is not checked: run jobpoller in a folder that has both")
		require.Empty(t, all[2].Problems)
	}
}

// requireProblems compares definitions: name, type, file and place of the first problem, and
// its severity.
func requireProblems(t *testing.T, want []string, all []*source.Definition) {
	t.Helper()
	var got []string
	for _, d := range all {
		line := fmt.Sprintf("%s %s ok", d.Name, d.Type)
		if problems := d.Validate(asl.Standard); len(problems) > 0 {
			p := problems[0]
			line = fmt.Sprintf("%s %s %s:%d:%d %s", d.Name, d.Type, d.File, p.Line, p.Column, strings.ToLower(p.Severity.String()))
		}
		got = append(got, line)
	}
	require.Equal(t, want, got)
}

// A message advises nothing of CloudFormation, whose properties a serverless.yml has not.
func TestServerlessHasNoDefinitionString(t *testing.T) {
	t.Parallel()
	for _, definition := range []string{"{Fn::Sub: '{}'}", "[]", "5"} {
		d, err := source.LoadOne(t.Context(), "serverless.yml", source.Options{FS: filesOf(map[string]string{
			"serverless.yml": "stepFunctions: {stateMachines: {m: {definition: " + definition + "}}}\n",
		})})
		require.NoError(t, err)
		require.Len(t, d.Problems, 1)
		require.Contains(t, d.Problems[0].Message, "expected a definition, which is an object")
		require.NotContains(t, d.Problems[0].Message, "DefinitionString")
	}
}
