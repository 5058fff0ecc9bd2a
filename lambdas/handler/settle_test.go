package handler_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
)

func TestStoreFlagsOfALocation(t *testing.T) {
	t.Parallel()
	for before, want := range map[string]string{
		"s3://records/jobpoller/":     " --bucket records --prefix jobpoller",
		"s3://records/":               " --bucket records",
		"s3://records/teams/our own/": " --bucket records --prefix 'teams/our own'",
		"dynamodb://records/a/b/":     " --table records --prefix a/b",
		"dynamodb://arn:aws:dynamodb:us-east-1:123456789012:table/records/a/": " --table arn:aws:dynamodb:us-east-1:123456789012:table/records --prefix a",
		"memory:": "", "file:///records/": "",
	} {
		require.Equal(t, want, handler.StoreFlags(before+key.Path(), key), before)
	}
}
