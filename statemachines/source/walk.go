package source

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// maxEntries bounds how many files and folders below a folder are looked at.
const maxEntries = 200_000

// maxPassed bounds the files of something else that are looked at for slips of the pen.
const maxPassed = 10

// skippedFolders hold no definition of the user's own.
var skippedFolders = []string{"node_modules", ".git", ".aws-sam", ".serverless", ".terraform"}

// walk reads the definitions and templates below a folder. A definition that
// one of them names is read with the values of its template, not once more by itself.
func (l *loader) walk(ctx context.Context, root string) ([]*Definition, error) {
	var all []*Definition
	var unread []error
	var passed []*file   // the first that hold something else, if nothing is found
	var modules []string // folders of Terraform's
	entries := 0
	named := l.passesOver(root, true) // what the user names is read
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
			if name != root && (slices.Contains(skippedFolders, entry.Name()) || strings.HasPrefix(entry.Name(), "asset.") || !named && l.passesOver(name, true)) {
				return fs.SkipDir
			}
			return nil
		case !named && l.passesOver(name, false):
			return nil
		case entry.Type().IsRegular() && isTerraform(entry.Name()):
			if folder := path.Dir(name); !slices.Contains(modules, folder) {
				modules = append(modules, folder)
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
		c := readContent(&file{name: name, bytes: text})
		if found := l.find(c); found != nil {
			all, passed = append(all, found...), nil
			return nil
		}
		l.pass(name)
		if len(all) == 0 && len(passed) < maxPassed && len(text) <= maxDefinitionFile {
			passed = append(passed, c.file)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(modules) > 0 {
		found, err := l.terraformModules().walkModules(modules)
		all, unread = append(all, found...), append(unread, err)
	}
	if len(all) == 0 && errors.Join(unread...) == nil {
		return nil, errors.Join(append([]error{errorf("%s has no state machine definition and no template with one", root)}, syntaxErrors(passed)...)...)
	}
	return slices.DeleteFunc(all, l.isTaken), errors.Join(unread...)
}

// syntaxErrors are those of files that may be broken definitions.
func syntaxErrors(files []*file) []error {
	var all []error
	for _, f := range files {
		c := &content{file: f}
		if c.parse(); len(c.problems) > 0 {
			p := c.problems[0]
			all = append(all, errorf("%s:%d:%d: %s", f.name, p.Line, p.Column, p.Message))
		}
	}
	return all
}

// hasDefinitions tells whether files of such a name hold definitions.
func hasDefinitions(name string) bool {
	return slices.Contains([]string{".json", ".yaml", ".yml", ".asl", ".template"}, path.Ext(name)) || isRendered(name)
}

// isNamedASL tells whether a name says that the file is a definition.
func isNamedASL(name string) bool { return strings.Contains(path.Base(name), ".asl") }
