package awserror

import (
	"strconv"
	"strings"
)

// names are the classes of the error names of Step Functions that no code and no
// status tells. Source: the developer guide of Step Functions, "Handling errors".
var names = map[string]Class{
	"Lambda.AWSLambdaException": Fault,   // of the Lambda service; the guide has it retried
	"Lambda.Unknown":            Unclear, // the function ran out of time or memory
	"Runtime.ExitError":         Unclear, // the function's process ended
	"States.Http.Socket":        Unclear, // an HTTP Task has no answer
	"States.Permissions":        Refused,
}

// ClassifyName returns the class of an error of a Task by the name that Step
// Functions gives it, such as DynamoDb.ThrottlingException, States.TaskFailed,
// Lambda.Unknown or States.Http.StatusCode.503, and by its cause, which may be
// empty. A name without a prefix is of a Lambda function itself and Unknown.
func ClassifyName(name, cause string) Class {
	prefix, code, prefixed := cutLast(name, '.')
	if !prefixed {
		return Unknown
	}
	status, hidden := readCause(cause)
	if number, err := strconv.Atoi(code); err == nil { // States.Http.StatusCode.503, ApiGateway.429
		return classifyStatus(number)
	}
	if class, ok := names[name]; ok && status == 0 {
		return class
	}
	if ofService(prefix, code) || name == "States.TaskFailed" {
		if code = hidden; code == "" && (status == badRequest || status == forbidden) {
			return Unknown // with these, services throttle too
		}
	}
	return ClassifyAnswer(status, code)
}

// ofService reports whether the name is that of all errors of the service whose
// codes Step Functions does not show: Athena.AthenaException, and in the older
// integrations Athena.AmazonAthenaException and Glue.AWSGlueException.
func ofService(prefix, code string) bool {
	name, ok := strings.CutSuffix(strings.ToLower(code), "exception")
	name = strings.TrimPrefix(strings.TrimPrefix(name, "amazon"), "aws")
	return ok && name == strings.ToLower(prefix)
}

// readCause returns the HTTP status and the code that the SDK for Java writes at
// the end of a cause: "(Service: Athena, Status Code: 400, Request ID: ...)" or
// "(Service: AWSGlue; Status Code: 400; Error Code: ThrottlingException; ...)".
func readCause(cause string) (status int, code string) {
	start := strings.LastIndex(cause, "(Service: ")
	if start < 0 {
		return 0, ""
	}
	for part := range strings.FieldsFuncSeq(cause[start:], func(r rune) bool { return strings.ContainsRune("(),;", r) }) {
		switch name, value, _ := strings.Cut(strings.TrimSpace(part), ": "); name {
		case "Status Code":
			status, _ = strconv.Atoi(value)
		case "Error Code":
			code = value
		}
	}
	return status, code
}

// cutLast cuts s at the last separator.
func cutLast(s string, separator byte) (before, after string, found bool) {
	if i := strings.LastIndexByte(s, separator); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return "", s, false
}
