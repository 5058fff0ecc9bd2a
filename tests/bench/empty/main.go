// Command empty is a Lambda function that does nothing: the peer of the others.
package main

import "github.com/aws/aws-lambda-go/lambda"

func main() { lambda.Start(func() {}) }
