package terraform

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// oneFile is a module of one file.
type oneFile string

func (f oneFile) Modules(string) ([]string, error)   { return []string{"main.tf"}, nil }
func (f oneFile) Values(string) ([]string, error)    { return nil, nil }
func (f oneFile) Read(string) ([]byte, error)        { return []byte(f), nil }
func (f oneFile) Variable(string) (string, bool)     { return "", false }
func (f oneFile) Decode([]byte, bool) (*Data, error) { return nil, errors.New("no data") }

// expressions are such that hcl and its functions know everything of them.
var expressions = []string{
	`"a"`, `"a${"b"}${1}${true}c"`, `"${1.50}"`, `"${[1]}" == "" ? 1 : 2`, `1 + 2 * 3 - 4 / 8 % 3`, `-5`, `!true`, `1 < 2 && 2 >= 2 || false`,
	`true ? "a" : "b"`, `{a = 1, "b" = [true, null], ("c") = {}}`, `{a = 1}.a`, `{a = {b = [1, 2]}}.a.b[1]`, `{a = [{b = 1}, {b = 2}]}.a[*].b`, `"x"[*]`,
	`[for x in [1, 2, 3] : x * 2 if x != 2]`, `{for k, v in {b = 1, a = 2} : upper(k) => v}`, `{for v in ["a", "b", "ab"] : substr(v, 0, 1) => v...}`, `[for k, v in {b = 1, a = 2} : k]`,
	`[for i, x in ["a", "b"] : "${i}${x}"]`, `"%{ for i, x in ["a", "b"] }${i}=${x};%{ endfor }"`, `"%{ if 1 > 2 }a%{ else }b%{ endif }c"`, `"a %{~ if true ~} b %{~ endif ~} c"`,
	"<<EOF\na\n  b ${1}\nEOF\n", "<<-EOF\n    a\n      b ${1}\n\n    c $${x} %%{y}\n  EOF\n", `"\u00e4\t\"\\\n$${a}%%{b}"`, `"$x $$ % {% a %}"`,
	`format("%s-%d-%v-%q-%%", "a", 5, true, "b\"c")`, `format("%[2]s %[1]s", "a", "b")`, `format("%05d|%-5s|%.2f|%x", 42, "ab", 3.14159, 255)`, `format("%s", 1.5)`, `format("%v", [1, "a"])`,
	`join(", ", ["a", "b"])`, `join("", ["a"], ["b", "c"])`, `replace("a.b.c", ".", "-")`, `replace("hello", "/l+/", "L")`, `replace("a1b2", "/([a-z])([0-9])/", "$2$1")`,
	`concat(["a"], ["b", "c"], [])`, `merge({a = 1}, {b = 2}, {a = 3})`, `lookup({a = 1}, "a", 2)`, `lookup({a = 1}, "b", 2)`, `element(["a", "b"], 3)`, `values({b = 1, a = 2})`, `keys({b = 1, a = 2})`,
	`flatten([["a"], [], [["b"], "c"]])`, `length(["a", "b"])`, `length({a = 1})`, `length("äö")`, `coalesce(null, "a")`, `reverse(["a", "b"])`, `distinct(["a", "b", "a"])`,
	`trimspace("  a b \n")`, `chomp("a\n\n")`, `trim("xxaxx", "x")`, `trimprefix("aab", "a")`, `trimsuffix("baa", "a")`, `trimprefix("b", "a")`, `indent(2, "a\nb\n\nc")`, `upper("ä")`, `title("a b")`,
	`split(",", "a,b")`, `sort(["b", "a"])`, `compact(["a", "", "b"])`, `contains(["a", "b"], "b")`, `slice(["a", "b", "c"], 1, 3)`, `range(3)`, `range(1, 7, 2)`, `zipmap(["a", "b"], [1, 2])`,
	`setproduct(["a", "b"], [1, 2])`, `chunklist(["a", "b", "c"], 2)`, `min(3, 1, 2)`, `max(3, 1, 2)`, `floor(1.7)`, `parseint("ff", 16)`, `regex("[a-z]+", "12ab")`, `formatlist("%s!", ["a", "b"])`,
	`substr("hello", 1, 3)`, `strrev("abc")`, `formatdate("YYYY", "2026-01-02T03:04:05Z")`, `1e3`, `0.1 + 0.2`, `12345678901234567890`, `1 / 3`, `"${1 / 3}"`, `"${12345678901234567890}"`,
	`[1, "a", null][2]`, `{a = 1, a = 2}`, `(1 + 2)`, `"a" == "a"`, `[1] == [1]`, `null == null`, `format("%s", null == null ? "x" : "y")`, `{"a.$" = "$.b", "x y" : 1}`, `[[1, 2], [3]][0][1]`,
	`join("-", [for s in ["b", "a"] : upper(s)])`, `concat([for x in [1] : {a = x}], [{b = 2}])`, `values({for k in ["z", "y"] : k => {n = k}})`, `true && !false ? {x = [1]} : {x = [2]}`,
}

