// Package goerror reads what the errors of the AWS SDK for Go and of net/http mean, by
// the classes of package awserror.
//
//	switch class := goerror.Classify(err); {
//	case class.Passes(): // try again later
//	case class.MayHaveActed(): // look before you start a second job
//	default: // tell the caller what the service refused
//	}
package goerror

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
)

// Classify returns the class of an error of a call, wrapped or not. It knows the
// errors of the AWS SDK and of net/http, those with a method HTTPStatusCode() int
// or ErrorCode() string, and those of [Mark]. Nil and all others are
// [awserror.Unknown].
//
// Where the SDK's retryer has an opinion that differs, the reasons are:
//
//   - A host that is not found is NotSent, which passes. The SDK does not try it
//     again within seconds; a wait lasts longer than an outage of a name server.
//   - A deadline that has passed is Unclear, for the call may have a limit of its
//     own. Only context.Canceled is Ended.
//   - An error that says RetryableError() false does not pass, whatever its status.
func Classify(err error) awserror.Class {
	all := unwrap(err)
	if own, ok := find[*marked](all); ok {
		return own.class
	}
	if all.isRefusedByClient() || all.lacksCredentials() {
		return awserror.Refused
	}
	if all.notSent() {
		return awserror.NotSent
	}
	retryable, claims := find[interface {
		error
		RetryableError() bool
	}](all)
	if claims && !retryable.RetryableError() {
		return awserror.Unknown
	}
	status := all.status()
	class := awserror.ClassifyAnswer(status, all.codes()...)
	switch {
	case class == awserror.Throttled:
		return class
	case all.has(context.DeadlineExceeded):
		return awserror.Unclear
	case all.isCanceled():
		return awserror.Ended
	case !class.Passes() && (claims || all.isLostConnection()):
		return awserror.Unclear
	case class == awserror.Unknown && status == 0:
		return all.classifyFault()
	default:
		return class
	}
}

// marked is an error whose class is known where it was made.
type marked struct {
	error

	class awserror.Class
}

// Unwrap returns the error that was marked.
func (m *marked) Unwrap() error { return m.error }

// Mark returns err with a class that counts for [Classify], whatever else err
// says: for drivers that know more than a status tells. It returns nil for nil.
func Mark(class awserror.Class, err error) error {
	if err == nil {
		return nil
	}
	return &marked{err, class}
}

// Passes reports whether the class of an error passes. It fits the option Transient
// of pollcore.Wait.
func Passes(err error) bool { return Classify(err).Passes() }

// WithoutCredentials reports whether an SDK client sent nothing because it got no
// credentials from where it looked last, such as the instance metadata: an
// operation within the operation failed.
func WithoutCredentials(err error) bool { return unwrap(err).lacksCredentials() }

func (all wrapped) lacksCredentials() bool {
	operation, ok := find[*smithy.OperationError](all)
	if !ok || all.has(context.DeadlineExceeded) || all.has(context.Canceled) {
		return false
	}
	_, nested := find[*smithy.OperationError](unwrap(operation.Err))
	return nested
}

// isRefusedByClient reports whether the SDK found the input wrong and sent nothing.
func (all wrapped) isRefusedByClient() bool {
	_, invalid := find[smithy.InvalidParamsError](all)
	_, unserializable := find[*smithy.SerializationError](all)
	return invalid || unserializable
}

// notSent reports whether an error says by itself that nothing was sent. A reset
// connection does not, and a failed handshake only where this side refused the
// certificate: TLS 1.3 sends data before it knows the other's opinion.
func (all wrapped) notSent() bool {
	if _, ok := find[*net.DNSError](all); ok {
		return true
	}
	if _, ok := find[*tls.CertificateVerificationError](all); ok {
		return true
	}
	op, ok := find[*net.OpError](all)
	return ok && (op.Op == "dial" || op.Op == "proxyconnect")
}

// isCanceled reports whether the caller gave up. The SDK has an error of its own
// for that.
func (all wrapped) isCanceled() bool {
	_, canceled := find[*smithy.CanceledError](all)
	return canceled || all.has(context.Canceled)
}

// isLostConnection reports whether an error is of the network or of an answer that
// was cut off.
func (all wrapped) isLostConnection() bool {
	_, network := find[net.Error](all)
	sending, isSending := find[interface {
		error
		ConnectionError() bool
	}](all)
	return network || isSending && sending.ConnectionError() || all.has(io.ErrUnexpectedEOF)
}

// classifyFault returns the class of an error without status and known code, by
// whose fault it is.
func (all wrapped) classifyFault() awserror.Class {
	api, ok := find[smithy.APIError](all)
	switch {
	case ok && api.ErrorFault() == smithy.FaultServer:
		return awserror.Fault
	case ok && api.ErrorFault() == smithy.FaultClient:
		return awserror.Refused
	default:
		return awserror.Unknown
	}
}

// Code returns the code of a service's error, and the empty string for another
// error.
func Code(err error) string {
	if codes := unwrap(err).codes(); len(codes) > 0 {
		return codes[0]
	}
	return ""
}

// ReadDenial is [awserror.ReadDenial] of a service's error. It reports false for others.
func ReadDenial(err error) (awserror.Denial, bool) {
	said, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return awserror.Denial{}, false
	}
	return awserror.ReadDenial(Code(err), said.ErrorMessage())
}

// codes returns the codes of an error. Services that spoke the query protocol once
// have two for one error.
func (all wrapped) codes() (codes []string) {
	for range maxWrapped {
		coded, ok := find[interface {
			error
			ErrorCode() string
		}](all)
		if !ok {
			break
		}
		codes, all = append(codes, coded.ErrorCode()), unwrap(errors.Unwrap(coded))
	}
	return codes
}

// status returns the HTTP status of the answer, and 0 if there is none.
func (all wrapped) status() int {
	if answered, ok := find[interface {
		error
		HTTPStatusCode() int
	}](all); ok {
		return answered.HTTPStatusCode()
	}
	return 0
}
