package sim

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// LambdaFunction is a Lambda function as Step Functions sees it: the payload
// in, the result out, both JSON. A *FunctionError is a failed invocation, and a
// *TaskError a call that Lambda did not answer with one; any other error ends Run
// with a Go error. A result that is not JSON fails the Task with Lambda.Unknown.
type LambdaFunction func(ctx context.Context, payload []byte) ([]byte, error)

// FunctionError is what a Lambda function failed with. Type becomes the error name
// of the Task, and is empty if Lambda knows none. Payload is the cause: what the
// function returned in place of a result, or {"errorMessage","errorType"} if it is
// nil.
type FunctionError struct {
	Type, Message string
	Payload       []byte
}

func (e *FunctionError) Error() string { return e.Type + ": " + e.Message }

// ReadFunctionError reads what a function returned in place of a result.
func ReadFunctionError(payload []byte) *FunctionError {
	e := &FunctionError{Payload: payload}
	var members map[string]any
	if json.Unmarshal(payload, &members) == nil {
		e.Type, _ = members["errorType"].(string)
		e.Message, _ = members["errorMessage"].(string)
	}
	return e
}

// Failure is the failure of the Task that invoked the function.
func (e *FunctionError) Failure() *TaskError {
	payload := e.Payload
	if payload == nil {
		payload, _ = json.Marshal(struct {
			ErrorMessage string `json:"errorMessage"`
			ErrorType    string `json:"errorType,omitempty"`
		}{e.Message, e.Type}) // texts always encode
	}
	if e.Type == "" {
		return &TaskError{
			Name:  "Lambda.Unknown",
			Cause: cutCause("The cause could not be determined because Lambda did not return an error type. Returned payload: " + string(payload)),
		}
	}
	return &TaskError{Name: e.Type, Cause: cutCause(string(payload))}
}

// latestVersion is the version of a function that is called by no other.
const latestVersion = "$LATEST"

// lambdaArguments is what a Task of "arn:aws:states:::lambda:invoke" takes.
var lambdaArguments = []string{"FunctionName", "Payload", "Qualifier", "InvocationType", "LogType"}

// LambdaInvoke returns the handler of "arn:aws:states:::lambda:invoke" for
// functions by name. FunctionName may be a name, a partial or a full ARN, with
// or without a qualifier. The result has AWS's envelope around Payload. An
// unknown function fails the Task with Lambda.ResourceNotFoundException, and
// the cause names the functions there are.
func LambdaInvoke(functions map[string]LambdaFunction) Handler {
	return func(ctx context.Context, call Call) (Reply, error) {
		arguments, err := readLambdaArguments(call.Arguments)
		if err != nil {
			return Reply{}, err
		}
		name, version := FunctionName(arguments["FunctionName"])
		if q := arguments["Qualifier"]; q != "" {
			version = q
		}
		function := functions[name]
		if function == nil {
			return Reply{}, functionNotFound(call, name, version, functions)
		}
		payload, failed := lambdaPayload(call.Arguments.(map[string]any)["Payload"])
		if failed != nil {
			return Reply{}, failed
		}
		result, output, err := invokeLambda(ctx, function, payload)
		if err != nil {
			return Reply{}, err
		}
		return Reply{Output: lambdaEnvelope(output, len(result), version, requestID(call))}, nil
	}
}

// readLambdaArguments returns the arguments that are strings, checked.
func readLambdaArguments(arguments any) (map[string]string, error) {
	object, ok := arguments.(map[string]any)
	if !ok {
		return nil, errors.New("lambda:invoke needs an object with FunctionName and Payload")
	}
	texts := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(lambdaArguments, name) {
			return nil, fmt.Errorf("lambda:invoke argument %q is not supported; use one of %s", name, strings.Join(lambdaArguments, ", "))
		}
		if name == "Payload" {
			continue
		}
		if texts[name], ok = object[name].(string); !ok {
			return nil, fmt.Errorf("lambda:invoke argument %q must be a string", name)
		}
	}
	for name, only := range map[string]string{"InvocationType": "RequestResponse", "LogType": "None"} {
		if value := texts[name]; value != "" && value != only {
			return nil, fmt.Errorf("lambda:invoke argument %s %q is not supported, only %q", name, value, only)
		}
	}
	if texts["FunctionName"] == "" {
		return nil, errors.New("lambda:invoke needs the argument \"FunctionName\"")
	}
	return texts, nil
}

