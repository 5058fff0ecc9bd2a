package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// A quota is of an operation that its service has, allows calls, and names its source. Most
// operations have none that is known.
func TestQuotasAreOfOperations(t *testing.T) {
	t.Parallel()
	services, err := catalog.AWS().List()
	require.NoError(t, err)
	known := map[string]int{}
	for _, s := range services {
		e, err := catalog.Lookup(s.Key, s.Entries[0].Name) // the entries of a service share its operations
		require.NoError(t, err)
		for name := range e.Service.Operations {
			if q, ok := catalog.QuotaOf(s.Key, name); ok {
				known[s.Key]++
				require.Positive(t, q.PerSecond, "%s:%s", s.Key, name)
				require.GreaterOrEqual(t, q.Burst, q.PerSecond, "%s:%s", s.Key, name)
				require.NotEmpty(t, q.Source, "%s:%s", s.Key, name)
			}
		}
	}
	require.Contains(t, known, "athena")
	require.Contains(t, known, "ec2")
	require.Len(t, known, 2)
	_, ok := catalog.QuotaOf("ec2", "CreateImage")
	require.False(t, ok, "only calls that describe have a quota that is known")
}
