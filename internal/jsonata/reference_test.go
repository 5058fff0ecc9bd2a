//go:build e2e

package jsonata_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/internal/npm"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

var comparisons = flag.Int("comparisons", 1500, "random expressions to compare with the reference implementation")

const ordinaryData = `{
	"a": [{"b": 1, "c": "x", "d": [1, 2]}, {"b": 2, "c": "y", "d": [3]}, {"b": 3, "d": [], "e": {"b": [5, 6]}}],
	"b": {"a": 7, "b": [1, [2, 3]], "c": "xyz", "e": {"a": 1, "b": 2}},
	"c": "one two", "d": [3, 1, 2, 2], "e": null, "f": [[1, 2], [3]], "g": [], "h": {}, "i": true, "j": [{"b": 9}]
}`

// ordinary writes expressions that the reference implementation evaluates soon.
type ordinary struct {
	random *rand.Rand
	level  int
}

func (g *ordinary) pick(from ...string) string { return from[g.random.IntN(len(from))] }

func (g *ordinary) expression() string {
	g.level++
	defer func() { g.level-- }()
	if g.level > 5 || g.random.IntN(6) == 0 {
		return g.leaf()
	}
	switch g.random.IntN(20) {
	case 0, 1, 2, 3, 4:
		return g.path()
	case 5, 6:
		return g.expression() + " " + g.pick("+", "-", "*", "&", "=", "!=", "<", "<=", ">", ">=", "and", "or", "in") + " " + g.expression()
	case 7:
		return "[" + g.expression() + ", " + g.expression() + "]"
	case 8:
		return "{" + g.pick(`"a"`, `"b"`, "c") + ": " + g.expression() + ", " + `"z": ` + g.expression() + "}"
	case 9:
		return "(" + g.expression() + " ? " + g.expression() + " : " + g.expression() + ")"
	case 10, 11, 12:
		return "$" + g.pick("string", "length", "trim", "uppercase", "number", "abs", "floor", "sum", "max", "average", "count", "boolean",
			"not", "exists", "type", "keys", "spread", "merge", "reverse", "distinct", "sort", "zip", "clone") + "(" + g.expression() + ")"
	case 13:
		return "$" + g.pick("substring", "substringBefore", "substringAfter", "pad", "contains", "split", "join", "power", "round", "append",
			"lookup", "zip", "match", "formatBase") + "(" + g.expression() + ", " + g.pick(g.expression(), `"x"`, "2", "/[a-z]/", `" "`) + ")"
	case 14, 15:
		return "$" + g.pick("map", "filter", "each", "sift", "single") + "(" + g.expression() + ", function($v, $i) { " + g.inner() + " })"
	case 16:
		return "$reduce(" + g.expression() + ", function($v, $i) { " + g.pick("$v + $i", "$append($v, $i)", "$v & $i", g.inner()) + " })"
	case 17:
		return "($x := " + g.expression() + "; " + g.pick("$x", "$x."+g.step(), "$x["+g.filter()+"]", "[$x]", "$x[]") + ")"
	case 18:
		return g.path() + " ~> " + g.pick("$sum", "$string", "$count", "$append(1)", "|$|{\"z\": 1}|", "|a|{}, \"b\"|", "$map(function($v) { $v })", "$keys")
	default:
		return "(" + g.expression() + ")" + g.pick("", "[0]", "[]", "."+g.step())
	}
}

func (g *ordinary) inner() string {
	return g.pick("$v", "$i", "$v.b", "$v > 1", "[$v]", "$v.d", "$i = 0", "$string($v)", "{\"k\": $v}", g.expression())
}

func (g *ordinary) leaf() string {
	return g.pick("1", "2.5", "-3", `"x"`, `"abc"`, "true", "null", "a", "b", "c", "d", "f", "g", "$", "[]", "a.b", "b.b", "d[0]", "nope", "[1..3]", `"2"`, "*", "h")
}

func (g *ordinary) step() string {
	switch g.random.IntN(12) {
	case 0:
		return "*"
	case 1:
		return "(" + g.expression() + ")"
	case 2:
		return "[" + g.leaf() + "]"
	case 3:
		return "{" + `"k": ` + g.leaf() + "}"
	case 4:
		return "$"
	case 5:
		return "**"
	case 6:
		return "%." + g.pick("a", "b", "c")
	case 7:
		return `"b"`
	}
	return g.pick("a", "b", "c", "d", "e", "f")
}

func (g *ordinary) filter() string {
	return g.pick("0", "-1", "1", "b > 1", "$ > 1", "[0, 1]", "b = 2", `c = "x"`, "true", "5", "$ = 2", "d", "[0..1]", "$count($) > 0", "%.b")
}

