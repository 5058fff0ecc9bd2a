package pastjobs

import (
	"encoding/json"
	"fmt"

	"github.com/jobpoller/jobpoller/internal/terminal"
	"github.com/jobpoller/jobpoller/pollcore/plan"
)

// isLog tells whether an object is what "aws logs filter-log-events" prints, and not a
// history, which has events too.
func isLog(object map[string]any) bool {
	events, _ := object["events"].([]any)
	if len(events) == 0 {
		return false
	}
	event, _ := events[0].(map[string]any)
	_, isText := event["message"].(string)
	return isText
}

// readLog reads the metrics in the log of the Lambda functions. Other lines say nothing
// of durations.
func (r *jsonJobs) readLog(object map[string]any) error {
	for _, event := range object["events"].([]any) { //nolint:forcetypeassert // isLog says so
		line, _ := event.(map[string]any)
		text, _ := line["message"].(string)
		var measured map[string]any
		if json.Unmarshal([]byte(text), &measured) == nil && measured["_aws"] != nil {
			if err := r.readMetric(measured); err != nil {
				return err
			}
		}
	}
	return nil
}

// readMetric reads a line that the functions write when a job has ended: JobSeconds is
// until the poll that saw the end, Lateness of that poll.
func (r *jsonJobs) readMetric(line map[string]any) error {
	if line["JobSeconds"] == nil {
		return nil // of a start or of a poll
	}
	var m struct {
		Job                  string
		JobSeconds, Lateness *float64
		JobsTimedOut         float64
	}
	if err := decodeInto(line, &m); err != nil {
		return fmt.Errorf("a metric of the Lambda functions: %w", err)
	}
	switch {
	case r.job != "" && m.Job != r.job && r.named:
		r.Leave("of " + terminal.Excerpt(m.Job))
		return nil
	case r.job != "" && m.Job != r.job:
		return fmt.Errorf("the metrics are of %s and of %s: name the job, as in jobpoller plan glue StartJobRun", r.job, terminal.Excerpt(m.Job))
	}
	r.job = m.Job
	switch {
	case m.JobsTimedOut > 0:
		r.Leave(notEnded)
		return nil
	case m.Lateness == nil:
		r.Leave("whose end nobody knows: their metrics have no Lateness")
		return nil
	}
	late := Seconds(*m.Lateness)
	took := max(0, Seconds(*m.JobSeconds)-late)
	return r.addJob(Job{Sample: plan.Sample{From: took, To: took}, Late: &late})
}
