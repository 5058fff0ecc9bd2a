//go:build e2e

package records

import (
	"bytes"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/dynalite"
	"github.com/jobpoller/jobpoller/lambdas/handler"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/dynamostore"
)

// The commands for operators work on records in a DynamoDB table, too.
func TestE2ERecordsInATable(t *testing.T) {
	t.Parallel()
	server, err := dynalite.Start(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	require.NoError(t, server.CreateTable(t.Context(), "records", "key"))
	store, err := dynamostore.New(server.Client(dynalite.ClientOptions{}), "records", "jobpoller")
	require.NoError(t, err)
	key := startrecord.Key{ExecutionARN: nightly, Poller: handler.DefaultPoller}
	began := time.Date(2026, 11, 20, 9, 30, 14, 0, time.UTC)
	_, err = store.Create(t.Context(), key, startrecord.Record{
		Status: startrecord.StatusUnknown, ExecutionStartTime: began, StartedAt: began,
		Request: []byte(`{"job": "acme:Bake", "maxWaitSeconds": 3600}`),
	})
	require.NoError(t, err)

	command := func(code int, args ...string) string {
		var stdout, stderr bytes.Buffer
		args = append(args, "--table", "records", "--region", "us-east-1", "--endpoint-url", server.URL())
		require.Equal(t, code, runCommand(t.Context(), args, &stdout, &stderr), "%s%s", &stdout, &stderr)
		return stdout.String() + stderr.String()
	}
	require.Equal(t, "STATUS     STARTED               RECORD  JOB\nUNKNOWN    2026-11-20T09:30:14Z  "+nightly+"  acme:Bake\n", command(kit.ExitSucceeded, "records", "list", nightly))
	require.Contains(t, command(kit.ExitUsage, "records", "adopt", nightly, "oven-1", "--yes"), `the catalogue does not have the job "acme:Bake" of this record: pass --ref`)
	require.Contains(t, command(kit.ExitSucceeded, "records", "adopt", nightly, "--ref", `{"Oven": "1"}`, "--yes"), "The record has the job.")
	require.Contains(t, command(kit.ExitSucceeded, "records", "show", nightly), `"Oven": "1"`)
	require.Contains(t, command(kit.ExitFailed, "records", "abandon", nightly, "--yes"), "has a job already")

	// dynalite has no transactions: its client here makes them.
	said := command(kit.ExitFailed, "records", "doctor")
	require.Contains(t, said, "ok       store       table records answers")
	require.Contains(t, said, "ok       conditions ")
	require.Regexp(t, `(ERROR|DANGER) +callbacks .*\n +do: keep the records in another table`, said)
	require.NotContains(t, said, "removal")
	left, err := server.Client(dynalite.ClientOptions{}).Scan(t.Context(), &dynamodb.ScanInput{TableName: new("records")})
	require.NoError(t, err)
	require.Len(t, left.Items, 2, "the record, and that of the probe of the store above")
	require.Contains(t, said, "lifecycle ")
}
