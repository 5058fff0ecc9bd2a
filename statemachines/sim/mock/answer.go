package mock

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"github.com/jobpoller/jobpoller/internal/javasdk"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/sim"
)

// Answer is what a service answers a call with that fails.
type Answer struct {
	// Code is the name of the error, and Other the second one of a service that has
	// two.
	Code, Other string
	Message     string
	Status      int    // HTTP; 400 if it is 0
	RequestID   string // a made-up one if it is empty
}

// ServiceFailure is the failure of a Task whose service refuses the call of the
// operation, as Step Functions shows it. An error that the model does not declare
// has the name of the service alone.
func ServiceFailure(resource string, op *catalog.Operation, a Answer) *sim.TaskError {
	a.Status, a.RequestID = cmp.Or(a.Status, http.StatusBadRequest), cmp.Or(a.RequestID, requestID)
	r := asl.ParseResource(resource)
	declared := findDeclared(op, a)
	if r.ErrorPrefix() != "" {
		name := javasdk.ServiceException(op.Service.Name)
		if declared != "" {
			name = javasdk.ExceptionName(op.Service.Name, declared)
		}
		return serviceError{name, a.Status}.failure(r.ErrorPrefix(), a.Message, a.RequestID)
	}
	known := classOf(r, op)
	if declared != "" {
		known.name = prefixOf(known.name) + "." + javasdk.ExceptionName(op.Service.Name, declared)
	}
	known.code, known.status = a.Code, a.Status
	return known.failure(a.Message, a.RequestID)
}

// ClientFailure is the failure of a Task whose service could not be reached.
func ClientFailure(resource string, op *catalog.Operation, message string) *sim.TaskError {
	r := asl.ParseResource(resource)
	return &sim.TaskError{
		Name:  cmp.Or(r.ErrorPrefix(), prefixOf(classOf(r, op).name)) + ".SdkClientException",
		Cause: fmt.Sprintf("Unable to execute HTTP request: %s (SDK Attempt Count: 1)", message),
	}
}

// findDeclared is the shape of the error in the model: of the operation, or of the
// whole service where that speaks the query protocol. Empty if there is none.
func findDeclared(op *catalog.Operation, a Answer) string {
	find := func(o *catalog.Operation) string {
		for _, e := range o.Errors {
			for _, code := range []string{a.Code, a.Other} {
				if code != "" && e.Shape != "" && (code == e.Shape || code == e.Code) {
					return e.Shape
				}
			}
		}
		return ""
	}
	if shape := find(op); shape != "" || op.Service.Protocols[0] != "query" {
		return shape
	}
	for _, o := range op.Service.Operations {
		if shape := find(o); shape != "" {
			return shape
		}
	}
	return ""
}

// prefixOf is what stands before the dot of an error's name.
func prefixOf(name string) string {
	prefix, _, _ := strings.Cut(name, ".")
	return prefix
}

// classOf is the class of all errors of an integration that AWS made for
// Step Functions.
func classOf(r asl.Resource, op *catalog.Operation) classError {
	if known, ok := optimizedThrottling[r.Service]; ok {
		known.name = prefixOf(r.ThrottleName()) + "." + strings.TrimSuffix(known.service, "v2") + "Exception"
		return known
	}
	prefix := op.Service.ErrorPrefix
	return classError{name: prefix + "." + javasdk.ServiceException(op.Service.Name), service: prefix}
}

// classError is an error of an integration that AWS made for Step Functions. Its
// name is that of a class of the AWS SDK for Java v1.
type classError struct {
	name, service, code string
	status              int
}

// failure is the error as Step Functions shows it.
func (e classError) failure(message, request string) *sim.TaskError {
	return &sim.TaskError{Name: e.name, Cause: fmt.Sprintf("%s (Service: %s; Status Code: %d; Error Code: %s; Request ID: %s; Proxy: null)",
		message, e.service, e.status, e.code, request)}
}
