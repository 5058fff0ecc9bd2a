package pollcore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

var exportDone = pollcore.MustNew("ExportCompleted",
	pollcore.Succeed(pollcore.Output("ExportDescription.ExportStatus").Is("COMPLETED")),
	pollcore.Fail(pollcore.Output("ExportDescription.ExportStatus").Is("FAILED")),
	pollcore.Delay(20*time.Second, 2*time.Minute))

func TestCheckOnSDKOutput(t *testing.T) {
	t.Parallel()
	w := *exportDone
	w.Acceptors = append([]pollcore.Acceptor{}, w.Acceptors...)
	w.Acceptors[1].Message = "ExportDescription.FailureMessage"
	check, err := pollcore.Compile[*dynamodb.DescribeExportInput, *dynamodb.DescribeExportOutput](&w)
	require.NoError(t, err)
	denied := &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "no"}
	refused := &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "User: x is not authorized to perform: dynamodb:DescribeExport on resource: y"}
	tests := []struct {
		name     string
		status   types.ExportStatus
		err      error
		verdict  pollcore.Verdict
		acceptor int
		seen     any
		reason   string
	}{
		{"running", types.ExportStatusInProgress, nil, pollcore.Retry, -1, nil, `no acceptor matched: ExportDescription.ExportStatus = "IN_PROGRESS"`},
		{"succeeded", types.ExportStatusCompleted, nil, pollcore.Success, 0, "COMPLETED", `ExportDescription.ExportStatus == "COMPLETED" (acceptor 1 of 2)`},
		{"failed", types.ExportStatusFailed, nil, pollcore.Failure, 1, "FAILED", `ExportDescription.ExportStatus == "FAILED" (acceptor 2 of 2): disk full`},
		{"error", types.ExportStatusCompleted, denied, pollcore.Failure, -1, nil, "unexpected error: api error AccessDeniedException: no"},
		{"denied", types.ExportStatusCompleted, refused, pollcore.Failure, -1, nil, "access denied: grant dynamodb:DescribeExport (api error AccessDeniedException: User: x is not authorized to perform: dynamodb:DescribeExport on resource: y)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out := &dynamodb.DescribeExportOutput{ExportDescription: &types.ExportDescription{ExportStatus: tt.status, FailureMessage: new("disk full")}}
			r := check.Check(nil, out, tt.err)
			require.Equal(t, tt.verdict, r.Verdict)
			require.Equal(t, tt.acceptor, r.Acceptor)
			require.Equal(t, tt.seen, r.Seen)
			require.Equal(t, tt.reason, check.Reason(r, nil, out, tt.err))
		})
	}
	r := check.Check(nil, nil, nil)
	require.Equal(t, pollcore.Retry, r.Verdict, "a nil output matches nothing")
}

// The typed and the JSON reading of one waiter agree on every status.
func TestCheckAgreesOnTypedAndJSON(t *testing.T) {
	t.Parallel()
	typed, err := pollcore.Compile[any, *dynamodb.DescribeExportOutput](exportDone)
	require.NoError(t, err)
	untyped, err := pollcore.Compile[any, any](exportDone)
	require.NoError(t, err)
	for _, status := range append(types.ExportStatus("").Values(), "", "NEW") {
		out := &dynamodb.DescribeExportOutput{ExportDescription: &types.ExportDescription{ExportStatus: status}}
		want := typed.Check(nil, out, nil)
		require.Equal(t, want, untyped.Check(nil, map[string]any{"ExportDescription": map[string]any{"ExportStatus": string(status)}}, nil), status)
		require.Equal(t, want, untyped.Check(nil, out, nil), status)
	}
}

