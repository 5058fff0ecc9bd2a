package gittree

import (
	"bytes"
	"cmp"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// node is a file or a folder of a commit. It implements fs.FileInfo.
type node struct {
	name   string
	mode   fs.FileMode
	size   int64            // of a file that was read
	id     string           // of a file
	from   *blobs           // of a file: what reads it
	below  map[string]*node // of a folder
	hidden bool             // it is listed under another name
}

func (n *node) Name() string       { return n.name }
func (n *node) Size() int64        { return n.size }
func (n *node) Mode() fs.FileMode  { return n.mode }
func (n *node) ModTime() time.Time { return time.Time{} }
func (n *node) IsDir() bool        { return n.mode.IsDir() }
func (n *node) Sys() any           { return nil }

func newFolder(name string) *node {
	return &node{name: name, mode: fs.ModeDir, below: map[string]*node{}}
}

// newNode makes a file of what git ls-tree says: mode, type, id.
func newNode(name string, facts []string, from *blobs) *node {
	n := &node{name: name, id: facts[2], from: from}
	if facts[0] == "120000" {
		n.mode = fs.ModeSymlink
	}
	return n
}

// put adds a file, with the folders above.
func (n *node) put(name string, file *node) {
	for {
		first, rest, more := strings.Cut(name, "/")
		if !more {
			n.below[first] = file
			return
		}
		if n.below[first] == nil || !n.below[first].IsDir() {
			n.below[first] = newFolder(first)
		}
		n, name = n.below[first], rest
	}
}

// find returns what has that name; nil if nothing has.
func (n *node) find(name string) *node {
	found, link, _ := n.follow(name)
	return cmp.Or(link, found)
}

// follow returns what has that name, or the first symbolic link on the way, with the rest of
// the name behind it.
func (n *node) follow(name string) (found, link *node, rest string) {
	for name = path.Clean(name); name != "." && name != ""; name = rest {
		var first string
		first, rest, _ = strings.Cut(name, "/")
		switch n = n.below[first]; {
		case n == nil:
			return nil, nil, ""
		case n.mode&fs.ModeSymlink != 0:
			return nil, n, rest
		}
	}
	return n, nil, ""
}

// read returns the text of a file.
func (n *node) read() ([]byte, error) { return n.from.read(n.id) }

// stat reads a file for its size.
func (n *node) stat() (fs.FileInfo, error) {
	if !n.mode.IsRegular() {
		return n, nil
	}
	text, err := n.read()
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: n.name, Err: err}
	}
	return n.sized(text), nil
}

// sized is the file with the size of its text.
func (n *node) sized(text []byte) *node {
	file := *n
	file.size = int64(len(text))
	return &file
}

// entries are the files and folders of a folder, in the order of their names.
func (n *node) entries() []fs.DirEntry {
	var all []fs.DirEntry
	for _, one := range n.below {
		if !one.hidden {
			all = append(all, entry{one})
		}
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return all
}

// entry is a file or a folder that a folder lists.
type entry struct{ *node }

func (e entry) Type() fs.FileMode { return e.mode.Type() }

// Info implements fs.DirEntry: it reads the file.
func (e entry) Info() (fs.FileInfo, error) { return e.stat() }

// file is a file that is read.
type file struct {
	*bytes.Reader

	info *node
}

func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }

func (f *file) Close() error { return nil }

// openFolder is a folder that is read, once.
type openFolder struct {
	*node

	left []fs.DirEntry
}

func (f *openFolder) Stat() (fs.FileInfo, error) { return f.node, nil }

func (f *openFolder) Close() error { return nil }

func (f *openFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.name, Err: fs.ErrInvalid}
}

// ReadDir implements fs.ReadDirFile.
func (f *openFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(f.left)
	} else if len(f.left) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(f.left))
	part := f.left[:n]
	f.left = f.left[n:]
	return part, nil
}
