package retry

import (
	"fmt"
	"time"
)

// ErrorType is the class of an error that may pass. A strategy may treat the
// classes differently: [StandardTokenBucket] charges them differently.
type ErrorType uint8

// The classes of the retry design.
const (
	// ServerSide is a fault of the service.
	ServerSide ErrorType = iota + 1
	// ClientSide is a fault on the way to the service: a lost connection, or
	// an error of the request that the service says may pass.
	ClientSide
	// Throttling is a request refused because there were too many.
	Throttling
	// Timeout is a request without an answer in time.
	Timeout
)

// String names the class.
func (t ErrorType) String() string {
	switch t {
	case ServerSide:
		return "server-side"
	case ClientSide:
		return "client-side"
	case Throttling:
		return "throttling"
	case Timeout:
		return "timeout"
	default:
		return fmt.Sprintf("error type %d", uint8(t))
	}
}

// Directive is what a policy tells a strategy to do after a try. Directives
// are compared with ==. The zero value is [TerminateAndFail].
type Directive struct {
	kind   directiveKind
	reason ErrorType
	timed  bool
	delay  time.Duration
}

type directiveKind uint8

const (
	kindFail directiveKind = iota
	kindSucceed
	kindRetry
)

var (
	// TerminateAndSucceed ends the retries with the result.
	TerminateAndSucceed = Directive{kind: kindSucceed}
	// TerminateAndFail ends the retries with the error.
	TerminateAndFail = Directive{kind: kindFail}
)

// RetryError asks for another try after an error of the class.
//
//nolint:revive // the name is the design's
func RetryError(reason ErrorType) Directive { return Directive{kind: kindRetry, reason: reason} }

// After makes another try wait for the delay, instead of what the strategy's backoff
// would choose: for a service that said when to come back, and for loops that
// have a schedule. It does nothing to directives that ask for no retry. A
// negative delay is 0.
func (d Directive) After(delay time.Duration) Directive {
	if d.kind == kindRetry {
		d.timed, d.delay = true, max(0, delay)
	}
	return d
}

// Reason returns the class of the error, and whether the directive asks for
// another try at all.
func (d Directive) Reason() (reason ErrorType, retry bool) { return d.reason, d.kind == kindRetry }

// Delay returns the delay set by [Directive.After], and whether there is one.
func (d Directive) Delay() (delay time.Duration, set bool) { return d.delay, d.timed }

// String says what the directive asks for.
func (d Directive) String() string {
	switch {
	case d.kind == kindSucceed:
		return "terminate and succeed"
	case d.kind == kindFail:
		return "terminate and fail"
	case d.timed:
		return fmt.Sprintf("retry (%s) after %s", d.reason, d.delay)
	default:
		return fmt.Sprintf("retry (%s)", d.reason)
	}
}
