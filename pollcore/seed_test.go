package pollcore_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/jobpoller/jobpoller/pollcore"
)

const enoughInService = "contains(AutoScalingGroups[].[length(Instances[?LifecycleState=='InService']) >= MinSize][], `false`)"

// TestGroupInService compares the waiter of Auto Scaling with a count by hand:
// it is done when no group is known to have fewer instances in service than its
// MinSize. An output that leaves lists out says the same as one with empty ones.
func TestGroupInService(t *testing.T) {
	t.Parallel()
	w := pollcore.MustNew("GroupInService",
		pollcore.Succeed(pollcore.Output(enoughInService).IsFalse()), pollcore.Again(pollcore.Output(enoughInService).IsTrue()))
	check, err := pollcore.Compile[*autoscaling.DescribeAutoScalingGroupsInput, *autoscaling.DescribeAutoScalingGroupsOutput](w, pollcore.Strict())
	require.NoError(t, err)
	states := types.LifecycleState("").Values()
	instance := rapid.Custom(func(t *rapid.T) types.Instance {
		if rapid.Bool().Draw(t, "in service") {
			return types.Instance{LifecycleState: types.LifecycleStateInService}
		}
		return types.Instance{LifecycleState: rapid.SampledFrom(states).Draw(t, "state")}
	})
	group := rapid.Custom(func(t *rapid.T) types.AutoScalingGroup {
		g := types.AutoScalingGroup{MinSize: rapid.Ptr(rapid.Int32Range(0, 5), true).Draw(t, "MinSize")}
		if rapid.Bool().Draw(t, "has instances") {
			g.Instances = rapid.SliceOfN(instance, 0, 10).Draw(t, "instances")
		}
		return g
	})
	rapid.Check(t, func(t *rapid.T) {
		out := &autoscaling.DescribeAutoScalingGroupsOutput{AutoScalingGroups: rapid.SliceOfN(group, 0, 4).Draw(t, "groups")}
		want, acceptor := pollcore.Success, 0
		for _, g := range out.AutoScalingGroups {
			inService := int32(0)
			for _, i := range g.Instances {
				if i.LifecycleState == types.LifecycleStateInService {
					inService++
				}
			}
			if g.MinSize != nil && inService < *g.MinSize {
				want, acceptor = pollcore.Retry, 1
			}
		}
		got := check.Check(nil, out, nil)
		require.Equal(t, want, got.Verdict)
		require.Equal(t, acceptor, got.Acceptor)
		require.Empty(t, got.Notes)
	})
}
