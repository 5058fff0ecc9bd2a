package direct_test

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/dynamostore/direct"
)

func ExampleNew() {
	store, err := direct.New(aws.Config{Region: "us-east-1"}, "start-records", "jobpoller")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(store.Location(startrecord.Key{ExecutionARN: "arn:aws:states:us-east-1:123456789012:execution:Orders:1", Poller: "Export"}))
	// Output: dynamodb://start-records/jobpoller/arn:aws:states:us-east-1:123456789012:execution:Orders:1/Export/_/record.json
}
