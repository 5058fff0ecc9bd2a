package source_test

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

const (
	good     = `{"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}`
	goodYAML = "StartAt: A\nStates:\n  A: {Type: Succeed}\n"
	two      = `{"Resources": {
  "B": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {"StateMachineType": "EXPRESS", "DefinitionString": {"Fn::Join": ["", ["{\"StartAt\": \"A\", \"Sta", "tes\": {\"A\": {\"Type\": \"Succeed\"}}}"]]}}},
  "Topic": {"Type": "AWS::SNS::Topic"},
  "Fn::ForEach::Each": ["Name", ["x", "y"], {"${Name}Machine": {"Type": "AWS::Serverless::StateMachine", "Properties": {"Type": "STANDARD", "DefinitionUri": "sub/m.asl.json"}}}]
}}`
	topic = "Resources:\n  Topic: {Type: AWS::SNS::Topic}\n"
)

// project is a folder with what people have in theirs.
func project() fstest.MapFS {
	tree := fstest.MapFS{}
	for name, text := range map[string]string{
		"template.json": two, "sub/m.asl.json": good, "other/m.asl.yml": goodYAML, "other/m.json": good, "other/m.asl": good, "topic.yaml": topic,
		"other/bare.json":    `{"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": ${Wait}, "End": true}}}`,
		"other/package.json": `{"name": "StartAt States"}`, "other/readme.md": "```json\n" + good + "\nStartAt: States:\n  \"StartAt\": \"A\",\n  \"States\": {", "other/broken.json": `{"StartAt": "States"`,
		"other/slip.json": "{\n  \"StartAt\": \"A\",\n  \"States\": {,}\n}", "other/slip.yaml": "StartAt: A\nStates:\n  A: {Type: Succeed\n",
		"wrong.asl.json": `{"StartAt": "States"`, "wrong.yaml": "Resources:\n M: {Type: AWS::Serverless::StateMachine\n",
		"node_modules/x.asl.json": good, ".git/x.asl.json": good, ".serverless/x.asl.json": good, ".aws-sam/build/template.yaml": goodYAML,
		"cdk.out/App.template.json": strings.ReplaceAll(two, "sub/m.asl.json", "asset.m.asl.json"), "cdk.out/asset.m.asl.json": good,
		"cdk.out/AppNested1.nested.template.json": two, "cdk.out/manifest.json": "{}", "cdk.out/asset.1/x.asl.json": good,
		"cdk.out/tree.json": `{"version": "tree-0.1", "tree": {"attributes": {"aws:cdk:cloudformation:props": {"definitionString": ` + strconv.Quote(good) + `}}}}`,
		"od#d/[x].asl.json": good,
	} {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return tree
}

func TestNames(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		want []string
		err  string
	}{
		{name: "sub/m.asl.json", want: []string{"sub/m.asl.json"}},
		{name: "template.json", want: []string{"template.json#B", "template.json#${Name}Machine"}},
		{name: "template.json#B", want: []string{"template.json#B"}},
		{name: "template.json#C", err: "template.json has no state machine \"C\"; it has B, ${Name}Machine"},
		{name: "sub/m.asl.json#B", err: "sub/m.asl.json is no template, so it has no state machine \"B\": name the file alone"},
		{name: "topic.yaml", err: "topic.yaml has no state machine: expected a resource of type AWS::Serverless::StateMachine or AWS::StepFunctions::StateMachine"},
		{name: "nowhere.json", err: "open nowhere.json: file does not exist"},
		{name: "nowhere.json#B", err: "open nowhere.json: file does not exist"},
		{name: "od#d/[x].asl.json", want: []string{"od#d/[x].asl.json"}},
		{name: "other/m.*", want: []string{"other/m.asl", "other/m.asl.yml", "other/m.json"}},
		{name: "other/n.*", err: "no file matches other/n.*"},
		{name: "other/[", err: "no file matches other/["},
		{name: "other/*.json", want: []string{"other/bare.json", "other/m.json", "other/slip.json"}},
		{name: "oth*", want: []string{"other/bare.json", "other/m.asl", "other/m.asl.yml", "other/m.json", "other/slip.json", "other/slip.yaml"}},
		{name: "other/p*.json", err: "of the files that match other/p*.json, none has a state machine definition or a template with one"},
		{name: "cdk.out", want: []string{
			"cdk.out/App.template.json#B", "cdk.out/App.template.json#${Name}Machine",
			"cdk.out/AppNested1.nested.template.json#B", "cdk.out/AppNested1.nested.template.json#${Name}Machine",
		}},
		{name: ".aws-sam", want: []string{".aws-sam/build/template.yaml"}},
		{name: "cdk.out/asset.1", want: []string{"cdk.out/asset.1/x.asl.json"}},
		{name: ".", want: []string{
			"cdk.out/App.template.json#B", "cdk.out/App.template.json#${Name}Machine",
			"cdk.out/AppNested1.nested.template.json#B", "cdk.out/AppNested1.nested.template.json#${Name}Machine",
			"od#d/[x].asl.json", "other/bare.json", "other/m.asl", "other/m.asl.yml", "other/m.json", "other/slip.json", "other/slip.yaml",
			"template.json#B", "template.json#${Name}Machine", "wrong.asl.json", "wrong.yaml",
		}},
		{name: "-", want: []string{"-#B", "-#${Name}Machine"}},
		{name: "-#B", want: []string{"-#B"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			all, err := source.Load(t.Context(), []string{tt.name}, source.Options{FS: project(), Stdin: strings.NewReader(two)})
			if tt.err != "" {
				require.EqualError(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			var names []string
			for _, d := range all {
				names = append(names, d.Name)
			}
			require.Equal(t, tt.want, names)
			if len(all) > 1 {
				_, err := source.LoadOne(t.Context(), tt.name, source.Options{FS: project(), Stdin: strings.NewReader(two)})
				require.EqualError(t, err, fmt.Sprintf("%s has %d state machines: name one of them: %s", tt.name, len(names), strings.Join(names, ", ")))
			}
		})
	}
}

func TestTypeIsThatOfTheTemplate(t *testing.T) {
	t.Parallel()
	all, err := source.Load(t.Context(), []string{"template.json", "sub/m.asl.json"}, source.Options{FS: project()})
	require.NoError(t, err)
	require.Equal(t, []asl.ExecutionType{asl.Express, asl.Standard, ""}, []asl.ExecutionType{all[0].Type, all[1].Type, all[2].Type})
	require.Equal(t, [2]string{"sub/m.asl.json", "template.json"}, [2]string{all[1].File, all[1].Template})
}

// What could be read comes beside the error about the rest.
func TestLoadGoesOn(t *testing.T) {
	t.Parallel()
	all, err := source.Load(t.Context(), []string{"nowhere.json", "sub/m.asl.json", "topic.yaml"}, source.Options{FS: project()})
	require.ErrorContains(t, err, "nowhere.json")
	require.ErrorContains(t, err, "topic.yaml has no state machine")
	require.Len(t, all, 1)
}

func TestValuesThatNothingUses(t *testing.T) {
	t.Parallel()
	o := source.Options{FS: project(), Values: map[string]string{"Wait": "5", "Wiat": "5"}}
	_, err := source.Load(t.Context(), []string{"other/bare.json"}, o)
	var unused *source.ValueError
	require.ErrorAs(t, err, &unused)
	require.Equal(t, "Wiat", unused.Name)
	require.EqualError(t, err, "other/bare.json has no placeholder ${Wiat}")
	_, err = source.Load(t.Context(), []string{"other", "sub"}, o)
	require.EqualError(t, err, "no definition has a placeholder ${Wiat}")
	delete(o.Values, "Wiat")
	d, err := source.LoadOne(t.Context(), "other/bare.json", o)
	require.NoError(t, err)
	require.Contains(t, string(d.Text), `"Seconds": 5,`)
}

// A file that is something else is left out, if it was named.
func TestSkip(t *testing.T) {
	t.Parallel()
	var skipped []string
	all, err := source.Load(t.Context(), []string{"other/m.*", "sub"}, source.Options{FS: project(), Skip: func(name string, text []byte) bool {
		require.NotEmpty(t, text)
		skipped = append(skipped, name)
		return strings.HasSuffix(name, "l")
	}})
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, []string{"other/m.asl", "other/m.asl.yml", "other/m.json"}, skipped)
}

// What a folder or a glob gives and is something else is told, and a file that was
// named is not passed over.
func TestPassed(t *testing.T) {
	t.Parallel()
	var passed []string
	o := source.Options{FS: project(), Passed: func(name string) { passed = append(passed, name) }}
	all, err := source.Load(t.Context(), []string{"other/*", "cdk.out"}, o)
	require.NoError(t, err)
	require.Len(t, all, 10)
	require.Equal(t, []string{"other/broken.json", "other/package.json", "other/readme.md", "cdk.out/manifest.json", "cdk.out/tree.json"}, passed)
	passed = nil
	_, err = source.LoadOne(t.Context(), "other/package.json", o)
	require.EqualError(t, err, "other/package.json has no state machine: expected an object with StartAt and States, or a file that has one within")
	require.Empty(t, passed)
}

// A problem inside of a string stands at its character, past escapes and folds.
func TestProblemsInsideOfStrings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       string // the text from the place on
	}{
		{"m.json", `{"QueryLanguage": "JSONata", "StartAt": "A", "States": {"A": {"Type": "Pass", "End": true, "Output": "{% '\u00e9\n' & ) %}"}}}`, ") %}"},
		{"plain.yaml", "QueryLanguage: JSONata\nStartAt: A\nStates:\n  A: {Type: Pass, End: true, Output: '{% ''é'' & ) %}'}\n", ") %}"},
		{"literal.yaml", "QueryLanguage: JSONata\nStartAt: A\nStates:\n  A:\n    Type: Pass\n    End: true\n    Output: |-\n      {% (\n        $x := 1;\n\n        )) %}\n", ") %}\n"},
		{"folded.yaml", "QueryLanguage: JSONata\nStartAt: A\nStates:\n  A:\n    Type: Pass\n    End: true\n    Output: >-\n      {% 'é' &\n\n      ) %}\n", ") %}\n"},
		{"quoted.yaml", "QueryLanguage: JSONata\nStartAt: A\nStates:\n  A:\n    Type: Pass\n    End: true\n    Output: \"{% '\\xe9\\t\\\n      ' & \\x29 %}\"\n", `\x29 %}`},
		{"t.yaml", machine("DefinitionString: !Sub |\n  {\"QueryLanguage\": \"JSONata\", \"StartAt\": \"A\", \"States\": {\"A\": {\"Type\": \"Pass\", \"End\": true,\n    \"Output\": \"{% '${Given}\\n' & ) %}\"}}}"), ") %}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			problems := validate(t, map[string]string{tt.name: tt.text})
			require.Len(t, problems, 1)
			lines := strings.SplitAfter(tt.text, "\n")
			rest := string([]rune(lines[problems[0].Line-1])[problems[0].Column-1:])
			require.True(t, strings.HasPrefix(rest, strings.TrimSpace(tt.want)), "%s at %s", problems[0].Message, rest)
		})
	}
}

