package typecheck_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// A member of a path is in a sample where the path leads, and not wherever a member has its name.
func TestSampleHasMembersByPath(t *testing.T) {
	t.Parallel()
	service, err := models.Load("ecs")
	require.NoError(t, err)
	has := typecheck.Members{}
	has.Add("tasks", "taskArn")
	has.Add("tasks", "containers", "name")
	want := map[string]any{"tasks": []any{map[string]any{
		"taskArn": "arn:aws:simulated:us-east-1:123456789012:taskarn", "containers": []any{map[string]any{"name": "name"}},
	}}}
	shape := service.Operations["DescribeTasks"].Output
	require.Equal(t, want, typecheck.Sample{Has: has}.Of(shape))
	half := map[string]any{"tasks": []any{map[string]any{"containers": []any{map[string]any{}}}}}
	require.Equal(t, want, typecheck.Sample{Has: has}.Complete(half, shape))
}
