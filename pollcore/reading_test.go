package pollcore_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/jobpoller/jobpoller/internal/jmespath/jmespathtest"
	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
)

var (
	text   = &jsontype.Type{Name: "String", Kind: jsontype.String}
	number = &jsontype.Type{Name: "Integer", Kind: jsontype.Number}
)

func structure(name string, members map[string]*jsontype.Type) *jsontype.Type {
	return &jsontype.Type{Name: name, Kind: jsontype.Object, Members: members}
}

func listOf(elem *jsontype.Type) *jsontype.Type {
	return &jsontype.Type{Kind: jsontype.Array, Elem: elem}
}

func mapOf(elem *jsontype.Type) *jsontype.Type {
	return &jsontype.Type{Kind: jsontype.Object, Elem: elem}
}

func enum(name string, values ...string) *jsontype.Type {
	return &jsontype.Type{Name: name, Kind: jsontype.String, Values: values}
}

// production are expressions of AWS's waiters that differ in form, on the parts
// of the services' models that they read, with what Step Functions calls the
// members.
var production = []struct {
	path    string
	out     *jsontype.Type
	renamed string
	result  string // the type of the value, or of an item
	members []string
}{
	{
		"ExportDescription.ExportStatus",
		structure("DescribeExportOutput", map[string]*jsontype.Type{"ExportDescription": structure("ExportDescription", map[string]*jsontype.Type{
			"ExportStatus": enum("ExportStatus", "COMPLETED", "FAILED", "IN_PROGRESS"),
		})}),
		"ExportDescription.ExportStatus", "ExportStatus",
		[]string{"ExportDescription", "ExportDescription.ExportStatus"},
	},
	{
		"services[].status", ecsServices, "Services[].Status", "ServiceStatus", []string{"services", "services[].status"},
	},
	{
		"length(services[?!(length(deployments) == `1` && runningCount == desiredCount)]) == `0`", ecsServices,
		"length(Services[?!(length(Deployments) == `1` && RunningCount == DesiredCount)]) == `0`",
		"a boolean",
		[]string{"services", "services[].deployments", "services[].runningCount", "services[].desiredCount"},
	},
	{
		"VerificationAttributes.*.VerificationStatus",
		structure("GetIdentityVerificationAttributesResponse", map[string]*jsontype.Type{
			"VerificationAttributes": mapOf(structure("IdentityVerificationAttributes", map[string]*jsontype.Type{
				"VerificationStatus": enum("VerificationStatus", "Pending", "Success"),
			})),
		}),
		"VerificationAttributes.*.VerificationStatus", "VerificationStatus",
		[]string{"VerificationAttributes", "VerificationAttributes.*.VerificationStatus"},
	},
	{
		"status != 'CANCELLING' && status != 'CANCELLED'",
		structure("GetJobOutput", map[string]*jsontype.Type{"status": enum("JobStatus", "CANCELLED", "CANCELLING", "RUNNING")}),
		"Status != 'CANCELLING' && Status != 'CANCELLED'", "a boolean",
		[]string{"status", "status"},
	},
	{
		"contains(AutoScalingGroups[].[length(Instances[?LifecycleState=='InService']) >= MinSize][], `false`)",
		jmespathtest.Describe(reflect.TypeFor[autoscaling.DescribeAutoScalingGroupsOutput]()),
		"contains(AutoScalingGroups[].[length(Instances[?LifecycleState=='InService']) >= MinSize][], `false`)", "a boolean",
		[]string{"AutoScalingGroups", "AutoScalingGroups[].Instances", "AutoScalingGroups[].Instances[].LifecycleState", "AutoScalingGroups[].MinSize"},
	},
	{
		"Reservations[].Instances[].State.Name",
		structure("DescribeInstancesResult", map[string]*jsontype.Type{"Reservations": listOf(structure("Reservation", map[string]*jsontype.Type{
			"Instances": listOf(structure("Instance", map[string]*jsontype.Type{"State": structure("InstanceState", map[string]*jsontype.Type{
				"Name": enum("InstanceStateName", "pending", "running"),
			})})),
		}))}),
		"Reservations[].Instances[].State.Name", "InstanceStateName",
		[]string{"Reservations", "Reservations[].Instances", "Reservations[].Instances[].State", "Reservations[].Instances[].State.Name"},
	},
}