// LambdaDirect returns the handler of a Task whose resource is the ARN of the
// function: the input is the payload, and the result is the output.
func LambdaDirect(function LambdaFunction) Handler {
	return func(ctx context.Context, call Call) (Reply, error) {
		_, output, err := invokeLambda(ctx, function, slices.Clone(newPayload(call.Arguments).JSON()))
		return Reply{Output: output}, err
	}
}

// invokeLambda calls a function, and decodes its result. A failed invocation is the
// failure of the Task.
func invokeLambda(ctx context.Context, function LambdaFunction, payload []byte) (result []byte, output any, err error) {
	if result, err = function(ctx, payload); err != nil {
		if failed, ok := errors.AsType[*FunctionError](err); ok {
			err = failed.Failure()
		}
		return nil, nil, err
	}
	if len(result) == 0 {
		result = []byte("null")
	}
	if output, err = decode(result); err != nil {
		return nil, nil, (&FunctionError{Payload: result}).Failure()
	}
	return result, output, nil
}

// FunctionName splits "name", "name:qualifier", "account:function:name..." and
// "arn:aws:lambda:region:account:function:name..." into name and version.
func FunctionName(reference string) (name, version string) {
	if _, after, ok := strings.Cut(reference, ":function:"); ok {
		reference = after
	}
	name, version, ok := strings.Cut(reference, ":")
	if !ok {
		version = latestVersion
	}
	return name, version
}

func functionNotFound(call Call, name, version string, functions map[string]LambdaFunction) *TaskError {
	const region, account = 3, 4
	var arn []string
	if execution, ok := call.Context["Execution"].(map[string]any); ok {
		id, _ := execution["Id"].(string)
		arn = strings.Split(id, ":")
	}
	where := DefaultRegion + ":" + DefaultAccount
	if len(arn) > account {
		where = arn[region] + ":" + arn[account]
	}
	there := "there are no functions"
	if len(functions) > 0 {
		there = "there are " + strings.Join(slices.Sorted(maps.Keys(functions)), ", ")
	}
	return &TaskError{
		Name: "Lambda.ResourceNotFoundException",
		Cause: fmt.Sprintf("Function not found: arn:aws:lambda:%s:function:%s:%s (Service: AWSLambda; Status Code: 404; "+
			"Error Code: ResourceNotFoundException; Request ID: %s; Proxy: null); %s", where, name, version, requestID(call), there),
	}
}

// lambdaPayload returns the text that the function gets. As at AWS, a string
// is the text itself and not a JSON string of it, and null is an empty object.
func lambdaPayload(value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return []byte("{}"), nil
	case string:
		if !json.Valid([]byte(v)) {
			return nil, &TaskError{
				Name: "Lambda.InvalidRequestContentException",
				Cause: "Could not parse request body into json: the Payload is a string that is not JSON text " +
					"(Service: AWSLambda; Status Code: 400; Error Code: InvalidRequestContentException)",
			}
		}
		return []byte(v), nil
	default:
		return slices.Clone(newPayload(v).JSON()), nil
	}
}

// lambdaEnvelope is the result of lambda:invoke around a function's own.
func lambdaEnvelope(payload any, size int, version, request string) map[string]any {
	headers := map[string]any{
		"Connection": "keep-alive", "Content-Length": strconv.Itoa(size), "Content-Type": "application/json",
		"X-Amz-Executed-Version": version, "x-amzn-Remapped-Content-Length": "0", "x-amzn-RequestId": request,
	}
	all := make(map[string]any, len(headers))
	for name, value := range headers {
		all[name] = []any{value}
	}
	status := json.Number(strconv.Itoa(http.StatusOK))
	return map[string]any{
		"ExecutedVersion":     version,
		"Payload":             payload,
		"SdkHttpMetadata":     map[string]any{"AllHttpHeaders": all, "HttpHeaders": headers, "HttpStatusCode": status},
		"SdkResponseMetadata": map[string]any{"RequestId": request},
		"StatusCode":          status,
	}
}

// requestID makes up the id of a request: the same for the same call, so that
// runs repeat.
func requestID(call Call) string {
	sum := sha256.Sum256(newPayload([]any{call.Context, json.Number(strconv.Itoa(call.RetryCount))}).JSON())
	sum[6], sum[8] = sum[6]&0x0f|0x40, sum[8]&0x3f|0x80 // version 4, variant 1
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}
