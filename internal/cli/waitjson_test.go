package cli

import "testing"

func TestJSONPageOfWait(t *testing.T) {
	t.Parallel()
	requireDocumented(t, members(t, itself[waitReport]), pageTable(t, "wait", 0))
}
