package tests_test

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A test that builds a program, or starts one besides itself and Go, is called
// TestE2E... and stands in a file with the tag e2e: `go test ./...` does without
// it, and `make e2e` finds it by its name.
func TestTiers(t *testing.T) {
	t.Parallel()
	endToEnd := 0
	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if _, err := os.Stat(filepath.Join(path, "go.mod")); path != ".." && (err == nil || strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules") {
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		require.NoError(t, err)
		tagged := isEndToEnd(t, file)
		for _, name := range testNames(file) {
			require.Equal(t, tagged, strings.HasPrefix(name, "TestE2E"), "%s: %s", path, name)
		}
		if tagged {
			endToEnd++
			return nil
		}
		require.Empty(t, programs(file), "%s builds or starts a program: name its tests TestE2E... and begin the file with //go:build e2e", path)
		return nil
	}))
	require.Positive(t, endToEnd)
}

// isEndToEnd says whether a file is built with the tag e2e alone.
func isEndToEnd(t *testing.T, file *ast.File) bool {
	t.Helper()
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if group.Pos() < file.Package && constraint.IsGoBuild(comment.Text) {
				expression, err := constraint.Parse(comment.Text)
				require.NoError(t, err)
				return !expression.Eval(func(tag string) bool { return tag != "e2e" })
			}
		}
	}
	return false
}

// testNames are the names of a file's tests.
func testNames(file *ast.File) (names []string) {
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if ok && function.Recv == nil && strings.HasPrefix(function.Name.Name, "Test") && function.Name.Name != "TestMain" {
			names = append(names, function.Name.Name)
		}
	}
	return names
}

// startingPackages are those whose users start Node.js or Python.
var startingPackages = []string{
	"github.com/aws/jsii-runtime-go", "github.com/jobpoller/jobpoller/internal/dynalite", "github.com/jobpoller/jobpoller/internal/npm",
	"github.com/jobpoller/jobpoller/internal/pypi",
}

// programs are the calls of a file that build or start a program, and the packages
// that do it for them. An example stands in a file that every reader of the
// documentation sees, so what it starts is for its package's TestMain to decide.
func programs(file *ast.File) (found []string) {
	for _, imported := range file.Imports {
		path := strings.Trim(imported.Path.Value, `"`)
		if slices.Contains(startingPackages, path) && (len(testNames(file)) > 0 || len(doc.Examples(file)) == 0) {
			found = append(found, path)
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if fmt.Sprint(selector.X) == "lambdabuild" && selector.Sel.Name != "Folder" && selector.Sel.Name != "Zip" {
			found = append(found, "lambdabuild."+selector.Sel.Name)
		}
		if fmt.Sprint(selector.X) != "exec" || !strings.HasPrefix(selector.Sel.Name, "Command") {
			return true
		}
		arguments := call.Args
		if selector.Sel.Name == "CommandContext" {
			arguments = arguments[1:]
		}
		var words []string
		for _, argument := range arguments {
			if literal, ok := argument.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				words = append(words, strings.Trim(literal.Value, "`\""))
			}
		}
		// What no literal names is the test's own program.
		_, literal := arguments[0].(*ast.BasicLit)
		if text := strings.Join(words, " "); literal && !strings.HasPrefix(text, "go list ") && !strings.HasPrefix(text, "go env ") {
			found = append(found, text)
		}
		return true
	})
	return found
}