func TestComparators(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		matcher pollcore.Matcher
		value   any
		want    bool
	}{
		{"string", pollcore.Output("v").Is("x"), "x", true},
		{"other string", pollcore.Output("v").Is("x"), "X", false},
		{"string is not a boolean", pollcore.Output("v").Is("true"), true, false},
		{"null", pollcore.Output("v").Is(""), nil, false},
		{"true", pollcore.Output("v").IsTrue(), true, true},
		{"not true", pollcore.Output("v").IsTrue(), false, false},
		{"false", pollcore.Output("v").IsFalse(), false, true},
		{"boolean is not a string", pollcore.Output("v").IsTrue(), "true", false},
		{"all", pollcore.Output("v").All("x"), []any{"x", "x"}, true},
		{"all but one", pollcore.Output("v").All("x"), []any{"x", "y"}, false},
		{"all of none", pollcore.Output("v").All("x"), []any{}, false},
		{"all with a number", pollcore.Output("v").All("x"), []any{"x", 1.0}, false},
		{"all of no list", pollcore.Output("v").All("x"), "x", false},
		{"any", pollcore.Output("v").Any("x"), []any{"y", "x", nil}, true},
		{"none of any", pollcore.Output("v").Any("x"), []any{"y"}, false},
		{"any of nothing", pollcore.Output("v").Any("x"), nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check, err := pollcore.Compile[any, any](pollcore.MustNew("Done", pollcore.Succeed(tt.matcher)))
			require.NoError(t, err)
			got := check.Check(nil, map[string]any{"v": tt.value}, nil).Verdict == pollcore.Success
			require.Equal(t, tt.want, got)
		})
	}
}

// shapeError has the form of the SDK's modeled errors, without a code.
type shapeError struct{}

func (*shapeError) Error() string { return "gone" }

func TestErrorMatchers(t *testing.T) {
	t.Parallel()
	api := func(code string) error { return &smithy.GenericAPIError{Code: code} }
	tests := []struct {
		name    string
		matcher pollcore.Matcher
		err     error
		want    bool
	}{
		{"code", pollcore.ErrorType("NotFound"), api("NotFound"), true},
		{"other code", pollcore.ErrorType("NotFound"), api("NotFoundException"), false},
		{"absolute shape ID", pollcore.ErrorType("com.amazonaws.s3#NotFound"), api("NotFound"), true},
		{"code with namespace", pollcore.ErrorType("NotFound"), api("com.amazonaws.s3#NotFound"), true},
		{"code with URI", pollcore.ErrorType("NotFound"), api("NotFound:http://internal.example/"), true},
		{"code with a dot", pollcore.ErrorType("InvalidInstanceID.NotFound"), api("InvalidInstanceID.NotFound"), true},
		{"wrapped", pollcore.ErrorType("NotFound"), fmt.Errorf("describe: %w", api("NotFound")), true},
		{"joined", pollcore.ErrorType("NotFound"), errors.Join(errors.New("other"), api("NotFound")), true},
		{"Go type of the shape", pollcore.ErrorType("ExportNotFoundException"), &types.ExportNotFoundException{ErrorCodeOverride: new("Odd")}, true},
		{"Go type without a code", pollcore.ErrorType("shapeError"), &shapeError{}, true},
		{"no error", pollcore.ErrorType("NotFound"), nil, false},
		{"any error", pollcore.AnyError(), errors.New("x"), true},
		{"any error, none", pollcore.AnyError(), nil, false},
		{"any response", pollcore.AnyResponse(), nil, true},
		{"any response, error", pollcore.AnyResponse(), errors.New("x"), false},
		{"output is not read on an error", pollcore.Output("v").Is("x"), errors.New("x"), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check, err := pollcore.Compile[any, any](pollcore.MustNew("Done", pollcore.Succeed(tt.matcher)))
			require.NoError(t, err)
			got := check.Check(nil, map[string]any{"v": "x"}, tt.err).Verdict == pollcore.Success
			require.Equal(t, tt.want, got)
		})
	}
}

