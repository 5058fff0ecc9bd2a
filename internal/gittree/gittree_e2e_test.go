//go:build e2e

package gittree_test

import (
	"context"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/jobpoller/jobpoller/internal/gittree"
)

// newRepository makes a repository, with a commit of some files.
func newRepository(t *testing.T, files map[string]string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for _, variable := range os.Environ() { // of a hook, which name another repository
		if name, value, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "GIT_") {
			t.Setenv(name, value) // to have it back
			require.NoError(t, os.Unsetenv(name))
		}
	}
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(folder))
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(name, "a@example.com")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(folder, ".git", "none"))
	for name, text := range files {
		file := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o750))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	git(t, "init", "-q", "-b", "main", folder)
	git(t, "-C", folder, "add", "-A")
	git(t, "-C", folder, "commit", "-q", "-m", "first")
	return folder
}

func git(t *testing.T, args ...string) {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput()
	require.NoError(t, err, "git %v: %s", args, text)
}

func commit(t *testing.T) {
	t.Helper()
	git(t, "add", "-A")
	git(t, "commit", "-q", "-m", "x")
}

func open(t *testing.T, base string) *gittree.Tree {
	t.Helper()
	tree, err := gittree.Open(t.Context(), base)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tree.Close()) })
	return tree
}

func requireText(t *testing.T, tree *gittree.Tree, name, want string) {
	t.Helper()
	text, err := fs.ReadFile(tree, name)
	require.NoError(t, err)
	require.Equal(t, want, string(text))
	info, err := fs.Stat(tree, name)
	require.NoError(t, err)
	require.Equal(t, int64(len(want)), info.Size())
	require.True(t, info.Mode().IsRegular())
}

// The files are those of the commit, by every name of theirs.
func TestE2ETreeHasTheFilesOfACommit(t *testing.T) {
	files := map[string]string{
		"a.json": "a\n", "empty": "", "b/c/d.json": "no line feed", "b/é \"q\"\ttab": "q", "b/\n": "line feed\n", "b/large": string(make([]byte, 1<<20)),
	}
	folder := newRepository(t, files)
	t.Chdir(folder)
	require.NoError(t, os.WriteFile("a.json", []byte("now"), 0o600))
	require.NoError(t, os.RemoveAll("b"))
	require.NoError(t, os.WriteFile("new.json", []byte("now"), 0o600))
	tree := open(t, "HEAD")
	got := map[string]string{}
	require.NoError(t, fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		require.NoError(t, err)
		if !entry.IsDir() {
			text, err := fs.ReadFile(tree, name)
			require.NoError(t, err)
			got[name] = string(text)
		}
		return nil
	}))
	require.Equal(t, files, got)
	found, err := fs.Glob(tree, "b/*/*.json")
	require.NoError(t, err)
	require.Equal(t, []string{"b/c/d.json"}, found)

	requireText(t, tree, filepath.Join(folder, "a.json"), "a\n")
	_, err = tree.Open("new.json")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = tree.Stat("a.json/b")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = tree.Open("../a.json")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, inside := tree.Path("../a.json")
	require.False(t, inside)
	_, err = tree.ReadDir("a.json")
	require.Error(t, err)

	require.NoError(t, os.Mkdir("b", 0o750))
	t.Chdir("b")
	below := open(t, "main")
	requireText(t, below, "c/d.json", "no line feed")
	requireText(t, below, "../a.json", "a\n")
	requireText(t, below, filepath.Join(folder, "a.json"), "a\n")
	require.NoError(t, below.Err())
}

// A folder is read as one of the disk is.
func TestE2ETreeFolders(t *testing.T) {
	t.Chdir(newRepository(t, map[string]string{"b/1": "", "b/2": "", "b/c/3": ""}))
	tree := open(t, "HEAD")
	opened, err := tree.Open("b")
	require.NoError(t, err)
	folder := opened.(fs.ReadDirFile)
	first, err := folder.ReadDir(2)
	require.NoError(t, err)
	require.Len(t, first, 2)
	rest, err := folder.ReadDir(2)
	require.NoError(t, err)
	require.Equal(t, "c", rest[0].Name())
	require.True(t, rest[0].IsDir())
	_, err = folder.ReadDir(2)
	require.ErrorIs(t, err, io.EOF)
	_, err = folder.Read(nil)
	require.ErrorIs(t, err, fs.ErrInvalid)
	require.NoError(t, folder.Close())
}

