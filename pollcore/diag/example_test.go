package diag_test

import (
	"errors"
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/diag"
)

// The reader of waiters returns all problems of a text, each with its place.
func ExampleProblems() {
	_, err := pollcore.ParseWaiter("ExportCompleted", []byte(`{
  "acceptors": [{"state": "succes", "matcher": {"success": true}}]
}`))
	if problems, ok := errors.AsType[diag.Problems](err); ok {
		for _, p := range problems {
			fmt.Println(p.Severity, p.Pointer, p.Line, p.Suggestion)
		}
	}
	fmt.Println(err)
	// Output:
	// ERROR /acceptors/0/state 2 success
	// 2:27: /acceptors/0/state: state must be success, failure or retry, got "succes" (did you mean "success"?)
	//   |   "acceptors": [{"state": "succes", "matcher": {"success": true}}]
	//   |                           ^
}
