package jmespath_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jmespath/jmespathtest"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

func TestCompileFindings(t *testing.T) {
	t.Parallel()
	export := reflect.TypeFor[*dynamodb.DescribeExportOutput]()
	all := reflect.TypeFor[everything]()
	type finding struct {
		severity diag.Severity
		text     string
	}
	tests := []struct {
		path string
		typ  reflect.Type
		want []finding
	}{
		{"ExportDescription.ExportStaus", export, []finding{{diag.Danger, `1:19: types.ExportDescription has no member "ExportStaus" (did you mean "ExportStatus"?)`}}},
		{"ResultMetadata", export, []finding{{diag.Danger, `1:1: dynamodb.DescribeExportOutput has no member "ResultMetadata"`}}},
		{"ExportDescription.ExportStatus.x", export, []finding{{diag.Danger, `1:32: types.ExportStatus has no members, so "x" cannot be read from it`}}},
		{"ExportDescription.StartTime.wall", export, []finding{{diag.Danger, `1:29: time.Time has no members, so "wall" cannot be read from it`}}},
		{"ExportDescription.ExportStatus[0]", export, []finding{{diag.Danger, "1:31: an index needs an array, and this is types.ExportStatus"}}},
		{"ExportDescription[].ExportStatus", export, []finding{{diag.Danger, "1:18: [] needs an array, and this is types.ExportDescription"}}},
		{"List.*", all, []finding{{diag.Danger, "1:6: * needs an object, and this is []*string"}}},
		{"Lst[?x.y == 'a'].z", all, []finding{{diag.Danger, `1:1: jmespath_test.everything has no member "Lst" (did you mean "List"?)`}}},
		{"Stream", all, []finding{{diag.Danger, `1:1: "Stream" cannot be read: interface { Read([]uint8) (int, error) } has no JMESPath form`}}},
		{"`10`.foo", nil, []finding{{diag.Danger, `1:6: a number has no members, so "foo" cannot be read from it`}}},
		{"{status: a}.statu", nil, []finding{{diag.Danger, `1:13: the object made here has no member "statu" (did you mean "status"?)`}}},
		{"a.{x: b}.{y: x}.z", nil, []finding{{diag.Danger, `the object made here has no member "z"`}}},
		{"length(`10`)", nil, []finding{{diag.Error, "1:8: length() takes a string, an array or an object as argument 1, and this is a number"}}},
		{"length(ExportDescription.ItemCount)", export, []finding{{diag.Error, "1:25: length() takes a string, an array or an object as argument 1, and this is int64"}}},
		{"sum(List)", all, []finding{{diag.Danger, "1:5: sum() takes an array of numbers as argument 1, and the elements of this are string"}}},
		{"sort_by(Nested, &List)", all, []finding{{diag.Error, "1:17: sort_by() orders by a number or a string, and this is []*string"}}},
		{"map(&Wrd, Nested)", all, []finding{{diag.Danger, `1:6: jmespath_test.everything has no member "Wrd" (did you mean "Word"?)`}}},
		{"`true` < `false`", nil, []finding{{diag.Warning, "1:8: warning: < orders numbers alone, so comparing a boolean with a boolean is always null"}}},
		{"ExportDescription.ExportStatus > 'A'", export, []finding{{diag.Warning, "1:32: warning: > orders numbers alone, so comparing types.ExportStatus with a string is always null"}}},
		{"ExportDescription.ItemCount == 'A'", export, []finding{{diag.Warning, "1:29: warning: int64 and a string are equal only if both are null"}}},
		{"ExportDescription.ItemCount != 'A'", export, []finding{{diag.Warning, "int64 and a string are equal only if both are null"}}},
		{"ExportDescription.ItemCount == ExportDescription.ExportArn", export, []finding{{diag.Warning, "int64 and string are equal only if both are null"}}},
		{"ExportDescription.ExportStatus == 'COMPLETE'", export, []finding{{diag.Warning, `1:35: warning: "COMPLETE" is not among the values of types.ExportStatus, so == can hold only for a value that is not listed (did you mean "COMPLETED"?)`}}},
		{"a.b || length(`1`) && `2`.x", nil, []finding{{diag.Error, "1:15:"}, {diag.Danger, "1:27:"}}},
		// What can be right is not reported.
		{"ExportDescription.ExportStatus == 'COMPLETED'", export, nil},
		{"ExportDescription.ExportArn == `null`", export, nil},
		{"length(ExportDescription.ExportArn)", export, nil},
		{"Any.x.y[0].z > `1` && Union.Name && Doc.d", all, nil},
		{"Unions.a.RGB[0]", all, nil},
		{"Nested[].Nested[].Deep.ByShade.x.Word", all, nil},
		{"ByShade.*.Word[]", all, nil},
		{"*.Word", all, nil},
		{"not_null(Text, Any).x", all, nil},
		{"sum(`[]`)", nil, nil},
		{"contains(AutoScalingGroups[].[length(Instances[?LifecycleState=='InService']) >= MinSize][], `false`)", reflect.TypeFor[*autoscaling.DescribeAutoScalingGroupsOutput](), nil},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			e, err := jmespath.Parse(tt.path)
			require.NoError(t, err)
			_, found := e.Compile(tt.typ)
			require.Len(t, found, len(tt.want), "%v", found)
			for i, f := range found {
				require.Equal(t, tt.want[i].severity, f.Severity)
				require.Contains(t, f.String(), tt.want[i].text)
				require.NotEmpty(t, f.Snippet())
			}
		})
	}
}

