package tojsonata_test

import (
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jmespath/jmespathtest"
	"github.com/jobpoller/jobpoller/internal/jmespath/tojsonata"
	"github.com/jobpoller/jobpoller/internal/jsonata"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

var (
	seed  = flag.Uint64("seed", 1, "the seed of the random pairs")
	pairs = flag.Int("pairs", 700, "how many random pairs of an expression and a value the translation is compared on")
)

// generator makes random pairs of an expression and a value.
type generator struct{ *jmespathtest.Generator }

// logbook has what the other types have not: timestamps in all places, and
// documents.
type logbook struct {
	Name    *string
	Since   *time.Time
	Times   []time.Time
	Stamps  map[string]time.Time
	Weeks   [][]time.Time
	Entries []entry
	ByDay   map[string]entry
	Last    *entry
	Doc     any
	Docs    []any
}

type entry struct {
	State jmespathtest.Status
	Since time.Time
	Times []time.Time
	Size  *int32
}

var translatedRoots = append([]reflect.Type{reflect.TypeFor[*logbook](), reflect.TypeFor[[]entry](), reflect.TypeFor[any]()}, jmespathtest.Roots...)

// value makes a value of a type as a result of Step Functions has it: no null,
// members and lists that are not there, times as time.Time.
func (g *generator) value(s *jsontype.Type, depth int) any {
	switch {
	case s == nil || s.Kind == jsontype.Unknown:
		return g.anyDocument(min(depth, 2))
	case s.Timestamp:
		return time.UnixMilli(250 * g.Int64N(1e10)).UTC()
	case s.Kind == jsontype.Boolean:
		return g.One(2)
	case s.Kind == jsontype.Number:
		return g.number()
	case s.Kind == jsontype.String:
		return g.Word()
	case s.Kind == jsontype.Array:
		items := make([]any, g.pickInt(0, 1, 1, 2, 3))
		for i := range items {
			items[i] = g.value(s.Elem, depth-1)
		}
		return items
	case s.Elem != nil:
		members := map[string]any{}
		for _, key := range []string{"10", "a", "9", "b", "x y"}[g.IntN(3) : 2+g.IntN(4)] {
			members[key] = g.value(s.Elem, depth-1)
		}
		return members
	}
	members := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Members)) {
		m := s.Members[name]
		compound := m.Kind == jsontype.Array || m.Kind == jsontype.Object
		if !g.One(5) && (depth > 0 || !compound) {
			members[name] = g.value(m, depth-1)
		}
	}
	return members
}

// anyDocument makes any JSON value.
func (g *generator) anyDocument(depth int) any {
	switch n := g.IntN(9); {
	case n == 0:
		return nil
	case n == 1:
		return g.One(2)
	case n < 4 || depth <= 0 && n < 6:
		return g.number()
	case n < 6 || depth <= 0:
		return g.Word()
	case n == 6:
		members := map[string]any{}
		for _, name := range []string{"a", "Name", "b", "constructor"}[:g.IntN(5)] {
			members[name] = g.anyDocument(depth - 1)
		}
		return members
	default:
		items := make([]any, g.pickInt(0, 1, 1, 2, 3))
		for i := range items {
			items[i] = g.anyDocument(depth - 1)
		}
		return items
	}
}

// number makes a number of which a few add up to a float.
func (g *generator) number() float64 {
	if g.One(12) {
		return []float64{math.Copysign(0, -1), 1 << 53, -1e21, 1e-7, 0.1, 1e300}[g.IntN(6)]
	}
	return float64(g.IntN(9)-4) / 2
}

func (g *generator) pickInt(n ...int) int { return n[g.IntN(len(n))] }

