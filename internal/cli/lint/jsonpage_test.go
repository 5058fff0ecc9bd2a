package lint

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/pollcore"
	waiterlint "github.com/jobpoller/jobpoller/pollcore/catalog/lint"
	"github.com/jobpoller/jobpoller/pollcore/diag"
	"github.com/jobpoller/jobpoller/statemachines/lint"
)

// What lint writes of definitions and of waiters is in one table.
func TestJSONPageOfLint(t *testing.T) {
	t.Parallel()
	section := clitest.ReadPage(t)["jobpoller lint -o json"]
	all := clitest.Members(t, func(f waiterlint.Finding) any {
		f.Acceptor = 0
		return Finding{file: "x", machine: "x", of: seat{key: machineKey{"y", "x"}}, weight: 1, body: f}
	})
	clitest.RequireDocumented(t, all, clitest.Tables(section)[0])
	require.Subset(t, all, clitest.Members(t, func(f lint.Finding) any { return Finding{file: "x", body: f} }))
	for severity := range diag.Note + 1 {
		require.Contains(t, section, "`"+severity.String()+"`")
	}
	var inner []string
	for _, name := range all {
		if within, ok := strings.CutPrefix(name, "lateness."); ok {
			inner = append(inner, within)
		}
	}
	inner = append(inner, clitest.Members(t, clitest.Itself[waiterlint.Value])...)
	require.Subset(t, clitest.FindQuoted(section), inner)
	for _, verdict := range []pollcore.Verdict{pollcore.Success, pollcore.Failure, pollcore.Retry} {
		require.Contains(t, section, "`"+string(verdict)+"`")
	}

	_, others, ok := strings.Cut(section, "With `--rules`")
	require.True(t, ok)
	words := slices.DeleteFunc(clitest.FindQuoted(others), func(word string) bool { return word == "definition" || word == "waiter" })
	require.ElementsMatch(t, clitest.Members(t, clitest.Itself[kit.ListedRule]), words)
	for _, r := range kit.Rules() {
		require.Contains(t, []string{"definition", "waiter"}, r.Of)
	}
}

func TestJSONPageOfSettings(t *testing.T) {
	t.Parallel()
	lists := clitest.Tables(clitest.ReadPage(t)["jobpoller lint --show-config -o json"])
	require.Len(t, lists, 2)
	clitest.RequireDocumented(t, clitest.Members(t, clitest.Itself[shownSettings]), lists[0])
	clitest.RequireDocumented(t, clitest.Members(t, clitest.Itself[shownSetting]), lists[1])
}

func TestJSONPageOfLoops(t *testing.T) {
	t.Parallel()
	section := clitest.ReadPage(t)["jobpoller lint --loops -o json"]
	lists := clitest.Tables(section)
	require.Len(t, lists, 2)
	clitest.RequireDocumented(t, clitest.Members(t, clitest.Itself[pollLoop]), lists[0])
	clitest.RequireDocumented(t, clitest.Members(t, clitest.Itself[loopRow]), lists[1])
	for _, word := range []string{
		string(lint.MeansSuccess), string(lint.MeansFailure), string(lint.MeansRunning), string(lint.MeansUnknown),
		string(lint.MeansEnding), string(lint.MeansUnclear),
		string(lint.PollsOn), string(lint.EndsSuccess), string(lint.EndsFailure), string(lint.StartsAgain), string(lint.GoesOn), string(lint.EndsUnknown),
		string(lint.Unbounded), string(lint.ByTimeout), string(lint.ByCount), string(lint.ByTime), string(lint.ByOther),
	} {
		require.Contains(t, section, "`"+word+"`")
	}
}