func (g *ordinary) path() string {
	var b strings.Builder
	b.WriteString(g.pick("a", "b", "d", "f", "$", "j", "a.d", "$$", "(["+g.leaf()+"])", "**", "*"))
	for range g.random.IntN(4) {
		switch g.random.IntN(12) {
		case 0, 1, 2, 3, 4:
			b.WriteString("." + g.step())
		case 5, 6, 7:
			b.WriteString("[" + g.filter() + "]")
		case 8:
			b.WriteString("[]")
		case 9:
			b.WriteString("^(" + g.pick("b", ">b", "$", "<c", ">b, c") + ")")
			return b.String() // the reference forgets the variables of what it has sorted
		case 10:
			b.WriteString(g.pick("@$p", "#$q", "@$p.$p", "#$q.{\"q\": $q, \"v\": $}", "#$q[$q > 0]"))
		case 11:
			b.WriteString(g.pick(`{"k" & $string($): $}`, `{"k": $count($)}`, `{"k": b}`))
			return b.String()
		}
	}
	return b.String()
}

type referenceAnswer struct {
	Value json.RawMessage `json:"value"`
	Error string          `json:"error"`
	Depth int             `json:"depth"`
}

// Random expressions give what the npm package jsonata 2.0.6 gives: the same
// value, or an error of the same code.
func TestE2EReference(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("npm"); err != nil {
		require.NotEqual(t, "true", os.Getenv("CI"), "install Node.js 20 or later, which brings npm: %v", err)
		t.Logf("not run, there is no npm: install Node.js 20 or later")
		return
	}
	g := &ordinary{random: rand.New(rand.NewPCG(44, 8))}
	var texts []string
	for len(texts) < *comparisons {
		texts = append(texts, "$states.result.("+g.expression()+")")
	}
	for i, answer := range askReference(t, texts) {
		if strings.HasPrefix(answer.Error, " ") { // a fault of the reference, which has no code
			continue
		}
		if strings.Contains(string(answer.Value), "null") && strings.Contains(texts[i], "/[a-z]/") { // it writes a regular expression so
			continue
		}
		e, err := jsonata.Compile(texts[i])
		var got any
		if err == nil {
			got, err = e.Eval(t.Context(), jsonata.Environment{Variables: map[string]any{
				"states": map[string]any{"result": decode(t, ordinaryData)},
			}})
		}
		code, _, _ := strings.Cut(answer.Error, " ")
		if code != "" && codeOf(err) != "" { // the parts of an array or object fail in any order there
			continue
		}
		require.Equal(t, code, codeOf(err), "%s: %v, %v; the reference has %s %s", texts[i], got, err, answer.Value, answer.Error)
		switch {
		case code != "":
		case answer.Value == nil:
			require.ErrorIs(t, err, jsonata.ErrUndefined, "%s: %v", texts[i], got)
		default:
			require.NoError(t, err, "%s: the reference has %s", texts[i], answer.Value)
			require.JSONEq(t, string(answer.Value), encode(t, got), texts[i])
		}
	}
}

func codeOf(err error) string {
	if failure, ok := errors.AsType[*jsonata.Error](err); ok {
		return failure.Code
	}
	if failure, ok := errors.AsType[*diag.SyntaxError](err); ok {
		return failure.Code
	}
	return ""
}

// askReference evaluates texts with the reference implementation.
func askReference(t *testing.T, texts []string) []referenceAnswer {
	t.Helper()
	files := npm.Files{}
	for _, name := range []string{"package.json", "package-lock.json", "evaluate.js"} {
		content, err := os.ReadFile(filepath.Join("..", "jmespath", "tojsonata", "testdata", "reference", name))
		require.NoError(t, err)
		files[name] = content
	}
	folder, err := npm.Install(t.Context(), "jsonata", files)
	require.NoError(t, err)
	node := exec.CommandContext(t.Context(), "node", "evaluate.js")
	node.Dir, node.Stderr = folder, os.Stderr
	var input strings.Builder
	encoder := json.NewEncoder(&input)
	for _, text := range texts {
		require.NoError(t, encoder.Encode(map[string]any{"text": text, "result": json.RawMessage(ordinaryData)}))
	}
	node.Stdin = strings.NewReader(input.String())
	stdout, err := node.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, node.Start())
	answers := make([]referenceAnswer, len(texts))
	decoder := json.NewDecoder(bufio.NewReader(stdout))
	for i := range answers {
		require.NoError(t, decoder.Decode(&answers[i]))
	}
	require.NoError(t, node.Wait())
	return answers
}
