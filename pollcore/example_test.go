package pollcore_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/jsontype"
	"github.com/jobpoller/jobpoller/pollcore/retry"
)

// An export as the SDK describes it.
func export(status types.ExportStatus) *dynamodb.DescribeExportOutput {
	return &dynamodb.DescribeExportOutput{ExportDescription: &types.ExportDescription{ExportStatus: status}}
}

func ExampleNew() {
	w, err := pollcore.New("ExportCompleted",
		pollcore.Succeed(pollcore.Output("ExportDescription.ExportStatus").Is("COMPLETED")),
		pollcore.FailWithMessage(pollcore.Output("ExportDescription.ExportStatus").Is("FAILED"), "ExportDescription.FailureMessage"),
		pollcore.Delay(20*time.Second, 2*time.Minute))
	fmt.Println(w.Name, len(w.Acceptors), err)
	// Output: ExportCompleted 2 <nil>
}

func ExampleParseWaiters() {
	waiters, err := pollcore.ParseWaiters([]byte(`{
  "BucketExists": {
    "acceptors": [
      {"state": "success", "matcher": {"success": true}},
      {"state": "retry", "matcher": {"errorType": "NotFound"}}
    ],
    "minDelay": 5
  }
}`))
	fmt.Println(waiters[0].Name, waiters[0].Acceptors[1].Matcher, err)
	_, err = pollcore.ParseWaiters([]byte(`{"BucketExists": {"acceptors": [{"state": "done", "matcher": {"success": true}}]}}`))
	fmt.Println(err)
	// Output:
	// BucketExists error NotFound <nil>
	// 1:43: /BucketExists/acceptors/0/state: state must be success, failure or retry, got "done"
	//   | ...BucketExists": {"acceptors": [{"state": "done", "matcher": {"success": true}}]}}
	//   |                                            ^
}

func ExampleCompile() {
	w := pollcore.MustNew("ExportCompleted", pollcore.Succeed(pollcore.Output("ExportDescription.ExportStaus").Is("COMPLETED")))
	_, err := pollcore.Compile[*dynamodb.DescribeExportInput, *dynamodb.DescribeExportOutput](w)
	fmt.Println(err)
	// Output:
	// waiter ExportCompleted: 1:19: /acceptors/0/matcher/output/path: types.ExportDescription has no member "ExportStaus" (did you mean "ExportStatus"?)
	//   | ExportDescription.ExportStaus
	//   |                   ^
}

func ExampleCheck_Check() {
	check, err := pollcore.Compile[*dynamodb.DescribeExportInput, *dynamodb.DescribeExportOutput](exportDone)
	if err != nil {
		panic(err)
	}
	for _, status := range []types.ExportStatus{"IN_PROGRESS", "COMPLETED"} {
		r := check.Check(nil, export(status), nil)
		fmt.Println(r.Verdict, "-", check.Reason(r, nil, export(status), nil))
	}
	// Output:
	// retry - no acceptor matched: ExportDescription.ExportStatus = "IN_PROGRESS"
	// success - ExportDescription.ExportStatus == "COMPLETED" (acceptor 1 of 2)
}

func ExampleSchedule_Next() {
	s := pollcore.NewSchedule(exportDone, 2*time.Minute)
	s.Random = func(lo, hi time.Duration) time.Duration { return (lo + hi) / 2 } // no jitter, for the example
	progress := pollcore.Progress{}
	for d := (pollcore.Decision{Status: pollcore.Running}); d.Status == pollcore.Running; {
		progress.Attempts++
		progress.Elapsed += d.Delay
		d = s.Next(pollcore.Retry, progress)
		fmt.Println(progress.Elapsed, d.Status, d.Delay)
	}
	// Output:
	// 0s RUNNING 20s
	// 20s RUNNING 23s
	// 43s RUNNING 26.45s
	// 1m9.45s RUNNING 30.4175s
	// 1m39.8675s RUNNING 20.1325s
	// 2m0s TIMED_OUT 0s
}

func ExampleWait() {
	status := []types.ExportStatus{"IN_PROGRESS", "FAILED"}
	describe := func(context.Context, *dynamodb.DescribeExportInput) (*dynamodb.DescribeExportOutput, error) {
		out := export(status[0])
		status = status[1:]
		return out, nil
	}
	outcome, err := pollcore.Wait(context.Background(), exportDone, &dynamodb.DescribeExportInput{}, time.Hour, describe,
		pollcore.Every(time.Millisecond),
		pollcore.OnAttempt(func(a pollcore.Attempt) { fmt.Println(a.Number, a.Status, a.Reason) }))
	fmt.Println(outcome.Attempts, outcome.Output.ExportDescription.ExportStatus)
	fmt.Println(errors.Is(err, pollcore.ErrFailed), errors.Is(err, pollcore.ErrTimedOut))
	// Output:
	// 1 RUNNING no acceptor matched: ExportDescription.ExportStatus = "IN_PROGRESS"
	// 2 FAILED ExportDescription.ExportStatus == "FAILED" (acceptor 2 of 2)
	// 2 FAILED
	// true false
}