func TestFirstMatchWins(t *testing.T) {
	t.Parallel()
	check, err := pollcore.Compile[any, any](pollcore.MustNew("Done",
		pollcore.Again(pollcore.ErrorType("Throttled")), pollcore.Fail(pollcore.AnyError()),
		pollcore.Succeed(pollcore.AnyResponse()), pollcore.Fail(pollcore.AnyResponse())))
	require.NoError(t, err)
	r := check.Check(nil, nil, &smithy.GenericAPIError{Code: "Throttled"})
	require.Equal(t, pollcore.Result{Verdict: pollcore.Retry, Acceptor: 0, Seen: "Throttled"}, r)
	require.Equal(t, "error Throttled (acceptor 1 of 4)", check.Reason(r, nil, nil, errors.New("x")))
	r = check.Check(nil, nil, errors.New("boom"))
	require.Equal(t, pollcore.Failure, r.Verdict)
	require.Equal(t, "any error (acceptor 2 of 4): boom", check.Reason(r, nil, nil, errors.New("boom")))
	require.Equal(t, 2, check.Check(nil, nil, nil).Acceptor)
}

// A path that errs does not match, the later acceptors are still tried, and
// the error is kept.
func TestPathErrorDoesNotMatch(t *testing.T) {
	t.Parallel()
	check, err := pollcore.Compile[any, any](pollcore.MustNew("Done",
		pollcore.Fail(pollcore.Output("ExportStaus").Is("FAILED")), pollcore.Succeed(pollcore.AnyResponse())))
	require.NoError(t, err)
	r := check.Check(nil, types.ExportDescription{}, nil)
	require.Equal(t, pollcore.Success, r.Verdict)
	require.Len(t, r.Notes, 1)
	require.ErrorContains(t, r.Notes[0], `acceptor 1: 1:1: types.ExportDescription has no member "ExportStaus"`)
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	w := pollcore.MustNew("Done",
		pollcore.Succeed(pollcore.Output("ExportDescription.ExportStaus").Is("COMPLETED")),
		pollcore.Fail(pollcore.Output("length(").IsTrue()),
		pollcore.Fail(pollcore.Output("ExportDescription.ExportStatus").IsTrue()),
		pollcore.Fail(pollcore.Output("ExportDescription").Any("x")),
		pollcore.Fail(pollcore.InputOutput("input.ExportAnr == output.ExportDescription.ExportArn").IsTrue()),
		pollcore.Fail(pollcore.Output("ExportDescription.ItemCount").Is("0")),
		pollcore.FailWithMessage(pollcore.AnyError(), "ExportDescription.ItemCount"),
		pollcore.Fail(pollcore.Output("[ExportDescription.ItemCount]").Any("0")),
		pollcore.Fail(pollcore.InputOutput("inptu == output").IsTrue()))
	_, err := pollcore.Compile[*dynamodb.DescribeExportInput, *dynamodb.DescribeExportOutput](w)
	require.ErrorAs(t, err, new(diag.Problems))
	for _, want := range []string{
		"waiter Done: 9 problems",
		`/acceptors/0/matcher/output/path: types.ExportDescription has no member "ExportStaus" (did you mean "ExportStatus"?)`,
		`/acceptors/1/matcher/output/path: `,
		"/acceptors/2/matcher/output/comparator: booleanEquals can never hold: it compares a boolean, but ExportDescription.ExportStatus is a string",
		"/acceptors/3/matcher/output/comparator: anyStringEquals can never hold: it compares an array, but ExportDescription is an object",
		`/acceptors/8/matcher/inputOutput/path: a path over input and output has no member "inptu" (did you mean "Input"?)`,
		`/acceptors/4/matcher/inputOutput/path: dynamodb.DescribeExportInput has no member "ExportAnr" (did you mean "ExportArn"?)`,
		"/acceptors/5/matcher/output/comparator: stringEquals can never hold: it compares a string, but ExportDescription.ItemCount is a number",
		"/acceptors/6/message: the message must be a string, but is a number",
		"/acceptors/7/matcher/output/comparator: anyStringEquals can never hold: it compares strings, but an item of [ExportDescription.ItemCount] is a number",
	} {
		require.ErrorContains(t, err, want)
	}
	_, err = pollcore.Compile[any, any](&pollcore.Waiter{Name: "Done"})
	require.ErrorContains(t, err, "no acceptor has the state success")
}

