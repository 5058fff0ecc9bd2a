package retry

import (
	"fmt"
	"time"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
)

// Directive is what a [Policy] makes of an attempt. Directives are compared with
// ==. The zero value is [Fail].
type Directive struct {
	kind  directiveKind
	class awserror.Class
	timed bool
	delay time.Duration
}

type directiveKind uint8

const (
	kindFail directiveKind = iota
	kindSucceed
	kindAgain
)

// Succeed ends the attempts with the result.
func Succeed() Directive { return Directive{kind: kindSucceed} }

// Fail ends the attempts with the error.
func Fail() Directive { return Directive{kind: kindFail} }

// Again asks for another attempt. The class is that of the error: it decides what
// the attempt costs in a [Bucket]. [awserror.Unknown] is for results that are not
// final.
func Again(class awserror.Class) Directive { return Directive{kind: kindAgain, class: class} }

// After makes the next attempt wait for the delay, instead of what the strategy's
// backoff would choose: for a service that says when to come back, and for loops
// that have a schedule. It does nothing to directives that ask for no attempt. A
// negative delay is 0.
func (d Directive) After(delay time.Duration) Directive {
	if d.kind == kindAgain {
		d.timed, d.delay = true, max(0, delay)
	}
	return d
}

// String says what the directive asks for.
func (d Directive) String() string {
	switch {
	case d.kind == kindSucceed:
		return "succeed"
	case d.kind == kindFail:
		return "fail"
	case d.timed:
		return fmt.Sprintf("again (%s) after %s", d.class, d.delay)
	default:
		return fmt.Sprintf("again (%s)", d.class)
	}
}