// A poll loop whose state somebody else keeps, such as a Lambda function's.
func ExampleCheck_Step() {
	check, err := pollcore.Compile[any, *dynamodb.DescribeExportOutput](exportDone)
	if err != nil {
		panic(err)
	}
	schedule := pollcore.NewSchedule(exportDone, 10*time.Minute)
	result, decision := check.Step(schedule, pollcore.Progress{Attempts: 1, Elapsed: 5 * time.Second}, nil, export("IN_PROGRESS"), nil)
	fmt.Println(result.Verdict, decision.Status, decision.Delay)
	result, decision = check.Step(schedule, pollcore.Progress{Attempts: 9, Elapsed: 10 * time.Minute}, nil, export("IN_PROGRESS"), nil)
	fmt.Println(result.Verdict, decision.Status)
	// Output:
	// retry RUNNING 20s
	// retry TIMED_OUT
}

func ExampleCheck_Warnings() {
	w := pollcore.MustNew("ExportCompleted", pollcore.Succeed(pollcore.Output("ExportDescription.ExportStatus").Is("COMPLETE")))
	check, err := pollcore.Compile[any, *dynamodb.DescribeExportOutput](w)
	fmt.Println(err)
	for _, p := range check.Warnings() {
		fmt.Println(p.Severity, p.Suggestion)
	}
	_, err = pollcore.Compile[any, *dynamodb.DescribeExportOutput](w, pollcore.Strict())
	fmt.Println(err != nil)
	// Output:
	// <nil>
	// WARNING COMPLETED
	// true
}

// Types that are known only at run time.
func ExampleAnalyze() {
	w := pollcore.MustNew("ExportCompleted", pollcore.Succeed(pollcore.InputOutput("length(input) == output.Count").IsTrue()))
	problems := pollcore.Analyze(w, reflect.TypeFor[int](), reflect.TypeFor[struct{ Count *int }]())
	for _, p := range problems {
		fmt.Println(p.Severity, p.Pointer, p.Column)
	}
	// Output: ERROR /acceptors/0/matcher/inputOutput/path 8
}

// Types that are known only as data, as from a service's model.
func ExampleAnalyzeTypes() {
	status := &jsontype.Type{Name: "JobStatus", Kind: jsontype.String, Values: []string{"DONE", "FAILED", "RUNNING"}}
	out := &jsontype.Type{Name: "GetJobOutput", Kind: jsontype.Object, Members: map[string]*jsontype.Type{"status": status}}
	w := pollcore.MustNew("JobDone",
		pollcore.Succeed(pollcore.Output("status").Is("DNE")), pollcore.Fail(pollcore.Output("state.code").Is("FAILED")))
	for _, p := range pollcore.AnalyzeTypes(w, nil, out) {
		fmt.Println(p)
	}
	fmt.Println(pollcore.Readings(w, nil, out)[0].Type.Enum())
	// Output:
	// /acceptors/0/matcher/output/expected: warning: JobStatus is never "DNE" (did you mean "DONE"?)
	// 1:1: /acceptors/1/matcher/output/path: GetJobOutput has no member "state"
	// [DONE FAILED RUNNING]
}

// Step Functions spells the members of services in PascalCase.
func ExampleRenameMembers() {
	tags := &jsontype.Type{Kind: jsontype.Object, Elem: &jsontype.Type{Kind: jsontype.String}}
	out := &jsontype.Type{Kind: jsontype.Object, Members: map[string]*jsontype.Type{"tags": tags}}
	w := pollcore.MustNew("Approved", pollcore.Succeed(pollcore.Output("tags.approved").Is("yes")))
	renamed, err := pollcore.RenameMembers(w, nil, out, func(name string) string {
		return strings.ToUpper(name[:1]) + name[1:]
	})
	fmt.Println(renamed.Acceptors[0].Matcher, err)
	// Output: Tags.approved == "yes" <nil>
}

// An output that is too large to pass on keeps what its verdict rests on.
func ExampleWaiter_Prune() {
	output := map[string]any{"ExportDescription": map[string]any{"ExportStatus": "FAILED", "ExportManifest": "..."}, "Log": "..."}
	fmt.Println(exportDone.Prune(output))
	// Output: map[ExportDescription:map[ExportStatus:FAILED]]
}

// A limit of attempts that a retry strategy sets.
func ExampleUsing() {
	describe := func(context.Context, *dynamodb.DescribeExportInput) (*dynamodb.DescribeExportOutput, error) {
		return export("IN_PROGRESS"), nil
	}
	_, err := pollcore.Wait(context.Background(), exportDone, &dynamodb.DescribeExportInput{}, time.Hour, describe,
		pollcore.Every(time.Millisecond), pollcore.Using(retry.Strategy{MaxAttempts: 3}))
	fmt.Println(errors.Is(err, pollcore.ErrTooManyAttempts))
	// Output: true
}
