// Package remedy says of an error of a store's client whether it passes, and else
// what to do about it.
package remedy

import (
	"errors"
	"net/http"

	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// Explain returns err as startrecord.ErrUnavailable if it may pass by itself, else
// as startrecord.ErrConfiguration with what to do about it. Refused says that
// of the codes and HTTP statuses that the service has of its own, and returns
// the empty string for those that pass.
func Explain(err error, location string, refused func(code string, status int) string) error {
	failure := &startrecord.StoreError{Kind: startrecord.ErrUnavailable, Location: location, Remedy: find(err, refused), Err: err}
	if failure.Remedy != "" {
		failure.Kind = startrecord.ErrConfiguration
	}
	return failure
}

// find returns what to do about an error that does not pass by itself, and the
// empty string for one that may.
func find(err error, refused func(code string, status int) string) string {
	if goerror.WithoutCredentials(err) {
		return "no usable AWS credentials; configure them or give the function a role"
	}
	if goerror.Passes(err) {
		return ""
	}
	response, answered := errors.AsType[*smithyhttp.ResponseError](err)
	if !answered {
		return "the request could not be made; check the region and the endpoint"
	}
	code := goerror.Code(err)
	switch {
	case awserror.IsCredentialsCode(code):
		return "the AWS credentials are not valid; renew them"
	case code == "RequestTimeTooSkewed":
		return "the clock of this machine is wrong; correct it"
	}
	if denial, ok := goerror.ReadDenial(err); ok && (denial.Explicit || denial.Policy != "") { // no grant helps
		return "access denied; " + denial.Advice("", "the call")
	}
	switch status := response.HTTPStatusCode(); {
	case status < http.StatusMultipleChoices: // a good answer that cannot be read
		return ""
	case status == http.StatusConflict, status == http.StatusPreconditionFailed: // what a condition meets
		return ""
	case status == http.StatusNotImplemented:
		return "the endpoint does not implement what start records need; use another one"
	default:
		return refused(code, status)
	}
}
