package cli

import (
	"testing"

	"github.com/jobpoller/jobpoller/statemachines/compile"
)

func TestJSONPageOfCompile(t *testing.T) {
	t.Parallel()
	requireDocumented(t, members(t, itself[compile.Report]), pageTable(t, "compile --report", 0))
	requireDocumented(t, members(t, itself[compile.Cost]), pageTable(t, "compile --report", 1))
}
