package fix

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
)

// A failure is handled where it leads to a state that may go on: a Fail state ends the execution.
func TestHandlesFailures(t *testing.T) {
	t.Parallel()
	m, err := asl.Parse([]byte(`{"StartAt": "Tell", "States": {"Tell": {"Type": "Choice", "Default": "Good", "Choices": [{"Variable": "$.a", "IsPresent": true, "Next": "Bad"}]},
		"Good": {"Type": "Succeed"}, "Bad": {"Type": "Fail"}}}`))
	require.NoError(t, err)
	for handler, handles := range map[string]bool{"Tell": true, "Good": true, "Bad": false, "": false} {
		f := &fragment{loop: &loop{flow: &m.Flow}, handler: handler}
		require.Equal(t, handles, f.handlesFailures(), handler)
	}
}
