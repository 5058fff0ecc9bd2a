package schematest_test

import (
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/schema/schematest"
)

const root = "../../.."

// The page has a row for each file, and each file is a schema.
func TestPageHasTheFiles(t *testing.T) {
	t.Parallel()
	rows, err := schematest.Rows(root)
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(root, schematest.Folder, "*.json"))
	require.NoError(t, err)
	var named, there []string
	for _, row := range rows {
		if row.Schema != "" {
			named = append(named, row.Schema)
		}
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".schema.json")
		there = append(there, name)
		_, err := schematest.NewValidator(root, name, false)
		require.NoError(t, err, name)
	}
	require.ElementsMatch(t, there, named)
	require.NotEmpty(t, there)
}

// What is printed against its schema is told, by a command and its flags.
func TestPrintedIsChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, flags, output, text, want string
	}{
		{"jobpoller lint", "rules", "json", `[{"name": "a", "about": "b", "of": "waiter"}]`, ""},
		{"jobpoller lint", "rules", "json", `[{"name": "a", "about": "b", "of": "waiter", "more": 1}]`, "additional properties 'more' not allowed"},
		{"jobpoller lint", "", "json", `[{"name": "a", "about": "b", "of": "waiter"}]`, "json is not as lint: "},
		{"jobpoller lint", "rules", "json", `{"name": "a"}`, "got object, want array"},
		{"jobpoller lint", "rules", "json", "3 rules", "invalid character"},
		{"jobpoller lint", "rules", "text", "3 rules", ""},
		{"jobpoller compile", "", "json", "{}", ""},
		{"jobpoller run", "", "jsonl", "{\"event\": {}}\n{\"event\": {\"id\": 1}}\n", ""},
		{"jobpoller run", "", "jsonl", "{\"event\": {}}\n{\"evnt\": {}}\n", "jsonl is not as run-lines"},
		{"jobpoller records show", "", "", `{"location": "a"}`, ""},
		{"jobpoller records show", "", "", `{"place": "a"}`, "missing property 'location'"},
		{"jobpoller report", "", "json", `{}`, "has no row for jobpoller report -o json"},
		{"jobpoller report", "", "", `text`, ""},
	} {
		printed := schematest.Printed{Path: c.path, Output: c.output, Text: []byte(c.text), Changed: func(flag string) bool { return flag == c.flags }}
		err := printed.Check(root)
		if c.want == "" {
			require.NoError(t, err, "%v", c)
		} else {
			require.ErrorContains(t, err, c.want, "%v", c)
		}
	}
}

// A reader and a schema that differ do not agree.
func TestAgreement(t *testing.T) {
	t.Parallel()
	v, err := schematest.NewValidator(root, "schedule", false)
	require.NoError(t, err)
	refuse := func([]byte) error { return errors.New("too late") }
	take := func([]byte) error { return nil }
	good, bad := []byte(`{"delays": [1], "then": 1}`), []byte(`{"delays": [1]}`)
	require.ErrorContains(t, (&schematest.Agreement{Schema: v, Read: take}).Check(bad, bad), "the schema refuses what is read: ")
	require.ErrorContains(t, (&schematest.Agreement{Schema: v, Read: refuse}).Check(good, good), "the schema takes what is refused: too late")
	a := &schematest.Agreement{Schema: v, Read: refuse, Unsaid: []*regexp.Regexp{regexp.MustCompile("late"), regexp.MustCompile("early")}}
	require.NoError(t, a.Check(good, good))
	require.Equal(t, []string{"early"}, a.Unmet())
	require.NoError(t, (&schematest.Agreement{Schema: v, Read: take}).Check(good, good))
}

func TestVary(t *testing.T) {
	t.Parallel()
	var all []string
	require.NoError(t, schematest.Vary([]byte(`{"a": [1], "b": {"c": true}}`), func(text []byte) error {
		all = append(all, string(text))
		return nil
	}))
	for _, want := range []string{`{"a":[1]}`, `{"b":{"c":true}}`, `{"a":["x"],"b":{"c":true}}`, `{"a":[1,1],"b":{"c":true}}`, `{"a":[1],"b":{}}`, `{"a":[1],"b":{"c":-1}}`, `null`} {
		require.True(t, slices.Contains(all, want), "%s\n%s", want, strings.Join(all, "\n"))
	}
}
