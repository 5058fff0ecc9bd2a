package jmespath_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	community "github.com/jmespath-community/go-jmespath"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jmespath/jmespathtest"
)

var (
	cases = flag.Int("cases", 4_000, "how many random cases the differential test has")
	seed  = flag.Uint64("seed", 1, "the seed of the differential test")
)

// meeting is a case in which the library has another outcome.
type meeting struct {
	expression *jmespath.Expr // as the library groups it
	regrouped  bool           // which is another way than ours
	want, got  outcome        // of expression as we evaluate it, and of the library
	varies     bool           // the library disagrees with itself from run to run
}

const regrouping = "a value projection behind a dot takes one step only: D.*.a.b is (D.*.a).b"

// deviations are what the community library does otherwise than the
// specification, as far as random cases meet it, beside regrouping. Such a
// case is still compared between typed and JSON evaluation.
var deviations = []struct {
	reason string
	is     func(m meeting) bool
}{
	{
		"contains() compares with Go's == and panics on arrays and objects",
		func(m meeting) bool { return m.got.panicked },
	},
	{
		"an error in the source of a filter, a flattening or a value projection counts as null",
		func(m meeting) bool {
			return m.want.err != nil && m.got.code == "" && m.expression.InSource(m.want.err)
		},
	},
	{
		"sort_by(), max_by() and min_by() do not look at the key of a single element",
		func(m meeting) bool {
			return m.want.code == "invalid-type" && m.got.code == "" && strings.Contains(m.expression.String(), "_by(")
		},
	},
	{
		"the members of an object come in random order, so that what depends on it (a first element, a text) differs from run to run",
		func(m meeting) bool { return m.varies },
	},
}

// The generator keeps to what the library and the specification agree on in
// these further points: the library slices strings; it selects from null (a
// multi-select behind a pipe); sort_by() sorts the data in place, so that a
// second look at it differs; to_string() escapes <, > and &; to_number() reads
// what is no JSON number, such as "0x10" and "inf"; raw strings turn \\ into
// one backslash; let, $ and arithmetic are its own grammar.

// outcome is what an evaluation gave.
type outcome struct {
	value    any
	code     string // of the error, or "error" for one of the library
	err      *jmespath.Error
	panicked bool
}

func (o outcome) equals(p outcome) bool {
	return (o.code == "") == (p.code == "") && reflect.DeepEqual(o.value, p.value)
}

// canonical is the outcome with all lists sorted.
func (o outcome) canonical() outcome {
	o.value = jmespathtest.SortLists(o.value)
	return o
}

func evaluate(p *jmespath.Program, v any) outcome {
	got, err := p.Eval(v)
	if failure, ok := errors.AsType[*jmespath.Error](err); ok {
		return outcome{code: string(failure.Code), err: failure}
	}
	return outcome{value: got}
}

func searchCommunity(compiled community.JMESPath, form any) (o outcome) {
	defer func() {
		if recover() != nil {
			o = outcome{panicked: true}
		}
	}()
	got, err := compiled.Search(form)
	if err != nil {
		return outcome{code: "error"}
	}
	return outcome{value: got}
}

// differ compares one expression on one value in its two forms. The library
// takes the members of an object in random order, so it may try again.
func differ(expression string, typed, form any) (want outcome, deviation string, err error) {
	e, err := jmespath.Parse(expression)
	if err != nil {
		return want, "", err
	}
	compiled, err := community.Compile(expression)
	if err != nil {
		return want, "", fmt.Errorf("the library refuses %s: %w", expression, err)
	}
	dynamic, _ := e.Compile(nil)
	static, _ := e.Compile(reflect.TypeOf(typed))
	want = evaluate(dynamic, form)
	if got := evaluate(static, typed); !want.equals(got) || want.code != got.code {
		return want, "", fmt.Errorf("%s on %#v\n  JSON:  %v\n  typed: %v", expression, form, want, got)
	}
	if got := evaluate(dynamic, typed); !want.equals(got) && got.code != string(jmespath.UnknownMember) {
		return want, "", fmt.Errorf("%s on %#v\n  JSON:        %v\n  typed value: %v", expression, form, want, got)
	}
	if err := compareTo(static, typed, want); err != nil {
		return want, "", fmt.Errorf("%s on %#v: %w", expression, form, err)
	}
	reading, regrouped := e.AsLibrary()
	m := meeting{expression: reading, regrouped: regrouped, want: want}
	if regrouped {
		program, _ := reading.Compile(nil)
		m.want = evaluate(program, form)
	}
	deviation, ok := m.compare(compiled, form, want)
	if !ok {
		return want, "", fmt.Errorf("%s on %#v\n  ours:    %v\n  library: %v", expression, form, m.want, m.got)
	}
	return want, deviation, nil
}

