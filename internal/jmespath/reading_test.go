package jmespath_test

import (
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/codedeploy"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jmespath"
	"github.com/jobpoller/jobpoller/internal/jmespath/jmespathtest"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

var (
	aString = &jsontype.Type{Kind: jsontype.String}
	aNumber = &jsontype.Type{Kind: jsontype.Number}
	aTime   = &jsontype.Type{Name: "Timestamp", Kind: jsontype.Number, Timestamp: true}
	aState  = &jsontype.Type{Name: "JobState", Kind: jsontype.String, Values: []string{"RUNNING", "DONE", "FAILED"}}
	// aJob contains itself.
	aJob = func() *jsontype.Type {
		job := &jsontype.Type{Name: "Job", Kind: jsontype.Object, Members: map[string]*jsontype.Type{
			"status": aState, "Started": aTime, "count": aNumber, "note": aString,
			"tags":   {Kind: jsontype.Object, Elem: aString},
			"data":   {Kind: jsontype.Unknown},
			"any":    nil,
			"mode":   {Kind: jsontype.String, Values: []string{"FAST"}},
			"nobody": {Kind: jsontype.Object},
		}}
		job.Members["children"] = &jsontype.Type{Kind: jsontype.Array, Elem: job}
		job.Members["byName"] = &jsontype.Type{Kind: jsontype.Object, Elem: job}
		job.Members["parent"] = job
		return job
	}()
)

func TestCheckFindings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path string
		want []string
	}{
		{"statsu", []string{`1:1: Job has no member "statsu" (did you mean "status"?)`}},
		{"Status", []string{`1:1: Job has no member "Status" (did you mean "status"?)`}},
		{"children[].parent.children[].stats.x", []string{`1:30: Job has no member "stats" (did you mean "status"?)`}},
		{"status.x", []string{`1:8: JobState has no members, so "x" cannot be read from it`}},
		{"note.x", []string{`1:6: a string has no members, so "x" cannot be read from it`}},
		{"nobody.x", []string{`1:8: an object has no member "x"`}},
		{"tags[0]", []string{"1:5: an index needs an array, and this is an object"}},
		{"children.*", []string{"1:10: * needs an object, and this is an array"}},
		{"status == 'DNE'", []string{`1:11: warning: "DNE" is not among the values of JobState, so == can hold only for a value that is not listed (did you mean "DONE"?)`}},
		{"mode != 'SLOW'", []string{`1:9: warning: "SLOW" is not among the values of an enum, so != can fail only for a value that is not listed`}},
		{"status < 'A' || sum(children[].note) > count", []string{
			"1:8: warning: < orders numbers alone, so comparing JobState with a string is always null",
			"1:29: sum() takes an array of numbers as argument 1, and the elements of this are a string",
		}},
		{"parent.parent.parent.byName.*.status", nil},
		{"tags.anything && data.x[0].y && any.z", nil},
		{"(parent || data).x", nil},
		{"count > `1` && Started < `5`", nil},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			e, err := jmespath.Parse(tt.path)
			require.NoError(t, err)
			var got []string
			for _, f := range e.Check(aJob).Findings {
				got = append(got, f.String())
				require.NotEmpty(t, f.Snippet())
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestCheckReading(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path    string
		want    string
		members []string
	}{
		{"status", "JobState", []string{"status JobState"}},
		{"children[].status", "array of JobState", []string{"children", "children[].status JobState"}},
		{"byName.*.status", "array of JobState", []string{"byName", "byName.*.status JobState"}},
		{"byName.x.status", "JobState", []string{"byName", "byName.x Job", "byName.x.status JobState"}},
		{"parent.parent.Started", "Timestamp", []string{"parent Job", "parent.parent Job", "parent.parent.Started Timestamp"}},
		{"children[?status == 'DONE'] | [0].Started", "Timestamp", []string{"children", "children[].status JobState", "children[].Started Timestamp"}},
		{"{a: status, b: parent}.b.note", "a string", []string{"status JobState", "parent Job", "parent.note"}},
		{"[parent, children[0]][].status", "array of JobState", []string{"parent Job", "children", "parent.status JobState", "children[].status JobState"}},
		{"(parent || byName.x).status", "JobState", []string{"parent Job", "byName", "byName.x Job", "parent.status JobState", "byName.x.status JobState"}},
		{"sort_by(children, &Started)[-1].status", "JobState", []string{"children", "children[].Started Timestamp", "children[].status JobState"}},
		{"merge(parent, {x: note}).status", "any value", []string{"parent Job", "note", "parent.status JobState"}},
		{"length(children) == `0`", "a boolean", []string{"children"}},
		{"data.a[0].b", "any value", []string{"data", "data.a", "data.a[].b"}},
		{"any.a", "any value", []string{"any", "any.a"}},
		{"nobody.none.deep", "any value", []string{"nobody"}},
		{"*.status", "array of any value", []string{"any.status", "byName.status Job", "data.status", "parent.status JobState", "tags.status"}},
		{"note || status", "a string", []string{"note", "status JobState"}},
		{"keys(tags)", "array of a string", []string{"tags"}},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			e, err := jmespath.Parse(tt.path)
			require.NoError(t, err)
			got := e.Check(aJob)
			var members []string
			for _, m := range got.Members {
				members = append(members, m.String())
				if m.Type != nil && m.Type.Name != "" {
					members[len(members)-1] += " " + m.Type.Name
				}
				last := m.Path[len(m.Path)-1]
				require.Equal(t, last, tt.path[m.Offset:m.Offset+len(last)])
			}
			require.Equal(t, tt.members, members)
			require.Equal(t, tt.want, typeText(got.Type))
		})
	}
	e, err := jmespath.Parse("status")
	require.NoError(t, err)
	require.Equal(t, []string{"DONE", "FAILED", "RUNNING"}, e.Check(aJob).Type.Enum())
	require.Same(t, aState, e.Check(aJob).Type)
	require.Nil(t, e.Check(nil).Type.Enum())
	require.Equal(t, "JobState", e.Check(aJob).Type.String())
}

