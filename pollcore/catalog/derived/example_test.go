package derived_test

import (
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore/catalog/derived"
	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
)

func ExampleLookup() {
	service, err := models.Load("iotsitewise")
	if err != nil {
		fmt.Println(err)
		return
	}
	entry, err := derived.Lookup(service, "create-enrichment-job")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(entry.Name, "is polled by", entry.Operation.Name)
	for _, a := range entry.Waiter.Acceptors {
		fmt.Println(a.State, a.Matcher)
	}
	// Output:
	// CreateEnrichmentJob is polled by DescribeEnrichmentJob
	// success status == "COMPLETED"
	// failure status == "FAILED"
	// failure status == "TIMED_OUT"
	// failure status == "CANCELLED"
	// retry status == "PENDING"
	// retry status == "RUNNING"
}
