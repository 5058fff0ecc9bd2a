package show

import (
	"reflect"
	"testing"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/schema"
)

func TestSchemasOfTheCatalogue(t *testing.T) {
	t.Parallel()
	page := clitest.ReadPage(t)
	clitest.RequireSchema(t, "list", reflect.TypeFor[[]listEntry](), schema.Options{Described: schema.Lists(page["jobpoller list -o json"], "")})
	clitest.RequireSchema(t, "check", reflect.TypeFor[judged](), schema.Options{Described: schema.Lists(page["jobpoller check -o json"], "")})
}
