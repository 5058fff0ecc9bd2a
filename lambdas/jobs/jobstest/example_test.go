package jobstest_test

import (
	"errors"
	"fmt"

	"github.com/jobpoller/jobpoller/lambdas/jobs/jobstest"
)

// The jobs of a service with names: the second start of a name is refused. A
// [jobstest.Service] serves them in the protocol of the real one, and
// [jobstest.Run] tests the driver against it.
func ExampleJobs() {
	jobs := jobstest.NewJobs("RUNNING")
	exists := jobstest.Refusal{Code: "JobExistsException"}
	job, err := jobs.Create("orders", nil, exists)
	fmt.Println(job.ID, job.Status, err)
	_, err = jobs.Create("orders", nil, exists)
	fmt.Println(errors.Is(err, exists), jobs.Starts())
	// Output:
	// job-1 RUNNING <nil>
	// true 1
}
