package jmespath_test

import (
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	autoscalingtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	community "github.com/jmespath-community/go-jmespath"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jmespath/jmespathtest"
	palette "github.com/jobpoller/jobpoller/internal/jmespath/testdata/types"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		code jmespath.Code
		want string
	}{
		{"", jmespath.Syntax, "1:1: expected an expression, found the end of the expression"},
		{"a.", jmespath.Syntax, `1:3: expected a name, "*", "[" or "{", found the end of the expression`},
		{"a b", jmespath.Syntax, "1:3: expected an operator or the end of the expression, found b"},
		{"a *", jmespath.Syntax, `1:3: expected an operator or the end of the expression, found "*"`},
		{".a", jmespath.Syntax, `1:1: expected an expression, found "."`},
		{"1a", jmespath.Syntax, "1:1: expected an expression, found 1"},
		{"größe", jmespath.Syntax, "1:3: 'ö' cannot stand in an expression"},
		{"a = b", jmespath.Syntax, "1:3: '=' is no operator; equality is '=='"},
		{"a == '\xff'", jmespath.Syntax, "1:7: the expression is not UTF-8: byte 0xff is no part of a character"},
		{"\"é\xc3\"", jmespath.Syntax, "1:3: the expression is not UTF-8: byte 0xc3 is no part of a character"},
		{`a."b`, jmespath.Syntax, "1:3: quoted name has no closing quote"},
		{`a."b\`, jmespath.Syntax, "1:3: quoted name has no closing quote"},
		{`"\q"`, jmespath.Syntax, "1:1: quoted name is not a JSON string"},
		{"a == `x`", jmespath.Syntax, "1:6: literal is not JSON: invalid character 'x' looking for beginning of value; a string literal is 'text'"},
		{"a == 'x", jmespath.Syntax, "1:6: string has no closing quote"},
		{"a[0", jmespath.Syntax, `1:4: expected a number, ":" or "]", found the end of the expression`},
		{"a[b]", jmespath.Syntax, `1:3: expected a number, ":" or "*]", found b`},
		{"a[-]", jmespath.Syntax, "1:3: '-' must be followed by digits"},
		{"{a: b, }", jmespath.Syntax, `1:8: expected a name, found "}"`},
		{"length(a,)", jmespath.Syntax, `1:10: expected an argument, found ")"`},
		{`"length"(a)`, jmespath.Syntax, "1:1: the name of a function stands without quotes"},
		{"&a", jmespath.Syntax, `1:1: expected an expression, found "&"`},
		{strings.Repeat("(", 300) + "a", jmespath.Syntax, "nests deeper than 250 levels"},
		{"a" + strings.Repeat(".a", 300), jmespath.Syntax, "nests deeper than 250 levels"},
		{"lengt(a)", jmespath.UnknownFunction, `1:1: JMESPath has no function lengt() (did you mean "length"?)`},
		{"length(a, b)", jmespath.InvalidArity, "1:1: length() takes 1 argument, found 2"},
		{"not_null()", jmespath.InvalidArity, "1:1: not_null() takes at least 1 argument, found 0"},
		{"map(a, b)", jmespath.InvalidType, `1:5: argument 1 of map() must be an expression: write "&" before it`},
		{"length(&a)", jmespath.InvalidType, `1:8: argument 1 of length() must be a value, not an expression: remove the "&"`},
		{"a[::0]", jmespath.InvalidValue, "1:5: the step of a slice must not be 0"},
		{"foo(a) || bar(b)", jmespath.UnknownFunction, "2 problems"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			_, err := jmespath.Parse(tt.text)
			require.ErrorContains(t, err, tt.want)
			require.ErrorAs(t, err, new(diag.Problems))
			var parseErr *jmespath.Error
			require.ErrorAs(t, err, &parseErr)
			require.Equal(t, tt.code, parseErr.Code)
		})
	}
}

func TestEvalOnJSON(t *testing.T) {
	t.Parallel()
	var value any
	require.NoError(t, json.Unmarshal([]byte(`{"a":{"b c":{"d":"x"},"n":1.5,"t":true,"l":[1],"z":null},
		"s":["b","a"],"o":{"y":2,"x":1},"p":[{"k":2,"v":"b"},{"k":1,"v":"a"},{"k":2,"v":"c"}]}`), &value))
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
		{"a.z.[b]", nil},
		{"a.z.to_string(@)", nil},
		{"a.z | to_string(@)", "null"},
		{"s[-1]", "a"},
		{"s[99999999999999999999]", nil},
		{"s[::-1]", []any{"a", "b"}},
		{"s[::99999999999999999999]", []any{"b"}},
		{"keys(o)", []any{"x", "y"}},
		{"values(o)", []any{1.0, 2.0}},
		{"o.*", []any{1.0, 2.0}},
		{"max_by(p, &k).v", "b"},
		{"min_by(p, &k).v", "a"},
		{"sort_by(p, &k)[].v", []any{"a", "b", "c"}},
		{"p[?k == `2`].v | [0]", "b"},
		{"p[].[k, v][]", []any{2.0, "b", 1.0, "a", 2.0, "c"}},
		{"contains(p[].v, 'c')", true},
		{"contains(p[].v, 'd')", false},
		{"length(p[?k > `1`])", 2.0},
		{"to_string(`{\"a\":[1,\"<&>\"]}`)", `{"a":[1,"<&>"]}`},
		{"to_number('0x10')", nil},
		{"to_number('1e2')", 100.0},
		{"a.n < s", nil},
		{"!(a.n < s)", true},
		{"a.n < s || 'none'", "none"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, eval(t, tt.path, nil, value))
		})
	}
	require.Nil(t, eval(t, "a", nil, nil))
	require.Equal(t, 7.0, eval(t, "n", nil, map[string]any{"n": json.Number("7")}))
	require.Equal(t, map[string]any{"b": []any{1.0}}, eval(t, "a", nil, map[string]any{"a": map[string][]int{"b": {1}}}))
}

