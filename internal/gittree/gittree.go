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

	// Unread are the submodules whose files git does not have as the commit has them, by their
	// folders, each with the reason.
	Unread map[string]error

	folder  string // the working folder
	prefix  string // the working folder in the repository
	top     string // the folder of the repository
	root    *node
	renamed map[string]string // the names now of files that have another one, by the old ones
	before  map[string]string // the old ones, by the names now
	blobs   []*blobs          // of the repository and its submodules
}

// Open reads which files a commit has: the one at which the branch of the working folder left
// base, so that nothing counts that has happened to base since.
func Open(ctx context.Context, base string) (*Tree, error) {
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	t := &Tree{Base: base, folder: folder, root: newFolder("."), renamed: map[string]string{}, before: map[string]string{}, Unread: map[string]error{}}
	places, err := git(ctx, "rev-parse", "--show-toplevel", "--show-prefix")
	if err != nil {
		return nil, explainRepository(err)
	}
	top, prefix, _ := strings.Cut(places, "\n")
	t.top, t.prefix = filepath.FromSlash(top), path.Clean(strings.TrimSuffix(prefix, "\n"))
	if t.Commit, err = findCommit(ctx, base); err != nil {
		return nil, err
	}
	if err := t.add(ctx, "", "", t.Commit); err != nil {
		return nil, err
	}
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
	return t.nameOf(now, name)
}

// NameThen is the name in the commit of a file that has another one now.
func (t *Tree) NameThen(name string) string {
	in, ok := t.Path(name)
	if then := t.before[in]; ok && then != "" {
		return t.nameOf(then, name)
	}
	return name
}

// Module is the submodule with a file, if its files cannot be read; empty for others.
func (t *Tree) Module(name string) string {
	in, ok := t.Path(name)
	for ; ok && in != "." && in != "/"; in = path.Dir(in) {
		if t.Unread[in] != nil {
			return in
		}
	}
	return ""
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
		return &openFolder{node: n, left: n.entries()}, nil
	}
	text, err := n.read()
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
	return n.stat()
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
	return n.entries(), nil
}

// Err is what kept git from giving a file that the commit has.
func (t *Tree) Err() error { return t.each((*blobs).err) }

// Close ends git.
func (t *Tree) Close() error { return t.each((*blobs).close) }

// nameOf is the name of a file in the repository as a command line has it: absolute, if name is.
func (t *Tree) nameOf(in, name string) string {
	relative, err := filepath.Rel(filepath.FromSlash(t.prefix), filepath.FromSlash(in))
	if err != nil {
		return name
	}
	if filepath.IsAbs(filepath.FromSlash(name)) {
		return filepath.ToSlash(filepath.Join(t.folder, relative))
	}
	return filepath.ToSlash(relative)
}

func (t *Tree) each(do func(*blobs) error) error {
	all := make([]error, len(t.blobs))
	for i, b := range t.blobs {
		all[i] = do(b)
	}
	return errors.Join(all...)
}

// add adds the files that a commit has in the repository, or in a submodule at a path of it.
func (t *Tree) add(ctx context.Context, at string, in folder, commit string) error {
	from := newBlobs(ctx, in)
	t.blobs = append(t.blobs, from)
	modules, err := t.list(ctx, at, commit, from)
	if err != nil {
		return err
	}
	if err := t.rename(ctx, at, in, commit); err != nil {
		return err
	}
	for name, commit := range modules {
		if err := t.addModule(ctx, name, commit); err != nil {
			return err
		}
	}
	return nil
}

// addModule adds the files of a submodule, if its repository has the commit.
func (t *Tree) addModule(ctx context.Context, at, commit string) error {
	in := folder(filepath.Join(t.top, filepath.FromSlash(at)))
	below, err := in.git(ctx, "rev-parse", "--show-prefix")
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil || strings.TrimSpace(below) != "":
		t.Unread[at] = terminal.Errorf("it is no submodule now")
		return nil //nolint:nilerr // the others are read
	}
	if _, err := in.git(ctx, "cat-file", "-e", commit+"^{commit}"); err != nil {
		t.Unread[at] = terminal.Errorf("its clone has no commit %s: git -C %s fetch origin %s", commit, at, commit)
		return nil //nolint:nilerr // the others are read
	}
	return t.add(ctx, at, in, commit)
}

// list reads the names of a commit's files, and returns the commits of submodules. It asks for no
// sizes, for which a partial clone would fetch each file.
func (t *Tree) list(ctx context.Context, at, commit string, from *blobs) (modules map[string]string, err error) {
	text, err := from.in.git(ctx, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	modules = map[string]string{}
	for entry := range strings.SplitSeq(text, "\x00") {
		facts, name, ok := strings.Cut(entry, "\t")
		parts := strings.Fields(facts)
		if name = path.Join(at, name); !ok || len(parts) != len([]string{"mode", "type", "id"}) {
			continue
		}
		switch parts[1] {
		case "blob":
			t.root.put(name, newNode(path.Base(name), parts, from))
		case "commit":
			modules[name] = parts[2]
		}
	}
	return modules, nil
}

// rename lists files under the names that they have now.
func (t *Tree) rename(ctx context.Context, at string, in folder, commit string) error {
	text, err := in.git(ctx, "diff", "--no-relative", "--no-ext-diff", "--name-status", "-z", "--find-renames", "--diff-filter=R", commit, "--")
	if err != nil {
		return err
	}
	parts := strings.Split(text, "\x00")
	for ; len(parts) > 2; parts = parts[3:] { // what git says of them, the old name, the new name
		before, now := path.Join(at, parts[1]), path.Join(at, parts[2])
		old := t.root.find(before)
		if old == nil { // a submodule
			t.Unread[now] = terminal.Errorf("it has moved from %s", before)
			continue
		}
		renamed := *old
		renamed.name = path.Base(now)
		t.root.put(now, &renamed)
		t.renamed[before], t.before[now], old.hidden = now, before, true
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
		target, err := link.read()
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
