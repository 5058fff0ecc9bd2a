package conformance_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// timeDifferences are the jobs for which the catalogue knows no time, though
// job-timestamps.csv has members whose names sound like one, and the other way round.
var timeDifferences = []differing{
	{"the model has numbers or strings, which are documented to be times", []string{
		"batch SubmitJob: startTime", "batch SubmitJob: endTime", "glacier InitiateJob: startTime", "glacier InitiateJob: endTime",
		"logs CreateExportTask: startTime", "logs CreateExportTask: endTime", "mgn StartTest: startTime", "mgn StartTest: endTime",
	}},
	{"the times are of the crawler, and of the crawl before this one", []string{"glue StartCrawler: startTime"}},
	{"ListSteps is polled, and tells of several steps", []string{
		"emr AddJobFlowSteps: startTime", "emr AddJobFlowSteps: endTime",
	}},
	{"the artifact is older than the run of the pipeline", []string{"codepipeline StartPipelineExecution: startTime"}},
	{"the times are of a watermark and of another image", []string{"ec2 CreateImage: startTime"}},
	{"the times are of the cluster and of its nodes", []string{"elasticache CreateSnapshot: startTime"}},
	{"DescribeFlow is polled, which tells no time of a run", []string{"appflow StartFlow: startTime", "appflow StartFlow: endTime"}},
	{"the operation is polled, and the times are of the application", []string{"kinesisanalyticsv2 StartApplication: startTime"}},
}

// runJobTimes compares the times of the catalogue's jobs with the members that the
// facts have for them. One of several is enough: which is right is decided in
// sources/jobs.json.
func runJobTimes(t *testing.T, folder string) result {
	t.Helper()
	r := result{failures: map[string]string{}}
	file, err := os.Open(filepath.Join(folder, "job-timestamps.csv"))
	require.NoError(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	starts, ends := 0, 0
	for _, row := range rows[1:] {
		name := row[0] + " " + row[1]
		e, err := catalog.Lookup(row[0], row[1])
		require.NoError(t, err, name)
		for _, c := range []struct {
			what, got, candidates string
			known                 *int
		}{{"startTime", e.Job.StartTime, row[4], &starts}, {"endTime", e.Job.EndTime, row[5], &ends}} {
			r.total++
			candidates := strings.Fields(strings.ReplaceAll(c.candidates, ".[]", "[0]"))
			if c.got != "" {
				*c.known++
			}
			if (c.got == "") != (len(candidates) == 0) || c.got != "" && !slices.Contains(candidates, c.got) {
				r.failures[name+": "+c.what] = fmt.Sprintf("%q, want one of %v", c.got, candidates)
			}
		}
	}
	r.notes = append(r.notes, fmt.Sprintf("of %d jobs, %d tell when they started and %d when they ended", len(rows)-1, starts, ends))
	return r
}
