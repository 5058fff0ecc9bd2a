package records

import (
	"reflect"
	"testing"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/schema"
)

func TestSchemasOfRecords(t *testing.T) {
	t.Parallel()
	page := clitest.ReadPage(t)
	list := schema.Lists(page["jobpoller records list -o json"], "")
	clitest.RequireSchema(t, "records-list", reflect.TypeFor[[]listedRecord](), schema.Options{Described: list})
	clitest.RequireSchema(t, "records-show", reflect.TypeFor[listedRecord](), schema.Options{Described: list})
	clitest.RequireSchema(t, "records-status", reflect.TypeFor[executionStatus](), schema.Options{
		Described: schema.Join(schema.Below("pollers", list), schema.Lists(page["jobpoller records status -o json"], "")),
	})
	clitest.RequireSchema(t, "records-doctor", reflect.TypeFor[[]healthFinding](), schema.Options{Described: schema.Lists(page["jobpoller records doctor -o json"], "")})
}
