package clients_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

// Two clients call each operation of Step Functions, and get what they expect.
func TestClients(t *testing.T) {
	t.Parallel()
	r := record(t, startServe(t).url)
	t.Run("each", func(t *testing.T) {
		for name, drive := range map[string]func(*testing.T, string){"SDK for Go": driveSDK, "boto3": driveBoto, "aws": driveAWS} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				drive(t, r.url)
			})
		}
	})
	service, err := models.Load("stepfunctions")
	require.NoError(t, err)
	operations := slices.Sorted(maps.Keys(service.Operations))
	require.Len(t, operations, 37)
	r.requireTwoClients(t, operations)
}