// A file with another name now is listed under that name, and is read by both.
func TestE2ETreeKnowsNamesNow(t *testing.T) {
	t.Chdir(newRepository(t, map[string]string{"old/a.json": "a text that is long enough to be found\n", "b.json": "b"}))
	require.NoError(t, os.MkdirAll("new/deep", 0o750))
	git(t, "mv", "old/a.json", "new/deep/b.json")
	tree := open(t, "HEAD")
	requireText(t, tree, "new/deep/b.json", "a text that is long enough to be found\n")
	requireText(t, tree, "old/a.json", "a text that is long enough to be found\n")
	require.Equal(t, "new/deep/b.json", tree.NameNow("old/a.json"))
	require.Equal(t, "b.json", tree.NameNow("b.json"))
	listed, err := tree.ReadDir("old")
	require.NoError(t, err)
	require.Empty(t, listed)
	listed, err = tree.ReadDir("new/deep")
	require.NoError(t, err)
	require.Equal(t, "b.json", listed[0].Name())

	t.Chdir("new")
	require.Equal(t, "deep/b.json", open(t, "HEAD").NameNow("../old/a.json"))
}

// Symbolic links lead to files and folders of the commit, and to nothing else.
func TestE2ETreeFollowsLinks(t *testing.T) {
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600))
	t.Chdir(newRepository(t, map[string]string{"a/b.json": "b", "c/x": ""}))
	for name, target := range map[string]string{
		"file": "a/b.json", "c/folder": "../a", "again": "c/folder/b.json", "ring": "ring", "out": filepath.Join(outside, "secret"), "up": "../" + filepath.Base(outside),
	} {
		require.NoError(t, os.Symlink(target, name))
	}
	commit(t)
	tree := open(t, "HEAD")
	for _, name := range []string{"file", "c/folder/b.json", "again"} {
		requireText(t, tree, name, "b")
	}
	for _, name := range []string{"ring", "out", "up/secret", "c/folder/x"} {
		_, err := tree.Open(name)
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	entries, err := tree.ReadDir("c")
	require.NoError(t, err)
	require.Equal(t, fs.ModeSymlink, entries[0].Type())

	linked := filepath.Join(t.TempDir(), "linked")
	working, err := os.Getwd()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(working, linked))
	requireText(t, tree, filepath.Join(linked, "a", "b.json"), "b")
}

// In a partial clone git fetches what is read, and nothing else.
func TestE2ETreeOfAPartialClone(t *testing.T) {
	origin := newRepository(t, map[string]string{"a.json": "a", "b.json": "b", "c/d.json": "d"})
	git(t, "-C", origin, "config", "uploadpack.allowFilter", "true")
	git(t, "-C", origin, "config", "uploadpack.allowAnySHA1InWant", "true")
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, "clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+origin, clone)
	t.Chdir(clone)
	missing := func() int {
		text, err := exec.CommandContext(t.Context(), "git", "rev-list", "--objects", "--missing=print", "HEAD").Output()
		require.NoError(t, err)
		return strings.Count("\n"+string(text), "\n?")
	}
	require.Equal(t, 3, missing())
	tree := open(t, "HEAD")
	listed, err := tree.ReadDir(".")
	require.NoError(t, err)
	require.Len(t, listed, 3)
	require.Equal(t, 3, missing())
	requireText(t, tree, "b.json", "b")
	require.Equal(t, 2, missing())
}

// A branch is compared with the commit at which it left its base.
func TestE2ETreeIsWhereTheBranchLeft(t *testing.T) {
	t.Chdir(newRepository(t, map[string]string{"a": "1"}))
	git(t, "checkout", "-q", "-b", "change")
	require.NoError(t, os.WriteFile("a", []byte("2"), 0o600))
	commit(t)
	git(t, "checkout", "-q", "main")
	require.NoError(t, os.WriteFile("b", []byte("3"), 0o600))
	commit(t)
	git(t, "checkout", "-q", "change")
	tree := open(t, "main")
	requireText(t, tree, "a", "1")
	_, err := tree.Open("b")
	require.ErrorIs(t, err, fs.ErrNotExist)

	git(t, "checkout", "-q", "--orphan", "apart")
	commit(t)
	requireText(t, open(t, "main"), "b", "3")
}

// An interrupt ends git, and a file that git has lost is an error.
func TestE2ETreeEnds(t *testing.T) {
	folder := newRepository(t, map[string]string{"a": "1", "b": "2"})
	t.Chdir(folder)
	ctx, cancel := context.WithCancel(t.Context())
	tree, err := gittree.Open(ctx, "HEAD")
	require.NoError(t, err)
	requireText(t, tree, "a", "1")
	cancel()
	require.NoError(t, tree.Close())
	_, err = gittree.Open(ctx, "HEAD")
	require.ErrorIs(t, err, context.Canceled)

	lost := open(t, "HEAD")
	objects, err := filepath.Glob(filepath.Join(folder, ".git", "objects", "??", "*"))
	require.NoError(t, err)
	for _, object := range objects {
		require.NoError(t, os.Remove(object))
	}
	_, err = lost.Open("b")
	require.ErrorContains(t, err, "missing")
	require.EqualError(t, lost.Err(), "git cat-file: d8263ee9860594d2806b0dfd1bfd17528b0ba2a4 missing")
}