// typeText says all of a static type but its values.
func typeText(t *jsontype.Type) string {
	switch {
	case t.Kind != jsontype.Array || t.Elem == nil:
		return t.String()
	case t.Elem.Name != "":
		return "array of " + t.Elem.Name
	default:
		return "array of " + typeText(t.Elem)
	}
}

// Each list of two doubles the places that its elements come from.
func TestCheckManyPlaces(t *testing.T) {
	t.Parallel()
	path := "@"
	for range 40 {
		path += ".[parent, children[0]][]"
	}
	e, err := jmespath.Parse("[@][]" + path[1:] + ".status")
	require.NoError(t, err)
	r := e.Check(aJob)
	require.Empty(t, r.Findings)
	require.Equal(t, "JobState", r.Type.Elem.String())
	require.Less(t, len(r.Members), 40*3*64)
}

func TestCheckAgreesWithCompile(t *testing.T) {
	t.Parallel()
	g := jmespathtest.NewGenerator(*seed)
	types := []reflect.Type{
		reflect.TypeFor[jmespathtest.Machine](), reflect.TypeFor[[]jmespathtest.Machine](), reflect.TypeFor[*jmespathtest.Fleet](), reflect.TypeFor[[]jmespathtest.Host](),
		reflect.TypeFor[*autoscaling.DescribeAutoScalingGroupsOutput](), reflect.TypeFor[*cloudformation.DescribeStacksOutput](),
		reflect.TypeFor[*codedeploy.GetDeploymentOutput](),
	}
	declaredTypes := map[reflect.Type]*jsontype.Type{}
	for _, typ := range types {
		declaredTypes[typ] = jmespathtest.Describe(typ)
	}
	findings, enums := 0, 0
	count := *cases / 2
	for i := range count {
		typ := types[i%len(types)]
		if g.One(4) {
			typ = g.StructType(3)
		}
		declared := declaredTypes[typ]
		if declared == nil {
			declared = jmespathtest.Describe(typ)
		}
		expression, _ := g.Expression(typ, 4)
		if g.One(4) {
			expression += g.Pick(" == 'RED'", " == 'RDE'", ".Naem", ".*.Name", "[].Shade | [0]", "[?Shade == 'a'].Parts[].Shad", " < `1`")
		}
		e, err := jmespath.Parse(expression)
		require.NoError(t, err)
		p, want := e.Compile(typ)
		got := e.Check(declared)
		require.Equal(t, want, got.Findings, "%s on %s", expression, typ)
		require.Equal(t, typeText(p.Result()), typeText(got.Type), "%s on %s", expression, typ)
		require.Equal(t, p.Result().Enum(), got.Type.Enum())
		findings += len(want)
		if got.Type.Enum() != nil {
			enums++
		}
	}
	require.Greater(t, findings, count/10)
	require.Positive(t, enums)
}

