package source_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// planted is a field that no state has. It stands once in each file.
const planted = "Plänted"

// sample has what definitions have: nesting, text of several lines, characters
// that JSON and YAML escape.
const sample = `{
  "Comment": "waits: \"until\" it's done\n\n  then {ends} # with a \\ and a\ttab \u00e9 \ud83d\ude00",
  "StartAt": "Start it",
  "States": {
    "Start it": {"Type": "Task", "Resource": "arn:aws:states:::athena:startQueryExecution", "Parameters": {"QueryString": "select 1;\nselect 'a'\n", "n": [1, -2.5, true, null, "no", "2020-01-01", ""]},
      "Retry": [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 3}], "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Broken"}], "Next": "Wait a bit"},
    "Wait a bit": {"Type": "Wait", "Seconds": 30, "Next": "Each"},
    "Each": {"Type": "Map", "ItemProcessor": {"ProcessorConfig": {"Mode": "INLINE"}, "StartAt": "One", "States": {"One": {"Type": "Pass", "Comment": "  x: y", "End": true}}}, "Next": "Done?"},
    "Done?": {"Type": "Choice", "Choices": [{"And": [{"Variable": "$.a", "IsPresent": true}, {"Variable": "$.a", "StringEquals": "yes"}], "Next": "Ok"}], "Default": "Wait a bit"},
    "Broken": {"Type": "Fail", "Cause": "on\nseveral\nlines"},
    "Ok": {"Type": "Succeed"}
  }
}`

// places are the objects of the sample that may not have the planted field.
var places = []string{
	"", "/States/Start it", "/States/Start it/Retry/0", "/States/Start it/Catch/0", "/States/Wait a bit", "/States/Each", "/States/Each/ItemProcessor",
	"/States/Each/ItemProcessor/ProcessorConfig", "/States/Each/ItemProcessor/States/One", "/States/Done?", "/States/Done?/Choices/0",
	"/States/Done?/Choices/0/And/1", "/States/Broken", "/States/Ok",
}

// writing is a way to write a definition into files: it returns the files and the
// one that has the definition.
type writing struct {
	name  string
	write func(r *rand.Rand, definition any) (files map[string]string, file string)
}

