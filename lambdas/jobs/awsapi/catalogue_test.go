package awsapi_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/lambdas/jobs/awsapi"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Every waiter and job of the catalogue has a driver, unless its service speaks
// no JSON or must be asked for its endpoints.
func TestDriversOfTheCatalogue(t *testing.T) {
	t.Parallel()
	list, err := catalog.AWS.List()
	require.NoError(t, err)
	made, refused := 0, map[string]bool{}
	for _, s := range list {
		for _, e := range s.Entries {
			name := s.Key + ":" + e.Name
			d, err := awsapi.NewDriver(config("https://example.com"), catalog.AWS, name)
			if err != nil {
				require.ErrorIs(t, err, awsapi.ErrUnsupported, name)
				refused[s.Key] = true
				continue
			}
			made++
			require.Equal(t, name, d.Name())
			require.NoError(t, d.Waiter().Validate(), name)
			require.NotEmpty(t, d.Permissions(), name)
			_, err = d.Start(t.Context(), jobs.Request{Arguments: []byte(`{"NoSuchMember": 1}`)})
			require.ErrorIs(t, err, jobs.ErrArguments, name)
			_, err = d.Describe(t.Context(), nil)
			require.Error(t, err, name)
		}
	}
	t.Logf("%d drivers; no JSON: %v", made, refused)
	_ = errors.Join
	_ = strings.Join
}
