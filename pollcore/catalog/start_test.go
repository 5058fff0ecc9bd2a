package catalog_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// Each row of starts.json is of start calls that the catalogue has, with members of theirs, and says
// what the models do not.
func TestStartsAreOfTheModels(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("starts.json")
	require.NoError(t, err)
	var rows []struct {
		Service string   `json:"service"`
		Token   string   `json:"token"`
		Source  string   `json:"source"`
		Calls   []string `json:"calls"`
		Another bool     `json:"another"`
	}
	require.NoError(t, json.Unmarshal(text, &rows))
	require.NotEmpty(t, rows)
	listed := map[string]bool{}
	for _, row := range rows {
		require.NotEmpty(t, row.Source)
		require.NotEmpty(t, row.Calls)
		require.False(t, row.Another && row.Token != "")
		for _, call := range row.Calls {
			e, err := catalog.Lookup(row.Service, call)
			require.NoError(t, err)
			name := e.FullName()
			require.False(t, listed[name], name)
			listed[name] = true
			require.Equal(t, catalog.Unprotected, e.Job.Protection(), name)
			require.Empty(t, e.Job.UniqueName, name)
			token, _ := e.StartToken()
			require.Equal(t, row.Token, token, name)
			never := func(string, bool) bool { return false }
			require.Equal(t, row.Another || row.Token != "", e.StartsAnother(never), name)
		}
	}
	eachJob(t, func(e *catalog.Entry) { // a member called a token has a row, or is one by the model
		token, _ := e.StartToken()
		called := slices.ContainsFunc(e.Service.Operations[e.Name].Input.Members, func(m catalog.Member) bool {
			name := strings.ToLower(m.Name)
			return strings.HasSuffix(name, "clienttoken") || strings.HasSuffix(name, "requesttoken") || strings.HasPrefix(name, "idempotency")
		})
		require.False(t, called && token == "" && !listed[e.FullName()], e.FullName())
	})
}

// What a start call does that is made again, with the same token or without.
func TestStartsAnother(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		service, call, token      string
		required, another, second bool // without the token, with another one
	}{
		{"athena", "StartQueryExecution", "ClientRequestToken", false, true, true},
		{"codebuild", "StartBuild", "idempotencyToken", false, true, true},
		{"emr-serverless", "StartJobRun", "clientToken", true, false, true},
		{"omics", "StartRun", "requestId", true, false, true},
		{"cloudfront", "CreateInvalidation", "InvalidationBatch.CallerReference", true, false, true},
		{"ec2", "CreateSnapshot", "", false, true, true},
		{"codedeploy", "CreateDeployment", "", false, true, true},
		{"glue", "StartJobRun", "", false, true, true},
		{"batch", "SubmitJob", "", false, true, true},
		{"organizations", "CreateAccount", "", false, false, false},
		{"ecr", "StartImageScan", "", false, false, false},
		{"glue", "StartCrawler", "", false, false, false},
		{"sagemaker", "CreateTrainingJob", "", false, false, false},
		{"dms", "StartReplicationTask", "", false, false, false},
		{"rds", "CreateDBSnapshot", "", false, false, false},
	} {
		e, err := catalog.Lookup(c.service, c.call)
		require.NoError(t, err)
		token, required := e.StartToken()
		require.Equal(t, c.token, token, c.call)
		require.Equal(t, c.required, required, c.call)
		require.Equal(t, c.another, e.StartsAnother(func(_ string, required bool) bool { return required }), c.call)
		require.Equal(t, c.second, e.StartsAnother(func(string, bool) bool { return false }), c.call)
		require.Equal(t, c.second && c.token == "", e.StartsAnother(func(string, bool) bool { return true }), c.call)
	}
	waiter, err := catalog.Lookup("ec2", "InstanceRunning")
	require.NoError(t, err)
	require.False(t, waiter.StartsAnother(nil))
}

// eachJob calls f with the jobs of the catalogue.
func eachJob(t *testing.T, f func(e *catalog.Entry)) {
	t.Helper()
	eachEntry(t, func(e *catalog.Entry) {
		if e.Job != nil && e.Service.Operations[e.Name] != nil && e.Service.Operations[e.Name].Input != nil {
			f(e)
		}
	})
}

// eachEntry calls f with the entries of the catalogue.
func eachEntry(t *testing.T, f func(e *catalog.Entry)) {
	t.Helper()
	list, err := catalog.AWS().List()
	require.NoError(t, err)
	for _, l := range list {
		for _, listed := range l.Entries {
			e, err := catalog.Lookup(l.Key, listed.Name)
			require.NoError(t, err)
			f(e)
		}
	}
}
