package tests_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ignored tells whether .gitignore names the file or folder. Hidden folders are
// git's and editors', but for those of CI.
func ignored(entry fs.DirEntry) bool {
	name := entry.Name()
	if !entry.IsDir() {
		return slices.Contains([]string{".test", ".out"}, filepath.Ext(name))
	}
	hidden := strings.HasPrefix(name, ".") && !slices.Contains([]string{"..", ".ci", ".github"}, name)
	return hidden || slices.Contains([]string{"bin", "cdk.out", "dist", "node_modules"}, name)
}

// machinePath matches an absolute path that exists on one machine only.
var machinePath = regexp.MustCompile(`(?:^|[^\w/.$}-])(?:/(?:home|root|Users|work)/|[A-Z]:\\Users\\)\w`)

func TestNoFileHoldsAMachinePath(t *testing.T) {
	t.Parallel()
	files := 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && ignored(entry):
			return fs.SkipDir
		case ignored(entry) || !entry.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		require.Empty(t, string(machinePath.Find(text)), "in %s", path)
		files++
		return err
	})
	require.NoError(t, err)
	require.Greater(t, files, 20)
}

func TestMachinePathPattern(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want bool
	}{
		{"see /" + "home/ann/x", true},
		{`"/` + `Users/ann"`, true},
		{"/" + "root/x", true},
		{`C:\` + `Users\ann`, true},
		{"https://example.com/home/x", false},
		{"internal/work/x", false},
		{"/var/task/bootstrap", false},
		{"$HOME/root/x", false},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, machinePath.MatchString(tt.text), tt.text)
	}
}
