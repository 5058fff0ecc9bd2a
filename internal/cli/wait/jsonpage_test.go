package wait

import (
	"testing"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
)

func TestJSONPageOfWait(t *testing.T) {
	t.Parallel()
	clitest.RequireDocumented(t, clitest.Members(t, clitest.Itself[waitReport]), clitest.PageTable(t, "wait", 0))
}
