package cdkapp

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// orElse is the value of a prop, or its default.
func orElse[T any](prop *T, otherwise T) T {
	if prop == nil {
		return otherwise
	}
	return *prop
}

// where is the path of a construct that is being made.
type where string

// place returns the path of a construct in its app.
func place(scope constructs.Construct, id *string) where {
	path := *scope.Node().Path()
	if path == "" {
		return where(text(id))
	}
	return where(path + "/" + text(id))
}

// refuse panics with an Error.
func (p where) refuse(prop, format string, args ...any) {
	p.refuseFor(nil, prop, format, args...)
}

// refuseFor is refuse for an error that the problem comes from.
func (p where) refuseFor(err error, prop, format string, args ...any) {
	panic(&Error{Path: string(p), Prop: prop, Problem: fmt.Sprintf(format, args...), Err: err})
}

// checkAll makes all checks, and panics with the problems of all that fail.
func checkAll(checks ...func()) {
	var first *Error
	for _, check := range checks {
		found := refusal(check)
		if first == nil {
			first = found
		} else if found != nil {
			first.Others = append(append(first.Others, found), found.Others...)
			found.Others = nil
		}
	}
	if first != nil {
		panic(first)
	}
}

// refusal is the Error that a check panics with, or nil.
func refusal(check func()) (found *Error) {
	defer func() {
		switch thrown := recover().(type) {
		case nil:
		case *Error:
			found = thrown
		default:
			panic(thrown)
		}
	}()
	check()
	return nil
}

// refuseProps refuses props of a resource that is not made here.
func (p where) refuseProps(prop string, others map[string]bool) {
	p.refuseGiven(others, "it is for a new one, but %s is given: leave one of the two out", prop)
}

// refuseGiven refuses props that are given, each with the same problem.
func (p where) refuseGiven(given map[string]bool, format string, args ...any) {
	var checks []func()
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if given[name] {
			checks = append(checks, func() { p.refuse(name, format, args...) })
		}
	}
	checkAll(checks...)
}

// refuseFields refuses fields of a prop that are given and cannot be passed on.
func (p where) refuseFields(prop string, given any, refused map[string]string) {
	var checks []func()
	value := reflect.ValueOf(given)
	for i := range value.NumField() {
		name := value.Type().Field(i).Name
		if why, ok := refused[name]; ok && !value.Field(i).IsZero() {
			checks = append(checks, func() { p.refuse(prop+"."+name, "it cannot be passed on: %s", why) })
		}
	}
	checkAll(checks...)
}

// duration is one of the CDK's, which must not be a token.
func (p where) duration(prop string, d awscdk.Duration) time.Duration {
	if *d.IsUnresolved() {
		p.refuse(prop, "it must be a literal duration, is a token")
	}
	return time.Duration(*d.ToMilliseconds(nil)) * time.Millisecond
}

// wholeSeconds is a duration that an execution can last; 0 if it is not given.
func (p where) wholeSeconds(prop string, d awscdk.Duration) time.Duration {
	if d == nil {
		return 0
	}
	found := p.duration(prop, d)
	if found%time.Second != 0 || found < time.Second || found > asl.MaxStandardTime {
		p.refuse(prop, "it must be whole seconds, from 1 to a year, is %s", found)
	}
	return found
}

// sameStack tells whether two constructs are of one stack.
func sameStack(a, b constructs.IConstruct) bool {
	return *awscdk.Stack_Of(a).Node().Addr() == *awscdk.Stack_Of(b).Node().Addr()
}
