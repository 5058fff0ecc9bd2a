//go:build e2e

package tojsonata_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jmespath/jmespathtest"
	"github.com/jobpoller/jobpoller/internal/jmespath/tojsonata"
	"github.com/jobpoller/jobpoller/internal/npm"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// answer is what the reference engine says of a text.
type answer struct {
	Value json.RawMessage `json:"value"`
	Error string          `json:"error"`
	Depth int             `json:"depth"`
}

// value is the value or nothing.
func (a answer) value(t *testing.T) any {
	t.Helper()
	if a.Value == nil {
		return nothing{}
	}
	var v any
	require.NoError(t, json.Unmarshal(a.Value, &v))
	return v
}

var withoutNode sync.Once

// reference evaluates texts with the reference engine of JSONata, the npm
// package jsonata 2.0.6. Without Node.js it returns nil, but for CI, where that
// is a failure.
func reference(t *testing.T, texts []translated) []answer {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		require.NotEqual(t, "true", os.Getenv("CI"), "install Node.js 20 or later, which brings npm: %v", err)
		withoutNode.Do(func() { jmespathtest.Say("reference: not run, there is no npm: install Node.js 20 or later") })
		return nil
	}
	files := npm.Files{}
	for _, name := range []string{"package.json", "package-lock.json", "evaluate.js"} {
		content, err := os.ReadFile(filepath.Join("testdata", "reference", name))
		require.NoError(t, err)
		files[name] = content
	}
	folder, err := npm.Install(t.Context(), "jsonata", files)
	require.NoError(t, err)
	node := exec.CommandContext(t.Context(), "node", "evaluate.js")
	node.Dir, node.Stderr = folder, os.Stderr
	stdin, err := node.StdinPipe()
	require.NoError(t, err)
	stdout, err := node.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, node.Start())
	written := make(chan error, 1)
	go func() {
		encoder := json.NewEncoder(stdin)
		var failure error
		for _, c := range texts {
			if failure = encoder.Encode(map[string]any{"text": c.text, "result": c.on}); failure != nil {
				break
			}
		}
		written <- failure
		stdin.Close()
	}()
	answers := make([]answer, len(texts))
	decoder := json.NewDecoder(bufio.NewReader(stdout))
	for i := range answers {
		require.NoError(t, decoder.Decode(&answers[i]))
	}
	require.NoError(t, <-written)
	require.NoError(t, node.Wait())
	return answers
}

// texts are all translations of a pair that are not refused.
func (g *generator) texts(p pair) []translated {
	var texts []translated
	for _, declared := range []*jsontype.Type{p.declared, nil} {
		for _, c := range g.translations(p, declared) {
			if c.err == nil {
				texts = append(texts, c)
			}
		}
	}
	return texts
}

// requireReference compares what the reference engine says with what texts must
// give.
func requireReference(t *testing.T, texts []translated) (answers []answer) {
	t.Helper()
	answers = reference(t, texts)
	for i, a := range answers {
		c := texts[i]
		got := a.value(t)
		if a.Error != "" || !c.agrees(got) {
			require.Fail(t, "the reference engine has another result", "seed %d: %s\non    %v\nas    %s\nwants %v\ngives %v %s",
				*seed, c.method, c.on, c.text, c.want, got, a.Error)
		}
		require.LessOrEqual(t, a.Depth, 100, c.text)
	}
	return answers
}

func TestE2EReferenceOnProductionExpressions(t *testing.T) {
	t.Parallel()
	g := newPairGenerator()
	var texts []translated
	expressions := jmespathtest.AWSExpressions()
	for i := range max(*pairs/5/len(expressions), 1) * len(expressions) {
		texts = append(texts, g.texts(g.production(t, expressions[i%len(expressions)]))...)
	}
	if answers := requireReference(t, texts); answers != nil {
		jmespathtest.Say("reference: %d translations of %d expressions of waiters, seed %d, no disagreement", len(answers), len(expressions), *seed)
	}
}

func TestE2EReferenceOnRandomPairs(t *testing.T) {
	t.Parallel()
	g := newPairGenerator()
	var texts []translated
	count, deepest, total := 0, 0, 0
	flush := func() {
		for _, a := range requireReference(t, texts) {
			deepest = max(deepest, a.Depth)
			total++
		}
		texts = nil
	}
	g.pairs(t, func(p pair) bool {
		count++
		if texts = append(texts, g.texts(p)...); len(texts) > 50_000 {
			flush()
		}
		return count < *pairs/5
	})
	if flush(); total == 0 {
		return // there is no Node.js
	}
	jmespathtest.Say("reference: %d translations of %d random pairs, seed %d, no disagreement; evaluations nest %d deep at most", total, count, *seed, deepest)
}

func TestE2EReferenceOnHardCases(t *testing.T) {
	t.Parallel()
	var texts []translated
	eachHardCase(t, func(_ string, c translated) { texts = append(texts, c) })
	eachArgument(t, func(c translated) { texts = append(texts, c) })
	if answers := requireReference(t, texts); answers != nil {
		jmespathtest.Say("reference: %d translations of hard cases and arguments, no disagreement", len(answers))
	}
}

// Step Functions evaluates no deeper than 100, which the reference engine does
// not limit but tells.
func TestE2EReferenceOnNesting(t *testing.T) {
	t.Parallel()
	var texts []translated
	for _, c := range nestings() {
		texts = append(texts, c.texts...)
	}
	if answers := requireReference(t, texts); answers != nil {
		deepest := slices.MaxFunc(answers, func(a, b answer) int { return a.Depth - b.Depth }).Depth
		jmespathtest.Say("reference: %d translations that nest, %d deep at most", len(texts), deepest)
	}
}

// Every object of JavaScript seems to have these members.
func TestE2EReferenceOnInheritedNames(t *testing.T) {
	t.Parallel()
	var texts []translated
	for _, name := range []string{
		"__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__",
		"constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf",
	} {
		text := &jsontype.Type{Kind: jsontype.String}
		object := &jsontype.Type{Kind: jsontype.Object, Members: map[string]*jsontype.Type{name: text}}
		root := &jsontype.Type{Kind: jsontype.Object, Members: map[string]*jsontype.Type{"has": object, "lacks": object}}
		on := map[string]any{"has": map[string]any{name: "X"}, "lacks": map[string]any{}}
		for expression, want := range map[string]any{"has." + name: "X", "lacks." + name: nothing{}, "has.*": "X", "keys(has)": name} {
			e, err := jmespath.Parse(expression)
			require.NoError(t, err)
			for _, declared := range []*jsontype.Type{root, nil} {
				value, err := tojsonata.Translate(e, "$states.result", declared).Value()
				require.NoError(t, err)
				texts = append(texts, translated{method: "Value", text: value, on: on, want: want})
			}
		}
	}
	requireReference(t, texts)
}
