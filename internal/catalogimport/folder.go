package catalogimport

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jobpoller/jobpoller/pollcore/catalog"
)

// ErrNotCatalogue means that a folder holds something else than a catalogue.
var ErrNotCatalogue = errors.New("the folder is not a catalogue")

// Difference is a file in which a folder is not the catalogue.
type Difference struct {
	File string `json:"file"`
	// Kind is what has to happen to the file: "add", "change" or "remove".
	Kind DifferenceKind `json:"kind"`
	// Line is the first that differs, counted from 1, of a file to change.
	Line int `json:"line,omitempty"`
}

// DifferenceKind is what has to happen to a file.
type DifferenceKind string

// The kinds of differences.
const (
	Add    DifferenceKind = "add"
	Change DifferenceKind = "change"
	Remove DifferenceKind = "remove"
)

func (d Difference) String() string {
	if d.Line > 0 {
		return fmt.Sprintf("%s %s (line %d)", d.Kind, d.File, d.Line)
	}
	return fmt.Sprintf("%s %s", d.Kind, d.File)
}

// Compare returns what has to change in a folder so that it is the catalogue,
// by the names of files. It compares what is in packed files: versions of Go pack
// differently. The folder must be a catalogue, empty or missing;
// else its error is ErrNotCatalogue.
func (c *Catalogue) Compare(folder string) ([]Difference, error) {
	return content(c.Files()).compare(folder)
}

// content is what a folder must have: texts by name. They are packed there.
type content map[string][]byte

// fileName is the name of a file in the folder.
func fileName(name string) string {
	if strings.HasPrefix(name, unfinished) {
		return name
	}
	return name + catalog.PackedSuffix
}

func (c content) compare(folder string) ([]Difference, error) {
	there, err := readFolder(folder)
	if err != nil {
		return nil, err
	}
	var found []Difference
	for _, name := range namesOf(c) {
		switch old, ok := there[name]; {
		case !ok:
			found = append(found, Difference{File: name, Kind: Add})
		case !bytes.Equal(old, c[name]):
			found = append(found, Difference{File: name, Kind: Change, Line: firstLine(old, c[name])})
		}
	}
	for _, name := range namesOf(there) {
		if c[name] == nil {
			found = append(found, Difference{File: name, Kind: Remove})
		}
	}
	slices.SortFunc(found, func(a, b Difference) int { return strings.Compare(a.File, b.File) })
	return found, nil
}

// firstLine is the first line in which two texts differ.
func firstLine(a, b []byte) int {
	line := 1
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return line
		}
		if a[i] == '\n' {
			line++
		}
	}
	return line
}

// Write makes a folder the catalogue and returns what it changed. Files that
// are right stay as they are, each other one is replaced in one step. The index
// comes after the files that it names and before those are removed that it names
// no more, so a reader never finds an index that leads nowhere. Write touches
// nothing in a folder that holds something else than a catalogue: its error
// then is ErrNotCatalogue.
func (c *Catalogue) Write(folder string) ([]Difference, error) {
	return content(c.Files()).write(folder)
}

func (c content) write(folder string) ([]Difference, error) {
	differences, err := c.compare(folder)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // the folder is for everybody to read
		return nil, err
	}
	rank := func(d Difference) int {
		switch {
		case d.Kind == Remove:
			return 2
		case d.File == catalog.IndexFile:
			return 1
		default:
			return 0
		}
	}
	inOrder := slices.SortedStableFunc(slices.Values(differences), func(a, b Difference) int { return rank(a) - rank(b) })
	for _, d := range inOrder {
		name := filepath.Join(folder, fileName(d.File))
		if d.Kind == Remove {
			err = os.Remove(name)
		} else {
			err = replace(name, c[d.File])
		}
		if err != nil {
			return nil, err
		}
	}
	return differences, nil
}

// unfinished is what names of files start with until they are written.
const unfinished = ".catalogue-"

// replace writes a file in one step.
func replace(name string, text []byte) (err error) {
	if strings.HasSuffix(name, catalog.PackedSuffix) {
		if text, err = pack(text); err != nil {
			return err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(name), unfinished+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(text); err == nil {
		err = f.Chmod(0o644)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// pack compresses a text as well as gzip can, without a time or a name.
func pack(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	return b.Bytes(), err
}

// readFolder returns the texts of a catalogue's files by name; none if the
// folder is empty or missing.
func readFolder(folder string) (map[string][]byte, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil, nil //nolint:nilnil // there are no files
	} else if err != nil {
		return nil, err
	}
	index, err := os.ReadFile(filepath.Join(folder, catalog.IndexFile+catalog.PackedSuffix)) //nolint:gosec // the folder is the caller's
	if err == nil {
		index, err = unpack(bytes.NewReader(index))
	} else if errors.Is(err, fs.ErrNotExist) { // somebody unpacked it
		index, err = os.ReadFile(filepath.Join(folder, catalog.IndexFile)) //nolint:gosec // as above
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s has files and no %s", ErrNotCatalogue, folder, catalog.IndexFile)
	} else if err != nil {
		return nil, err
	}
	var listings []catalog.Listing
	if err := json.Unmarshal(index, &listings); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrNotCatalogue, filepath.Join(folder, catalog.IndexFile), err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		name := filepath.Join(folder, e.Name())
		if !e.Type().IsRegular() {
			return nil, fmt.Errorf("%w: %s is not a file", ErrNotCatalogue, name)
		}
		text, err := os.ReadFile(name) //nolint:gosec // the folder is the caller's
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(e.Name(), unfinished) {
			files[e.Name()] = text
			continue
		}
		as := e.Name()
		if rest, ok := strings.CutSuffix(as, catalog.PackedSuffix); ok {
			if text, err = unpack(bytes.NewReader(text)); err != nil {
				return nil, fmt.Errorf("%w: %s: %w", ErrNotCatalogue, name, err)
			}
			as = rest
		}
		if as != catalog.IndexFile && as != endingsTable && (fileName(as) != e.Name() || !ofService(as, text)) {
			return nil, fmt.Errorf("%w: %s is not a service of a catalogue", ErrNotCatalogue, name)
		}
		files[as] = text
	}
	return files, nil
}

// ofService tells whether a file is that of a service. It need not stand in the
// index: a write may have been interrupted before the index was written.
func ofService(name string, text []byte) bool {
	var s struct {
		Key        string          `json:"key"`
		Operations json.RawMessage `json:"operations"`
	}
	return json.Unmarshal(text, &s) == nil && s.Key+".json" == name && s.Operations != nil
}
