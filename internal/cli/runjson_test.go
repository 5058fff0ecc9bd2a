package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJSONPageOfRun(t *testing.T) {
	t.Parallel()
	run := pageTable(t, "run", 0)
	requireDocumented(t, members(t, itself[report]), run)
	mocks := readJSONPage(t)["jobpoller run --mocks FILE -o json"]
	_, without, ok := strings.Cut(mocks, "As above, without ")
	require.True(t, ok)
	without, _, _ = strings.Cut(without, ", and with:")
	ofMocks := slices.DeleteFunc(slices.Clone(run), func(name string) bool { return slices.Contains(findQuoted(without), name) })
	requireDocumented(t, members(t, itself[simulation]), append(ofMocks, tables(mocks)[0]...))
}
