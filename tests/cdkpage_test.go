package tests_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/handler"
)

const cdkPage = "../docs/guide/cdk.md"

// What the page says that functions return is a result.
func TestCDKPageResult(t *testing.T) {
	t.Parallel()
	results := blocks(t, cdkPage, "json")
	require.Len(t, results, 1)
	var result handler.Result
	require.NoError(t, json.Unmarshal([]byte(results[0]), &result))
	require.Equal(t, 20, result.WaitSeconds)
}
