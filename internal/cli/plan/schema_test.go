package plan

import (
	"reflect"
	"testing"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/schema"
)

func TestSchemasOfPlan(t *testing.T) {
	t.Parallel()
	page := clitest.ReadPage(t)
	clitest.RequireSchema(t, "plan", reflect.TypeFor[planReport](), schema.Options{Described: schema.Lists(page["jobpoller plan -o json"], "")})
	clitest.RequireSchema(t, "plan-check", reflect.TypeFor[planCheck](), schema.Options{Described: schema.Lists(page["jobpoller plan --check -o json"], "")})
}
