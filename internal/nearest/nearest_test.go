package nearest_test

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/nearest"
)

func TestWord(t *testing.T) {
	t.Parallel()
	words := []string{"ExportStatus", "ExportArn", "ExportTime", "開始"}
	tests := []struct{ word, want string }{
		{"ExportStaus", "ExportStatus"},
		{"exportstatus", "ExportStatus"},
		{"ExportAnr", "ExportArn"},
		{"Table", ""},
		{"状態名", ""}, // three characters, none of them right
		{"", ""},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, nearest.Word(tt.word, words), tt.word)
	}
}

// The cost of a suggestion was the product of the lengths of two words: 4 GB
// for two names of 20,000 characters.
//
//nolint:paralleltest // it measures memory
func TestSuggestionsForLongNamesTakeLittleMemory(t *testing.T) {
	long, other := strings.Repeat("x", 1<<20), strings.Repeat("y", 1<<20)
	names := make([]string, 3000)
	for i := range names {
		names[i] = strings.Repeat("n", 70) + strconv.Itoa(i)
	}
	for name, nearest := range map[string]func() string{
		"long names":  func() string { return nearest.Word(long, []string{other, long[1:]}) },
		"many names":  func() string { return nearest.Word(strings.Repeat("m", 70), names) },
		"no word":     func() string { return nearest.Word("", []string{other}) },
		"a long word": func() string { return nearest.Word(long, names) },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.Empty(t, nearest(), name)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), name)
	}
}

// Where the candidates are too many, those that come first are compared, and
// one that differs in case alone is found all the same.
func TestWordOfManyLooksAtTheFirst(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("w", 200)
	far := strings.Repeat("w", 150) + strings.Repeat("v", 50)
	names := slices.Repeat([]string{far}, 10_000)
	require.Equal(t, far, nearest.Word(long, append(names, long[1:])))
	require.Equal(t, strings.ToUpper(long), nearest.Word(long, append(names, strings.ToUpper(long))))
}