// Values in brackets of YAML are values, known or not.
func TestPlaceholdersInBrackets(t *testing.T) {
	t.Parallel()
	text := "StartAt: A\nStates:\n  A: {Type: Wait, Seconds: ${Wait}, Comment: \"${Wait} {x}\", End: true}\n"
	require.Empty(t, validate(t, map[string]string{"m.yaml": text}))
	d, err := source.LoadOne(t.Context(), "m.yaml", source.Options{FS: fstest.MapFS{"m.yaml": {Data: []byte(text)}}, Values: map[string]string{"Wait": "5"}})
	require.NoError(t, err)
	m, err := d.Parse()
	require.NoError(t, err)
	require.EqualValues(t, 5, m.State("A").Wait.Seconds.Literal)
}

// Aliases and functions that multiply do not fill the memory.
func TestLaughs(t *testing.T) {
	t.Parallel()
	var aliases, joins strings.Builder
	aliases.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	joins.WriteString("a0: &a0 !Join ['', [x, x, x, x, x, x, x, x, x]]\n")
	for i := 1; i < 30; i++ {
		list := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", ")
		fmt.Fprintf(&aliases, "a%d: &a%d [%s]\n", i, i, list)
		fmt.Fprintf(&joins, "a%d: &a%d !Join ['', [%s]]\n", i, i, list)
	}
	problems := validate(t, map[string]string{"t.yaml": aliases.String() + machine("Definition: {States: *a29}")})
	require.Contains(t, problems[0].Message, "aliases repeat more than 50000 values in this definition")
	problems = validate(t, map[string]string{"t.yaml": joins.String() + machine("DefinitionString: *a29")})
	require.Contains(t, problems.Brief(), "a definition has at most 1048576 bytes; with its functions called, this one has more")
	var merges strings.Builder
	merges.WriteString("m0: &m0 {a: 1}\n")
	for i := range 1500 {
		fmt.Fprintf(&merges, "m%d: &m%d {<<: *m%d, b%d: 1}\n", i+1, i+1, i, i)
	}
	problems = validate(t, map[string]string{"t.yaml": merges.String() + machine("Definition: *m1500")})
	require.Contains(t, problems[0].Message, "merge keys add more than 100000 members")
	var names strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&names, "n%d: 1, ", i)
	}
	problems = validate(t, map[string]string{"t.yaml": "e: &e {}\nmany: {" + names.String() + "<<: [" + strings.Repeat("*e, ", 50_000) + "]}\n" + machine("Definition: []")})
	require.Contains(t, problems[0].Message, "expected a definition, which is an object, found an array")
}