var writings = []writing{
	{"JSON", func(r *rand.Rand, d any) (map[string]string, string) { return alone("m.asl.json", inJSON(r, d)) }},
	{"YAML", func(r *rand.Rand, d any) (map[string]string, string) { return alone("m.asl.yaml", inYAML(r, d)) }},
	{"JSON template", func(r *rand.Rand, d any) (map[string]string, string) {
		return alone("t.json", inJSON(r, cloudFormation(map[string]any{"Definition": d})))
	}},
	{"YAML template", func(r *rand.Rand, d any) (map[string]string, string) {
		return alone("t.yaml", inYAML(r, cloudFormation(map[string]any{"Definition": d})))
	}},
	{"JSON text in a JSON template", func(r *rand.Rand, d any) (map[string]string, string) {
		return alone("t.json", inJSON(r, cloudFormation(map[string]any{"DefinitionString": inJSON(r, d)})))
	}},
	{"JSON text in a YAML template", func(r *rand.Rand, d any) (map[string]string, string) {
		return alone("t.yaml", inYAML(r, cloudFormation(map[string]any{"DefinitionString": inJSON(r, d)})))
	}},
	{"Fn::Sub", func(r *rand.Rand, d any) (map[string]string, string) {
		sub := map[string]any{"Fn::Sub": []any{inJSON(r, d), map[string]any{"X": 1}}}
		return alone("t.yaml", inYAML(r, cloudFormation(map[string]any{"DefinitionString": sub})))
	}},
	{"!Sub", func(r *rand.Rand, d any) (map[string]string, string) {
		text := inYAML(r, cloudFormation(map[string]any{"DefinitionString": map[string]any{"short": inJSON(r, d)}}))
		return alone("t.yaml", text)
	}},
	{"Fn::Join", func(r *rand.Rand, d any) (map[string]string, string) {
		join := map[string]any{"Fn::Join": []any{"", cut(r, inJSON(r, d))}}
		return alone("t.template.json", inJSON(r, cloudFormation(map[string]any{"DefinitionString": join})))
	}},
	{"DefinitionUri, JSON", func(r *rand.Rand, d any) (map[string]string, string) {
		return map[string]string{"t.yaml": inYAML(r, serverless("sub/m.json")), "sub/m.json": inJSON(r, d)}, "sub/m.json"
	}},
	{"DefinitionUri, YAML", func(r *rand.Rand, d any) (map[string]string, string) {
		return map[string]string{"t.json": inJSON(r, serverless("./sub/m.yml")), "sub/m.yml": inYAML(r, d)}, "sub/m.yml"
	}},
	{"serverless.yml", func(r *rand.Rand, d any) (map[string]string, string) {
		return alone("serverless.yml", inYAML(r, stepFunctions(d)))
	}},
	{"a JSON file of serverless.yml", func(r *rand.Rand, d any) (map[string]string, string) {
		return map[string]string{"serverless.yml": inYAML(r, stepFunctions("${file(sub/m.json)}")), "sub/m.json": inJSON(r, d)}, "sub/m.json"
	}},
	{"a YAML file of serverless.yml", func(r *rand.Rand, d any) (map[string]string, string) {
		return map[string]string{"serverless.yml": inYAML(r, stepFunctions("${file(sub/m.yml):a}")), "sub/m.yml": inYAML(r, map[string]any{"a": d})}, "sub/m.yml"
	}},
	{"an object in a document", func(r *rand.Rand, d any) (map[string]string, string) {
		return alone("machines.yml", inYAML(r, map[string]any{"machines": []any{map[string]any{"name": "m", "definition": d}}}))
	}},
	{"Kubernetes", func(r *rand.Rand, d any) (map[string]string, string) {
		return alone("machine.yaml", inYAML(r, map[string]any{"kind": "StateMachine", "spec": map[string]any{"name": "m", "definition": inJSON(r, d)}})+"---\nkind: Role\n")
	}},
	{"an answer", func(r *rand.Rand, d any) (map[string]string, string) {
		return alone("answer.json", inJSON(r, map[string]any{"name": "m", "stateMachineArn": "arn:aws:states:::m", "definition": inJSON(r, d)}))
	}},
	{"a template in an answer", func(r *rand.Rand, d any) (map[string]string, string) {
		return alone("answer.json", inJSON(r, map[string]any{"TemplateBody": unescaped(r, inYAML, cloudFormation(map[string]any{"Definition": d}))}))
	}},
	{"a text in a template in an answer", func(r *rand.Rand, d any) (map[string]string, string) {
		template := unescaped(r, inYAML, cloudFormation(map[string]any{"DefinitionString": unescaped(r, inJSON, d)}))
		return alone("answer.json", inJSON(r, map[string]any{"TemplateBody": template}))
	}},
	{"a state of Terraform", func(r *rand.Rand, d any) (map[string]string, string) {
		resource := map[string]any{"type": "aws_sfn_state_machine", "name": "m", "instances": []any{map[string]any{"attributes": map[string]any{"definition": inJSON(r, d)}}}}
		return alone("terraform.tfstate", inJSON(r, map[string]any{"version": 4, "terraform_version": "1.11.4", "lineage": "x", "resources": []any{resource}}))
	}},
}

// stepFunctions is a serverless.yml with a definition.
func stepFunctions(definition any) map[string]any {
	return map[string]any{"service": "s", "stepFunctions": map[string]any{"stateMachines": map[string]any{"m": map[string]any{"definition": definition}}}}
}

// unescaped writes a value with each of its characters as it is, for a text around it may
// escape it again.
func unescaped(r *rand.Rand, write func(r *rand.Rand, v any) string, v any) string {
	for {
		if text := write(r, v); !strings.Contains(text, `\u00e4`) && !strings.Contains(text, `\xe4`) {
			return text
		}
	}
}

// A mistake stands where the user wrote it, whatever the file looks like.
func TestMistakesStandWhereTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, w := range writings {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, uint64(len(w.name))))
			for i := range 60 {
				place := places[r.IntN(len(places))]
				files, file := w.write(r, plant(t, r, place))
				text := files[file]
				require.Equal(t, 1, strings.Count(text, planted)+strings.Count(text, "Pl\\xe4nted")+strings.Count(text, `Pl\u00e4nted`)+strings.Count(text, `Pl\\u00e4nted`), "%s", text)
				problems := validate(t, files)
				require.Len(t, problems, 1, "%d at %q in\n%s", i, place, text)
				require.Equal(t, place+"/"+planted, problems[0].Pointer)
				line, column := placeOf(text)
				require.Equal(t, fmt.Sprintf("%d:%d", line, column), fmt.Sprintf("%d:%d", problems[0].Line, problems[0].Column), "%s", text)
			}
		})
	}
}

