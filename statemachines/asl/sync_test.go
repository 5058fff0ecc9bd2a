package asl_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// What the catalogue says that Step Functions waits for by itself is a pattern of
// an integration.
func TestIntegrationsThatTheCatalogueNames(t *testing.T) {
	t.Parallel()
	services, err := catalog.AWS().List()
	require.NoError(t, err)
	seen := 0
	for _, s := range services {
		for _, listed := range s.Entries {
			entry, err := catalog.Lookup(s.Key, listed.Name)
			require.NoError(t, err)
			if entry.Job == nil || entry.Job.Sync == "" {
				continue
			}
			seen++
			for _, p := range asl.Validate([]byte(call(entry.Job.Sync, `, "Parameters": {}`)), asl.Standard) {
				require.NotEqual(t, "/States/S/Resource", p.Pointer, "%s: %v", entry.Job.Sync, p)
			}
		}
	}
	require.Greater(t, seen, 15)
}
