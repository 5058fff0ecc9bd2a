package fix_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/tests/race"
)

// cutContext is cancelled when somebody has asked so often whether it is.
type cutContext struct {
	context.Context //nolint:containedctx // it is one

	left atomic.Int64
	once sync.Once
	done chan struct{}
}

func cutAfter(ctx context.Context, asked int64) *cutContext {
	c := &cutContext{Context: ctx, done: make(chan struct{})}
	c.left.Store(asked)
	return c
}

func (c *cutContext) Done() <-chan struct{} {
	if c.left.Add(-1) < 0 {
		c.once.Do(func() { close(c.done) })
	}
	return c.done
}

func (c *cutContext) Err() error {
	select {
	case <-c.Done():
		return context.Canceled
	default:
		return nil
	}
}

// Whenever a user interrupts fix, that is what it says: it never takes it for a reason to refuse a loop.
func TestInterruptedFix(t *testing.T) {
	t.Parallel()
	several := strings.NewReplacer("CALL", "aws-sdk:batch:describeJobs", "CHOICE",
		choiceOf("'FAILED' in $seen", "Failed", "$count($seen[$ = 'SUCCEEDED']) = $count($seen)", "Good"), "ARGUMENTS",
		`"QueryLanguage": "JSONata", "Assign": {"seen": "{% [$states.result.Jobs.Status] %}"}, "Output": "{% $states.input %}", `+
			`"Arguments": {"Jobs": "{% $states.input.ids %}"}`).Replace(severalLoop)
	const enough = 1 << 40
	whole := cutAfter(t.Context(), enough)
	_, loops, err := fix.Apply(whole, []byte(several), fix.Options{Models: models.Load})
	require.NoError(t, err)
	require.Empty(t, loops[0].Refused)
	asked := enough - whole.left.Load()
	steps := int64(race.Of(12, 3))
	require.Greater(t, asked, steps)
	for i := range steps {
		_, _, err := fix.Apply(cutAfter(t.Context(), asked*i/steps), []byte(several), fix.Options{Models: models.Load})
		require.ErrorIs(t, err, context.Canceled, "after %d of %d", asked*i/steps, asked)
	}
}
