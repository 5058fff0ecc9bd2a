package simtest_test

import (
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/statemachines/sim/mock"
	"github.com/jobpoller/jobpoller/statemachines/simtest"
)

// A simulated job needs no script: it runs for 100 seconds, however often the
// loop looks. Its answers have the shapes of the service's own.
func Example_job() {
	s := simtest.New(t, `{"QueryLanguage": "JSONata", "StartAt": "Start", "States": {
	  "Start": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:startJobRun", "Arguments": {"JobName": "j"},
	    "Assign": {"id": "{% $states.result.JobRunId %}"}, "Next": "Wait"},
	  "Wait": {"Type": "Wait", "Seconds": 30, "Next": "Get"},
	  "Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun",
	    "Arguments": {"JobName": "j", "RunId": "{% $id %}"}, "Output": "{% $states.result.JobRun.JobRunState %}", "Next": "Done?"},
	  "Done?": {"Type": "Choice", "Choices": [{"Condition": "{% $states.input in ['STARTING', 'RUNNING'] %}", "Next": "Wait"}], "Default": "Done"},
	  "Done": {"Type": "Succeed"}}}`)
	job := &mock.Job{
		Runs: 100 * time.Second, Status: "JobRun.JobRunState", Running: "RUNNING", Ends: "SUCCEEDED",
		ID: "JobRun.Id", IDArgument: "RunId", StartID: "JobRunId",
	}
	s.Job(job, "Start", "Get", "")

	r := s.Run(nil).RequireOutput(`"SUCCEEDED"`).RequireVisits("Get", 4)
	fmt.Println(r.Duration(), job.Starts())
	// Output: 2m0s 1
}
