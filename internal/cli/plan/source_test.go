package plan

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/internal/pastjobs"
)

// A file that is too long to read is refused, and so is a folder.
func TestPlanRefusesLargeFiles(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "large")
	require.NoError(t, os.WriteFile(file, []byte("1\n"), 0o600))
	require.NoError(t, os.Truncate(file, pastjobs.MaxBytes+1))
	for name, want := range map[string]string{
		file:                  file + " has more than 64 MiB: pass fewer durations",
		filepath.Dir(file):    filepath.Dir(file) + " is a folder: pass a file",
		file + ".nonexistent": "there is no file " + file + ".nonexistent",
	} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, kit.ExitUsage, runCommand(t.Context(), []string{"plan", "--durations", name}, &stdout, &stderr))
		require.Contains(t, stderr.String(), "--durations: "+want)
	}
}

// A note is short, whatever a file gives as reasons.
func TestManyReasons(t *testing.T) {
	t.Parallel()
	var file strings.Builder
	for i := range 1000 {
		file.WriteString(`{"executionArn": "a` + strconv.Itoa(i) + `", "jobs": [], "leftOut": {"` + strconv.Itoa(i) + strings.Repeat("x", 1000) + `": 1}}` + "\n")
	}
	p, err := pastjobs.Parse([]byte(file.String()), nil, "")
	require.NoError(t, err)
	notes := leftNotes(p)
	require.Len(t, notes, 11)
	require.Equal(t, "left out: jobs for 990 more reasons", notes[10])
	require.Less(t, len(notes[0]), 100)
}
