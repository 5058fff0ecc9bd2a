package settings

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxBytes is the size of a config file that is read.
const maxBytes = 1 << 20

// Files are what config files are read from, by absolute paths.
type Files interface {
	Stat(name string) (fs.FileInfo, error)
	Open(name string) (fs.File, error)
}

// Disk are the files of the machine.
type Disk struct{}

// Stat implements Files.
func (Disk) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// Open implements Files.
func (Disk) Open(name string) (fs.File, error) { return os.Open(name) } //nolint:gosec // it stands beside what the user names

// Finder finds the settings of files, and reads each config file once. It serves one
// goroutine.
type Finder struct {
	// NameOf is how messages name a config file; nil for its path.
	NameOf func(file string) string

	files   Files
	words   Vocabulary
	folders map[string]*found
}

// found is the config that counts in a folder.
type found struct {
	config *Config // nil for none
	folder string  // that has it
	err    error
}

// NewFinder finds config files that use the vocabulary.
func NewFinder(files Files, words Vocabulary) *Finder {
	return &Finder{files: files, words: words, folders: map[string]*found{}}
}

// Of returns the settings of a file: those of the nearest config file, in its folder or
// above. A folder with .git is the last that is looked at.
func (f *Finder) Of(file string) (*Settings, error) { return f.settings(file, false) }

// OfFolder returns the settings of a folder, which a walk meets.
func (f *Finder) OfFolder(folder string) (*Settings, error) { return f.settings(folder, true) }

func (f *Finder) settings(path string, folder bool) (*Settings, error) {
	in := f.find(filepath.Dir(path))
	if in.err != nil {
		return nil, in.err
	}
	if in.config == nil {
		return &Settings{}, nil
	}
	relative, err := filepath.Rel(in.folder, path)
	if err != nil {
		return nil, err
	}
	return in.config.of(filepath.ToSlash(relative), folder), nil
}

// find returns the config that counts in a folder.
func (f *Finder) find(folder string) *found {
	if known := f.folders[folder]; known != nil {
		return known
	}
	in := f.look(folder)
	if above := filepath.Dir(folder); in == nil && above != folder && !f.isThere(filepath.Join(folder, ".git")) {
		in = f.find(above)
	}
	if in == nil {
		in = &found{}
	}
	f.folders[folder] = in
	return in
}

func (f *Finder) isThere(name string) bool {
	_, err := f.files.Stat(name)
	return err == nil
}

// look reads the config file of a folder; nil if it has none.
func (f *Finder) look(folder string) *found {
	name := filepath.Join(folder, Name)
	shown := name
	if f.NameOf != nil {
		shown = f.NameOf(name)
	}
	info, err := f.files.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if other := filepath.Join(folder, ".jobpoller.yml"); f.isThere(other) {
			return &found{err: fmt.Errorf("%s: there is .jobpoller.yml, which is not read: rename it to %s", shown, Name)}
		}
		return nil
	case err != nil: // as of a folder that nobody may look into
		return nil
	case !info.Mode().IsRegular():
		return &found{err: fmt.Errorf("%s is no file", shown)}
	}
	text, err := f.read(name)
	if err != nil {
		return &found{err: fmt.Errorf("%s cannot be read: %w", shown, err)}
	}
	config, err := Parse(shown, text, f.words)
	return &found{config, folder, err}
}

func (f *Finder) read(name string) (text []byte, err error) {
	file, err := f.files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return io.ReadAll(io.LimitReader(file, maxBytes+1))
}
