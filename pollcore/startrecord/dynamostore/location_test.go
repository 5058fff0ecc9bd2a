package dynamostore_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

const table = "records"

var key = startrecord.Key{
	ExecutionARN: "arn:aws:states:us-east-1:123456789012:execution:ExportOrders:run-1",
	Poller:       "Export",
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	forEachMaker(t, testNewRefuses)
}

func testNewRefuses(t *testing.T, makes maker) {
	t.Helper()
	for _, tt := range []struct {
		table, prefix string
		want          []string
	}{
		{"", "", []string{`"" is not a table's name`}},
		{"ab", "", []string{"is not a table's name"}},
		{strings.Repeat("t", 256), "", []string{"is not a table's name"}},
		{"arn:aws:dynamodb:us-east-1:123456789012:table/ab", "", []string{"nor its ARN"}},
		{"my table", "", []string{"is not a table's name"}},
		{"arn:aws:dynamodb:us-east-1:123456789012:index/records", "", []string{"nor its ARN"}},
		{table, strings.Repeat("x", 1269), []string{"the prefix has 1269 bytes; at most 1268"}},
		{table, "/a", []string{"starts with a slash"}},
		{"", "a/../b", []string{"is not a table's name", `".." segment`}},
	} {
		_, err := makes(aws.Config{}, tt.table, tt.prefix)
		require.ErrorIs(t, err, startrecord.ErrConfiguration)
		for _, want := range tt.want {
			require.ErrorContains(t, err, want)
		}
	}
}

func TestLocation(t *testing.T) {
	t.Parallel()
	forEachMaker(t, testLocation)
}

func testLocation(t *testing.T, makes maker) {
	t.Helper()
	const arn = "arn:aws:dynamodb:us-east-1:123456789012:table/records"
	longest := strings.Repeat("t", 255)
	for _, tt := range []struct{ table, prefix, want string }{
		{table, "", "dynamodb://records/"},
		{table, "team", "dynamodb://records/team/"},
		{arn, "team/a/", "dynamodb://" + arn + "/team/a/"},
		{longest, "", "dynamodb://" + longest + "/"},
	} {
		store, err := makes(aws.Config{}, tt.table, tt.prefix)
		require.NoError(t, err)
		require.Equal(t, tt.want+key.Path(), store.Location(key))
	}
}
