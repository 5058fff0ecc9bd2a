// Package gittree reads the files that a commit of a git repository has.
package gittree

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/jobpoller/jobpoller/internal/terminal"
)

// Tree has the files of a commit as a file system, for names as a command line has them:
// relative to the working folder, or absolute. A file that git finds under another name now
// is listed under that name, and is read by both. A Tree must be closed.
type Tree struct {
	// Base is what Open was asked for, and Commit the commit whose files these are.
	Base, Commit string

	folder  string // the working folder
	prefix  string // the working folder in the repository
	top     string // the folder of the repository
	root    *node
	renamed map[string]string // the names now of files that have another one, by the old ones
	blobs   *blobs
}

// Open reads which files a commit has: the one at which the branch of the working folder left
// base, so that nothing counts that has happened to base since.
func Open(ctx context.Context, base string) (*Tree, error) {
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	t := &Tree{Base: base, folder: folder, root: newFolder(".", ""), renamed: map[string]string{}}
	places, err := git(ctx, "rev-parse", "--show-toplevel", "--show-prefix")
	if err != nil {
		return nil, explainRepository(err)
	}
	top, prefix, _ := strings.Cut(places, "\n")
	t.top, t.prefix = filepath.FromSlash(top), path.Clean(strings.TrimSuffix(prefix, "\n"))
	if t.Commit, err = findCommit(ctx, base); err != nil {
		return nil, err
	}
	if err := t.list(ctx); err != nil {
		return nil, err
	}
	if err := t.rename(ctx); err != nil {
		return nil, err
	}
	t.blobs = newBlobs(ctx)
	return t, nil
}

// Path returns where in the repository a file is; false for one outside.
func (t *Tree) Path(name string) (string, bool) {
	whole, err := filepath.Abs(filepath.FromSlash(name))
	if err != nil {
		return "", false
	}
	if relative, err := filepath.Rel(t.folder, whole); err == nil {
		if in := path.Join(t.prefix, filepath.ToSlash(relative)); filepath.IsLocal(in) {
			return in, true
		}
	}
	if linked, err := filepath.EvalSymlinks(whole); err == nil {
		whole = linked
	}
	in, err := filepath.Rel(t.top, whole)
	return filepath.ToSlash(in), err == nil && filepath.IsLocal(in)
}

// NameNow is the name of a file of the commit as the working folder has it now.
func (t *Tree) NameNow(name string) string {
	in, ok := t.Path(name)
	now := t.renamed[in]
	if !ok || now == "" {
		return name
	}
	relative, err := filepath.Rel(filepath.FromSlash(t.prefix), filepath.FromSlash(now))
	if err != nil {
		return name
	}
	return filepath.ToSlash(relative)
}

// Top is the folder of the repository.
func (t *Tree) Top() string { return t.top }

// Open implements fs.FS.
func (t *Tree) Open(name string) (fs.File, error) {
	n, err := t.resolve("open", name)
	if err != nil {
		return nil, err
	}
	if n.IsDir() {
		return &folder{node: n, left: n.entries(t.blobs)}, nil
	}
	text, err := t.blobs.read(n)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &file{bytes.NewReader(text), n.sized(text)}, nil
}

// Stat implements fs.StatFS.
func (t *Tree) Stat(name string) (fs.FileInfo, error) {
	n, err := t.resolve("stat", name)
	if err != nil {
		return nil, err
	}
	return t.blobs.stat(n)
}

// ReadDir implements fs.ReadDirFS.
func (t *Tree) ReadDir(name string) ([]fs.DirEntry, error) {
	n, err := t.resolve("open", name)
	if err != nil {
		return nil, err
	}
	if !n.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errors.New("not a folder")}
	}
	return n.entries(t.blobs), nil
}

// Err is what kept git from giving a file that the commit has.
func (t *Tree) Err() error { return t.blobs.err() }

// Close ends git.
func (t *Tree) Close() error { return t.blobs.close() }

// list reads the names of the commit's files. It asks for no sizes, for which a partial clone would
// fetch each file.
func (t *Tree) list(ctx context.Context) error {
	text, err := git(ctx, "ls-tree", "-r", "-z", "--full-tree", t.Commit)
	if err != nil {
		return err
	}
	for entry := range strings.SplitSeq(text, "\x00") {
		if facts, name, ok := strings.Cut(entry, "\t"); ok {
			if n := newNode(path.Base(name), strings.Fields(facts)); n != nil {
				t.root.put(name, n)
			}
		}
	}
	return nil
}

// rename lists files under the names that they have now.
func (t *Tree) rename(ctx context.Context) error {
	text, err := git(ctx, "diff", "--no-relative", "--no-ext-diff", "--name-status", "-z", "--find-renames", "--diff-filter=R", t.Commit, "--")
	if err != nil {
		return err
	}
	parts := strings.Split(text, "\x00")
	for ; len(parts) > 2; parts = parts[3:] { // what git says of them, the old name, the new name
		before, now := parts[1], parts[2]
		old := t.root.find(before)
		if old == nil {
			continue // a module of git's
		}
		renamed := *old
		renamed.name = path.Base(now)
		t.root.put(now, &renamed)
		t.renamed[before], old.hidden = now, true
	}
	return nil
}

// mostLinks is how many symbolic links lead to a file.
const mostLinks = 10

// resolve returns what a name leads to, behind symbolic links.
func (t *Tree) resolve(operation, name string) (*node, error) {
	missing := &fs.PathError{Op: operation, Path: name, Err: fs.ErrNotExist}
	in, ok := t.Path(name)
	if !ok {
		return nil, missing
	}
	for range mostLinks {
		n, link, rest := t.root.follow(in)
		if link == nil {
			if n == nil {
				return nil, missing
			}
			return n, nil
		}
		target, err := t.blobs.read(link)
		if err != nil {
			return nil, err
		}
		beside := path.Dir(strings.TrimSuffix(strings.TrimSuffix(in, rest), "/"))
		if in = path.Join(beside, string(target), rest); path.IsAbs(string(target)) || !filepath.IsLocal(in) {
			return nil, missing
		}
	}
	return nil, missing
}

// findCommit returns the commit at which HEAD left base.
func findCommit(ctx context.Context, base string) (string, error) {
	commit, err := git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", base+"^{commit}")
	if err != nil {
		return "", explainBase(ctx, base, err)
	}
	commit = strings.TrimSpace(commit)
	forked, err := git(ctx, "merge-base", commit, "HEAD")
	switch {
	case err == nil:
		first, _, _ := strings.Cut(forked, "\n")
		return first, nil
	case isShallow(ctx):
		return "", terminal.Errorf("this clone does not have the commit at which HEAD left %s: %s", base, fetchAll)
	case exitCode(err) == 1: // the two have no common history
		return commit, nil
	}
	return "", err
}
