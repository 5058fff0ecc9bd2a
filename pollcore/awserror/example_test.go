package awserror_test

import (
	"fmt"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
)

func ExampleClassify() {
	err := fmt.Errorf("start the query: %w", &smithy.GenericAPIError{Code: "ThrottlingException"})
	class := awserror.Classify(err)
	fmt.Println(class, class.Passes(), class.MayHaveActed())
	// Output: throttled true false
}

func ExampleClassifyName() {
	fmt.Println(awserror.ClassifyName("Athena.InternalServerException", ""))
	fmt.Println(awserror.ClassifyName("S3.S3Exception", "Not Found (Service: S3, Status Code: 404, Request ID: 1)"))
	// Output:
	// fault
	// refused
}