// The same path gives the same answer whether the type of the output was
// known when the path was compiled, or only when it is evaluated.
func TestEvalOnSDKTypes(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 2, 3, 4, 5, 500e6, time.UTC)
	seconds := float64(start.UnixMilli()) / 1000
	out := &dynamodb.DescribeExportOutput{ExportDescription: &types.ExportDescription{
		ExportStatus: types.ExportStatusInProgress, ItemCount: new(int64(42)), StartTime: &start,
		IncrementalExportSpecification: &types.IncrementalExportSpecification{ExportFromTime: &start},
	}}
	tests := []struct {
		path        string
		want, empty any
	}{
		{"ExportDescription.ExportStatus", "IN_PROGRESS", nil},
		{"exportDescription.exportStatus", "IN_PROGRESS", nil},
		{"ExportDescription.ItemCount", 42.0, nil},
		{"ExportDescription.ItemCount > `41`", true, nil},
		{"ExportDescription.StartTime", seconds, nil},
		{"ExportDescription.StartTime > `1000000000.5`", true, nil},
		{"ExportDescription.ExportArn", nil, nil},
		{"ExportDescription.ExportStatus == 'IN_PROGRESS'", true, false},
		{"ExportDescription.[ExportStatus, ItemCount]", []any{"IN_PROGRESS", 42.0}, nil},
		{"type(ExportDescription)", "object", "null"},
		{"ExportDescription.{s: ExportStatus}.s", "IN_PROGRESS", nil},
		{"ExportDescription.IncrementalExportSpecification", map[string]any{
			"ExportFromTime": seconds, "ExportToTime": nil, "ExportViewType": "",
		}, nil},
		{"ExportDescription.IncrementalExportSpecification.*", []any{seconds, ""}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, eval(t, tt.path, reflect.TypeOf(out), out), "static")
			require.Equal(t, tt.want, eval(t, tt.path, reflect.TypeOf(*out), *out), "a struct and no pointer")
			require.Equal(t, tt.want, eval(t, tt.path, nil, out), "dynamic")
			require.Equal(t, tt.want, eval(t, tt.path, reflect.TypeFor[*types.Tag](), out), "another type")
			require.Equal(t, tt.empty, eval(t, tt.path, reflect.TypeOf(out), &dynamodb.DescribeExportOutput{}), "empty output")
		})
	}
	require.Nil(t, eval(t, "ExportDescription.ExportStatus", reflect.TypeOf(out), (*dynamodb.DescribeExportOutput)(nil)), "nil output")
	require.Nil(t, eval(t, "ExportDescription.ExportStatus", reflect.TypeOf(out), nil), "nil")
}