// compare runs the library until it agrees, and once unless the expression
// lists members of an object. It returns what explains another outcome than
// ours, if anything does.
func (m *meeting) compare(compiled community.JMESPath, form any, ours outcome) (deviation string, ok bool) {
	unordered := m.expression.Unordered()
	same := func(a, b outcome) bool {
		return a.equals(b) || unordered && a.canonical().equals(b.canonical())
	}
	runs := 1
	if unordered {
		runs = 100
	}
	for i := range runs {
		before := m.got
		m.got = searchCommunity(compiled, clone(form))
		switch {
		case same(m.want, m.got) && m.regrouped && !same(ours, m.got):
			return regrouping, true
		case same(m.want, m.got):
			return "", true
		}
		m.varies = m.varies || i > 0 && !same(before, m.got)
	}
	for _, d := range deviations {
		if d.is(*m) {
			return d.reason, true
		}
	}
	return "", false
}

// compareTo checks the comparators against the value that Eval gave.
func compareTo(p *jmespath.Program, v any, want outcome) error {
	word, isWord := want.value.(string)
	items, _ := want.value.([]any)
	every, some := len(items) > 0, false
	for _, item := range items {
		every, some = every && item == "Web", some || item == "Web"
	}
	for name, pair := range map[string][2]func() (bool, error){
		"EqualsString": {func() (bool, error) { return p.EqualsString(v, word) }, func() (bool, error) { return isWord, nil }},
		"EqualsBool":   {func() (bool, error) { return p.EqualsBool(v, true) }, func() (bool, error) { return want.value == true, nil }},
		"AllEqual":     {func() (bool, error) { return p.AllEqualString(v, "Web") }, func() (bool, error) { return every, nil }},
		"AnyEqual":     {func() (bool, error) { return p.AnyEqualString(v, "Web") }, func() (bool, error) { return some, nil }},
	} {
		got, err := pair[0]()
		expected, _ := pair[1]()
		if got != expected || (err != nil) != (want.code != "") {
			return fmt.Errorf("%s says %v, %w for %v", name, got, err, want)
		}
	}
	return nil
}

// clone copies a JSON value: sort_by of the library changes what it is given.
func clone(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = clone(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out[name] = clone(v[name])
		}
		return out
	default:
		return v
	}
}

func TestDifferential(t *testing.T) {
	t.Parallel()
	g := jmespathtest.NewGenerator(*seed)
	seen := map[string]int{}
	count, errs, nulls := 0, 0, 0
	run := func(expression string, typed, form any) {
		count++
		want, deviation, err := differ(expression, typed, form)
		require.NoError(t, err, "seed %d, case %d", *seed, count)
		switch {
		case deviation != "":
			seen[deviation]++
		case want.code != "":
			errs++
		case want.value == nil:
			nulls++
		}
	}
	expressions := jmespathtest.AWSExpressions()
	require.Len(t, expressions, 177)
	for i := range max(10*len(expressions), *cases/10) {
		expression := expressions[i%len(expressions)]
		e, err := jmespath.Parse(expression)
		require.NoError(t, err)
		form := jmespathtest.Sample(e, g.IntN)
		run(expression, jmespathtest.GoValue(form), form)
	}
	for count < *cases {
		root := jmespathtest.Roots[g.IntN(len(jmespathtest.Roots))]
		v := reflect.New(root).Elem()
		if root.Kind() == reflect.Pointer {
			v.Set(reflect.New(root.Elem()))
		}
		g.Fill(reflect.Indirect(v), 4)
		typed, form := v.Interface(), jmespathtest.JSON(v.Interface())
		for range 10 {
			expression, _ := g.Expression(root, 4)
			if g.One(20) && root.Kind() == reflect.Slice {
				expression = "sort_by(@, &" + g.Path(root.Elem()) + ")" + g.Pick("", "[].Name", "[0]", "[::-1]")
			}
			run(expression, typed, form)
		}
	}
	require.Less(t, errs+nulls, count/2, "most cases must have a result to compare")
	jmespathtest.Say("differential: %d cases, seed %d, no disagreement (%d gave null, %d an error)", count, *seed, nulls, errs)
	jmespathtest.Say("  deviation of the library, %d cases: %s", seen[regrouping], regrouping)
	for _, d := range deviations {
		jmespathtest.Say("  deviation of the library, %d cases: %s", seen[d.reason], d.reason)
	}
}
