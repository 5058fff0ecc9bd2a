package awserror

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"

	"github.com/aws/smithy-go"
)

// Classify returns the class of an error of a call, wrapped or not. It knows the
// errors of the AWS SDK and of net/http, those with a method HTTPStatusCode() int
// or ErrorCode() string, and those of [Mark]. Nil and all others are [Unknown].
//
// Where the SDK's retryer has an opinion that differs, the reasons are:
//
//   - A host that is not found is NotSent, which passes. The SDK does not try it
//     again within seconds; a wait lasts longer than an outage of a name server.
//   - A deadline that has passed is Unclear, for the call may have a limit of its
//     own. Only context.Canceled is Ended.
//   - An error that says RetryableError() false does not pass, whatever its status.
func Classify(err error) Class {
	if own, ok := errors.AsType[*marked](err); ok {
		return own.class
	}
	if isRefusedByClient(err) || WithoutCredentials(err) {
		return Refused
	}
	if notSent(err) {
		return NotSent
	}
	retryable, claims := errors.AsType[interface {
		error
		RetryableError() bool
	}](err)
	if claims && !retryable.RetryableError() {
		return Unknown
	}
	status := statusOf(err)
	class := classify(status, codesOf(err)...)
	switch {
	case class == Throttled:
		return class
	case errors.Is(err, context.DeadlineExceeded):
		return Unclear
	case isCanceled(err):
		return Ended
	case !class.Passes() && (claims || isLostConnection(err)):
		return Unclear
	case class == Unknown && status == 0:
		return classifyFault(err)
	default:
		return class
	}
}

// marked is an error whose class is known where it was made.
type marked struct {
	error

	class Class
}

// Unwrap returns the error that was marked.
func (m *marked) Unwrap() error { return m.error }

// Mark returns err with a class that counts for [Classify], whatever else err
// says: for drivers that know more than a status tells.
func Mark(class Class, err error) error { return &marked{err, class} }

// Passes reports whether the class of an error passes. It fits the option Transient
// of pollcore.Wait.
func Passes(err error) bool { return Classify(err).Passes() }

// WithoutCredentials reports whether an SDK client sent nothing because it got no
// credentials from where it looked last, such as the instance metadata: an
// operation within the operation failed.
func WithoutCredentials(err error) bool {
	operation, ok := errors.AsType[*smithy.OperationError](err)
	if !ok || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return false
	}
	_, nested := errors.AsType[*smithy.OperationError](operation.Err)
	return nested
}

// isRefusedByClient reports whether the SDK found the input wrong and sent nothing.
func isRefusedByClient(err error) bool {
	_, invalid := errors.AsType[smithy.InvalidParamsError](err)
	_, unserializable := errors.AsType[*smithy.SerializationError](err)
	return invalid || unserializable
}

// notSent reports whether an error says by itself that nothing was sent. A reset
// connection does not, and a failed handshake only where this side refused the
// certificate: TLS 1.3 sends data before it knows the other's opinion.
func notSent(err error) bool {
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && (op.Op == "dial" || op.Op == "proxyconnect")
}

// isCanceled reports whether the caller gave up. The SDK has an error of its own
// for that.
func isCanceled(err error) bool {
	_, canceled := errors.AsType[*smithy.CanceledError](err)
	return canceled || errors.Is(err, context.Canceled)
}

// isLostConnection reports whether an error is of the network or of an answer that
// was cut off.
func isLostConnection(err error) bool {
	_, network := errors.AsType[net.Error](err)
	sending, isSending := errors.AsType[interface {
		error
		ConnectionError() bool
	}](err)
	return network || isSending && sending.ConnectionError() || errors.Is(err, io.ErrUnexpectedEOF)
}

// classifyFault returns the class of an error without status and known code, by
// whose fault it is.
func classifyFault(err error) Class {
	api, ok := errors.AsType[smithy.APIError](err)
	switch {
	case ok && api.ErrorFault() == smithy.FaultServer:
		return Fault
	case ok && api.ErrorFault() == smithy.FaultClient:
		return Refused
	default:
		return Unknown
	}
}

// Code returns the code of a service's error, and the empty string for another
// error.
func Code(err error) string {
	if codes := codesOf(err); len(codes) > 0 {
		return codes[0]
	}
	return ""
}

// codesOf returns the codes of an error. Services that spoke the query protocol
// once have two for one error.
func codesOf(err error) (codes []string) {
	for {
		coded, ok := errors.AsType[interface {
			error
			ErrorCode() string
		}](err)
		if !ok {
			return codes
		}
		codes, err = append(codes, coded.ErrorCode()), errors.Unwrap(coded)
	}
}

// statusOf returns the HTTP status of the answer, and 0 if there is none.
func statusOf(err error) int {
	if answered, ok := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](err); ok {
		return answered.HTTPStatusCode()
	}
	return 0
}