// judges are hcl's own functions.
func judges() map[string]function.Function {
	all := map[string]function.Function{
		"format": stdlib.FormatFunc, "join": stdlib.JoinFunc, "concat": stdlib.ConcatFunc, "merge": stdlib.MergeFunc, "lookup": stdlib.LookupFunc,
		"element": stdlib.ElementFunc, "values": stdlib.ValuesFunc, "keys": stdlib.KeysFunc, "flatten": stdlib.FlattenFunc, "coalesce": stdlib.CoalesceFunc,
		"reverse": stdlib.ReverseListFunc, "distinct": stdlib.DistinctFunc, "trimspace": stdlib.TrimSpaceFunc, "chomp": stdlib.ChompFunc, "trim": stdlib.TrimFunc,
		"trimprefix": stdlib.TrimPrefixFunc, "trimsuffix": stdlib.TrimSuffixFunc, "indent": stdlib.IndentFunc,
	}
	maps.Copy(all, standard())
	return all
}

// TestAgreesWithHCL: what is known wholly has the value that hcl finds.
func TestAgreesWithHCL(t *testing.T) {
	t.Parallel()
	context := &hcl.EvalContext{Functions: judges()}
	judged := 0
	for _, text := range expressions {
		r := New(oneFile("")).reader
		file := "locals {\n  x = " + text + "\n}\n"
		r.folders = map[string]*source{}
		r.Files = oneFile(file)
		m, err := newModule(r, ".")
		require.NoError(t, err)
		require.Empty(t, m.source.problems, text)
		e := m.evaluator(newBudget(), nil)
		v := e.eval(m.blocks["local.x"].attributes["x"], named{m})

		parsed, diagnostics := hclsyntax.ParseConfig([]byte(file), "", hcl.InitialPos)
		require.False(t, diagnostics.HasErrors(), text)
		want, diagnostics := parsed.Body.(*hclsyntax.Body).Blocks[0].Body.Attributes["x"].Expr.Value(context) //nolint:forcetypeassert // it is one
		if diagnostics.HasErrors() {                                                                          // hcl or its functions do not take it: replace with a pattern, length of a text
			if v.Kind != Unknown {
				require.True(t, strings.HasPrefix(text, "replace(") || strings.HasPrefix(text, "length(") || strings.HasPrefix(text, "\"${[") || strings.HasPrefix(text, "lookup("), "%s: %s", text, diagnostics)
			}
			continue
		}
		judged++
		encoded, err := ctyjson.Marshal(want, want.Type())
		require.NoError(t, err)
		got, ok := encode(v, newBudget())
		require.True(t, ok)
		made, known := got.known()
		require.True(t, known, "%s is unknown, and should be %s", text, encoded)
		require.JSONEq(t, normalize(t, string(encoded)), normalize(t, made), text)
	}
	require.Greater(t, judged, len(expressions)*8/10)
}

// normalize writes numbers as Terraform does.
func normalize(t *testing.T, text string) string {
	t.Helper()
	v, err := ctyjson.Unmarshal([]byte(text), must(ctyjson.ImpliedType([]byte(text))))
	require.NoError(t, err)
	out, err := ctyjson.Marshal(v, v.Type())
	require.NoError(t, err)
	require.True(t, json.Valid(out))
	return string(out)
}

func must(kind cty.Type, err error) cty.Type {
	if err != nil {
		panic(err)
	}
	return kind
}