// The bytes of a value are the value, in each form that has such bytes.
func TestRangeIsTheValue(t *testing.T) {
	t.Parallel()
	for _, w := range writings {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(2, uint64(len(w.name))))
			for range 20 {
				plain := definition(t, r)
				files, file := w.write(r, plain)
				d := load(t, files)
				machine, err := d.Parse()
				require.NoError(t, err)
				for s := range machine.All {
					place, ok := d.Place(s.Position.Pointer)
					require.Equal(t, d.Form != source.FormComposed, ok)
					if !ok || d.Copied { // nothing is written there
						continue
					}
					text := files[file][place.From:place.To]
					require.Contains(t, text, string(s.Type))
					if d.Form != source.FormText {
						require.Equal(t, at(t, plain, s.Position.Pointer), read(t, file, files[file], place.From, text), "%s of\n%s", text, files[file])
					}
				}
			}
		})
	}
}

func alone(name, text string) (map[string]string, string) { return map[string]string{name: text}, name }

func cloudFormation(properties map[string]any) map[string]any {
	return map[string]any{"Resources": map[string]any{
		"Topic": map[string]any{"Type": "AWS::SNS::Topic"},
		"M":     map[string]any{"Type": "AWS::StepFunctions::StateMachine", "Properties": properties},
	}}
}

func serverless(uri string) map[string]any {
	return map[string]any{"Resources": map[string]any{
		"M": map[string]any{"Type": "AWS::Serverless::StateMachine", "Properties": map[string]any{"DefinitionUri": uri}},
	}}
}

// definition returns the sample, at times without the character that go-yaml
// writes in double quotes alone.
func definition(t *testing.T, r *rand.Rand) any {
	t.Helper()
	text := sample
	if r.IntN(4) > 0 {
		text = strings.Replace(text, `\ud83d\ude00`, "", 1)
	}
	var root any
	require.NoError(t, json.Unmarshal([]byte(text), &root))
	return root
}

// plant returns the sample with the planted field in one of its objects.
func plant(t *testing.T, r *rand.Rand, place string) any {
	t.Helper()
	root := definition(t, r)
	object, ok := at(t, root, place).(map[string]any)
	require.True(t, ok, place)
	object[planted] = "x"
	return root
}

func at(t *testing.T, v any, pointer string) any {
	t.Helper()
	for _, step := range strings.Split(pointer, "/")[1:] {
		switch inner := v.(type) {
		case map[string]any:
			v = inner[step]
		case []any:
			v = inner[step[0]-'0']
		}
		require.NotNil(t, v, pointer)
	}
	return v
}

// inJSON writes a value with or without white space, and with more escapes than
// needed.
func inJSON(r *rand.Rand, v any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if r.IntN(2) == 0 {
		encoder.SetIndent("", strings.Repeat(" ", r.IntN(4)))
	}
	if err := encoder.Encode(v); err != nil {
		panic(err)
	}
	text := b.String()
	if r.IntN(3) == 0 {
		text = strings.ReplaceAll(text, "ä", `\u00e4`)
	}
	if r.IntN(3) == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// inYAML writes a value with any of YAML's styles.
func inYAML(r *rand.Rand, v any) string {
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2 + r.IntN(3))
	if err := encoder.Encode(style(r, v)); err != nil {
		panic(err)
	}
	text := b.String()
	if r.IntN(3) == 0 {
		text = "# größe\n---\n" + text
	}
	if r.IntN(3) == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

func style(r *rand.Rand, v any) *yaml.Node {
	switch v := v.(type) {
	case map[string]any:
		if text, ok := v["short"]; ok {
			n := style(r, text)
			n.Tag, n.Style = "!Sub", n.Style|yaml.TaggedStyle
			return n
		}
		n := &yaml.Node{Kind: yaml.MappingNode, Style: flow(r)}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name, Style: []yaml.Style{0, yaml.SingleQuotedStyle, yaml.DoubleQuotedStyle}[r.IntN(3)]}
			n.Content = append(n.Content, key, style(r, v[name]))
		}
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Style: flow(r)}
		for _, item := range v {
			n.Content = append(n.Content, style(r, item))
		}
		return n
	case string:
		styles := []yaml.Style{0, yaml.SingleQuotedStyle, yaml.DoubleQuotedStyle, yaml.LiteralStyle, yaml.FoldedStyle}
		n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v, Style: styles[r.IntN(len(styles))]}
		if r.IntN(10) == 0 {
			n.Anchor = fmt.Sprintf("a%d", r.IntN(1000))
		}
		return n
	default:
		var n yaml.Node
		if err := n.Encode(v); err != nil {
			panic(err)
		}
		return &n
	}
}

