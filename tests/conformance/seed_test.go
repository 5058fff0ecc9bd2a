package conformance_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	autoscalingtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	cloudformationtypes "github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/codedeploy"
	codedeploytypes "github.com/aws/aws-sdk-go-v2/service/codedeploy/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// seedSuites are the examples of the waiters design of the AWS SDK for Kotlin
// (appendix A), judged on the SDK's own types. They need no corpus.
var seedSuites = []suite{
	{name: "seed-examples", cases: 54, run: runSeedExamples},
}

// seedModel has the four waiters. Where the appendix leaves acceptors out, those
// that a case needs are there.
const seedModel = `{
  "smithy": "2.0",
  "shapes": {
    "com.amazonaws.s3#HeadBucket": {"type": "operation", "traits": {"smithy.waiters#waitable": {
      "BucketNotExists": {"acceptors": [{"state": "success", "matcher": {"errorType": "NotFound"}}], "minDelay": 5}}}},
    "com.amazonaws.codedeploy#GetDeployment": {"type": "operation", "traits": {"smithy.waiters#waitable": {
      "DeploymentSuccessful": {"acceptors": [
        {"state": "success", "matcher": {"output": {"path": "deploymentInfo.status", "expected": "Succeeded", "comparator": "stringEquals"}}},
        {"state": "failure", "matcher": {"output": {"path": "deploymentInfo.status", "expected": "Failed", "comparator": "stringEquals"}}},
        {"state": "failure", "matcher": {"output": {"path": "deploymentInfo.status", "expected": "Stopped", "comparator": "stringEquals"}}}
      ], "minDelay": 15}}}},
    "com.amazonaws.autoscaling#DescribeAutoScalingGroups": {"type": "operation", "traits": {"smithy.waiters#waitable": {
      "GroupInService": {"acceptors": [
        {"state": "success", "matcher": {"output": {"expected": "false", "comparator": "booleanEquals",
          "path": "contains(AutoScalingGroups[].[length(Instances[?LifecycleState=='InService']) >= MinSize][], ` + "`false`" + `)"}}},
        {"state": "retry", "matcher": {"output": {"expected": "true", "comparator": "booleanEquals",
          "path": "contains(AutoScalingGroups[].[length(Instances[?LifecycleState=='InService']) >= MinSize][], ` + "`false`" + `)"}}}
      ], "minDelay": 15}}}},
    "com.amazonaws.cloudformation#DescribeStacks": {"type": "operation", "traits": {"smithy.waiters#waitable": {
      "StackDeleteComplete": {"acceptors": [
        {"state": "success", "matcher": {"output": {"path": "Stacks[].StackStatus", "expected": "DELETE_COMPLETE", "comparator": "allStringEquals"}}},
        {"state": "success", "matcher": {"errorType": "ValidationError"}},
        {"state": "failure", "matcher": {"output": {"path": "Stacks[].StackStatus", "expected": "DELETE_FAILED", "comparator": "anyStringEquals"}}}
      ], "minDelay": 30}}}}
  }
}`

// seedCase is a call of a waiter's operation.
type seedCase[Out any] struct {
	name string
	out  Out
	err  error
	want pollcore.Verdict
}

// runSeed judges cases with a waiter of the model.
func runSeed[In, Out any](t *testing.T, r *result, waiter string, cases []seedCase[Out]) {
	t.Helper()
	definitions, err := catalog.ReadSmithy([]byte(seedModel))
	require.NoError(t, err)
	for _, d := range definitions {
		if d.Waiter.Name != waiter {
			continue
		}
		check, err := pollcore.Compile[In, Out](d.Waiter, pollcore.Strict())
		require.NoError(t, err)
		var in In
		for _, c := range cases {
			r.total++
			got := check.Check(in, c.out, c.err)
			if got.Verdict != c.want || len(got.Notes) > 0 {
				r.failures[waiter+": "+c.name] = fmt.Sprintf("%s, want %s; notes %v", got.Verdict, c.want, got.Notes)
			}
		}
	}
}

func runSeedExamples(t *testing.T, _ string) result {
	t.Helper()
	r := result{failures: map[string]string{}}
	runSeed[*s3.HeadBucketInput](t, &r, "BucketNotExists", bucketCases())
	runSeed[*codedeploy.GetDeploymentInput](t, &r, "DeploymentSuccessful", deploymentCases())
	runSeed[*autoscaling.DescribeAutoScalingGroupsInput](t, &r, "GroupInService", groupCases())
	runSeed[*cloudformation.DescribeStacksInput](t, &r, "StackDeleteComplete", stackCases())
	return r
}

func apiError(code string) error { return &smithy.GenericAPIError{Code: code, Message: "no"} }

func bucketCases() []seedCase[*s3.HeadBucketOutput] {
	return []seedCase[*s3.HeadBucketOutput]{
		{"there", &s3.HeadBucketOutput{}, nil, pollcore.Retry},
		{"the SDK's error", nil, &smithy.OperationError{ServiceID: "S3", Err: &s3types.NotFound{}}, pollcore.Success},
		{"an error without a type", nil, apiError("NotFound"), pollcore.Success},
		{"another error of the SDK", nil, &s3types.NoSuchKey{}, pollcore.Failure},
		{"another error", nil, apiError("Forbidden"), pollcore.Failure},
	}
}

