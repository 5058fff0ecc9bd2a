package asl

import (
	"slices"
	"strconv"
	"strings"
)

// httpErrors begin the errors of the integrations that send a request, before the code of its response. Source: the
// developer guide, "Call HTTPS APIs", "Call Amazon API Gateway REST APIs" and "Call Amazon EKS".
var httpErrors = map[string]string{"http": "States.Http.StatusCode.", "apigateway": "ApiGateway.", "eks": "EKS."}

// HTTPError is the error of a request whose response has a code by which it failed. It is empty for a resource that sends no
// request.
func (r Resource) HTTPError(code int) string {
	if prefix := httpErrors[r.Service]; prefix != "" {
		return prefix + strconv.Itoa(code)
	}
	return ""
}

// IsOfRequest tells whether an error, by its name, is that of the request of an HTTP Task: its name begins as those that
// Step Functions reserves, and the service gives it.
func IsOfRequest(name string) bool { return strings.HasPrefix(name, "States.Http.") }

// TooManyRequests is the error of a request that was throttled: it was not carried out.
func (r Resource) TooManyRequests() string { return r.HTTPError(429) } //nolint:mnd // the code has that name

// functionErrors are those of the Lambda service, and not of the function. Source: the developer guide, "Handle transient
// Lambda service exceptions".
var functionErrors = []string{"Lambda.ServiceException", "Lambda.AWSLambdaException", "Lambda.SdkClientException", "Lambda.TooManyRequestsException"}

// passingCodes are the codes of responses after which a request may be made again. Sources: the developer guide, "Call HTTPS
// APIs", and for 500 the SDKs.
var passingCodes = []int{429, 500, 502, 503, 504}

// PassingErrors are the errors of a Task that no model describes, on a Lambda function or an HTTP API, after which it may be
// called again: they say nothing of a job, and pass by themselves. They are nil for any other resource. A request that
// changes something may be made again only after a throttled one.
func (r Resource) PassingErrors(changes bool) []string {
	switch {
	case r.Service == "lambda":
		return slices.Clone(functionErrors)
	case r.Service != "http":
		return nil
	case changes:
		return []string{r.TooManyRequests()}
	}
	names := make([]string, 0, len(passingCodes)+1)
	for _, code := range passingCodes {
		names = append(names, r.HTTPError(code))
	}
	return append(names, "States.Http.Socket") // it has no response
}

// ReadsBy tells whether a request with a method only reads. A method that is not known may change something.
func ReadsBy(method string) bool { return slices.Contains([]string{"GET", "HEAD", "OPTIONS"}, method) }
