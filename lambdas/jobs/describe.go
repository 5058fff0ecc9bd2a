package jobs

import (
	"context"
	"fmt"
	"reflect"
)

// Describe makes a Driver's Describe of an operation of an SDK client:
//
//	describe := jobs.Describe(client.DescribeExport)
//
// Each member of the reference goes into the member of the operation's input
// that has its name: a string, an enum, or a list of strings, where it is
// the only one. The result has the form that Output gives it.
func Describe[In, Out, Opt any](
	operation func(context.Context, *In, ...Opt) (*Out, error),
) func(context.Context, Ref) (any, error) {
	return func(ctx context.Context, ref Ref) (any, error) {
		in := new(In)
		if err := ref.fill(reflect.ValueOf(in).Elem()); err != nil {
			return nil, err
		}
		out, err := operation(ctx, in)
		if err != nil {
			return nil, err
		}
		return Output(out)
	}
}

// fill sets the members of an operation's input.
func (r Ref) fill(in reflect.Value) error {
	for name, value := range r {
		var field reflect.Value
		if f, ok := in.Type().FieldByName(name); ok && f.IsExported() && !f.Anonymous {
			field = in.FieldByIndex(f.Index)
		}
		switch {
		case !field.IsValid():
			return fmt.Errorf("job reference has the member %q, which %s does not have", name, in.Type())
		case field.Kind() == reflect.String:
			field.SetString(value)
		case field.Type() == reflect.TypeFor[*string]():
			field.Set(reflect.ValueOf(&value))
		case field.Type() == reflect.TypeFor[[]string]():
			field.Set(reflect.ValueOf([]string{value}))
		default:
			return fmt.Errorf("job reference has the member %q, but %s.%s is a %s, not a string", name, in.Type(), name, field.Type())
		}
	}
	return nil
}
