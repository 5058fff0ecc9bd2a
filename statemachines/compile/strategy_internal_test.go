package compile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A strategy is one file and one row of the table: no other file of the package
// names one, but for the definitions that are shipped, which choose.
func TestStrategiesAreReachedThroughTheTable(t *testing.T) {
	t.Parallel()
	packages, err := parser.ParseDir(token.NewFileSet(), ".", func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0) //nolint:staticcheck // one folder without build tags
	require.NoError(t, err)
	files := packages["compile"].Files
	homes := map[string]string{} // files by constants and types of strategies
	for name, file := range files {
		for _, declared := range file.Decls {
			g, ok := declared.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && g.Tok == token.CONST {
					if kind, ok := v.Type.(*ast.Ident); ok && kind.Name == "Strategy" {
						require.NotContains(t, homes, v.Names[0].Name)
						homes[v.Names[0].Name] = name
					}
				}
			}
		}
	}
	require.Len(t, homes, len(strategies))
	require.Len(t, slices.Compact(slices.Sorted(maps.Values(homes))), len(strategies), "each has a file of its own")
	for constant, home := range homes { // the type is named as the constant
		homes[strings.ToLower(constant[:1])+constant[1:]] = home
	}
	for name, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && homes[id.Name] != "" && id.Obj == nil {
				require.Contains(t, []string{homes[id.Name], "strategy.go", "shipped.go"}, name, "names the strategy %s", id.Name)
			}
			return true
		})
	}
}

// Every row has all that surfaces show of it.
func TestTableIsComplete(t *testing.T) {
	t.Parallel()
	for _, s := range Strategies() {
		require.NotEmpty(t, s.Summary(), s)
		require.NotEmpty(t, s.Language(), s)
		require.True(t, s.Valid())
	}
	require.False(t, Strategy("spin").Valid())
	require.Empty(t, Strategy("spin").Summary())
}
