package wait

import (
	"reflect"
	"testing"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/schema"
)

func TestSchemasOfWait(t *testing.T) {
	t.Parallel()
	page := clitest.ReadPage(t)
	wait, start := schema.Lists(page["jobpoller wait -o json"], ""), schema.Lists(page["jobpoller start -o json"], "")
	for name, one := range map[string]struct {
		of        reflect.Type
		described map[string]string
	}{
		"wait":       {reflect.TypeFor[waitReport](), wait},
		"wait-many":  {reflect.TypeFor[manyReport](), schema.Below("waits", wait)},
		"wait-plan":  {reflect.TypeFor[waitPlan](), nil},
		"start":      {reflect.TypeFor[startReport](), start},
		"start-wait": {reflect.TypeFor[startedWait](), schema.Join(schema.Below("start", start), schema.Below("wait", wait))},
	} {
		clitest.RequireSchema(t, name, one.of, schema.Options{Described: one.described})
	}
}
