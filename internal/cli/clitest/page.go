package clitest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/schema"
)

// Members are those of the JSON of a T with all its fields set, those of objects
// within it as "outer.inner".
func Members[T any](t *testing.T, of func(T) any) []string {
	t.Helper()
	var value T
	schema.Fill(reflect.ValueOf(&value).Elem())
	text, err := json.Marshal(of(value))
	require.NoError(t, err)
	var object map[string]any
	require.NoError(t, json.Unmarshal(text, &object))
	var names []string
	for name, value := range object {
		names = append(names, name)
		inner, _ := value.(map[string]any)
		for within := range inner {
			names = append(names, name+"."+within)
		}
	}
	return names
}

// Itself is for members of a type whose JSON is its own.
func Itself[T any](value T) any { return value }

// ReadPage are the sections of docs/reference/json.md by the command of their heading.
func ReadPage(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(moduleFolder(t), "docs", "reference", "json.md"))
	require.NoError(t, err)
	sections := map[string]string{}
	for part := range strings.SplitSeq(string(text), "\n## ") {
		heading, section, _ := strings.Cut(part, "\n")
		sections[strings.Trim(heading, "`")] = section
	}
	return sections
}

// PageTable are the names in a list of members of a command's section.
func PageTable(t *testing.T, command string, i int) []string {
	t.Helper()
	found := Tables(ReadPage(t)["jobpoller "+command+" -o json"])
	require.Greater(t, len(found), i, command)
	return found[i]
}

var quoted = regexp.MustCompile("`([A-Za-z0-9.]+)`")

// FindQuoted are the words in backquotes.
func FindQuoted(text string) []string {
	var words []string
	for _, match := range quoted.FindAllStringSubmatch(text, -1) {
		words = append(words, match[1])
	}
	return words
}

// Tables are the names before the colon in each list of members.
func Tables(section string) [][]string {
	var all [][]string
	for block := range strings.SplitSeq(section, "\n\n") {
		if !strings.HasPrefix(strings.TrimSpace(block), "- `") {
			continue
		}
		var names []string
		for line := range strings.Lines(strings.TrimSpace(block)) {
			first, _, _ := strings.Cut(line, "`: ")
			names = append(names, FindQuoted(first+"`")...)
		}
		all = append(all, names)
	}
	return all
}

// RequireDocumented compares the members of JSON with the names that a page has of
// them. An object may stand for its members, or its members for it.
func RequireDocumented(t *testing.T, members, page []string) {
	t.Helper()
	require.NotEmpty(t, page)
	for _, name := range page {
		require.Contains(t, members, name, "the page has a member that the output has not")
	}
	for _, name := range members {
		outer, _, isInner := strings.Cut(name, ".")
		documented := slices.Contains(page, name) || isInner && slices.Contains(page, outer) ||
			slices.ContainsFunc(page, func(s string) bool { return strings.HasPrefix(s, name+".") })
		require.True(t, documented, "the output has the member %s, and the page has not", name)
	}
}
