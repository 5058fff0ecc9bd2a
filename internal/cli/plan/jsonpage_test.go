package plan

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/pastjobs"
)

func TestJSONPageOfPlan(t *testing.T) {
	t.Parallel()
	clitest.RequireDocumented(t, clitest.Members(t, clitest.Itself[planReport]), clitest.PageTable(t, "plan", 0))
	clitest.RequireDocumented(t, clitest.Members(t, clitest.Itself[planCheck]), clitest.PageTable(t, "plan --check", 0))
	page := clitest.ReadPage(t)
	clitest.RequireDocumented(t, clitest.Members(t, clitest.Itself[pastjobs.KeptExecution]), clitest.Tables(page["jobpoller plan --keep"])[0])
	for _, name := range slices.Concat(clitest.Members(t, clitest.Itself[planDurations]), clitest.Members(t, clitest.Itself[plannedSchedule]), clitest.Members(t, clitest.Itself[quotaUse]), clitest.Members(t, clitest.Itself[strategyLoad])) {
		require.Contains(t, clitest.FindQuoted(page["jobpoller plan -o json"]), name)
	}
}
