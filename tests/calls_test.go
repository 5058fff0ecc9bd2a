package tests_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// layered are the packages whose files stand in an order: no call from a file leads
// back to it through another.
var layered = []string{
	"internal/jmespath", "internal/jmespath/tojsonata", "internal/jsonpath", "internal/jsontree", "internal/intrinsic",
	"pollcore", "pollcore/catalog", "statemachines/asl", "statemachines/compile", "statemachines/lint", "statemachines/sim",
}

func TestCallsBetweenFilesRunOneWay(t *testing.T) {
	t.Parallel()
	exports := exportData(t)
	for _, folder := range layered {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			calls := callsBetween(t, filepath.Join("..", folder), exports)
			require.NotEmpty(t, calls)
			require.Empty(t, findCircle(calls), "move a function to a file below those that call it")
		})
	}
}

// exportData are the files with the types of the packages that layered ones import.
func exportData(t *testing.T) map[string]string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}")
	for _, folder := range layered {
		command.Args = append(command.Args, "./"+folder)
	}
	command.Dir = ".."
	output, err := command.Output()
	require.NoError(t, err)
	files := map[string]string{}
	for line := range strings.Lines(string(output)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	return files
}

// callsBetween finds the files of a package whose functions each file names.
func callsBetween(t *testing.T, folder string, exports map[string]string) map[string][]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			files = append(files, file)
		}
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", open)}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	_, err = config.Check(folder, fset, files, info)
	require.NoError(t, err)
	calls := map[string][]string{}
	for use, named := range info.Uses {
		f, ok := named.(*types.Func)
		if !ok || f.Pkg() == nil || f.Pkg().Path() != folder || isOfInterface(f) {
			continue
		}
		from, to := fset.File(use.Pos()).Name(), fset.File(f.Origin().Pos()).Name()
		if from = filepath.Base(from); from != filepath.Base(to) {
			calls[from] = append(calls[from], filepath.Base(to))
		}
	}
	return calls
}

// isOfInterface tells whether a call leads wherever the value at run time says.
func isOfInterface(f *types.Func) bool {
	of := f.Signature().Recv()
	return of != nil && types.IsInterface(of.Type())
}

// findCircle returns files that call one another in a circle, or nil.
func findCircle(calls map[string][]string) []string {
	const begun, done = 1, 2
	state := map[string]int{}
	var path []string
	var visit func(file string) []string
	visit = func(file string) []string {
		switch state[file] {
		case begun:
			return append(path[slices.Index(path, file):], file)
		case done:
			return nil
		}
		state[file] = begun
		path = append(path, file)
		for _, next := range calls[file] {
			if circle := visit(next); circle != nil {
				return circle
			}
		}
		path = path[:len(path)-1]
		state[file] = done
		return nil
	}
	for _, file := range slices.Sorted(maps.Keys(calls)) {
		if circle := visit(file); circle != nil {
			return circle
		}
	}
	return nil
}
