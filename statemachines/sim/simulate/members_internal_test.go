package simulate

import (
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The names are those that a pattern finds.
func TestMembers(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"a_1", "b", "c.d", "e"}, slices.Collect(members(`"$.a_1[0].b['c.d'].e", .5 ['x ['']`)))
	pattern := regexp.MustCompile(`\.([A-Za-z_]\w*)|\['([^']+)'\]`)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune(`.['']a_1é "`))).Draw(t, "text")
		var want []string
		for _, match := range pattern.FindAllStringSubmatch(text, -1) {
			want = append(want, match[1]+match[2])
		}
		require.Equal(t, want, slices.Collect(members(text)))
	})
}
