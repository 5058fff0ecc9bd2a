package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore"
	waiterlint "github.com/jobpoller/jobpoller/pollcore/catalog/lint"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// What lint writes of definitions and of waiters is in one table.
func TestJSONPageOfLint(t *testing.T) {
	t.Parallel()
	section := readJSONPage(t)["jobpoller lint -o json"]
	all := members(t, func(f waiterlint.Finding) any {
		f.Acceptor = 0
		return finding{file: "x", machine: "x", body: f}
	})
	requireDocumented(t, all, tables(section)[0])
	require.Subset(t, all, members(t, func(f lint.Finding) any { return finding{file: "x", body: f} }))
	for severity := range diag.Note + 1 {
		require.Contains(t, section, "`"+severity.String()+"`")
	}
	var inner []string
	for _, name := range all {
		if within, ok := strings.CutPrefix(name, "lateness."); ok {
			inner = append(inner, within)
		}
	}
	inner = append(inner, members(t, itself[waiterlint.Value])...)
	require.Subset(t, findQuoted(section), inner)
	for _, verdict := range []pollcore.Verdict{pollcore.Success, pollcore.Failure, pollcore.Retry} {
		require.Contains(t, section, "`"+string(verdict)+"`")
	}

	_, others, ok := strings.Cut(section, "With `--rules`")
	require.True(t, ok)
	words := slices.DeleteFunc(findQuoted(others), func(word string) bool { return word == "definition" || word == "waiter" })
	require.ElementsMatch(t, members(t, itself[listedRule]), words)
	for _, r := range allRules() {
		require.Contains(t, []string{"definition", "waiter"}, r.Of)
	}
}

func TestJSONPageOfLoops(t *testing.T) {
	t.Parallel()
	section := readJSONPage(t)["jobpoller lint --loops -o json"]
	lists := tables(section)
	require.Len(t, lists, 2)
	requireDocumented(t, members(t, itself[pollLoop]), lists[0])
	requireDocumented(t, members(t, itself[loopRow]), lists[1])
	for _, word := range []string{
		string(lint.MeansSuccess), string(lint.MeansFailure), string(lint.MeansRunning), string(lint.MeansUnknown),
		string(lint.PollsOn), string(lint.EndsSuccess), string(lint.EndsFailure), string(lint.GoesOn), string(lint.EndsUnknown),
		string(lint.Unbounded), string(lint.ByTimeout), string(lint.ByCount), string(lint.ByTime), string(lint.ByOther),
	} {
		require.Contains(t, section, "`"+word+"`")
	}
}
