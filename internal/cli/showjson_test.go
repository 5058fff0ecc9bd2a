package cli

import "testing"

func TestJSONPageOfTheCatalogue(t *testing.T) {
	t.Parallel()
	requireDocumented(t, members(t, itself[listEntry]), pageTable(t, "list", 0))
	requireDocumented(t, members(t, itself[judged]), pageTable(t, "check", 0))
}
