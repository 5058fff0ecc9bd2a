package lint_test

import (
	"fmt"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

func ExampleCheck() {
	m, err := asl.Parse([]byte(`{"StartAt": "Get", "States": {
		"Get": {"Type": "Task", "Resource": "arn:aws:states:::aws-sdk:glue:getJobRun", "Parameters": {"JobName": "nightly", "RunId": "r-1"}, "Next": "Done?"},
		"Done?": {"Type": "Choice", "Choices": [{"Variable": "$.JobRun.JobRunState", "StringEquals": "SUCCEEDED", "Next": "End"}], "Default": "Wait"},
		"Wait": {"Type": "Wait", "Seconds": 30, "Next": "Get"},
		"End": {"Type": "Succeed"}
	}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range lint.Check(m, lint.Options{Off: []string{lint.UnretriedTask}}) {
		fmt.Println(f.Rule, f.Pointer)
	}
	// Output:
	// status-polls-on /States/Done?/Default
	// unbounded-loop /States/Wait
}
