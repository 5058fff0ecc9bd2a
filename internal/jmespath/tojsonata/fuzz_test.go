package tojsonata_test

import (
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jmespath/jmespathtest"
	"github.com/jobpoller/jobpoller/internal/jmespath/tojsonata"
	"github.com/jobpoller/jobpoller/internal/jsonata"
)

// FuzzTranslation: on any JSON document, the exact translation of an expression
// says what the expression says.
func FuzzTranslation(f *testing.F) {
	doc := `{"a":[{"b":1,"c":"x"},{"b":2,"c":null}],"AutoScalingGroups":[{"MinSize":1,"Instances":[{"LifecycleState":"InService"}]}],"status":"ACTIVE"}`
	jmespathtest.EachSeed(func(e string) { f.Add(e, doc, "ACTIVE") })
	f.Add("a[][]", `{"a":[[[1,"x"]],[],[[]],{},null,"x"]}`, "x")
	f.Add("[*].constructor", `[{"constructor":"x"},{},"x"]`, "x")
	f.Add("to_number(@)", `" 1 "`, "%}")
	f.Add("{a: [a, b], c: {d: c}}", `{"a":[null],"b":null}`, "x")
	f.Add("sort_by(@, &a)[0].b", `[{"a":2,"b":"y"},{"a":1,"b":"x"}]`, "x")
	f.Fuzz(func(t *testing.T, text, document, want string) {
		e, err := jmespath.Parse(text)
		var form any
		if err != nil || json.Unmarshal([]byte(document), &form) != nil || !utf8.ValidString(want) {
			return
		}
		program, _ := e.Compile(nil)
		translation := tojsonata.Translate(e, "$states.result", nil)
		holds := func(got bool, err error) bool { return got && err == nil }
		for _, m := range []struct {
			name  string
			write func() (string, error)
			want  any
		}{
			{"EqualsString", func() (string, error) { return translation.EqualsString(want) }, holds(program.EqualsString(form, want))},
			{"EqualsBool", func() (string, error) { return translation.EqualsBool(true) }, holds(program.EqualsBool(form, true))},
			{"AnyEqualString", func() (string, error) { return translation.AnyEqualString(want) }, holds(program.AnyEqualString(form, want))},
			{"AllEqualString", func() (string, error) { return translation.AllEqualString(want) }, holds(program.AllEqualString(form, want))},
			{"Value", translation.Value, valueOf(program, form)},
			{"Argument", func() (string, error) { return translation.Argument(nil, nil) }, argument(e, form)},
		} {
			text, err := m.write()
			if err != nil {
				requireRefused(t, err)
				return
			}
			got, err := evaluateJSONata(t, text, form)
			if failure, ok := errors.AsType[*jsonata.Error](err); ok && failure.Code == "D1001" {
				return // a sum is no float
			}
			require.NoError(t, err, text)
			c := translated{method: m.name, text: text, on: form, want: m.want}
			require.True(t, c.agrees(got), "%s wants %v, gives %v", text, m.want, got)
		}
	})
}
