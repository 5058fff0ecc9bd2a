package trial

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A job that stays as it does objects where the frame is about it, and where the run was long
// enough for a bound to show.
func TestStaysIn(t *testing.T) {
	t.Parallel()
	never, throttled := Kind{Task: "Look", Sort: Never, Value: "RUNNING"}, Kind{Task: "Look", Sort: Fails, Value: "Throttled"}
	status := Kind{Task: "Look", Sort: Status, Value: "RUNNING"}
	for name, c := range map[string]struct {
		short bool
		frame Kind
		stays bool
	}{
		"a bound":                    {false, never, true},
		"a bound, in a short run":    {true, never, false},
		"its status":                 {false, status, true},
		"its status, in a short run": {true, status, true},
		"an error beside it":         {false, throttled, false},
		"anything":                   {false, Kind{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			polls := Outcome{Status: PollsOn}
			run := &Run{Kinds: []Kind{never, throttled}, Before: polls, After: polls, short: c.short}
			require.Equal(t, c.stays, run.objection([]Kind{c.frame}) != "")
		})
	}
}