// What has no end, or none in sight, is not read.
func TestFilesOfTheDisk(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	template := write("t.yaml", machine("DefinitionUri: m.json"))
	write("below/m.asl.json", good)
	require.NoError(t, os.Symlink(folder, filepath.Join(folder, "below", "again")))
	require.NoError(t, os.Symlink("m.json", filepath.Join(folder, "m.json"))) // itself

	d, err := source.LoadOne(t.Context(), template, source.Options{})
	require.NoError(t, err)
	require.Contains(t, d.Problems.Brief(), "the file of the definition cannot be read: ")
	all, err := source.Load(t.Context(), []string{folder}, source.Options{})
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.NoError(t, os.Remove(filepath.Join(folder, "m.json")))
	write("m.json", strings.Repeat(" ", 3<<20))
	d, err = source.LoadOne(t.Context(), template, source.Options{})
	require.NoError(t, err)
	require.Contains(t, d.Problems.Brief(), "m.json has more than 2097152 bytes, which no definition has")
	_, err = source.LoadOne(t.Context(), filepath.Join(folder, "m.json"), source.Options{})
	require.ErrorContains(t, err, "m.json has no state machine, and more than 2097152 bytes, which no definition has")
	all, err = source.Load(t.Context(), []string{folder + "/below/*.json"}, source.Options{})
	require.NoError(t, err)
	require.Len(t, all, 1)
}

