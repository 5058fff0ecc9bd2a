package tests_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/asl"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// unrendered are the expressions of the modules whose values are not read: AWS alone says
// them, or a function that reading leaves to Terraform.
var unrendered = map[string][]string{
	"01-heredoc":  {"aws_lambda_function.load.arn"},
	"05-for-each": {"length(n)"},
	"11-lookups": {
		"coalesce(null, local.setting.wait)", "data.aws_caller_identity.me.account_id",
		`element(["Alarm", "End"], can(local.setting.alarm) ? 0 : 1)`, `try(local.setting.comment, "no comment")`,
	},
}

// What is read of modules of Terraform is what OpenTofu renders of them, but for those values. make check-terraform has OpenTofu render them.
func TestModulesAreReadAsOpenTofuRendersThem(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("sources/rendered/*")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(folders), 10)
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join(folder, "rendered.json"))
			require.NoError(t, err)
			var rendered map[string]string
			require.NoError(t, json.Unmarshal(text, &rendered))
			read, err := source.Load(t.Context(), []string{folder}, source.Options{FS: os.DirFS(".")})
			require.NoError(t, err)
			open := map[string]bool{}
			for _, d := range read {
				want, ok := rendered[d.ID]
				require.True(t, ok, d.ID)
				delete(rendered, d.ID)
				require.Empty(t, d.Problems, d.ID)
				c := comparison{d, open}
				require.Empty(t, c.differ("", decoded(t, want), decoded(t, string(d.Text))), d.ID)
			}
			require.Empty(t, rendered, "not read")
			names := []string{}
			for name := range open {
				names = append(names, name)
			}
			slices.Sort(names)
			require.Equal(t, append([]string{}, unrendered[filepath.Base(folder)]...), names)
		})
	}
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	require.NoError(t, decoder.Decode(&v))
	return v
}

// comparison compares a definition with a rendered one.
type comparison struct {
	read *source.Definition
	open map[string]bool // the names of values that no file says
}

// differ says where a value that is read is not the rendered one; empty if nowhere.
func (c *comparison) differ(at string, want, got any) string {
	text, isText := got.(string)
	if isText && asl.HasPlaceholder(text) && text != want {
		return c.differByPlaceholder(at, want, text)
	}
	switch got := got.(type) {
	case map[string]any:
		members, ok := want.(map[string]any)
		if !ok || len(members) != len(got) {
			break
		}
		for name, member := range got {
			if found := c.differ(at+"/"+name, members[name], member); found != "" {
				return found
			}
		}
		return ""
	case []any:
		items, ok := want.([]any)
		if !ok || len(items) != len(got) {
			break
		}
		for i, item := range got {
			if found := c.differ(fmt.Sprint(at, "/", i), items[i], item); found != "" {
				return found
			}
		}
		return ""
	default:
		if want == got {
			return ""
		}
	}
	return fmt.Sprintf("%s: OpenTofu renders %v, and read is %v", at, want, got)
}

// differByPlaceholder lets placeholders in a text stand for any text.
func (c *comparison) differByPlaceholder(at string, want any, text string) string {
	pattern, from := "", 0
	for _, form := range asl.FindPlaceholders([]byte(text)) {
		c.open[c.read.Reference(form.Name)] = true
		pattern += regexp.QuoteMeta(text[from:form.Start]) + "(?s:.*)"
		from = form.End
	}
	if regexp.MustCompile("^" + pattern + regexp.QuoteMeta(text[from:]) + "$").MatchString(fmt.Sprint(want)) {
		return ""
	}
	return fmt.Sprintf("%s: OpenTofu renders %v, and read is %q", at, want, text)
}
