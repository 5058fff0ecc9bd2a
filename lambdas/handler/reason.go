package handler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/access"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// maxMembers bounds how many wrong members a reason names.
const maxMembers = 5

// word is text of ours in a message: the name of a variable, a member or a job, or the
// place of a record. Logs show it.
type word = diag.Word

// reason says for the log why an invocation failed. It is made of words of ours, and of
// codes, operations and permissions of services. It holds no value of a request and no
// text of a service: those stand in the error's message, which only readers of the
// execution see. Where a text comes from decides, not what it looks like.
func reason(err error) string {
	text := causeOf(err)
	if named, ok := errors.AsType[*Error](err); ok && named.ownWords != "" {
		text = named.ownWords
	}
	return cut(cmp.Or(text, "for details see the Cause of the execution's failure"), maxReason)
}

// causeOf says in our words what an error of another package means; empty if nothing is
// known.
func causeOf(err error) string {
	if err == nil {
		return ""
	}
	if problems, ok := errors.AsType[diag.Problems](err); ok && len(problems) > 0 {
		return wrongMembers(problems, errors.Is(err, jobs.ErrArguments))
	}
	var parts []string
	if own, ok := errors.AsType[interface {
		error
		OwnWords() string
	}](err); ok {
		parts = append(parts, own.OwnWords())
	} else {
		for _, kind := range []error{
			startrecord.ErrInvalidKey, startrecord.ErrUnavailable, startrecord.ErrConfiguration, startrecord.ErrMalformed, startrecord.ErrVersion,
		} {
			if errors.Is(err, kind) {
				parts = append(parts, kind.Error())
			}
		}
	}
	if errors.Is(err, jobs.ErrArguments) {
		parts = append(parts, "arguments: the job cannot use them")
	}
	if goerror.Classify(err) == awserror.NotSent {
		parts = append(parts, "nothing was sent")
	}
	if answer := serviceAnswer(err); answer != "" {
		parts = append(parts, answer)
	}
	return strings.Join(parts, "; ")
}

// wrongMembers says what is wrong with which members.
func wrongMembers(problems diag.Problems, ofArguments bool) string {
	var members []string
	for _, p := range problems[:min(len(problems), maxMembers)] {
		place := p.Pointer
		if ofArguments {
			place = "/arguments" + place
		}
		if place == "" {
			place = "the event"
		}
		if p.OwnWords == "" {
			p.OwnWords = "it is wrong"
		}
		told := diag.Problem{Pointer: place, Message: p.OwnWords, Suggestion: p.Suggestion}
		members = append(members, told.String())
	}
	if more := len(problems) - len(members); more > 0 {
		members = append(members, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(members, "; ")
}

// serviceAnswer says what a service, or its silence, meant, without its text.
func serviceAnswer(err error) string {
	var words []string
	if operation, ok := errors.AsType[*smithy.OperationError](err); ok {
		words = append(words, operation.Service(), operation.Operation())
	}
	if code := goerror.Code(err); code != "" {
		words = append(words, code)
	}
	if answered, ok := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](err); ok && answered.HTTPStatusCode() != 0 {
		words = append(words, fmt.Sprintf("(HTTP %d)", answered.HTTPStatusCode()))
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		words = append(words, "no answer in time")
	case errors.Is(err, context.Canceled):
		words = append(words, "given up")
	}
	return strings.Join(words, " ")
}

// causeInDriver is causeOf the error of a driver's call. Of an error that says nothing in
// words of ours it has the Go type.
func causeInDriver(err error) string {
	if err == nil {
		return ""
	}
	kind := fmt.Sprintf("%T", err)
	for inner := errors.Unwrap(err); inner != nil && strings.HasPrefix(kind, "*fmt."); inner = errors.Unwrap(inner) {
		kind = fmt.Sprintf("%T", inner)
	}
	return cmp.Or(causeOf(err), "the driver's error has no code (Go type "+kind+")")
}

// refusal is causeInDriver, and says what to do if access was denied.
func refusal(err error, driver jobs.Driver, purpose access.Purpose) string {
	cause := causeInDriver(err)
	denial, ok := goerror.ReadDenial(err)
	if !ok && !awserror.IsPermissionCode(goerror.Code(err)) {
		return cause
	}
	cause += "; " + denial.Advice("the function's role", permissionsFor(driver, purpose))
	if denial.Permission == "" {
		cause += ", unless the Cause names another permission"
	}
	return cause
}

// permissionsFor are those that the driver says its call needs.
func permissionsFor(driver jobs.Driver, purpose access.Purpose) string {
	var actions []string
	for _, p := range driver.Permissions() {
		if p.For == purpose && !p.Dependent && !p.Optional && !slices.Contains(actions, p.Action) {
			actions = append(actions, p.Action)
		}
	}
	return cmp.Or(strings.Join(actions, ", "), "what the "+string(purpose)+" call needs")
}
