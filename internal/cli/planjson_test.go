package cli

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJSONPageOfPlan(t *testing.T) {
	t.Parallel()
	requireDocumented(t, members(t, itself[planReport]), pageTable(t, "plan", 0))
	requireDocumented(t, members(t, itself[planCheck]), pageTable(t, "plan --check", 0))
	page := readJSONPage(t)
	requireDocumented(t, members(t, itself[keptExecution]), tables(page["jobpoller plan --keep"])[0])
	for _, name := range slices.Concat(members(t, itself[planDurations]), members(t, itself[plannedSchedule]), members(t, itself[quotaUse]), members(t, itself[strategyLoad])) {
		require.Contains(t, findQuoted(page["jobpoller plan -o json"]), name)
	}
}
