package tests_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// firstWord is the first word of a function's name.
var firstWord = regexp.MustCompile(`^(?:[A-Z]?[a-z0-9]+|[A-Z]+)`)

// irregular are participles that do not end in "ed".
var irregular = strings.Fields("broke broken taken given held kept found made sent seen known written done gone lost left said told shown drawn " +
	"thrown chosen spelt built bought brought caught meant paid sold spent stood won ran begun come")

// verbs are words that end in "ed" and are not participles.
var verbs = strings.Fields("embed need feed speed seed exceed proceed succeed bed red shed indeed hundred")

// idioms are participles that Go's own library begins names with.
var idioms = map[string]string{
	"sorted": "as slices.Sorted: a copy in order",
}

// statuses are functions that have the name of a status, each with its reason.
var statuses = map[string]string{
	"cdkapp/fragment.go: Succeeded": "the exit of a fragment has the name of the status that leads there",
	"cdkapp/fragment.go: Failed":    "the exit of a fragment has the name of the status that leads there",
	"cdkapp/fragment.go: TimedOut":  "the exit of a fragment has the name of the status that leads there",

	"statemachines/server/notice.go: Lost":      "tells of a subscription what Done tells of a context",
	"statemachines/sim/halt.go: Done":           "as in package context",
	"statemachines/sim/worldexecution.go: Done": "as in package context",
}

// isParticiple tells whether a function is named by what was done and not by what
// it does.
func isParticiple(name string) bool {
	word := strings.ToLower(firstWord.FindString(name))
	return strings.HasSuffix(word, "ed") && !slices.Contains(verbs, word) && idioms[word] == "" || slices.Contains(irregular, word)
}

// A function is named by a verb, a noun or an adjective of its domain.
func TestFunctionsAreNamedByVerbs(t *testing.T) {
	t.Parallel()
	functions := 0
	var named []string
	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel("..", path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (slices.Contains([]string{"testdata", "node_modules"}, entry.Name()) || len(name) > 1 && strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				if functions++; isParticiple(f.Name.Name) {
					named = append(named, filepath.ToSlash(name)+": "+f.Name.Name)
				}
			}
		}
		return nil
	}))
	require.Greater(t, functions, 3_000)
	require.ElementsMatch(t, slices.Collect(maps.Keys(statuses)), named, "name them by what they do: CONTRIBUTING.md")
}

func TestParticiples(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"placed", "Selected", "brokeAt", "caught", "MadeFrom", "respelled"} {
		require.True(t, isParticiple(name), name)
	}
	for _, name := range []string{"place", "embed", "Feed", "applyResultPath", "sortedKeys", "isPlaced", "EDNS"} {
		require.False(t, isParticiple(name), name)
	}
}
