package source

import (
	"path"
	"strings"
)

// Home is where a definition stands for whoever remembers what was found in it: its file, and its
// name there. Both are the same whether the file is named itself, or a template or a module that
// names it, and whichever module calls the one with the state machine.
type Home struct{ File, ID string }

// Home returns where the definition stands.
func (d *Definition) Home() Home {
	if d.home != nil {
		return *d.home
	}
	return Home{d.File, d.ID}
}

// Renamed is the definition with other names of its files.
func (d *Definition) Renamed(nameOf func(file string) string) *Definition {
	now, home := *d, d.Home()
	now.File, home.File = nameOf(d.File), nameOf(home.File)
	now.home = &home
	if d.Template != "" {
		now.Template = nameOf(d.Template)
	}
	return &now
}

// liveIn notes that another file names the definition's.
func (d *Definition) liveIn(id string) {
	if strings.HasPrefix(path.Base(d.File), "asset.") { // a copy of the CDK's, whose name changes with its text
		d.home = &Home{d.Template, d.ID}
		return
	}
	d.home = &Home{d.File, id}
}

// liveAt notes that the definition begins at a byte of its file, which another one names.
func (l *loader) liveAt(d *Definition, f *file, at int) {
	names := l.names[f.name]
	if names == nil {
		names = namesIn(f)
		l.names[f.name] = names
	}
	if id, ok := names[at]; ok {
		d.liveIn(id)
	}
}

// namesIn are the names of the definitions of a file that is named itself, by the bytes where
// they begin.
func namesIn(f *file) map[int]string {
	c := readContent(&file{name: f.name, bytes: f.bytes})
	names := map[int]string{}
	for _, d := range newLoader(Options{}).find(c) {
		if d.Template == "" {
			names[d.at] = d.ID
		}
	}
	for _, root := range c.roots {
		if isFlow(root) && len(c.roots) == 1 {
			names[root.origin()] = ""
		}
	}
	return names
}
