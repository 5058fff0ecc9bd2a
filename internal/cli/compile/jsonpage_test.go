package compile

import (
	"testing"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

func TestJSONPageOfCompile(t *testing.T) {
	t.Parallel()
	clitest.RequireDocumented(t, clitest.Members(t, clitest.Itself[compile.Report]), clitest.PageTable(t, "compile --report", 0))
	clitest.RequireDocumented(t, clitest.Members(t, clitest.Itself[compile.Cost]), clitest.PageTable(t, "compile --report", 1))
}
