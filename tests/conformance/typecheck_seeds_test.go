package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// seedMistakeSuites are AWS's samples and the shipped definitions with one mistake
// each: a misspelt member of a response, a misspelt, unknown or dropped argument, a
// misspelt value of an enum. What is a response is told by names alone, not by the
// types that are tested: a chain of members of an operation that the machine calls.
var seedMistakeSuites = []suite{
	{name: "typecheck-mistakes", folder: "aws-samples", cases: 1821, run: runMistakes},
	{name: "typecheck-transcribe", folder: "aws-samples", cases: 9, run: runTranscriptions},
}

// runTranscriptions misspells COMPLETED in the loops of AWS's samples that wait for a
// transcription. A case passes if the types find that, and nothing else.
func runTranscriptions(t *testing.T, folder string) result {
	t.Helper()
	out := result{failures: map[string]string{}}
	right := regexp.MustCompile(`(TranscriptionJobStatus"[^}]*"|TranscriptionJobStatus = ')COMPLETED(["'])`)
	wrong := regexp.MustCompile(`^enum-value .* is never "COMPLETE" \(did you mean "COMPLETED"\?\)$`)
	eachSample(t, folder, func(name string, definition []byte) {
		misspelt := right.ReplaceAll(definition, []byte("${1}COMPLETE$2"))
		if bytes.Equal(misspelt, definition) {
			return
		}
		out.total++
		m, err := asl.Parse(misspelt)
		require.NoError(t, err)
		c, err := typecheck.New(m, typecheck.Options{Models: models.Load})
		require.NoError(t, err)
		var found []string
		for _, f := range c.Findings() {
			found = append(found, f.Rule+" "+f.String())
		}
		if len(found) != 1 || !wrong.MatchString(found[0]) {
			out.failures[name] = strings.Join(found, "; ")
		}
	})
	return out
}

// mistake is a definition with a mistake.
type mistake struct {
	what string
	text []byte
}

// mistakes makes the mistakes of one definition.
type mistakes struct {
	root  any
	calls map[string]*catalog.Operation // by resource
	sdk   map[string]bool
	made  []mistake
}

func runMistakes(t *testing.T, folder string) result {
	t.Helper()
	definitions := map[string][]byte{}
	for _, name := range statemachines.Names() {
		definition, err := statemachines.Definition(name)
		require.NoError(t, err)
		definitions["shipped "+name] = definition
	}
	for _, machines := range sampleDefinitions(t, folder) {
		for _, d := range machines {
			if d.Text != nil && d.Template == "" {
				definitions[d.Name] = d.Text
			}
		}
	}
	out := result{failures: map[string]string{}}
	kinds := map[string][2]int{}
	for _, name := range slices.Sorted(maps.Keys(definitions)) {
		before, read := typeFindings(t, definitions[name])
		if !read {
			continue
		}
		for _, m := range makeMistakes(t, definitions[name]) {
			after, read := typeFindings(t, m.text)
			if !read {
				continue // AWS refuses it, and so does Parse
			}
			kind, _, _ := strings.Cut(m.what, " ")
			n := kinds[kind]
			n[1]++
			out.total++
			if slices.ContainsFunc(after, func(line string) bool { return !slices.Contains(before, line) }) {
				n[0]++
			} else {
				out.failures[name+" "+m.what] = "not found"
			}
			kinds[kind] = n
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		out.notes = append(out.notes, fmt.Sprintf("%s: %d of %d", kind, kinds[kind][0], kinds[kind][1]))
	}
	return out
}

// makeMistakes returns the definition with each mistake alone.
func makeMistakes(t *testing.T, definition []byte) []mistake {
	t.Helper()
	m := mistakes{calls: map[string]*catalog.Operation{}, sdk: map[string]bool{}}
	d := json.NewDecoder(bytes.NewReader(definition))
	d.UseNumber()
	require.NoError(t, d.Decode(&m.root))
	machine, err := asl.Parse(definition)
	require.NoError(t, err)
	for s := range machine.All {
		if s.Task == nil {
			continue
		}
		api, err := typecheck.FindAPI(s.Task.Resource, models.Load)
		require.NoError(t, err)
		if api.Input != nil || api.Output != nil {
			_, sdk := asl.ParseResource(s.Task.Resource).SDK()
			m.calls[s.Task.Resource] = &catalog.Operation{Input: api.Input, Output: api.Output}
			m.sdk[s.Task.Resource] = sdk
		}
	}
	m.walk(m.root)
	return m.made
}

// add keeps the definition as it is now.
func (m *mistakes) add(what string) {
	text, err := json.Marshal(m.root)
	if err == nil {
		m.made = append(m.made, mistake{what, text})
	}
}

// walk makes the mistakes below a value.
func (m *mistakes) walk(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			m.walk(item)
		}
	case map[string]any:
		m.arguments(v)
		m.comparison(v)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if text, ok := v[name].(string); ok {
				m.member(v, name, text)
			} else {
				m.walk(v[name])
			}
		}
	}
}

