package lint_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/catalog/models"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/lint"
	"github.com/jobpoller/jobpoller/statemachines/typecheck"
)

// merge changes an object as a JSON merge patch (RFC 7396) does: null removes a
// member.
func merge(object, patch map[string]any) map[string]any {
	for name, value := range patch {
		inner, isObject := value.(map[string]any)
		of, has := object[name].(map[string]any)
		switch {
		case value == nil:
			delete(object, name)
		case isObject && has:
			object[name] = merge(of, inner)
		default:
			object[name] = value
		}
	}
	return object
}

// jsonBlock is the first one of a text.
func jsonBlock(t *testing.T, text string) map[string]any {
	t.Helper()
	_, block, found := strings.Cut(text, "```json\n")
	require.True(t, found, text)
	block, _, _ = strings.Cut(block, "```")
	var object map[string]any
	require.NoError(t, json.Unmarshal([]byte(block), &object), block)
	return object
}

// docs/reference/lint.md has a section for each rule, with an example that the rule
// finds in the machine at the top of the page, in which it finds nothing.
func TestRulesAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/reference/lint.md")
	require.NoError(t, err)
	parts := strings.Split(string(page), "\n## ")
	found := func(object map[string]any) map[string]bool {
		text, err := json.Marshal(object)
		require.NoError(t, err)
		rules := map[string]bool{}
		for _, problem := range asl.Validate(text, asl.Standard) {
			require.Equal(t, diag.Warning, problem.Severity, problem.Message)
			rules["suspicious"] = true
		}
		machine, err := asl.Parse(text)
		require.NoError(t, err)
		types, err := typecheck.New(machine, typecheck.Options{Models: models.Load})
		require.NoError(t, err)
		for _, finding := range lint.Check(machine, lint.Options{Types: types}) {
			rules[finding.Rule] = true
		}
		return rules
	}
	require.Empty(t, found(jsonBlock(t, parts[0])))
	var sections []string
	for _, part := range parts[1:] {
		name, section, _ := strings.Cut(part, "\n")
		sections = append(sections, name)
		require.True(t, found(merge(jsonBlock(t, parts[0]), jsonBlock(t, section)))[name], "lint finds no %s in the example", name)
	}
	rules := []string{"suspicious"}
	for _, r := range lint.Rules() {
		rules = append(rules, r.Name)
	}
	require.Equal(t, rules, sections)
}