func flow(r *rand.Rand) yaml.Style {
	if r.IntN(6) == 0 {
		return yaml.FlowStyle
	}
	return 0
}

// cut splits a text into parts as the CDK does, the planted field in one.
func cut(r *rand.Rand, text string) []any {
	var parts []any
	for len(text) > 0 {
		n := 1 + r.IntN(min(200, len(text)))
		for n < len(text) && (!utf8.RuneStart(text[n]) || strings.Contains(text[max(0, n-20):min(len(text), n+20)], "nted")) {
			n++
		}
		parts = append(parts, text[:n])
		text = text[n:]
	}
	return parts
}

// Where parts of the file come one after the other in a text, and not in the file, each
// has its own place.
func TestPlacesInComposedTexts(t *testing.T) {
	t.Parallel()
	const before, after = `{"StartAt": "A", "States": {"A": {"Type": "Succeed", "Comment": "`, `","Planted": 1}}}`
	for name, definition := range map[string]string{
		"joined parts":        `!Join ['', ['` + before + `', 'x', '` + after + `']]`,
		"a text that is kept": `!Sub '` + before + `${!Kept}${!Kept}` + after + `'`,
		"an empty value":      `!Sub ['` + before + `${Empty}` + after + `', {Empty: ''}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := load(t, map[string]string{"t.yaml": machine("DefinitionString: " + definition)})
			problems := d.Validate(asl.Standard)
			require.Len(t, problems, 1)
			require.Equal(t, "/States/A/Planted", problems[0].Pointer)
			require.Equal(t, strings.Index("      DefinitionString: "+definition, `"Planted"`)+1, problems[0].Column)
		})
	}
}

// placeOf is where the planted field's name starts, its quotes included.
func placeOf(text string) (line, column int) {
	offset := max(strings.Index(text, planted), strings.Index(text, `Pl\u00e4nted`), strings.Index(text, `Pl\\u00e4nted`), strings.Index(text, `Pl\xe4nted`))
	for offset > 0 && strings.ContainsRune(`"'\`, rune(text[offset-1])) {
		offset--
	}
	if text[offset] == '\'' && strings.Contains(text[offset:offset+3], `"`) {
		offset++ // the quote of YAML before JSON's
	}
	start := strings.LastIndexByte(text[:offset], '\n') + 1
	return 1 + strings.Count(text[:offset], "\n"), 1 + utf8.RuneCountInString(text[start:offset])
}

// load returns the definition of the template, or of the file if there is none.
func load(t *testing.T, files map[string]string) *source.Definition {
	t.Helper()
	tree := fstest.MapFS{}
	name := ""
	for file, text := range files {
		tree[file] = &fstest.MapFile{Data: []byte(text)}
		if name == "" || !strings.Contains(file, "/") {
			name = file
		}
	}
	d, err := source.LoadOne(t.Context(), name, source.Options{FS: tree})
	require.NoError(t, err)
	return d
}

func validate(t *testing.T, files map[string]string) diag.Problems {
	t.Helper()
	return load(t, files).Validate(asl.Standard)
}

// read returns the value of a part of a file.
func read(t *testing.T, name, text string, from int, part string) any {
	t.Helper()
	var v any
	if strings.HasSuffix(name, "json") {
		require.NoError(t, json.Unmarshal([]byte(part), &v))
		return v
	}
	column := utf8.RuneCountInString(text[strings.LastIndexByte(text[:from], '\n')+1 : from])
	require.NoError(t, yaml.Unmarshal([]byte(strings.Repeat(" ", column)+part), &v), "%s", part)
	plain, err := json.Marshal(v)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(plain, &v))
	return v
}
