package linked_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/release/linked"
)

// Two programs link different packages of one module, and one text is that of two
// modules.
func TestUnionAndNotices(t *testing.T) {
	t.Parallel()
	shared, inner := linked.Text{Name: "LICENSE", Content: "shared\n"}, linked.Text{Name: "in/LICENSE", Content: "inner\n"}
	first := []linked.Module{{Path: "b", Version: "v1", Licences: []string{"MIT"}, Texts: []linked.Text{shared}}}
	second := []linked.Module{
		{Path: "a", Version: "v2", Licences: []string{"MIT"}, Texts: []linked.Text{shared}},
		{Path: "b", Version: "v1", Licences: []string{"BSD-3-Clause", "MIT"}, Texts: []linked.Text{shared, inner}},
	}
	for _, union := range [][]linked.Module{linked.Union(first, second), linked.Union(second, first)} {
		require.Equal(t, []linked.Module{second[0], second[1]}, union)
		require.Equal(t, "BSD-3-Clause AND MIT", union[1].Expression())
		require.Regexp(t, `(?s)
    a v2  MIT
    b v1  BSD-3-Clause AND MIT

std is the standard library of Go\.

=+
a v2, LICENSE
b v1, LICENSE

shared

=+
b v1, in/LICENSE

inner
$`, linked.Notices(union))
	}
}
