package statusname_test

import (
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore/catalog/statusname"
)

func ExampleOf() {
	for _, status := range []string{"COMPLETED", "FAILED", "IN_PROGRESS", "STOPPING", "NOT_FAILED"} {
		fmt.Printf("%s %q\n", status, statusname.Of(status))
	}
	// Output:
	// COMPLETED "success"
	// FAILED "failure"
	// IN_PROGRESS "running"
	// STOPPING "ending"
	// NOT_FAILED "unknown"
}
