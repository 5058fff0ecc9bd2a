package source_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/source"
	"github.com/jobpoller/jobpoller/tests/processortest"
)

// What 80 KB of a file may cost, whatever is in them: memory in all, of which little is
// held at a time, and time of processors.
const (
	mostBytes     = 80 << 10
	mostAllocated = 640 << 20
	mostTime      = 10 * time.Second
)

// multipliers are texts of at most mostBytes in which little stands for much.
func multipliers() map[string]string {
	const state = "{Type: Pass, Result: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], End: true}"
	var aliases, merges, joins, variables, circles strings.Builder
	for i := range 30 {
		nine := func(form string) string {
			return strings.TrimSuffix(strings.Repeat(fmt.Sprintf(form, max(0, i-1))+", ", 9), ", ")
		}
		first := i == 0
		pick := func(one, other string) string {
			if first {
				return one
			}
			return other
		}
		fmt.Fprintf(&aliases, "a%d: &a%d [%s]\n", i, i, pick("x", nine("*a%d")))
		fmt.Fprintf(&joins, "j%d: &j%d !Join ['', [%s]]\n", i, i, pick("xxxxxxxx", nine("*j%d")))
		fmt.Fprintf(&variables, "  v%d: \"%s\"\n", i, pick("xxxxxxxx", nine("${self:custom.v%d}")))
		fmt.Fprintf(&circles, "  c%d: \"${self:custom.c%d.x, self:custom.c%d.y}\"\n", i, (i+1)%30, (i+2)%30)
	}
	for i := range 1500 {
		fmt.Fprintf(&merges, "m%d: &m%d {<<: *m%d, b%d: 1}\n", i+1, i+1, i, i)
	}
	template := func(definition string) string {
		return "Resources:\n  M: {Type: AWS::Serverless::StateMachine, Properties: " + definition + "}\n"
	}
	var machines, joined, documents, wide strings.Builder
	for i := range 700 {
		fmt.Fprintf(&machines, "  M%d: {Type: AWS::Serverless::StateMachine, Properties: {Definition: *d}}\n", i)
		fmt.Fprintf(&joined, "S%d: {Type: Pass, Result: !Join ['', [*j6]], End: true}, ", i)
		fmt.Fprintf(&documents, "m%d: {definition: *d}\n", i)
	}
	for i := range 400 {
		fmt.Fprintf(&wide, "k%d: 1, ", i)
	}
	definition := "d: &d\n  StartAt: S0\n  States:\n"
	for i := range 200 {
		definition += fmt.Sprintf("    S%d: %s\n", i, state)
	}
	return map[string]string{
		"aliases":                aliases.String() + template("{Definition: {StartAt: A, States: {A: {Type: Pass, Result: *a29, End: true}}}}"),
		"aliases in a document":  aliases.String() + "definition: {StartAt: A, States: {A: {Type: Pass, Result: *a29, End: true}}}\n",
		"aliases of serverless":  aliases.String() + "stepFunctions: {stateMachines: {m: {definition: {StartAt: A, States: {A: {Type: Pass, Result: *a29, End: true}}}}}}\n",
		"merge keys":             "m0: &m0 {a: 1}\n" + merges.String() + template("{Definition: *m1500}"),
		"merge keys of one":      "b: &b {" + wide.String() + "}\n" + manyMerges() + template("{Definition: *b}"),
		"joined texts":           joins.String() + template("{DefinitionString: *j29}"),
		"many joined texts":      joins.String() + template("{Definition: {StartAt: S0, States: {"+joined.String()+"}}}"),
		"a definition of many":   definition + "Resources:\n" + machines.String(),
		"a document of many":     definition + documents.String(),
		"variables":              "custom:\n" + variables.String() + "stepFunctions: {stateMachines: {m: {definition: {StartAt: \"${self:custom.v29}\", States: {}}}}}\n",
		"variables in a circle":  "custom:\n" + circles.String() + "stepFunctions: {stateMachines: {m: {definition: {StartAt: \"${self:custom.c0}\", States: {}}}}}\n",
		"variables in names":     "stepFunctions: {stateMachines: {m: {definition: {StartAt: \"" + strings.Repeat("${self:", 2000) + "\", States: {}}}}}\n",
		"a file of everyone":     "stepFunctions: {stateMachines: {" + strings.Repeat("m: {definition: \"${file(big.yml)}\"}, ", 1500) + "}}\n",
		"brackets":               `{"definition": ` + strings.Repeat("[", mostBytes/2) + `"StartAt States"`,
		"brackets of YAML":       "definition: " + strings.Repeat("[", 9000) + "StartAt, States" + strings.Repeat("]", 9000),
		"documents":              strings.Repeat("--- {definition: {StartAt: A, States: {}}}\n", 1400),
		"expressions":            `{"StartAt": "States", "x": ` + strings.Repeat("${", mostBytes/3),
		"braces in strings":      "StartAt: States\nx: [\"" + strings.Repeat("{{ ", mostBytes/4),
		"braces in a word":       `{"StartAt": "States", "x": "` + strings.Repeat("{{ ", mostBytes/4) + `"x"`,
		"references of a plan":   planWith(mostBytes / 3),
		"braces":                 "StartAt: States\nx: [" + strings.Repeat("{{", mostBytes/3),
		"texts in texts":         nested(`{"definition": "StartAt States"}`),
		"problems":               "StartAt: A\nStates: {" + strings.Repeat("A: x, ", 10_000) + "}\n",
		"problems of a document": "definition: {StartAt: A, States: {" + strings.Repeat("A: x, ", 10_000) + "}}\n",
	}
}

