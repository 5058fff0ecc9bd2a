package bench_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
)

var (
	exportCompleted = pollcore.MustNew("ExportCompleted",
		pollcore.Succeed(pollcore.Output(exportStatus).Is("COMPLETED")),
		pollcore.Fail(pollcore.Output(exportStatus).Is("FAILED")))
	groupsInService = pollcore.MustNew("GroupInService",
		pollcore.Succeed(pollcore.Output(groupInService).IsFalse()),
		pollcore.Again(pollcore.Output(groupInService).IsTrue()))
)

var pollcorePairs = []pair{
	{name: "pollcore/ExportStatus Check/hand-written", ours: exportChecked, peer: exportCheckedByHand, slower: true, bound: 3},
	{name: "pollcore/ExportStatus Check/go-jmespath parse and search", ours: exportChecked, peer: exportSearched, bound: 50},
	{name: "pollcore/GroupInService Check/community compiled", ours: groupChecked, peer: groupCommunity, bound: 3, allocs: 1},
}

// checkByHand is what a Go programmer writes for the waiter ExportCompleted, to
// know as much of a call: the verdict, by which rule, and the value seen.
//
//go:noinline
func checkByHand(out *dynamodb.DescribeExportOutput, err error) pollcore.Result {
	if err != nil {
		return pollcore.Result{Verdict: pollcore.Failure, Acceptor: pollcore.NoAcceptor}
	}
	if out == nil || out.ExportDescription == nil {
		return pollcore.Result{Verdict: pollcore.Retry, Acceptor: pollcore.NoAcceptor}
	}
	switch string(out.ExportDescription.ExportStatus) {
	case "COMPLETED":
		return pollcore.Result{Verdict: pollcore.Success, Acceptor: 0, Seen: "COMPLETED"}
	case "FAILED":
		return pollcore.Result{Verdict: pollcore.Failure, Acceptor: 1, Seen: "FAILED"}
	default:
		return pollcore.Result{Verdict: pollcore.Retry, Acceptor: pollcore.NoAcceptor}
	}
}

func exportChecked(b *testing.B) {
	check, err := pollcore.Compile[*dynamodb.DescribeExportInput, *dynamodb.DescribeExportOutput](exportCompleted)
	require.NoError(b, err)
	out := exportOutput()
	b.ReportAllocs()
	for b.Loop() {
		if r := check.Check(nil, out, nil); r.Verdict != pollcore.Success {
			b.Fatal(r)
		}
	}
}

func exportCheckedByHand(b *testing.B) {
	out := exportOutput()
	for b.Loop() {
		if r := checkByHand(out, nil); r.Verdict != pollcore.Success {
			b.Fatal(r)
		}
	}
}

func groupChecked(b *testing.B) {
	check, err := pollcore.Compile[any, *autoscaling.DescribeAutoScalingGroupsOutput](groupsInService)
	require.NoError(b, err)
	out := groups()
	b.ReportAllocs()
	for b.Loop() {
		if r := check.Check(nil, out, nil); r.Verdict != pollcore.Success {
			b.Fatal(r)
		}
	}
}
