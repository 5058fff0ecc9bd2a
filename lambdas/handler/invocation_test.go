package handler_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"syscall"

	"github.com/aws/smithy-go"

	"github.com/jobpoller/jobpoller/lambdas/handler"
)

// fate is what becomes of one operation of an invocation: of a call of the
// store or of the service.
type fate int

const (
	goesWell   fate = iota
	diesBefore      // the invocation is killed before the operation has its effect
	diesAfter       // it is killed after the effect
	lostBefore      // the connection is lost before the effect
	lostAfter       // it is lost after the effect
	late            // it is lost, and the effect comes while the lease margin lasts
	throttled       // the service declines for now; no effect
	refused         // the service refuses; no effect
)

var (
	errLost      = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	errThrottled = &smithy.GenericAPIError{Code: "ThrottlingException", Message: "slow down", Fault: smithy.FaultClient}
	errRefused   = &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "not for you", Fault: smithy.FaultClient}
)

// killed is what an invocation panics with where Lambda would kill it: it does
// nothing after.
type killed struct{}

type decideKey struct{}

// deciding returns a context whose invocation's operations have the fates that
// decide gives them.
func deciding(ctx context.Context, decide func(op string) fate) context.Context {
	return context.WithValue(ctx, decideKey{}, decide)
}

// fates decides by the name of the operation: "Start", and "Replace 2" for the
// second of its name. The others go well.
func fates(by map[string]fate) func(op string) fate {
	seen := map[string]int{}
	return func(op string) fate {
		seen[op]++
		if seen[op] > 1 {
			op = fmt.Sprintf("%s %d", op, seen[op])
		}
		return by[op]
	}
}

// operate carries out an operation as its fate will have it. later takes an
// effect that is to come after the answer was lost.
func operate[T any](ctx context.Context, op string, lost error, later func(func()), effect func() (T, error)) (T, error) {
	var none T
	f := goesWell
	if decide, ok := ctx.Value(decideKey{}).(func(op string) fate); ok {
		f = decide(op)
	}
	switch f {
	case diesBefore:
		panic(killed{})
	case diesAfter:
		_, _ = effect()
		panic(killed{})
	case lostBefore:
		return none, lost
	case lostAfter:
		_, _ = effect()
		return none, lost
	case late:
		later(func() { _, _ = effect() })
		return none, lost
	case throttled:
		return none, errThrottled
	case refused:
		return none, errRefused
	default:
		return effect()
	}
}

type lambdaFunction = func(context.Context, json.RawMessage) (*handler.Result, error)

// invoke calls a handler and tells whether it was killed.
func invoke(ctx context.Context, h lambdaFunction, payload string) (result *handler.Result, died bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			if _, died = p.(killed); !died {
				panic(p)
			}
		}
	}()
	result, err = h(ctx, json.RawMessage(payload))
	return result, false, err
}