// planWith is a plan with a machine whose definition refers to many names.
func planWith(references int) string {
	return `{"format_version": "1.2", "planned_values": {"root_module": {"resources": [{"address": "aws_sfn_state_machine.m", "type": "aws_sfn_state_machine"}]}}, "configuration": {"root_module": {"resources": [` +
		`{"address": "aws_sfn_state_machine.m", "type": "aws_sfn_state_machine", "expressions": {"definition": {"references": ["x"` + strings.Repeat(",1", references/2) + `]}}}]}}}`
}

func manyMerges() string {
	var b strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&b, "n%d: {<<: *b}\n", i)
	}
	return b.String()
}

// nested puts a text into texts, as often as that fits.
func nested(text string) string {
	for {
		outer := `{"TemplateBody": ` + quoted(text) + `}`
		if len(outer) > mostBytes {
			return text
		}
		text = outer
	}
}

// readWithin reads a text as files of several names and fails if that takes long or needs
// much memory.
func readWithin(t *testing.T, name string, text []byte) {
	t.Helper()
	big := "StartAt: S0\nStates:\n  S0: {Type: Pass, End: true}\n" + strings.Repeat("# x\n", 200_000)
	tree := fstest.MapFS{name: {Data: text}, "big.yml": {Data: []byte(big)}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := processortest.Time(t)
	all, _ := source.Load(t.Context(), []string{name}, source.Options{FS: tree})
	for _, d := range all {
		d.Validate(asl.Standard)
	}
	require.Less(t, processortest.Time(t)-began, mostTime)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(mostAllocated))
}

// Little text does not stand for much work or memory.
func TestMultipliers(t *testing.T) { //nolint:paralleltest // it measures the process
	for name, text := range multipliers() { //nolint:paralleltest // it measures the process
		require.LessOrEqual(t, len(text), mostBytes, name)
		for _, file := range []string{"a.yml", "a.json"} {
			t.Run(name+" "+file, func(t *testing.T) {
				readWithin(t, file, []byte(text))
			})
		}
	}
}

// FuzzBounds: no text of mostBytes takes longer or needs more memory than a bound.
func FuzzBounds(f *testing.F) {
	for _, text := range multipliers() {
		f.Add("a.yml", []byte(text))
	}
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		if len(text) <= mostBytes {
			readWithin(t, name, text)
		}
	})
}

// A template of tens of megabytes is read; one with more values than are read says so.
func TestLargeTemplates(t *testing.T) {
	t.Parallel()
	large := `{"Resources": {"M": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {"Definition": ` + flowObject + `}}}, "Metadata": [` +
		strings.Repeat(`"`+strings.Repeat("x", 1000)+`",`, 40_000) + `"x"]}`
	require.Greater(t, len(large), 40_000_000)
	d, err := source.LoadOne(t.Context(), "-", source.Options{FS: fstest.MapFS{}, Stdin: strings.NewReader(large)})
	require.NoError(t, err)
	require.Empty(t, d.Validate(asl.Standard))
	many := strings.Replace(large, strings.Repeat("x", 1000), strings.Repeat(`",","`, 250), 40_000)
	d, err = source.LoadOne(t.Context(), "-", source.Options{FS: fstest.MapFS{}, Stdin: bytes.NewReader([]byte(many[:len(many)-len(many)/8] + `"]}`))})
	require.NoError(t, err)
	require.Contains(t, d.Problems.Brief(), "values, and at most 1000000 are read: give the part with the state machines a file of its own")
}

// counted counts how often files are read.
type counted struct {
	fs.FS

	opened map[string]int
}

func (c counted) Open(name string) (fs.File, error) {
	c.opened[name]++
	return c.FS.Open(name)
}

// The definitions of a document read a file of their variables once.
func TestVariablesOfManyDefinitions(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 50 {
		fmt.Fprintf(&b, "m%d: {definition: {StartAt: A, States: {A: {Type: Wait, Seconds: \"${file(v.yml):s}\", End: true}}}}\n", i)
	}
	files := counted{filesOf(map[string]string{"a.yml": b.String(), "v.yml": "s: 5\n"}), map[string]int{}}
	all, err := source.Load(t.Context(), []string{"a.yml"}, source.Options{FS: files})
	require.NoError(t, err)
	require.Len(t, all, 50)
	require.Contains(t, string(all[49].Text), `"Seconds": 5`)
	require.LessOrEqual(t, files.opened["v.yml"], 3) // Stat may open it
}
