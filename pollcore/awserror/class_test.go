package awserror_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/awserror"
)

func TestMeaningOfEachClass(t *testing.T) {
	t.Parallel()
	for class, want := range map[awserror.Class]struct {
		name         string
		mayHaveActed bool
		passes       bool
	}{
		awserror.Unknown:   {"unknown", true, false},
		awserror.Throttled: {"throttled", false, true},
		awserror.Fault:     {"fault", true, true},
		awserror.Unclear:   {"unclear", true, true},
		awserror.Ended:     {"ended", true, true},
		awserror.Refused:   {"refused", false, false},
		awserror.NotSent:   {"not sent", false, true},
		99:                 {"class 99", true, false},
	} {
		require.Equal(t, want.name, class.String())
		require.Equal(t, want.mayHaveActed, class.MayHaveActed(), class)
		require.Equal(t, want.passes, class.Passes(), class)
	}
}
