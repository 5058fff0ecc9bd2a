package source_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/source"
)

// wait is a definition with a placeholder.
const wait = `{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": ${S}, "End": true}}}`

// Each file has its own values, those of the caller win, and none needs to be used.
func TestValuesOfFiles(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"a/a.json": {Data: []byte(wait)}, "b/b.json": {Data: []byte(wait)},
		"c/t.yaml": {Data: []byte("Parameters: {P: {Type: String}}\nResources:\n  M:\n    Type: AWS::Serverless::StateMachine\n    Properties:\n" +
			"      DefinitionUri: d.json\n      DefinitionSubstitutions: {S: !Ref P}\n")},
		"c/d.json":         {Data: []byte(wait)},
		"e/main.tf":        {Data: []byte("variable \"s\" {}\nresource \"aws_sfn_state_machine\" \"m\" {\n  name = \"m\"\n  definition = jsonencode({StartAt = \"A\", States = {A = {Type = \"Wait\", Seconds = var.s, End = true}}})\n}\n")},
		"f/serverless.yml": {Data: []byte("stepFunctions: {stateMachines: {m: {definition: {StartAt: A, States: {A: {Type: Wait, Seconds: \"${opt:s}\", End: true}}}}}}")},
	}
	values := map[string]map[string]string{
		"a/a.json": {"S": "11", "Other": "1"}, "c/t.yaml": {"P": "33"}, "c/d.json": {"S": "99"}, "e/main.tf": {"s": "55"}, "f/serverless.yml": {"opt:s": "66"},
	}
	load := func(given map[string]string, names ...string) string {
		all, err := source.Load(t.Context(), names, source.Options{
			FS: files, Values: given, ValuesOf: func(file string) map[string]string { return values[file] },
		})
		require.NoError(t, err)
		var seconds []string
		for _, d := range all {
			_, text, _ := strings.Cut(strings.ReplaceAll(string(d.Text), "\n", ""), `"Seconds": `)
			text, _, _ = strings.Cut(text, ",")
			seconds = append(seconds, strings.Trim(text, `"`))
		}
		return strings.Join(seconds, " ")
	}
	require.Equal(t, "11 ${S} 33 55 66", load(nil, "a/a.json", "b/b.json", "c/t.yaml", "e/main.tf", "f/serverless.yml"))
	require.Equal(t, "55", load(nil, "e"), "a module has the values of its files")
	require.Equal(t, "7 7", load(map[string]string{"S": "7"}, "a/a.json", "b/b.json"))
}

// A walk or a glob passes over what the caller says; what is named itself is read.
func TestPassOver(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	for _, name := range []string{"a.json", "skip.json", "gen/b.json", "gen/deep/c.json", "gen.d/main.tf"} {
		files[name] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(wait, "${S}", "1"))}
	}
	load := func(names ...string) []string {
		all, err := source.Load(t.Context(), names, source.Options{FS: files, PassOver: func(name string, _ bool) bool {
			return name == "skip.json" || strings.HasPrefix(name, "gen")
		}})
		require.NoError(t, err)
		var found []string
		for _, d := range all {
			found = append(found, d.File)
		}
		return found
	}
	require.Equal(t, []string{"a.json"}, load("."))
	require.Equal(t, []string{"a.json"}, load("*.json"))
	require.Equal(t, []string{"skip.json", "gen/b.json"}, load("skip.json", "gen/b.json"))
	require.Equal(t, []string{"gen/b.json", "gen/deep/c.json"}, load("gen"))
}
