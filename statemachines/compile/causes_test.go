package compile_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

// Each pattern is in the message that was seen, of an operation of the catalogue, and
// says nothing of the end of a Cause.
func TestKnownCauses(t *testing.T) {
	t.Parallel()
	services, err := catalog.AWS().List()
	require.NoError(t, err)
	found := map[string]bool{}
	for _, listed := range services {
		service, err := catalog.AWS().Service(listed.Key)
		require.NoError(t, err)
		for _, op := range service.Operations {
			for _, c := range op.Causes() {
				found[c.Service+" "+c.Operation+" "+c.Code] = true
				require.Contains(t, c.Source, "https://", c.Code)
				pattern := strings.ReplaceAll(regexp.QuoteMeta(c.Pattern), `\*`, ".*")
				require.Regexp(t, pattern, c.Message)
				require.NotRegexp(t, `\)$`, c.Pattern)
			}
		}
	}
	require.Len(t, found, 11)
	require.Nil(t, (*catalog.Operation)(nil).Causes())
}

// A message has another form where several things are missing.
func TestKnownCauseOfSeveralInstances(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		service, operation, code, message string
		matches                           bool
	}{
		{"ec2", "DescribeInstances", "InvalidInstanceID.NotFound", "The instance IDs 'i-0a1a5cb3fb472c5ea, i-6381a3fa' do not exist", true},
		{"ec2", "DescribeInstances", "InvalidInstanceID.NotFound", "Invalid id: \"i-6381a3fa\"", false},
	} {
		pattern := compile.CausePatternsOf(operation(t, tt.service, tt.operation))[tt.code]
		require.NotEmpty(t, pattern)
		found := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*")).MatchString(tt.message)
		require.Equal(t, tt.matches, found, tt.message)
	}
}