func deploymentCases() []seedCase[*codedeploy.GetDeploymentOutput] {
	cases := []seedCase[*codedeploy.GetDeploymentOutput]{
		{"nothing told", &codedeploy.GetDeploymentOutput{}, nil, pollcore.Retry},
		{"no output", nil, nil, pollcore.Retry},
		{"no such deployment", nil, &codedeploytypes.DeploymentDoesNotExistException{}, pollcore.Failure},
	}
	for _, c := range []struct {
		status codedeploytypes.DeploymentStatus
		want   pollcore.Verdict
	}{
		{codedeploytypes.DeploymentStatusCreated, pollcore.Retry},
		{codedeploytypes.DeploymentStatusInProgress, pollcore.Retry},
		{codedeploytypes.DeploymentStatusReady, pollcore.Retry},
		{codedeploytypes.DeploymentStatusSucceeded, pollcore.Success},
		{codedeploytypes.DeploymentStatusFailed, pollcore.Failure},
		{codedeploytypes.DeploymentStatusStopped, pollcore.Failure},
	} {
		out := &codedeploy.GetDeploymentOutput{DeploymentInfo: &codedeploytypes.DeploymentInfo{Status: c.status}}
		cases = append(cases, seedCase[*codedeploy.GetDeploymentOutput]{string(c.status), out, nil, c.want})
	}
	return cases
}

// group is an Auto Scaling group with so many instances in service, and one
// that is leaving.
func group(minSize *int32, inService int) autoscalingtypes.AutoScalingGroup {
	g := autoscalingtypes.AutoScalingGroup{
		MinSize:   minSize,
		Instances: []autoscalingtypes.Instance{{LifecycleState: autoscalingtypes.LifecycleStateTerminating}},
	}
	for range inService {
		g.Instances = append(g.Instances, autoscalingtypes.Instance{LifecycleState: autoscalingtypes.LifecycleStateInService})
	}
	return g
}

func groupCases() []seedCase[*autoscaling.DescribeAutoScalingGroupsOutput] {
	type out = autoscaling.DescribeAutoScalingGroupsOutput
	type groups = []autoscalingtypes.AutoScalingGroup
	var cases []seedCase[*out]
	for n := range 12 { // so many of at least 4
		want := pollcore.Retry
		if n >= 4 {
			want = pollcore.Success
		}
		cases = append(cases,
			seedCase[*out]{fmt.Sprintf("%d of 4", n), &out{AutoScalingGroups: groups{group(new(int32(4)), n)}}, nil, want},
			seedCase[*out]{fmt.Sprintf("%d of 4, 1 of 1", n), &out{AutoScalingGroups: groups{group(new(int32(4)), n), group(new(int32(1)), 1)}}, nil, want},
		)
	}
	return append(cases,
		seedCase[*out]{"two of two groups short", &out{AutoScalingGroups: groups{group(new(int32(2)), 1), group(new(int32(1)), 0)}}, nil, pollcore.Retry},
		seedCase[*out]{"no MinSize", &out{AutoScalingGroups: groups{group(nil, 0)}}, nil, pollcore.Success},
		seedCase[*out]{"no Instances of 1", &out{AutoScalingGroups: groups{{MinSize: new(int32(1))}}}, nil, pollcore.Retry},
		seedCase[*out]{"no Instances of 0", &out{AutoScalingGroups: groups{{MinSize: new(int32(0))}}}, nil, pollcore.Success},
		seedCase[*out]{"empty Instances of 0", &out{AutoScalingGroups: groups{{MinSize: new(int32(0)), Instances: []autoscalingtypes.Instance{}}}}, nil, pollcore.Success},
		seedCase[*out]{"no groups", &out{AutoScalingGroups: groups{}}, nil, pollcore.Success},
		seedCase[*out]{"groups not told", &out{}, nil, pollcore.Success},
		seedCase[*out]{"throttled", nil, apiError("Throttling"), pollcore.Failure},
	)
}

func stackCases() []seedCase[*cloudformation.DescribeStacksOutput] {
	stacks := func(statuses ...cloudformationtypes.StackStatus) *cloudformation.DescribeStacksOutput {
		out := &cloudformation.DescribeStacksOutput{}
		for _, status := range statuses {
			out.Stacks = append(out.Stacks, cloudformationtypes.Stack{StackStatus: status})
		}
		return out
	}
	const deleted, deleting, failed = cloudformationtypes.StackStatusDeleteComplete,
		cloudformationtypes.StackStatusDeleteInProgress, cloudformationtypes.StackStatusDeleteFailed
	return []seedCase[*cloudformation.DescribeStacksOutput]{
		{"deleting", stacks(deleting), nil, pollcore.Retry},
		{"deleted", stacks(deleted), nil, pollcore.Success},
		{"all deleted", stacks(deleted, deleted, deleted), nil, pollcore.Success},
		{"not all deleted", stacks(deleted, deleting), nil, pollcore.Retry},
		{"one failed", stacks(deleting, failed, deleted), nil, pollcore.Failure},
		{"none told", stacks(), nil, pollcore.Retry},
		{"gone", nil, apiError("ValidationError"), pollcore.Success},
		{"another error", nil, apiError("AccessDenied"), pollcore.Failure},
	}
}
