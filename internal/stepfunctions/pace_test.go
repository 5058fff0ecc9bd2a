package stepfunctions_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/stepfunctions"
)

// An error is told where the call is made again, and no other.
func TestPersistTellsWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	throttled := &smithy.GenericAPIError{Code: "ThrottlingException"}
	denied := &smithy.GenericAPIError{Code: "AccessDeniedException"}
	for name, c := range map[string]struct {
		answered bool
		errs     []error // of the calls; the last for good
		calls    int
		told     []error
	}{
		"answer":         {errs: []error{nil}, calls: 1, told: []error{nil}},
		"denied":         {errs: []error{denied}, calls: 1},
		"throttled once": {errs: []error{throttled, nil}, calls: 2, told: []error{throttled, nil}},
		"denied later":   {errs: []error{throttled, denied}, calls: 2, told: []error{throttled}},
		"never answered": {errs: []error{context.DeadlineExceeded}, calls: 1},
		"for good": {answered: true, errs: []error{throttled}, calls: 12, told: []error{
			throttled, throttled, throttled, throttled, throttled, throttled, throttled, throttled, throttled, throttled, throttled,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				var told []error
				_, err := stepfunctions.Persist(t.Context(), &c.answered, func(err error) { told = append(told, err) }, func(context.Context) (int, error) {
					calls++
					return calls, c.errs[min(calls, len(c.errs))-1]
				})
				require.Equal(t, c.errs[len(c.errs)-1], err)
				require.Equal(t, c.calls, calls)
				require.Equal(t, c.told, told)
			})
		})
	}
}