var ecsServices = structure("DescribeServicesResponse", map[string]*jsontype.Type{"services": listOf(structure("Service", map[string]*jsontype.Type{
	"status": enum("ServiceStatus", "ACTIVE", "DRAINING", "INACTIVE"), "runningCount": number, "desiredCount": number,
	"deployments": listOf(structure("Deployment", nil)),
}))})

// pascal is how Step Functions spells members.
func pascal(name string) string {
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// reads is a waiter that reads a path, compared as its type wants.
func reads(path string, result *jsontype.Type) *pollcore.Waiter {
	m := pollcore.Output(path).Is("x")
	switch {
	case result.Kind == jsontype.Boolean:
		m = pollcore.Output(path).IsTrue()
	case result.Kind == jsontype.Array && len(result.Elem.Enum()) > 0:
		m = pollcore.Output(path).All(result.Elem.Enum()[0])
	case len(result.Enum()) > 0:
		m = pollcore.Output(path).Is(result.Enum()[0])
	}
	return pollcore.MustNew("Done", pollcore.Succeed(pollcore.AnyError()), pollcore.Fail(m))
}

func TestTypesOfProductionWaiters(t *testing.T) {
	t.Parallel()
	for _, tt := range production {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			got := pollcore.Readings(reads(tt.path, &jsontype.Type{}), nil, tt.out)
			require.Len(t, got, 1)
			require.Equal(t, 1, got[0].Acceptor)
			require.Equal(t, "/acceptors/1/matcher/output/path", got[0].Pointer)
			result := got[0].Type
			w := reads(tt.path, result)
			require.Empty(t, pollcore.AnalyzeTypes(w, nil, tt.out))
			if result.Elem != nil {
				result = result.Elem
			}
			require.Equal(t, tt.result, result.String())
			var members []string
			for _, m := range got[0].Members {
				members = append(members, m.String())
			}
			require.Equal(t, tt.members, members)

			renamed, err := pollcore.RenameMembers(w, nil, tt.out, pascal)
			require.NoError(t, err)
			require.Equal(t, tt.renamed, renamed.Acceptors[1].Matcher.Output.Path)
			again, err := pollcore.RenameMembers(renamed, nil, nil, func(name string) string { return "x" + name })
			require.NoError(t, err)
			require.Len(t, again.Acceptors[1].Matcher.Output.Path, len(tt.renamed)+len(members), "each name changes once")
		})
	}
}

func TestReadings(t *testing.T) {
	t.Parallel()
	when := &jsontype.Type{Name: "Date", Kind: jsontype.Number, Timestamp: true}
	in := structure("In", map[string]*jsontype.Type{"Since": when})
	out := structure("Out", map[string]*jsontype.Type{"Started": when, "State": enum("State", "B", "A"), "Jobs": listOf(structure("Job", map[string]*jsontype.Type{"Ended": when}))})
	w := pollcore.MustNew("Done",
		pollcore.Succeed(pollcore.InputOutput("output.Jobs[-1].Ended > input.Since").IsTrue()),
		pollcore.Again(pollcore.ErrorType("Gone")),
		pollcore.Fail(pollcore.Output("State").Is("A")))
	w.Acceptors = append(w.Acceptors, pollcore.Acceptor{State: pollcore.Retry, Matcher: pollcore.Output("a.").Is("A")})
	got := pollcore.Readings(w, in, out)
	require.Len(t, got, 2)
	require.Equal(t, "/acceptors/0/matcher/inputOutput/path", got[0].Pointer)
	var times []string
	for _, m := range got[0].Members {
		if m.Type == when {
			times = append(times, m.String())
			require.Equal(t, m.Path[len(m.Path)-1], w.Acceptors[0].Matcher.InputOutput.Path[m.Offset:][:len(m.Path[len(m.Path)-1])])
		}
	}
	require.Equal(t, []string{"output.Jobs[].Ended", "input.Since"}, times)
	require.Equal(t, 2, got[1].Acceptor)
	require.Equal(t, []string{"A", "B"}, got[1].Type.Enum())
	require.Same(t, out, got[1].Members[0].Owner)
	require.Empty(t, pollcore.Readings(nil, nil, nil))
	require.ErrorContains(t, pollcore.AnalyzeTypes(nil, nil, nil), "no waiter to analyze")
	require.Empty(t, pollcore.AnalyzeTypes(exportDone, nil, nil))
}

