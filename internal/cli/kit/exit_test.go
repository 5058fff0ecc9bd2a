package kit

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/commandline"
)

// Of joined errors the first that has a code decides, whatever its type.
func TestFirstCodeOfJoinedErrors(t *testing.T) {
	t.Parallel()
	plain, wrong, unknown := errors.New("plain"), commandline.Errorf("wrong"), WithCode(ExitUnknown, errors.New("unknown"))
	for name, c := range map[string]struct {
		err  error
		code int
		ok   bool
	}{
		"none":             {nil, 0, false},
		"plain":            {errors.Join(plain, fmt.Errorf("more: %w", plain)), 0, false},
		"wrong first":      {errors.Join(wrong, unknown), ExitUsage, true},
		"unknown first":    {errors.Join(unknown, wrong), ExitUnknown, true},
		"plain first":      {errors.Join(plain, unknown), ExitUnknown, true},
		"wrapped":          {fmt.Errorf("lint: %w", fmt.Errorf("a: %w, %w", plain, wrong)), ExitUsage, true},
		"the outermost":    {WithCode(ExitFailed, unknown), ExitFailed, true},
		"a tree of a tree": {errors.Join(errors.Join(plain, wrong), unknown), ExitUsage, true},
	} {
		code, ok := CodeOf(c.err)
		require.Equal(t, c.ok, ok, name)
		require.Equal(t, c.code, code, name)
	}
}
