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
)

func TestCompileFindings(t *testing.T) {
	t.Parallel()
	export := reflect.TypeFor[*dynamodb.DescribeExportOutput]()
	all := reflect.TypeFor[everything]()
	type finding struct {
		severity jmespath.Severity
		text     string
	}
	tests := []struct {
		path string
		typ  reflect.Type
		want []finding
	}{
		{"ExportDescription.ExportStaus", export, []finding{{jmespath.Danger, `1:19: types.ExportDescription has no member "ExportStaus" (did you mean "ExportStatus"?)`}}},
		{"ResultMetadata", export, []finding{{jmespath.Danger, `1:1: dynamodb.DescribeExportOutput has no member "ResultMetadata"`}}},
		{"ExportDescription.ExportStatus.x", export, []finding{{jmespath.Danger, `1:32: types.ExportStatus has no members, so "x" cannot be read from it`}}},
		{"ExportDescription.StartTime.wall", export, []finding{{jmespath.Danger, `1:29: time.Time has no members, so "wall" cannot be read from it`}}},
		{"ExportDescription.ExportStatus[0]", export, []finding{{jmespath.Danger, "1:31: an index needs an array, and this is types.ExportStatus"}}},
		{"ExportDescription[].ExportStatus", export, []finding{{jmespath.Danger, "1:18: [] needs an array, and this is types.ExportDescription"}}},
		{"List.*", all, []finding{{jmespath.Danger, "1:6: * needs an object, and this is []*string"}}},
		{"Lst[?x.y == 'a'].z", all, []finding{{jmespath.Danger, `1:1: jmespath_test.everything has no member "Lst" (did you mean "List"?)`}}},
		{"Stream", all, []finding{{jmespath.Danger, `1:1: "Stream" cannot be read: interface { Read([]uint8) (int, error) } has no JMESPath form`}}},
		{"`10`.foo", nil, []finding{{jmespath.Danger, `1:6: a number has no members, so "foo" cannot be read from it`}}},
		{"{status: a}.statu", nil, []finding{{jmespath.Danger, `1:13: the object made here has no member "statu" (did you mean "status"?)`}}},
		{"a.{x: b}.{y: x}.z", nil, []finding{{jmespath.Danger, `the object made here has no member "z"`}}},
		{"length(`10`)", nil, []finding{{jmespath.Failure, "1:8: length() takes a string, an array or an object as argument 1, and this is a number"}}},
		{"length(ExportDescription.ItemCount)", export, []finding{{jmespath.Failure, "1:25: length() takes a string, an array or an object as argument 1, and this is int64"}}},
		{"sum(List)", all, []finding{{jmespath.Danger, "1:5: sum() takes an array of numbers as argument 1, and the elements of this are string"}}},
		{"sort_by(Nested, &List)", all, []finding{{jmespath.Failure, "1:17: sort_by() orders by a number or a string, and this is []*string"}}},
		{"map(&Wrd, Nested)", all, []finding{{jmespath.Danger, `1:6: jmespath_test.everything has no member "Wrd" (did you mean "Word"?)`}}},
		{"`true` < `false`", nil, []finding{{jmespath.Warning, "1:8: < orders numbers alone, so comparing a boolean with a boolean is always null"}}},
		{"ExportDescription.ExportStatus > 'A'", export, []finding{{jmespath.Warning, "1:32: > orders numbers alone, so comparing types.ExportStatus with a string is always null"}}},
		{"ExportDescription.ItemCount == 'A'", export, []finding{{jmespath.Warning, "1:29: int64 and a string are equal only if both are null"}}},
		{"ExportDescription.ItemCount != 'A'", export, []finding{{jmespath.Warning, "int64 and a string are equal only if both are null"}}},
		{"ExportDescription.ItemCount == ExportDescription.ExportArn", export, []finding{{jmespath.Warning, "int64 and string are equal only if both are null"}}},
		{"ExportDescription.ExportStatus == 'COMPLETE'", export, []finding{{jmespath.Warning, `1:35: "COMPLETE" is not among the values of types.ExportStatus, so == can hold only for a value that is not listed (did you mean "COMPLETED"?)`}}},
		{"a.b || length(`1`) && `2`.x", nil, []finding{{jmespath.Failure, "1:15:"}, {jmespath.Danger, "1:27:"}}},
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
	status := reflect.TypeFor[types.ExportStatus]()
	list := func(elem jmespath.Type) jmespath.Type { return jmespath.Type{Kind: jmespath.Array, Elem: &elem} }
	all := reflect.TypeFor[everything]()
	tests := []struct {
		path string
		typ  reflect.Type
		want jmespath.Type
	}{
		{"ExportDescription.ExportStatus", reflect.TypeFor[*dynamodb.DescribeExportOutput](), jmespath.Type{Kind: jmespath.String, Go: status}},
		{"ExportDescription", reflect.TypeFor[*dynamodb.DescribeExportOutput](), jmespath.Type{Kind: jmespath.Object, Go: reflect.TypeFor[types.ExportDescription]()}},
		{"a", nil, jmespath.Type{Kind: jmespath.Unknown}},
		{"Missing", all, jmespath.Type{Kind: jmespath.Unknown}},
		{"Nested[].Word", all, list(jmespath.Type{Kind: jmespath.String, Go: reflect.TypeFor[jmespathtest.Shade]()})},
		{"Nested[0].Word || 'none'", all, jmespath.Type{Kind: jmespath.String}},
		{"List", all, jmespath.Type{Kind: jmespath.Array, Elem: &jmespath.Type{Kind: jmespath.String, Go: reflect.TypeFor[string]()}, Go: reflect.TypeFor[[]*string]()}},
		{"[Small, Real]", all, list(jmespath.Type{Kind: jmespath.Number})},
		{"[Small, Word]", all, jmespath.Type{Kind: jmespath.Array, Elem: &jmespath.Type{Kind: jmespath.Unknown}}},
		{"keys(@)", all, list(jmespath.Type{Kind: jmespath.String})},
		{"length(List) > `0`", all, jmespath.Type{Kind: jmespath.Boolean}},
		{"`true` < `false`", nil, jmespath.Type{Kind: jmespath.Null}},
		{"a < b", nil, jmespath.Type{Kind: jmespath.Boolean}},
		{"to_number(a)", nil, jmespath.Type{Kind: jmespath.Number}},
		{"max_by(Nested, &Small).Word", all, jmespath.Type{Kind: jmespath.String, Go: reflect.TypeFor[jmespathtest.Shade]()}},
		{"not_null(Text, Word)", all, jmespath.Type{Kind: jmespath.String}},
		{"Small && Text", all, jmespath.Type{Kind: jmespath.Unknown}},
		{"reverse(Text)", all, jmespath.Type{Kind: jmespath.String}},
		{"to_array(Small)", all, list(jmespath.Type{Kind: jmespath.Number, Go: reflect.TypeFor[int8]()})},
		{"`[[1]]`", nil, list(list(jmespath.Type{Kind: jmespath.Number}))},
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
	require.Equal(t, []string{"GREEN", "RED"}, jmespath.Type{Kind: jmespath.String, Go: reflect.TypeFor[jmespathtest.Shade]()}.Values())
	require.Nil(t, jmespath.Type{Kind: jmespath.String, Go: reflect.TypeFor[string]()}.Values())
	require.Nil(t, jmespath.Type{Kind: jmespath.String}.Values())
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
