package conformance_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// signalDifferences are the jobs of which the catalogue says otherwise than
// completion-signals.csv who tells of their end. The facts name events; the catalogue
// has those of which it is known where the id and the status lie.
var signalDifferences = []differing{
	{"AWS shows no such event where it was read: its reference has the detail-type alone", []string{
		"amplify StartJob: event", "cleanrooms StartProtectedQuery: event", "dms StartReplication: event", "emr-containers StartJobRun: event",
		"redshift-serverless CreateSnapshot: event", "mwaa-serverless StartWorkflowRun: event",
	}},
	{"the events are those of builds", []string{"codebuild StartBuildBatch: event"}},
	{"nothing says whether the event names the snapshot or the cluster", []string{"elasticache CreateSnapshot: event"}},
	{"the event names the dataset", []string{"forecast CreateDatasetImportJob: event"}},
	{"the events are of servers, and none of the job", []string{"mgn StartTest: event"}},
	{"the events name the snapshot", []string{"rds StartExportTask: event"}},
	{"the event's schema has no name of a medical job", []string{"transcribe StartMedicalTranscriptionJob: event"}},
	{"the other event has its status elsewhere, and is of jobs that could not be created", []string{"deadline CreateJob: event"}},
	{"the other event's form is not in what was read", []string{"glue StartDataQualityRulesetEvaluationRun: event"}},
	{"AWS's reference says Durable", []string{
		"cloudformation CreateStack: delivery", "cloudformation CreateStackInstances: delivery", "cloudformation DetectStackDrift: delivery",
	}},
	{"this start call takes no topic", []string{"rekognition StartMediaAnalysisJob: topic"}},
}

// remark is what the facts say beside a value.
var remark = regexp.MustCompile(` \(.*?\)|,.*`)

// runJobSignals compares the signals of the catalogue's jobs with those of the facts,
// in five respects each.
func runJobSignals(t *testing.T, folder string) result {
	t.Helper()
	r := result{failures: map[string]string{}}
	file, err := os.Open(filepath.Join(folder, "completion-signals.csv"))
	require.NoError(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	events, batches, topics := 0, 0, 0
	for _, row := range rows[1:] {
		of := func(name string) string { return row[column[name]] }
		if of("kind") != "job" {
			continue
		}
		e, err := catalog.Lookup(of("service"), of("start_operation"))
		require.NoError(t, err)
		job, name := e.Job, of("service")+" "+of("start_operation")
		compare := func(what, got, want string) {
			r.total++
			if got != want {
				r.failures[name+": "+what] = fmt.Sprintf("%q, the facts have %q", got, want)
			}
		}
		var event, delivery, batch, most string
		wantEvent, wantDelivery := "", ""
		if of("event_detail_types") != "" {
			wantEvent = remark.ReplaceAllString(of("event_source")+" "+of("event_detail_types"), "")
		}
		if job.Event != nil {
			events++
			event, delivery = job.Event.Source+" "+strings.Join(job.Event.DetailTypes, " | "), string(job.Event.Delivery)
			wantDelivery = remark.ReplaceAllString(of("event_delivery"), "")
		}
		wantBatch, wantMost := "", ""
		if kind := of("batch_kind"); strings.HasPrefix(kind, "ids") {
			wantBatch, wantMost = of("batch_operation")+" "+of("batch_id_parameter"), remark.ReplaceAllString(of("batch_max_ids"), "")
		}
		if job.Batch != nil {
			batches++
			batch, most = job.Batch.Operation+" "+job.Batch.IDs, strconv.Itoa(job.Batch.Max)
		}
		if strings.HasPrefix(wantMost, "see ") { // the facts do not know it
			wantMost = most
		}
		if job.Topic != "" {
			topics++
		}
		compare("event", event, wantEvent)
		compare("delivery", delivery, wantDelivery)
		compare("batch", batch, wantBatch)
		compare("most in a batch", most, wantMost)
		compare("topic", strconv.FormatBool(job.Topic != ""), strconv.FormatBool(strings.HasPrefix(of("other_push"), "SNS: ")))
	}
	r.notes = append(r.notes, fmt.Sprintf("an event tells of %d jobs, a call describes many of %d, an SNS topic is told of %d", events, batches, topics))
	return r
}
