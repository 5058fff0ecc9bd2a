package awsjob_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/lambdas/jobs/awsjob"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// BenchmarkNewDriver is what a job of the catalogue costs when a function
// starts: the index and the service's file are read, and no others.
func BenchmarkNewDriver(b *testing.B) {
	data := os.DirFS("../../../pollcore/catalog/data")
	for _, name := range []string{"dms:ReplicationTaskReady", "glue:StartCrawler", "sagemaker:CreateTrainingJob"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := awsjob.NewDriver(config("https://example.com"), catalog.Open(data), name)
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkCall is a describe call and its answer, without a network.
func BenchmarkCall(b *testing.B) {
	cfg := config("https://example.com")
	cfg.HTTPClient = &canned{status: 200, body: []byte(`{"bakes": [{"id": "b-1", "state": "BAKED", "startedAt": 1795000000.25}]}`)}
	client, op := awsjob.New(cfg), describeBakes(b)
	for b.Loop() {
		_, err := client.Call(b.Context(), op, oneBake)
		require.NoError(b, err)
	}
}
