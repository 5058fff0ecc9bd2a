package lint_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	"github.com/jobpoller/jobpoller/pollcore/catalog/lint"
)

// docs/reference/waiter-lint.md has a section for each rule, in their order, and the
// figures that the rule late works out. -update writes these.
func TestRulesAreDocumented(t *testing.T) {
	t.Parallel()
	const file = "../../../docs/reference/waiter-lint.md"
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var sections []string
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			sections = append(sections, strings.TrimSpace(name))
		}
	}
	var rules []string
	for _, r := range lint.Rules() {
		rules = append(rules, r.Name)
	}
	require.Equal(t, rules, sections)

	var table strings.Builder
	for _, delays := range [][2]int{{20, 120}, {60, 3600}, {120, 21600}} {
		fmt.Fprintf(&table, "| %d s, %d s |", delays[0], delays[1])
		for _, job := range []time.Duration{10 * time.Minute, time.Hour, 4 * time.Hour} {
			w := &pollcore.Waiter{Name: "W", MinDelay: delays[0], MaxDelay: delays[1]}
			l := lint.LatenessOf(w, job)
			fmt.Fprintf(&table, " %.0f s, %.0f s |", l.Mean.Seconds(), l.P95.Seconds())
		}
		table.WriteString("\n")
	}
	const head = "|---|---|---|---|\n"
	before, rest, found := strings.Cut(string(text), head)
	require.True(t, found)
	_, after, found := strings.Cut(rest, "\nRemedy: a maxDelay")
	require.True(t, found)
	want := before + head + table.String() + "\nRemedy: a maxDelay" + after
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o600))
		return
	}
	require.Equal(t, want, string(text), "run go test ./pollcore/catalog/lint -update")
}
