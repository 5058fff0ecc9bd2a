package lint

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/internal/cli/kit"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// readHomes are the places of the definitions that lint read: of a file all, or the state
// machines of those IDs.
type readHomes map[string]*readIDs

type readIDs struct {
	ids  []string
	some bool // the user names some of the file's state machines
}

// homeFile is one name of a file for all that lead to it.
func homeFile(file string) string {
	if file == source.Stdin || source.IsARN(file) {
		return file
	}
	return kit.RelativeName(".", file)
}

// add adds a definition that one of the names of the command line gives.
func (r readHomes) add(d *source.Definition, names []string) {
	holder, home := cmp.Or(d.Template, d.File), d.Home()
	some := isNamed(d, names)
	r.put(home.File, home.ID, some && home.ID != "")
	if holder != home.File {
		r.put(holder, d.ID, some)
	}
}

// isNamed tells whether the user names some state machines of a file, and not all.
func isNamed(d *source.Definition, names []string) bool {
	holder := cmp.Or(d.Template, d.File)
	return slices.ContainsFunc(names, func(name string) bool {
		return strings.HasPrefix(filepath.ToSlash(name), holder+"#")
	}) && !slices.ContainsFunc(names, func(name string) bool { return homeFile(name) == homeFile(holder) })
}

func (r readHomes) put(file, id string, some bool) {
	file = homeFile(file)
	if r[file] == nil {
		r[file] = &readIDs{}
	}
	r[file].ids, r[file].some = append(r[file].ids, id), r[file].some || some
}

// has tells whether lint read what a finding of a file is about.
func (r readHomes) has(file, pointer string) bool {
	read := r[homeFile(file)]
	if read == nil || !read.some {
		return read != nil
	}
	if rest, ok := strings.CutPrefix(pointer, "/Resources/"); ok {
		pointer = rest
	}
	return slices.ContainsFunc(read.ids, func(id string) bool { return pointer == id || strings.HasPrefix(pointer, id+"/") })
}