// arguments makes mistakes in the arguments of a Task.
func (m *mistakes) arguments(state map[string]any) {
	resource, _ := state["Resource"].(string)
	op := m.calls[resource]
	if state["Type"] != "Task" || op == nil || op.Input == nil {
		return
	}
	for _, field := range []string{"Parameters", "Arguments"} {
		arguments, ok := state[field].(map[string]any)
		if !ok {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(arguments)) {
			value := arguments[name]
			plain := strings.TrimSuffix(name, ".$")
			delete(arguments, name)
			if member := findMember(op.Input, plain); member != nil && member.Required && !member.Token {
				m.add("dropped argument " + resource + " " + name)
			}
			wrong := misspell(plain) + strings.TrimPrefix(name, plain)
			arguments[wrong] = value
			m.add("misspelt argument " + resource + " " + wrong)
			delete(arguments, wrong)
			arguments[name] = value
		}
		arguments["Foo"] = "x"
		m.add("unknown argument " + resource)
		delete(arguments, "Foo")
	}
}

func findMember(s *catalog.Shape, name string) *catalog.Member {
	for i := range s.Members {
		if javasdk.MemberName(s.Members[i].Name) == javasdk.MemberName(name) {
			return &s.Members[i]
		}
	}
	return nil
}

// misspell swaps two letters in the middle of a word, or adds one.
func misspell(word string) string {
	letters := []byte(word)
	for i := len(letters) / 2; i+1 < len(letters); i++ {
		if letters[i] != letters[i+1] {
			letters[i], letters[i+1] = letters[i+1], letters[i]
			return string(letters)
		}
	}
	return word + "z"
}

// chains are the members in the texts of both query languages: what follows a
// variable or the input.
var chains = regexp.MustCompile(`\$[A-Za-z0-9_]*(?:(?:\[[0-9*]+\])*\.[A-Za-z][A-Za-z0-9]*)+`)

var indices = regexp.MustCompile(`\[[0-9*]+\]`)

// resolve finds the shape that the last members of a chain are of, at least two of
// them, in the responses of the machine's calls.
func (m *mistakes) resolve(chain string) *catalog.Shape {
	names := strings.Split(indices.ReplaceAllString(chain, ".[]"), ".")[1:]
	const least = 2
	for from := range names {
		for _, resource := range slices.Sorted(maps.Keys(m.calls)) {
			shape, found := m.calls[resource].Output, 0
			for _, name := range names[from:] {
				switch {
				case shape == nil:
				case name == "[]" && shape.Type == catalog.List:
					shape = shape.Element.Shape
				case shape.Type == catalog.Structure:
					member := findMember(shape, name)
					if shape = nil; member != nil && javasdk.MemberName(member.Name) == name {
						shape = member.Shape
						found++
					}
				default:
					shape = nil
				}
			}
			if shape != nil && found >= least && names[len(names)-1] != "[]" {
				return shape
			}
		}
	}
	return nil
}

// member misspells the last member of each chain in a text.
func (m *mistakes) member(in map[string]any, name, text string) {
	if name == "ResultPath" || name == "Comment" || !strings.HasPrefix(text, "$") && !strings.HasPrefix(text, "{%") && !strings.HasPrefix(text, "States.") {
		return
	}
	for _, at := range chains.FindAllStringIndex(text, -1) {
		chain := text[at[0]:at[1]]
		if m.resolve(chain) == nil {
			continue
		}
		dot := strings.LastIndexByte(chain, '.') + 1
		in[name] = text[:at[0]] + chain[:dot] + misspell(chain[dot:]) + text[at[1]:]
		m.add(fmt.Sprintf("member %s: %v", name, in[name]))
		in[name] = text
	}
}

// comparison misspells the value that a status is compared with.
func (m *mistakes) comparison(rule map[string]any) {
	variable, _ := rule["Variable"].(string)
	if value, ok := rule["StringEquals"].(string); ok {
		if shape := m.resolve(variable); shape != nil && slices.Contains(shape.Enum, value) {
			rule["StringEquals"] = misspell(value)
			m.add("value " + variable + " " + misspell(value))
			rule["StringEquals"] = value
		}
	}
	condition, _ := rule["Condition"].(string)
	for _, at := range equality.FindAllStringSubmatchIndex(condition, -1) {
		chain, value := condition[at[2]:at[3]], condition[at[4]:at[5]]
		if shape := m.resolve(chain); shape != nil && slices.Contains(shape.Enum, value) {
			rule["Condition"] = condition[:at[4]] + misspell(value) + condition[at[5]:]
			m.add("value " + chain + " " + misspell(value))
			rule["Condition"] = condition
		}
	}
}

var equality = regexp.MustCompile(`(` + chains.String() + `) *!?= *['"]([^'"]*)['"]`)