// A name that a folder lists and that cannot be opened does not match itself for
// ever.
func TestNameThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	const name = "\xfd*"
	_, err := source.Load(t.Context(), []string{name}, source.Options{FS: fstest.MapFS{name: {Data: []byte(good)}}})
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// unreadable is a file system in which some names cannot be opened.
type unreadable struct {
	fs.FS

	names []string
}

// Open implements fs.FS.
func (u unreadable) Open(name string) (fs.File, error) {
	if slices.Contains(u.names, name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return u.FS.Open(name)
}

// A file or folder that cannot be read keeps no other from being read.
func TestUnreadableFilesOfFolder(t *testing.T) {
	t.Parallel()
	const definition = `{"StartAt": "D", "States": {"D": {"Type": "Succeed"}}}`
	files := fstest.MapFS{}
	for _, name := range []string{"f/a.json", "f/closed/b.json", "f/d.json", "f/e/g.json"} {
		files[name] = &fstest.MapFile{Data: []byte(definition)}
	}
	all, err := source.Load(t.Context(), []string{"f"}, source.Options{FS: unreadable{files, []string{"f/closed", "f/d.json"}}})
	require.EqualError(t, err, "open f/closed: permission denied\nopen f/d.json: permission denied")
	require.Len(t, all, 2)
}

// A template goes on behind a Fn::ForEach, and behind what is no state machine.
func TestMachinesBehindOthers(t *testing.T) {
	t.Parallel()
	const machine = `{"Type": "AWS::Serverless::StateMachine", "Properties": {"Definition": {"StartAt": "A", "States": {"A": {"Type": "Succeed"}}}}}`
	all, err := source.Load(t.Context(), []string{"-"}, source.Options{Stdin: strings.NewReader(`{"Resources": {
		"Fn::ForEach::Each": ["Name", ["x"], {"${Name}Machine": ` + machine + `}], "Topic": {"Type": "AWS::SNS::Topic"},
		"Fn::ForEach::Wrong": ["Name"], "Last": ` + machine + `}}`)})
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, []string{"${Name}Machine", "Last"}, []string{all[0].ID, all[1].ID})
}

// A folder whose definitions are broken says where.
func TestFolderOfBrokenFiles(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{}
	for name, text := range map[string]string{
		"x.json": `{"StartAt": "A", "States": {"A": {"Type": "Succeed"},}}`, "y.yaml": "StartAt: {A\n", "package.json": `{"name": "x"}`,
	} {
		tree["broken/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	_, err := source.Load(t.Context(), []string{"broken"}, source.Options{FS: tree})
	require.ErrorContains(t, err, "broken has no state machine definition and no template with one\nbroken/x.json:1:54: not valid JSON: ")
	require.ErrorContains(t, err, "\nbroken/y.yaml:1:")
	require.NotContains(t, err.Error(), "package.json")
	tree["broken/z.json"] = &fstest.MapFile{Data: []byte(good)}
	found, err := source.Load(t.Context(), []string{"broken"}, source.Options{FS: tree})
	require.NoError(t, err)
	require.Len(t, found, 1)
}

// An input that never ends, such as /dev/zero, filled the memory.
func TestEndlessInput(t *testing.T) {
	t.Parallel()
	in := &endless{left: 128 << 20}
	_, err := source.Load(t.Context(), []string{"-"}, source.Options{FS: fstest.MapFS{}, Stdin: in})
	require.ErrorContains(t, err, "has more than 52428800 bytes")
	require.Positive(t, in.left)
}

// endless is an input whose end comes late.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left -= len(p); e.left < 0 {
		return 0, io.EOF
	}
	return len(p), nil
}
