package fix

import (
	"reflect"
	"testing"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/schema"
)

func TestSchemasOfFix(t *testing.T) {
	t.Parallel()
	page := clitest.ReadPage(t)
	clitest.RequireSchema(t, "fix", reflect.TypeFor[repaired](), schema.Options{Described: schema.Lists(page["jobpoller fix -o json"], "")})
	clitest.RequireSchema(t, "fix-replace", reflect.TypeFor[fixed](), schema.Options{Described: schema.Lists(page["jobpoller fix --replace -o json"], "")})
}
