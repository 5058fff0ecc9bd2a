package tojsonata_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jmespath/tojsonata"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// orders describes what table tests translate.
func orders() *jsontype.Type {
	text := &jsontype.Type{Kind: jsontype.String}
	number := &jsontype.Type{Kind: jsontype.Number}
	flag := &jsontype.Type{Kind: jsontype.Boolean}
	at := &jsontype.Type{Kind: jsontype.Number, Timestamp: true}
	list := func(elem *jsontype.Type) *jsontype.Type {
		return &jsontype.Type{Kind: jsontype.Array, Elem: elem}
	}
	object := func(members map[string]*jsontype.Type) *jsontype.Type {
		return &jsontype.Type{Kind: jsontype.Object, Members: members}
	}
	line := object(map[string]*jsontype.Type{"State": text, "Count": number, "Ready": flag, "Names": list(text), "At": at})
	return object(map[string]*jsontype.Type{
		"Status": text, "Size": number, "Want": number, "Done": flag, "At": at, "Times": list(at), "Lines": list(line), "Names": list(text),
		"Grid": list(list(text)), "ByName": {Kind: jsontype.Object, Elem: line}, "Stamps": {Kind: jsontype.Object, Elem: at}, "Last": line,
		"Doc": {Kind: jsontype.Unknown}, "and": text, "a b": text, "constructor": text, "tick`": text, "end%}": text, "": text, "é": text, "0": text,
	})
}

