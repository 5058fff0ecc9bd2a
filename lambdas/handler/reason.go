package handler

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/pollcore/startrecord"
)

// maxMembers bounds how many wrong members a reason names.
const maxMembers = 5

// reason says for the log why an invocation failed. It names members, operations
// and codes of errors, and holds no value of a request and no text of a service:
// those stand in the error's message, which only readers of the execution see.
func reason(err error) string {
	if problems, ok := errors.AsType[diag.Problems](err); ok && len(problems) > 0 {
		return wrongMembers(problems, errors.Is(err, jobs.ErrArguments))
	}
	if named, ok := errors.AsType[*Error](err); ok && named.form != "" {
		return named.loggable()
	}
	var parts []string
	for _, known := range []struct {
		is   error
		text string
	}{
		{jobs.ErrUnknownJob, "job: this function has no driver for it"},
		{jobs.ErrNotConfigured, "job: its driver is not configured"},
		{jobs.ErrArguments, "arguments: the job cannot use them"},
		{startrecord.ErrInvalidKey, "the execution, Poller or Scope cannot name a start record"},
		{startrecord.ErrUnavailable, startrecord.ErrUnavailable.Error()},
		{startrecord.ErrConfiguration, startrecord.ErrConfiguration.Error()},
		{startrecord.ErrMalformed, startrecord.ErrMalformed.Error()},
		{startrecord.ErrVersion, startrecord.ErrVersion.Error()},
	} {
		if errors.Is(err, known.is) {
			parts = append(parts, known.text)
		}
	}
	if goerror.Classify(err) == awserror.NotSent {
		parts = append(parts, "nothing was sent")
	}
	if answer := serviceAnswer(err); answer != "" {
		parts = append(parts, answer)
	}
	if len(parts) == 0 {
		return "for details see the Cause of the execution's failure"
	}
	return strings.Join(parts, "; ")
}

// verbs are those of the formats of messages.
var verbs = regexp.MustCompile(`"?%(\[\d+\])?[qsdvw]"?`)

// word is what a message may quote in the log: the name of a variable, of a job, of a class
// of error. Values of a request do not go into formats with one.
type word string

// loggable is the message with the words that it quotes, and without its other values.
func (e *Error) loggable() string {
	n := 0
	return verbs.ReplaceAllStringFunc(e.form, func(verb string) string {
		i := n
		if explicit, _, ok := strings.Cut(strings.TrimPrefix(strings.Trim(verb, `"`), "%["), "]"); ok {
			i, _ = strconv.Atoi(explicit)
			i--
		}
		n = i + 1
		if i < len(e.args) {
			if w, ok := e.args[i].(word); ok {
				return string(w)
			}
		}
		return "..."
	})
}

// wrongMembers names the members at fault.
func wrongMembers(problems diag.Problems, ofArguments bool) string {
	var members []string
	for _, p := range problems[:min(len(problems), maxMembers)] {
		place := p.Pointer
		if ofArguments {
			place = "/arguments" + place
		}
		switch {
		case p.Missing != "":
			members = append(members, place+"/"+p.Missing+" is missing")
		case place == "":
			members = append(members, "the event is wrong")
		default:
			members = append(members, place+" is wrong")
		}
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
	if coded, ok := errors.AsType[interface {
		error
		ErrorCode() string
	}](err); ok {
		words = append(words, coded.ErrorCode())
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
