package show

import (
	"testing"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
)

func TestJSONPageOfTheCatalogue(t *testing.T) {
	t.Parallel()
	clitest.RequireDocumented(t, clitest.Members(t, clitest.Itself[listEntry]), clitest.PageTable(t, "list", 0))
	clitest.RequireDocumented(t, clitest.Members(t, clitest.Itself[judged]), clitest.PageTable(t, "check", 0))
}
