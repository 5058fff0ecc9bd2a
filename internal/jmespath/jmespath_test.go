package jmespath_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/diag"
	"github.com/jobpoller/jobpoller/internal/jmespath"
)

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ path, want string }{
		{"", "1:1: expected a field name, found the end of the path"},
		{"a.", "1:3: expected a field name, found the end of the path"},
		{"a[0]", `1:2: '[' cannot stand here: only paths of field names joined by dots are supported`},
		{"length(a) > `0`", "1:7: '('"},
		{"a b", "1:3: 'b'"},
		{".a", "1:1: '.'"},
		{"a..b", "1:3: '.'"},
		{"1a", "1:1: '1'"},
		{"@", "1:1: '@'"},
		{"größe", "1:3: 'ö'"},
		{`a."b`, "1:3: quoted field name has no closing quote"},
		{`a."b\`, "1:3: quoted field name has no closing quote"},
		{`"\q"`, "1:1: quoted field name is not a JSON string"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			_, err := jmespath.Parse(tt.path)
			require.ErrorContains(t, err, tt.want)
			require.ErrorAs(t, err, new(diag.Problems))
		})
	}
}

func TestEvalOnJSON(t *testing.T) {
	t.Parallel()
	var value any
	require.NoError(t, json.Unmarshal([]byte(`{"a":{"b c":{"d":"x"},"n":1.5,"t":true,"l":[1],"z":null}}`), &value))
	tests := []struct {
		path string
		want any
	}{
		{`a."b c".d`, "x"},
		{` a . n `, 1.5},
		{"a.t", true},
		{"a.l", []any{1.0}},
		{"a.z", nil},
		{"a.missing.deeper", nil},
		{"a.n.deeper", nil},
		{"a.l.deeper", nil},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, eval(t, tt.path, reflect.TypeFor[any](), value))
		})
	}
	require.Nil(t, eval(t, "a", reflect.TypeFor[any](), nil))
	require.Equal(t, 7.0, eval(t, "n", reflect.TypeFor[any](), map[string]any{"n": json.Number("7")}))
	require.Equal(t, map[string]any{"b": []any{1.0}}, eval(t, "a", reflect.TypeFor[any](), map[string]any{"a": map[string][]int{"b": {1}}}))
}

// The same path gives the same answer whether the type of the output was
// known when the path was compiled, or only when it is evaluated.
func TestEvalOnSDKTypes(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 2, 3, 4, 5, 500e6, time.UTC)
	out := &dynamodb.DescribeExportOutput{ExportDescription: &types.ExportDescription{
		ExportStatus: types.ExportStatusInProgress, ItemCount: new(int64(42)), StartTime: &start,
		IncrementalExportSpecification: &types.IncrementalExportSpecification{ExportFromTime: &start},
	}}
	tests := []struct {
		path string
		want any
	}{
		{"ExportDescription.ExportStatus", "IN_PROGRESS"},
		{"exportDescription.exportStatus", "IN_PROGRESS"},
		{"ExportDescription.ItemCount", 42.0},
		{"ExportDescription.StartTime", float64(start.UnixMilli()) / 1000},
		{"ExportDescription.ExportArn", nil},
		{"ExportDescription.IncrementalExportSpecification", map[string]any{
			"ExportFromTime": float64(start.UnixMilli()) / 1000, "ExportToTime": nil, "ExportViewType": "",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, eval(t, tt.path, reflect.TypeOf(out), out), "static")
			require.Equal(t, tt.want, eval(t, tt.path, reflect.TypeFor[any](), out), "dynamic")
			require.Nil(t, eval(t, tt.path, reflect.TypeOf(out), (*dynamodb.DescribeExportOutput)(nil)), "nil output")
			require.Nil(t, eval(t, tt.path, reflect.TypeOf(out), &dynamodb.DescribeExportOutput{}), "empty output")
		})
	}
}

func TestCompileRefusesWhatTheTypeLacks(t *testing.T) {
	t.Parallel()
	out := reflect.TypeFor[*dynamodb.DescribeExportOutput]()
	tests := []struct{ path, want string }{
		{"ExportDescription.ExportStaus", `1:19: types.ExportDescription has no member "ExportStaus" (did you mean "ExportStatus"?)`},
		{"Promoted", `dynamodb.DescribeExportOutput has no member "Promoted"`},
		{"ResultMetadata", `1:1: dynamodb.DescribeExportOutput has no member "ResultMetadata"`},
		{"ExportDescription.ExportStatus.x", `types.ExportStatus has no members, so "x" cannot be read from it`},
		{"ExportDescription.StartTime.wall", `time.Time has no members`},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			e, err := jmespath.Parse(tt.path)
			require.NoError(t, err)
			_, err = e.Compile(out)
			require.ErrorContains(t, err, tt.want)
		})
	}
	// A promoted field is no member of the model.
	type base struct{ Status string }
	type Out struct{ base }
	for _, typ := range []reflect.Type{reflect.TypeFor[Out](), reflect.TypeFor[struct{ *base }]()} {
		status, err := jmespath.Parse("Status")
		require.NoError(t, err)
		_, err = status.Compile(typ)
		require.ErrorContains(t, err, `has no member "Status"`)
		p, err := status.Compile(reflect.TypeFor[any]())
		require.NoError(t, err)
		_, err = p.Eval(reflect.Zero(typ).Interface())
		require.ErrorContains(t, err, `has no member "Status"`)
	}

	e, err := jmespath.Parse("ExportStaus")
	require.NoError(t, err)
	p, err := e.Compile(reflect.TypeFor[any]())
	require.NoError(t, err)
	_, err = p.Eval(types.ExportDescription{})
	require.ErrorContains(t, err, `has no member "ExportStaus"`, "known only at run time")
	_, err = p.Eval(map[string]any{"ExportStaus": make(chan int)})
	require.ErrorContains(t, err, "chan int has no JMESPath form")
}

func eval(t *testing.T, path string, typ reflect.Type, value any) any {
	t.Helper()
	e, err := jmespath.Parse(path)
	require.NoError(t, err)
	p, err := e.Compile(typ)
	require.NoError(t, err)
	got, err := p.Eval(value)
	require.NoError(t, err)
	return got
}

// FuzzParse: nothing panics, and what parses evaluates on any object.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"a.b", `"x y".z`, "a[0]", "length(@)", `"\ud800"`, "a.", "\xff", `"\`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := jmespath.Parse(text)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		p, err := e.Compile(reflect.TypeFor[any]())
		require.NoError(t, err)
		_, _ = p.Eval(map[string]any{e.Fields()[0]: types.ExportDescription{}})
	})
}
