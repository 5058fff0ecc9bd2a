package journal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/statemachines/server/journal"
)

func records(t *testing.T, j *journal.Journal) []string {
	t.Helper()
	var out []string
	require.NoError(t, j.Records(func(_ int, record []byte) error {
		out = append(out, string(record))
		return nil
	}))
	return out
}

// A journal that is cut at any byte has the records that were whole, and goes on.
func TestTornJournal(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	j, err := journal.Open(folder, "v1")
	require.NoError(t, err)
	want := []string{`{"a":1}`, `{"b":"é"}`, `[]`}
	for _, record := range want {
		require.NoError(t, j.Append([]byte(record)))
	}
	require.Equal(t, want, records(t, j))
	require.NoError(t, j.Close())
	require.ErrorIs(t, j.Append([]byte(`{}`)), os.ErrClosed)
	file := filepath.Join(folder, "journal.jsonl")
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	for size := range len(whole) + 1 {
		require.NoError(t, os.WriteFile(file, whole[:size], 0o600))
		j, err := journal.Open(folder, "v2")
		require.NoError(t, err, "cut at %d", size)
		left := want[:max(0, bytes.Count(whole[:size], []byte("\n"))-1)]
		require.ElementsMatch(t, left, records(t, j))
		require.NoError(t, j.Append([]byte(`"next"`)))
		require.Equal(t, append(append([]string{}, left...), `"next"`), records(t, j))
		require.NoError(t, j.Close())
	}
}

func TestForeignFiles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"another file":   {"hello\n", `line 1: this is not a journal of jobpoller serve. The file is kept as it is; give another folder, or move it away`},
		"no line":        {"hello", `line 1: this is not a journal`},
		"another format": {`{"journal":"jobpoller serve","format":9,"program":"v9"}` + "\n", `format 9, made by jobpoller v9; this version reads format 1`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			file := filepath.Join(folder, "journal.jsonl")
			require.NoError(t, os.WriteFile(file, []byte(tt.text), 0o600))
			_, err := journal.Open(folder, "v1")
			var damaged *journal.DamageError
			require.ErrorAs(t, err, &damaged)
			require.ErrorContains(t, err, tt.want)
			kept, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, tt.text, string(kept))
		})
	}
}

func TestDamagedRecord(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	j, err := journal.Open(folder, "v1")
	require.NoError(t, err)
	require.NoError(t, j.Append([]byte(`{"a":`)))
	err = j.Records(func(int, []byte) error { return nil })
	require.ErrorContains(t, err, "line 2: this is not JSON")
	require.NoError(t, j.Close())
}

func TestOneProcessAFolder(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	j, err := journal.Open(folder, "v1")
	require.NoError(t, err)
	_, err = journal.Open(folder, "v1")
	require.ErrorIs(t, err, journal.ErrInUse)
	require.NoError(t, j.Close())
	j, err = journal.Open(folder, "v1")
	require.NoError(t, err)
	require.NoError(t, j.Close())
}

// The new file takes the place of whatever a killed process, or somebody else, has left
// under its name: a link to another file is not followed.
func TestRewriteFollowsNoLink(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	other := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.WriteFile(other, []byte("mine"), 0o600))
	require.NoError(t, os.Symlink(other, filepath.Join(folder, "journal.jsonl.new")))
	j, err := journal.Open(folder, "v1")
	require.NoError(t, err)
	require.NoError(t, j.Append([]byte(`{"a":1}`)))
	require.NoError(t, j.Rewrite(func([]byte) bool { return true }, []byte(`{"b":2}`)))
	require.Equal(t, []string{`{"a":1}`, `{"b":2}`}, records(t, j))
	require.NoError(t, j.Close())
	kept, err := os.ReadFile(other)
	require.NoError(t, err)
	require.Equal(t, "mine", string(kept))
	info, err := os.Lstat(filepath.Join(folder, "journal.jsonl"))
	require.NoError(t, err)
	require.True(t, info.Mode().IsRegular())
}
