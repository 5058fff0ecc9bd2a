package catalog_test

import (
	"slices"
	"testing"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

func TestUnanswered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		service, operation string
		want               []string
	}{
		{"ecs", "DescribeTasks", []string{"failures"}},
		{"codebuild", "BatchGetBuilds", []string{"buildsNotFound"}},
		{"glue", "BatchGetWorkflows", []string{"MissingWorkflows"}},
		{"athena", "BatchGetQueryExecution", []string{"UnprocessedQueryExecutionIds"}},
		{"dataexchange", "GetJob", nil}, // the reasons of its one job
		{"quicksight", "DescribeAssetBundleImportJob", nil},
		{"batch", "DescribeJobs", nil},
	} {
		s, err := models.Load(c.service)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Operations[c.operation].Unanswered(); !slices.Equal(got, c.want) {
			t.Errorf("%s %s: got %q, want %q", c.service, c.operation, got, c.want)
		}
	}
}
