package compile

import (
	"reflect"
	"testing"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/schema"
	"github.com/jobpoller/jobpoller/statemachines/compile"
)

func TestSchemaOfCompile(t *testing.T) {
	t.Parallel()
	section := clitest.ReadPage(t)["jobpoller compile --report -o json"]
	clitest.RequireSchema(t, "compile-report", reflect.TypeFor[compile.Report](), schema.Options{
		Described: schema.Join(schema.Lists(section, "", "worst"), schema.Lists(section, "", "expected")),
	})
}
