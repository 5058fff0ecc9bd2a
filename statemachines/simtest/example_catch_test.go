package simtest_test

import (
	"fmt"

	"github.com/jobpoller/jobpoller/statemachines/simtest"
)

// A failure is caught, and its reason kept. All states have been entered after
// two runs.
func Example_catch() {
	s := simtest.New(t, `{"StartAt": "Work", "States": {
	  "Work": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": {"FunctionName": "work"},
	    "Catch": [{"ErrorEquals": ["BadInput"], "ResultPath": "$.error", "Next": "Refused"}], "Next": "Done"},
	  "Done": {"Type": "Succeed"},
	  "Refused": {"Type": "Fail", "Error": "Refused", "CausePath": "$.error.Cause"}}}`)
	s.On("Work").Return(map[string]string{"Payload": "ok"}).Fail("BadInput", "no such table")

	s.Run(nil).RequireSucceeded()
	r := s.Run(nil).RequireFailed("Refused", "no such table")
	s.RequireCovered()
	s.RequireTransitionsCovered()
	fmt.Println(r.Error, r.Cause)
	// Output: Refused no such table
}
