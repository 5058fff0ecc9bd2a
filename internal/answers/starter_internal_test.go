package answers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/source"
)

// The environment of a function is that of the command and what its template says beside.
// A store that the template names is never used.
func TestEnvironmentOfLocalFunctions(t *testing.T) {
	t.Parallel()
	said := source.Function{Environment: map[string]string{"STAGE": "prod", "SHOP": "template", "JOBPOLLER_TABLE": "live", "JOBPOLLER_JOBS": "shop:Report"}}
	s := &starter{env: []string{"SHOP=shell", "HOME=/root"}}
	env, err := s.environment(t.Context(), said, "bootstrap")
	require.NoError(t, err)
	for name, want := range map[string]string{"STAGE": "prod", "SHOP": "shell", "HOME": "/root", "JOBPOLLER_TABLE": "live"} {
		require.Equal(t, want, valueIn(env, name), name)
	}
	env, err = s.environment(t.Context(), said, "run-job")
	require.NoError(t, err)
	for name, want := range map[string]string{"STAGE": "prod", "JOBPOLLER_TABLE": "", "JOBPOLLER_JOBS": "shop:Report"} {
		require.Equal(t, want, valueIn(env, name), name)
	}

	set := SetStore([]string{"JOBPOLLER_ENCRYPTION=aws:kms", "JOBPOLLER_PREVIOUS_TABLE=old", "AWS_ENDPOINT_URL_S3=http://elsewhere"}, Store{URL: "http://here", Bucket: "bucket", Flags: "--data d"})
	for name, want := range map[string]string{
		"JOBPOLLER_BUCKET": "bucket", "JOBPOLLER_TABLE": "", "JOBPOLLER_PREFIX": "jobpoller", "JOBPOLLER_ENCRYPTION": "", "JOBPOLLER_PREVIOUS_TABLE": "",
		"AWS_ENDPOINT_URL_S3": "http://here", "JOBPOLLER_STORE_FLAGS": "--data d",
	} {
		require.Equal(t, want, valueIn(set, name), name)
	}

	// Whose endpoints are to be ignored calls the store of the run all the same.
	set = SetStore([]string{"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true", "AWS_ENDPOINT_URL=http://elsewhere"}, Store{URL: "http://here", Bucket: "bucket", Flags: "--data d"})
	require.Equal(t, "false", valueIn(set, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"))
	require.Empty(t, valueIn(set, "AWS_ENDPOINT_URL"))
	require.Equal(t, "http://here", valueIn(set, "AWS_ENDPOINT_URL_S3"))
}

// A function gets a variable that its template sets to nothing.
func TestEmptyVariableOfATemplate(t *testing.T) {
	t.Parallel()
	env, err := (&starter{}).environment(t.Context(), source.Function{Environment: map[string]string{"EMPTY": ""}}, "")
	require.NoError(t, err)
	require.Contains(t, env, "EMPTY=")
}
