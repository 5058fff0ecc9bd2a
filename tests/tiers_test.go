package tests_test

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A test that builds a program, or starts one that had to be built, is called
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
		require.Empty(t, builds(file), "%s builds a program: name its tests TestE2E... and begin the file with //go:build e2e", path)
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

// builds are the calls of a file that build a program.
func builds(file *ast.File) (found []string) {
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
		if fmt.Sprint(selector.X) != "exec" {
			return true
		}
		var words []string
		for _, argument := range call.Args {
			if literal, ok := argument.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				words = append(words, strings.Trim(literal.Value, "`\""))
			}
		}
		text := strings.Join(words, " ")
		for _, command := range []string{"go build", "go run", "go test", "go vet", "make "} {
			if strings.HasPrefix(text+" ", command) {
				found = append(found, text)
			}
		}
		return true
	})
	return found
}
