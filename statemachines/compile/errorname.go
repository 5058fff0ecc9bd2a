package compile

import (
	"fmt"
	"maps"
	"slices"

	"github.com/jobpoller/jobpoller/internal/smithy"
	"github.com/jobpoller/jobpoller/pollcore"
)

// shown is how Step Functions shows an error that a waiter names.
type shown struct {
	// names are those of errors that are this one and no other.
	names []string
	// cause tells it from others of the service's own exception, the error of
	// all that have no name; nil if it never is one of them.
	cause glob
}

// A translation is an error without a code that Step Functions names all the
// same: the SDK for Java makes an error of the model of it.
type translation struct {
	service, operation, code string
	shape                    string
	// seen tells that the name was seen on AWS. Until then the HTTP status
	// counts too.
	seen bool
}

// translations are those of S3's answers to HEAD, which have no body. Source:
// aws/aws-sdk-java-v2, services/s3, ExceptionTranslationInterceptor. That of
// HeadBucket was seen on AWS by gabrielmoreira/tiny-asl-machine, Catch-007.
var translations = []translation{
	{service: "s3", operation: "HeadBucket", code: "NotFound", shape: "NoSuchBucket", seen: true},
	{service: "s3", operation: "HeadObject", code: "NotFound", shape: "NoSuchKey"},
}

// findError finds how an error of the polled operation is shown. It is nil if its
// code is not.
func (p *plan) findError(errorType string, v pollcore.Verdict) (*shown, error) {
	op := p.call.Operation
	if p.own != nil {
		return p.findOwnError(errorType)
	}
	code := codeOf(errorType)
	var s shown
	for _, e := range op.Errors {
		switch {
		case e.Shape == code || e.Shape != "" && e.Code == code:
			s.names = append(s.names, op.Service.ErrorName(e.Shape))
		case e.Shape == "" && e.Code == code && e.Status != 0:
			s.cause = glob{fmt.Sprintf("Status Code: %d", e.Status)}
		}
	}
	if len(s.names) > 0 {
		s.cause = nil // the code of another error, too
	}
	for _, t := range translations {
		if s.cause != nil && t.service == op.Service.Key && t.operation == op.Name && t.code == code {
			s.names = append(s.names, op.Service.ErrorName(t.shape))
			if t.seen {
				s.cause = nil
			}
		}
	}
	pattern, given := p.options.CausePatterns[code]
	if len(s.names) > 0 || s.cause != nil {
		if given {
			return nil, fmt.Errorf("the error %s needs no pattern of a Cause: Step Functions gives it a name of its own", code)
		}
		return &s, nil
	}
	// A Retry block does not see a Cause.
	if blind := v == pollcore.Retry && p.retryBlock && p.options.UnmodeledFails; !given && !blind {
		pattern, given = causePatternsOf(op)[code]
	}
	if !given {
		return nil, nil //nolint:nilnil // an error that is not shown is not a mistake
	}
	var err error
	s.cause, err = parseGlob(pattern)
	return &s, err
}

// codeOf is an error type without its namespace.
func codeOf(errorType string) string { return smithy.ShapeName(errorType) }

// checkPatterns refuses patterns of errors that no acceptor names.
func (p *plan) checkPatterns() {
	var named []string
	for _, a := range p.waiter.Acceptors {
		if t := a.Matcher.ErrorType; t != nil {
			named = append(named, codeOf(*t))
		}
	}
	for _, code := range slices.Sorted(maps.Keys(p.options.CausePatterns)) {
		if !slices.Contains(named, code) {
			p.refuse("no acceptor names the error %s, which has a pattern of a Cause", code)
		}
	}
}
