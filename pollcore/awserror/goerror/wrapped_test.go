package goerror_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// itself is an error that wraps itself.
type itself struct{ code string }

func (*itself) Error() string       { return "again" }
func (i *itself) ErrorCode() string { return i.code }
func (i *itself) Unwrap() error     { return i }

// selves wraps itself more than once.
type selves struct{}

func (*selves) Error() string     { return "again and again" }
func (s *selves) Unwrap() []error { return []error{s, s, nil} }

// as gives itself for another error, as errors.As lets it.
type as struct{ error }

func (as) As(target any) bool {
	if to, ok := target.(**smithy.CanceledError); ok {
		*to = &smithy.CanceledError{Err: context.Canceled}
		return true
	}
	return false
}

type is struct{ error }

func (is) Is(target error) bool { return target == io.ErrUnexpectedEOF }

// What wraps itself has an end.
func TestClassifyEnds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want awserror.Class
		code string
	}{
		{&itself{"ThrottlingException"}, awserror.Throttled, "ThrottlingException"},
		{&itself{"New"}, awserror.Unknown, "New"},
		{fmt.Errorf("start: %w", &itself{"New"}), awserror.Unknown, "New"},
		{answer(503, &itself{"New"}), awserror.Fault, "New"},
		{&selves{}, awserror.Unknown, ""},
		{errors.Join(&selves{}, &itself{"New"}), awserror.Unknown, ""},
		{&smithy.OperationError{Err: &selves{}}, awserror.Unknown, ""},
	} {
		require.Equal(t, tt.want, goerror.Classify(tt.err), "%v", tt.err)
		require.Equal(t, tt.code, goerror.Code(tt.err), "%v", tt.err)
		require.False(t, goerror.WithoutCredentials(tt.err), "%v", tt.err)
	}
}

// All that errors.As and errors.Is find in an error is found.
func TestClassifyFindsWhatIsWrapped(t *testing.T) {
	t.Parallel()
	other := errors.New("no")
	for _, tt := range []struct {
		err  error
		want awserror.Class
	}{
		{errors.Join(other, fmt.Errorf("second: %w", context.DeadlineExceeded)), awserror.Unclear},
		{fmt.Errorf("%w and %w", other, answer(429, other)), awserror.Throttled},
		{as{other}, awserror.Ended},
		{is{other}, awserror.Unclear},
	} {
		require.Equal(t, tt.want, goerror.Classify(tt.err), "%v", tt.err)
	}
}

func TestMarkOfNothing(t *testing.T) {
	t.Parallel()
	require.NoError(t, goerror.Mark(awserror.NotSent, nil))
}