func TestCompileWarns(t *testing.T) {
	t.Parallel()
	status := pollcore.Output("ExportDescription.ExportStatus")
	w := pollcore.MustNew("Done",
		pollcore.Succeed(status.Is("COMPLETE")),
		pollcore.Fail(status.Is("COMPLETE")),
		pollcore.Fail(pollcore.ErrorType("ns#Gone")),
		pollcore.Again(pollcore.ErrorType("Gone")),
		pollcore.Fail(pollcore.AnyError()),
		pollcore.Again(pollcore.ErrorType("Other")),
		pollcore.Again(pollcore.AnyResponse()),
		pollcore.Fail(status.Is("FAILED")))
	check, err := pollcore.Compile[any, *dynamodb.DescribeExportOutput](w)
	require.NoError(t, err, "services add values")
	warnings := check.Warnings().Error()
	for _, want := range []string{
		"6 problems",
		`/acceptors/0/matcher/output/expected: warning: types.ExportStatus is never "COMPLETE" (did you mean "COMPLETED"?)`,
		`/acceptors/1: warning: can never match: acceptor 1 (ExportDescription.ExportStatus == "COMPLETE") matches first`,
		`/acceptors/3: warning: can never match: acceptor 3 (error Gone) matches first`,
		`/acceptors/5: warning: can never match: acceptor 5 (any error) matches first`,
		`/acceptors/7: warning: can never match: acceptor 7 (any response) matches first`,
	} {
		require.Contains(t, warnings, want)
	}
	_, err = pollcore.Compile[any, *dynamodb.DescribeExportOutput](w, pollcore.Strict())
	require.ErrorContains(t, err, "6 problems")
	check, err = pollcore.Compile[any, *dynamodb.DescribeExportOutput](exportDone, pollcore.Strict())
	require.NoError(t, err)
	require.Empty(t, check.Warnings())
}

func TestAnyCoversAll(t *testing.T) {
	t.Parallel()
	arns := pollcore.Output("[ExportDescription.ExportArn]")
	check, err := pollcore.Compile[any, *dynamodb.DescribeExportOutput](pollcore.MustNew("Done",
		pollcore.Succeed(arns.Any("x")), pollcore.Fail(arns.All("x")), pollcore.Fail(arns.All("y"))))
	require.NoError(t, err)
	require.EqualError(t, check.Warnings(), `/acceptors/1: warning: can never match: acceptor 1 (any of [ExportDescription.ExportArn] == "x") matches first`)
	check, err = pollcore.Compile[any, *dynamodb.DescribeExportOutput](pollcore.MustNew("Done",
		pollcore.Succeed(arns.All("x")), pollcore.Fail(arns.Any("x"))), pollcore.Strict())
	require.NoError(t, err)
	require.Empty(t, check.Warnings())
}

// A nil type stands for JSON values, and a nil waiter is told of.
func TestAnalyzeNil(t *testing.T) {
	t.Parallel()
	require.Empty(t, pollcore.Analyze(exportDone, nil, nil))
	require.ErrorContains(t, pollcore.Analyze(nil, nil, nil), "no waiter to analyze")
}

// No name matches no error.
func TestEmptyErrorName(t *testing.T) {
	t.Parallel()
	w := &pollcore.Waiter{Name: "Done", Acceptors: []pollcore.Acceptor{
		{State: pollcore.Success, Matcher: pollcore.AnyResponse()}, {State: pollcore.Retry, Matcher: pollcore.ErrorType("ns#")},
	}}
	_, err := pollcore.Compile[any, any](w)
	require.ErrorContains(t, err, "errorType must be an error code or shape name")
}

