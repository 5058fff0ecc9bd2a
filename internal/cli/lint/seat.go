package lint

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/jobpoller/jobpoller/internal/gittree"
	"github.com/jobpoller/jobpoller/statemachines/source"
)

// machineKey is what makes a state machine the same before and after: its place in the template,
// if one names its file.
type machineKey struct{ file, id string }

func keyOf(d *source.Definition) machineKey {
	return machineKey{homeFile(cmp.Or(d.Template, d.File)), d.ID}
}

// homeOf is where a definition stands, under one name of its file.
func homeOf(d *source.Definition) source.Home {
	home := d.Home()
	home.File = homeFile(home.File)
	return home
}

// seat is where a state machine and its definition are.
type seat struct {
	key      machineKey
	home     source.Home
	ofModule bool // of Terraform
}

func seatOf(d *source.Definition) seat { return seat{keyOf(d), d.Home(), d.IsOfModule()} }

func (s seat) String() string { return s.key.file + "#" + s.key.id }

// renamed is the seat with other names of its files.
func (s seat) renamed(nameOf func(file string) string) seat {
	if s != (seat{}) {
		s.key.file, s.home.File = homeFile(nameOf(s.key.file)), nameOf(s.home.File)
	}
	return s
}

// rename gives the files of a commit the names that they have now. A nil loopTables has none.
func (t *loopTables) rename(tree *gittree.Tree) {
	if t == nil {
		return
	}
	nameOf := tree.NameNow
	t.module = tree.Module
	for i, m := range t.machines {
		t.machines[i].definition = m.definition.Renamed(nameOf)
	}
	for i, d := range t.skipped {
		t.skipped[i] = d.Renamed(nameOf)
	}
}

// files are those of the definitions.
func (t *loopTables) files() []string {
	all := make([]string, len(t.machines))
	for i, m := range t.machines {
		all[i] = m.definition.File
	}
	return all
}

// unique are the state machines, each once: several names may give one.
func (t *loopTables) unique() []*machineLoops {
	var all []*machineLoops
	seen := map[machineKey]bool{}
	for i := range t.machines {
		if key := keyOf(t.machines[i].definition); !seen[key] {
			seen[key] = true
			all = append(all, &t.machines[i])
		}
	}
	return all
}

// skip notes that nobody knows the loops of a machine: its definition cannot be parsed.
func (t *loopTables) skip(d *source.Definition) {
	if t != nil {
		t.skipped = append(t.skipped, d)
	}
}

// pass notes a file that has no definition.
func (t *loopTables) pass(file string) {
	if t != nil {
		t.passed[homeFile(file)] = true
	}
}

// unreadAll notes that files could not be read: nobody knows which.
func (t *loopTables) unreadAll(err error) {
	if t != nil {
		t.incomplete = err != nil
	}
}

// isApart tells whether a definition is in a submodule that the commit has otherwise.
func (t *loopTables) isApart(d *source.Definition) bool {
	return t.module != nil && t.module(d.File) != ""
}

// isUnread tells whether a definition may be there and could not be read.
func (t *loopTables) isUnread(d *source.Definition) bool {
	if slices.ContainsFunc(t.skipped, func(skipped *source.Definition) bool { return seatOf(skipped).mayHold(seatOf(d)) }) {
		return true
	}
	file := keyOf(d).file
	return t.incomplete && !t.passed[file] && isThere(file) &&
		!slices.ContainsFunc(t.machines, func(m machineLoops) bool { return keyOf(m.definition).file == file })
}

func isThere(file string) bool {
	_, err := os.Stat(filepath.FromSlash(file))
	return !errors.Is(err, fs.ErrNotExist)
}

// mayHold tells whether a definition that was not read may be another one, or hold it: as a broken
// template holds all of its state machines, and a broken file of Terraform those of its module.
func (s seat) mayHold(other seat) bool {
	home, otherHome := homeFile(s.home.File), homeFile(other.home.File)
	switch {
	case s.key == other.key, home == otherHome && s.home.ID == other.home.ID:
		return true
	case s.key.id != "":
		return false
	case s.ofModule:
		return other.ofModule && (path.Dir(s.key.file) == path.Dir(other.key.file) || path.Dir(s.key.file) == path.Dir(otherHome))
	}
	return s.key.file == other.key.file || s.key.file == otherHome
}
