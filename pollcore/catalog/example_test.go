package catalog_test

import (
	"fmt"
	"net/http"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

func ExampleLookup() {
	entry, err := catalog.Lookup("dynamodb", "ExportTableToPointInTime")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(entry.Kind, entry.Waiter.Name, "polls", entry.Operation.Name)
	for _, a := range entry.Waiter.Acceptors {
		fmt.Println(a.State, a.Matcher)
	}

	_, err = catalog.Lookup("dynamodb", "ExportComplete")
	fmt.Println(err)
	// Output:
	// job ExportSucceeded polls DescribeExport
	// success ExportDescription.ExportStatus == "COMPLETED"
	// failure ExportDescription.ExportStatus == "FAILED"
	// retry ExportDescription.ExportStatus == "IN_PROGRESS"
	// dynamodb has no waiter or job "ExportComplete" (did you mean "ExportCompleted"?)
}

func ExampleReadSmithy() {
	definitions, err := catalog.ReadSmithy([]byte(`{
		"smithy": "2.0",
		"shapes": {
			"com.example#DescribeJob": {
				"type": "operation",
				"traits": {"smithy.waiters#waitable": {
					"JobDone": {"acceptors": [{"state": "success", "matcher": {"output": {
						"path": "status", "expected": "DONE", "comparator": "stringEquals"}}}]}
				}}
			}
		}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range definitions {
		fmt.Println(d.Operation, d.Waiter.Name, d.Waiter.Acceptors[0].Matcher)
	}
	// Output: DescribeJob JobDone status == "DONE"
}

func ExampleReadBotocore() {
	definitions, err := catalog.ReadBotocore([]byte(`{
		"version": 2,
		"waiters": {
			"BucketExists": {
				"operation": "HeadBucket", "delay": 5, "maxAttempts": 20,
				"acceptors": [
					{"state": "success", "matcher": "status", "expected": 200},
					{"state": "retry", "matcher": "status", "expected": 404}
				]
			}
		}
	}`), catalog.ErrorsForStatus(func(operation string, status int) []string {
		if operation == "HeadBucket" && status == http.StatusNotFound {
			return []string{"NotFound"}
		}
		return nil
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range definitions {
		fmt.Println(d.Operation, d.Waiter.Name, d.TotalWait)
		for _, a := range d.Waiter.Acceptors {
			fmt.Println(a.State, a.Matcher)
		}
	}
	// Output:
	// HeadBucket BucketExists 1m40s
	// success any response
	// retry error NotFound
}
