package goerror_test

import (
	"fmt"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

func ExampleClassify() {
	err := fmt.Errorf("start the query: %w", &smithy.GenericAPIError{Code: "ThrottlingException"})
	class := goerror.Classify(err)
	fmt.Println(class, class.Passes(), class.MayHaveActed())
	// Output: throttled true false
}