func TestResult(t *testing.T) {
	t.Parallel()
	goType := func(kind jsontype.Kind, t reflect.Type) *jsontype.Type {
		return &jsontype.Type{Name: t.String(), Kind: kind, Values: jmespath.GoValues(t)}
	}
	list := func(elem *jsontype.Type) *jsontype.Type { return &jsontype.Type{Kind: jsontype.Array, Elem: elem} }
	all := reflect.TypeFor[everything]()
	tests := []struct {
		path string
		typ  reflect.Type
		want *jsontype.Type
	}{
		{"ExportDescription.ExportStatus", reflect.TypeFor[*dynamodb.DescribeExportOutput](), goType(jsontype.String, reflect.TypeFor[types.ExportStatus]())},
		{"ExportDescription", reflect.TypeFor[*dynamodb.DescribeExportOutput](), goType(jsontype.Object, reflect.TypeFor[types.ExportDescription]())},
		{"a", nil, &jsontype.Type{Kind: jsontype.Unknown}},
		{"Missing", all, &jsontype.Type{Kind: jsontype.Unknown}},
		{"Nested[].Word", all, list(goType(jsontype.String, reflect.TypeFor[jmespathtest.Shade]()))},
		{"Nested[0].Word || 'none'", all, &jsontype.Type{Kind: jsontype.String}},
		{"List", all, &jsontype.Type{Name: "[]*string", Kind: jsontype.Array, Elem: goType(jsontype.String, reflect.TypeFor[string]())}},
		{"[Small, Real]", all, list(&jsontype.Type{Kind: jsontype.Number})},
		{"[Small, Word]", all, &jsontype.Type{Kind: jsontype.Array, Elem: &jsontype.Type{Kind: jsontype.Unknown}}},
		{"keys(@)", all, list(&jsontype.Type{Kind: jsontype.String})},
		{"length(List) > `0`", all, &jsontype.Type{Kind: jsontype.Boolean}},
		{"`true` < `false`", nil, &jsontype.Type{Kind: jsontype.Null}},
		{"a < b", nil, &jsontype.Type{Kind: jsontype.Boolean}},
		{"to_number(a)", nil, &jsontype.Type{Kind: jsontype.Number}},
		{"max_by(Nested, &Small).Word", all, goType(jsontype.String, reflect.TypeFor[jmespathtest.Shade]())},
		{"not_null(Text, Word)", all, &jsontype.Type{Kind: jsontype.String}},
		{"Small && Text", all, &jsontype.Type{Kind: jsontype.Unknown}},
		{"reverse(Text)", all, &jsontype.Type{Kind: jsontype.String}},
		{"to_array(Small)", all, list(goType(jsontype.Number, reflect.TypeFor[int8]()))},
		{"`[[1]]`", nil, list(list(&jsontype.Type{Kind: jsontype.Number}))},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			e, err := jmespath.Parse(tt.path)
			require.NoError(t, err)
			p, _ := e.Compile(tt.typ)
			require.Equal(t, tt.want, p.Result())
		})
	}
	require.Equal(t, []string{"GREEN", "RED"}, jmespath.GoValues(reflect.TypeFor[jmespathtest.Shade]()))
	require.Nil(t, jmespath.GoValues(reflect.TypeFor[string]()))
	require.Nil(t, jmespath.GoValues(nil))
}