// part is an SDK-like type that contains itself.
type part struct {
	Name    *string
	Status  types.ExportStatus
	History []types.ExportStatus
	Count   *int32
	Ready   bool
	Since   *time.Time
	Parts   []part
	Parent  *part
	ByName  map[string]part
}

// pathOn draws an expression on the type part; some names in it are misspelt.
func pathOn(t *rapid.T) string {
	word := func(words ...string) string { return rapid.SampledFrom(words).Draw(t, "word") }
	path := strings.Repeat(word("", "Parent.", "Parts[].", "ByName.*.", "ByName.x.", "Parts[?Status == 'FAILED'].", "Prts[0].", "[Parent, Parts[0]][]."),
		rapid.IntRange(0, 2).Draw(t, "depth"))
	path += word("Name", "Status", "Status", "Status", "Status", "History", "Count", "Ready", "Since", "Parts", "Parent", "Naem", "Statsu", "[Status, Name]", "{a: Status}.a")
	form := word("%", "%", "%", "%", "%", "%", "%[0]", "%.Name", "% == 'FAILED'", "% == 'FALED'", "% < `1`", "length(%)", "% || Status", "!%", "sort(%)", "% &&")
	return strings.ReplaceAll(form, "%", path)
}

// AnalyzeTypes reports of shapes what Analyze reports of the Go types that
// they describe.
func TestAnalyzeTypesAgreesWithAnalyze(t *testing.T) {
	t.Parallel()
	in, out := reflect.TypeFor[struct{ Job part }](), reflect.TypeFor[part]()
	inShape, outShape := jmespathtest.Describe(in), jmespathtest.Describe(out)
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		w := &pollcore.Waiter{Name: "Done"}
		for range rapid.IntRange(15, 25).Draw(t, "acceptors") {
			p := pollcore.Output(pathOn(t))
			if rapid.Bool().Draw(t, "both") {
				p = pollcore.InputOutput(rapid.SampledFrom([]string{"output.", "input.Job.", "input.Jbo."}).Draw(t, "root") + "Parent." + strings.TrimLeft(pathOn(t), "!"))
			}
			expected := rapid.SampledFrom([]string{"COMPLETED", "FAILED", "COMPLETE"}).Draw(t, "expected")
			m := rapid.SampledFrom([]pollcore.Matcher{p.Is(expected), p.IsTrue(), p.All(expected), p.Any(expected), pollcore.AnyError()}).Draw(t, "matcher")
			a := pollcore.Acceptor{State: pollcore.Failure, Matcher: m}
			if rapid.Bool().Draw(t, "has message") {
				a.Message = pathOn(t)
			}
			w.Acceptors = append(w.Acceptors, a)
		}
		want := pollcore.Analyze(w, in, out)
		require.Equal(t, want, pollcore.AnalyzeTypes(w, inShape, outShape))
		for _, p := range want {
			for _, kind := range []string{"has no member", "can never hold", "is never", "must be a string", "not among the values", "did you mean"} {
				if strings.Contains(p.String(), kind) {
					seen[kind]++
				}
			}
		}
	})
	for _, kind := range []string{"has no member", "can never hold", "is never", "must be a string", "not among the values", "did you mean"} {
		require.Positive(t, seen[kind], kind)
	}
}