type (
	hidden struct{ Name string }
	// document has the method that the SDK gives its document types.
	document   struct{ text string }
	everything struct {
		hidden
		Flag     *bool
		Small    int8
		Unsigned uint64
		Real     float32
		Word     jmespathtest.Shade
		Text     *string
		Blob     []byte
		When     time.Time
		Big      *big.Int
		Exact    *big.Float
		List     []*string
		Fixed    [2]int
		Nested   []everything
		Deep     **everything
		Tags     map[string]string
		ByShade  map[jmespathtest.Shade]*everything
		Any      any
		Doc      *document
		Union    palette.Palette
		Unions   map[string]palette.Palette
		Stream   interface{ Read(p []byte) (int, error) }
		Channel  chan int
		lower    string
	}
)

func (d *document) UnmarshalSmithyDocument(v any) error { return json.Unmarshal([]byte(d.text), v) }

func TestEvalOnEveryGoType(t *testing.T) {
	t.Parallel()
	inner := &everything{Word: "GREEN"}
	v := &everything{
		Flag: new(true), Small: -7, Unsigned: 9, Real: 0.5, Word: "RED", Text: new("text"), Blob: []byte("hi"),
		When: time.Unix(5, 250e6), Big: big.NewInt(12), Exact: big.NewFloat(1.5), List: []*string{new("a"), nil},
		Fixed: [2]int{3, 4}, Nested: []everything{*inner}, Deep: &inner, Tags: map[string]string{"k": "v"},
		ByShade: map[jmespathtest.Shade]*everything{"RED": inner}, Any: map[string]any{"x": []any{inner, json.Number("3")}},
		Doc: &document{`{"d":[1]}`}, Union: &palette.PaletteMemberName{Value: "GREEN"},
		Unions: map[string]palette.Palette{"c": &palette.PaletteMemberRGB{Value: []int32{1, 2}}},
		hidden: hidden{"none"}, lower: "none",
	}
	tests := []struct {
		path string
		want any
	}{
		{"Flag", true},
		{"flag && 'yes'", "yes"},
		{"Small", -7.0},
		{"Unsigned", 9.0},
		{"Real", 0.5},
		{"Word == 'RED'", true},
		{"length(Text)", 4.0},
		{"Blob", "aGk="},
		{"When", 5.25},
		{"Big", 12.0},
		{"Exact", 1.5},
		{"List", []any{"a", nil}},
		{"List[]", []any{"a"}},
		{"Fixed", []any{3.0, 4.0}},
		{"sum(Fixed)", 7.0},
		{"Nested[].Word", []any{"GREEN"}},
		{"Nested[0].Nested", []any{}},
		{"length(Nested[0].Tags)", 0.0},
		{"Deep.Word", "GREEN"},
		{"Deep.Deep.Word", nil},
		{"Tags.k", "v"},
		{"Tags.missing", nil},
		{"Tags", map[string]any{"k": "v"}},
		{"keys(ByShade)", []any{"RED"}},
		{"ByShade.*.Word", []any{"GREEN"}},
		{"ByShade.RED.Word", "GREEN"},
		{"Any.x[].Word", []any{"GREEN"}},
		{"Any.x[1]", 3.0},
		{"Any.missing", nil},
		{"Doc", map[string]any{"d": []any{1.0}}},
		{"Doc.d[0]", 1.0},
		{"Union", map[string]any{"Name": "GREEN"}},
		{"Union.Name", "GREEN"},
		{"union.name", "GREEN"},
		{"Union.RGB", nil},
		{"keys(Union)", []any{"Name"}},
		{"Unions.c.RGB[1]", 2.0},
		{"Unions.*.RGB[]", []any{1.0, 2.0}},
		{"contains(keys(@), 'Stream')", false},
		{"Nested[0].Union", nil},
		{"Nested[0].Doc", nil},
		{"Nested[0].Big", nil},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, eval(t, tt.path, reflect.TypeOf(v), v), "static")
			require.Equal(t, tt.want, eval(t, tt.path, nil, v), "dynamic")
		})
	}
}

