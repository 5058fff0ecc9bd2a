package lint

import (
	"reflect"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/schema"
	"github.com/jobpoller/jobpoller/pollcore"
	waiterlint "github.com/jobpoller/jobpoller/pollcore/catalog/lint"
)

func TestSchemasOfLint(t *testing.T) {
	t.Parallel()
	page := clitest.ReadPage(t)
	// A finding has the members of its body, and says where it is. Those of definitions are a
	// part of those of waiters.
	least := waiterlint.Finding{Acceptor: pollcore.NoAcceptor}
	body, err := schema.Of(reflect.TypeFor[waiterlint.Finding](), schema.Options{Least: map[reflect.Type]any{reflect.TypeFor[waiterlint.Finding](): least}})
	require.NoError(t, err)
	finding, err := schema.Sampled(Finding{file: "x", machine: "x", of: seat{key: machineKey{"y", "x"}}, weight: 1, body: struct{}{}}, Finding{body: struct{}{}})
	require.NoError(t, err)
	for _, name := range body.PropertyOrder {
		finding.Properties[name] = body.Properties[name]
	}
	finding.Required = append(finding.Required, body.Required...)
	finding.PropertyOrder = append(finding.PropertyOrder, body.PropertyOrder...)
	clitest.RequireSchema(t, "lint", reflect.TypeFor[[]Finding](), schema.Options{
		Types:     map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[Finding](): finding},
		Described: schema.Lists(page["jobpoller lint -o json"], ""),
	})
	clitest.RequireSchema(t, "lint-rules", reflect.TypeFor[[]kit.ListedRule](), schema.Options{})
	clitest.RequireSchema(t, "lint-settings", reflect.TypeFor[[]shownSettings](), schema.Options{
		Described: schema.Lists(page["jobpoller lint --show-config -o json"], "", "settings"),
	})
	clitest.RequireSchema(t, "lint-loops", reflect.TypeFor[[]pollLoop](), schema.Options{
		Described: schema.Lists(page["jobpoller lint --loops -o json"], "", "rows"),
	})
	clitest.RequireSchema(t, "lint-loops-diff", reflect.TypeFor[[]loopChange](), schema.Options{})
}