// Every member read has the type that its path leads to.
func TestCheckMembersAreThere(t *testing.T) {
	t.Parallel()
	g := jmespathtest.NewGenerator(*seed)
	count := 0
	for range *cases / 10 {
		typ := g.StructType(3)
		root := jmespathtest.Describe(typ)
		expression, _ := g.Expression(typ, 4)
		e, err := jmespath.Parse(expression)
		require.NoError(t, err)
		for _, m := range e.Check(root).Members {
			at, owner := root, (*jsontype.Type)(nil)
			for _, step := range m.Path {
				if owner = at; at == nil || at.Kind == jsontype.Unknown {
					continue
				}
				if at.Elem != nil {
					at = at.Elem
				} else {
					at = at.Members[step]
				}
			}
			require.Same(t, at, m.Type, "%s in %s on %s", m, expression, typ)
			require.Same(t, owner, m.Owner)
			count++
		}
	}
	require.Greater(t, count, *cases/10)
}

// Types without names are told apart by what is in them.
func TestCheckTellsTypesApart(t *testing.T) {
	t.Parallel()
	object := func(name string, m *jsontype.Type) *jsontype.Type {
		return &jsontype.Type{Kind: jsontype.Object, Members: map[string]*jsontype.Type{name: m}}
	}
	array := func(elem *jsontype.Type) *jsontype.Type {
		return &jsontype.Type{Kind: jsontype.Array, Elem: elem}
	}
	tests := []struct {
		left, right *jsontype.Type
		path        string
		finds       bool
	}{
		{object("x", aString), object("x", aString), "(left || right).y", true},
		{object("x", aString), object("y", aString), "(left || right).y", false},
		{object("x", aString), object("x", aNumber), "(left || right).x.y", false},
		{object("x", aString), object("x", nil), "(left || right).x.y", false},
		{object("x", aNumber), object("x", aNumber), "(left || right).x.y", true},
		{array(object("x", aString)), array(object("x", aString)), "(left || right)[0].y", true},
		{array(object("x", aString)), array(object("y", aString)), "(left || right)[0].y", false},
	}
	for _, tt := range tests {
		e, err := jmespath.Parse(tt.path)
		require.NoError(t, err)
		members := map[string]*jsontype.Type{"left": tt.left, "right": tt.right}
		findings := e.Check(&jsontype.Type{Kind: jsontype.Object, Members: members}).Findings
		require.Equal(t, tt.finds, len(findings) > 0, "%s: %v", tt.path, findings)
	}
}

// On data that an expression of AWS's waiters reads, described, the check says
// what it says of the Go type, and renaming changes no result.
func TestCheckAWS(t *testing.T) {
	t.Parallel()
	g := jmespathtest.NewGenerator(*seed)
	for _, text := range jmespathtest.AWSExpressions() {
		e, err := jmespath.Parse(text)
		require.NoError(t, err)
		e, err = e.Rename(nil, pascal)
		require.NoError(t, err)
		for range 10 {
			typed := jmespathtest.GoValue(jmespathtest.Sample(e, g.IntN))
			form := jmespathtest.JSON(typed)
			declared := jmespathtest.Describe(reflect.TypeOf(typed))
			_, want := e.Compile(reflect.TypeOf(typed))
			got := e.Check(declared)
			require.Equal(t, want, got.Findings, text)
			require.NotEmpty(t, got.Members)

			renamed, err := e.Rename(declared, prefixed)
			require.NoError(t, err, text)
			before, _ := e.Compile(nil)
			after, _ := renamed.Compile(nil)
			was, is := evaluate(before, form), evaluate(after, renamedData(declared, form))
			require.Equal(t, was.code, is.code)
			require.Equal(t, was.value, oldNames(is.value), "%s became %s", e, renamed)
		}
	}
}
