package asl

// stateFields is every field that some type of state has: one of them in the
// wrong place is not a misspelling.
var stateFields = []string{
	"Type", "Comment", "QueryLanguage", "InputPath", "OutputPath", "Next", "End", "Resource", "Parameters", "ResultSelector",
	"ResultPath", "Retry", "Catch", "TimeoutSeconds", "TimeoutSecondsPath", "HeartbeatSeconds", "HeartbeatSecondsPath",
	"Seconds", "Timestamp", "SecondsPath", "TimestampPath", "Choices", "Default", "Result", "Error", "Cause", "ErrorPath",
	"CausePath", "StartAt", "States", "Branches", "ItemProcessor", "Iterator", "Arguments", "Output", "Assign", "Credentials",
	"Items", "ItemsPath", "ItemSelector", "MaxConcurrency", "MaxConcurrencyPath", "ItemBatcher", "ItemReader", "ResultWriter",
	"ToleratedFailureCount", "ToleratedFailureCountPath", "ToleratedFailurePercentage", "ToleratedFailurePercentagePath",
	"Label", "Condition", "Variable",
}

// jsonPathFields and jsonataFields are the fields of one query language only.
var (
	jsonPathFields = []string{
		"InputPath", "OutputPath", "Parameters", "ResultSelector", "ResultPath", "TimeoutSecondsPath", "HeartbeatSecondsPath",
		"SecondsPath", "TimestampPath", "ErrorPath", "CausePath", "ItemsPath", "MaxConcurrencyPath", "Result",
		"ToleratedFailureCountPath", "ToleratedFailurePercentagePath", "MaxItemsPath", "MaxItemsPerBatchPath",
		"MaxInputBytesPerBatchPath", "Variable",
	}
	jsonataFields = []string{"Arguments", "Output", "Items", "Condition"}
)
