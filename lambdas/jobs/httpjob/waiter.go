package httpjob

import (
	"strings"
	"time"

	"github.com/jobpoller/jobpoller/pollcore"
)

// What the member status of a body says about a job that has ended, in upper
// case, lower case, or with a capital: the words of the Google, Azure and AWS
// APIs among others, less those that some use for a job that has failed, such as
// done and finished.
var (
	succeeded = []string{"SUCCEEDED", "SUCCESS", "SUCCESSFUL", "COMPLETED", "COMPLETE"}
	failed    = []string{"FAILED", "FAILURE", "ERROR", "CANCELED", "CANCELLED", "ABORTED", "TERMINATED", "TIMED_OUT", "EXPIRED", "REJECTED"}
)

// waiter reads the member status of a body. APIs differ, so a request gives a
// waiter of its own where they do.
var waiter = newWaiter()

func newWaiter() *pollcore.Waiter {
	var options []pollcore.Option
	status := pollcore.Output("Body.status")
	for _, word := range spellings(succeeded) {
		options = append(options, pollcore.Succeed(status.Is(word)))
	}
	for _, word := range spellings(failed) {
		options = append(options, pollcore.FailWithMessage(status.Is(word), "Body.message || Body.error"))
	}
	return pollcore.MustNew("JobFinished", append(options, pollcore.Delay(5*time.Second, 2*time.Minute))...)
}

// spellings returns each word in the three cases.
func spellings(words []string) []string {
	var all []string
	for _, word := range words {
		all = append(all, word, strings.ToLower(word), word[:1]+strings.ToLower(word[1:]))
	}
	return all
}
