package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/fix"
)

func TestJSONPageOfFix(t *testing.T) {
	t.Parallel()
	section := readJSONPage(t)["jobpoller fix -o json"]
	var words []string
	for _, word := range findQuoted(section) {
		words = append(words, strings.Split(word, ".")...)
	}
	all := slices.Concat(members(t, itself[fixed]), members(t, itself[fix.Loop]), members(t, itself[fix.Route]), members(t, itself[fix.Fragment]), members(t, itself[fix.Trial]))
	require.Greater(t, len(all), 15)
	for _, name := range all {
		require.Subset(t, words, strings.Split(name, "."))
	}
}
