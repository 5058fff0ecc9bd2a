package awserror_test

import (
	"fmt"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
)

func ExampleClassifyName() {
	fmt.Println(awserror.ClassifyName("Athena.InternalServerException", ""))
	fmt.Println(awserror.ClassifyName("S3.S3Exception", "Not Found (Service: S3, Status Code: 404, Request ID: 1)"))
	// Output:
	// fault
	// refused
}
