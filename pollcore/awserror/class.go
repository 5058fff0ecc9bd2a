// Package awserror says what an error of AWS means: whether the call may have
// had an effect, and whether an equal call may succeed later.
//
//	switch class := awserror.ClassifyAnswer(response.StatusCode, code); {
//	case class.Passes(): // try again later
//	case class.MayHaveActed(): // look before you start a second job
//	default: // tell the caller what the service refused
//	}
//
// The same error comes in three forms, each with a function of its own:
// [ClassifyAnswer] reads the status and the code of an HTTP answer, [ClassifyName]
// the names and causes that Step Functions gives errors, and Classify of the package
// goerror the errors of the AWS SDK for Go and of net/http. All three read one
// table of codes and statuses, so they agree. This package needs no SDK.
package awserror

import "fmt"

// Class is what an error means for the call that had it.
type Class uint8

// The classes. Which errors belong to a class is in table.go.
const (
	// Unknown is an error that the table says nothing of. It assumes least: the
	// call may have had its effect, and an equal one may fail in the same way.
	Unknown Class = iota
	// Throttled means that the service declined to act now. The call had no
	// effect, and an equal one may succeed later.
	Throttled
	// Fault is a failure of the service that passes. The call may have had its
	// effect.
	Fault
	// Unclear means that the call has no complete answer: a timeout, a lost
	// connection, half an answer. It may have had its effect.
	Unclear
	// Ended means that the caller gave up, so that the call was cut short. It may
	// have had its effect. An equal call may succeed, but nobody waits for it.
	Ended
	// Refused means that the service or its client will not act on this request.
	// The call had no effect, and an equal one will have none.
	Refused
	// NotSent means that provably nothing was sent: a name was not found, a
	// connection was refused, or its handshake failed. An equal call may succeed
	// later.
	NotSent
)

// meaning is a row of the classes.
type meaning struct {
	name         string
	mayHaveActed bool
	passes       bool
}

var meanings = [...]meaning{
	Unknown:   {"unknown", true, false},
	Throttled: {"throttled", false, true},
	Fault:     {"fault", true, true},
	Unclear:   {"unclear", true, true},
	Ended:     {"ended", true, true},
	Refused:   {"refused", false, false},
	NotSent:   {"not sent", false, true},
}

// String names the class.
func (c Class) String() string { return c.meaning().name }

// MayHaveActed reports whether the call may have had its effect. If so, a
// second start call may start a second job.
func (c Class) MayHaveActed() bool { return c.meaning().mayHaveActed }

// Passes reports whether an equal call may succeed later. Such an error of a
// describe call says nothing about the job.
func (c Class) Passes() bool { return c.meaning().passes }

func (c Class) meaning() meaning {
	if int(c) < len(meanings) {
		return meanings[c]
	}
	return meaning{fmt.Sprintf("class %d", uint8(c)), true, false}
}