func TestReadableTranslation(t *testing.T) {
	t.Parallel()
	equals := func(t *tojsonata.Translation) (string, error) { return t.EqualsString("X") }
	isTrue := func(t *tojsonata.Translation) (string, error) { return t.EqualsBool(true) }
	isFalse := func(t *tojsonata.Translation) (string, error) { return t.EqualsBool(false) }
	anyEqual := func(t *tojsonata.Translation) (string, error) { return t.AnyEqualString("X") }
	allEqual := func(t *tojsonata.Translation) (string, error) { return t.AllEqualString("X") }
	tests := []struct {
		path  string
		write func(*tojsonata.Translation) (string, error)
		want  string
	}{
		{"Status", equals, `$r.Status = 'X'`},
		{"Last.State", equals, `$r.Last.State = 'X'`},
		{"Done", isTrue, `$r.Done = true`},
		{"Done", isFalse, `$r.Done = false`},
		{"Lines[].State", anyEqual, `'X' in $r.Lines.State`},
		{"Lines[].State", allEqual, `($all := $r.Lines.State; $count($all) > 0 and $count($all[$ != 'X']) = 0)`},
		{"Lines[].Names[]", anyEqual, `'X' in $r.Lines.Names`},
		{"ByName.*.State", anyEqual, `'X' in $r.ByName.*.State`},
		{"Lines[0].State", equals, `$r.Lines[0].State = 'X'`},
		{"Lines[-1].State", equals, `$r.Lines[-1].State = 'X'`},
		{"Lines[].State | [0]", equals, `($r.Lines.State)[0] = 'X'`},
		{"Lines[?State == 'a'].Names[]", anyEqual, `'X' in $r.Lines[State = 'a'].Names`},
		{"Lines[?Ready].State", anyEqual, `'X' in $r.Lines[Ready = true].State`},
		{"Names[?@ != 'a']", anyEqual, `'X' in $r.Names[$not($ = 'a')]`},
		{"Size == Want", isTrue, `$r.Size = $r.Want or $not($exists($r.Size)) and $not($exists($r.Want))`},
		{"Size > Want", isTrue, `($r.Size > $r.Want) = true`},
		{"Size > Want", isFalse, `($r.Size > $r.Want) = false`},
		{"!(Size > Want)", isTrue, `($r.Size > $r.Want ? false : true)`},
		{"Status == `null`", isTrue, `$not($exists($r.Status))`},
		{"Status != 'a' && Status != 'b'", isTrue, `$not($r.Status = 'a') and $not($r.Status = 'b')`},
		{"Status == 'a' && Done == `true` || Size == `1`", isTrue, `$r.Status = 'a' and $r.Done = true or $r.Size = 1`},
		{"(Status == 'a' || Size == `1`) && Done == `true`", isTrue, `($r.Status = 'a' or $r.Size = 1) and $r.Done = true`},
		{"Status != `null`", isTrue, `$exists($r.Status)`},
		{"Doc == `null`", isTrue, `$not($r.Doc != null)`},
		{"Doc != `null`", isTrue, `$r.Doc != null`},
		{"At > `5`", isTrue, `($toMillis($r.At) / 1000 > 5) = true`},
		{"length(Names) == `0`", isTrue, `$exists($r.Names) and $count($r.Names) = 0`},
		{"length(Status) > `0`", isTrue, `$type($r.Status) = 'string' and $length($r.Status) > 0`},
		{"length(Lines[?length(Names) > `1`]) == `0`", isTrue, `$exists($r.Lines) and $count($r.Lines[$not($exists(Names))]) = 0 and $count($r.Lines[$count(Names) > 1]) = 0`},
		{"contains(Names, 'a')", isTrue, `$exists($r.Names) and 'a' in $r.Names`},
		{"starts_with(Status, 'é✓')", isTrue, `$type($r.Status) = 'string' and $substring($r.Status, 0, 2) = 'é✓'`},
		{"!ends_with(Status, 'a')", isTrue, `$type($r.Status) = 'string' and $not($substring($r.Status, -1) = 'a')`},
		{"Done || length(Names) > `1`", isTrue, `$r.Done = true or $not($r.Done = true) and $exists($r.Names) and $count($r.Names) > 1`},
		{"length(Names) > `1` || length(Names) == `0`", isTrue, `$exists($r.Names) and ($count($r.Names) > 1 or $count($r.Names) = 0)`},
		{"!(Done == `true` && length(Names) > `1`)", isTrue, `$not($r.Done = true) or $r.Done = true and $exists($r.Names) and $not($count($r.Names) > 1)`},
		{"length(Lines) > `0` && length(Lines[?State != 'a']) == `0`", isTrue, `$exists($r.Lines) and $count($r.Lines) > 0 and $count($r.Lines[$not(State = 'a')]) = 0`},
		{"contains(Status, 'a')", isTrue, `$type($r.Status) = 'string' and $contains($r.Status, 'a')`},
		{"Status == 'say \"}%\" %}'", isTrue, `$r.Status = "say \"}%\" \u0025}"`},
		{"Status == ')' || Status == '](`' || Status == 'a or b'", isTrue, "$r.Status = ')' or $r.Status = '](`' or $r.Status = 'a or b'"},
		{"Status == 'it\\'s (\"'", isTrue, `$r.Status = "it's (\""`},
		{`"and"`, equals, "$r.`and` = 'X'"},
		{`"a b"`, equals, "$r.`a b` = 'X'"},
		{`"é"`, equals, "$r.`é` = 'X'"},
		{`"0"`, equals, "$r.`0` = 'X'"},
		{`ByName."9".State`, equals, "$r.ByName.`9`.State = 'X'"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			e, err := jmespath.Parse(tt.path)
			require.NoError(t, err)
			got, err := tt.write(tojsonata.Translate(e, "$r", orders()))
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

// What has no readable form has an exact one.
func TestExactTranslation(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"Grid[].length(@)", "Lines[*].Names", "Lines[].Names | [0]", "Lines[*].[Names][]", "Grid[0][0]", "Doc.a", "Doc", "[Status]", "{a: Status}.a", "Names[1:]", "ByName.*.State | [0]", "Status || Last.State",
		"constructor", `"tick` + "`" + `"`, `"end%}"`, `""`, "sort(Names)[0]", "to_number(Status)", "ends_with(Status, '')", "(Times || Times)[0]", "max(Times)", "Last.At || At",
	} {
		e, err := jmespath.Parse(path)
		require.NoError(t, err)
		text, err := tojsonata.Translate(e, "$r", orders()).EqualsString("X")
		require.NoError(t, err, path)
		require.True(t, strings.HasPrefix(text, "($in := $exists($r) ? $r : null; "), "%s: %s", path, text)
		require.True(t, strings.HasSuffix(text, `) = 'X'`), "%s: %s", path, text)
	}
}

func TestUntranslatable(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path  string
		typed bool
		want  string
	}{
		{"a == to_string(b)", false, "1:6: to_string() has no equal in JSONata"},
		{"{__proto__: a}.b", false, "1:1: JSONata cannot make an object with the member __proto__"},
		{"a == `{\"__proto__\": 1}`", false, "1:6: JSONata cannot make an object with the member __proto__"},
		{strings.Repeat("[?a", 30) + strings.Repeat("]", 30), false, "1:1: the expression nests too deep for Step Functions"},
		{"Stamps.* | [0]", true, "1:8: a timestamp is a string in a result of Step Functions"},
		{"values(Last)", true, "1:1: a timestamp"},
		{"Last.*", true, "1:6: a timestamp"},
		{"Last == `{\"At\": 5}`", true, "1:6: a timestamp"},
		{"contains(Lines, `{\"At\": 5}`)", true, "1:1: a timestamp"},
		{"[Last, @][0].At", true, "1:1: a timestamp"},
		{"(Last || @).At", true, "1:7: a timestamp"},
		{"merge(Last, @).At", true, "1:1: a timestamp"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			e, err := jmespath.Parse(tt.path)
			require.NoError(t, err)
			var declared *jsontype.Type
			if tt.typed {
				declared = orders()
			}
			_, err = tojsonata.Translate(e, "$r", declared).EqualsBool(true)
			failure := requireRefused(t, err)
			require.Contains(t, failure.Error(), tt.want)
		})
	}
}

func requireRefused(t *testing.T, err error) *jmespath.Error {
	t.Helper()
	var failure *jmespath.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, jmespath.Untranslatable, failure.Code)
	return failure
}