func TestInputOutput(t *testing.T) {
	t.Parallel()
	check, err := pollcore.Compile[*dynamodb.DescribeExportInput, *dynamodb.DescribeExportOutput](pollcore.MustNew("Same",
		pollcore.Succeed(pollcore.InputOutput("input.ExportArn == output.ExportDescription.ExportArn").IsTrue())))
	require.NoError(t, err)
	in := &dynamodb.DescribeExportInput{ExportArn: new("arn:1")}
	out := &dynamodb.DescribeExportOutput{ExportDescription: &types.ExportDescription{ExportArn: new("arn:1")}}
	r := check.Check(in, out, nil)
	require.Equal(t, pollcore.Success, r.Verdict)
	require.Equal(t, true, r.Seen)
	require.Equal(t, "input.ExportArn == output.ExportDescription.ExportArn == true (acceptor 1 of 1)", check.Reason(r, in, out, nil))
	out.ExportDescription.ExportArn = new("arn:2")
	r = check.Check(in, out, nil)
	require.Equal(t, pollcore.Retry, r.Verdict)
	require.Contains(t, check.Reason(r, in, out, nil), "= false")
	require.Equal(t, pollcore.Failure, check.Check(in, out, errors.New("x")).Verdict, "it is not read of an error")
}

func TestMessageIsAStringOrAList(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"why": "disk full", "whys": "disk full; disk old", "none": ""} {
		check, err := pollcore.Compile[any, any](pollcore.MustNew("Done",
			pollcore.Succeed(pollcore.AnyError()), pollcore.FailWithMessage(pollcore.AnyResponse(), path)))
		require.NoError(t, err)
		out := map[string]any{"why": "disk full", "whys": []any{"disk full", nil, "disk old"}}
		require.Equal(t, want, check.Check(nil, out, nil).Message)
	}
}

func TestStep(t *testing.T) {
	t.Parallel()
	check, err := pollcore.Compile[any, any](exportDone)
	require.NoError(t, err)
	s := pollcore.NewSchedule(exportDone, time.Minute)
	out := map[string]any{"ExportDescription": map[string]any{"ExportStatus": "IN_PROGRESS"}}
	r, d := check.Step(s, pollcore.Progress{Attempts: 1}, nil, out, nil)
	require.Equal(t, pollcore.Retry, r.Verdict)
	require.Equal(t, pollcore.Decision{Status: pollcore.Running, Delay: 20 * time.Second}, d)
	_, d = check.Step(s, pollcore.Progress{Attempts: 3, Elapsed: time.Minute}, nil, out, nil)
	require.Equal(t, pollcore.TimedOut, d.Status)
}

// What was seen reads as JSON, of SDK types as of data.
func TestReasonShowsListsAsJSON(t *testing.T) {
	t.Parallel()
	w := pollcore.MustNew("TagsRemoved", pollcore.Succeed(pollcore.Output("Tags[].Key").All("gone")))
	want := `no acceptor matched: Tags[].Key = ["a<b","c d"]`

	typed, err := pollcore.Compile[*dynamodb.ListTagsOfResourceInput, *dynamodb.ListTagsOfResourceOutput](w)
	require.NoError(t, err)
	out := &dynamodb.ListTagsOfResourceOutput{Tags: []types.Tag{{Key: new("a<b")}, {Key: new("c d")}}}
	require.Equal(t, want, typed.Reason(typed.Check(nil, out, nil), nil, out, nil))

	dynamic, err := pollcore.Compile[any, any](w)
	require.NoError(t, err)
	data := map[string]any{"Tags": []any{map[string]any{"Key": "a<b"}, map[string]any{"Key": "c d"}}}
	require.Equal(t, want, dynamic.Reason(dynamic.Check(nil, data, nil), nil, data, nil))
}
