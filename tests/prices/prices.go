// Package prices has what AWS asks for in us-east-1, in USD without the free tier, apart
// from the transitions of package asl.
package prices

// Of Lambda, on arm64: an invocation, and a gigabyte of memory for a second
// (https://aws.amazon.com/lambda/pricing/). MemoryGB and Seconds are those of an
// invocation of run-job or check-status.
const (
	Invocation = 0.20 / 1e6
	GBSecond   = 0.0000133334

	MemoryGB = 0.125
	Seconds  = 0.1
)

// Of S3: a PUT and a GET (https://aws.amazon.com/s3/pricing/).
const (
	S3Write = 5.00 / 1e6
	S3Read  = 0.40 / 1e6
)

// Of DynamoDB's on-demand mode: a write of up to a kibibyte, which counts twice in a
// transaction, and a consistent read of up to four
// (https://aws.amazon.com/dynamodb/pricing/on-demand/).
const (
	DynamoDBWrite = 0.625 / 1e6
	DynamoDBRead  = 0.125 / 1e6
)

// SQSRequest is a request of a standard queue of SQS, of up to ten messages
// (https://aws.amazon.com/sqs/pricing/).
const SQSRequest = 0.40 / 1e6

// Function is what an invocation of a Lambda function costs that takes some seconds.
func Function(seconds float64) float64 { return Invocation + MemoryGB*seconds*GBSecond }
