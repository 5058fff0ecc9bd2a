package handler

import (
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
)

// Metrics writes what happened to jobs in the CloudWatch embedded metric
// format, one line a measurement
// (https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html).
// CloudWatch Logs makes metrics of them, so nothing is called.
//
// The metrics have the dimension Job, the job's name, and Deployment if there is one:
//
//   - JobsStarted: start calls that started a job; a replay counts nothing.
//   - JobsSucceeded, JobsFailed, JobsTimedOut: ends, each counted once. A describe call
//     that is refused ends the check, but not the job: each CheckStatus that ends so
//     counts, and each answer to a Task.
//   - JobSeconds: how long a job took from its start to the check that saw its
//     end.
//   - Lateness: how long the end of a job was unseen, where the service says when the
//     job ended.
//   - StartsUnknown: start records that became UNKNOWN, and jobs that started and for
//     whose record no write succeeded; one start may come to both. A later call that finds a record UNKNOWN
//     ends as JobPoller.JobStartUnknown too, but counts nothing.
//   - Checks: describe calls.
type Metrics struct {
	// Namespace is the CloudWatch namespace.
	Namespace string
	// Deployment tells the functions of one deployment from those of another; "" if
	// all share their metrics.
	Deployment string
	// Writer gets the lines, one Write each. The Lambda service takes what a
	// function writes to standard output.
	Writer io.Writer

	mu sync.Mutex
}

// metric is one value of a measurement.
type metric struct {
	name  string
	unit  string
	value float64
}

func countOf(name string) metric { return metric{name, "Count", 1} }

// ended are the metrics of a job's end.
var ended = map[pollcore.Status]string{
	pollcore.Succeeded: "JobsSucceeded", pollcore.Failed: "JobsFailed", pollcore.TimedOut: "JobsTimedOut",
}

// measure counts what happened to a job. A measurement that cannot be written
// is worth a line in the log and no failed invocation.
func (p *Handler) measure(job, execution string, metrics ...metric) {
	if p.Metrics == nil {
		return
	}
	if err := p.Metrics.put(p.Now(), job, execution, metrics...); err != nil {
		p.Log.Warn("metrics could not be written", "execution", execution, "error", err)
	}
}

// put writes one measurement. The execution is a property and no dimension: a
// dimension's every value is a metric of its own, which costs.
func (m *Metrics) put(now time.Time, job, execution string, metrics ...metric) error {
	type definition struct{ Name, Unit string }
	type directive struct {
		Namespace  string
		Dimensions [][]string
		Metrics    []definition
	}
	line, dimensions := map[string]any{"Job": job, "Execution": execution}, []string{"Job"}
	if m.Deployment != "" {
		line["Deployment"], dimensions = m.Deployment, []string{"Deployment", "Job"}
	}
	definitions := make([]definition, 0, len(metrics))
	for _, v := range metrics {
		line[v.name] = v.value
		definitions = append(definitions, definition{v.name, v.unit})
	}
	line["_aws"] = map[string]any{
		"Timestamp":         now.UnixMilli(),
		"CloudWatchMetrics": []directive{{m.Namespace, [][]string{dimensions}, definitions}},
	}
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, err = m.Writer.Write(append(text, '\n'))
	return err
}
