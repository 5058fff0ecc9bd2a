package jmespath_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jmespath/jmespathtest"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

// FuzzParse: a text is an expression, or an error that says where it is not.
func FuzzParse(f *testing.F) {
	jmespathtest.EachSeed(func(e string) { f.Add(e) })
	f.Fuzz(func(t *testing.T, text string) {
		e, err := jmespath.Parse(text)
		if err == nil {
			require.Equal(t, text, e.String())
			return
		}
		var parseErr *jmespath.Error
		require.ErrorAs(t, err, &parseErr)
		require.NotEmpty(t, parseErr.Code)
		for _, p := range parseErr.Problems {
			require.Positive(t, p.Line)
			require.Positive(t, p.Column)
			require.NotEmpty(t, p.Message)
		}
	})
}

// FuzzCompile: every expression compiles against every type, the findings have
// their place, and a value of the type evaluates to what the static type says.
func FuzzCompile(f *testing.F) {
	jmespathtest.EachSeed(func(e string) {
		for i := range len(jmespathtest.Roots) + 1 {
			f.Add(e, uint8(i), uint64(i))
		}
	})
	f.Fuzz(func(t *testing.T, text string, root uint8, seed uint64) {
		e, err := jmespath.Parse(text)
		if err != nil {
			return
		}
		typ := append([]reflect.Type{reflect.TypeFor[everything]()}, jmespathtest.Roots...)[int(root)%(len(jmespathtest.Roots)+1)]
		p, findings := e.Compile(typ)
		for _, finding := range findings {
			require.Positive(t, finding.Column)
		}
		v := reflect.New(typ).Elem()
		jmespathtest.NewGenerator(seed).Fill(v, 4)
		got, err := p.Eval(v.Interface())
		if err != nil || got == nil {
			return
		}
		if want := p.Result().Kind; want != jsontype.Unknown {
			require.Equal(t, want.String(), eval(t, "type(@)", nil, got))
		}
	})
}

// typeFrom makes a type of bytes: each three are a type and which others it
// consists of, so that types contain each other in all ways.
func typeFrom(data []byte) *jsontype.Type {
	types := make([]*jsontype.Type, len(data)/3+1)
	for i := range types[1:] {
		types[i+1] = &jsontype.Type{}
	}
	for i, s := range types[1:] {
		shape, a, b := data[3*i], types[int(data[3*i+1])%len(types)], types[int(data[3*i+2])%len(types)]
		s.Kind = jsontype.Kind(shape % 8) // one more than there are
		if shape&8 != 0 {
			s.Name = "Named"
		}
		if shape&16 != 0 {
			s.Elem = a
		}
		if shape&32 != 0 {
			s.Members = map[string]*jsontype.Type{"a": a, "b": b, "Name": types[len(types)-1]}
		}
		if shape&64 != 0 {
			s.Values = []string{"x", "ACTIVE"}
		}
	}
	return types[len(types)-1]
}

// FuzzCheck: every expression can be checked on every type; the findings and
// the members read have their place in the text.
func FuzzCheck(f *testing.F) {
	jmespathtest.EachSeed(func(e string) {
		f.Add(e, []byte{3, 0, 0, 5 | 32, 2, 1, 4 | 16, 2, 0})
		f.Add(e, []byte{})
	})
	f.Add("(a || b).a.b || b.*.a[0]", []byte{5 | 32 | 8, 1, 2, 5 | 16, 1, 0, 4 | 16, 3, 0, 7, 0, 0, 5 | 32, 1, 2})
	f.Add("[a, b][].[a, b][].[a, b][] == merge(a, {b: @})", []byte{4 | 16, 2, 0, 5 | 32, 1, 2})
	f.Fuzz(func(t *testing.T, text string, data []byte) {
		e, err := jmespath.Parse(text)
		if err != nil || len(data) > 60 {
			return
		}
		r := e.Check(typeFrom(data))
		for _, finding := range r.Findings {
			require.Positive(t, finding.Column)
		}
		for _, m := range r.Members {
			require.NotEmpty(t, m.Path)
			require.Less(t, m.Offset, len(text))
		}
		require.NotEmpty(t, r.Type.String())
		r.Type.Enum()
	})
}

