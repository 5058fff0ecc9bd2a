package clients_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

// Two clients call each operation of Step Functions, and get what they expect, of a
// server that asks for its keys: with those that it prints, and nothing without them.
func TestClients(t *testing.T) {
	t.Parallel()
	r := newRecorder()
	s := startServe(t, "--data", t.TempDir(), "--host", r.host)
	r.start(t, s.url)
	require.NotEqual(t, openKeys, s.keys)
	t.Run("each", func(t *testing.T) {
		for name, drive := range map[string]func(*testing.T, endpoint){"SDK for Go": driveSDK, "boto3": driveBoto, "aws": driveAWS} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				drive(t, endpoint{r.front.URL, s.keys})
			})
		}
	})
	service, err := models.Load("stepfunctions")
	require.NoError(t, err)
	operations := slices.Sorted(maps.Keys(service.Operations))
	require.Len(t, operations, 37)
	r.requireTwoClients(t, operations)

	stranger := endpoint{s.url, openKeys}
	_, err = newClient(t, stranger).ListStateMachines(t.Context(), nil)
	require.ErrorContains(t, err, "SignatureDoesNotMatch")
	_, errs, err := (&shell{environment: stranger.environment()}).try(t, "list-state-machines")
	require.Error(t, err)
	require.Contains(t, errs, "(SignatureDoesNotMatch)")
	command := python(t, "boto.py", "testdata/orders.asl.json")
	command.Env = append(command.Env, stranger.environment()...)
	out, err := command.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "(SignatureDoesNotMatch)")
	status, _ := postAPI(t, stranger, "ListStateMachines", "{}")
	require.Equal(t, http.StatusForbidden, status)
	require.NotContains(t, s.log.String(), s.keys.SecretAccessKey)
	require.NotContains(t, s.log.String(), "token=")
}