// exchange is how an inputOutput matcher sees a call.
type exchange[In, Out any] struct {
	Input  In
	Output Out
}

func TestEvalOnInputAndOutput(t *testing.T) {
	t.Parallel()
	in := &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{"a", "b"}}
	const path = "length(input.AutoScalingGroupNames) == length(output.AutoScalingGroups)"
	type typed = exchange[*autoscaling.DescribeAutoScalingGroupsInput, *autoscaling.DescribeAutoScalingGroupsOutput]
	require.Equal(t, true, eval(t, path, reflect.TypeFor[*typed](), &typed{in, groups(2, 1, 0)}))
	require.Equal(t, false, eval(t, path, reflect.TypeFor[*typed](), &typed{in, groups(1, 1, 0)}))
	require.Equal(t, true, eval(t, path, reflect.TypeFor[exchange[any, any]](), exchange[any, any]{in, groups(2, 1, 0)}))
	form := exchange[any, any]{map[string]any{"AutoScalingGroupNames": []any{"a"}}, map[string]any{"AutoScalingGroups": []any{1.0}}}
	require.Equal(t, true, eval(t, path, reflect.TypeFor[exchange[any, any]](), form))
}

func TestEvalErrors(t *testing.T) {
	t.Parallel()
	ring := map[string]any{}
	ring["ring"] = ring
	type pointer *pointer
	tests := []struct {
		path  string
		value any
		code  jmespath.Code
		want  string
	}{
		{"length(a)", map[string]any{}, jmespath.InvalidType, "1:8: length() takes a string, an array or an object as argument 1, found null\n  | length(a)\n  |        ^"},
		{"length(a[])", map[string]any{}, jmespath.InvalidType, "1:9: length() takes"},
		{"contains(a[], 'x')", map[string]any{}, jmespath.InvalidType, "contains() takes a string or an array as argument 1, found null"},
		{"sort(a)", map[string]any{"a": []any{"x", 1.0}}, jmespath.InvalidType, "1:6: sort() takes an array of numbers or an array of strings as argument 1, found a number in it"},
		{"sort_by(a, &b)", map[string]any{"a": []any{map[string]any{}}}, jmespath.InvalidType, "1:12: sort_by() orders by a number or a string, found null"},
		{"ExportStaus", types.ExportDescription{}, jmespath.UnknownMember, `1:1: types.ExportDescription has no member "ExportStaus" (did you mean "ExportStatus"?)`},
		{"a", map[string]any{"a": make(chan int)}, jmespath.InvalidValue, "1:1: chan int has no JMESPath form"},
		{"a[]", map[string]any{"a": []any{func() {}}}, jmespath.InvalidValue, "func() has no JMESPath form"},
		{"a", map[string]any{"a": map[int]int{}}, jmespath.InvalidValue, "map[int]int has no JMESPath form: its keys are no strings"},
		{"a", map[string]any{"a": json.Number("1e999")}, jmespath.InvalidValue, "number 1e999 does not fit a double"},
		{"ring == @", ring, jmespath.InvalidValue, "1:6: the value nests too deep, or contains itself"},
		{"contains([ring], @)", ring, jmespath.InvalidValue, "1:10: the value nests too deep, or contains itself"},
		{"contains(to_array(ring), @)", ring, jmespath.InvalidValue, "1:10: the value nests too deep, or contains itself"},
		{"@", ring, jmespath.InvalidValue, "the value nests too deep, or contains itself"},
		{"a", map[string]any{"a": new(pointer)}, jmespath.InvalidValue, "points to itself"},
		{"Stream", everything{}, jmespath.InvalidValue, "has no JMESPath form"},
		{"Doc", everything{Doc: &document{"{"}}, jmespath.InvalidValue, "1:1: the document cannot be read"},
		{"to_string(a)", map[string]any{"a": math.Inf(1)}, jmespath.InvalidValue, "1:11: json: unsupported value: +Inf"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			e, err := jmespath.Parse(tt.path)
			require.NoError(t, err)
			p, _ := e.Compile(nil)
			for range 2 { // a frame is used again, without what it saw before
				_, err = p.Eval(tt.value)
				require.ErrorContains(t, err, tt.want)
				var evalErr *jmespath.Error
				require.ErrorAs(t, err, &evalErr)
				require.Equal(t, tt.code, evalErr.Code)
			}
		})
	}
}

