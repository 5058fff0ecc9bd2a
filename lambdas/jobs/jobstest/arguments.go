package jobstest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/jsontree"
	"github.com/jobpoller/jobpoller/lambdas/jobs"
	"github.com/jobpoller/jobpoller/pollcore/awserror"
	"github.com/jobpoller/jobpoller/pollcore/awserror/goerror"
)

// testArguments makes bad arguments of the good ones.
func testArguments(t *testing.T, c *Case) {
	h := newHarness(t, c)
	doc, err := jsontree.Parse([]byte(c.Arguments))
	require.NoError(t, err, "Case.Arguments")
	good := members(t, doc.Root)
	bad := []BadArguments{
		{"nothing", ``, ""},
		{"half an object", `{`, ""},
		{"two objects", `{} {}`, ""},
		{"an array", `[]`, ""},
		{"a string", `"x"`, ""},
		{"a number", `7`, ""},
		{"null", `null`, ""},
	}
	add := func(name, want string, changed ...member) {
		bad = append(bad, BadArguments{name, write(changed), want})
	}
	for i, m := range good {
		place := fmt.Sprintf("%d:", i+2)
		add(m.name+" twice", m.name, append(slices.Clone(good), m)...)
		add(m.name+" misspelled", m.name+"x", replaceAt(good, i, member{m.name + "x", m.text})...)
		add(m.name+" misspelled, suggestion", fmt.Sprintf("did you mean %q", m.name), replaceAt(good, i, member{m.name + "x", m.text})...)
		add(m.name+" in two spellings", m.name, append(slices.Clone(good), member{flip(m.name), m.text})...)
		if !slices.Contains(c.AnyJSON, m.name) {
			add(m.name+" null", place, replaceAt(good, i, member{m.name, "null"})...)
			add(m.name+" of another type", "/"+m.name, replaceAt(good, i, member{m.name, otherType(m.text)})...)
		}
	}
	place := fmt.Sprintf("%d:3: ", len(good)+2)
	add("unknown member", place, append(slices.Clone(good), member{"JobpollerUnknown", "1"})...)
	add("name of the unknown member", "JobpollerUnknown", append(slices.Clone(good), member{"JobpollerUnknown", "1"})...)
	for _, name := range c.Reserved {
		add("reserved "+name, name, append(slices.Clone(good), member{name, `"x"`})...)
	}
	for _, name := range c.Required {
		require.True(t, slices.ContainsFunc(good, func(m member) bool { return m.name == name }), "Case.Arguments lacks the required %s", name)
		add("without "+name, fmt.Sprintf("%q", name), slices.DeleteFunc(slices.Clone(good), func(m member) bool { return m.name == name })...)
	}
	for _, b := range append(bad, c.Bad...) {
		_, err := h.driver.Start(t.Context(), jobs.Request{Arguments: json.RawMessage(b.Arguments), Token: token(1)})
		require.ErrorIs(t, err, jobs.ErrArguments, "%s: %s", b.Name, b.Arguments)
		require.Equal(t, awserror.Refused, goerror.Classify(err), b.Name)
		require.ErrorContains(t, err, h.driver.Name(), b.Name)
		require.ErrorContains(t, err, b.Want, b.Name)
		require.Empty(t, h.server.take(), "%s: a request was sent for bad arguments", b.Name)
	}
	require.Zero(t, h.service.Starts())
	// The same text, written by the same function, is good.
	_, err = h.driver.Start(t.Context(), jobs.Request{Arguments: json.RawMessage(write(good)), Token: token(1)})
	require.NoError(t, err)
}

// member is a member of an object and the text of its value.
type member struct{ name, text string }

func members(t *testing.T, n *jsontree.Node) []member {
	t.Helper()
	all := make([]member, len(n.Members))
	for i, m := range n.Members {
		var line bytes.Buffer
		require.NoError(t, json.Compact(&line, m.Value.Raw()))
		all[i] = member{m.Name, line.String()}
	}
	return all
}

// write writes an object with a member a line.
func write(all []member) string {
	lines := make([]string, len(all))
	for i, m := range all {
		lines[i] = fmt.Sprintf("  %q: %s", m.name, m.text)
	}
	return "{\n" + strings.Join(lines, ",\n") + "\n}"
}

func replaceAt(all []member, i int, m member) []member {
	changed := slices.Clone(all)
	changed[i] = m
	return changed
}

// flip changes the case of the first letter.
func flip(name string) string {
	letters := []rune(name)
	if unicode.IsUpper(letters[0]) {
		letters[0] = unicode.ToLower(letters[0])
	} else {
		letters[0] = unicode.ToUpper(letters[0])
	}
	return string(letters)
}

// otherType is a value that is not of the type of the text.
func otherType(text string) string {
	if strings.HasPrefix(text, `"`) {
		return "[7]"
	}
	return `"x"`
}