// A root that is itself a timestamp has no member that could be converted.
func TestTranslationOfATimestamp(t *testing.T) {
	t.Parallel()
	at := &jsontype.Type{Kind: jsontype.Number, Timestamp: true}
	list := &jsontype.Type{Kind: jsontype.Array, Elem: at}
	for path, declared := range map[string]*jsontype.Type{
		"@ > `5`": at, "[0] > `5`": list, "[?@ > `5`]": list, "[][0] > `5`": {Kind: jsontype.Array, Elem: list},
	} {
		e, err := jmespath.Parse(path)
		require.NoError(t, err)
		_, err = tojsonata.Translate(e, "$r", declared).EqualsBool(true)
		requireRefused(t, err)
	}
}

// Pieces that nest are translated as far as Step Functions evaluates them.
func TestNestingOfTranslations(t *testing.T) {
	t.Parallel()
	for _, c := range nestings() {
		require.Greater(t, c.taken, c.least, c.first)
		for _, text := range c.texts {
			got, err := evaluateJSONata(t, text.text, text.on)
			require.NoError(t, err, text.text)
			require.True(t, text.agrees(got), text.text)
		}
	}
}

// nesting is an expression that is repeated until its condition is refused, and
// how often it is taken and must be.
type nesting struct {
	first        string
	least, taken int
	texts        []translated
}

func nestings() []nesting {
	deep := map[string]any{"b": true, "n": 1.0, "list": []any{"a"}}
	deep["a"] = map[string]any{"a": map[string]any{"a": "x"}}
	deep["Status"], deep["Done"], deep["Names"] = "X", true, []any{"a", "b"}
	typed := orders()
	kinds := []struct {
		before, middle, behind string
		least                  int
		declared               *jsontype.Type
	}{
		{"", "Status == 'y'", " || Status == 'z#'", 75, typed},
		{"", "Status != 'y'", " && contains(Status, 'X#')", 75, typed},
		{"!", "Done", "", 100, typed},
		{"!(Done && ", "Done", ")", 14, typed},
		{"Names[?", "@ == 'a'", "]", 6, typed},
		{"", "Names", "[?@ == 'a']", 10, typed},
		{"", "a", ".a", 80, nil},
		{"", "a == 'x'", " || a == 'y'", 24, nil},
		{"", "b", " && b", 24, nil},
		{"!", "b", "", 35, nil},
		{"[", "n", "]", 18, nil},
		{"{a: ", "n", "}", 18, nil},
		{"[a, {b: ", "n", "}]", 7, nil},
		{"[", "Status", "]", 20, typed},
		{"{a: ", "Status", "}", 20, typed},
		{"", "[*].a", "[*].a", 15, nil},
		{"", "[].a", "[].a", 15, nil},
		{"*.", "a", "", 15, nil},
		{"[?", "a", "]", 12, nil},
		{"[@] | ", "n", "", 20, nil},
		{"map(&", "@", ", list)", 8, nil},
		{"sort_by([@], &length(", "@", "))", 4, nil},
		{"to_array(", "@", ")", 20, nil},
		{"not_null(", "a", ", b)", 15, nil},
	}
	var all []nesting
	for _, k := range kinds {
		c := nesting{first: k.before + k.middle + k.behind, least: k.least}
		for n := range 200 {
			var b strings.Builder
			b.WriteString(strings.Repeat(k.before, n) + k.middle)
			for i := range n {
				b.WriteString(strings.ReplaceAll(k.behind, "#", strconv.Itoa(i)))
			}
			e, err := jmespath.Parse(b.String())
			if err != nil {
				break // the parser's own limit
			}
			translation := tojsonata.Translate(e, "$states.result", k.declared)
			text, err := translation.EqualsBool(true)
			if err != nil {
				break
			}
			program, _ := e.Compile(nil)
			want, err := program.EqualsBool(deep, true)
			c.taken++
			c.texts = append(c.texts, translated{method: "EqualsBool", text: text, on: deep, want: want && err == nil})
			if text, err = translation.Argument(nil, nil); err == nil {
				c.texts = append(c.texts, translated{method: "Argument", text: text, on: deep, want: argument(e, deep)})
			}
		}
		all = append(all, c)
	}
	return all
}

func TestPath(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"Last.State": "$r.Last.State", "Lines[].State": "$r.Lines.State", "Lines[0]": "$r.Lines[0]", "@": "$r",
		"At": "", "length(Names)": "", "Lines[?length(Names) > `0`].State": "", "Doc": "", "Grid": "", "Status || 'x'": "",
	} {
		e, err := jmespath.Parse(expression)
		require.NoError(t, err)
		got, ok := tojsonata.Translate(e, "$r", orders()).Path()
		require.Equal(t, want != "", ok, expression)
		if ok {
			require.Equal(t, want, got)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string][]string{
		"Table": {"Table"}, "Table.Status.\"a b\"": {"Table", "Status", "a b"}, "a[0]": nil, "a[].b": nil, "@": nil, "a | b": nil, "length(a)": nil,
	} {
		e, err := jmespath.Parse(expression)
		require.NoError(t, err)
		got, ok := e.Names()
		require.Equal(t, want != nil, ok, expression)
		if ok {
			require.Equal(t, want, got)
		}
	}
}
