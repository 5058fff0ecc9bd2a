package folder_test

import (
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/pollcore/startrecord"
	"github.com/jobpoller/jobpoller/pollcore/startrecord/internal/folder"
)

// FuzzOf: a prefix that is taken makes keys that are of bounded length and that
// nothing reads as another's. What is wrong with one is said.
func FuzzOf(f *testing.F) {
	for _, seed := range []string{"", "/", "a", "a/", "a//", "/a", "a/./b", "..", "team a/ü", "\xff", "a\x00", strings.Repeat("p", 300)} {
		f.Add(seed)
	}
	const maxKey = 1024
	f.Fuzz(func(t *testing.T, prefix string) {
		before, problems := folder.Of(prefix, maxKey)
		for _, problem := range problems {
			require.NotEmpty(t, problem)
		}
		if problems != nil {
			return
		}
		require.Equal(t, strings.TrimSuffix(prefix, "/"), strings.TrimSuffix(before, "/"))
		key := before + "record.json"
		require.Equal(t, path.Clean(key), key)
		require.False(t, path.IsAbs(key))
		require.True(t, utf8.ValidString(key))
		require.LessOrEqual(t, len(before)+startrecord.MaxPath, maxKey)
	})
}
