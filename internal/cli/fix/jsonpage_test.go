package fix

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/statemachines/edit"
	"github.com/jobpoller/jobpoller/statemachines/fix"
	"github.com/jobpoller/jobpoller/statemachines/trial"
)

func TestJSONPageOfFix(t *testing.T) {
	t.Parallel()
	for heading, all := range map[string][]string{
		"jobpoller fix -o json": slices.Concat(clitest.Members(t, clitest.Itself[repaired]), clitest.Members(t, clitest.Itself[repair]),
			clitest.Members(t, clitest.Itself[trial.Kind]), clitest.Members(t, clitest.Itself[edit.Edit])),
		"jobpoller fix --replace -o json": slices.Concat(clitest.Members(t, clitest.Itself[fixed]), clitest.Members(t, clitest.Itself[fix.Loop]), clitest.Members(t, clitest.Itself[fix.Route]),
			clitest.Members(t, clitest.Itself[fix.Fragment]), clitest.Members(t, clitest.Itself[fix.Trial])),
	} {
		var words []string
		for _, word := range clitest.FindQuoted(clitest.ReadPage(t)[heading]) {
			words = append(words, strings.Split(word, ".")...)
		}
		require.Greater(t, len(all), 15)
		for _, name := range all {
			require.Subset(t, words, strings.Split(name, "."), heading)
		}
	}
}