func TestPaths(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path string
		want [][]string
	}{
		{"a.b.c", [][]string{{"a", "b", "c"}}},
		{"a | b", [][]string{{"a", "b"}}},
		{"a.b == a.c && a.b", [][]string{{"a", "b"}, {"a", "c"}}},
		{"a.b || a", [][]string{{"a"}}},
		{"a[0].b", [][]string{{"a"}}},
		{"a.b[?c == d].e", [][]string{{"a", "b"}}},
		{"contains(AutoScalingGroups[].[length(Instances[?LifecycleState=='InService']) >= MinSize][], `false`)", [][]string{{"AutoScalingGroups"}}},
		{"a.[b, c.d]", [][]string{{"a", "b"}, {"a", "c", "d"}}},
		{"{x: a}.x", [][]string{{"a"}}},
		{"sort_by(a, &b)[0]", [][]string{{"a"}}},
		{"length(@)", [][]string{{}}},
		{"@", [][]string{{}}},
		{"*.a", [][]string{{}}},
		{"`1`", nil},
		{"a.b.c || a.b", [][]string{{"a", "b"}}},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			e, err := jmespath.Parse(tt.path)
			require.NoError(t, err)
			got := e.Paths()
			require.Len(t, got, len(tt.want))
			for i := range got {
				require.Equal(t, append([]string{}, tt.want[i]...), append([]string{}, got[i]...))
			}
		})
	}
}

func TestComparators(t *testing.T) {
	t.Parallel()
	words := func(words ...any) any { return map[string]any{"a": words} }
	tests := []struct {
		path                     string
		value                    any
		str, boolean, every, any bool
	}{
		{"a[]", words("x", "x"), false, false, true, true},
		{"a[]", words("x", "y"), false, false, false, true},
		{"a[]", words("y"), false, false, false, false},
		{"a", words(), false, false, false, false},
		{"a", words("x", nil), false, false, false, true},
		{"a[]", words("x", nil), false, false, true, true}, // a projection leaves null out
		{"a", words("x", 1.0), false, false, false, true},
		{"a[0]", words("x"), true, false, false, false},
		{"a[0] == 'x'", words("x"), false, true, false, false},
		{"a", map[string]any{}, false, false, false, false},
		{"a", map[string]any{"a": "x"}, true, false, false, false},
		{"a", map[string]any{"a": true}, false, true, false, false},
		{"a", map[string]any{"a": "true"}, false, false, false, false},
		{"a[].[b, c][]", map[string]any{"a": []any{map[string]any{"b": "x", "c": "x"}}}, false, false, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			e, err := jmespath.Parse(tt.path)
			require.NoError(t, err)
			p, _ := e.Compile(nil)
			check := func(want bool, got bool, err error) {
				require.NoError(t, err)
				require.Equal(t, want, got)
			}
			str, err := p.EqualsString(tt.value, "x")
			check(tt.str, str, err)
			boolean, err := p.EqualsBool(tt.value, true)
			check(tt.boolean, boolean, err)
			every, err := p.AllEqualString(tt.value, "x")
			check(tt.every, every, err)
			some, err := p.AnyEqualString(tt.value, "x")
			check(tt.any, some, err)
		})
	}
}

// An element behind a match that makes the evaluation an error still does, as
// if the comparator had looked at the result.
func TestComparatorsSeeLaterErrors(t *testing.T) {
	t.Parallel()
	e, err := jmespath.Parse("a[].to_string(length(@))")
	require.NoError(t, err)
	p, _ := e.Compile(nil)
	ok, err := p.AnyEqualString(map[string]any{"a": []any{"b", 1.0}}, "1")
	require.False(t, ok)
	var evalErr *jmespath.Error
	require.ErrorAs(t, err, &evalErr)
	require.Equal(t, jmespath.InvalidType, evalErr.Code)
}

// One program serves many goroutines.
func TestProgramIsShared(t *testing.T) {
	t.Parallel()
	e, err := jmespath.Parse("contains(AutoScalingGroups[].[length(Instances[?LifecycleState=='InService']) >= MinSize][], `false`)")
	require.NoError(t, err)
	p, _ := e.Compile(reflect.TypeFor[*autoscaling.DescribeAutoScalingGroupsOutput]())
	done := make(chan error)
	for i := range 8 {
		go func() {
			var failed error
			for range 200 {
				if ok, err := p.EqualsBool(groups(2, 3, i%4), i%4 < 3); !ok || err != nil {
					failed = fmt.Errorf("%d in service: %v %w", i%4, ok, err)
				}
			}
			done <- failed
		}()
	}
	for range 8 {
		require.NoError(t, <-done)
	}
}
