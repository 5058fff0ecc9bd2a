package s3store_test

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/s3store"
)

func ExampleNew() {
	store, err := s3store.New(s3.New(s3.Options{Region: "us-east-1"}), "start-records", "jobpoller")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(store.Location(startrecord.Key{ExecutionARN: "arn:aws:states:us-east-1:123456789012:execution:Orders:1", Poller: "Export"}))
	// Output: s3://start-records/jobpoller/arn:aws:states:us-east-1:123456789012:execution:Orders:1/Export/_/record.json
}