// FuzzRename: a renamed expression has the same tree but for the names that
// change, whatever the new names are.
func FuzzRename(f *testing.F) {
	jmespathtest.EachSeed(func(e string) {
		f.Add(e, "X", []byte{})
		f.Add(e, "a\"b\\ \u2028", []byte{})
	})
	f.Add("!a.a", "0", []byte{}) // a member of what has none
	f.Add("(a || b).a.b || b.*.a[0]", "-", []byte{5 | 32 | 8, 1, 2, 5 | 16, 1, 0, 4 | 16, 3, 0, 7, 0, 0, 5 | 32, 1, 2})
	f.Fuzz(func(t *testing.T, text, prefix string, data []byte) {
		e, err := jmespath.Parse(text)
		if err != nil || len(data) > 60 {
			return
		}
		rename := func(name string) string { return prefix + name }
		to := func(_ *jsontype.Type, name string) string { return rename(name) }
		if _, err = e.Rename(typeFrom(data), to); err != nil {
			var failure *jmespath.Error
			require.ErrorAs(t, err, &failure)
			require.Equal(t, jmespath.AmbiguousName, failure.Code)
		}
		renamed, err := e.Rename(nil, to)
		if err != nil {
			return
		}
		if !strings.ContainsAny(text, "{`") { // all names are those of data
			require.Equal(t, e.SyntaxRenamed(rename), renamed.Syntax())
		}
		same, err := renamed.Rename(nil, func(_ *jsontype.Type, name string) string { return name })
		require.NoError(t, err)
		require.Equal(t, renamed.String(), same.String())
	})
}

// FuzzEval: on any JSON document an expression has the same result as on the
// same data in Go structs. A struct names its members in upper case and gives
// all of them, so names are in upper case on both sides, and the JSON side is
// the JSON form of the structs. What is not compared is the member that a
// struct of another type than was known does not have: it is an error there,
// and null on JSON.
func FuzzEval(f *testing.F) {
	doc := `{"a":[{"b":1,"c":"x"},{"b":2,"c":null}],"AutoScalingGroups":[{"MinSize":1,"Instances":[{"LifecycleState":"InService"}]}],"status":"ACTIVE"}`
	jmespathtest.EachSeed(func(e string) { f.Add(e, doc) })
	f.Add("a == b", `{"a":[[1,[2]],{}],"b":[[1,[2]],{}]}`)
	f.Add("a.*.b.c", `{"a":{"x":{"b":{"c":1}}}}`)
	f.Fuzz(func(t *testing.T, text, document string) {
		e, err := jmespath.Parse(text)
		var form any
		if err != nil || json.Unmarshal([]byte(document), &form) != nil {
			return
		}
		dynamic, _ := e.Compile(nil)
		require.NoError(t, compareTo(dynamic, form, evaluate(dynamic, form)))

		typed := jmespathtest.GoValue(form)
		upper := jmespathtest.JSON(typed)
		require.Equal(t, eval(t, "@", reflect.TypeOf(typed), typed), upper)
		capitalised, err := jmespathtest.Capitalise(e)
		if err != nil {
			return // it looks at the names themselves
		}
		dynamic, _ = capitalised.Compile(nil)
		static, _ := capitalised.Compile(reflect.TypeOf(typed))
		want, got := evaluate(dynamic, upper), evaluate(static, typed)
		require.NoError(t, compareTo(static, typed, got))
		if got.code != string(jmespath.UnknownMember) {
			require.Equal(t, want.value, got.value)
			require.Equal(t, want.code, got.code)
		}
	})
}
