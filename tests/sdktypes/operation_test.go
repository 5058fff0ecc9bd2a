package sdktypes_test

import (
	"reflect"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/tests/responses"
)

// operation is a describe operation with the SDK's types.
type operation struct {
	service, name string // as in the catalogue
	// errors are the SDK's types of the errors that acceptors name, by the name.
	errors  map[string]error
	in, out reflect.Type
	compile func(w *pollcore.Waiter) (waiter, error)
}

// waiter is a waiter that is compiled against the SDK's types.
type waiter struct {
	warnings diag.Problems
	// check judges a call that is given as JSON values, with the SDK's types. It
	// returns the call as JSON values of what the SDK's types hold.
	check func(o *catalog.Operation, c responses.Case) (responses.Verdict, responses.Case, error)
}

// of is an operation with the types of its input and output.
func of[In, Out any](service, name string, errors map[string]error) operation {
	o := operation{service: service, name: name, errors: errors, in: reflect.TypeFor[In](), out: reflect.TypeFor[Out]()}
	o.compile = func(w *pollcore.Waiter) (waiter, error) {
		check, err := pollcore.Compile[*In, *Out](w)
		if err != nil {
			return waiter{}, err
		}
		return waiter{warnings: check.Warnings(), check: func(o *catalog.Operation, c responses.Case) (responses.Verdict, responses.Case, error) {
			var in *In
			var out *Out
			if err := decode(c.Input, reflect.ValueOf(&in).Elem()); err != nil {
				return responses.Verdict{}, c, err
			}
			if err := decode(c.Output, reflect.ValueOf(&out).Elem()); err != nil {
				return responses.Verdict{}, c, err
			}
			c.Input, c.Output = encode(o.Input, reflect.ValueOf(in)), encode(o.Output, reflect.ValueOf(out))
			r := check.Check(in, out, c.Err)
			return responses.Verdict{State: r.Verdict, Acceptor: r.Acceptor, Seen: r.Seen, Message: r.Message}, c, nil
		}}, nil
	}
	return o
}
