package localrun

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/commandline"
)

// The failure of the run decides how the command ends, and what could not be written
// besides only if the run has none.
func TestFirstFailureHasTheExitCode(t *testing.T) {
	t.Parallel()
	unkept := kit.WithCode(kit.ExitUsage, errors.New("not kept"))
	for _, c := range []struct {
		errs []error
		code int
	}{
		{[]error{errors.New("broken"), unkept}, kit.ExitFailed},
		{[]error{kit.WithCode(kit.ExitInterrupted, errors.New("interrupted")), unkept}, kit.ExitInterrupted},
		{[]error{commandline.Errorf("wrong"), kit.WithCode(kit.ExitFailed, nil)}, kit.ExitUsage},
		{[]error{nil, unkept}, kit.ExitUsage},
		{[]error{nil, nil, errors.New("not written")}, kit.ExitFailed},
	} {
		err := joinFailures(c.errs...)
		code, ok := kit.CodeOf(err)
		require.True(t, ok)
		require.Equal(t, c.code, code)
		for _, each := range c.errs {
			if each != nil {
				require.ErrorIs(t, err, each)
			}
		}
	}
	require.NoError(t, joinFailures(nil, nil))
}