// A value projection takes all steps that follow, behind a dot too: so reads
// Smithy's parser (software.amazon.smithy.jmespath.Parser, parseWildcardObject
// and parseProjectionRhs), which checks the waiters of AWS. JMESPath's own
// libraries read (D.*.a).b: see AsLibrary.
func TestValueProjectionBehindDot(t *testing.T) {
	t.Parallel()
	var value any
	require.NoError(t, json.Unmarshal([]byte(`{"D":{"x":{"a":{"b":1,"d":{"y":{"e":{"f":2}}}},"l":[{"b":3}]}}}`), &value))
	tests := []struct {
		path          string
		want, library any
	}{
		{"D.*.a.b", []any{1.0}, nil},
		{"(D.*.a).b", nil, nil},
		{"D | *.a.b", []any{1.0}, []any{1.0}},
		{"D.*.a.d.*.e.f", []any{[]any{2.0}}, nil},
		{"D.*.l[0].b", []any{3.0}, nil},
		{"D.*.l[*].b", []any{[]any{3.0}}, []any{[]any{3.0}}},
		{"D.*.l[?b]", []any{[]any{map[string]any{"b": 3.0}}}, []any{}},
		{"[@][?D].D.*.l[?b]", []any{[]any{[]any{map[string]any{"b": 3.0}}}}, []any{}},
		{"D.*.l", []any{[]any{map[string]any{"b": 3.0}}}, []any{[]any{map[string]any{"b": 3.0}}}},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, eval(t, tt.path, nil, value))
			e, err := jmespath.Parse(tt.path)
			require.NoError(t, err)
			reading, _ := e.AsLibrary()
			program, _ := reading.Compile(nil)
			require.Equal(t, tt.library, evaluate(program, value).value)
			got, err := community.Search(tt.path, value)
			require.NoError(t, err)
			require.Equal(t, tt.library, got)
		})
	}
}

func TestGroupInService(t *testing.T) {
	t.Parallel()
	const path = "contains(AutoScalingGroups[].[length(Instances[?LifecycleState=='InService']) >= MinSize][], `false`)"
	e, err := jmespath.Parse(path)
	require.NoError(t, err)
	p, findings := e.Compile(reflect.TypeFor[*autoscaling.DescribeAutoScalingGroupsOutput]())
	require.Empty(t, findings)
	for inService := range 4 {
		out := groups(2, 3, inService)
		got, err := p.EqualsBool(out, inService < 3)
		require.NoError(t, err)
		require.True(t, got, inService)
		require.Equal(t, inService < 3, eval(t, path, nil, out))
	}
}

// groups is an output with groups that all want so many instances and have so
// many in service.
func groups(count, size, inService int) *autoscaling.DescribeAutoScalingGroupsOutput {
	out := &autoscaling.DescribeAutoScalingGroupsOutput{}
	for range count {
		g := autoscalingtypes.AutoScalingGroup{AutoScalingGroupName: new("g"), MinSize: new(int32(size))}
		for i := range size {
			state := autoscalingtypes.LifecycleStatePending
			if i < inService {
				state = autoscalingtypes.LifecycleStateInService
			}
			g.Instances = append(g.Instances, autoscalingtypes.Instance{LifecycleState: state})
		}
		out.AutoScalingGroups = append(out.AutoScalingGroups, g)
	}
	return out
}

func eval(t *testing.T, path string, typ reflect.Type, value any) any {
	t.Helper()
	e, err := jmespath.Parse(path)
	require.NoError(t, err)
	p, _ := e.Compile(typ)
	got, err := p.Eval(value)
	require.NoError(t, err)
	return got
}