func TestRenameMembers(t *testing.T) {
	t.Parallel()
	job := structure("Job", map[string]*jsontype.Type{"status": text, "reason": text, "tags": mapOf(text), "input": text})
	out := structure("Out", map[string]*jsontype.Type{"job": job})
	in := structure("In", map[string]*jsontype.Type{"output": text})
	w := pollcore.MustNew("Done",
		pollcore.Succeed(pollcore.Output("job.tags.state").Is("status")),
		pollcore.FailWithMessage(pollcore.InputOutput("output.job.input == input.output").IsTrue(), "{status: job.reason}.status"),
		pollcore.Again(pollcore.ErrorType("gone")))
	w.Tags = []string{"a"}
	got, err := pollcore.RenameMembers(w, in, out, pascal)
	require.NoError(t, err)
	require.Equal(t, "Job.Tags.state", got.Acceptors[0].Matcher.Output.Path)
	require.Equal(t, "status", got.Acceptors[0].Matcher.Output.Expected)
	require.Equal(t, "output.Job.Input == input.Output", got.Acceptors[1].Matcher.InputOutput.Path)
	require.Equal(t, "{status: Job.Reason}.status", got.Acceptors[1].Message)
	require.Equal(t, w.Acceptors[2], got.Acceptors[2])
	got.Acceptors[0].Matcher.Output.Path, got.Tags[0] = "x", "x"
	require.Equal(t, "job.tags.state", w.Acceptors[0].Matcher.Output.Path, "it is a copy")
	require.Equal(t, []string{"a"}, w.Tags)

	got, err = pollcore.RenameMembers(w, nil, nil, pascal)
	require.NoError(t, err)
	require.Equal(t, "Job.Tags.State", got.Acceptors[0].Matcher.Output.Path, "nothing says that tags is a map")
	require.Equal(t, "output.Job.Input == input.Output", got.Acceptors[1].Matcher.InputOutput.Path)

	w.Acceptors[0].Matcher.Output.Path, w.Acceptors[1].Message = "(job || job.tags).status", "job."
	_, err = pollcore.RenameMembers(w, in, out, pascal)
	require.ErrorContains(t, err, "waiter Done: 2 problems")
	require.ErrorContains(t, err, `1:19: /acceptors/0/matcher/output/path: "status" has no one new name: in Job it is "Status", and in a map it is "status"`)
	require.ErrorContains(t, err, "/acceptors/1/message: expected a name")
	require.ErrorAs(t, err, new(diag.Problems))
	_, err = pollcore.RenameMembers(nil, nil, nil, pascal)
	require.ErrorContains(t, err, "no waiter to rename the members of")
}

// The renamed waiter gives the same verdict on renamed data.
func TestRenameMembersKeepsTheVerdict(t *testing.T) {
	t.Parallel()
	w := pollcore.MustNew("ServicesStable",
		pollcore.Fail(pollcore.Output("services[].status").Any("DRAINING")),
		pollcore.Succeed(pollcore.Output("length(services[?!(length(deployments) == `1` && runningCount == desiredCount)]) == `0`").IsTrue()))
	renamed, err := pollcore.RenameMembers(w, nil, ecsServices, pascal)
	require.NoError(t, err)
	before, err := pollcore.Compile[any, any](w)
	require.NoError(t, err)
	after, err := pollcore.Compile[any, any](renamed)
	require.NoError(t, err)
	var seen []pollcore.Verdict
	rapid.Check(t, func(t *rapid.T) {
		var old, pascalCase []any
		for range rapid.IntRange(0, 3).Draw(t, "services") {
			status := rapid.SampledFrom([]string{"ACTIVE", "ACTIVE", "ACTIVE", "DRAINING"}).Draw(t, "status")
			running, desired := rapid.IntRange(1, 2).Draw(t, "running"), 1
			old = append(old, map[string]any{"status": status, "deployments": []any{1}, "runningCount": float64(running), "desiredCount": float64(desired)})
			pascalCase = append(pascalCase, map[string]any{"Status": status, "Deployments": []any{1}, "RunningCount": float64(running), "DesiredCount": float64(desired)})
		}
		want := before.Check(nil, map[string]any{"services": old}, nil)
		require.Equal(t, want, after.Check(nil, map[string]any{"Services": pascalCase}, nil))
		if !slices.Contains(seen, want.Verdict) {
			seen = append(seen, want.Verdict)
		}
	})
	require.Len(t, seen, 3)
}
