package tests_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// public is a package that users can import.
type public struct {
	name  string
	files []*ast.File
	tests []*ast.File
}

// publicPackages are the packages of the module that users can import, by folder.
func publicPackages(t *testing.T) map[string]*public {
	t.Helper()
	all := map[string]*public{}
	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (ignored(entry) || path == filepath.Join("..", "tests") || slices.Contains([]string{"internal", "testdata"}, entry.Name())):
			return fs.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		folder, _ := filepath.Rel("..", filepath.Dir(path))
		folder = filepath.ToSlash(folder)
		if all[folder] == nil {
			all[folder] = &public{}
		}
		if p := all[folder]; strings.HasSuffix(path, "_test.go") {
			p.tests = append(p.tests, file)
		} else {
			p.name, p.files = file.Name.Name, append(p.files, file)
		}
		return nil
	}))
	for folder, p := range all {
		if p.name == "" || p.name == "main" {
			delete(all, folder)
		}
	}
	return all
}

// go doc shows a comment of each package, from one file, and an example whose output
// is checked.
func TestPublicPackagesHaveACommentAndAnExample(t *testing.T) {
	t.Parallel()
	all := publicPackages(t)
	require.Greater(t, len(all), 25)
	for folder, p := range all {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			var comments []string
			for _, file := range p.files {
				if file.Doc != nil {
					comments = append(comments, file.Doc.Text())
				}
			}
			require.Len(t, comments, 1, "one file has the package comment")
			require.True(t, strings.HasPrefix(comments[0], "Package "+p.name+" "), comments[0])
			require.True(t, slices.ContainsFunc(doc.Examples(p.tests...), func(e *doc.Example) bool {
				return e.Output != "" || e.EmptyOutput
			}), "no test file has an Example with an Output")
		})
	}
}

// Whoever imports a package cannot change how it works for others.
func TestOnlyErrorsAreExportedVariables(t *testing.T) {
	t.Parallel()
	var found []string
	for folder, p := range publicPackages(t) {
		for _, file := range p.files {
			for _, d := range file.Decls {
				g, ok := d.(*ast.GenDecl)
				if !ok || g.Tok != token.VAR {
					continue
				}
				for _, spec := range g.Specs {
					for _, name := range spec.(*ast.ValueSpec).Names {
						if name.IsExported() && !strings.HasPrefix(name.Name, "Err") {
							found = append(found, folder+": "+name.Name)
						}
					}
				}
			}
		}
	}
	require.Empty(t, found, "make it a constant or a function")
}

// An alias hides from go doc what the type has.
func TestNoExportedAliases(t *testing.T) {
	t.Parallel()
	var found []string
	for folder, p := range publicPackages(t) {
		for _, file := range p.files {
			ast.Inspect(file, func(n ast.Node) bool {
				if spec, ok := n.(*ast.TypeSpec); ok && spec.Assign.IsValid() && spec.Name.IsExported() {
					found = append(found, folder+": "+spec.Name.Name)
				}
				return true
			})
		}
	}
	require.Empty(t, found, "declare the type where it is public, or use it under its own name")
}
