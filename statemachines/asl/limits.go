package asl

import "time"

// The limits of Step Functions, each stated here once. Where no other source is
// named, they are those of
// https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html.
const (
	// MaxDefinitionBytes is the size of the largest definition.
	MaxDefinitionBytes = 1 << 20
	// MaxNameLength is how many characters the name of a state, a variable, an
	// execution or a state machine may have.
	MaxNameLength = 80
	// MaxSeconds is the largest number of seconds in a definition, about three
	// years. It also bounds MaxAttempts of a retrier.
	MaxSeconds = 99_999_999
	// maxRetryDelaySeconds is the largest MaxDelaySeconds of a retrier, 366 days.
	maxRetryDelaySeconds = 31_622_400
	// MaxWaitAhead is how far ahead the time of a Wait with Timestamp may be: 2^31
	// - 1 seconds.
	MaxWaitAhead = (1<<31 - 1) * time.Second

	// MaxEvents is how many events the history of an execution may have. An
	// execution that needs one more fails; that failure is the last event.
	MaxEvents = 25_000
	// MaxPayloadBytes is the size of the largest input, output or task argument,
	// in bytes of UTF-8. It also bounds what one Assign sets and
	// MaxInputBytesPerBatch.
	MaxPayloadBytes = 256 << 10
	// MaxVariableBytes is the size of all variables of an execution.
	MaxVariableBytes = 10 << 20
	// MaxCauseLength is how many characters the cause of a failure may have
	// (https://docs.aws.amazon.com/step-functions/latest/apireference/API_DescribeExecution.html).
	MaxCauseLength = 32_768

	// MaxStandardTime and MaxExpressTime are how long an execution may last.
	MaxStandardTime = 365 * 24 * time.Hour
	MaxExpressTime  = 5 * time.Minute
	// MaxOpenExecutions is how many executions of an account in a region may run at the
	// same time.
	MaxOpenExecutions = 1_000_000
	// RedriveWindow is how long after its end an execution can be redriven
	// (https://docs.aws.amazon.com/step-functions/latest/dg/redrive-executions.html).
	RedriveWindow = 14 * 24 * time.Hour

	// MaxMapConcurrency is how many iterations of an inline Map run at the same
	// time, and MaxMapRunConcurrency how many child executions of a distributed
	// one.
	MaxMapConcurrency    = 40
	MaxMapRunConcurrency = 10_000
	// MaxOpenMapRuns is how many runs of distributed Maps of an account in a region may
	// be open, and MapRunStartsPerSecond how many child executions one starts in a second
	// as Standard workflows.
	MaxOpenMapRuns        = 1_000
	MapRunStartsPerSecond = 100
	// maxLabelLength is how many characters the Label of a Map may have.
	maxLabelLength = 40
)
