package catalog_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Each pattern is in the message that was seen, of an operation of the catalogue, and
// says nothing of the end of a Cause.
func TestCauses(t *testing.T) {
	t.Parallel()
	services, err := catalog.AWS.List()
	require.NoError(t, err)
	found := map[string]bool{}
	for _, listed := range services {
		service, err := catalog.AWS.Service(listed.Key)
		require.NoError(t, err)
		for _, op := range service.Operations {
			for _, c := range op.Causes() {
				found[c.Service+" "+c.Operation+" "+c.Code] = true
				require.NotEmpty(t, c.Source, c.Code)
				pattern := strings.ReplaceAll(regexp.QuoteMeta(c.Pattern), `\*`, ".*")
				require.Regexp(t, pattern, c.Message)
				require.NotRegexp(t, `\)$`, c.Pattern)
			}
		}
	}
	require.Len(t, found, 11)
	require.Nil(t, (*catalog.Operation)(nil).Causes())
}
