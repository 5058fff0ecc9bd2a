package jmespath_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jmespath/jmespathtest"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// pascal is how Step Functions spells members.
func pascal(_ *jsontype.Type, name string) string {
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

func TestRename(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path     string
		declared *jsontype.Type
		want     string
	}{
		{"status", aJob, "Status"},
		{"status", nil, "Status"},
		{" parent . status  == 'status' ", aJob, " Parent . Status  == 'status' "},
		{"children[?status=='x'].[note, count][] | length(@)", aJob, "Children[?Status=='x'].[Note, Count][] | length(@)"},
		{`"parent"."status"`, aJob, "Parent.Status"},
		{"Started", aJob, "Started"},
		{`"Started"`, aJob, `"Started"`},
		// Keys of maps are data.
		{"tags.owner", aJob, "Tags.owner"},
		{`byName."a b".status`, aJob, `ByName."a b".Status`},
		{"byName.*.status", aJob, "ByName.*.Status"},
		{"byName.a.byName.b.tags.c", aJob, "ByName.a.ByName.b.Tags.c"},
		{"keys(tags)[0]", aJob, "keys(Tags)[0]"},
		{"values(byName)[].status", aJob, "values(ByName)[].Status"},
		// So are the names in documents; of what is not described nothing is known.
		{"data.a.b[0].c", aJob, "Data.a.b[0].c"},
		{"any.a.b[0].c", aJob, "Any.A.B[0].C"},
		{"tags.owner", nil, "Tags.Owner"},
		{"merge(a, b).c", nil, "merge(A, B).C"},
		// An expression's own names stay.
		{"{a: note}.a", aJob, "{a: Note}.a"},
		{"{a: parent}.a.status", aJob, "{a: Parent}.a.Status"},
		{"children[].{a: status, b: note}[?a == 'x'].b", aJob, "Children[].{a: Status, b: Note}[?a == 'x'].b"},
		{"{a: {a: note}} | a.a", aJob, "{a: {a: Note}} | a.a"},
		{"not_null(`{\"a\": 1}`).a", aJob, "not_null(`{\"a\": 1}`).a"},
		{"`{\"a\": {\"b\": 1}}`.a.b", nil, "`{\"a\": {\"b\": 1}}`.a.b"},
		{"merge({a: note}, {b: note}).a", aJob, "merge({a: Note}, {b: Note}).a"},
		{"map(&{n: note}, children)[].n", aJob, "map(&{n: Note}, Children)[].n"},
		// Names that find nothing.
		{"status.none", aJob, "Status.None"},
		{"stats", aJob, "Stats"},
		// What compares names without a change of theirs.
		{"children == `[]`", aJob, "Children == `[]`"},
		{"parent == `{}`", aJob, "Parent == `{}`"},
		{"tags == `{\"a\": \"b\"}`", aJob, "Tags == `{\"a\": \"b\"}`"},
		{"parent == children[0]", aJob, "Parent == Children[0]"},
		{"contains(children[].status, 'x')", aJob, "contains(Children[].Status, 'x')"},
		{"to_string(count)", aJob, "to_string(Count)"},
		{"to_string(tags)", aJob, "to_string(Tags)"},
		{"a == b && to_string(c)", nil, "A == B && to_string(C)"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			e, err := jmespath.Parse(tt.path)
			require.NoError(t, err)
			got, err := e.Rename(tt.declared, pascal)
			require.NoError(t, err)
			require.Equal(t, tt.want, got.String())
			same, err := e.Rename(tt.declared, func(_ *jsontype.Type, name string) string { return name })
			require.NoError(t, err)
			require.Equal(t, tt.path, same.String())
		})
	}
}

func TestRenameQuotes(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"b": "b", "_b1": "_b1", "": `""`, "1b": `"1b"`, "b-c": `"b-c"`, `"`: `"\""`, `\`: `"\\"`, "<&>": `"<&>"`, "é": `"é"`, "\n\u2028": `"\n\u2028"`, "length": "length",
	} {
		e, err := jmespath.Parse(`a."a"`)
		require.NoError(t, err)
		got, err := e.Rename(nil, func(*jsontype.Type, string) string { return name })
		require.NoError(t, err)
		require.Equal(t, want+"."+want, got.String())
		require.Equal(t, "x", eval(t, got.String(), nil, map[string]any{name: map[string]any{name: "x"}}))
	}
}

func TestRenameRefuses(t *testing.T) {
	t.Parallel()
	two := &jsontype.Type{Name: "Two", Kind: jsontype.Object, Members: map[string]*jsontype.Type{"arn": aString, "Arn": aString, "x": aString}}
	tests := []struct {
		path     string
		declared *jsontype.Type
		want     string
	}{
		{"(parent || tags).note", aJob, `1:18: "note" has no one new name: in Job it is "Note", and in a map it is "note"`},
		{"(parent || data).note", aJob, `in Job it is "Note", and in a document it is "note"`},
		{"({note: note} || parent).note", aJob, `1:26: "note" has no one new name: in an object made here it is "note", and in Job it is "Note"`},
		{"({x: parent} || tags).x.note", aJob, `1:25: "note" has no one new name`},
		{"merge(parent, {note: note}).note", aJob, `"note" has no one new name`},
		{"merge(parent, {note: note})", aJob, "1:1: merge() would join other members"},
		{"arn", two, `1:1: "arn" and "Arn" of Two would both be "Arn"`},
		{"Arn", two, `1:1: "Arn" and "arn" of Two would both be "Arn"`},
		{"keys(@)", aJob, "1:1: keys() would give other names, since those of Job change"},
		{"keys(a)", nil, "1:1: keys() would give other names, since those of any value change"},
		{"to_string(children)", aJob, "1:1: to_string() would give other names"},
		{"byName == `{\"a\": {\"note\": \"x\"}}`", aJob, "1:8: == would compare other names"},
		{"parent != {note: note}", aJob, "1:8: != would compare other names"},
		{"`[{\"a\": 1}]` == a", nil, "== would compare other names"},
		{"contains(children, {note: note})", aJob, "1:1: contains() would compare other names"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			e, err := jmespath.Parse(tt.path)
			require.NoError(t, err)
			_, err = e.Rename(tt.declared, pascal)
			require.ErrorContains(t, err, tt.want)
			require.ErrorAs(t, err, new(diag.Problems))
			var failure *jmespath.Error
			require.ErrorAs(t, err, &failure)
			require.Equal(t, jmespath.AmbiguousName, failure.Code)
			require.NotEmpty(t, failure.Problems[0].Snippet())
		})
	}
	e, err := jmespath.Parse("a")
	require.NoError(t, err)
	_, err = e.Rename(nil, func(*jsontype.Type, string) string { return "\xff" })
	require.ErrorContains(t, err, `the new name of "a" must be UTF-8, got "\xff"`)
}

