package localrun

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
)

func TestJSONPageOfRun(t *testing.T) {
	t.Parallel()
	run := clitest.PageTable(t, "run", 0)
	clitest.RequireDocumented(t, clitest.Members(t, clitest.Itself[Report]), run)
	mocks := clitest.ReadPage(t)["jobpoller run --mocks FILE -o json"]
	_, without, ok := strings.Cut(mocks, "As above, without ")
	require.True(t, ok)
	without, _, _ = strings.Cut(without, ", and with:")
	ofMocks := slices.DeleteFunc(slices.Clone(run), func(name string) bool { return slices.Contains(clitest.FindQuoted(without), name) })
	clitest.RequireDocumented(t, clitest.Members(t, clitest.Itself[Simulation]), append(ofMocks, clitest.Tables(mocks)[0]...))
}
