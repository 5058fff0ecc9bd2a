package catalog

import (
	"slices"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
)

// Throttling returns the errors by which nothing but throttled calls of an operation arrive: those that its model
// declares, and the service's own exception of the code by which AWS denies calls that are too frequent, where
// another of its operations declares that. The AWS SDK for Java, which Step Functions uses, knows each exception
// of a service in the answers of all its operations (registerModeledExceptions of its generated clients).
func (o *Operation) Throttling() []Error {
	errors := o.Errors
	if own := o.Service.Throttled; own != nil {
		errors = append(slices.Clone(errors), *own)
	}
	var all []Error
	for _, e := range errors {
		if e.Shape == "" || awserror.IsOfAnother(e.Shape) || awserror.IsLimit(e.Shape) || awserror.ClassifyAnswer(e.Status, e.Shape) != awserror.Throttled {
			continue
		}
		if !slices.ContainsFunc(all, func(known Error) bool { return known.Shape == e.Shape }) {
			all = append(all, e)
		}
	}
	return all
}