// prefix marks a name that has changed. It keeps the order of names, which
// wildcards follow, and needs quotes.
const prefix = "x-"

func prefixed(_ *jsontype.Type, name string) string { return prefix + name }

// renamedData is a value of a declared with the members of structures renamed.
func renamedData(s *jsontype.Type, v any) any {
	switch v := v.(type) {
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			if items[i] = item; s == nil || s.Kind == jsontype.Array {
				items[i] = renamedData(elemOf(s), item)
			}
		}
		return items
	case map[string]any:
		members := map[string]any{}
		for name, m := range v {
			switch {
			case s == nil:
				members[prefix+name] = renamedData(nil, m)
			case s.Kind == jsontype.Object && s.Elem != nil:
				members[name] = renamedData(s.Elem, m)
			case s.Kind == jsontype.Object:
				members[prefix+name] = renamedData(s.Members[name], m)
			default:
				members[name] = m
			}
		}
		return members
	default:
		return v
	}
}

func elemOf(s *jsontype.Type) *jsontype.Type {
	if s == nil {
		return nil
	}
	return s.Elem
}

// oldNames takes the prefix off all names in a result.
func oldNames(v any) any {
	switch v := v.(type) {
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = oldNames(item)
		}
		return items
	case map[string]any:
		members := map[string]any{}
		for name, m := range v {
			members[strings.TrimPrefix(name, prefix)] = oldNames(m)
		}
		return members
	default:
		return v
	}
}

// The renamed expression gives on renamed data what the expression gives on
// the old, except that objects of the data have their new names.
func TestRenameKeepsTheResult(t *testing.T) {
	t.Parallel()
	g := jmespathtest.NewGenerator(*seed)
	renamed, refused, results := 0, 0, 0
	count := *cases / 4
	for range count {
		typ := g.StructType(3)
		declared := jmespathtest.Describe(typ)
		v := reflect.New(typ).Elem()
		g.Fill(v, 4)
		form := jmespathtest.JSON(v.Interface())
		expression, _ := g.Expression(typ, 4)
		if g.One(4) {
			declared = nil
		}
		e, err := jmespath.Parse(expression)
		require.NoError(t, err)
		other, err := e.Rename(declared, prefixed)
		if err != nil {
			refused++
			continue
		}
		if declared == nil && strings.Contains(expression, "to_string") {
			continue // the one thing that is not found without a declared
		}
		before, _ := e.Compile(nil)
		after, _ := other.Compile(nil)
		want, got := evaluate(before, form), evaluate(after, renamedData(declared, form))
		require.Equal(t, want.code, got.code, "%s became %s", e, other)
		require.Equal(t, want.value, oldNames(got.value), "%s became %s", e, other)
		if renamed++; want.value != nil {
			results++
		}
	}
	require.Greater(t, renamed, count/2)
	require.Greater(t, results, count/4)
	require.Positive(t, refused)
}

// The expressions of AWS's waiters are renamed by name alone, and back.
func TestRenameAWS(t *testing.T) {
	t.Parallel()
	for _, text := range jmespathtest.AWSExpressions() {
		e, err := jmespath.Parse(text)
		require.NoError(t, err)
		require.Empty(t, e.Check(nil).Findings, text)
		there, err := e.Rename(nil, prefixed)
		require.NoError(t, err, text)
		require.NotEqual(t, text, there.String())
		back, err := there.Rename(nil, func(_ *jsontype.Type, name string) string { return strings.TrimPrefix(name, prefix) })
		require.NoError(t, err)
		require.Equal(t, strings.ReplaceAll(text, `"`, ""), strings.ReplaceAll(back.String(), `"`, ""))
		require.Equal(t, e.Syntax(), back.Syntax())
	}
}

// Objects made of the same parts are looked at once.
func TestRenameSharedParts(t *testing.T) {
	t.Parallel()
	e, err := jmespath.Parse(strings.Repeat("{a: @, b: not_null(@)} | ", 50) + "keys(a) && to_string(a) == b && @ == merge(a, b)")
	require.NoError(t, err)
	got, err := e.Rename(aJob, pascal)
	require.ErrorContains(t, err, "to_string() would give other names")
	require.Nil(t, got)
}