// inForm is a value with its times in another form.
func inForm(v any, form func(time.Time) any) any {
	switch v := v.(type) {
	case time.Time:
		return form(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = inForm(item, form)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, m := range v {
			out[name] = inForm(m, form)
		}
		return out
	default:
		return v
	}
}

func asNumber(t time.Time) any { return float64(t.UnixMilli()) / 1000 }
func asText(t time.Time) any   { return t.Format("2006-01-02T15:04:05.000Z") }

// oddNames are names that JSONata or JavaScript takes for something else.
var oddNames = map[string]string{
	"State": "and", "Name": "constructor", "Ports": "in", "Load": "toString", "Age": "0", "Next": "function", "Hosts": "x y",
	"Zones": "true", "Size": "", "Ready": "back`quote", "Counts": "%}", "Marks": "é-1", "Tags": "hasOwnProperty", "Lead": "null",
	"Since": "or", "Times": "$states", "Entries": "*", "Last": "a.b", "Share": `say "x"`, "Blob": `back\slash`, "Grid": "new\nline",
	"Spare": "😀", "Teams": "$", "Roles": "it's (",
}

// oddly renames the members of a type.
func oddly(s *jsontype.Type, known map[*jsontype.Type]*jsontype.Type) *jsontype.Type {
	if s == nil || known[s] != nil {
		return known[s]
	}
	renamed := *s
	known[s] = &renamed
	renamed.Elem = oddly(s.Elem, known)
	if s.Members != nil {
		renamed.Members = map[string]*jsontype.Type{}
		for name, m := range s.Members {
			renamed.Members[oddName(nil, name)] = oddly(m, known)
		}
	}
	return &renamed
}

func oddName(_ *jsontype.Type, name string) string {
	if odd, ok := oddNames[name]; ok {
		return odd
	}
	return name
}

// pair is an expression and a value of a type.
type pair struct {
	expression *jmespath.Expr
	declared   *jsontype.Type
	value      any // with time.Time
}

// production makes a pair of an expression of AWS's waiters, with a value that
// has what it reads.
func (g *generator) production(t testing.TB, text string) pair {
	t.Helper()
	e, err := jmespath.Parse(text)
	require.NoError(t, err)
	typed := jmespathtest.GoValue(jmespathtest.Sample(e, g.IntN))
	e, err = jmespathtest.Capitalise(e)
	require.NoError(t, err)
	return pair{e, jmespathtest.Describe(reflect.TypeOf(typed)), withoutNulls(jmespathtest.JSON(typed))}
}

func withoutNulls(v any) any {
	switch v := v.(type) {
	case []any:
		out := []any{}
		for _, item := range v {
			if item != nil {
				out = append(out, withoutNulls(item))
			}
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, m := range v {
			if m != nil {
				out[name] = withoutNulls(m)
			}
		}
		return out
	default:
		return v
	}
}

// pairs makes random pairs for ever. One in 13 is of an expression of AWS's
// waiters; a third of the others has odd names.
func (g *generator) pairs(t testing.TB, yield func(pair) bool) {
	t.Helper()
	expressions := jmespathtest.AWSExpressions()
	for i := 0; ; i++ {
		if !yield(g.production(t, expressions[i%len(expressions)])) {
			return
		}
		root := translatedRoots[g.IntN(len(translatedRoots))]
		declared := jmespathtest.Describe(root)
		renamed := declared
		if i%3 == 0 {
			renamed = oddly(declared, map[*jsontype.Type]*jsontype.Type{})
		}
		var v any
		for j := range 12 {
			if j%4 == 0 {
				v = g.value(renamed, 4)
			}
			text, _ := g.Expression(root, 2+g.IntN(3))
			e, err := jmespath.Parse(text)
			require.NoError(t, err, text)
			if renamed != declared {
				if e, err = e.Rename(declared, oddName); err != nil {
					continue // it compares the names
				}
			}
			if !yield(pair{e, renamed, v}) {
				return
			}
		}
	}
}

// translated is one text of a translation, on a value, and what it must give.
type translated struct {
	method string
	text   string
	err    error
	on     any // $states.result
	want   any // true or false; of Value and Argument, the value or nothing
}

// nothing is what an expression of JSONata gives that gives no value.
type nothing struct{}

// translations are the methods of a translation with what JMESPath says of
// them. An evaluation that is an error matches nothing.
func (g *generator) translations(p pair, declared *jsontype.Type) []translated {
	program, _ := p.expression.Compile(nil)
	number := inForm(p.value, asNumber)
	result := number
	if declared != nil {
		result = inForm(p.value, asText)
	}
	t := tojsonata.Translate(p.expression, "$states.result", declared)
	word, flag := g.Word(), g.One(2)
	want, _ := program.Eval(number)
	if s, ok := want.(string); ok && g.One(2) {
		word = s
	}
	if items, _ := want.([]any); len(items) > 0 && g.One(2) {
		if s, ok := items[g.IntN(len(items))].(string); ok {
			word = s
		}
	}
	holds := func(got bool, err error) bool { return got && err == nil }
	all := []translated{
		{method: "EqualsString", want: holds(program.EqualsString(number, word))},
		{method: "EqualsBool", want: holds(program.EqualsBool(number, flag))},
		{method: "AnyEqualString", want: holds(program.AnyEqualString(number, word))},
		{method: "AllEqualString", want: holds(program.AllEqualString(number, word))},
		{method: "Value", want: valueOf(program, number)},
		{method: "Argument", want: argument(p.expression, number)},
	}
	all[0].text, all[0].err = t.EqualsString(word)
	all[1].text, all[1].err = t.EqualsBool(flag)
	all[2].text, all[2].err = t.AnyEqualString(word)
	all[3].text, all[3].err = t.AllEqualString(word)
	all[4].text, all[4].err = t.Value()
	all[5].text, all[5].err = t.Argument(nil, nil)
	for i := range all {
		all[i].on = result
	}
	return all
}

// valueOf is the value of an expression, or nothing if it is null or an error.
func valueOf(p *jmespath.Program, on any) any {
	got, err := p.Eval(on)
	if got == nil || err != nil {
		return nothing{}
	}
	return got
}

// argument is the value of an expression on a value without what is null in the
// lists and objects of which the expression is made, or nothing.
func argument(e *jmespath.Expr, on any) any {
	program, _ := e.Compile(nil)
	return present(e.Tree(nil), valueOf(program, on))
}

// present is what a node gives without what is null in what it makes.
func present(n *jmespath.Node, v any) any {
	switch v := v.(type) {
	case nil:
		return nothing{}
	case []any:
		if n.Op != jmespath.OpMultiList {
			return v
		}
		items := []any{}
		for i, kid := range n.Kids {
			if item := present(kid, v[i]); item != (nothing{}) {
				items = append(items, item)
			}
		}
		return items
	case map[string]any:
		if n.Op != jmespath.OpMultiHash {
			return v
		}
		members := map[string]any{}
		for i, kid := range n.Kids {
			if slices.Contains(n.Names[i+1:], n.Names[i]) { // of parts of one name the last counts
				continue
			}
			if m := present(kid, v[n.Names[i]]); m != (nothing{}) {
				members[n.Names[i]] = m
			}
		}
		return members
	default:
		return v
	}
}

// agrees reports whether the result of a text is the one that it must give.
func (c translated) agrees(got any) bool {
	if c.method != "Value" && c.method != "Argument" {
		return got == c.want
	}
	got, want := canonical(got), canonical(c.want)
	if c.method == "Value" {
		got, want = sequence(got), sequence(want)
	}
	if strings.Contains(c.text, ".*") { // in the order of the object
		got, want = jmespathtest.SortLists(got), jmespathtest.SortLists(want)
	}
	return reflect.DeepEqual(got, want)
}

// sequence is an array as a path of JSONata gives it.
func sequence(v any) any {
	items, ok := v.([]any)
	switch {
	case ok && len(items) == 0:
		return nothing{}
	case ok && len(items) == 1:
		return items[0]
	default:
		return v
	}
}

var timestampText = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)

// canonical has numbers as float64, and -0 as 0, which JSONata tells from it no
// more, and timestamps as numbers.
func canonical(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, _ := v.Float64()
		return f
	case float64:
		return v + 0
	case string:
		if timestampText.MatchString(v) {
			at, _ := time.Parse(time.RFC3339, v)
			return asNumber(at)
		}
		return v
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = canonical(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, m := range v {
			out[name] = canonical(m)
		}
		return out
	default:
		return v
	}
}

// evaluateJSONata gives a JSON value or nothing.
func evaluateJSONata(t testing.TB, text string, result any) (any, error) {
	t.Helper()
	e, err := jsonata.Compile(text)
	require.NoError(t, err, text)
	got, err := e.Eval(t.Context(), jsonata.Environment{Variables: map[string]any{"states": map[string]any{"result": result}}})
	if errors.Is(err, jsonata.ErrUndefined) {
		return nothing{}, nil
	}
	return got, err
}

// isReadable tells the two forms apart: the exact form has functions.
func isReadable(text string) bool {
	return !strings.Contains(text, "function(") && !strings.Contains(text, "$in := ")
}

func newPairGenerator() *generator {
	g := &generator{jmespathtest.NewGenerator(*seed)}
	g.Wide = true
	return g
}

// distinct are the readable texts and one other: in the exact form methods
// differ in little.
func (g *generator) distinct(texts []translated) []translated {
	exact := false
	g.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	return slices.DeleteFunc(texts, func(c translated) bool {
		if isReadable(c.text) && c.err == nil {
			return false
		}
		drop := exact
		exact = true
		return drop
	})
}

func TestTranslationOfRandomPairs(t *testing.T) {
	t.Parallel()
	g := newPairGenerator()
	count, refused, comparisons, readable, matches := 0, 0, 0, 0, 0
	g.pairs(t, func(p pair) bool {
		count++
		before := comparisons
		for _, declared := range []*jsontype.Type{p.declared, nil} {
			for _, c := range g.distinct(g.translations(p, declared)) {
				if c.err != nil {
					requireUntranslatable(t, c.err, p.expression, declared)
					continue
				}
				comparisons++
				got, err := evaluateJSONata(t, c.text, c.on)
				if err != nil || !c.agrees(got) {
					require.Fail(t, "JSONata has another result", "seed %d, pair %d: %s of %s\non    %v\nas    %s\nwants %v\ngives %v %v",
						*seed, count, c.method, p.expression, c.on, c.text, c.want, got, err)
				}
				if isReadable(c.text) {
					readable++
				}
				if c.want != false && c.want != (nothing{}) {
					matches++
				}
			}
		}
		if comparisons == before {
			refused++
		}
		return count-refused < *pairs
	})
	require.Less(t, refused, count/5)
	require.Greater(t, readable, comparisons/10)
	require.Greater(t, matches, comparisons/10)
	jmespathtest.Say("suite translation: passed %d of %[1]d pairs, seed %d", *pairs, *seed)
	jmespathtest.Say("  no disagreement in %d comparisons (%d readable, %d true or with a value); %d more pairs cannot be translated", comparisons, readable, matches, refused)
}

func requireUntranslatable(t *testing.T, err error, e *jmespath.Expr, declared *jsontype.Type) {
	t.Helper()
	requireRefused(t, err)
	if !strings.Contains(e.String(), "to_string") && declared != nil {
		require.ErrorContains(t, err, "timestamp", "%s", e)
	}
}

// What breaks the described type is given true or false, too, or one of the two
// documented errors. It is never nothing.
func TestTranslationOfOtherValues(t *testing.T) {
	t.Parallel()
	g := newPairGenerator()
	count, failures := 0, 0
	var other any
	g.pairs(t, func(p pair) bool {
		count++
		texts := g.translations(p, p.declared)
		if other == nil || g.One(2) {
			other = g.mutated(inForm(p.value, asText))
		}
		for _, c := range texts[:4] {
			if c.err != nil {
				continue
			}
			got, err := evaluateJSONata(t, c.text, other)
			if failure, ok := errors.AsType[*jsonata.Error](err); ok {
				failures++
				if !strings.Contains(c.text, "$toMillis") {
					require.Contains(t, []string{"T2009", "T2010"}, failure.Code, "%s on %v: %v", c.text, other, err)
				}
				continue
			}
			require.NoError(t, err)
			require.IsType(t, true, got, "%s on %v", c.text, other)
		}
		return count < *pairs
	})
	require.Less(t, failures, count/5)
}

// mutated is a value in which some values are of another kind.
func (g *generator) mutated(v any) any {
	if g.One(8) {
		return g.anyDocument(2)
	}
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = g.mutated(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out[name] = g.mutated(v[name])
		}
		return out
	default:
		return v
	}
}
