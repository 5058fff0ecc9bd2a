package source

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// maxEntries bounds how many files and folders below a folder are looked at.
const maxEntries = 200_000

// maxPassed bounds the files of something else that are looked at for slips of the pen.
const maxPassed = 10

// skippedFolders hold no definition of the user's own.
var skippedFolders = []string{"node_modules", ".git", ".aws-sam"}

// walk reads the definitions and templates below a folder. A file that one of
// them names is read with the values of its template, not once more by itself.
func (l *loader) walk(ctx context.Context, root string) ([]*Definition, error) {
	var all []*Definition
	var unread []error
	var passed []*file // the first that hold something else, if nothing is found
	entries := 0
	err := fs.WalkDir(l.FS, root, func(name string, entry fs.DirEntry, err error) error {
		switch entries++; {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			unread = append(unread, err) // and the others are read
			return nil
		case entries > maxEntries:
			return errorf("%s has more than %d files: name a folder with fewer", root, maxEntries)
		case entry.IsDir():
			if name != root && (slices.Contains(skippedFolders, entry.Name()) || strings.HasPrefix(entry.Name(), "asset.")) {
				return fs.SkipDir
			}
			return nil
		case !entry.Type().IsRegular() || !hasDefinitions(entry.Name()):
			return nil
		}
		if info, err := entry.Info(); err != nil {
			unread = append(unread, err)
			return nil
		} else if info.Size() > maxFileBytes {
			l.pass(name)
			return nil
		}
		text, err := l.read(ctx, name)
		if err != nil {
			unread = append(unread, err)
			return nil
		}
		if looksLike(name, text) {
			all = append(all, l.definitions(&file{name, text})...)
			passed = nil
		} else {
			l.pass(name)
			if len(all) == 0 && len(passed) < maxPassed {
				passed = append(passed, &file{name, text})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(d *Definition) bool { return d.ID == "" && l.named[d.File] })
	if len(all) == 0 && unread == nil {
		return nil, errors.Join(append([]error{errorf("%s has no state machine definition and no template with one", root)}, syntaxErrors(passed)...)...)
	}
	return all, errors.Join(unread...)
}

// syntaxErrors are those of files that may be broken definitions.
func syntaxErrors(files []*file) []error {
	var all []error
	for _, f := range files {
		t, _ := substituteJSON(f.whole(), func(string) (string, bool) { return "", false })
		if _, problems := readTree(t, isYAML(f.name, f.bytes)); len(problems) > 0 {
			p := problems[0]
			all = append(all, errorf("%s:%d:%d: %s", f.name, p.Line, p.Column, p.Message))
		}
	}
	return all
}

// hasDefinitions tells whether files of such a name hold definitions.
func hasDefinitions(name string) bool {
	return slices.Contains([]string{".json", ".yaml", ".yml", ".asl", ".template"}, path.Ext(name))
}

// looksLike tells whether a text may be a definition or a template with one.
func looksLike(name string, text []byte) bool {
	if slices.ContainsFunc(machineTypes, func(kind string) bool { return bytes.Contains(text, []byte(kind)) }) && bytes.Contains(text, []byte("Resources")) {
		return true
	}
	if !bytes.Contains(text, []byte("StartAt")) || !bytes.Contains(text, []byte("States")) {
		return false
	}
	if strings.Contains(path.Base(name), ".asl") {
		return true
	}
	t, _ := substituteJSON((&file{name, text}).whole(), func(string) (string, bool) { return "", false })
	root, problems := readTree(t, isYAML(name, text))
	if problems != nil { // a definition with a slip of the pen is one all the same
		return hasDefinitions(name) && startsAt().Match(text) && hasStates().Match(text)
	}
	return root.get("StartAt") != nil && root.get("States") != nil
}

// What a definition that cannot be read has, as people and programs indent it.
var (
	startsAt  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t{]*["']?StartAt["']?\s*:`) })
	hasStates = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^[ \t{]*["']?States["']?\s*:`) })
)
