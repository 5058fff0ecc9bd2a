package fix

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/clitest"
	"github.com/jobpoller/jobpoller/statemachines/fix"
)

func TestJSONPageOfFix(t *testing.T) {
	t.Parallel()
	section := clitest.ReadPage(t)["jobpoller fix -o json"]
	var words []string
	for _, word := range clitest.FindQuoted(section) {
		words = append(words, strings.Split(word, ".")...)
	}
	all := slices.Concat(clitest.Members(t, clitest.Itself[fixed]), clitest.Members(t, clitest.Itself[fix.Loop]), clitest.Members(t, clitest.Itself[fix.Route]), clitest.Members(t, clitest.Itself[fix.Fragment]), clitest.Members(t, clitest.Itself[fix.Trial]))
	require.Greater(t, len(all), 15)
	for _, name := range all {
		require.Subset(t, words, strings.Split(name, "."))
	}
}
