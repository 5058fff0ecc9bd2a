package tests_test

import (
	"bytes"
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
		// In a worktree .git is a file, with the place of the repository.
		return name == ".git" || slices.Contains([]string{".test", ".out"}, filepath.Ext(name))
	}
	hidden := strings.HasPrefix(name, ".") && !slices.Contains([]string{"..", ".ci", ".github"}, name)
	return hidden || slices.Contains([]string{"bin", "cdk.out", "dist", "node_modules", "rapid"}, name)
}

// machinePath matches an absolute path that exists on one machine only.
var machinePath = regexp.MustCompile(`(?:^|[^\w/.$}-])(?:/(?:home|root|Users|work)/|[A-Z]:\\Users\\)\w`)

// machineFolders are in each text that machinePath matches, and sooner found.
var machineFolders = []string{"/home/", "/root/", "/Users/", "/work/", `:\Users\`}

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
		if slices.ContainsFunc(machineFolders, func(folder string) bool { return bytes.Contains(text, []byte(folder)) }) {
			require.Empty(t, string(machinePath.Find(text)), "in %s", path)
		}
		files++
		return err
	})
	require.NoError(t, err)
	require.Greater(t, files, 20)
}

// listens matches what opens a socket that other processes can connect to.
var listens = regexp.MustCompile(`\bnet\.(Listen|ListenConfig|FileListener)\b|\.ListenAndServe|\bhttptest\.New(Unstarted|TLS)?Server\b`)

// Whoever serves something on this machine does it through internal/loopback,
// which refuses strangers. Test code aside: what a user runs.
func TestNothingElseListens(t *testing.T) {
	t.Parallel()
	found := []string{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch kit := strings.TrimPrefix(filepath.ToSlash(path), "../"); {
		case err != nil:
			return err
		case entry.IsDir() && (ignored(entry) || kit == "tests" || kit == "lambdas/jobs/jobstest" || kit == "lambdas/handler/handlertest" || kit == "internal/dynalite" || kit == "internal/cli/clitest"):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if listens.Match(text) {
			found = append(found, filepath.ToSlash(path))
		}
		return err
	})
	require.NoError(t, err)
	require.Equal(t, []string{"../internal/loopback/server.go"}, found)
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
		if tt.want {
			require.True(t, slices.ContainsFunc(machineFolders, func(folder string) bool { return strings.Contains(tt.text, folder) }), tt.text)
		}
	}
}
